# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the roles read of a pass is in what the action keeps, and for each thing that it says there is a task file."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Iterable
from typing import Any

import pytest
import yaml

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease import lease_time
from ansible_collections.maintenance.azure.plugins.modules import plan as documented
from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.orders.vm_actions import Taken
from ansible_collections.maintenance.azure.plugins.plugin_utils._loop import batch_loop, gate_loop, pass_loop
from ansible_collections.maintenance.azure.plugins.plugin_utils._loop.vm_settings import VMSettings
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.planner import make_plan
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.upgrade.gate import make_gate
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._loop import passes, test_gate_loop
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import at

ROLES = pathlib.Path(pass_loop.__file__).parents[3] / "roles"
# A key, and one of what it holds: of the plan, of the request, or of what is kept for one host.
READ = re.compile(r"__respond_loop\.(?P<key>\w+)(?:\[[^\]]*\](?:\s*\|\s*default\(\{\}\)\))?)?(?:\.(?P<inner>\w+))?")
# What role gate takes of role respond.
SHARED = ("tasks/act.yml", "tasks/act_only.yml", "tasks/loop.yml", "tasks/iteration.yml", "tasks/iterations.yml", "tasks/end.yml")
SHARED_VARIABLES = ("__respond_file", "__respond_actions", "__respond_identity", "__respond_system")
PLAN, GATE = make_plan([], now=at(0)), make_gate([], {"upgrade": "x", "batch": ["a"]}, now=at(0))
# The action adds them to each result.
OF_ALL: dict[str, Iterable[str]] = {"limits": lease_time.LIMITS}
OF_PASS: dict[str, Iterable[str]] = {
    **OF_ALL,
    "plan": PLAN,
    "request": pass_loop.Request.__annotations__,
    "vms": VMSettings.__annotations__,
    "assignments": Taken.__annotations__,
}
OF_GATE: dict[str, Iterable[str]] = {"plan": GATE, "gate": gate_loop.GateRequest.__annotations__, "vms": VMSettings.__annotations__}


def reads(text: str) -> set[tuple[str, str | None]]:
    """Return the keys that a text reads, each with the key of what it holds."""
    without_comments = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    return {(one["key"], one["inner"]) for one in READ.finditer(without_comments)}


def unknown(found: set[tuple[str, str | None]], keys: Iterable[str], inner: dict[str, Iterable[str]]) -> set[tuple[str, str | None]]:
    return {(key, below) for key, below in found if key not in keys or (below is not None and key in inner and below not in inner[key])}


def of_role(role: str, *folders: str) -> set[tuple[str, str | None]]:
    return {one for folder in folders for path in sorted((ROLES / role / folder).rglob("*.yml")) for one in reads(path.read_text())}


def test_role_respond_reads_what_a_pass_keeps() -> None:
    found = of_role("respond", "tasks", "vars")
    assert {("do", None), ("request", "notify_tasks"), ("vms", "drain_methods"), ("assignments", "by_tasks"), ("plan", "requeue")} <= found
    assert unknown(found, {*pass_loop.KEYS, "limits"}, OF_PASS) == set()


def test_role_gate_reads_what_a_gate_keeps() -> None:
    assert unknown(of_role("gate", "tasks", "vars"), {*gate_loop.KEYS, "limits"}, {**OF_ALL, **OF_GATE}) == set()


def test_role_upgrade_reads_what_its_drains_keep() -> None:
    assert unknown(of_role("upgrade", "tasks", "vars"), {*batch_loop.KEYS, "limits"}, OF_ALL) == set()


def test_role_gate_is_read() -> None:
    assert {("share", None), ("limits", "act"), ("gate", "settings"), ("report", None)} <= of_role("gate", "tasks", "vars")


@pytest.mark.parametrize("name", SHARED)
def test_what_both_use_reads_what_both_keep(name: str) -> None:
    assert unknown(reads((ROLES / "respond" / name).read_text()), {*(pass_loop.KEYS & gate_loop.KEYS & batch_loop.KEYS), "limits"}, OF_ALL) == set()


@pytest.mark.parametrize("name", SHARED_VARIABLES)
def test_variables_that_both_use_read_what_both_keep(name: str) -> None:
    variables: dict[str, Any] = yaml.safe_load((ROLES / "respond" / "vars" / "main.yml").read_text())
    assert unknown(reads(str(variables[name])), pass_loop.KEYS & gate_loop.KEYS & batch_loop.KEYS, {}) == set()


@pytest.mark.parametrize("text", ["{{ __respond_loop.nothing }}", "{{ (__respond_loop.assignments[x] | default({})).turns }}", "{{ __respond_loop.plan.go }}"])
def test_a_key_that_is_not_kept_is_found(text: str) -> None:
    assert unknown(reads(text), pass_loop.KEYS, OF_PASS)


def test_there_is_a_task_file_for_each_thing_to_do() -> None:
    assert all((ROLES / "respond" / "tasks" / f"{do}.yml").is_file() for do in passes.DO)
    # The end is that of role respond.
    assert all((ROLES / "gate" / "tasks" / f"{do}.yml").is_file() for do in test_gate_loop.DO if do != "end")


def test_a_pass_is_told_from_a_gate() -> None:
    assert "request" in pass_loop.KEYS - gate_loop.KEYS
    assert "gate" in gate_loop.KEYS - pass_loop.KEYS


def test_what_is_documented_is_kept() -> None:
    found = set(yaml.safe_load(documented.RETURN))
    # The statistics are ansible-playbook's, and nothing of the next iteration.
    assert found - {"ansible_stats", "limits", "batches", "approvals"} <= pass_loop.KEYS
    # What only the next iteration needs, or a gate, is left out.
    assert {"do", "plan", "contact", "pause", "observations"} <= found
