# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import copy
import json
import random

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.imds.document import Event
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.changes import COMPARED, Change, by_id, changes


def event(event_id: str = "E1", **fields: object) -> Event:
    defaults = {
        "event_id": event_id,
        "event_type": "Reboot",
        "event_status": "Scheduled",
        "resource_type": "VirtualMachine",
        "resources": ["web1", "web2"],
        "not_before": "2026-11-25T00:15:00Z",
        "description": "a reboot",
        "event_source": "Platform",
        "duration_in_seconds": 9,
    }
    return dict(defaults, **fields)


def kinds(found: list[Change]) -> list[tuple[str, str]]:
    return [(change.kind, change.event["event_id"]) for change in found]


def test_all_events_of_a_first_document_are_listed():
    assert kinds(changes(None, [event("A"), event("B")])) == [("listed", "A"), ("listed", "B")]
    assert kinds(changes({}, [event("A")])) == [("listed", "A")]
    assert changes(None, []) == []


def test_the_same_document_is_no_news():
    assert changes(by_id([event("A")]), [event("A")]) == []


@pytest.mark.parametrize("field", COMPARED)
def test_each_compared_field_is_news(field: str):
    after = event("A", **{field: ["web1"] if field == "resources" else "other"})
    assert changes(by_id([event("A")]), [after]) == [Change("changed", after)]


@pytest.mark.parametrize("fields", [{"description": "other"}, {"resources": ["WEB2", "web1 "]}, {"event_id": "a"}])
def test_another_description_order_or_case_is_no_news(fields: dict[str, object]):
    assert changes(by_id([event("A")]), [event(**{"event_id": "A", **fields})]) == []


def test_what_is_missing_is_gone_as_it_was_before():
    before = event("A", event_status="Started")
    assert changes(by_id([before, event("B")]), [event("B")]) == [Change("gone", before)]


def test_listed_stands_before_gone():
    found = changes(by_id([event("A"), event("B")]), [event("C"), event("B", event_status="Started")])
    assert kinds(found) == [("listed", "C"), ("changed", "B"), ("gone", "A")]


def test_the_first_of_several_events_with_one_id_counts():
    first = event("A")
    assert changes(None, [first, event("a", event_status="Started")]) == [Change("listed", first)]


def test_any_keys_of_the_mapping_will_do():
    assert changes({"whatever": event("A")}, [event("a")]) == []


def test_changes_lead_from_one_document_to_the_next():
    chance = random.Random(7)
    for unused in range(300):
        before = [event(name, event_status=chance.choice(["Scheduled", "Started"])) for name in "ABCD" if chance.random() < 0.5]
        after = [event(name.lower(), event_status=chance.choice(["Scheduled", "Started"])) for name in "ABCD" if chance.random() < 0.5]
        arguments = copy.deepcopy((by_id(before), after))
        state = by_id(before)
        for change in changes(*arguments):
            key = change.event["event_id"].lower()
            assert (key in state) == (change.kind != "listed")
            if change.kind == "gone":
                del state[key]
            else:
                state[key] = change.event
        assert {key: found["event_status"] for key, found in state.items()} == {key: found["event_status"] for key, found in by_id(after).items()}
        assert arguments == (by_id(before), after)
        json.dumps(arguments)
