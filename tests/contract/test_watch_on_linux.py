# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Parts of role watch on Linux that need neither systemd nor root: tasks of the role on files of a test, with a stand-in for systemctl."""

from __future__ import annotations

import getpass
import json
import os
import pathlib
import subprocess
import sys
import typing as t

import pytest
from lab import warm

UNITS = ("azure-maintenance-ask.service", "azure-maintenance-drain.path", "azure-maintenance-tell.path", "azure-maintenance-seen.timer")
# Every unit is loaded, enabled and active. What is asked to change is written down.
SYSTEMCTL = """#!/bin/sh
case " $* " in
*" show "*) printf 'LoadState=loaded\\nActiveState=active\\nUnitFileState=enabled\\n' ;;
*" is-enabled "*) echo enabled ;;
*" is-active "*) echo active ;;
*) echo "$*" >> FOLDER/orders ;;
esac
"""


class Role:
    """The role's files in a folder of a test."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.settings: dict[str, t.Any] = {
            "ansible_connection": "local",
            "ansible_python_interpreter": warm.python(),
            "__watch_folders_made": {"changed": False},
        }

    def play(self, tasks: str, *arguments: str, **settings: t.Any) -> str:
        """Run one file of the role's tasks, and return what Ansible prints."""
        include = {"name": "maintenance.azure.watch", "tasks_from": tasks, "rolespec_validate": False}
        play = {"hosts": "all", "gather_facts": False, "tasks": [{"ansible.builtin.include_role": include}]}
        (self.folder / "play.yml").write_text(json.dumps([play]))
        (self.folder / "settings.json").write_text(json.dumps({**self.settings, **settings}))
        path = f"{self.folder}/programs:{os.environ['PATH']}"
        done = subprocess.run(
            ["ansible-playbook", "-i", "vm,", "-e", f"@{self.folder}/settings.json", *arguments, str(self.folder / "play.yml")],
            env=warm.playbooks({**os.environ, "PATH": path, "ANSIBLE_HOME": str(self.folder / "ansible"), "ANSIBLE_NOCOLOR": "1"}),
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        self.failed = done.returncode != 0
        return done.stdout + done.stderr

    def changes(self, tasks: str, *arguments: str, **settings: t.Any) -> bool:
        """Run one file of the role's tasks, and return whether that changed anything."""
        printed = self.play(tasks, *arguments, **settings)
        assert not self.failed, printed
        return "changed=0" not in printed


class Units(Role):
    """The files that the units read, and a program that says whether the asker has asked."""

    def __init__(self, folder: pathlib.Path) -> None:
        super().__init__(folder)
        (folder / "programs").mkdir()
        (folder / "programs" / "systemctl").write_text(SYSTEMCTL.replace("FOLDER", str(folder)))
        (folder / "programs" / "systemctl").chmod(0o700)
        for name in ("watch.json", *UNITS):
            (folder / name).write_text("as it was")
        (folder / "watch.pyz").write_text("")
        unchanged = dict.fromkeys(("copied", "settings_written", "credential_written", "units_written", "drain_written"), {"changed": False})
        names = {"archive": "watch.pyz", "settings": "watch.json", "credential": "credential", "drain_file": "drain.json", "started_note": "started_with"}
        self.settings.update(
            {f"__watch_{name}": value for name, value in unchanged.items()},
            **{f"__watch_{name}": str(folder / file) for name, file in names.items()},
            __watch_unit_files=[str(folder / name) for name in UNITS],
            __watch_found_python={"executable": sys.executable},
            __watch_compiled={"drains": True},
            watch_tell_folder="/srv/news",
            watch_figures_folder="/srv/figures",
            watch_wait=1,
        )

    def restarts(self, *arguments: str, **settings: t.Any) -> list[str]:
        """Run it, and return what systemctl was asked to restart or stop."""
        orders = self.folder / "orders"
        orders.write_text("")
        changed = self.changes("run.yml", *arguments, **settings)
        found = [line for line in orders.read_text().splitlines() if line.split()[0] in ("restart", "stop")]
        assert changed == bool(found)
        return found


RESTARTED = ["restart azure-maintenance-ask.service", "stop azure-maintenance-tell.service"]


@pytest.fixture(name="units")
def _units(tmp_path: pathlib.Path) -> Units:
    return Units(tmp_path)


def test_units_that_are_older_than_one_of_their_files_are_restarted_once(units: Units) -> None:
    """As after a run that has changed a file, and failed before the restart."""
    assert units.restarts() == RESTARTED
    for file in ("watch.json", "credential", UNITS[0]):
        (units.folder / file).write_text("")
        # An older time as well: the clock of a VM may have been set back.
        os.utime(units.folder / file, (1_600_000_000, 1_600_000_000))
        assert units.restarts() == RESTARTED
    assert [units.restarts("--check"), units.restarts()] == [[], []]
    (units.folder / "drain.json").write_text("{}")
    assert units.changes("run.yml", "--check")


def test_a_restart_after_which_the_asker_does_not_ask_is_made_again(units: Units) -> None:
    (units.folder / "watch.pyz").write_text("raise SystemExit(1)")
    units.play("run.yml")
    assert units.failed and not (units.folder / "started_with").exists()
    (units.folder / "watch.pyz").write_text("")
    assert [units.restarts(), units.restarts()] == [RESTARTED, []]


def test_empty_folders_for_other_tools_go_if_the_role_made_them(tmp_path: pathlib.Path) -> None:
    role, note = Role(tmp_path), tmp_path / "made_tell_folders"
    places = {"__watch_tell_made_note": str(note), "__watch_teller": getpass.getuser()}
    assert not role.changes("remove_tell_folders.yml", **places)
    assert not role.changes("remove_tell_folders.yml", "--check", **places)
    folders = {name: tmp_path / name for name in ("made", "full", "own", "link", "gone")}
    for name in ("made", "full", "own"):
        folders[name].mkdir()
    folders["link"].symlink_to(folders["own"])
    (folders["full"] / ".waiting").write_text("a message")
    note.write_text("".join(f"{folders[name]}\n" for name in ("made", "full", "link", "gone")))
    # Made anew by another user.
    assert not role.changes("remove_tell_folders.yml", **{**places, "__watch_teller": "nobody"})
    assert role.changes("remove_tell_folders.yml", "--check", **places) and folders["made"].is_dir()
    assert role.changes("remove_tell_folders.yml", **places)
    assert [name for name, path in folders.items() if path.exists()] == ["full", "own", "link"]
    assert not role.changes("remove_tell_folders.yml", **places)
