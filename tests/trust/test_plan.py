# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Items 3 to 8: what a VM answers changes nothing that is planned for the others. The observations are the real module's."""

from __future__ import annotations

import copy
import pathlib
import time
import typing as t

import lies
import pytest
import records
from lab.simulator import Simulator
from planning import FAILED, Observation, Plan, Scene, on_others

# All VMs go through an iteration together. With two events of a VM and one method there are up to ten.
MOST_STAGES = 40
VMS = ("liar", "web1", "web2", "web3", "web4")


class Stage:
    """One scene with its honest plan, and the plan in which the liar says nothing."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.all_observations = scene.all_observations()
        assert not any(observation.get("failed") for observation in self.all_observations.values()), self.all_observations
        self.honest = scene.plan(self.all_observations)
        self.silent = scene.plan({**self.all_observations, "liar": FAILED})

    def lie(self, lie: lies.Lie) -> Observation:
        """The liar's look with the lie in it."""
        observation: Observation = copy.deepcopy(self.all_observations["liar"])
        lie(observation, self.scene, self.all_observations)
        return observation

    def attacked(self, observation: Observation) -> tuple[Plan, float]:
        """The plan with the lie, and how long it took."""
        began = time.monotonic()
        return self.scene.plan({**self.all_observations, "liar": observation}), time.monotonic() - began

    def known(self, observation: Observation) -> Plan:
        """The plan with the lie, where the inventory knows who every VM is."""
        who = {vm: honest["identity"] for vm, honest in self.all_observations.items()}
        scope = "/subscriptions/{subscription_id}/resourceGroups/{resource_group}/providers/Microsoft.Compute/virtualMachines/{name}"
        self.scene.resource_ids = {vm: scope.format(**identity) for vm, identity in who.items()}
        try:
            return self.scene.plan({**self.all_observations, "liar": observation})
        finally:
            self.scene.resource_ids = {}

    def disputed(self, observation: Observation) -> set[str]:
        """The events that the liar lists otherwise than in its honest document."""
        honest = {event["event_id"]: event for event in self.all_observations["liar"]["events"]}
        listed = [event for event in observation["events"] if isinstance(event, dict)] if isinstance(observation["events"], list) else []
        return {str(event.get("event_id")).strip().lower() for event in listed if honest.get(str(event.get("event_id"))) != event}


def _events(scene: Scene) -> None:
    scene.event("others", "Reboot", ["web1"])
    scene.event("freeze", "Freeze", ["web2"], duration_in_seconds=5)
    scene.event("shared", "Reboot", ["liar", "web3"])
    scene.event("own", "Reboot", ["liar"])
    scene.event("with_stranger", "Freeze", ["web4", "stranger"], duration_in_seconds=5)
    scene.event("held", "Freeze", ["liar", "web4"], duration_in_seconds=5)


def _hold(scene: Scene) -> None:
    """A person has said on both VMs of an event that it is held."""
    held = records.event(0, "web4", event_id=scene.events["held"], event_type="Freeze", resources=["liar", "web4"])
    said = {"phase": "held", "outcome": None, "missing_since": None, "verified_at": None, "decision": records.word("hold", None, -3000)}
    carried = {**records.record(held), **said, "history": [{"phase": "held", "at": records.at(-3000)}], "rule": None, "attempts": 0, "told": []}
    for vm in ("liar", "web4"):
        scene.plant(vm, records.record_name(carried), carried)


@pytest.fixture(scope="module")
def stages(tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[dict[str, Stage]]:
    simulator = Simulator(VMS, 1, "--switch", "rate_limit=0")
    try:
        plain = Scene(tmp_path_factory.mktemp("plain"), simulator, VMS)
        _events(plain)
        capacity = [{"name": "web", "members": ["web1", "web2", "web3", "web4"], "max_unavailable": 3}]
        group = Scene(tmp_path_factory.mktemp("group"), simulator, VMS, capacity=capacity)
        group.events = plain.events
        for scene in (plain, group):
            _hold(scene)
        yield {"plain": Stage(plain), "group": Stage(group)}
    finally:
        simulator.close()


def test_the_honest_plan_acts_on_others(stages: dict[str, Stage]) -> None:
    """Or nothing here proves anything."""
    for stage in stages.values():
        found, ids = on_others(stage.honest), stage.scene.events
        assert any(step.startswith("drain web1") for step in found[ids["others"].lower()]), found
        assert any(step.startswith("approve") for step in found[ids["freeze"].lower()])
        assert any(step.startswith("drain web3") for step in found[ids["shared"].lower()])
        assert not any(step.startswith("approve") for step in found.get(ids["held"].lower(), set()) | found.get(ids["with_stranger"].lower(), set()))


def differences(stage: Stage, plan: Plan, disputed: t.Container[str]) -> list[str]:
    """What is done elsewhere, or is not done any more, because of the lie.

    A conflict of documents, and a name or an id that two VMs lease, is reported and holds the approval: that may be missing, and a record
    may say that it is held. What is held is drained near its time, so that nobody is out of service for longer than needed.
    """
    lied, honest, silent = on_others(plan), on_others(stage.honest), on_others(stage.silent)
    real = {event_id.lower() for event_id in stage.scene.events.values()}
    wrong = []
    for event_id in sorted({*lied, *honest}):
        steps, with_honest, with_silent = (found.get(event_id, set()) for found in (lied, honest, silent))
        more, less = steps - with_honest - with_silent, (with_honest & with_silent) - steps
        more = {step for step in more if not (step.startswith("approve ") and '"approve_for": ["liar"]' in step)}  # by itself, for itself
        if event_id in real and event_id in disputed:
            more = {step for step in more if not (step.startswith("note ") and '"phase": "held"' in step and '"restore"' not in step)}
            less = {step for step in less if not step.startswith(("approve ", "note ", "drain "))}
        wrong += [f"done: {step}" for step in sorted(more)] + [f"not done: {step}" for step in sorted(less)]
    return wrong


@pytest.mark.parametrize("attack", lies.ATTACKS, ids=lambda attack: f"{attack.item} {attack.name}")
def test_a_lie_changes_nothing_for_others(stages: dict[str, Stage], attack: lies.Attack) -> None:
    stage = stages[attack.scene]
    observation = stage.lie(attack.lie)
    plan, seconds = stage.attacked(observation)
    disputed = stage.disputed(observation)
    if attack.item == 7:
        wrong = differences(stage, plan, {*disputed, *(event_id.lower() for event_id in stage.scene.events.values())})
        # Where the inventory knows it, such a VM counts as silent; without it nobody can tell who the stranger is.
        assert wrong == [] or "stranger" in attack.name, wrong
        plan = stage.known(observation)
        assert "the inventory knows" in str(plan["hosts"]["liar"]["error"]) or observation["vm_name"] in (None, "", "liar")
        disputed = set()
    wrong = differences(stage, plan, disputed)
    assert wrong == [], "\n".join(line[:600] for line in wrong[:4])
    assert len(plan["stages"]) <= MOST_STAGES, f"{len(plan['stages'])} stages"
    assert seconds < attack.seconds, f"the plan took {seconds:.1f} s"


def test_planted_files_are_read_as_what_they_are(tmp_path: pathlib.Path) -> None:
    """The same lies on disk: 300 leases, records and copies that the real module reads, and a document of two events."""
    simulator = Simulator(("liar", "web1"), 1, "--switch", "rate_limit=0")
    try:
        scene = Scene(tmp_path, simulator, ("liar", "web1"), capacity=[{"name": "web", "members": ["liar", "web1"], "max_unavailable": 1}])
        event = scene.event("others", "Reboot", ["web1"])
        scene.event("own", "Reboot", ["liar"])
        honest = on_others(scene.plan(scene.all_observations()))
        silent = on_others(scene.plan({**scene.all_observations(), "liar": FAILED}))
        for number in range(300):
            scene.plant("liar", *records.lease(number, event, {"web": "0123456789abcdef"}))
        digits = records.record(records.event(1, "liar"), records.method("probe_file", {}), rule={"order": "9" * 5000})
        scene.plant("liar", records.record_name(digits), digits)
        scene.plant("liar", *records.replica("web1", None, records.record(records.event(2, "web1"), records.method("command", {"undo": "id"}, outside=True))))
        all_observations = scene.all_observations()
        assert not all_observations["web1"].get("failed")
        assert on_others(scene.plan(all_observations)) in (honest, silent)
    finally:
        simulator.close()
