# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The test for drain files of one's own in docs/examples passes with good files, and fails with files that are broken, each in its own way."""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from lab import warm
from lab.lab import ROOT
from lab.page_commands import commands

EXAMPLES = ROOT / "docs" / "examples"
PAGE = "docs/examples/drain-test/README.md"
TESTS = set(re.findall(r"^def (test_\w+)", (EXAMPLES / "drain-test" / "test_drain_files.py").read_text(), re.MULTILINE))


def typed(folder: pathlib.Path, *options: str) -> str:
    """Type the page's last command; return what it printed."""
    copy, test = commands(PAGE)[1:]
    if not (folder / "drain-files").exists():
        subprocess.run(["bash", "-ec", f"collection={ROOT}\n{copy}"], cwd=folder, check=True)
        example = folder / "drain-files" / "drain-test" / "test_drain_files.py"
        example.write_text(example.read_text().replace("sys.executable", repr(warm.python())))
    environment = {**os.environ, "PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}", "ANSIBLE_HOME": str(folder / "home")}
    line = " ".join((test, "-p no:cacheprovider", *options))
    done = subprocess.run(["bash", "-ec", line], cwd=folder, env=warm.playbooks(environment), capture_output=True, text=True, timeout=300, check=False)
    return done.stdout + done.stderr


def test_good_files_pass(tmp_path: pathlib.Path) -> None:
    assert set(re.findall(r"^\| `(test_\w+)` \|", (ROOT / PAGE).read_text(), re.MULTILINE)) == TESTS
    assert f"{len(TESTS)} passed" in (said := typed(tmp_path)), said


ANY_STATE = "{0: 'drained', 75: 'draining'}[database_left.rc | default(1)] | default('failed')"


@pytest.mark.parametrize(
    ("file", "old", "new", "test", "words"),
    [
        pytest.param("database_left.yml", ANY_STATE, "'drained'", "notices", "your check says drained", id="check"),
        pytest.param("database-switch", 'rejoin) rm -f "$idle"', "rejoin) true", "out_of_service", "it is out of service", id="undo"),
        pytest.param("database-switch", 'leave) touch "$idle"', 'leave) mkdir "$idle"', "run_again", "File exists", id="begin"),
    ],
)
def test_broken_files_fail(file: str, old: str, new: str, test: str, words: str, tmp_path: pathlib.Path) -> None:
    typed(tmp_path, "--collect-only -q")
    broken = tmp_path / "drain-files" / "start" / file
    assert old in broken.read_text()
    broken.write_text(broken.read_text().replace(old, new))
    said = typed(tmp_path, f"-k {test}")
    assert "1 failed" in said and words in said, said


def test_files_that_only_say_drained_fail(tmp_path: pathlib.Path) -> None:
    typed(tmp_path, "--collect-only -q")
    folder = tmp_path / "drain-files" / "start"
    shutil.copy(folder / "database_rejoin.yml", folder / "database_leave.yml")
    (folder / "database_left.yml").write_text("- name: Say so\n  ansible.builtin.set_fact:\n    drain_tasks_state: drained\n")
    assert "drained, your files say, and it is in service" in typed(tmp_path, "-k out_of_service")
