# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""What is wrong with drain_methods and drain_methods_former. The whole list is checked before anything is done."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..._core import modules, plain_values
from ..._core.short_forms import suggestion
from . import catalogue, configured
from .configured import KIND, RESERVED
from .former import former_problems

WHOLE = re.compile(r"[0-9]{1,6}")
MODE = re.compile(r"[0-7]{3,4}")
TRUTHS = ("true", "false", "yes", "no")


def problems(
    methods: Any,
    former: Any,
    system: str,
    folders: Sequence[str] = (),
    places: Sequence[str] = (),
    own_folder: str = "",
    hosts: Sequence[str] | None = None,
) -> list[str]:
    """Return everything that is wrong, in words.

    C(folders) hold the methods that are tasks, C(places) are where task files are looked for, C(own_folder) is where an operator's own
    methods are, and C(hosts) are all hosts of the inventory, if they are known.
    """
    if not isinstance(methods, (list, tuple)) or not methods:
        kinds = ", ".join(catalogue.built_in(system))
        words = f"drain_methods must be a list with at least one method, and is {methods}. Methods: {kinds}."
        return [f"{words} To say that nothing needs to be done: [{{method: none}}]."]
    found = []
    for number, given in enumerate(methods, start=1):
        found += _entry(number, given, system, folders, places, own_folder, hosts)
    return [*found, *configured.problems(methods, former), *wrong_former(former, folders, places, hosts).values()]


def wrong_former(former: Any, folders: Iterable[str], places: Iterable[str], hosts: Sequence[str] | None = None) -> dict[int, str]:
    """Return by the number of a former entry what is wrong with its options."""
    if not former:
        return {}
    return former_problems(former, catalogue.known_methods(folders), [str(place) for place in places], os.path.isfile, hosts)


def _entry(number: int, given: Any, system: str, folders: Sequence[str], places: Sequence[str], own_folder: str, hosts: Sequence[str] | None) -> list[str]:
    entry = plain_values.mapping(given)
    kind = str(entry.get("method") or "")
    place = f"drain_methods, entry {number}{f' ({kind})' if kind else ''}: "
    folder = _folder(kind, system, folders)
    if folder is None:
        where = f" or a folder in {own_folder}" if own_folder else ""
        guess = suggestion(kind, [*catalogue.built_in(system), *(os.listdir(own_folder) if os.path.isdir(own_folder) else ())])
        return [place + f"method must be {', '.join(catalogue.built_in(system))}{where}{guess}."]
    outside = entry.get("outside")
    if "outside" in entry and not _is_truth(outside):
        return [place + f"outside is wrong: {outside}. It must be: true (it changes something outside the VM) or false."]
    missing = catalogue.missing_modules(kind, system)
    if missing:
        return [place + f"the controller has no {', '.join(missing)}. {modules.how_to_install(missing[0])}"]
    return [place + words for words in _options(entry, catalogue.options_of(kind, folder, system), places, hosts)]


def _folder(kind: str, system: str, folders: Sequence[str]) -> str | None:
    """Return the folder of a method, empty for one of the engine, or None where there is no such method."""
    if not KIND.fullmatch(kind):
        return None
    return "" if catalogue.runs_on_vm(kind, system) else catalogue.folder_of(kind, system, folders, catalogue.TO_DRAIN)


def _options(entry: Mapping[str, Any], known: catalogue.Options | None, places: Sequence[str], hosts: Sequence[str] | None) -> list[str]:
    if known is None:
        return []  # an operator's own method need not describe its options
    may = f" Options: {', '.join(known) or 'none'}."
    found = [f"there is no option {key}{suggestion(str(key), known)}.{may}" for key in entry if key not in RESERVED and key not in known]
    for key, about in known.items():
        if key not in entry:
            if about.get("required"):
                found.append(f"{key} is missing: {about.get('description')}{may}")
        elif not _fits(entry[key], about):
            found.append(f"{key} is wrong: {entry[key]}. It must be: {about.get('description')}")
        elif about.get("type") == "task_file" and find_task_file(entry[key], places) is None:
            found.append(f"{key}: there is no file {entry[key]} in {', '.join(places)}.")
        else:
            found += catalogue.unknown_hosts(key, entry[key], about, hosts)
    return found


def find_task_file(name: str, places: Sequence[str]) -> str | None:
    """Return the path of a task file of the user's own: an absolute one, or one below the first of these places that has it. None without a file."""
    paths = (os.path.abspath(os.path.join(place, name)) for place in (*places, ""))
    return next(filter(os.path.isfile, paths), None)


def _fits(value: Any, about: Mapping[str, Any]) -> bool:
    kind = str(about.get("type"))
    if kind not in FORMS or not FORMS[kind](value):
        return False
    if about.get("choices") is not None and value not in about["choices"]:
        return False
    return not (kind == "texts" and about.get("required") and not value)


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple))


def _is_whole(value: Any) -> bool:
    return not isinstance(value, bool) and WHOLE.fullmatch(str(value)) is not None


def _is_truth(value: Any) -> bool:
    return isinstance(value, bool) or str(value).lower() in TRUTHS


def _is_command(value: Any) -> bool:
    return bool(value.strip()) if isinstance(value, str) else _is_list(value) and bool(value)


FORMS: Mapping[str, Callable[[Any], bool]] = {
    "text": lambda value: isinstance(value, str) and bool(value),
    "whole": _is_whole,
    "truth": _is_truth,
    "mode": lambda value: isinstance(value, str) and MODE.fullmatch(value) is not None,
    "texts": lambda value: _is_list(value) and all(isinstance(item, str) and item for item in value),
    "wholes": lambda value: _is_list(value) and all(WHOLE.fullmatch(str(item)) for item in value),
    "command": _is_command,
    "mapping": lambda value: isinstance(value, Mapping) and all(isinstance(item, str) for item in value.values()),
    "task_file": lambda value: isinstance(value, str) and bool(value),
}
