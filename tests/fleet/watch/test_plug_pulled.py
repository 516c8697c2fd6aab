# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The guest's plug is pulled, or the watcher is killed (SIGKILL), between notice, record, act and message of a Preempt: the same end.

While the event is listed the VM is drained, in the boot that it has then; once it is gone, nothing drains for it. It is told of as one piece of news. Records
can be read, a run puts the VM back as it was, and nothing lies around. A plug is pulled by killing every process of the guest at once; its disk is memory of
this machine, so a loss of what a real disk had not written yet is not shown.

FLEET_PLUGS=N: that many more moments, at random (4). FLEET_SEED repeats a sequence.
"""

from __future__ import annotations

import os
import random
import time
import typing as t

import pytest

from ..lab.commands import until
from ..lab.lab import Lab
from ..lab.receiver import Receiver
from .scene import MOMENTS, Moment, Scene

ATTEMPTS = 3
# From the notice to the message and the end of the drain it takes about five seconds.
LONGEST = 6.0


def nothing() -> None:
    """Nothing changes while the guest is off."""


def stopped_at(lab: Lab, receiver: Receiver, name: str) -> Scene:
    """A scene frozen at a moment; where the guest was faster, it is played again."""
    moment: Moment = MOMENTS[name]
    for attempt in range(ATTEMPTS):
        scene = Scene(lab, receiver, moment)
        if scene.freeze_at(moment):
            return scene
        print(f"{name}: missed, phase {scene.phase()!r}, spool {scene.spooled()}, told {scene.told()}", flush=True)
        scene.guest.cgroup.thaw()
        scene.go_on()
        scene.cancel()
        scene.put_back(f"missed-{attempt}")
    raise AssertionError(f"{name}: missed {ATTEMPTS} times")


def finish(scene: Scene, name: str, began: float) -> None:
    print(f"{name}: told {scene.told()}, {scene.repetitions()} repetitions, {time.monotonic() - began:.0f} s", flush=True)
    scene.check_nothing_lies_around()


def check_end_while_listed(scene: Scene, name: str, began: float) -> None:
    scene.check_drained()
    print(f"{name}: drained after {time.monotonic() - began:.0f} s", flush=True)
    scene.cancel()
    scene.put_back(name.replace(" ", "-").replace(",", ""))
    finish(scene, name, began)


# One of them in CI: the record is written, the method at work, and the message not told.
LISTED = [pytest.param(name, marks=[] if name == "in a method" else [pytest.mark.long]) for name in MOMENTS]


@pytest.mark.parametrize("name", LISTED)
def test_the_plug_is_pulled_while_the_event_is_listed(lab: Lab, receiver: Receiver, name: str) -> None:
    scene, began = stopped_at(lab, receiver, name), time.monotonic()
    scene.pull_plug(nothing)
    check_end_while_listed(scene, f"plug, {name}", began)
    # Told without the VM knowing it, it comes again, with the same id; what the VM knows to be told does not.
    if name == "told, no answer yet":
        assert scene.repetitions() >= 1
    elif name == "told":
        assert scene.repetitions() == 0


@pytest.mark.long
def test_a_service_that_starts_late_in_the_boot_stays_stopped(lab: Lab, receiver: Receiver) -> None:
    """It does not run when the watcher drains, and is about to start: that is not drained."""
    scene, began = stopped_at(lab, receiver, "told"), time.monotonic()
    scene.pull_plug(scene.delay_nginx)
    scene.check_drained()
    assert scene.on_guest("systemctl is-active delay.service") == "activating", "nothing was late: the test shows nothing"
    until(lambda: scene.on_guest("systemctl is-active delay.service") == "active", 40, "nginx has nothing more to wait for")
    scene.check_drained()
    scene.end_delay()
    scene.cancel()
    scene.put_back("late")
    finish(scene, "plug, nginx starts late", began)


@pytest.mark.long
@pytest.mark.parametrize("name", ["after the notice", "in a method", "drained, not told"])
def test_the_plug_is_pulled_and_the_event_ends_meanwhile(lab: Lab, receiver: Receiver, name: str) -> None:
    scene, began = stopped_at(lab, receiver, name), time.monotonic()
    before = scene.disk.record(scene.event_id)
    scene.pull_plug(scene.cancel)
    scene.check_not_drained_again(before)
    scene.put_back(f"gone-{name}".replace(" ", "-").replace(",", ""))
    finish(scene, f"plug, event gone, {name}", began)


@pytest.mark.long
@pytest.mark.parametrize("name", MOMENTS)
def test_the_watcher_is_killed(lab: Lab, receiver: Receiver, name: str) -> None:
    scene, began = stopped_at(lab, receiver, name), time.monotonic()
    scene.kill_units(nothing)
    check_end_while_listed(scene, f"killed, {name}", began)


def random_ends() -> t.Iterator[tuple[str, float]]:
    chance = random.Random(os.environ.get("FLEET_SEED", str(time.time_ns())))
    for number in range(int(os.environ.get("FLEET_PLUGS", "4"))):
        yield ("plug", "killed")[number % 2], round(chance.uniform(0, LONGEST), 2)


@pytest.mark.long
@pytest.mark.parametrize(("how", "seconds"), list(random_ends()))
def test_at_a_random_moment(lab: Lab, receiver: Receiver, how: str, seconds: float) -> None:
    scene = Scene(lab, receiver, MOMENTS["told"])
    scene.freeze_after(seconds)
    began, name = time.monotonic(), f"{how} after {seconds} s"
    print(f"{name}: phase {scene.phase()!r}, spool {scene.spooled()}, told {scene.told()}", flush=True)
    (scene.pull_plug if how == "plug" else scene.kill_units)(nothing)
    check_end_while_listed(scene, name, began)
