# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What collections for Windows say of their modules' options, from releases of the package ansible. Nothing of it is installed or run."""

from __future__ import annotations

import ast
import fcntl
import functools
import json
import pathlib
import shutil
import subprocess
import sys
import typing as t
import zipfile

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
CACHE = ROOT / ".build" / "ansible-package"
COLLECTIONS = ("ansible.windows", "community.windows", "microsoft.iis")
# The first that was made for ansible-core 2.18 (the first of those that had it, for a collection that came later), and whatever is the
# newest when it is downloaded (once; "make clean" forgets it).
RELEASES: dict[str, dict[str, tuple[str, ...]]] = {
    "oldest": {"ansible==11.0.0": ("ansible.windows", "community.windows"), "ansible==11.5.0": ("microsoft.iis",)},
    "newest": {"ansible": COLLECTIONS},
}
# Not a part of the package; nothing that stands there is an option.
FOREIGN_FRAGMENTS = ("action_common_attributes", "ansible.builtin.action_common_attributes")

Options = dict[str, dict[str, t.Any]]
# The same, many times quicker, where libyaml is there.
Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@functools.lru_cache
def release(which: str) -> Release:
    """One of RELEASES, downloaded where it has not been."""
    CACHE.mkdir(parents=True, exist_ok=True)
    folder = CACHE / which
    with (CACHE / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / ".complete").exists():
            shutil.rmtree(folder, ignore_errors=True)
            for requirement, collections in RELEASES[which].items():
                _download(requirement, collections, folder)
            (folder / ".complete").touch()
    return Release(folder)


def _download(requirement: str, collections: tuple[str, ...], folder: pathlib.Path) -> None:
    wheels = folder / "wheels"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:", "--dest", str(wheels)]
    done = subprocess.run([*command, requirement], capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        raise AssertionError(f"pip cannot download {requirement}:\n{done.stderr[-2000:]}")
    (wheel,) = wheels.glob("*.whl")
    folders = tuple(f"ansible_collections/{name.replace('.', '/')}/" for name in collections)
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            inside = name.removeprefix(next((known for known in folders if name.startswith(known)), name))
            if inside == "MANIFEST.json" or inside.startswith(("plugins/modules/", "plugins/doc_fragments/")):
                archive.extract(name, folder)
    shutil.rmtree(wheels)


class Release:
    """The documentation in one release."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder

    def version(self, collection: str) -> str:
        manifest = json.loads((self._collection(collection) / "MANIFEST.json").read_text())
        return str(manifest["collection_info"]["version"])

    @functools.lru_cache  # noqa: B019  there are two releases, which stay
    def options(self, module: str) -> Options | None:
        """The options of a module by its whole name, with those of its fragments; None where there is no such module."""
        namespace, name, module_name = module.split(".")
        documentation = self._documentation(self._collection(f"{namespace}.{name}") / "plugins" / "modules" / module_name)
        if documentation is None:
            return None
        options: Options = {}
        fragments = documentation.get("extends_documentation_fragment") or []
        for fragment in [fragments] if isinstance(fragments, str) else fragments:
            options.update(self._fragment(fragment))
        for option, description in (documentation.get("options") or {}).items():
            # What a module says itself is added to what the fragment says.
            options[option] = {**options.get(option, {}), **(description or {})}
        return options

    def _collection(self, collection: str) -> pathlib.Path:
        return self.folder / "ansible_collections" / collection.replace(".", "/")

    def _documentation(self, path: pathlib.Path) -> dict[str, t.Any] | None:
        for suffix in (".yml", ".yaml"):
            beside = path.with_name(path.name + suffix)
            if beside.exists():
                return t.cast("dict[str, t.Any]", yaml.load(beside.read_text(), Loader)["DOCUMENTATION"])
        source = path.with_name(path.name + ".py")
        if not source.exists():
            return None
        return t.cast("dict[str, t.Any]", yaml.load(_string(ast.parse(source.read_text()), "DOCUMENTATION"), Loader))

    def _fragment(self, name: str) -> Options:
        if name.startswith(FOREIGN_FRAGMENTS):
            return {}
        collection, _dot, fragment = name.rpartition(".")
        part = "DOCUMENTATION"
        if collection.count(".") == 2:  # namespace.collection.file.part
            collection, _dot, file = collection.rpartition(".")
            part, fragment = fragment.upper(), file
        tree = ast.parse((self._collection(collection) / "plugins" / "doc_fragments" / f"{fragment}.py").read_text())
        (found,) = [node for node in tree.body if isinstance(node, ast.ClassDef)]
        return dict(yaml.load(_string(found, part), Loader).get("options") or {})


def _string(tree: ast.Module | ast.ClassDef, name: str) -> str:
    """The text that a name stands for."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(isinstance(target, ast.Name) and target.id == name for target in node.targets):
            return str(ast.literal_eval(node.value))
    raise AssertionError(f"no {name} is set")
