# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The collection kubernetes.core and the Python package kubernetes, as the execution environment has them, in folders of their own: downloaded once."""

from __future__ import annotations

import fcntl
import json
import pathlib
import re
import shutil
import subprocess
import sys
import typing as t
import zipfile

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
CACHE = ROOT / ".build" / "kubernetes"
PINS = ROOT / "extensions" / "execution_environment"
# A release of the package ansible that has the collection in this version.
RELEASE = "ansible==14.5.0"
COLLECTION = "ansible_collections/kubernetes/core/"
# What kubernetes itself asks for, and what of it other things in the execution environment ask for, too, stands there with exact versions.
PACKAGE = "kubernetes"


class Installed(t.NamedTuple):
    """Where they are."""

    collections: pathlib.Path
    packages: pathlib.Path


def installed() -> Installed:
    """Both of them, downloaded where they have not been."""
    CACHE.mkdir(parents=True, exist_ok=True)
    # Another Python has packages of its own.
    found = Installed(CACHE / "collections", CACHE / f"python-{sys.version_info[0]}.{sys.version_info[1]}")
    with (CACHE / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        wanted = f"{RELEASE} {PACKAGE}=={pinned()[1]}"
        for folder, make in ((found.collections, _collection), (found.packages, _package)):
            stamp = folder / ".complete"
            if not stamp.exists() or stamp.read_text() != wanted:
                shutil.rmtree(folder, ignore_errors=True)
                make(folder)
                stamp.write_text(wanted)
    return found


def pinned() -> tuple[str, str]:
    """The versions of the collection and of the package in the execution environment."""
    collections = {one["name"]: one["version"] for one in yaml.safe_load((PINS / "requirements.yml").read_text())["collections"]}
    (package,) = re.findall(rf"^{PACKAGE} == (\S+)$", (PINS / "requirements.txt").read_text(), re.MULTILINE)
    return collections["kubernetes.core"].removeprefix("=="), package


def version(found: Installed) -> str:
    """The version of the collection that was downloaded."""
    manifest = json.loads((found.collections / COLLECTION / "MANIFEST.json").read_text())
    return str(manifest["collection_info"]["version"])


def _collection(folder: pathlib.Path) -> None:
    wheels = folder / "wheels"
    # The collection is for any Python; the package around it is not, and is not installed.
    _pip("download", "--no-deps", "--only-binary=:all:", "--python-version", "3.12", "--dest", str(wheels), RELEASE)
    (wheel,) = wheels.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.startswith((COLLECTION + "plugins/", COLLECTION + "meta/")) or name == COLLECTION + "MANIFEST.json":
                archive.extract(name, folder)
    shutil.rmtree(wheels)


def _package(folder: pathlib.Path) -> None:
    _pip("install", "--target", str(folder), "--constraint", str(PINS / "requirements.txt"), PACKAGE)


def _pip(*arguments: str) -> None:
    command = [sys.executable, "-m", "pip", arguments[0], "--quiet", "--disable-pip-version-check", *arguments[1:]]
    done = subprocess.run(command, capture_output=True, text=True, timeout=400, check=False)
    if done.returncode != 0:
        raise AssertionError(f"pip cannot {' '.join(arguments)}:\n{done.stderr[-2000:]}")
