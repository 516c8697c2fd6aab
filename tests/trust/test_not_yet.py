# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A member that says "not done" for ever: at the deadline the method has begun or failed, and the other VM's event went on meanwhile."""

from __future__ import annotations

import pathlib
import time
import typing as t

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain import registry
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.drain.interface.waiting import WaitingMethod
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.drain.scene import Vm, step
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.helpers import EVENT
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import acts, at, event, plan, record, vm

DUE, PAUSE, DRAIN_SECONDS, MARGIN = 900, 15, 200, 30
WAITED = event(EVENT, ("liar",), due=DUE)
OTHER = event("E2", ("web2",), due=DUE)
# While it waits no time of its own runs: only the event ends it.
DEADLINE = DUE - MARGIN
FAILED = "1-waiting: not begun before the deadline "


class Fleet:
    """VM liar with the real engine and records, whose method waits for a member; VM web2 is drained at once. The clock is the test's."""

    def __init__(self, folder: pathlib.Path, method: WaitingMethod, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        self.vm = Vm(folder, vm_id="")
        self.vm.boot = "boot"
        monkeypatch.setattr(self.vm.host, "now", lambda: at(self.now))
        self.vm.machine = self.vm.machine._replace(now=lambda: at(self.now))
        self.method = method
        self.longest = 0.0
        self.drains = 0
        monkeypatch.setitem(registry.METHODS, method.name, method)  # type: ignore[misc]

    def look(self) -> dict[str, t.Any]:
        """Plan, and let the VM take what the plan has for it."""
        found = self.vm.record()
        records = [] if found is None else [{key: value for key, value in found.items() if key != "lineage"}]
        second = record("drained", OTHER, ago=5, verified_at=at(self.now - 1))
        seen = [vm("liar", [WAITED, OTHER], records, now=at(self.now)), vm("web2", [WAITED, OTHER], [second], now=at(self.now))]
        decided = plan(*seen, now=self.now, drain_seconds=DRAIN_SECONDS)
        for action in decided["actions"]:
            if action["host"] == "liar" and action["action"] == "drain":
                began = time.monotonic()
                order = {key: action[key] for key in ("event", "deadline", "rule", "verify")}
                self.vm.drain(step("waiting"), late=at(self.now) > action["deadline"], **order)
                self.longest = max(self.longest, time.monotonic() - began)
                self.drains += 1
        return t.cast("dict[str, t.Any]", decided)


@pytest.fixture
def fleet(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Fleet:
    return Fleet(tmp_path, WaitingMethod(), monkeypatch)


def entered(fleet: Fleet, phase: str) -> list[str]:
    return [one["at"] for one in fleet.vm.record()["history"] if one["phase"] == phase]


def test_it_fails_by_name_at_the_deadline_and_the_other_vm_goes_on(fleet: Fleet) -> None:
    approved = []
    while fleet.now < DEADLINE - fleet.method.needs_seconds + PAUSE:
        approved.append("approve web2 E2" in acts(fleet.look()))
        fleet.now += PAUSE
    # Each plan approves the other one's event, as if the liar did not wait.
    assert all(approved) and fleet.longest < 2.0
    found = fleet.vm.record()
    assert found["phase"] == "failed" and found["reason"].startswith(FAILED)
    # When so much was left as the method needs, and no earlier.
    (failed,) = entered(fleet, "failed")
    assert at(DEADLINE - fleet.method.needs_seconds) <= failed <= at(DEADLINE - fleet.method.needs_seconds + PAUSE)
    assert len(entered(fleet, "draining")) == 1 and found["attempts"] == 1 and found["methods"][0]["state"] == "failed"


def test_or_it_begins_then(fleet: Fleet) -> None:
    fleet.method.ready = lambda task: task.must_begin
    while fleet.now < DEADLINE:
        fleet.look()
        fleet.now += PAUSE
    (drained,) = entered(fleet, "drained")
    assert at(DEADLINE - fleet.method.needs_seconds) <= drained <= at(DEADLINE - fleet.method.needs_seconds + PAUSE)


def test_it_is_tried_again_a_limited_number_of_times_until_the_event_comes(fleet: Fleet) -> None:
    while fleet.now < DEADLINE:
        assert f"approve liar {EVENT}" not in acts(fleet.look())
        fleet.now += PAUSE
    failures = len(entered(fleet, "failed"))
    assert 2 <= failures <= 4 and fleet.vm.record()["phase"] == "failed" and fleet.vm.record()["attempts"] == failures


def test_a_clock_that_is_put_back_makes_it_wait_no_longer_than_the_controllers_says(fleet: Fleet) -> None:
    fleet.vm.machine = fleet.vm.machine._replace(now=lambda: at(-10_000))
    while fleet.now <= DEADLINE + PAUSE:
        fleet.look()
        fleet.now += PAUSE
    assert fleet.vm.record()["reason"].startswith(FAILED)
