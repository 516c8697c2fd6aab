# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which events a selection lets through, and one read as the info module does it."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.argument_specs import API_VERSIONS, selection_arguments
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.errors import ScheduledEventsError
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.imds.document import parse_document
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.operations.scheduled_events_info import read_events, select
from ansible_collections.maintenance.azure.tests.unit.plugins.support import (
    FakeTransport,
    document,
    fake_client,
    raw_event,
    started,
)

EVENTS = document(
    7,
    raw_event(EventId="A-1", EventType="Freeze", Resources=["vm_0", "vm_1"]),
    started(EventId="a-2", EventSource="User"),
    raw_event(EventId="a-3", EventType="Teleport", EventSource=..., Resources=["vm_1"]),
)


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        ({}, "123"),
        (dict.fromkeys(selection_arguments()), "123"),
        ({"event_types": [], "event_ids": []}, "123"),
        ({"event_ids": ["a-1", "A-3", "none"]}, "13"),
        ({"event_types": ["freeze", "REBOOT"]}, "12"),
        ({"event_types": ["Teleport"]}, "3"),
        ({"event_statuses": ["started"]}, "2"),
        ({"event_sources": ["user"]}, "2"),
        ({"event_sources": ["Platform", "User"]}, "12"),
        ({"resources": ["VM_1"]}, "13"),
        ({"resources": ["vm_"]}, ""),
        ({"affecting": "any"}, "123"),
        ({"affecting": "this_vm"}, "12"),
        ({"affecting": "this_vm", "event_types": ["Freeze"], "event_statuses": ["Scheduled"]}, "1"),
        ({"event_types": ["Freeze"], "event_statuses": ["Started"]}, ""),
    ],
)
def test_every_filter_given_must_let_an_event_through(selection: dict[str, t.Any], expected: str) -> None:
    events = parse_document(EVENTS, "2020-07-01").events
    assert "".join(event["event_id"][-1] for event in select(events, selection, "VM_0")) == expected


def test_this_vm_without_a_name_is_an_error_and_not_no_events() -> None:
    with pytest.raises(ScheduledEventsError, match="vm_name"):
        select([], {"affecting": "this_vm"}, None)


def test_read_returns_what_this_vm_sees() -> None:
    transport = FakeTransport(EVENTS)
    client, warnings = fake_client(transport)
    result = read_events(client, {"affecting": "this_vm"})
    assert [event["event_id"] for event in result["events"]] == ["A-1", "a-2"]
    assert all(event["affects_this_vm"] is True for event in result["events"])
    assert (result["document_incarnation"], result["vm_name"], result["api_version"]) == (7, "vm_0", API_VERSIONS[0])
    assert warnings == []


def test_a_given_name_is_not_asked_for() -> None:
    transport = FakeTransport(EVENTS)
    client, unused = fake_client(transport)
    result = read_events(client, {}, "vm_1")
    assert [event["affects_this_vm"] for event in result["events"]] == [True, False, True]
    assert len(transport.requests) == 1


def test_without_instance_metadata_the_events_come_with_a_warning() -> None:
    client, warnings = fake_client(FakeTransport(EVENTS, instance=(500, "")), retries=0)
    result = read_events(client, {})
    assert [event["affects_this_vm"] for event in result["events"]] == [None, None, None]
    assert result["vm_name"] is None
    assert "status 500" in warnings[0]


def test_without_instance_metadata_this_vm_cannot_be_selected() -> None:
    client, unused = fake_client(FakeTransport(EVENTS, instance=(500, "")), retries=0)
    with pytest.raises(ScheduledEventsError, match="status 500"):
        read_events(client, {"affecting": "this_vm"})


def test_an_address_that_does_not_answer_is_asked_for_the_document_only() -> None:
    transport = FakeTransport(ScheduledEventsError("Nobody.", "no_answer", retryable=True), takes=5)
    client, unused = fake_client(transport)
    with pytest.raises(ScheduledEventsError):
        read_events(client, {})
    assert len(transport.requests) == 1
