# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a VM may say of itself, of events and of others. Each function takes the liar's honest look, changes it and says nothing else."""

from __future__ import annotations

import copy
import dataclasses
import typing as t

import records
from planning import Observation, Scene

Lie = t.Callable[[Observation, Scene, t.Mapping[str, Observation]], None]


@dataclasses.dataclass(frozen=True)
class Attack:
    """One lie in one scene; ``seconds`` is how long the plan may take."""

    item: int
    name: str
    lie: Lie
    scene: str = "plain"
    seconds: float = 2.0


ATTACKS: list[Attack] = []


def attack(item: int, name: str, scene: str = "plain", seconds: float = 2.0) -> t.Callable[[Lie], Lie]:
    def keep(lie: Lie) -> Lie:
        ATTACKS.append(Attack(item, name, lie, scene, seconds))
        return lie

    return keep


def _listed(observation: Observation, observations: t.Mapping[str, Observation], event_id: str) -> dict[str, t.Any]:
    """The event in the liar's look, put there from an honest one where the liar does not list it."""
    for event in observation["events"]:
        if event["event_id"] == event_id:
            return t.cast("dict[str, t.Any]", event)
    found = next(event for one in observations.values() for event in one["events"] if event["event_id"] == event_id)
    observation["events"].append(copy.deepcopy(found))
    return t.cast("dict[str, t.Any]", observation["events"][-1])


def _says(key: str, changes: t.Mapping[str, t.Any]) -> Lie:
    def lie(observation: Observation, scene: Scene, observations: t.Mapping[str, Observation]) -> None:
        given = {name: value() if callable(value) else value for name, value in changes.items()}
        _listed(observation, observations, scene.events[key]).update(given)

    return lie


# --- 4: what it says about an event ----------------------------------------------------------------------------------
FORMS: dict[str, dict[str, t.Any]] = {
    "begins in a minute": {"not_before": lambda: records.at(60)},
    "began an hour ago": {"not_before": lambda: records.at(-3600)},
    "has started": {"event_status": "Started", "not_before": None},
    "is a short freeze": {"event_type": "Freeze", "duration_in_seconds": 5},
    "is a preempt": {"event_type": "Preempt", "not_before": lambda: records.at(30)},
    "was asked for by the user": {"event_source": "User"},
    "names all": {"resources": ["liar", "web1", "web2", "web3", "web4"]},
    "names a stranger": {"resources": ["liar", "web1", "web2", "web3", "stranger"]},
    "names nobody": {"resources": []},
}
for _key, _whose in (("others", "an event of others"), ("shared", "an event of both"), ("own", "its own event")):
    for _form, _changes in FORMS.items():
        if _key == "own" or "names" not in _form or _key == "others":
            attack(4, f"{_whose} {_form}")(_says(_key, _changes))


@attack(4, "an invented event of everybody")
def invented(observation: Observation, scene: Scene, observations: t.Mapping[str, Observation]) -> None:
    event = copy.deepcopy(_listed(observation, observations, scene.events["own"]))
    observation["events"].append({**event, "event_id": "INVENTED-1", "resources": list(scene.vms), "not_before": records.at(60)})


@attack(4, "an invented short freeze of everybody")
def invented_freeze(observation: Observation, scene: Scene, observations: t.Mapping[str, Observation]) -> None:
    event = copy.deepcopy(_listed(observation, observations, scene.events["own"]))
    observation["events"].append({**event, "event_id": "INVENTED-2", "resources": list(scene.vms), "event_type": "Freeze", "duration_in_seconds": 5})


@attack(4, "the same id twice, differing")
def twice(observation: Observation, scene: Scene, observations: t.Mapping[str, Observation]) -> None:
    event = _listed(observation, observations, scene.events["others"])
    observation["events"].append({**event, "event_id": f" {event['event_id'].lower()} ", "event_status": "Started", "not_before": None})


@attack(4, "no events at all")
def nothing(observation: Observation, scene: Scene, observations: t.Mapping[str, Observation]) -> None:
    observation["events"] = []


@attack(4, "a record that says the event of both is over")
def over(observation: Observation, scene: Scene, observations: t.Mapping[str, Observation]) -> None:
    event = _listed(observation, observations, scene.events["shared"])
    observation["events"] = []
    observation["records"].append(records.record(event, records.method("probe_file", {}), phase="recovered", outcome="completed"))


@attack(4, "a record that says an event of others started")
def started_in_record(observation: Observation, scene: Scene, observations: t.Mapping[str, Observation]) -> None:
    event = {**_listed(observation, observations, scene.events["others"]), "event_status": "Started", "not_before": None}
    observation["events"] = []
    observation["records"].append(records.record(event, records.method("probe_file", {}), phase="started", started_at=records.at(-60), outcome=None))


# --- 3: copies -------------------------------------------------------------------------------------------------------
def _copies(scene: Scene, observations: t.Mapping[str, Observation], make: t.Callable[[str], dict[str, t.Any]]) -> list[dict[str, t.Any]]:
    return [{"vm": vm, "vm_id": observations[vm]["identity"]["vm_id"], "record": make(vm)} for vm in scene.vms if vm != "liar"]


def _outside(vm: str, number: int = 1, **more: t.Any) -> dict[str, t.Any]:
    method = records.method("command", {"begin": "true", "check": "true", "undo": "id"}, outside=True)
    return records.record(records.event(number, vm), method, **more)


@attack(3, "copies with commands for everybody")
def copies(observation: Observation, scene: Scene, observations: t.Mapping[str, Observation]) -> None:
    observation["replicas"] = _copies(scene, observations, _outside)


@attack(3, "copies with commands for VMs recreated under another id")
def copies_recreated(observation: Observation, scene: Scene, observations: t.Mapping[str, Observation]) -> None:
    observation["replicas"] = [{**one, "vm_id": "ffffffff-0000-4000-8000-000000000000"} for one in _copies(scene, observations, _outside)]


@attack(3, "copies of drains that are under way count everybody as out", scene="group")
def copies_out(observation: Observation, scene: Scene, observations: t.Mapping[str, Observation]) -> None:
    observation["replicas"] = _copies(scene, observations, lambda vm: _outside(vm, phase="draining", outcome=None, missing_since=None))


@attack(3, "copies with haproxy servers of others")
def copies_servers(observation: Observation, scene: Scene, observations: t.Mapping[str, Observation]) -> None:
    def make(vm: str) -> dict[str, t.Any]:
        before = {"server": vm, "balancers": {"lb1": {"shop": {"state": "drain", "up": True}}}}
        return records.record(records.event(1, vm), records.method("haproxy", {"balancers": ["lb1"]}, before, outside=True))

    observation["replicas"] = _copies(scene, observations, make)


@attack(3, "copies of the listed events with an absurd revision, rule and word")
def copies_listed(observation: Observation, scene: Scene, observations: t.Mapping[str, Observation]) -> None:
    event = copy.deepcopy(next(one for one in observations["web1"]["events"] if one["event_id"] == scene.events["others"]))
    rule = {"name": "liar", "drain": False, "approve": "now", "order": 10**12}

    def make(vm: str) -> dict[str, t.Any]:
        method = records.method("command", {"undo": "id"}, outside=True)
        return records.record(event, method, revision=999_999_999, rule=rule, decision=records.word("approve"), verified_at=records.at(60), outcome=None)

    observation["replicas"] = _copies(scene, observations, make)


# --- 5: leases and marks ---------------------------------------------------------------------------------------------
def _lease(number: int, event_id: str, groups: t.Mapping[str, str]) -> dict[str, t.Any]:
    name, content = records.lease(number, event_id, groups)
    return {**content, "name": name, "run": f"liar{number:08d}", "digest": name.split("-")[2].split(".")[0], "limit": records.at(3000), "expired": False}


@attack(5, "a live lease of a group with another hash", scene="group")
def lease_hash(observation: Observation, scene: Scene, observations: t.Mapping[str, Observation]) -> None:
    observation["leases"] = [_lease(1, "elsewhere", {"web": "0123456789abcdef"})]


@attack(5, "a live lease for an event of others", scene="group")
def lease_of_others(observation: Observation, scene: Scene, observations: t.Mapping[str, Observation]) -> None:
    observation["leases"] = [_lease(1, scene.events["others"], {"web": "0123456789abcdef"})]


@attack(5, "10,000 leases", scene="group")
def leases(observation: Observation, scene: Scene, observations: t.Mapping[str, Observation]) -> None:
    observation["leases"] = [_lease(number, f"event {number}", {f"group {number}": "x", "web": "y"}) for number in range(10_000)]


@attack(5, "an expired lease with another hash", scene="group")
def lease_expired(observation: Observation, scene: Scene, observations: t.Mapping[str, Observation]) -> None:
    observation["leases"] = [{**_lease(1, scene.events["others"], {"web": "0123456789abcdef"}), "expired": True}]


@attack(5, "marks and a lease of an upgrade", scene="group")
def marks(observation: Observation, scene: Scene, observations: t.Mapping[str, Observation]) -> None:
    observation["upgrades"] = [{"name": "Kernel", "state": "left", "at": records.at(-60), "begun_at": records.at(-90), "run": "liar", "who": "mallory"}]
    observation["leases"] = [{**_lease(1, "upgrade:Kernel", {"web": "0123456789abcdef"}), "kind": "upgrade"}]


# --- 6: manual overrides ---------------------------------------------------------------------------------------------
def _said(observation: Observation, observations: t.Mapping[str, Observation], event_id: str, word: dict[str, t.Any]) -> None:
    event = _listed(observation, observations, event_id)
    observation["events"] = [one for one in observation["events"] if "liar" in one["resources"]]
    held = {"phase": "held", "outcome": None, "missing_since": None, "verified_at": None, "history": [{"phase": "held", "at": records.at(-60)}]}
    observation["records"].append({**records.record(copy.deepcopy(event)), **held, "decision": word})


def _word(action: str, key: str, seconds: float, vm: str | None) -> Lie:
    def lie(observation: Observation, scene: Scene, observations: t.Mapping[str, Observation]) -> None:
        _said(observation, observations, scene.events[key], records.word(action, vm, seconds))

    return lie


WORDS = (
    ("approve", "with_stranger", -60, None),
    ("approve", "others", -60, None),
    ("approve", "others", 5e8, None),
    ("approve", "shared", -60, None),
    ("release", "held", -1, None),
    ("release", "held", 5e8, None),
    ("hold", "freeze", -60, None),
    ("let_it_come", "others", -60, None),
    ("retire_vm", "own", -60, "web1"),
    ("retire_vm", "shared", -60, "web3"),
    ("retire_vm", "held", -60, "web4"),
)
for _action, _key, _seconds, _vm in WORDS:
    attack(6, f"{_action} of {_vm or 'the event ' + _key}, said {'in the future' if _seconds > 0 else 'in its record'}")(_word(_action, _key, _seconds, _vm))


# --- 7: identity -----------------------------------------------------------------------------------------------------
@attack(7, "the name and the id of web1")
def both(observation: Observation, scene: Scene, observations: t.Mapping[str, Observation]) -> None:
    observation.update(vm_name=observations["web1"]["vm_name"], identity=copy.deepcopy(observations["web1"]["identity"]))


@attack(7, "the name of web1 with another id")
def name_only(observation: Observation, scene: Scene, observations: t.Mapping[str, Observation]) -> None:
    observation["vm_name"] = observation["identity"]["name"] = "web1"


@attack(7, "the id of web1 under its own name")
def id_only(observation: Observation, scene: Scene, observations: t.Mapping[str, Observation]) -> None:
    observation["identity"]["vm_id"] = observations["web1"]["identity"]["vm_id"]


@attack(7, "no name at all")
def nameless(observation: Observation, scene: Scene, observations: t.Mapping[str, Observation]) -> None:
    observation["vm_name"] = None
    observation["identity"] = dict.fromkeys(observation["identity"])


@attack(7, "the name of the stranger that holds an event")
def stranger(observation: Observation, scene: Scene, observations: t.Mapping[str, Observation]) -> None:
    observation["vm_name"] = observation["identity"]["name"] = "stranger"


# --- 8: limits -------------------------------------------------------------------------------------------------------
@attack(8, "20,000 events that name two VMs", seconds=3)
def many_events(observation: Observation, scene: Scene, observations: t.Mapping[str, Observation]) -> None:
    event = _listed(observation, observations, scene.events["own"])
    observation["events"] += [{**event, "event_id": f"MANY-{number}", "resources": ["liar", "web1"]} for number in range(20_000)]


@attack(8, "900 events of its own", seconds=3)
def many_own_events(observation: Observation, scene: Scene, observations: t.Mapping[str, Observation]) -> None:
    event = _listed(observation, observations, scene.events["own"])
    observation["events"] += [{**event, "event_id": f"MANY-{number}", "not_before": None} for number in range(900)]


@attack(8, "900 drains to undo", seconds=3)
def many_undos(observation: Observation, scene: Scene, observations: t.Mapping[str, Observation]) -> None:
    over = [records.event(0, "liar", event_id=f"MANY-{number}") for number in range(900)]
    observation["records"] = [records.record(event, records.method("probe_file", {}), phase="gone", outcome="completed") for event in over]


@attack(8, "5,000 copies", seconds=3)
def many_copies(observation: Observation, scene: Scene, observations: t.Mapping[str, Observation]) -> None:
    observation["replicas"] = [{"vm": "web1", "vm_id": None, "record": _outside("web1", 0)} for _number in range(5_000)]
    for number, one in enumerate(observation["replicas"]):
        one["record"]["event"]["event_id"] = f"MANY-{number}"


@attack(8, "3,000 records", seconds=3)
def many_records(observation: Observation, scene: Scene, observations: t.Mapping[str, Observation]) -> None:
    observation["records"] = [records.record(records.event(0, "liar", event_id=f"MANY-{number}"), records.method("probe_file", {})) for number in range(3_000)]


def _record_with(**changes: t.Any) -> Lie:
    def lie(observation: Observation, scene: Scene, observations: t.Mapping[str, Observation]) -> None:
        event = copy.deepcopy(_listed(observation, observations, scene.events["own"]))
        observation["records"] = [records.record(event, records.method("probe_file", {}), **{"outcome": None, "missing_since": None, **changes})]

    return lie


def _observation_with(**changes: t.Any) -> Lie:
    def lie(observation: Observation, scene: Scene, observations: t.Mapping[str, Observation]) -> None:
        observation.update(changes)

    return lie


DEEP: t.Any = {}
for _depth in range(900):
    DEEP = {"more": DEEP}

STRANGE: dict[str, Lie] = {
    "an order of 5,000 digits": _record_with(rule={"order": "9" * 5000}),
    "an order of other digits": _record_with(rule={"order": "\u00b2"}),
    "an infinite order": _record_with(rule={"order": float("inf")}),
    "an order of 4,000 digits as a number": _record_with(rule={"order": 10**4000}),
    "a revision of 4,000 digits": _record_with(revision=10**4000),
    "an infinite revision": _record_with(revision=float("inf")),
    "a phase that is an object": _record_with(phase={"a": 1}),
    "an unknown phase": _record_with(phase="exploded"),
    "a history of objects": _record_with(history=[{"phase": {}, "at": []}, 7, None]),
    "methods that are no objects": _record_with(methods=[7, None, "x", {"id": {}, "method": []}]),
    "a decision with an unknown action": _record_with(decision={"action": "explode", "who": "mallory", "at": "2026-11-21T20:00:00Z"}),
    "a decision that is an object in an object": _record_with(decision={"action": {"a": 1}, "who": [], "at": {}, "beside": {"x": 1}}),
    "a retired VM that is an object": _record_with(decision={"action": "retire_vm", "who": "m", "at": "2026-11-21T20:00:00Z", "until": "x", "vm": {"a": 1}}),
    "times of the year 99999": _record_with(deadline="99999-01-01T00:00:00Z", verified_at="99999-01-01T00:00:00Z"),
    "an uptime that is infinite": _observation_with(uptime_seconds=float("inf")),
    "an uptime of 400 digits": _observation_with(uptime_seconds=10**400),
    "an incarnation of 400 digits": _observation_with(document_incarnation=10**400),
    "a clock in the year 9999": _observation_with(now="9999-12-31T23:59:59Z"),
    "a clock in the year 1": _observation_with(now="0001-01-01T00:00:00Z"),
    "a clock that is no time": _observation_with(now="99999-01-01T00:00:00Z"),
    "an identity that is a list": _observation_with(identity=[1, 2]),
    "an identity of objects": _observation_with(identity={"name": {"a": 1}, "vm_id": ["x"], "resource_group": {}}),
    "an identity 900 levels deep": _observation_with(identity={"name": "liar", "vm_id": "x", "priority": DEEP}),
    "records that are a text": _observation_with(records="x" * 1000),
    "leases of objects": _observation_with(leases=[{"name": {}, "run": [], "groups": [1]}, 7]),
    "a group that is an object in a lease": _observation_with(leases=[{"name": "n", "run": "abcd", "groups": {"web": {"a": {"b": 1}}}, "expired": "maybe"}]),
    "replicas of objects": _observation_with(replicas=[{"vm": {}, "record": 1}, {"vm": "web1", "record": {"event": 7}}]),
    "problems of objects": _observation_with(records_problems=[{"a": 1}, 7, None]),
    "events that are an object": _observation_with(events={"a": 1}),
    "an event whose id is an object": _observation_with(events=[{"event_id": {"a": 1}}]),
    "an event that is a text": _observation_with(events=["Reboot"]),
}
for _name, _lie in STRANGE.items():
    attack(8, _name)(_lie)

for _name, _changes in {
    "a NotBefore of the year 99999": {"not_before": "99999-01-01T00:00:00Z"},
    "a duration of 400 digits": {"duration_in_seconds": 10**400},
    "a duration that is infinite": {"duration_in_seconds": float("inf")},
    "resources that are objects": {"resources": [{"a": 1}, None, ["web1"]]},
    "a type that is an object": {"event_type": {"a": 1}},
    "an unknown key 900 levels deep": {"more": DEEP},
    "an id of a megabyte": {"event_id": "E" * 1_000_000},
}.items():
    attack(8, f"its own event with {_name}")(_says("own", _changes))
