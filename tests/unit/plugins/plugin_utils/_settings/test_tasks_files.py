# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where files of tasks are looked for. What is refused of them is in tests/trust/test_tasks_files.py."""

from __future__ import annotations

import os
import pathlib
from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._core.wrong_input import WrongInput
from ansible_collections.maintenance.azure.plugins.plugin_utils._settings import tasks_files


@pytest.mark.parametrize(
    ("variables", "places"),
    [
        ({"playbook_dir": "/play", "inventory_dir": "/hosts"}, ["/play", "/hosts", "/here"]),
        ({"playbook_dir": "/here", "inventory_dir": None}, ["/here"]),
        # The hosts of an inventory that is a plugin or text have no folder.
        ({"playbook_dir": "/play", "inventory_dir": ""}, ["/play", "/here"]),
    ],
)
def test_task_files_are_beside_the_playbook_or_the_inventory_or_where_ansible_was_started(
    variables: dict[str, Any], places: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PWD", "/here")
    assert tasks_files.places(variables) == places


@pytest.mark.parametrize(("own", "folders"), [(None, []), ("", []), ("methods", ["/play/methods"]), ("/there", ["/there"]), (7, ["/play/7"])])
def test_methods_are_those_of_the_collection_then_those_of_an_operator(own: Any, folders: list[str]) -> None:
    found = tasks_files.method_folders({"playbook_dir": "/play"}, own)
    assert found == [tasks_files.METHODS, *folders] and os.path.isfile(os.path.join(found[0], "haproxy", "check.yml"))


def test_a_module_that_is_not_known_is_a_reason(tmp_path: pathlib.Path) -> None:
    (tmp_path / "notify.yml").write_text("")
    with pytest.raises(WrongInput, match="or a task of it names no module that Ansible knows"):
        tasks_files.checked("respond_notify_tasks", str(tmp_path / "notify.yml"), [], lambda _path: [{"debgu": {}}], lambda word: word == "debug")


@pytest.mark.parametrize("where", [lambda task: [task], lambda task: [{"block": [{"debug": {}}], "rescue": [{"block": [task]}]}]])
def test_a_word_after_which_nothing_can_be_told_is_refused(tmp_path: pathlib.Path, where: Any) -> None:
    (tmp_path / "work.yml").write_text("")
    for word, task in (("clear_host_errors", "meta"), ("clear_host_errors", "ansible.builtin.meta"), ("end_host", "meta")):
        content = where({task: word})
        if word == "end_host":
            assert tasks_files.checked("upgrade_tasks", str(tmp_path / "work.yml"), [], lambda _path, it=content: it, lambda _word: True)
        else:
            with pytest.raises(WrongInput, match="meta: clear_host_errors"):
                tasks_files.checked("upgrade_tasks", str(tmp_path / "work.yml"), [], lambda _path, it=content: it, lambda _word: True)
