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

from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.settings import validation

ROOT = pathlib.Path(__file__).resolve().parents[3]
DIFFS = ROOT / "docs" / "contributing"
BUILT_IN, OWN = DIFFS / "add-drain-method.diff", DIFFS / "own-drain-method.diff"
FIELD, VERSION = DIFFS / "add-event-field.diff", DIFFS / "add-api-version.diff"
# The section of CONTRIBUTING.md, what NAME in its table stands for, and the diff that shows it.
PAGES = [("A new drain method", "marker", BUILT_IN), ("A new field of an event", "impact_scope", FIELD), ("A new api-version", "2027-01-01", VERSION)]
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


def patched(folder: pathlib.Path, diff: pathlib.Path) -> pathlib.Path:
    """Return a copy of the collection with the change of a diff."""
    collection = folder / "ansible_collections" / "maintenance" / "azure"
    for name in ("plugins", "roles/drain", "roles/simulator", "docs", "tests/unit"):
        shutil.copytree(ROOT / name, collection / name, ignore=shutil.ignore_patterns("__pycache__"))
    apply(diff, collection)
    return collection


@pytest.fixture(name="tree", scope="module")
def _tree(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A copy of the collection with the method of the diff."""
    return patched(tmp_path_factory.mktemp("patched"), BUILT_IN)


def run(tree: pathlib.Path, *words: str) -> str:
    """Run Python with nothing of this collection but the copy."""
    environment = {**os.environ, "PYTHONPATH": str(tree.parents[2]), "PYTHONDONTWRITEBYTECODE": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run([sys.executable, *words], cwd=tree, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(("title", "name", "diff"), PAGES)
def test_a_diff_touches_what_the_page_says(title: str, name: str, diff: pathlib.Path) -> None:
    section = re.split(r"^## ", (ROOT / "CONTRIBUTING.md").read_text(), flags=re.MULTILINE)
    (page,) = [text for text in section if text.startswith(title + "\n")]
    named = {path.replace("NAME", name) for path in re.findall(r"^\| `([^`]+)` \|", page, re.MULTILINE)}
    assert named == set(touched(diff)) and f"docs/contributing/{diff.name}" in page


@pytest.mark.parametrize(
    ("diff", "file", "lines"),
    [
        (FIELD, "plugins/module_utils/_scheduled_events/imds/document.py", 1),
        (VERSION, "plugins/module_utils/_scheduled_events/core/argument_specs.py", 1),
        (VERSION, "roles/simulator/files/imds_simulator/endpoint/versions.py", 1),
    ],
)
def test_of_the_code_one_line_changes(diff: pathlib.Path, file: str, lines: int) -> None:
    (changed,) = re.findall(rf"^\+\+\+ b/{file}\n(.*?)(?=^diff |\Z)", diff.read_text(), re.MULTILINE | re.DOTALL)
    assert (len(re.findall(r"^\+", changed, re.MULTILINE)), len(re.findall(r"^-", changed, re.MULTILINE))) == (lines, 0)


def test_a_method_is_one_file_and_one_line_of_the_registry() -> None:
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
from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.kinds.registry import kind_of
from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.settings import catalogue, validation
assert kind_of("marker").is_local("linux")
assert not kind_of("marker").runs_on_vm("windows") and "marker" not in catalogue.built_in("windows")
assert kind_of("marker").by_hand({"kind": "absent"}, {"path": "/run/out"}, []) == "rm -f /run/out"
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


def test_the_new_field_goes_from_the_document_to_the_play_and_to_policies(tmp_path: pathlib.Path) -> None:
    tree = patched(tmp_path, FIELD)
    run(
        tree,
        "-c",
        """
import json, yaml
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.imds.document import parse_document
from ansible_collections.maintenance.azure.plugins.modules import scheduled_events_info
from ansible_collections.maintenance.azure.plugins.plugin_utils._answers.answer import read_answer
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core.expression import Expression
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.observe.documents import Documents
body = json.dumps({"DocumentIncarnation": 1, "Events": [{"EventId": "A", "ImpactScope": "Network"}]})
(event,) = parse_document(body, "2020-07-01").events
assert event["impact_scope"] == "Network"
assert set(event) == set(yaml.safe_load(scheduled_events_info.RETURN)["events"]["contains"])
answer = {"changed": False, "failed": False, "events": [event], "document_incarnation": 1, "vm_name": None, "api_version": "2020-07-01"}
assert read_answer("scheduled_events_info", "web1", answer)["events"] == [event]
assert read_answer("scheduled_events_info", "web1", {**answer, "events": [{**event, "impact_scope": 5}]})["failed"]
assert Expression("impact_scope == 'Network'").matches(Documents().event(event).values)
""",
    )
    (test,) = [name for name in touched(FIELD) if name.startswith("tests/")]
    chosen = ["-k", "impact_scope or vectors_parse"]
    assert "passed" in run(tree, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(tree), test, *chosen)


def test_the_new_version_is_asked_for_first_and_the_simulator_knows_it(tmp_path: pathlib.Path) -> None:
    tree = patched(tmp_path, VERSION)
    (test,) = [name for name in touched(VERSION) if name.startswith("tests/")]
    client = "tests/unit/plugins/module_utils/_scheduled_events/imds/test_client.py"
    modules = "tests/unit/plugins/modules/test_scheduled_events.py"
    # The tests that ask for versions, and the one that compares what is documented with what is accepted.
    chosen = ["-k", "version or test_documentation or types_fields_and_names or seven"]
    assert "2027-01-01" in run(tree, "-m", "pytest", "-v", "-p", "no:cacheprovider", "--rootdir", str(tree), test, client, modules, *chosen)


def module_of(path: str) -> str:
    return "ansible_collections.maintenance.azure." + path.removesuffix(".py").replace("/", ".")


def test_a_method_of_ones_own_needs_its_folder_only(tmp_path: pathlib.Path) -> None:
    apply(OWN, tmp_path)
    (play,) = yaml.safe_load((tmp_path / "rehearse.yml").read_text())
    folder = tmp_path / play["vars"]["drain_methods_path"]
    files = {path.name: yaml.safe_load(path.read_text()) for path in (folder / "marker").iterdir()}
    assert set(files) == {"options.yml", "find.yml", "begin.yml", "check.yml", "undo.yml"}
    folders = [str(ROOT / "roles" / "drain" / "tasks" / "methods"), str(folder)]
    for system in ("linux", "windows"):
        assert validation.problems(play["vars"]["drain_methods"], [], system, folders, own_folder=str(folder)) == []
        (said,) = validation.problems([{"method": "marker"}], [], system, folders, own_folder=str(folder))
        assert "path is missing" in said
    # The contract that docs/drain-methods.md describes: its variables, all of which the role gives, and an answer from each file but begin.yml.
    page = (ROOT / "docs" / "drain-methods.md").read_text().split("## A method of your own\n")[1]
    described = set(re.findall(r"^\| `(method_[a-z]+)` \|", page, re.MULTILINE))
    (given,) = [set(task["vars"]) for task in yaml.safe_load((ROOT / "roles/drain/tasks/stage.yml").read_text()) if "vars" in task]
    assert given == described
    for path in (folder / "marker").iterdir():
        assert set(re.findall(r"\b(?:method|drain)_[a-z]+|\b__\w+", path.read_text())) <= described | {"method_answer", "method_result"}
    for name, keys in {"find.yml": {"finding"}, "check.yml": {"state", "error"}, "undo.yml": {"state", "error"}}.items():
        assert set(files[name][-1]["ansible.builtin.set_fact"]["method_answer"]) == keys
        assert f"| `{name}` |" in page
    assert not any("ansible.builtin.set_fact" in task for task in files["begin.yml"])
