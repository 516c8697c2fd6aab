# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A file name that comes from a survey of AWX: no line of a file that is no tasks file is printed, and none outside of the template's folders is opened."""

from __future__ import annotations

import pathlib
import typing as t
from unittest import mock

import pytest
from ansible.parsing.dataloader import DataLoader
from victims import Victims

from ansible_collections.maintenance.azure.plugins.action import check_upgrade

Make = t.Callable[..., Victims]
CANARY = "c4n4ry-of-a-file"
# What an execution environment may have, and a survey may name.
FILES = {
    "shadow": f"root:$6${CANARY}:19000:0:99999:7:::\ndaemon:*:19000:0:99999:7:::\n",
    "token": f"{CANARY}\n",
    "no-yaml.yml": f"password: '{CANARY}\n  - : [",
    "words.yml": f"- {CANARY}\n- more\n",
    "credentials.yml": f"- username: root\n  password: {CANARY}\n",
    "block.yml": f"- block:\n    - secret: {CANARY}\n",
    "play.yml": f"- hosts: all\n  vars: {{secret: {CANARY}}}\n  tasks: []\n",
    "vaulted.yml": f"$ANSIBLE_VAULT;1.1;AES256\n{CANARY}\n",
}
TASKS = f"""
- debug: {{msg: {CANARY}}}
- name: Full names and core's own
  block:
    - maintenance.azure.scheduled_events_info:
    - import_role: {{name: other}}
  rescue:
    - action: command echo
"""

OUTSIDE = f"- debug: {{msg: {CANARY}}}\n"
GOOD = pathlib.Path(__file__).resolve().parents[2] / "roles" / "respond" / "tasks" / "refuse.yml"


@pytest.fixture
def files(tmp_path: pathlib.Path) -> pathlib.Path:
    (tmp_path / "project").mkdir()
    for name, content in {**FILES, "project/tasks.yml": TASKS, "outside.yml": OUTSIDE, "project-2.yml": TASKS}.items():
        (tmp_path / name).write_text(content)
    (tmp_path / "project" / "link.yml").symlink_to(tmp_path / "outside.yml")
    return tmp_path


def check(path: pathlib.Path, *folders: pathlib.Path, option: str = "tasks") -> dict[str, t.Any]:
    """What the playbook and the role are told."""
    upgrade = {"name": "november", "tasks": str(GOOD), option: str(path), "folders": [str(folder) for folder in folders]}
    task = mock.Mock(args=upgrade, check_mode=False, async_val=0, diff=False, environment=[], action="maintenance.azure.check_upgrade")
    task.collections = ["maintenance.azure", "ansible.legacy"]
    templar = mock.Mock(template=lambda value: value)
    return dict(check_upgrade.ActionModule(task, mock.Mock(), mock.Mock(), DataLoader(), templar, None).run(None, {}))


@pytest.mark.parametrize("option", ["tasks", "check_tasks"])
@pytest.mark.parametrize("name", [*FILES, "/etc/shadow", "missing.yml"])
def test_what_is_no_tasks_file_is_refused_without_its_content(files: pathlib.Path, name: str, option: str) -> None:
    found = check(files / name, option=option)
    assert found["failed"] and f'upgrade_{option} is "{files / name}"' in found["msg"] and CANARY not in str(found)


@pytest.mark.parametrize("content", ["", "[]", "# nothing yet\n"])
def test_a_file_without_tasks_is_one(files: pathlib.Path, content: str) -> None:
    (files / "empty.yml").write_text(content)
    assert "failed" not in check(files / "empty.yml")


def test_only_files_in_the_folders_of_the_template_are_opened(files: pathlib.Path) -> None:
    project = files / "project"
    assert check(files / "outside.yml")["tasks"] == str(files / "outside.yml")
    assert check(project / "tasks.yml", files / "other", project)["tasks"] == str(project / "tasks.yml")
    outside = (files / "outside.yml", project / "link.yml", project / ".." / "outside.yml", files / "project-2.yml", files / "missing.yml", files / "token")
    for path in outside:
        # The same words whether the file is there or not.
        assert check(path, project)["msg"] == f'upgrade_tasks is "{path}", which is not in {project} (upgrade_tasks_folders)'


@pytest.mark.parametrize(("name", "folders"), [("shadow", []), ("project/link.yml", ["project"])])
def test_no_run_of_an_upgrade_prints_or_runs_it(files: pathlib.Path, make_victims: Make, name: str, folders: list[str]) -> None:
    """With the verbosity of a job that is looked into."""
    lab = make_victims(["web1"])
    lab.all.update(drain_methods=[{"method": "none"}], upgrade_interval=0.2, gate_quiet_seconds=0, gate_wait_seconds=60)
    asked = {"upgrade_hosts": "web1", "upgrade_name": "november", "upgrade_tasks": str(files / name)}
    bounds = {"upgrade_tasks_folders": [str(files / folder) for folder in folders]} if folders else {}
    code, output = lab.raw_play("maintenance.azure.rolling_upgrade", "-vvvv", **asked, **bounds)
    assert CANARY.encode() not in output, output[output.index(CANARY.encode()) - 1500 :][:2000].decode()
    assert code == 2 and str(files / name).encode() in output
