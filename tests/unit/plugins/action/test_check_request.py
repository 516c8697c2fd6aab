# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action check_request: what is wrong with a request is the task's own message, in one line."""

from __future__ import annotations

from typing import Any
from unittest import mock

import pytest
import yaml

from ansible_collections.maintenance.azure.plugins.action import check_request
from ansible_collections.maintenance.azure.plugins.modules import check_request as module
from ansible_collections.maintenance.azure.plugins.plugin_utils._settings import facts
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import SETTINGS, event, plan, vm

OBSERVED = [vm("vm1", [event()])]
STATE = {"observations": OBSERVED, "plan": plan(*OBSERVED), "request": {"settings": SETTINGS}}
HOLD = {"event_id": "E1", "action": "hold", "who": "alice"}


def run(variables: dict[str, Any] | None = None, **arguments: Any) -> dict[str, Any]:
    task = mock.Mock(args=arguments, check_mode=False, async_val=0, diff=False, environment=[], action="maintenance.azure.check_request")
    templar = mock.Mock(template=lambda value: value)
    action = check_request.ActionModule(task, mock.Mock(), mock.Mock(), mock.Mock(), templar, None)
    return action.run(None, {"p": STATE, **(variables or {})})


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"override": {**HOLD, "action": "aprove"}}, "decide_action is 'aprove'; it must be one of approve, hold, release, let_it_come"),
        ({"override": {**HOLD, "event_id": "zzzz"}, "observed": "p"}, "no VM lists event zzzz or has a record of it"),
        ({"status": {"format": "xml"}, "observed": "p"}, "status_format must be one of text, json, not xml"),
        ({"status": {"event_id": "zzzz"}, "observed": "p"}, "no VM lists event zzzz or has a record of it"),
        ({"batches": {"by": "rack"}}, "upgrade_by must be one of serial, fault_domain, update_domain, zone, not 'rack'"),
        ({"batches": {"serial": "many"}}, "upgrade_serial must be a number of VMs"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(arguments: dict[str, Any], words: str) -> None:
    found = run(**arguments)
    assert (found["failed"], found["msg"].startswith(words), found["msg"].isprintable()) == (True, True, True)
    assert "exception" not in found


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"ansible_facts": {"respond_policy": []}}, "the setting respond_policy comes from its facts"),
        ({"gate_marks": 1}, "gate_marks is gate_progress_marks now"),
    ],
)
def test_variables_of_the_host_are_checked(variables: dict[str, Any], words: str) -> None:
    found = run(variables)
    assert found["failed"] and words in found["msg"]


@pytest.mark.parametrize(
    ("role", "variables", "words"),
    [
        ("respond", {"respond_unmanaged": "wat"}, "value of respond_unmanaged must be one of: wait, ignore, got: wat"),
        ("respond", {"respond_pass_interval": "5m"}, "respond_pass_interval"),
        ("respond", {"respond_capacity": {"a": 1}, "respond_wait": "perhaps"}, "respond_wait"),
        ("gate", {"gate_wait_seconds": "2s"}, "gate_wait_seconds"),
        ("upgrade", {"upgrade_on_failure": "x"}, "value of upgrade_on_failure must be one of: leave, undo, got: x"),
    ],
)
def test_options_of_a_role_are_checked_as_core_does(role: str, variables: dict[str, Any], words: str) -> None:
    found = run(variables, options_of=role)
    assert found["failed"] and words in found["msg"]
    assert len(found["msg"]) < 500


@pytest.mark.parametrize("role", facts.ROLES)
def test_defaults_and_what_is_not_set_are_right(role: str) -> None:
    folder = facts.pathlib.Path(facts.__file__).resolve().parents[3] / "roles" / role
    defaults = yaml.safe_load((folder / "defaults" / "main.yml").read_text()) or {}
    assert "failed" not in run({name: value for name, value in defaults.items() if "{{" not in str(value)}, options_of=role)
    assert "failed" not in run({}, options_of=role)
    assert "failed" not in run(dict.fromkeys(defaults), options_of=role)


def test_a_right_request_is_answered() -> None:
    assert run()["changed"] is False
    assert run(override=HOLD)["writes"] == []
    found = run(override=HOLD, observed="p")
    assert (found["event_id"], [one["host"] for one in found["writes"]], "alice" in found["text"]) == ("E1", ["vm1"], True)
    assert run(status={}, observed="p")["lines"][-1] == "1 of 1 VMs answered; 1 event."
    assert run(status={"format": "json", "event_id": "E1"}, observed="p")["lines"]["events"][0]["event_id"] == "E1"
    assert "failed" not in run(batches={"by": "zone", "serial": "25%"})


def test_the_module_has_the_same_options() -> None:
    documented = yaml.safe_load(module.DOCUMENTATION)["options"]
    assert documented.keys() == module.ARGUMENTS.keys() == check_request.SPEC.keys()
    for name, about in check_request.SPEC.items():
        assert set(about.get("options", {})) == set(documented[name].get("suboptions", {}))
