# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The changes that docs/contributing shows apply to the files of today, touch what CONTRIBUTING.md says, and work."""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
import yaml

from ansible_collections.maintenance.azure.plugins.plugin_utils._drain import validation

ROOT = pathlib.Path(__file__).resolve().parents[3]
DIFFS = ROOT / "docs" / "contributing"
BUILT_IN, OWN = DIFFS / "add-drain-method.diff", DIFFS / "own-drain-method.diff"
REGISTRY = "plugins/module_utils/_scheduled_events/drain/registry.py"


def touched(diff: pathlib.Path) -> list[str]:
    """Return the files that a diff changes or adds."""
    return re.findall(r"^\+\+\+ b/(.+)$", diff.read_text(), re.MULTILINE)


def apply(diff: pathlib.Path, folder: pathlib.Path) -> None:
    """Apply a diff in a folder. Where it no longer applies: git apply --reject, put in what was rejected, and write the diff anew."""
    # Without a ceiling git would take a repository above the folder for the one that is meant.
    environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(folder.parent), "LC_ALL": "C"}
    done = subprocess.run(["git", "apply", str(diff)], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{diff.name} does not apply any more: {done.stderr}"


@pytest.fixture(name="tree", scope="module")
def _tree(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A copy of the collection with the method of the diff."""
    collection = tmp_path_factory.mktemp("patched") / "ansible_collections" / "maintenance" / "azure"
    for name in ("plugins/module_utils", "plugins/plugin_utils/_drain", "plugins/plugin_utils/_core", "roles/drain", "docs"):
        shutil.copytree(ROOT / name, collection / name, ignore=shutil.ignore_patterns("__pycache__"))
    apply(BUILT_IN, collection)
    return collection


def run(tree: pathlib.Path, *words: str) -> str:
    """Run Python with nothing of this collection but the copy."""
    environment = {**os.environ, "PYTHONPATH": str(tree.parents[2]), "PYTHONDONTWRITEBYTECODE": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run([sys.executable, *words], cwd=tree, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_diff_touches_what_the_page_says() -> None:
    section = re.split(r"^## ", (ROOT / "CONTRIBUTING.md").read_text(), flags=re.MULTILINE)
    (page,) = [text for text in section if text.startswith("A new drain method")]
    named = {name.replace("NAME", "marker") for name in re.findall(r"^\| `([^`]+)` \|", page, re.MULTILINE)}
    assert named == set(touched(BUILT_IN))
    code = [name for name in touched(BUILT_IN) if name.startswith("plugins/")]
    assert code == ["plugins/module_utils/_scheduled_events/drain/methods/marker.py", REGISTRY]
    # Of the file that lists the methods one import and one line change.
    (changed,) = re.findall(rf"^\+\+\+ b/{REGISTRY}\n(.*?)(?=^diff )", BUILT_IN.read_text(), re.MULTILINE | re.DOTALL)
    assert len(re.findall(r"^\+", changed, re.MULTILINE)) == 2


def test_the_test_of_the_new_method_passes(tree: pathlib.Path) -> None:
    (test,) = [name for name in touched(BUILT_IN) if name.startswith("tests/")]
    assert "2 passed" in run(tree, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(tree), test)


def test_the_controller_knows_the_new_method_and_its_options(tree: pathlib.Path) -> None:
    said = run(
        tree,
        "-c",
        """
from ansible_collections.maintenance.azure.plugins.plugin_utils._drain import catalogue, configured, validation
assert catalogue.runs_on_vm("marker", "linux") and configured.is_local("marker", "linux")
assert not catalogue.runs_on_vm("marker", "windows") and "marker" not in catalogue.built_in("windows")
assert validation.problems([{"method": "marker", "path": "/run/out"}], [], "linux") == []
print(*validation.problems([{"method": "marker"}], [], "linux"))
""",
    )
    assert "path is missing: the path of the file on the VM. Options: path, text." in said


def test_the_new_method_is_described_as_it_is(tree: pathlib.Path) -> None:
    sections = re.split(r"^## ", (tree / "docs" / "drain-methods.md").read_text(), flags=re.MULTILINE)
    (section,) = [text for text in sections if text.startswith("marker\n")]
    options = run(tree, "-c", f"from {module_of(REGISTRY)} import METHODS; print(*METHODS['marker'].options)").split()
    assert re.findall(r"^\| `([a-z_]+)` \|", section, re.MULTILINE) == options


def module_of(path: str) -> str:
    return "ansible_collections.maintenance.azure." + path.removesuffix(".py").replace("/", ".")


def test_a_method_of_ones_own_needs_its_folder_only(tmp_path: pathlib.Path) -> None:
    apply(OWN, tmp_path)
    (play,) = yaml.safe_load((tmp_path / "rehearse.yml").read_text())
    folder = tmp_path / play["vars"]["drain_methods_path"]
    files = {path.name: yaml.safe_load(path.read_text()) for path in (folder / "marker").iterdir()}
    assert set(files) == {"options.yml", "begin.yml", "check.yml", "undo.yml"}
    folders = [str(ROOT / "roles" / "drain" / "tasks" / "methods"), str(folder)]
    for system in ("linux", "windows"):
        assert validation.problems(play["vars"]["drain_methods"], [], system, folders, own_folder=str(folder)) == []
        (said,) = validation.problems([{"method": "marker"}], [], system, folders, own_folder=str(folder))
        assert "path is missing" in said
    # The parts of the contract that docs/drain-methods.md describes.
    assert (ROOT / "roles" / "drain" / "tasks" / "found.yml").is_file()
    assert {task.get("register") for task in files["begin.yml"]} >= {"__drain_acted"}
    for name in ("check.yml", "undo.yml"):
        assert set(files[name][-1]["ansible.builtin.set_fact"]["__drain_answer"]) == {"state", "error"}
