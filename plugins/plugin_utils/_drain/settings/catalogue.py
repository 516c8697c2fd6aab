# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Which drain methods there are, and their options: those of the collection from their classes, those of an operator from their folders."""

from __future__ import annotations

import functools
import importlib.util
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import yaml
from ansible import constants as C

from ....module_utils._scheduled_events.core.types import Data, Values
from ....module_utils._scheduled_events.drain.methods.method import Option
from ....module_utils._scheduled_events.drain.registry import METHODS, WINDOWS_METHODS, methods_of
from ..._core import modules, plain_values
from ..._core.argument_specs import entry_points
from ..._core.short_forms import suggestion
from ..kinds.registry import TASKS, kind_of

Options = Mapping[str, Values]
# What a drain needs; an undo can do with a folder that has but undo.yml.
TO_DRAIN = ("check.yml",)
FILES = (*TO_DRAIN, "undo.yml")
# Characters of a host's name in a message.
LONGEST = 100


def built_in(system: str) -> tuple[str, ...]:
    """Return the methods of the collection on linux or windows, in the order in which messages name them."""
    if system != "windows":
        return (*METHODS, *TASKS)
    both = [kind for kind in METHODS if kind in WINDOWS_METHODS]
    return (*both, *TASKS, *(kind for kind in WINDOWS_METHODS if kind not in METHODS))


def needs_cluster(kind: str) -> bool:
    """Return whether an entry of this method must name its cluster."""
    return kind in METHODS and METHODS[kind].one_at_a_time


def missing_modules(kind: str, system: str) -> list[str]:
    """Return the modules that a method needs and the controller does not have: without them no Windows host with it is observed."""
    needed = (*kind_of(kind).controller_modules, *(kind_of(kind).windows_modules if system == "windows" else ()))
    return [name for name in needed if not modules.is_installed(name)]


def missing_packages(kind: str) -> list[str]:
    """Return the Python packages that a method needs and the controller does not have."""
    return [name for name in kind_of(kind).controller_packages if importlib.util.find_spec(name) is None]


def folder_of(kind: str, system: str, folders: Sequence[str], files: Iterable[str] = FILES) -> str | None:
    """Return the folder with the tasks of a method, or None. The first of the folders is the role's, the others are an operator's."""
    own = [os.path.join(folder, kind) for folder in (folders[:1] if kind in built_in(system) else folders[1:])]
    return next((folder for folder in own if is_method(folder, system, files)), None)


def known_methods(folders: Iterable[str]) -> dict[str, Options | None]:
    """Return the options of each method of the engine and of each folder below these; None where a folder describes none."""
    known: dict[str, Options | None] = {kind: of_class(method.options) for kind, method in {**WINDOWS_METHODS, **METHODS}.items()}
    for folder in map(str, folders):
        for kind in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
            if is_method(os.path.join(folder, kind), "windows"):
                known.setdefault(kind, options_of(kind, os.path.join(folder, kind)))
    return known


def is_method(folder: str, system: str, files: Iterable[str] = FILES) -> bool:
    """Return whether a folder has tasks of a method for this system: one of these files."""
    places = (folder, os.path.join(folder, "windows")) if system == "windows" else (folder,)
    return any(os.path.isfile(os.path.join(place, name)) for place in places for name in files)


def options_of(kind: str, folder: str, system: str = "linux") -> Options | None:
    """Return the options of one method: of the collection's by its name, otherwise what its folder describes; None where it describes none."""
    method = TASKS.get(kind) or methods_of(system).get(kind)
    return _of_file(os.path.join(folder, "options.yml")) if method is None else of_class(method.options)


def description(kind: str, name: str, about: Values) -> str | None:
    """Return what an option must be, in words: as its method says, otherwise as ansible-doc does. Only messages need it: the file is long."""
    entry = {} if about.get("description") else entry_points("drain").get(f"method_{kind}", {})
    for part in name.split(".") if entry else ():
        entry = entry["options"][part]
    words: str | None = entry["description"] if entry else about.get("description")
    # In the middle of a sentence; HOST:PORT stays as it is.
    return words[0].lower() + words[1:] if entry and words and not words[1].isupper() else words


def flat(entry: Values, known: Options) -> tuple[Data, Options]:
    """Return an entry and what is known of its options, with the parts of an option in its place, as C(option.part)."""
    given, options = dict(entry), dict(known)
    for key, about in known.items():
        if about.get("parts") and entry.get(key) and isinstance(entry[key], Mapping):
            given.update({f"{key}.{name}": value for name, value in given.pop(key).items()})
            options.update({f"{key}.{name}": part for name, part in options.pop(key)["parts"].items()})
    return given, options


def defaults_of(kind: str, folder: str) -> Data:
    """Return the options of a method that have a default, with it."""
    return {key: about["default"] for key, about in (options_of(kind, folder) or {}).items() if about.get("default") is not None}


def unknown_hosts(name: str, value: Any, about: Values, hosts: Sequence[str] | None) -> list[str]:
    """Return what is wrong with an option that names hosts of the inventory. C(hosts) are all of them, or None where they are not known."""
    if hosts is None or not about.get("hosts"):
        return []
    named = plain_values.texts(list(value.values()) if isinstance(value, Mapping) else [value] if isinstance(value, str) else value)
    # Core makes a host of these names where the inventory has none.
    unknown = [host for host in dict.fromkeys(named) if host not in hosts and host not in C.LOCALHOST]
    return [f"{name}: the inventory has no host {host[:LONGEST]}{suggestion(host, hosts)}." for host in unknown]


def of_class(options: Mapping[str, Option]) -> Options:
    """Return the options of a method's class as those of a folder are described."""
    return {name: _described(option) for name, option in options.items()}


def _described(option: Option) -> Data:
    found: Data = {"type": option.kind, "required": option.required}
    if option.default is not None:
        found["default"] = option.default
    if option.choices:
        found["choices"] = list(option.choices)
    if option.parts:
        found["parts"] = of_class(option.parts)
    return {**found, **{key: value for key in ("description", "hosts", "address") if (value := getattr(option, key))}}


@functools.lru_cache(maxsize=100)
def _of_file(path: str) -> Options | None:
    if not os.path.isfile(path):
        return None
    with open(path, encoding="utf-8") as stream:
        given = yaml.safe_load(stream)
    return {str(key): about for key, about in (given or {}).items() if isinstance(about, Mapping)}
