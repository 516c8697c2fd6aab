# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenarios as data: JSON files, called NN-name.json, with the VMs they need, the switches they set, and timed steps."""

from __future__ import annotations

import json
import os
import pkgutil
import zipfile
from functools import partial
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple

if TYPE_CHECKING:
    from imds_simulator.simulator import Simulator

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")
ACTS = ("approve", "start", "finish", "cancel")


class ScenarioError(ValueError):
    """The scenario does not exist or cannot be played here."""


def names() -> List[str]:
    """Return the names of all scenarios in the order of their numbers: files are called NN-name.json."""
    return [name for _number, name in _catalogue()]


def _catalogue() -> List[Tuple[int, str]]:
    parts = [file[:-5].partition("-") for file in _files() if file.endswith(".json")]
    return sorted((int(number), name) for number, _separator, name in parts)


def _files() -> List[str]:
    if os.path.isdir(FOLDER):
        return os.listdir(FOLDER)
    # The role packs the package into one archive, which Python runs directly.
    archive = FOLDER
    while archive and not os.path.isfile(archive):
        archive = os.path.dirname(archive)
    with zipfile.ZipFile(archive) as packed:
        return [os.path.basename(name) for name in packed.namelist() if "/scenarios/data/" in name]


def listing() -> List[Dict[str, Any]]:
    """Return number, name and title of each scenario."""
    return [{key: load(name)[key] for key in ("number", "name", "title")} for name in names()]


def load(name: str) -> Dict[str, Any]:
    """Load a scenario by name, or by number the first of that number. Raise ScenarioError."""
    for number, known in _catalogue():
        if known == name or (name.isdigit() and number == int(name)):
            text = pkgutil.get_data(__package__ or "", "data/%02d-%s.json" % (number, known)) or b""
            return dict(json.loads(text.decode("utf-8")), number=number, name=known)
    raise ScenarioError("there is no scenario '%s'; there are %s" % (name, ", ".join(names())))


def play(simulator: "Simulator", scenario: Dict[str, Any], vm_names: Optional[List[str]] = None) -> Dict[str, Any]:
    """Set what the scenario needs and plan its steps from now. Return the EventIds by the steps' ids."""
    played_by = vm_names or [vm.name for vm in simulator.groups.vms.values() if not vm.gone]
    wanted = scenario.get("vms", [])
    if len(played_by) < len(wanted):
        raise ScenarioError("scenario '%s' needs %d VMs, there are %d" % (scenario["name"], len(wanted), len(played_by)))
    for name, entry in zip(played_by, wanted):
        _configure_vm(simulator, name, entry)
    simulator.switches.change(scenario.get("switches", {}))
    if "enabled" in scenario:
        simulator.groups.set_features(scenario["enabled"])
    simulator.refresh()
    ids: Dict[str, str] = {}
    for step in scenario.get("steps", []):
        at = float(step.get("at", 0))
        if at <= 0:
            _take_step(simulator, step, played_by, ids)
        else:
            simulator.clock.call_later(at, partial(_take_step, simulator, step, played_by, ids))
    simulator.played = {"name": scenario["name"], "events": ids}
    return simulator.played


def _configure_vm(simulator: "Simulator", name: str, entry: Dict[str, Any]) -> None:
    """Give a VM the properties that the scenario needs; its name and address stay."""
    vm = simulator.groups.vms.get(name)
    if vm is None:
        raise ScenarioError("there is no VM '%s'" % name)
    vm.alone = bool(entry.get("alone", vm.alone))
    vm.texts.update({key: str(value) for key, value in entry.items() if key in vm.texts})


def _take_step(simulator: "Simulator", step: Dict[str, Any], played_by: List[str], ids: Dict[str, str]) -> None:
    act = step["do"]
    if act == "create":
        options = dict(step["event"])
        if simulator.machine.get(options.get("event_id", "")) is not None:
            # Played again: a new operation always has a new EventId.
            del options["event_id"]
        if "resources" in options:
            options["resources"] = [_resolve_vm_name(name, played_by) for name in options["resources"]]
        ids[step.get("id", "event")] = simulator.machine.create(options).event_id
    elif act in ACTS:
        event = simulator.machine.get(ids[step["id"]])
        if event is not None and (act != "finish" or event.listed):
            act_on(simulator, act, event, str(step.get("by", "scenario")))
    elif act == "fault":
        simulator.faults.add(dict(step["fault"]), simulator.clock.now())
    elif act == "switch":
        simulator.switches.change(step["switches"])
        simulator.refresh()
    else:
        raise ScenarioError("a step cannot '%s'" % act)


def act_on(simulator: "Simulator", act: str, event: Any, by: str) -> None:
    """Approve, start, finish or cancel an event. Raise EventError."""
    if act == "approve":
        simulator.machine.approve(event, by)
    else:
        getattr(simulator.machine, act)(event)


def _resolve_vm_name(name: str, played_by: List[str]) -> str:
    """Return the VM's name: ``@0`` is the scenario's first VM; other names stand for themselves."""
    if name.startswith("@"):
        index = int(name[1:])
        if index >= len(played_by):
            raise ScenarioError("the scenario names VM %d, there are %d" % (index + 1, len(played_by)))
        return played_by[index]
    return name
