# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One run: look at every VM, plan, act, again. What it does next depends on what it has learned since its iteration began, on nothing else.

A run stands at a node: the observations of its iteration so far, or its acts and the results of the present one. Nodes have numbers, and
each is computed once, however many interleavings lead to it.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.system import utc_seconds
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_store import RecordStore
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease.lease_store import LeaseStore
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease.progress_marks import ProgressMarks
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance import planner as plans
from ansible_collections.maintenance.azure.tests.model import fleet
from ansible_collections.maintenance.azure.tests.model.acts import FAILED, ORDER, calls, write
from ansible_collections.maintenance.azure.tests.model.fleet import DRAIN, MARGIN, NOTICE, START, Case, Contents, Step
from ansible_collections.maintenance.azure.tests.model.machine import ModelFiles, ModelHost, Pause, Replay, forget

Node = tuple[Any, ...]
Said = frozenset[tuple[int, str]]


class Carry(NamedTuple):
    """What a run keeps beyond its iteration."""

    failed: Said
    acknowledged: Said
    misses: tuple[int, ...]
    asked: frozenset[tuple[int, int]] = frozenset()
    """VMs whose drain has said "not yet", and the clock then (balancer_run.py)."""


SETTINGS = {
    "pass_interval": 0,
    "drain_seconds": DRAIN,
    "margin": MARGIN,
    "undo_seconds": 30,
    "gone_seconds": 0,
    "notify": False,
}


class Run:
    """One controller, and everything it may ever do."""

    def __init__(self, case: Case, contents: Contents, identifier: str, *, backwards: bool = False, misses: tuple[int, ...] = ()) -> None:
        self.case = case
        self.contents = contents
        self.identifier = identifier
        self.order = list(range(case.machines))[:: -1 if backwards else 1]
        self.numbers = {event_id(place): place for place in range(len(case.events))}
        # What respond puts back for an upgrade that is dead has a record as well, and is no event.
        self.numbers.update({f"upgrade:{name}": len(case.events) for name, _batch in case.upgrades})
        group = {"name": "all", "members": [f"vm{vm + 1}" for vm in range(case.machines)], "max_unavailable": case.limit}
        self.settings = {
            **SETTINGS,
            "drain_seconds": case.drain_seconds,
            "has_health": case.health,
            "capacity": [group],
            "run": {"id": identifier, "who": "model", "kind": "events"},
        }
        self.nodes: list[Node] = []
        self._numbers: dict[Node, int] = {}
        self._steps: dict[int, tuple[Step, ...]] = {}
        self._after: dict[tuple[int, int, Any], int] = {}
        self._lists: list[list[dict[str, Any]]] = []
        self._list_numbers: dict[str, int] = {}
        self._planned: dict[Any, int] = {}
        self._known: dict[Any, dict[str, Any]] = {}
        self.first = self._number(("observation", Carry(frozenset(), frozenset(), misses), (None,) * case.machines))

    def _number(self, node: Node) -> int:
        found = self._numbers.get(node)
        if found is None:
            found = self._numbers[node] = len(self.nodes)
            self.nodes.append(node)
        return found

    # --- What comes next --------------------------------------------------------------------------------------------

    def steps(self, number: int) -> tuple[Step, ...]:
        """The steps from which this run takes its next, whichever comes first."""
        found = self._steps.get(number)
        if found is None:
            node = self.nodes[number]
            found = self._steps[number] = self._observation_steps(node) if node[0] == "observation" else (self._act(node),)
        return found

    def after(self, number: int, choice: int, clock: int, result: Any) -> int:
        """The node after one of these steps."""
        key = (number, choice, (clock, result))
        found = self._after.get(key)
        if found is None:
            node = self.nodes[number]
            after = self._looked(node, self.steps(number)[choice], (clock, result)) if node[0] == "observation" else self._acted(node, (clock, result))
            found = self._after[key] = self._number(after)
        return found

    # --- Looks ------------------------------------------------------------------------------------------------------

    def _observation_steps(self, node: Node) -> tuple[Step, ...]:
        _kind, carry, observations = node
        open_ones = [vm for vm in self.order if not isinstance(observations[vm], str) and (observations[vm] is None or observations[vm][0] == "part")]
        steps: list[Step] = []
        for vm in open_ones if self.case.any_order else open_ones[:1]:
            steps.append(self._reading(vm, observations[vm]) if self.case.fine_observations else ("observation", vm))
            if vm in carry.misses and observations[vm] is None:
                steps.append(("miss", vm))
        return tuple(steps)

    def _reading(self, vm: int, part: Any) -> Step:
        """The next step of an observation whose file operations count one by one."""
        try:
            self._read(vm, part)
        except Pause as pause:
            return pause.step
        raise AssertionError("an observation that is complete has no next step")

    def _read(self, vm: int, part: Any) -> dict[str, Any]:
        """module_utils look(): document, leases, records, health, in this order."""
        replay = Replay("", 0, part[1] if part else (), self.contents, False)
        try:
            return self._reads(replay, vm)
        except Pause as pause:
            pause.replay = replay
            raise

    def _reads(self, replay: Replay, vm: int) -> dict[str, Any]:
        files, host = ModelFiles(replay, vm), ModelHost(replay, vm)
        events = replay.perform(("document", vm))
        now = replay.clock
        leases = LeaseStore(files, host).read_all()
        reading = RecordStore(files, host).read_all(f"vm-{vm}")
        marks = ProgressMarks(files, host).read_all() if self.case.upgrades else None
        serves = replay.perform(("check", vm))
        return self._observation(vm, events, now, leases, reading, serves, marks)

    def _looked(self, node: Node, step: Step, result: Any) -> Node:
        _kind, carry, observations = node
        vm = step[1]
        new: Any
        if step[0] == "miss":
            carry, new = carry._replace(misses=tuple(one for one in carry.misses if one != vm)), "missed"
        elif step[0] == "observation":
            new = ("whole", result[1])
        else:
            results = (*(observations[vm][1] if observations[vm] else ()), result)
            new = ("part", results)
            try:
                found = self._read(vm, new)
                key = json.dumps(found, sort_keys=True)
                self._known[key] = found
                new = ("read", key)
            except Pause as pause:
                new = ("part", forget(results, pause.replay.taken))
        observations = (*observations[:vm], new, *observations[vm + 1 :])
        if any(one is None or one[0] == "part" for one in observations):
            return "observation", carry, observations
        return self._next(self._planned_with(carry, observations), self._plan(observations, carry), 0)

    def _planned_with(self, carry: Carry, observations: tuple[Any, ...]) -> Carry:
        """What a run keeps once it has planned."""
        return carry

    def _whole(self, vm: int, seen: tuple[Any, ...]) -> dict[str, Any]:
        """What an observation of one VM returns when nothing changes meanwhile."""
        found = self._known.get((vm, seen))
        if found is None:
            files, serves, events, clock = seen
            still = _Still(dict(files), self.contents)
            replay = Replay("", clock, (), self.contents, False)
            leases = LeaseStore(still, ModelHost(replay, vm)).read_all()  # type: ignore[arg-type]
            reading = RecordStore(still, ModelHost(replay, vm)).read_all(f"vm-{vm}")  # type: ignore[arg-type]
            marks = ProgressMarks(still, ModelHost(replay, vm)).read_all() if self.case.upgrades else None  # type: ignore[arg-type]
            found = self._known[(vm, seen)] = self._observation(vm, events, clock, leases, reading, serves, marks)
        return found

    def _observation(self, vm: int, events: tuple[str, ...], clock: int, leases: Any, reading: Any, serves: bool, marks: Any) -> dict[str, Any]:
        problems = leases.problems + reading.problems
        return {
            "vm_name": f"vm{vm + 1}",
            "document_incarnation": 1,
            "events": [self.listed(place) for place, status in enumerate(events) if status not in ("unknown", "over")],
            "identity": {"name": f"vm{vm + 1}", "resource_group": "rg", "subscription_id": "s", "vm_id": f"vm-{vm}"},
            "boot_id": "boot",
            "now": moment(clock),
            "enabled_at": moment(-100_000),
            "in_service": serves if self.case.health else None,
            "records": reading.records,
            "records_problems": problems,
            "records_readable": reading.readable and leases.readable,
            "leases": leases.leases,
            "upgrades": marks.found if marks else [],
            "uptime_seconds": 50_000.0 + clock,
        }

    def listed(self, place: int) -> dict[str, Any]:
        """An event as every document has it while it is not over. What is approved starts when the exploration has ended."""
        return {
            "event_id": event_id(place),
            "event_type": "Reboot",
            "event_status": "Scheduled",
            "event_source": "Platform",
            "resource_type": "VirtualMachine",
            "resources": [f"vm{vm + 1}" for vm in self.case.events[place]],
            "not_before": moment(NOTICE + place),
            "description": "",
            "duration_in_seconds": -1,
        }

    # --- The plan ---------------------------------------------------------------------------------------------------

    def _plan(self, observations: tuple[Any, ...], carry: Carry) -> int:
        key = (observations, carry._replace(misses=()))
        found = self._planned.get(key)
        if found is None:
            found = self._planned[key] = self._make_plan([self._given(vm, one) for vm, one in enumerate(observations)], carry)
        return found

    def _given(self, vm: int, one: Any) -> dict[str, Any] | None:
        if one == "missed":
            return None
        return self._known[one[1]] if one[0] == "read" else self._whole(vm, one[1])

    def _observations(self, observations: list[dict[str, Any] | None], carry: Carry) -> list[dict[str, Any]]:
        return [
            {
                "host": f"vm{vm + 1}",
                "state": "ok" if observation else "unreachable",
                "error": None if observation else "no route",
                "observation": observation,
                "methods": ["service"],
                "reached_before": True,
                "could_not_approve": [one for place, one in carry.failed if place == vm],
                "acknowledged": [one.lower() for place, one in carry.acknowledged if place == vm],
            }
            for vm, observation in enumerate(observations)
        ]

    def _make_plan(self, observations: list[dict[str, Any] | None], carry: Carry) -> int:
        now = max(observation["now"] for observation in observations if observation)
        plan = plans.make_plan(self._observations(observations, carry), policy=self.case.policy, settings=self.settings, now=now)
        acts = [self._needed(step, observations) for step in plan["actions"] if step["action"] in ORDER]
        acts.sort(key=lambda act: (ORDER[act["action"]], self.order.index(act["vm"])))
        return self._list(acts)

    def _list(self, acts: list[dict[str, Any]]) -> int:
        text = json.dumps(acts, sort_keys=True)
        number = self._list_numbers.get(text)
        if number is None:
            number = self._list_numbers[text] = len(self._lists)
            self._lists.append(acts)
        return number

    def _needed(self, step: dict[str, Any], observations: list[dict[str, Any] | None]) -> dict[str, Any]:
        """The step without words that change nothing, and the record that goes with it."""
        vm = int(step["host"][2:]) - 1
        observation = observations[vm] or {}
        kept = {key: value for key, value in step.items() if key not in ("reason", "continues", "host")}
        record = next((one for one in observation.get("records", ()) if one["event"]["event_id"] == step["event_id"]), None)
        return {"action": step["action"], "vm": vm, "step": kept, "record": record, "clock": observations_clock(observation)}

    # --- Acts -------------------------------------------------------------------------------------------------------

    def _next(self, carry: Any, number: int, place: int) -> Node:
        """The first act from here on; without any, the next iteration."""
        if place < len(self._lists[number]):
            return "action", carry, number, place, (), ()
        return "observation", carry, (None,) * self.case.machines

    def _call(self, node: Node) -> tuple[Any, ...]:
        """The call at which this act is, after what it was answered so far."""
        _kind, _carry, number, place, said, _results = node
        act = calls(self._lists[number][place], self.numbers)
        call = next(act)
        for answer in said:
            call = act.send(answer)
        return call

    def _at(self, node: Node) -> tuple[dict[str, Any], tuple[Any, ...]]:
        """The act of one VM at which this node is, and its call."""
        return self._lists[node[2]][node[3]], self._call(node)

    def _write(self, node: Node, results: tuple[Any, ...]) -> tuple[str | None, Replay]:
        given, call = self._at(node)
        replay = Replay(self._seed(node), given["clock"], results, self.contents, self.case.jumps > 0)
        try:
            return write(replay, given["vm"], given["step"], call[1]), replay
        except Pause as pause:
            pause.replay = replay
            raise

    def _seed(self, node: Node) -> str:
        """What no other call has, and the same call has again."""
        given = self._at(node)[0]
        revision = (given["record"] or {}).get("revision")
        return f"{self.identifier} {given['action']} {given['vm']} {given['step']['event_id']} {revision} {len(node[4])}"

    def _act(self, node: Node) -> Step:
        given, call = self._at(node)
        if call[0] != "write":
            return call[0], given["vm"], *call[1:]
        try:
            self._write(node, node[5])
        except Pause as pause:
            return pause.step
        raise AssertionError("a call that is complete has no next step")

    def _acted(self, node: Node, result: Any) -> Node:
        _kind, carry, number, place, said, results = node
        answer = result[1]
        if self._at(node)[1][0] == "write":
            results = (*results, result)
            try:
                answer, _replay = self._write(node, results)
            except Pause as pause:
                return "action", carry, number, place, said, forget(results, pause.replay.taken)
        after: Node = ("action", carry, number, place, (*said, answer), ())
        try:
            self._call(after)
        except StopIteration as end:
            return self._next(self._learned(carry, self._lists[number][place], end.value), number, place + 1)
        return after

    def _learned(self, carry: Carry, given: dict[str, Any], outcome: Any) -> Any:
        """What a run keeps beyond its iteration."""
        failed, acknowledged, *_others = carry
        step, vm = given["step"], given["vm"]
        if given["action"] == "approve":
            ids = {(vm, one) for one in step["event_ids"]}
            failed = failed | ids if outcome == FAILED else failed - ids
        elif given["action"] == "acquire" and outcome != FAILED:
            acknowledged = acknowledged | {(vm, step["event_id"])}
        return carry._replace(failed=failed, acknowledged=acknowledged)


class _Still:
    """Files that nobody changes while they are read."""

    where = "the records"

    def __init__(self, files: dict[str, int], contents: Contents) -> None:
        self._files = files
        self._contents = contents

    def names(self) -> list[str]:
        """All names."""
        return list(self._files)

    def read(self, name: str) -> bytes:
        """The content."""
        if name not in self._files:
            raise FileNotFoundError(name)
        return self._contents.known[self._files[name]]


def event_id(place: int) -> str:
    """Events are called E1, E2."""
    return f"E{place + 1}"


def moment(clock: int) -> str:
    """A time as looks have it."""
    return fleet.utc_text(START + clock)


def observations_clock(observation: dict[str, Any]) -> int:
    """The clock that a run last read on this VM."""
    return int((utc_seconds(observation.get("now")) or START) - START)
