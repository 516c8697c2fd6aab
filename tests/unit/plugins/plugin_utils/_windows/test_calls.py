# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import types
import typing as t

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.access import Failed
from ansible_collections.maintenance.azure.plugins.plugin_utils._core import modules
from ansible_collections.maintenance.azure.plugins.plugin_utils._windows import calls
from ansible_collections.maintenance.azure.plugins.plugin_utils._windows.calls import Calls


class Action:
    """The parts of an action plugin that a call uses."""

    def __init__(self, check_mode: bool = False) -> None:
        self._task = types.SimpleNamespace(check_mode=check_mode)
        self.seen: list[tuple[str, dict[str, t.Any], bool]] = []

    def _execute_module(self, module_name: str, module_args: dict[str, t.Any], task_vars: dict[str, t.Any]) -> dict[str, t.Any]:
        self.seen.append((module_name, dict(module_args), self._task.check_mode))
        module_args["_ansible_check_mode"] = self._task.check_mode
        return {"rc": 3, "stdout": "out", "stderr": "no", "failed": True}


def collection(monkeypatch: pytest.MonkeyPatch, tmp_path: t.Any, manifest: str | None) -> None:
    if manifest is not None:
        (tmp_path / "MANIFEST.json").write_text(manifest)
    monkeypatch.setattr(calls.importlib, "import_module", lambda name: types.SimpleNamespace(__path__=[str(tmp_path)]))


@pytest.fixture
def installed(monkeypatch, tmp_path):
    collection(monkeypatch, tmp_path, '{"collection_info": {"version": "3.0.0"}}')


def test_without_the_collection_one_error_says_how_to_install_it(monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(calls.importlib, "import_module", missing)
    with pytest.raises(Failed, match="was not found.*ansible-galaxy collection install --upgrade ansible.windows"):
        Calls(Action(), {})


@pytest.mark.parametrize("version", ["1.14.0", "2.4.9"])
def test_a_collection_that_is_too_old_is_named_with_its_version(monkeypatch, tmp_path, version):
    collection(monkeypatch, tmp_path, '{"collection_info": {"version": "%s"}}' % version)
    with pytest.raises(Failed, match=f"2.5.0 or newer, and {version} was found.*ansible-galaxy"):
        Calls(Action(), {})


@pytest.mark.parametrize("manifest", ['{"collection_info": {"version": "2.5.0"}}', '{"collection_info": {"version": "3.1.0-beta.1"}}', None, "[]", "{"])
def test_a_new_one_and_a_checkout_will_do(monkeypatch, tmp_path, manifest):
    collection(monkeypatch, tmp_path, manifest)
    Calls(Action(), {})


@pytest.mark.usefixtures("installed")
def test_a_call_runs_in_check_mode_too_and_leaves_the_task_as_it_was():
    action = Action(check_mode=True)
    assert Calls(action, {}).command("exit 3") == (3, "out", "no")
    assert action.seen == [("ansible.windows.win_command", {"_raw_params": 'cmd.exe /d /s /c "exit 3"'}, False)]
    assert action._task.check_mode is True


@pytest.mark.usefixtures("installed")
def test_a_command_that_did_not_run_is_an_error():
    action = Action()
    action._execute_module = lambda **options: {"failed": True, "msg": "access denied"}  # type: ignore[method-assign]
    with pytest.raises(OSError, match="access denied"):
        Calls(action, {}).command("exit 0")


@pytest.mark.usefixtures("installed")
def test_a_whole_name_is_a_module_of_another_collection(monkeypatch):
    action = Action()
    there = types.SimpleNamespace(resolved=True)
    monkeypatch.setattr(modules.module_loader, "find_plugin_with_context", lambda name: there)
    Calls(action, {}).call("microsoft.iis.website_info", name="Shop")
    assert action.seen == [("microsoft.iis.website_info", {"name": "Shop"}, False)]
    there.resolved = False
    with pytest.raises(OSError, match="the controller has no microsoft.iis.website. To install it: ansible-galaxy collection install microsoft.iis"):
        Calls(action, {}).call("microsoft.iis.website", name="Shop", state="stopped")
    assert len(action.seen) == 1


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(("before", "with_ours"), [(None, [{"A": "1"}]), ([], [{"A": "1"}]), ({"B": "2"}, [{"B": "2"}, {"A": "1"}]), ([{}], [{}, {"A": "1"}])])
def test_variables_are_those_of_one_call_and_the_task_keeps_its_own(before, with_ours):
    action = Action()
    action._task.environment = before
    with pytest.raises(KeyError), Calls(action, {}).environment({"A": "1"}):
        assert action._task.environment == with_ours
        raise KeyError
    assert action._task.environment is before


@pytest.mark.parametrize("answer", [{"failed": True, "msg": "no"}, {"output": []}, {"output": ["{"]}, {"output": [None]}, {}])
def test_a_script_that_fails_or_prints_no_json_is_an_error(answer):
    with pytest.raises(OSError, match="the cluster: "):
        calls.json_output(answer, "the cluster")
    assert calls.json_output({"output": ['{"a": 1}']}, "the cluster") == {"a": 1}
