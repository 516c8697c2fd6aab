# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which Python and which ansible-core make drill and make test take on a machine."""

from __future__ import annotations

import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
PYTHON = """#!/bin/sh
case "$2" in *version_info*) echo {version} ;; *) echo "$0" ;; esac
"""


@pytest.mark.parametrize(("there", "chosen"), [(["3.11"], "3.11"), (["3.11", "3.13"], "3.13"), (["3.10"], None)])
def test_the_newest_tried_python_is_taken_and_3_11_where_it_is_the_newest(tmp_path: pathlib.Path, there: list[str], chosen: str | None) -> None:
    for version in there:
        program = tmp_path / f"python{version}"
        program.write_text(PYTHON.format(version=version))
        program.chmod(0o755)
    environment = {"PATH": str(tmp_path), "HOME": str(tmp_path), "PYENV_ROOT": str(tmp_path / "none")}
    done = subprocess.run(["/bin/bash", str(ROOT / "tests/tools/python.sh")], env=environment, capture_output=True, text=True, check=False)
    if chosen is None:
        assert done.returncode == 1 and "Python 3.11 or newer is missing" in done.stderr
    else:
        assert (done.returncode, done.stdout.strip()) == (0, str(tmp_path / f"python{chosen}")), done.stderr


def test_each_python_gets_the_newest_ansible_core_that_it_runs() -> None:
    text = (ROOT / "tests/requirements/test.txt").read_text()
    assert re.findall(r"^ansible-core ~= (\S+); (.*)$", text, re.MULTILINE) == [("2.21.0", 'python_version >= "3.12"'), ("2.19.0", 'python_version < "3.12"')]
