# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A VM that drains by itself for a Preempt, and the run of a controller that comes later: it adopts the drain, and puts the VM back."""

from __future__ import annotations

import contextlib
import pathlib
import typing as t

from lab.lab import Lab
from lab.watcher import Watcher

Make = t.Callable[..., Lab]
BOOT_ID = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip()


@contextlib.contextmanager
def watched(lab: Lab, vm: str, **settings: t.Any) -> t.Iterator[Watcher]:
    # A watcher looks at the real boot id, so that of the records is the same.
    lab.hosts[vm]["respond_boot_id"] = BOOT_ID
    watcher = Watcher(lab, vm, ["Preempt"], **settings)
    try:
        yield watcher
    finally:
        watcher.end()


def preempt(lab: Lab, vm: str) -> str:
    """An eviction that lists, by the clock, for an hour."""
    return str(lab.simulator.event("Preempt", [vm], notice=3600 * 60))


def until_drained(lab: Lab, watcher: Watcher, event_id: str) -> None:
    def drained() -> bool:
        return not lab.flag("web1").exists() and any(record["phase"] == "drained" for record in lab.records("web1"))

    lab.simulator.until(drained, 60, f"a drain for {event_id}: {watcher.lines()}")


def test_a_drain_without_a_controller_is_adopted_and_undone_by_the_next_run(make_lab: Make) -> None:
    lab = make_lab(["web1", "web2"])
    policy = [{"name": "drains", "drain": True, "approve": "never"}]
    with watched(lab, "web1", policy=policy) as watcher:
        event_id = preempt(lab, "web1")
        until_drained(lab, watcher, event_id)
        assert [record["watcher"] for record in lab.records("web1")] == ["unseen"]
        lab.respond(respond_policy=policy)
        # So the watcher does not tell the event again.
        assert [record["watcher"] for record in lab.records("web1")] == ["seen"]
        assert lab.phases("web1")[-1] == "drained" and not lab.flag("web1").exists()
        lab.simulator.ask("POST", f"/events/{event_id}/cancel")
        lab.respond(respond_policy=policy, respond_wait=True)
    assert lab.flag("web1").read_text() == "yes\n"
    phases = lab.phases("web1")
    assert phases[-1] == "recovered" and phases.count("draining") == 1, phases
    assert lab.leases("web1") == []


def test_its_drain_is_the_one_that_is_approved(make_lab: Make) -> None:
    lab = make_lab(["web1"])
    with watched(lab, "web1") as watcher:
        until_drained(lab, watcher, preempt(lab, "web1"))
        lab.respond()
    assert len(lab.simulator.approvals()) == 1
    phases = lab.phases("web1")
    assert phases[-1] == "approved" and phases.count("draining") == 1, phases


def test_what_is_over_before_a_run_has_seen_it_is_put_back_by_the_next_one(make_lab: Make) -> None:
    lab = make_lab(["web1"])
    with watched(lab, "web1") as watcher:
        event_id = preempt(lab, "web1")
        until_drained(lab, watcher, event_id)
        lab.simulator.ask("POST", f"/events/{event_id}/cancel")
        lab.respond(respond_wait=True)
    assert lab.phases("web1")[-1] == "recovered" and lab.flag("web1").exists()
