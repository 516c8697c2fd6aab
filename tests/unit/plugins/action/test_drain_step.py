# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action drain_step: what it reads of the variables. What it makes of that is in test_steps.py."""

from __future__ import annotations

import typing as t
from unittest import mock

import pytest

from ansible_collections.maintenance.azure.plugins.action.drain_step import ActionModule
from ansible_collections.maintenance.azure.plugins.plugin_utils._drain import steps
from ansible_collections.maintenance.azure.plugins.plugin_utils._settings import renamed

BEGIN: dict[str, t.Any] = {
    "host": "web1", "system": "linux", "methods": [{"method": "none"}], "former": [], "methods_path": "",
    "event": {"event_id": "E1"}, "record": {}, "deadline": "", "rule": {}, "lease": {}, "verify": False, "keep_phase": False, "vm_id": "", "vm_name": "",
    "boot_id": "", "keeper": "",
}  # fmt: skip


def run(variables: dict[str, t.Any] | None = None, **arguments: t.Any) -> dict[str, t.Any]:
    task = mock.Mock(args=arguments, check_mode=False, async_val=0, diff=False, environment=[], action="maintenance.azure.drain_step")
    action = ActionModule(task, *(mock.Mock() for _each in range(5)))
    action._templar.template.side_effect = lambda value: value
    return action.run(None, {"hostvars": {}, **(variables or {})})


def test_a_step_goes_on_from_what_is_registered() -> None:
    first = run(begin={**BEGIN, "act": "drain"})
    assert (first["do"], first["result"]["state"]) == ("act", "drained")
    then = run({"__drain_step": first, "__drain_acted": {"results": [{"state": "draining", "record": {"revision": 1}}]}})
    assert (then["do"], then["result"]["state"], then["result"]["record"]) == ("end", "draining", {"revision": 1})
    failed = run({"__drain_step": first}, failed={"task": "A task", "result": {"msg": "why"}})
    assert (failed["do"], failed["action"]["problem"]) == ("act", "why")


@pytest.mark.parametrize(("kind", "error"), [("haproxy", "lb1: no answer"), ("tasks", "HAProxy | Fail: lb1: no answer")])
def test_a_reason_has_the_names_of_the_operator_s_own_tasks_alone(kind: str, error: str) -> None:
    part = {"methods": [{"kind": kind, "name": "1", "problem": None}], "first": True, "last": True}
    state = {**run(begin={**BEGIN, "act": "drain"}), "parts": [part], "do": "stage", "step": "check"}
    with mock.patch.object(steps.Steps, "go_on", autospec=True) as go_on:
        run({"__drain_step": state}, failed={"task": "HAProxy | Fail", "result": {"msg": "lb1: no answer"}})
    assert go_on.call_args.args[1].failure == error


def test_wrong_settings_fail_the_validation() -> None:
    assert "failed" not in run(validate=BEGIN)
    assert "at least one method" in run(validate={**BEGIN, "methods": []})["msg"]


@pytest.mark.parametrize("name", renamed.VARIABLES)
def test_an_old_variable_is_refused_with_its_new_name(name: str) -> None:
    words = f"{name} is {renamed.VARIABLES[name]} now"
    assert words in run({name: 1}, begin={**BEGIN, "act": "drain"})["action"]["problem"]
    assert words in run({name: 1}, begin={**BEGIN, "act": "undo"})["result"]["error"]


@pytest.mark.parametrize("act", ["drain", "undo"])
def test_a_lease_that_ends_before_an_action_is_refused(act: str) -> None:
    def reason(seconds: t.Any, timing: t.Any = None) -> str:
        found = run({"respond_timing": timing}, begin={**BEGIN, "act": act, "lease": {"run": "run1", "seconds": seconds}})
        return str(found["action"]["problem"] if act == "drain" else found["result"]["error"])

    for seconds in (0, "20", 150):
        expected = f"seconds in drain_lease or recover_lease is {seconds}; it must be 151 to 21600: an action on a VM"
        assert reason(seconds).startswith(expected)
    assert all("drain_lease" not in found for found in (reason(151), reason(None), reason(20, {"rehearsal": True})))


def test_without_readable_settings_a_drain_is_refused() -> None:
    known = {
        key: BEGIN[key] for key in ("host", "event", "record", "deadline", "rule", "lease", "verify", "keep_phase", "vm_id", "vm_name", "boot_id", "keeper")
    }
    assert run(begin={**known, "act": "drain", "refused": "why"})["action"]["problem"] == "why"
    undo = run(begin={**known, "act": "undo", "refused": "why"})
    assert (undo["do"], undo["result"]["state"], undo["result"]["error"]) == ("end", "failed", "why")


def test_what_was_observed_is_judged_by_the_finding_and_the_options_of_the_method() -> None:
    method = {"kind": "kubernetes", "options": {"cordon_only": True}, "finding": {"node": "w1", "unschedulable": False, "ready": True}}
    node = {"name": "w1", "unschedulable": True, "event": None, "ready": False}
    found = run({"__drain_step": {"method": method}}, observed=[{"asked": "w1", "event_id": "E1", "node": node, "pods": []}])
    assert found["checked"] == {"state": "drained", "error": None, "moved": True} and found["undone"] == {
        "state": "undoing",
        "error": "node w1 is not ready yet",
    }


def test_what_a_method_has_registered_is_its_answer() -> None:
    entry = {"method": "haproxy", "balancers": ["lb1"]}
    first = run(begin={**BEGIN, "act": "drain", "methods": [entry], "must": "false"})
    assert (first["do"], first["step"], list(first["method"]["calls"])) == ("stage", "find", ["lb1"])
    answer = {"__drain_balancer": "lb1", "backends": {"shop": {"state": "ready", "up": True, "sessions": 0, "status": "UP"}}, "left": {}}
    then = run({"__drain_step": first, "__drain_haproxy_calls": {"results": [answer]}})
    (order,) = then["action"]["methods"]
    assert (then["do"], order["finding"]) == ("act", {"server": "web1", "balancers": {"lb1": {"shop": {"state": "ready", "up": True}}}})
