# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The surroundings of a job: nothing but what the execution environment has, and the collection as it is installed from its archive."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
import typing as t

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from lab.lab import Lab  # noqa: E402  the folder of tests is no package
from lab.simulator import ROOT  # noqa: E402

from runner.private_data import Place  # noqa: E402

DEFINITION = ROOT / "extensions" / "execution_environment"
# All that a collection must be able to do without is deleted; see tests/tools/artifact.sh.
PUBLISHED = {"meta", "plugins", "roles", "playbooks", "extensions", "MANIFEST.json", "FILES.json"}


def environment(name: str) -> pathlib.Path:
    """A Python environment of tests/requirements, built where it is not there yet."""
    done = subprocess.run(
        [str(ROOT / "tests" / "tools" / "environment.sh"), name, "3.12"], capture_output=True, text=True, timeout=600, check=False
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return pathlib.Path(done.stdout.strip().splitlines()[-1])


@pytest.fixture(scope="session")
def builder() -> pathlib.Path:
    return environment("builder")


@pytest.fixture(scope="session")
def bare() -> pathlib.Path:
    return environment("execution-environment")


@pytest.fixture(scope="session")
def place(bare: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Where jobs run: the bare environment, and the collection from its archive."""
    work = tmp_path_factory.mktemp("installed")
    surroundings = {"PATH": f"{bare}/bin{os.pathsep}/usr/bin{os.pathsep}/bin", "HOME": str(work), "LC_ALL": "C.UTF-8"}

    def run(*command: str, cwd: pathlib.Path = work) -> str:
        done = subprocess.run(command, cwd=cwd, env=surroundings, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    tree = pathlib.Path(run(str(ROOT / "tests" / "tools" / "copy_tree.sh"), str(work / "copy")).strip())
    run("ansible-galaxy", "collection", "build", "--output-path", str(work / "archive"), cwd=tree)
    (archive,) = (work / "archive").glob("*.tar.gz")
    collections = work / "collections"
    run("ansible-galaxy", "collection", "install", "--offline", "--no-deps", "--collections-path", str(collections), str(archive))
    installed = collections / "ansible_collections" / "maintenance" / "azure"
    for entry in installed.iterdir():
        if entry.name not in PUBLISHED:
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    return Place(bare, collections, installed, tree)


@pytest.fixture
def make_lab(tmp_path: pathlib.Path) -> t.Iterator[t.Callable[..., Lab]]:
    """Labs that are closed when the test ends, however it ends. The Python of their VMs has no packages."""
    labs: list[Lab] = []

    def make(*arguments: t.Any, **options: t.Any) -> Lab:
        labs.append(Lab(tmp_path / f"lab{len(labs)}", *arguments, **options))
        for host in labs[-1].hosts.values():
            host["ansible_python_interpreter"] = os.path.realpath(sys.executable)
        return labs[-1]

    yield make
    for lab in labs:
        lab.close()
