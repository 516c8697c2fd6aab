# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The real modules' observations and the plan over them, in this process: the one place that knows how the collection is called."""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import pathlib
import typing as t
from unittest import mock

from ansible.module_utils import basic
from lab.simulator import Simulator

from ansible_collections.maintenance.azure.plugins.plugin_utils._loop import observations, vm_settings
from ansible_collections.maintenance.azure.plugins.plugin_utils._loop.observations import HostResults
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.observe import expected_identity

Observation = t.Dict[str, t.Any]
Plan = t.Dict[str, t.Any]
PLUGINS = "ansible_collections.maintenance.azure.plugins"
SETTINGS = {"pass_interval": 0, "drain_seconds": 200, "undo_seconds": 30, "enabling_seconds": 0, "notify": False}


def run_module(name: str, **options: t.Any) -> dict[str, t.Any]:
    """A module's main() with these options, as Ansible would run it on a VM."""
    module = importlib.import_module(f"{PLUGINS}.modules.{name}")
    arguments = {"ANSIBLE_MODULE_ARGS": {"_ansible_check_mode": False, "_ansible_remote_tmp": "/tmp", **options}}
    output = io.StringIO()
    with contextlib.ExitStack() as stack:
        stack.enter_context(mock.patch.object(basic, "_ANSIBLE_ARGS", json.dumps(arguments).encode()))
        stack.enter_context(mock.patch.object(basic, "_ANSIBLE_PROFILE", "legacy", create=True))
        with contextlib.suppress(ImportError, AttributeError):
            stack.enter_context(mock.patch("ansible.module_utils._internal.is_controller", False))
        stack.enter_context(contextlib.redirect_stdout(output))
        with contextlib.suppress(SystemExit):
            module.main()
    return t.cast("dict[str, t.Any]", json.loads(output.getvalue()))


class Scene:
    """Some VMs, what the simulator tells each, and what the real module makes of that. The VM ``liar`` comes first in the inventory."""

    def __init__(self, folder: pathlib.Path, simulator: Simulator, vms: t.Sequence[str], **settings: t.Any) -> None:
        self.folder = folder
        self.simulator = simulator
        self.vms = list(vms)
        self.settings = {**SETTINGS, **settings}
        self.events: dict[str, str] = {}
        self.methods: dict[str, list[str]] = {vm: ["probe_file"] for vm in vms}
        self.outside: set[str] = set()
        self.resource_ids: dict[str, str] = {}
        """What an inventory of azure.azcollection knows."""

    def event(self, key: str, event_type: str, resources: t.Sequence[str], **more: t.Any) -> str:
        self.events[key] = self.simulator.event(event_type, resources, **{"notice": 900, "started_seconds": 900, **more})
        return self.events[key]

    def records(self, vm: str) -> pathlib.Path:
        folder = self.folder / vm
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder

    def plant(self, vm: str, name: str, content: t.Any) -> None:
        (self.records(vm) / name).write_text(json.dumps(content))

    def observation(self, vm: str) -> Observation:
        """What maintenance_info says of a VM."""
        return run_module("maintenance_info", endpoint=self.simulator.endpoints[vm], records_path=str(self.records(vm)), boot_id=f"boot-of-{vm}")

    def all_observations(self) -> dict[str, Observation]:
        return {vm: self.observation(vm) for vm in self.vms}

    def observations(self, all_observations: t.Mapping[str, t.Any]) -> t.Any:
        """What the plan is asked with."""
        return [self._observation(vm, all_observations[vm]) for vm in self.vms]

    def _observation(self, vm: str, answer: t.Any) -> dict[str, t.Any]:
        methods = [{"method": method, "outside": vm in self.outside} for method in self.methods[vm]]
        identity = expected_identity.of_variables({"id": self.resource_ids.get(vm)})
        return observations.observation(vm, HostResults(answer, None, None, identity), vm_settings.read({"drain_methods": methods}, vm), {})

    def plan(self, all_observations: t.Mapping[str, t.Any]) -> Plan:
        """What respond would do next with these answers."""
        return t.cast(Plan, a_filter("plan")(self.observations(all_observations), settings=self.settings, now=_now(all_observations)))

    def decide(self, all_observations: t.Mapping[str, t.Any], event_id: str, action: str) -> list[tuple[str, str]]:
        """Return the events and VMs that playbook decide would write an override to."""
        request = {"event_id": event_id, "action": action, "who": "alice", "why": "because", "until": "", "hours": "", "vm": ""}
        found = a_filter("override")(self.observations(all_observations), request, settings=self.settings, now=_now(all_observations))
        return [(write["event_id"], write["host"]) for write in found["writes"]]


def a_filter(name: str) -> t.Callable[..., t.Any]:
    """A filter of the collection."""
    return t.cast("t.Callable[..., t.Any]", importlib.import_module(f"{PLUGINS}.filter.maintenance").FilterModule().filters()[name])


def _now(all_observations: t.Mapping[str, t.Any]) -> str:
    return next(str(observation["now"]) for vm, observation in all_observations.items() if vm != "liar")


FAILED: Observation = {"failed": True, "msg": "it could not be read"}
IGNORED = ("reason", "host", "continues", "expected_revision", "event")


def shown(step: t.Mapping[str, t.Any]) -> str:
    """A step without its words, and without what says when it was planned."""
    kept = {key: value for key, value in step.items() if key not in IGNORED}
    if isinstance(kept.get("rule"), dict):
        kept["rule"] = {key: kept["rule"].get(key) for key in ("name", "drain", "approve")}
    if isinstance(step.get("event"), dict):
        kept["of"] = {key: step["event"].get(key) for key in ("event_type", "event_status", "not_before", "resources")}
    # Whichever VM approves does it for all.
    host = "" if step["action"] == "approve" else step["host"]
    return f"{step['action']} {host} {json.dumps(kept, sort_keys=True, default=str)}"


def on_others(plan: Plan) -> dict[str, set[str]]:
    """By event, what is done on other VMs than the liar, and every approval."""
    found: dict[str, set[str]] = {}
    for step in plan["actions"]:
        if step["host"] == "liar" and step["action"] != "approve":
            continue
        for event_id in step.get("event_ids") or [step.get("event_id")]:
            found.setdefault(str(event_id).strip().lower(), set()).add(shown(step))
    return found
