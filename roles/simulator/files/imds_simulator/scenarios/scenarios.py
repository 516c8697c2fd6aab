# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Scenarios as data (scenarios.json, by NN-name): the VMs they need, the switches they set, and timed steps."""

from __future__ import annotations

import json
import pkgutil
from functools import partial
from typing import Any, Dict, List, Optional

from imds_simulator.world import World

ACTS = ("approve", "start", "finish", "cancel")


class ScenarioError(ValueError):
    """The scenario does not exist or cannot be played here."""


def _catalogue() -> Dict[str, Dict[str, Any]]:
    """Load all scenarios by their names, in the order of their numbers. The role packs the package into an archive, hence pkgutil."""
    found = json.loads((pkgutil.get_data("imds_simulator", "scenarios/scenarios.json") or b"{}").decode("utf-8"))
    parts = [(key.partition("-"), scenario) for key, scenario in found.items()]
    return {name: dict(scenario, number=int(number), name=name) for (number, _separator, name), scenario in parts}


def names() -> List[str]:
    """Return the names of all scenarios in the order of their numbers."""
    return list(_catalogue())


def listing() -> List[Dict[str, Any]]:
    """Return number, name and title of each scenario."""
    return [{key: scenario[key] for key in ("number", "name", "title")} for scenario in _catalogue().values()]


def load(name: str) -> Dict[str, Any]:
    """Load a scenario by name, or by number the first of that number. Raise ScenarioError."""
    known = _catalogue()
    for scenario in known.values():
        if scenario["name"] == name or (name.isdigit() and scenario["number"] == int(name)):
            return scenario
    raise ScenarioError("there is no scenario '%s'; there are %s" % (name, ", ".join(known)))


def play(world: World, scenario: Dict[str, Any], vm_names: Optional[List[str]] = None) -> Dict[str, Any]:
    """Set what the scenario needs and plan its steps from now. Return the EventIds by the steps' ids."""
    played_by = vm_names or [vm.name for vm in world.groups.vms.values() if not vm.gone]
    wanted = scenario.get("vms", [])
    if len(played_by) < len(wanted):
        raise ScenarioError("scenario '%s' needs %d VMs, there are %d" % (scenario["name"], len(wanted), len(played_by)))
    for name, entry in zip(played_by, wanted):
        _configure_vm(world, name, entry)
    world.switches.change(scenario.get("switches", {}))
    if "enabled" in scenario:
        world.groups.set_features(scenario["enabled"])
    world.refresh()
    ids: Dict[str, str] = {}
    for step in scenario.get("steps", []):
        at = float(step.get("at", 0))
        if at <= 0:
            _take_step(world, step, played_by, ids)
        else:
            world.clock.call_later(at, partial(_take_step, world, step, played_by, ids))
    world.played = {"name": scenario["name"], "events": ids}
    return world.played


def _configure_vm(world: World, name: str, entry: Dict[str, Any]) -> None:
    """Give a VM the properties that the scenario needs; its name and address stay."""
    vm = world.groups.vms.get(name)
    if vm is None:
        raise ScenarioError("there is no VM '%s'" % name)
    vm.alone = bool(entry.get("alone", vm.alone))
    vm.texts.update({key: str(value) for key, value in entry.items() if key in vm.texts})


def _take_step(world: World, step: Dict[str, Any], played_by: List[str], ids: Dict[str, str]) -> None:
    act = step["do"]
    if act == "create":
        options = dict(step["event"])
        if world.machine.get(options.get("event_id", "")) is not None:
            # Played again: a new operation always has a new EventId.
            del options["event_id"]
        if "resources" in options:
            options["resources"] = [_resolve_vm_name(name, played_by) for name in options["resources"]]
        ids[step.get("id", "event")] = world.machine.create(options).event_id
    elif act in ACTS:
        event = world.machine.get(ids[step["id"]])
        if event is not None and (act != "finish" or event.listed):
            act_on(world, act, event, str(step.get("by", "scenario")))
    elif act == "fault":
        world.faults.add(dict(step["fault"]), world.clock.now())
    elif act == "switch":
        world.switches.change(step["switches"])
        world.refresh()
    else:
        raise ScenarioError("a step cannot '%s'" % act)


def act_on(world: World, act: str, event: Any, by: str) -> None:
    """Approve, start, finish or cancel an event. Raise EventError."""
    if act == "approve":
        world.machine.approve(event, by)
    else:
        getattr(world.machine, act)(event)


def _resolve_vm_name(name: str, played_by: List[str]) -> str:
    """Return the VM's name: ``@0`` is the scenario's first VM; other names stand for themselves."""
    if name.startswith("@"):
        index = int(name[1:])
        if index >= len(played_by):
            raise ScenarioError("the scenario names VM %d, there are %d" % (index + 1, len(played_by)))
        return played_by[index]
    return name
