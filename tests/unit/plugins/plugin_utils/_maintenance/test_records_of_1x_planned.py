# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan made from records, leases and overrides that releases of 1.x wrote (see module_utils/_scheduled_events/journal/vectors)."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core import timestamps
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import (
    NOW,
    acts,
    at,
    plan,
    vm,
)

VECTORS = pathlib.Path(__file__).parents[2] / "module_utils/_scheduled_events/journal/vectors"
VERSIONS = ("1.3.1", "1.4.0")


def written(version: str, state: str) -> dict[str, Any]:
    """The record of web1, as a module returns it."""
    (path,) = (VECTORS / version / state / "web1").glob("event-*.json")
    content = json.loads(path.read_text())
    return {key: value for key, value in content.items() if key != "lineage"}


def later(record: dict[str, Any], seconds: float = 30) -> float:
    """A while after the record was written, in seconds from NOW."""
    moment = timestamps.parse(record["history"][-1]["at"])
    assert moment is not None
    return moment + seconds - NOW


def listed(record: dict[str, Any]) -> dict[str, Any]:
    return {"resource_type": "VirtualMachine", "affects_this_vm": True, **record["event"]}


def observed(record: dict[str, Any], moment: float, events: Any = (), **more: Any) -> dict[str, Any]:
    methods = [one["method"] for one in record["methods"]] or ["command"]
    return vm(
        "web1", events, [record], methods=methods, now=at(moment), enabled_at=at(moment - 90_000),
        boot_id=record["boot_id"] or "boot", identity={"name": "web1", "resource_group": "RG", "subscription_id": "S", "vm_id": record["vm_id"]}, **more,
    )  # fmt: skip


@pytest.mark.parametrize("version", VERSIONS)
def test_what_is_approved_and_not_over_stays_out(version: str) -> None:
    record = written(version, "approved")
    moment = later(record)
    assert acts(plan(observed(record, moment, [listed(record)]), now=moment)) == []


@pytest.mark.parametrize("version", VERSIONS)
def test_what_is_over_is_put_back(version: str) -> None:
    record = written(version, "approved")
    event_id, moment = record["event"]["event_id"], later(record, 60)
    # A first good document without it is noted, a second one some seconds later is believed.
    first = plan(observed(record, moment), now=moment)
    assert [step["stamp"] for step in first["actions"] if step["action"] == "write"] == [["missing_since"]]
    assert f"recover web1 {event_id}" not in acts(first)
    found = plan(observed({**record, "missing_since": at(moment)}, moment + 60), now=moment + 60)
    assert acts(found) == [f"recover web1 {event_id}"]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_recovery_that_was_begun_goes_on(version: str) -> None:
    record = written(version, "recovering")
    moment = later(record)
    assert acts(plan(observed(record, moment), now=moment)) == [f"recover web1 {record['event']['event_id']}"]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_drain_that_was_begun_goes_on_under_its_own_rule(version: str) -> None:
    record = written(version, "draining")
    event_id, moment = record["event"]["event_id"], later(record)
    found = plan(observed(record, moment, [listed(record)]), now=moment, policy=[{"name": "nothing", "drain": False, "approve": "never"}])
    assert acts(found) == [f"drain web1 {event_id}"]


@pytest.mark.parametrize("version", VERSIONS)
def test_what_a_person_held_stays_held(version: str) -> None:
    record = written(version, "held")
    event_id, moment = record["event"]["event_id"], later(record)
    assert record["decision"]["action"] == "hold"
    assert acts(plan(observed(record, moment, [listed(record)]), now=moment)) == []
    # Without that override it drains: it is the override that holds.
    assert acts(plan(observed({**record, "decision": None}, moment, [listed(record)]), now=moment)) == [f"drain web1 {event_id}"]
