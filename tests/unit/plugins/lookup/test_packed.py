# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lookup packed: programs of the collection as archives that run."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest
from ansible.errors import AnsibleError

from ansible_collections.maintenance.azure.plugins.lookup import packed
from ansible_collections.maintenance.azure.plugins.plugin_utils._controller.pack import PROGRAMS


@pytest.mark.parametrize(("name", "arguments", "says"), [("watcher", ["nonsense"], "ask|drain|seen"), ("simulator", ["--list-scenarios"], "reboot")])
def test_an_archive_runs(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, name: str, arguments: list[str], says: str) -> None:
    monkeypatch.setattr(packed.constants, "DEFAULT_LOCAL_TMP", str(tmp_path))
    (archive,) = packed.LookupModule().run([name])
    ran = subprocess.run([sys.executable, "-I", archive, *arguments], capture_output=True, text=True, check=False)
    assert says in ran.stdout + ran.stderr and os.listdir(tmp_path) == [f"{name}.pyz"]


def test_an_archive_is_packed_once(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed.constants, "DEFAULT_LOCAL_TMP", str(tmp_path))
    first = packed.LookupModule().run(["watcher"])
    monkeypatch.setattr(packed, "pack", None)
    assert packed.LookupModule().run(["watcher"]) == first


def test_a_full_disk_is_one_line_with_the_place(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On Linux a write to /dev/full fails as on a full disk; a name of an own file is a link to it."""
    monkeypatch.setattr(packed.constants, "DEFAULT_LOCAL_TMP", str(tmp_path))
    (tmp_path / f"watcher.pyz-{os.getpid()}").symlink_to("/dev/full")
    with pytest.raises(AnsibleError) as refused:
        packed.LookupModule().run(["watcher"])
    assert str(refused.value) == f"The watcher cannot be packed into {tmp_path}/watcher.pyz on the controller: No space left on device."


def test_the_documentation_names_the_programs() -> None:
    assert all(name in packed.DOCUMENTATION for name in PROGRAMS)
