# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""People are told of each phase once, and only where somebody wants to be told."""

from __future__ import annotations

from typing import Any

from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import at, event, plan, record, vm


def told(found: dict[str, Any]) -> list[str]:
    """The phases that this plan tells."""
    return [step["phase"] for step in found["actions"] if step["action"] == "notify"]


def test_each_phase_is_told_once() -> None:
    drained = record("drained", told=["noticed"])
    assert told(plan(vm("vm1", [event()], [drained]))) == ["drained"]
    assert told(plan(vm("vm1", [event()], [record("drained", told=["noticed", "drained"])]))) == []


def test_nothing_is_recorded_for_nobody() -> None:
    assert told(plan(vm("vm1", [event()], [record("drained", told=[])]), notify=False)) == []


def test_each_phase_is_recorded_by_itself() -> None:
    # One that could not be sent must not be recorded with the next one that was.
    found = plan(vm("vm1", [event()], [record("drained", told=[])]), run={"id": "run2"})
    sent = [step for step in found["actions"] if step["action"] == "notify"]
    assert [step["changes"] for step in sent] == [{"told": ["noticed"]}, {"told": ["drained"]}]
    assert [step["failed"] for step in sent] == [{"untold": {phase: {"since": at(0), "run": "run2"}}} for phase in ("noticed", "drained")]


def failed(seconds: float, run: str = "run1", phase: str = "noticed") -> dict[str, Any]:
    """The plan of run2 after a notification failed first so long ago, and last in a run."""
    kept = record("drained", told=["drained"], untold={phase: {"since": at(-seconds), "run": run}})
    return plan(vm("vm1", [event()], [kept]), run={"id": "run2"})


def test_what_failed_is_sent_again_by_later_runs_for_an_hour() -> None:
    (again,) = [step for step in failed(3500)["actions"] if step["action"] == "notify"]
    assert again["failed"] == {"untold": {"noticed": {"since": at(-3500), "run": "run2"}}}
    # Not in the same run: a mail server that is down would delay each of its iterations.
    assert told(failed(30, run="run2")) == []
    assert told(failed(3700)) == []
    # Another phase is one of its own, and what a VM made up is sent.
    assert told(failed(3700, phase="approved")) == ["noticed"]
    assert told(plan(vm("vm1", [event()], [record("drained", told=["drained"], untold={"noticed": 7})]), run={"id": "run2"})) == ["noticed"]


def test_what_failed_is_a_remark_of_the_plan() -> None:
    words = "event E1: respond_notify_tasks failed for phase noticed first"
    assert f"{words} 10 min ago; the next pass tries again" in failed(600)["summary"]["problems"]
    assert f"{words} 2 h 00 min ago; it is not tried again" in failed(7200)["summary"]["problems"]
