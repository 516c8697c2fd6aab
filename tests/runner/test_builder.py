# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The definition of the execution environment: that ansible-builder takes it, and that its versions are exact. No image is built."""

from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess

import pytest
import yaml
from lab.simulator import ROOT

DEFINITION = ROOT / "extensions" / "execution_environment"
EXACT = re.compile(r"([A-Za-z0-9._-]+)\s*==\s*([0-9][A-Za-z0-9.]*)")


def requirements(path: pathlib.Path) -> list[str]:
    return [line.strip() for line in path.read_text().splitlines() if line.strip() and not line.startswith("#")]


def exact(path: pathlib.Path) -> dict[str, str]:
    found = [EXACT.fullmatch(line) for line in requirements(path) if not line.startswith("-r ")]
    assert all(found), f"a requirement without an exact version in {path}"
    return {one[1].lower().replace("_", "-"): one[2] for one in found if one}


def installed(bare: pathlib.Path) -> dict[str, str]:
    done = subprocess.run([str(bare / "bin" / "pip"), "list", "--format=json"], capture_output=True, text=True, timeout=120, check=True)
    return {one["name"].lower().replace("_", "-"): one["version"] for one in json.loads(done.stdout)}


@pytest.fixture(scope="module")
def context(builder: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    folder = tmp_path_factory.mktemp("context")
    definition = str(DEFINITION / "execution-environment.yml")
    command = [str(builder / "bin" / "ansible-builder"), "create", "--file", definition, "--context", str(folder), "--output-filename", "Containerfile"]
    surroundings = {"PATH": f"{builder}/bin{os.pathsep}{os.environ['PATH']}", "LC_ALL": "C.UTF-8", "HOME": str(folder)}
    done = subprocess.run(command, cwd=folder, env=surroundings, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_what_is_installed_is_what_the_files_say_and_nothing_else(bare: pathlib.Path) -> None:
    definition = yaml.safe_load((DEFINITION / "execution-environment.yml").read_text())["dependencies"]
    core, runner = (definition[name]["package_pip"].split("==") for name in ("ansible_core", "ansible_runner"))
    wanted = {**exact(DEFINITION / "requirements.txt"), core[0]: core[1], runner[0]: runner[1]}
    assert {name: version for name, version in installed(bare).items() if name not in ("pip", "setuptools", "wheel")} == wanted


def test_they_have_what_the_collection_asks_for() -> None:
    lower = {re.split(r"[\s><=]", line)[0].lower() for line in requirements(ROOT / "meta" / "ee-requirements.txt")}
    assert lower
    assert lower <= set(exact(DEFINITION / "requirements.txt"))


def test_the_tests_run_with_the_same_versions() -> None:
    tested = exact(ROOT / "tests" / "requirements" / "execution-environment.txt")
    definition = yaml.safe_load((DEFINITION / "execution-environment.yml").read_text())["dependencies"]
    assert [definition[name]["package_pip"] for name in ("ansible_core", "ansible_runner")] == [f"{name}=={version}" for name, version in tested.items()]


def test_collections_have_exact_versions_and_this_one_has_its_own() -> None:
    wanted = {one["name"]: one["version"] for one in yaml.safe_load((DEFINITION / "requirements.yml").read_text())["collections"]}
    assert all(re.fullmatch(r"==[0-9]+\.[0-9]+\.[0-9]+", version) for version in wanted.values()), wanted
    # The newest release: main itself has the version of the next one.
    released = yaml.safe_load((ROOT / "changelogs" / "changelog.yaml").read_text())["releases"]
    newest = max(released, key=lambda version: [int(number) for number in version.split(".")])
    assert wanted["maintenance.azure"] == f"=={newest}", "extensions/execution_environment/requirements.yml is of another release"
    windows = {one["name"] for one in yaml.safe_load((ROOT / "meta" / "windows-requirements.yml").read_text())["collections"]}
    assert windows <= set(wanted)


def test_ansible_builder_makes_a_context_of_it(context: pathlib.Path) -> None:
    assert exact(context / "_build" / "requirements.txt") == exact(DEFINITION / "requirements.txt")
    assert (context / "_build" / "requirements.yml").read_text() == (DEFINITION / "requirements.yml").read_text()
    assert "openssh-clients [platform:rpm]" in (context / "_build" / "bindep.txt").read_text()
    containerfile = (context / "Containerfile").read_text()
    assert "ENV ORIGINAL_STDOUT_CALLBACK=maintenance.azure.maintenance_progress" in containerfile
    for part in ("ansible-galaxy collection install", "ansible-core==", "ansible-runner==", "python3.12"):
        assert part in containerfile, part


def test_no_image_is_fetched_from_a_place_that_nobody_chose(context: pathlib.Path) -> None:
    """The one registry that could be in it is that of ansible-builder's own default."""
    containerfile = (context / "Containerfile").read_text()
    assert re.findall(r'^ARG EE_BASE_IMAGE="?([^"\n]*)"?$', containerfile, re.MULTILINE) == ["localhost/say-which-base-image:latest"]
    assert {line.split()[1] for line in containerfile.splitlines() if line.startswith("FROM ")} <= {"$EE_BASE_IMAGE", "base"}
    for path in DEFINITION.iterdir():
        assert not re.search(r"\b(quay|docker|ghcr|gcr|redhat|mcr)\.(io|com|microsoft)\b", path.read_text()), f"a registry in {path.name}"
