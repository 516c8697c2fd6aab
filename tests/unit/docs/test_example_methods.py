# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The drain methods in docs/examples: each is one, answers in each stage, and says what it was tested on."""

from __future__ import annotations

import pathlib
import re

import pytest
import yaml

from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.settings import validation

ROOT = pathlib.Path(__file__).resolve().parents[3]
FOLDER = ROOT / "docs" / "examples" / "drain-methods"
METHODS = sorted(path.name for path in FOLDER.iterdir() if path.is_dir())
FOLDERS = [str(ROOT / "roles" / "drain" / "tasks" / "methods"), str(FOLDER)]
REQUIRED = {"azure_load_balancer": {"interface": "/subscriptions/s/a", "pool": "/subscriptions/s/b"}}
ANSWERS = {"find.yml": {"finding"}, "check.yml": {"state", "error"}, "undo.yml": {"state", "error"}}


def test_there_are_these_and_each_says_what_it_was_tested_on() -> None:
    rows = re.findall(r"^\| `(\w+)` \| .+ \| (.+) \|$", (FOLDER / "README.md").read_text(), re.MULTILINE)
    assert [name for name, _tested in rows] == ["consul", "nomad", "azure_load_balancer"] and sorted(name for name, _tested in rows) == METHODS
    assert all("ever run against" in tested or "not run" in tested for _name, tested in rows)


@pytest.mark.parametrize("name", METHODS)
def test_each_is_a_method_with_its_answers(name: str) -> None:
    entry = {"method": name, **REQUIRED.get(name, {})}
    assert validation.problems([entry], [], "linux", FOLDERS, own_folder=str(FOLDER)) == []
    assert "there is no option nothing" in validation.problems([{**entry, "nothing": 1}], [], "linux", FOLDERS, own_folder=str(FOLDER))[0]
    for file, keys in ANSWERS.items():
        tasks = yaml.safe_load((FOLDER / name / file).read_text())
        assert set(tasks[-1]["ansible.builtin.set_fact"]["method_answer"]) == keys
    assert "method_answer" not in (FOLDER / name / "begin.yml").read_text()


@pytest.mark.parametrize("name", METHODS)
def test_no_token_is_printed_and_what_is_included_is_there(name: str) -> None:
    for path in (FOLDER / name).glob("*.yml"):
        text = path.read_text()
        for file in re.findall(r'include_tasks: "\{\{ method_folder \}\}/([^"]+)"', text):
            assert (FOLDER / name / file).is_file()
        for task in yaml.safe_load(text) if path.name != "options.yml" else ():
            assert "no_log" in task or "Token" not in str(task) and "slurp" not in str(task), task["name"]
