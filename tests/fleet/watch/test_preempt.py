# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A Spot VM is evicted with 30 seconds of notice, under load: what users have of it with a watcher on the VM, with a run that is told, and with a schedule.

The VM drains by its probe file alone: the watcher begins all methods at once, and a web server that is stopped at once fails requests until the load
balancer has noticed.
"""

from __future__ import annotations

import json
import os
import time
import typing as t

import pytest

from ..lab.commands import until
from ..lab.lab import Lab
from ..lab.load import Request
from ..lab.receiver import Receiver
from .watchers import respond, seconds

RUNS = int(os.environ.get("FLEET_PREEMPTS", "10"))
# Evicted, and allocated again: so that it can be put back, which an eviction alone leaves out.
PREEMPT = {"event_type": "Preempt", "resources": ["web1"], "notice": 30, "ends_vm": False, "impact_seconds": 8, "started_seconds": 14}


class Eviction(t.NamedTuple):
    """What came of one."""

    event_id: str
    listed: float
    requests: list[Request]
    impact: dict[str, t.Any]

    def failed(self) -> list[Request]:
        return [request for request in self.requests if request.failed]


def evict(lab: Lab, name: str, meanwhile: t.Callable[[str], None] = lambda event_id: None) -> Eviction:
    """One eviction under load, from before its notice until all VMs serve again. ``meanwhile`` is called with its EventId once it is listed."""
    load, first = lab.load(name), len(lab.platform.happened)
    time.sleep(2)
    listed = time.time()
    event_id = str(lab.simulator.ask("POST", "/events", PREEMPT)["event_id"])
    meanwhile(event_id)
    until(lambda: len(lab.platform.happened) > first and lab.platform.happened[-1]["ended"], 120, "web1 is evicted and comes back")
    until(lambda: not lab.simulator.ask("GET", "/state").get("listed", 0), 60, "the event is over")
    return Eviction(event_id, listed, load.stop(), lab.platform.happened[first])


def drained_after(lab: Lab, eviction: Eviction) -> float:
    """Seconds from the notice to the drain that is done, as the record says."""
    text = lab.controller.ask("web1", f"ls -v /var/lib/azure-maintenance/event-{eviction.event_id.lower()}.*.json | tail -1 | xargs cat")
    at = next(entry["at"] for entry in json.loads(text)["history"] if entry["phase"] == "drained")
    return seconds(at) - eviction.listed


def respond_again_if_needed(lab: Lab, name: str) -> None:
    """A run that finds the VM off ends, because a Preempt deletes it. Here it is allocated again, and a later run puts it back, as from a schedule."""
    end = time.monotonic() + 20
    while "web1" not in lab.balancer.up():
        if time.monotonic() > end:
            print(f"{name}: the run ended while web1 was off; the next one puts it back", flush=True)
            return respond(lab, f"{name}-respond-again")
        time.sleep(0.5)


def check_put_back(lab: Lab) -> None:
    lab.wait_until_all_serve(60)
    assert lab.oracle.services() == lab.untouched
    assert lab.platform.faults == []


def test_the_controller_is_cut_off(lab: Lab, receiver: Receiver) -> None:
    """Nobody but the VM itself: it drains in time. What it had to tell is told when the controller is back, in order, each once."""
    receiver.stop()
    eviction = evict(lab, "preempt-alone")
    print(f"preempt-alone: {len(eviction.requests)} requests, {len(eviction.failed())} failed, drained {drained_after(lab, eviction):.1f} s after the notice")
    assert eviction.impact["out"], eviction.impact
    assert eviction.failed() == []
    receiver.start()
    until(lambda: "gone" in [message.change for message in receiver.about(eviction.event_id)], 400, "the spool is delivered")
    changes = [message.change for message in receiver.about(eviction.event_id)]
    assert changes == sorted(changes, key=["listed", "changed", "gone"].index) and len(set(changes)) == len(changes), changes
    respond(lab, "preempt-alone-respond", respond_hosts="web1")
    check_put_back(lab)


@pytest.mark.long
@pytest.mark.parametrize("number", range(RUNS))
def test_a_whole_run(lab: Lab, receiver: Receiver, number: int) -> None:
    """Noticed, drained, told; the run that begins with the message adopts the drain and approves; it, or the next one, puts the VM back."""
    name = f"preempt-{number}"

    def told(event_id: str) -> None:
        until(lambda: receiver.about(event_id), 20, "a message")
        respond(lab, f"{name}-respond")

    eviction = evict(lab, name, told)
    first = receiver.about(eviction.event_id)[0]
    print(
        f"{name}: noticed {seconds(first.noticed_at) - eviction.listed:.2f} s, told {first.at - eviction.listed:.2f} s, "
        f"drained {drained_after(lab, eviction):.1f} s after the notice; evicted after {eviction.impact['began'] - eviction.listed:.1f} s; "
        f"{len(eviction.requests)} requests, {len(eviction.failed())} failed"
    )
    assert eviction.impact["out"] and eviction.failed() == []
    respond_again_if_needed(lab, name)
    check_put_back(lab)


@pytest.mark.long
def test_with_a_schedule_users_notice(lab: Lab, receiver: Receiver) -> None:
    """The same without the watcher: the next run of a schedule of a minute begins when the VM is gone already."""
    lab.controller.ask("web1", "systemctl stop azure-maintenance-ask.service azure-maintenance-drain.path")
    eviction = evict(lab, "preempt-schedule", lambda event_id: time.sleep(32))
    print(f"preempt-schedule: {len(eviction.requests)} requests, {len(eviction.failed())} failed")
    assert not eviction.impact["out"]
    assert eviction.failed(), "nobody noticed: the lab cannot show what the watcher is for"
    respond(lab, "preempt-schedule-respond")
    check_put_back(lab)
