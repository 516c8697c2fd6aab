# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of VMs in messages: they are only added, and where they do not suffice, a run looks at all VMs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.changes import Change
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.message import cloud_event
from ansible_collections.maintenance.azure.plugins.plugin_utils._eda.receiving import memory
from ansible_collections.maintenance.azure.plugins.plugin_utils._eda.receiving.memory import MOST_NAMES, NAME, NamedVms
from ansible_collections.maintenance.azure.plugins.plugin_utils._eda.receiving.receiver import Limits, Receiver

EVENT_ID = "c7061bac-afdc-4513-b24b-aa5f13a16123"


def message(vm: str, resources: list[str]) -> dict[str, Any]:
    return cloud_event(Change("listed", {"event_id": EVENT_ID, "event_status": "Scheduled", "resources": resources}), {"name": vm}, 1, "2026-11-25T12:00:00Z")


def test_no_message_takes_a_name_away() -> None:
    vms = NamedVms()
    assert vms.add("a", ["web1", "web2"]) == ["web1", "web2"]
    assert vms.add("a", ["liar"]) == ["liar", "web1", "web2"]
    assert vms.add("b", ["db1"]) == ["db1"]


@pytest.mark.parametrize("names", [[], ["a b"], ["a,b"], ["{{ 1 }}"], ["x" * 81], ["web1", ""], ["é"]])
def test_what_is_no_name_means_all_from_then_on(names: list[str]) -> None:
    vms = NamedVms()
    vms.add("a", ["web1"])
    assert vms.add("a", names) == [] and vms.add("a", ["web1"]) == []
    assert vms.add("b", ["web1"]) == ["web1"]


def test_too_many_names_mean_all() -> None:
    vms = NamedVms()
    names = [f"vm{number}" for number in range(MOST_NAMES)]
    assert len(vms.add("a", names)) == MOST_NAMES
    assert vms.add("a", ["one-more"]) == [] and vms.add("a", ["web1"]) == []


def test_the_oldest_events_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "MOST", 2)
    vms = NamedVms()
    for event_id in "abc":
        vms.add(event_id, ["web1"])
    assert vms.add("c", ["web2"]) == ["web1", "web2"] and vms.add("a", ["web2"]) == ["web2"]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.lists(st.text(max_size=5), max_size=4), min_size=1, max_size=8))
def test_what_a_run_gets_has_every_name_or_is_empty(messages: list[list[str]]) -> None:
    vms = NamedVms()
    got = [vms.add("a", names) for names in messages][-1]
    assert got == [] or set(got) == {name for names in messages for name in names}
    assert all(NAME.fullmatch(name) for name in got)


def test_the_filter_gives_the_rules_the_names_of_all_messages() -> None:
    receiver = Receiver()
    assert [shape["vms"] for shape in receiver.receive(message("web1", ["web1", "web2"]), Limits(), 1.0)] == [["web1", "web2"]]
    assert [shape["vms"] for shape in receiver.receive(message("liar", ["liar"]), Limits(), 2.0)] == [["liar", "web1", "web2"]]
