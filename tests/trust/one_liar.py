# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A fleet in which one VM lies: its answer may be anything. What is planned for all others must be what it could cause by itself.

Two plans are compared: that of the lie, and those of what the VM may honestly be: it does not answer, or it gives some valid answer
about itself. Its word about an event that it lists, and a name or an id that it leases, may hold approvals (design, rule 9); so
the plans compared with it are made with the same holds, and those are checked by themselves.
"""

from __future__ import annotations

import copy
import itertools
import random
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from unittest import mock

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease.lease_schema import event_digest
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core.model import PHASES
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.observe import directory
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.planner import make_plan
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.state import conflicts
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import SETTINGS, at, event, method, record, vm

Observation = dict[str, Any]
NAMES = ("vm1", "vm2", "vm3", "vm4", "vm5")
PAUSE = {"event_type": "Freeze", "duration_in_seconds": 5}
RUN = {"id": "run000mine", "who": "alice on deploy1"}
LATE = (None, -5, 40, 229, 231, 900, 90_000)
METHOD_STATES = ("found", "begun", "drained", "failed", "undoing", "undone")
OWN_EVENTS = (("Scheduled", 900), ("Scheduled", 40), ("Scheduled", -5), ("Started", -5))
# In how many things, at most, an honest answer may differ from what the lie looks like.
MOST_APART = 3
ACTIONS = ("approve", "hold", "release", "let_it_come", "retire_vm", "explode")


# --- Honest VMs ----------------------------------------------------------------------------------------------------------


class Scene:
    """Some events on five VMs, what each VM honestly is, and who lies."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        self.names = NAMES[: dice.randint(2, 5)]
        self.liar = dice.choice(self.names)
        self.events = [self._event(f"E{number}") for number in range(dice.randint(1, 3))]
        self.capacity = [self._group(f"g{number}") for number in range(dice.choice((0, 1, 1, 2)))]
        self.policy = dice.choice(("default", "default", "documentation", [{"drain": False, "approve": "never"}], [{"drain": True, "approve": "never"}]))
        self.run = dice.choice(({}, RUN, RUN))
        self.health = dice.random() < 0.5
        self.honest = {name: self.answer(name) for name in self.names}

    def _event(self, event_id: str) -> dict[str, Any]:
        names = tuple(self.dice.sample(self.names, self.dice.randint(1, len(self.names))))
        status = self.dice.choice(("Scheduled",) * 4 + ("Started",))
        return event(event_id, names, status, self.dice.choice((300, 229, 900, 5000))) | self.dice.choice(({}, {}, PAUSE))

    def _group(self, name: str) -> dict[str, Any]:
        members = self.dice.sample(self.names, self.dice.randint(1, len(self.names)))
        return {"name": name, "members": members, "max_unavailable": self.dice.choice((0, 1, 1, 2))}

    def answer(self, name: str, **observation: Any) -> Observation:
        """What an honest VM says."""
        records, leases, acknowledged = [], [], []
        for one in self.events:
            if name not in one["resources"]:
                continue
            if self.dice.random() < 0.6:
                phase = self.dice.choice((*["drained"] * 4, "noticed", "draining", "failed", "held"))
                noted = {"approving_at": at(-3)} if phase == "drained" and self.dice.random() < 0.3 else {}
                records.append(record(phase, one, ago=self.dice.choice((5, 20, 90)), **noted))
            if self.run and self.dice.random() < 0.8:
                leases.append(a_lease(one["event_id"], RUN["id"]))
                acknowledged.append(one["event_id"].lower())
        identity = {"name": name, "resource_group": "RG", "subscription_id": "S", "vm_id": f"id-of-{name}"}
        in_service = self.dice.choice((None, True)) if not self.health else self.dice.choice((True, True, False))
        found = vm(name, copy.deepcopy(self.events), records, leases=leases, identity=identity, in_service=in_service, **observation)
        # Whether it was observed before in this run, and said the same.
        before = {"listed_before": copy.deepcopy(self.events)} if self.dice.random() < 0.7 else {}
        return {**found, "acknowledged": acknowledged, "expected_identity": {"name": name} if self.dice.random() < 0.3 else None, **before}

    def plan(self, answer: Observation | None) -> dict[str, Any]:
        """The plan in which the liar says this; None where it does not answer."""
        mine = self.honest[self.liar]
        silent = {"host": self.liar, "state": "failed", "error": "no", "observation": None, "methods": ["service"], "identity": mine["observation"]["identity"]}
        seen = [self.honest[name] if name != self.liar else (answer or silent) for name in self.names]
        settings = {**SETTINGS, "capacity": self.capacity, "run": self.run, "has_health": self.health}
        return make_plan(seen, policy=self.policy, settings=settings, now=at(0))

    def steps_of_others(self, plan: dict[str, Any], told: Iterable[str]) -> list[str]:
        """What is done on all other VMs, without the words; and without telling people of events that they may have been told of."""
        others = (step for step in plan["actions"] if step["host"] != self.liar)
        return sorted(_plain(step) for step in others if step["action"] != "notify" or step["event_id"].lower() not in told)


def _plain(step: dict[str, Any]) -> str:
    kept = {key: value for key, value in step.items() if key not in ("reason", "continues", "keeper")}
    if "changes" in kept:
        kept["changes"] = {key: value for key, value in kept["changes"].items() if key != "reason"}
    if "approve_for" in kept:
        # Names compare without regard to case.
        kept["approve_for"] = sorted({name.lower() for name in kept["approve_for"]})
    return repr(sorted((key, str(value).lower() if key == "event_id" else value) for key, value in kept.items()))


def a_lease(event_id: str, run: str, **more: Any) -> dict[str, Any]:
    """A lease as an observation shows it."""
    digest = event_digest(event_id)
    named = {"name": f"claim-{run}-{digest}.1.json", "run": run, "digest": digest, "event_id": event_id}
    return {**named, "kind": "events", "who": "bob", "groups": {}, "made_at": at(-9), "limit": at(99), "expired": False, **more}


# --- The liar ------------------------------------------------------------------------------------------------------------


class Lie:
    """An answer that is made up. It begins as an honest one, so that it is worth something, and is then changed in some places."""

    def __init__(self, scene: Scene) -> None:
        self.scene, self.dice = scene, scene.dice
        self.answer = copy.deepcopy(scene.honest[scene.liar]["observation"])
        for change in self.dice.sample((self.document, self.records, self.leases, self.identity, self.state, self.words), self.dice.randint(1, 4)):
            change()

    def observation(self) -> Observation:
        """As the plan gets it."""
        return {**self.scene.honest[self.scene.liar], "observation": self.answer, "expected_identity": None}

    def names(self) -> list[str]:
        """Names of anybody."""
        every = [*self.scene.names, "stranger", self.scene.liar.upper()]
        return self.dice.sample(every, self.dice.randint(0, len(every)))

    def an_event(self) -> dict[str, Any]:
        """One that is real, made to look otherwise, or one that is not."""
        dice = self.dice
        event_id = dice.choice([one["event_id"] for one in self.scene.events] + ["invented", "e0"])
        made = event(event_id, tuple(self.names()), dice.choice(("Scheduled", "Scheduled", "Started", "Odd")), dice.choice(LATE))
        return made | dice.choice(({}, PAUSE, {"event_type": "Preempt"}, {"event_source": "User"}, {"duration_in_seconds": 10**30}))

    def document(self) -> None:
        kept = [one for one in self.answer["events"] if self.dice.random() < 0.7]
        twisted = [{**one, **self._twist()} if self.dice.random() < 0.5 else one for one in kept]
        self.answer["events"] = twisted + [self.an_event() for _number in range(self.dice.randint(0, 2))]

    def _twist(self) -> dict[str, Any]:
        every = {"event_status": "Started", "not_before": at(self.dice.choice((-50, 5, 100_000))), "resources": self.names()}
        every.update(event_type=self.dice.choice(("Preempt", "Freeze", 7)), duration_in_seconds=self.dice.choice((0, 5, -1, "9" * 40)))
        return {key: value for key, value in every.items() if self.dice.random() < 0.4}

    def records(self) -> None:
        dice = self.dice
        for _number in range(dice.randint(1, 3)):
            one = dice.choice((dice.choice(self.scene.events), self.an_event()))
            made = record(dice.choice(PHASES), one, ago=dice.choice((1, 20, 90, 10**7)))
            twists: dict[str, Any] = {key: at(dice.choice((-99, -1, 9, 10**8))) for key in ("approved_at", "approving_at", "started_at", "missing_since")}
            twists.update(rule={"name": "x", "drain": dice.random() < 0.5, "approve": dice.choice(("now", "never", "after_drain")), "order": "9" * 5000})
            twists.update(methods=[method(dice.choice(METHOD_STATES)) for _method in range(dice.randint(0, 3))], outcome=dice.choice((None, "completed")))
            twists.update(told=["noticed", "failed"], revision=dice.choice((-5, 10**30, "7", None)), deadline=at(dice.choice((-9, 10**9))))
            made.update({key: value for key, value in twists.items() if dice.random() < 0.4})
            self.answer["records"] = [old for old in self.answer["records"] if old["event"]["event_id"] != one["event_id"]] + [made]

    def words(self) -> None:
        dice = self.dice
        for its in [*self.answer["records"]] or [record("held", self.an_event())]:
            times = {"at": at(dice.choice((-500, -5, 5000))), "until": at(dice.choice((-5, 5000, 10**9)))}
            its["decision"] = {"action": dice.choice(ACTIONS), "who": "mallory", "why": "x", "beside": [], **times}
            its["decision"]["vm"] = dice.choice((None, *self.scene.names))
            if its not in self.answer["records"]:
                self.answer["records"].append(its)

    def leases(self) -> None:
        dice = self.dice
        for _number in range(dice.randint(1, 3)):
            groups = {group["name"]: "another" for group in self.scene.capacity}
            limits = {"expired": dice.random() < 0.3, "kind": dice.choice(("events", "upgrade", "odd")), "groups": dice.choice(({}, groups))}
            event_id = dice.choice([one["event_id"] for one in self.scene.events] + ["E9", "upgrade:x"])
            self.answer["leases"].append(a_lease(event_id, dice.choice(("run00other", RUN["id"])), **limits))
        self.answer["upgrades"] = dice.choice(([], [{"name": "x", "state": dice.choice(("begun", "left", "done"))}]))

    def identity(self) -> None:
        dice, other = self.dice, self.dice.choice(self.scene.names)
        leased = {"name": other, "resource_group": dice.choice(("RG", "other", None)), "subscription_id": dice.choice(("S", "T")), "vm_id": f"id-of-{other}"}
        self.answer["identity"] = {key: value for key, value in {**self.answer["identity"], **leased}.items() if dice.random() < 0.8}
        if dice.random() < 0.7:
            self.answer["vm_name"] = dice.choice((other, other.upper(), None, ""))

    def state(self) -> None:
        dice = self.dice
        changes: dict[str, Any] = {
            "in_service": dice.choice((True, False, None, "perhaps")),
            "now": at(dice.choice((-(10**8), 0, 10**8))),
            "enabled_at": at(dice.choice((-10, -(10**6), 10**6))),
            "enabled_recently": True,
            "boot_id": dice.choice((None, "boot", "another")),
            "uptime_seconds": dice.choice((0, -5, 1e308, "9" * 5000)),
            "document_incarnation": 10**40,
        }
        self.answer.update({key: value for key, value in changes.items() if dice.random() < 0.4})


# --- What the liar may be ------------------------------------------------------------------------------------------------


class Choice(NamedTuple):
    """One thing that an honest VM may say in several ways: changes of its answer, and of its observation. The first is what the lie looks like."""

    ways: list[tuple[dict[str, Any], dict[str, Any]]]


def valid_answers(scene: Scene, lie: Observation, apart: int) -> Iterator[Observation | None]:
    """It does not answer; else its document, its own records, its clock, its health and its own lease as they may honestly be.

    Those that differ in so many things from what the lie looks like; no answer at all comes with those that differ in none.
    """
    if not apart:
        yield None
    base = copy.deepcopy(scene.honest[scene.liar])
    base["observation"].update(records=[], leases=[])
    base["acknowledged"] = lie["acknowledged"]
    mine = [one for one in scene.events if scene.liar in one["resources"]]
    records = [list(_own_records(one, lie)) for one in mine]
    others = [_documents(scene, mine, lie), _leases(mine, lie), _services(lie), *_clocks(lie), _boots(lie)]
    choices = [choice.ways for choice in others] + [[({}, {"records": [one]}) for one in every] for every in records]
    for ways in _apart(choices, apart):
        yield _answer(base, ways)


def _answer(base: Observation, ways: Iterable[tuple[dict[str, Any], dict[str, Any]]]) -> Observation:
    made = {**base, "observation": {**base["observation"], "records": []}}
    for said, seen in ways:
        written = [copy.deepcopy(one) for one in seen.get("records", ()) if one]
        made = {**made, **said, "observation": {**made["observation"], **seen, "records": made["observation"]["records"] + written}}
    return made


def _apart(choices: list[list[Any]], number: int) -> Iterator[tuple[Any, ...]]:
    """One way of each, where just so many are not the first."""
    for other in itertools.combinations(range(len(choices)), number):
        yield from itertools.product(*(every[1:] if place in other else every[:1] for place, every in enumerate(choices)))


def _documents(scene: Scene, mine: list[dict[str, Any]], lie: Observation) -> Choice:
    # A document that was read at another moment lists fewer events.
    listed = {str(one["event_id"]).strip().lower() for one in lie["observation"]["events"]}
    fewer = [one for one in scene.events if one["event_id"].lower() in listed]
    # What concerns it alone: an event that its own document calls a short pause needs no drain of it.
    short = [one | PAUSE | {"event_status": "Scheduled"} if one in mine else one for one in scene.events]
    # An event of its own, which the others were not told of yet: it goes out for it, in its iteration or at once.
    own = [[*scene.events, event("E9", (scene.liar,), status, seconds)] for status, seconds in OWN_EVENTS]
    # Read earlier: its own events were not listed yet, or had not started.
    ahead = {"event_status": "Scheduled", "not_before": at(40)}
    earlier = [[one for one in scene.events if one not in mine], [], [one | ahead if one in mine else one for one in scene.events]]
    every = [scene.events, fewer] if len(fewer) == len(scene.events) else [fewer, scene.events]
    every += [short, *own, *earlier]
    return Choice([({}, {"events": copy.deepcopy(events)}) for events in every])


def _leases(mine: list[dict[str, Any]], lie: Observation) -> Choice:
    """Its own leases; and whether it has taken them in this run, one iteration before."""
    held = [a_lease(one["event_id"], RUN["id"]) for one in mine]
    before = {"acknowledged": [one["event_id"].lower() for one in mine]}
    ways: list[tuple[dict[str, Any], dict[str, Any]]] = [({}, {"leases": lie["observation"]["leases"]}), ({}, {"leases": []})]
    return Choice([*ways, ({}, {"leases": held}), (before, {"leases": held}), ({}, {"leases": [a_lease("E9", "run00other")]})])


def _services(lie: Observation) -> Choice:
    serves = lie["observation"].get("in_service")
    return Choice([({}, {"in_service": one}) for one in sorted((True, None, False), key=lambda one: one is not serves)])


def _clocks(lie: Observation) -> list[Choice]:
    """Scheduled Events may have been enabled on it just now; then its document proves nothing yet. It may have been up for years.

    And its clock may be wrong by years.
    """
    observation = lie["observation"]
    enabled = [({}, {}), ({}, {"enabled_at": at(-10), "enabled_recently": True})]
    up = [({}, {}), ({}, {"uptime_seconds": 1e9})]
    wrong = [({}, {}), ({}, {"now": at(10**8)}), ({}, {"now": at(-(10**8))})]
    if observation.get("enabled_recently"):
        enabled.reverse()
    if str(observation.get("uptime_seconds", 0)) > "5":
        up.reverse()
    wrong.sort(key=lambda way: way[1].get("now", at(0)) != observation.get("now", at(0)))
    return [Choice(enabled), Choice(up), Choice(wrong)]


def _boots(lie: Observation) -> Choice:
    boots = ["boot", "another"]
    return Choice([({}, {"boot_id": one}) for one in sorted(boots, key=lambda one: one != lie["observation"].get("boot_id"))])


def _own_records(one: dict[str, Any], lie: Observation) -> Iterator[dict[str, Any] | None]:
    """What its own record of a real event that names it may be."""
    for its in lie["observation"]["records"]:
        if its["event"]["event_id"].lower() == one["event_id"].lower():
            yield {**its, "event": one}
    yield None
    for phase in ("noticed", "drained", "draining", "failed"):
        yield record(phase, one, ago=5)
    word = {"action": "hold", "who": "bob", "why": None, "at": at(-5), "until": at(5000), "vm": None, "beside": []}
    yield record("noticed", one, decision=word)
    yield record("drained", one, decision=word)
    yield record("drained", one, ago=5, approving_at=at(-3), approved_at=at(-2))
    yield record("drained", one, ago=5, approving_at=at(-3))
    yield record("failed", one, ago=10**6, methods=[method("undone")])


@contextmanager
def same_holds(scene: Scene, lie: Observation, plan: dict[str, Any], *, confused: bool) -> Iterator[None]:
    """Within this, plans hold what the lie was seen to hold. Fails where it holds what it must not."""
    listed = {str(one["event_id"]).strip().lower() for one in lie["observation"]["events"]}
    mine = {one["event_id"].lower() for one in scene.events if scene.liar in one["resources"]}
    held = {one["event_id"].lower(): one["conflict"] for one in plan["events"] if one["conflict"]}
    for key in held:
        assert key in listed | mine, f"{key} is held, which the liar does not list and which does not name it"
    words = [words for words in plan["summary"]["problems"] if "both say" in words]
    contested = {name: said for name in scene.names for said in words if name in said.split(" both say")[0].replace(" and ", ", ").split(", ")}
    for said in contested.values():
        assert scene.liar in said, f"{said}: the liar is not among them"
    find = conflicts.find

    def forced(seen: Any, *given: Any) -> conflicts.Conflict:
        return conflicts.Conflict(held[seen.key]) if seen.key in held else find(seen, *given)

    with mock.patch.object(conflicts, "find", forced), mock.patch.object(directory, "_contested", lambda _hosts: contested if confused else {}):
        yield


def told(scene: Scene, lie: Observation, plan: dict[str, Any]) -> set[str]:
    """Events of which the liar's record may say what people were told: those that name it, by whatever document."""
    mine = {one["event_id"].lower() for one in scene.events if scene.liar in one["resources"]}
    return mine | {one["event_id"].lower() for one in plan["events"] if scene.liar in one["hosts"]}


def _is_disguised(scene: Scene, lie: Observation) -> bool:
    """Whether it does not say who it is."""
    honest = scene.honest[scene.liar]["observation"]
    return any(lie["observation"].get(key) != honest.get(key) for key in ("identity", "vm_name"))


def _acts(steps: Iterable[str]) -> set[str]:
    """Those steps that do something to a VM, or to an event."""
    return {step for step in steps if any(f"('action', '{act}')" in step for act in ("approve", "drain", "undo", "recover"))}


def what_it_could_be(scene: Scene, lie: Observation, planned: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
    """How many valid answers were tried until one gave the same plan for all others; fails where none does. ``planned``: the lie's plan, if it is made."""
    plan = planned or scene.plan(lie)
    known = told(scene, lie, plan)
    wanted = scene.steps_of_others(plan, known)
    tried, could_be_done = 0, set()
    ways = (True, False) if any("both say" in words for words in plan["summary"]["problems"]) else (False,)
    for apart, confused in itertools.product(range(MOST_APART + 1), ways):
        with same_holds(scene, lie, plan, confused=confused):
            for answer in valid_answers(scene, lie, apart):
                tried += 1
                steps = scene.steps_of_others(scene.plan(answer), known)
                could_be_done |= _acts(steps)
                # Where it says that it is another VM, names of events fit nobody, or somebody else. That may hold things, and does nothing.
                if steps == wanted or (_is_disguised(scene, lie) and _acts(wanted) <= could_be_done):
                    return tried, plan
    silent = scene.steps_of_others(scene.plan(None), known)
    more, less = sorted(set(wanted) - set(silent)), sorted(set(silent) - set(wanted))
    raise AssertionError("\n".join([f"{scene.liar} lies, and no valid answer of {tried} gives the same. More than if it were silent:", *more, "less:", *less]))
