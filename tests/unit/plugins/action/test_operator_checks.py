# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The actions that check and show for operators: what is wrong is the task's own message, in one line."""

from __future__ import annotations

import importlib
import json
import pathlib
from typing import Any
from unittest import mock

import pytest
import yaml
from controller_actions import documented

from ansible_collections.maintenance.azure.plugins.plugin_utils._settings import facts
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import SETTINGS, event, plan, vm

OBSERVED = [vm("vm1", [event()])]
STATE = {"observations": OBSERVED, "plan": plan(*OBSERVED), "request": {"settings": SETTINGS}}
HOLD = {"event_id": "E1", "action": "hold", "who": "alice"}


PLUGINS = "ansible_collections.maintenance.azure.plugins"
NAMES = ("check_settings", "check_override", "check_upgrade", "status_view")
ON_CONTROLLER = (*NAMES, "choose_vms", "drain_step", "plan", "watcher_drain", "watcher_rights", "watcher_settings")
UPGRADE = {"name": "november", "tasks": str(pathlib.Path(__file__).resolve().parents[4] / "roles" / "respond" / "tasks" / "refuse.yml")}


def run(plugin: str, variables: dict[str, Any] | None = None, /, check_mode: bool = False, **arguments: Any) -> dict[str, Any]:
    task = mock.Mock(args=arguments, check_mode=check_mode, async_val=0, diff=False, environment=[], action=f"maintenance.azure.{plugin}")
    task.collections = ["maintenance.azure", "ansible.legacy"]
    loader = mock.Mock(load_from_file=lambda path, **_options: yaml.safe_load(pathlib.Path(path).read_text()))
    templar = mock.Mock(template=lambda value: value)
    action = importlib.import_module(f"{PLUGINS}.action.{plugin}").ActionModule(task, mock.Mock(), mock.Mock(), loader, templar, None)
    return action.run(None, {"p": STATE, **(variables or {})})


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("check_override", {"override": {**HOLD, "action": "aprove"}}, "decide_action is 'aprove'; it must be one of approve, hold, release, let_it_come"),
        ("check_override", {"override": {**HOLD, "event_id": "zzzz"}, "observed": "p"}, "no VM lists event zzzz or has a record of it"),
        ("status_view", {"format": "xml", "observed": "p"}, "status_format must be one of text, json, not xml"),
        ("status_view", {"event_id": "zzzz", "observed": "p"}, "no VM lists event zzzz or has a record of it"),
        ("check_upgrade", {**UPGRADE, "by": "rack"}, "upgrade_by must be one of serial, fault_domain, update_domain, zone, not 'rack'"),
        ("check_upgrade", {**UPGRADE, "serial": "many"}, "upgrade_serial must be a number of VMs"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(name: str, arguments: dict[str, Any], words: str) -> None:
    found = run(name, **arguments)
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
    found = run("check_settings", variables)
    assert found["failed"] and words in found["msg"]


@pytest.mark.parametrize(
    ("seconds", "rehearsal", "words"),
    [
        (20, False, "seconds of the lease is 20; it must be 151 to 21600: an action on a VM may take 150 seconds"),
        (0, True, "seconds of the lease is 0; it must be 1 to 21600"),
        ("soon", False, "seconds of the lease must be a number of seconds, not 'soon'"),
        (20, True, None),
        (151, False, None),
        (None, False, None),
    ],
)
def test_a_lease_that_a_task_could_outlive_is_refused(seconds: Any, rehearsal: bool, words: str | None) -> None:
    found = run("check_settings", {"respond_timing": {"rehearsal": rehearsal}}, lease={"run": "run000mine", "seconds": seconds})
    assert (found.get("msg") or "").startswith(words or "") and found.get("failed", False) == bool(words)
    assert words or found["limits"]["act_only"] < 151


@pytest.mark.parametrize(
    ("role", "variables", "words"),
    [
        ("respond", {"respond_unmanaged": "wat"}, "value of respond_unmanaged must be one of: wait, ignore, got: wat"),
        ("respond", {"respond_pass_interval": "5m"}, "respond_pass_interval"),
        ("respond", {"respond_capacity": {"a": 1}, "respond_wait": "perhaps"}, "respond_wait"),
        ("gate", {"gate_wait_seconds": "2s"}, "gate_wait_seconds"),
        ("upgrade", {"upgrade_tasks_seconds": 20}, "upgrade_tasks_seconds is 20; it must be 151 to 21600: an action on a VM may take 150 seconds"),
        ("upgrade", {"upgrade_tasks_seconds": 0, "respond_timing": {"rehearsal": True}}, "upgrade_tasks_seconds is 0; it must be 1 to 21600"),
        ("upgrade", {"upgrade_on_failure": "x"}, "value of upgrade_on_failure must be one of: leave, undo, got: x"),
    ],
)
def test_options_of_a_role_are_checked_as_core_does(role: str, variables: dict[str, Any], words: str) -> None:
    found = run("check_settings", variables, options_of=role)
    assert found["failed"] and words in found["msg"]
    assert len(found["msg"]) < 500


@pytest.mark.parametrize(("extra", "right"), [({"gate_wait_second": 0}, "gate_wait_seconds"), ({"upgrade_wait": 1, "gate_window": 2, "mine": 3}, "")])
def test_a_misspelt_extra_variable_of_a_role_is_red(monkeypatch: pytest.MonkeyPatch, extra: dict[str, Any], right: str) -> None:
    monkeypatch.setattr(f"{PLUGINS}.action.check_settings.load_extra_vars", lambda _loader: extra)
    found = run("check_settings", options_of=["gate"])
    assert found.get("failed", False) is bool(right) and f"Did you mean {right}?" * bool(right) in found.get("msg", "")


@pytest.mark.parametrize("role", facts.ROLES)
def test_defaults_and_what_is_not_set_are_right(role: str) -> None:
    folder = pathlib.Path(facts.__file__).resolve().parents[3] / "roles" / role
    defaults = yaml.safe_load((folder / "defaults" / "main.yml").read_text()) or {}
    assert "failed" not in run("check_settings", {name: value for name, value in defaults.items() if "{{" not in str(value)}, options_of=role)
    assert "failed" not in run("check_settings", {}, options_of=role)
    assert "failed" not in run("check_settings", dict.fromkeys(defaults), options_of=role)


def test_a_right_request_is_answered() -> None:
    assert run("check_settings")["changed"] is False
    assert run("check_override", override=HOLD)["writes"] == []
    found = run("check_override", override=HOLD, observed="p")
    assert (found["event_id"], [one["host"] for one in found["writes"]], "alice" in found["text"]) == ("E1", ["vm1"], True)
    assert run("status_view", observed="p")["lines"][-1] == "1 of 1 VMs answered; 1 event."
    assert run("status_view", format="json", event_id="E1", observed="p")["lines"]["events"][0]["event_id"] == "E1"
    assert run("check_upgrade", by="zone", serial="25%", **UPGRADE)["tasks"] == UPGRADE["tasks"]


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_view_says_whether_its_file_has_changed(form: str, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "status"
    asked = {"observed": "p", "format": form, "file": str(path)}
    assert run("status_view", observed="p")["changed"] is False
    assert run("status_view", check_mode=True, **asked)["changed"] is True and not path.exists()
    found = run("status_view", **asked)
    written = path.read_text()
    assert found["changed"] is True and (json.loads(written) if form == "json" else written.splitlines()) == found["lines"]
    assert [path.name for path in tmp_path.iterdir()] == ["status"]
    assert run("status_view", **asked)["changed"] is False
    path.write_text("old")
    assert run("status_view", **asked)["changed"] is True and path.read_text() != "old"
    assert "cannot be written" in run("status_view", **{**asked, "file": str(tmp_path / "none" / "status")})["msg"]


@pytest.mark.parametrize("name", ON_CONTROLLER)
def test_the_documentation_has_the_options_of_the_action(name: str) -> None:
    module, action = (importlib.import_module(f"{PLUGINS}.{folder}.{name}") for folder in ("modules", "action"))
    spec = {option: {key: value for key, value in given.items() if key != "options"} for option, given in action.SPEC.items()}
    # Read by the action before the others are checked.
    assert documented(module) == {**spec, **({"begin_variable": {"type": "str"}} if name == "plan" else {})}
