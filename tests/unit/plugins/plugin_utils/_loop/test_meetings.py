# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs that start in the same second: one of them acts, whatever their order, and never two on one VM or in one place."""

from __future__ import annotations

import pathlib
import random
from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._loop import pass_loop
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.decide import leases
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._loop.meetings import Running, Site, play
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.decide.test_leases import lease
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import NOW, event

NAMES = ("vm1", "vm2", "vm3", "vm4")
GROUP = {"name": "web", "members": list(NAMES), "max_unavailable": 1}
# What each of four runs handles, and whether there is a capacity group.
MEETINGS: dict[str, tuple[list[tuple[str, ...]], bool]] = {
    "the same VMs": ([("vm1", "vm2")], False),
    "events that overlap": ([("vm1", "vm2"), ("vm2", "vm3"), ("vm3", "vm4")], False),
    "the last place of a group": ([("vm1",), ("vm2",), ("vm3",), ("vm4",)], True),
}


def meeting(tmp_path: pathlib.Path, name: str, seed: int) -> tuple[Site, list[Running]]:
    """Return two to four runs of which each handles one event, and several the same where there are fewer."""
    dice = random.Random(seed)
    named, is_group = MEETINGS[name]
    site = Site(tmp_path, NAMES, [event(f"E{number}", vms, due=3000) for number, vms in enumerate(named)], **({"capacity": [GROUP]} if is_group else {}))
    ids = [f"{dice.getrandbits(40):010x}" for _run in range(2 + seed % 3)]
    runs = [Running(site, run, dice, settings={"only_events": [f"E{place % len(named)}"]}) for place, run in enumerate(ids)]
    return site, runs


def as_2_7_0(run: Running) -> Running:
    """Let a run release whatever it meets, and end."""
    run.request["settings"]["run"]["looks"] = leases.MOST_LOOKS
    return run


def check(site: Site, limit: int | None) -> None:
    """Check that each VM is drained by one run for an event, and never more of them than allowed; that the passes ended, and kept no lease."""
    drained: dict[tuple[str, str], str] = {}
    for one in site.done:
        if one.act == "drain":
            assert drained.setdefault((one.vm, one.event_id), one.run) == one.run, site.done
    assert limit is None or len(drained) <= limit, site.done
    assert site.leases() == []


@pytest.mark.parametrize("seed", range(17))
@pytest.mark.parametrize("name", MEETINGS)
def test_of_runs_that_start_in_the_same_second_one_acts(tmp_path: pathlib.Path, name: str, seed: int) -> None:
    site, runs = meeting(tmp_path, name, seed)
    play(site, runs)
    check(site, 1 if MEETINGS[name][1] else None)
    assert site.done, "all gave way, and nothing was done"
    # Of the event that acts first, everything is done.
    assert site.done[0].at - NOW < 20
    assert (site.done[0].event_id) in {one.event_id for one in site.done if one.act == "approve"}
    assert all(run.state["do"] == "end" for run in runs)


def test_without_a_rank_they_all_gave_way(tmp_path: pathlib.Path) -> None:
    """As 2.7.0 did it: this is what the test above would see."""
    idle = 0
    for seed in range(9):
        site, runs = meeting(tmp_path / str(seed), "the same VMs", seed)
        play(site, [as_2_7_0(run) for run in runs], within=0.3)
        check(site, None)
        idle += not site.done
    assert idle >= 6


@pytest.mark.parametrize("old", [0, 1])
def test_beside_a_run_of_2_7_0_one_acts(tmp_path: pathlib.Path, old: int) -> None:
    for name in MEETINGS:
        for seed in range(0, 15, 3):
            site, runs = meeting(tmp_path / f"{name} {seed}", name, seed)
            runs.sort(key=lambda run: run.run)
            as_2_7_0(runs[old])
            play(site, runs, within=0.3)
            check(site, 1 if MEETINGS[name][1] else None)
            assert site.done


@pytest.mark.parametrize("liar", ["0000liar", "zzzzliar"])
def test_a_lease_without_end_holds_its_vm_and_no_pass_for_long(tmp_path: pathlib.Path, liar: str) -> None:
    """Only one VM of the event makes it up: whatever its rank, a pass without waiting is over soon, and keeps nothing."""
    site, runs = meeting(tmp_path, "the same VMs", 0)
    site.lies["vm1"] = [lease("E0", liar, left=100_000, expired=False)]
    play(site, runs)
    check(site, None)
    assert not site.done
    assert site.now - NOW < 60


@pytest.mark.parametrize("liar", ["0000liar", "zzzzliar"])
def test_a_lease_that_appears_beside_each_other_one_is_not_waited_for_for_ever(tmp_path: pathlib.Path, liar: str) -> None:
    """The VM makes it up as soon as a run has leased it: the run keeps its leases for a bounded time, and its own urgent drains go on."""
    site, runs = meeting(tmp_path, "the same VMs", 3)
    site.events = [event("E0", ("vm1", "vm2"), due=150)]
    real = site.observe

    def observe(name: str) -> dict[str, Any]:
        found = real(name)
        if name == "vm1" and found["leases"]:
            found["leases"].append(lease("E0", liar, left=100_000, expired=False))
        return found

    site.observe = observe  # type: ignore[method-assign]
    play(site, runs[:1])
    assert {one.vm for one in site.done} == {"vm2"}, "the deadline has come: vm2 drains, whatever vm1 says"
    assert site.leases() == []
    assert site.now - NOW < 90


@pytest.mark.parametrize("seed", range(6))
def test_two_that_meet_at_the_deadline_drain_in_time(tmp_path: pathlib.Path, seed: int) -> None:
    site, runs = meeting(tmp_path, "the same VMs", 3 * seed)
    site.events = [event("E0", ("vm1", "vm2"), due=120)]
    play(site, runs, within=0.3)
    check(site, None)
    assert {one.vm for one in site.done if one.act == "drain"} == {"vm1", "vm2"}
    assert max(one.at for one in site.done if one.act == "drain") - NOW < 30


@pytest.mark.parametrize("seed", range(4))
def test_runs_that_wait_meet_and_one_acts_soon(tmp_path: pathlib.Path, seed: int) -> None:
    site, runs = meeting(tmp_path, "the last place of a group", seed)
    for run in runs:
        run.request = {**run.request, "wait": True, "wait_timeout": 120.0}
    play(site, runs, within=0.3)
    check(site, 1)
    assert site.done[0].at - NOW < 20


@pytest.mark.parametrize("is_group", [False, True])
def test_a_run_for_one_event_ends_beside_the_unfinished_event_of_another_vm(tmp_path: pathlib.Path, is_group: bool) -> None:
    """The VM of the other event is a witness of this one. Where it is a member of the group, it is observed to the end."""
    events = [event("E0", ("vm1",), due=3000, everywhere=True), event("E1", ("vm4",), due=18_000, everywhere=True)]
    group = {"capacity": [{**GROUP, "max_unavailable": 2}]} if is_group else {}
    site, dice = Site(tmp_path, NAMES, events, **group), random.Random(1)
    play(site, [Running(site, "run00first", dice, settings={"only_events": ["E1"]})])
    second = Running(site, "run0second", dice, wait=True, wait_timeout=1000.0, settings={"only_events": ["E0"]})
    real, observed = second.observe, set()

    def observe(name: str) -> dict[str, Any]:
        if any(one.act == "approve" and one.event_id == "E0" for one in site.done):
            site.events = events[1:]
            observed.add(name)
        return real(name)

    second.observe = observe  # type: ignore[method-assign]
    began = site.now
    play(site, [second])
    assert second.state["plan"]["done"], second.state["plan"]["requeue"]
    assert site.now - began < 300
    assert ("vm4" in observed) == is_group


def test_what_a_run_did_is_counted_by_what_it_did_itself(tmp_path: pathlib.Path) -> None:
    """A second run finds everything done. Of several events that one VM approves, each counts."""
    events = [event("E0", ("vm1", "vm2"), due=3000), event("E1", ("vm1",), due=3100)]
    site, dice = Site(tmp_path, NAMES[:3], events), random.Random(1)
    first, second = Running(site, "run00first", dice), Running(site, "run0second", dice)
    play(site, [first])
    assert pass_loop.done_by(first.state) == {"run_drained": 2, "run_approved": 2, "run_recovered": 0}
    play(site, [second])
    assert pass_loop.done_by(second.state) == {"run_drained": 0, "run_approved": 0, "run_recovered": 0}


@pytest.mark.parametrize(("wait", "seconds", "red"), [(True, 60.0, True), (False, 60.0, False)])
def test_a_run_whose_time_to_wait_is_over_is_red_for_what_is_not_back(tmp_path: pathlib.Path, wait: bool, seconds: float, red: bool) -> None:
    site = Site(tmp_path, NAMES[:2], [event("E0", ("vm1",), due=3000)])
    run = Running(site, "run00first", random.Random(1), wait=wait, wait_timeout=seconds)
    play(site, [run])
    told = "vm1: approved for event E0, not back after respond_wait_timeout (60 s); run respond again, or let the schedule do so"
    assert run.state["plan"]["fails"] == ([told] if red else [])
