# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""What is wrong with drain_methods and drain_methods_former. The whole list is checked before anything is done."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ....module_utils._scheduled_events.core.types import Values
from ....module_utils._scheduled_events.host.machine.daemons import DaemonError, host_and_port
from ..._core import modules, plain_values
from ..._core.short_forms import suggestion
from ..kinds.registry import kind_of
from ..kinds.tasks import find_task_file
from . import catalogue, configured
from .configured import KIND, OF_ANY_METHOD, RESERVED

WHOLE = re.compile(r"[0-9]{1,6}")
MODE = re.compile(r"[0-7]{3,4}")
TRUTHS = ("true", "false", "yes", "no")
# Types of options that only one of begin, check and undo uses, by the option's name.
OF_ONE_STEP = ("task_file", "command")
# Operators and redirections, as words of their own.
SHELL_WORD, WINDOWS_SHELL = re.compile(r"[|&;<>]+|[0-9]>.*"), re.compile(r"(?i)(?:.*[\\/])?(?:cmd|powershell|pwsh)(?:\.exe)?")
BLANK = re.compile(r"\s")
LONGEST = 100
LABEL = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Of a regular expression as Alertmanager takes it (RE2): an escaped character, a class of characters, what Python has and RE2 has not, and the reverse.
ESCAPED, CLASS = re.compile(r"\\(.)"), re.compile(r"\[\^?\]?[^]]*\]")
NOT_IN_RE2 = re.compile(r"\(\?(?:<?[=!]|[(>#]|P=)|[*+?}]\+|\{[0-9,]*(?!1000\b)[0-9]{4}")
# What RE2 alone has, and what says as much to Python about an empty label.
AS_PYTHON: Sequence[tuple[str, str | Callable[[re.Match[str]], str]]] = (
    (r"\\Q(.*?)(?:\\E|\Z)", lambda found: re.escape(found[1])),
    (r"\\[pP](?:\{[^}]*\}|.)|\\C|\[:\^?[a-z]+:\]", "x"),
    (r"\\z", "$"),
    (r"\(\?[a-zA-Z-]+:", "(?:"),
    (r"\(\?[a-zA-Z-]+\)", ""),
)


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
        kind = plain_values.kind(methods)
        given = f"{kind}: " if kind == plain_values.JSON else ""
        words = f"drain_methods must be a list with at least one method, and is {given}{methods}. Methods: {kinds}."
        return [f"{words} To say that nothing needs to be done: [{{method: none}}]."]
    found = []
    for number, given in enumerate(methods, start=1):
        found += _entry(number, given, system, folders, places, own_folder, hosts)
    return [*found, *configured.problems(methods, former), *wrong_former(former, folders, places, hosts).values()]


def _entry(number: int, given: Any, system: str, folders: Sequence[str], places: Sequence[str], own_folder: str, hosts: Sequence[str] | None) -> list[str]:
    entry = plain_values.mapping(given)
    kind = str(entry.get("method") or "")
    place = f"drain_methods, entry {number}{f' ({kind})' if kind else ''}: "
    folder = _folder(kind, system, folders)
    if folder is None and system == "windows" and kind in catalogue.built_in("linux"):
        return [place + f"method {kind} is not supported on Windows hosts."]
    if folder is None:
        own = os.path.join(own_folder, kind)
        if own_folder and KIND.fullmatch(kind) and kind not in catalogue.built_in(system) and os.path.isdir(own):
            return [place + f"the folder {own} has no {' or '.join(catalogue.TO_DRAIN)}, and so is no method to drain with."]
        where = f" or a folder in {own_folder}" if own_folder else ""
        guess = suggestion(kind, [*catalogue.built_in(system), *(os.listdir(own_folder) if os.path.isdir(own_folder) else ())])
        return [place + f"method must be {', '.join(catalogue.built_in(system))}{where}{guess}."]
    outside = entry.get("outside")
    if "outside" in entry and not _is_truth(outside):
        return [place + f"outside is wrong: {outside}. It must be: true (it changes something outside the VM) or false."]
    missing = catalogue.missing_modules(kind, system)
    if missing:
        return [place + f"the controller has no {', '.join(missing)}. {modules.how_to_install(missing[0])}"]
    packages = catalogue.missing_packages(kind)
    if packages:
        said = f"the Python of the controller has no package {', '.join(packages)}. To install it: {sys.executable} -m pip install {' '.join(packages)}"
        return [place + said]
    lacks = catalogue.needs_cluster(kind) and "cluster" not in entry
    alone = ["cluster is missing: a name for the cluster, the same for all its nodes, whose drains then go one after the other."] if lacks else []
    return [place + words for words in (*alone, *_options(entry, catalogue.options_of(kind, folder, system), places, hosts))]


def _folder(kind: str, system: str, folders: Sequence[str]) -> str | None:
    """Return the folder of a method, empty for one of the engine, or None where there is no such method."""
    if not KIND.fullmatch(kind):
        return None
    return "" if kind_of(kind).runs_on_vm(system) else catalogue.folder_of(kind, system, folders, catalogue.TO_DRAIN)


def _options(entry: Values, known: catalogue.Options | None, places: Sequence[str], hosts: Sequence[str] | None) -> list[str]:
    if known is None:
        return []  # an operator's own method need not describe its options
    if taken := [key for key in known if key in OF_ANY_METHOD]:
        return [f"its options.yml describes {', '.join(taken)}, which an entry of any method may have, and which its files do not get: rename it there."]
    entry, known = catalogue.flat(entry, known)
    kind, may = str(entry["method"]), f" Options: {', '.join(known) or 'none'}."
    found = [f"there is no option {key}{suggestion(str(key), [*known, *OF_ANY_METHOD])}.{may}" for key in entry if key not in RESERVED and key not in known]
    for key, about in known.items():
        if key not in entry:
            if about.get("required"):
                found.append(f"{key} is missing: {catalogue.description(kind, key, about)}{may}")
        elif not _fits(entry[key], about):
            # In place of a file people write the secret.
            given = "it is no absolute path" if about.get("type") == "path" else entry[key]
            found.append(f"{key} is wrong: {given}. It must be: {catalogue.description(kind, key, about)}")
        elif about.get("type") == "task_file" and find_task_file(entry[key], places) is None:
            found.append(f"{key}: there is no file {entry[key]} in {', '.join(places)}.")
        elif about.get("type") == "command" and (word := _shell_word(entry[key])):
            found.append(f"{key}: no shell reads it, so {word} would be an argument of the program. Put the line into a script, or into [sh, -c, '...'].")
        elif about.get("address"):
            found += _wrong_addresses(key, entry[key], about.get("default"))
        else:
            found += catalogue.unknown_hosts(key, entry[key], about, hosts)
    return found + _wrong_pair(entry, known)


def _wrong_pair(entry: Values, known: catalogue.Options) -> list[str]:
    is_alone = entry.get("username") and "password_file" in known and not entry.get("password_file")
    return ["username has no effect without password_file, the file with its password on the VM."] if is_alone else []


def _wrong_addresses(key: str, given: Any, default: Any) -> list[str]:
    """Return what is wrong with one address or several. Each must have the form of the default; an operator's own method may have none."""
    like = next(iter(texts_of(default)), "")
    words = f"is no address of a daemon; it must be like {like or 'HOST:PORT or http://HOST:PORT'}, without user, path or query."
    return [f"{key}: {address.rpartition('@')[2][:LONGEST]!r} {words}" for address in texts_of(given) if not _is_address(address, like)]


def texts_of(given: Any) -> list[str]:
    """Return the texts of an option: one, a list of them, or the values of a mapping."""
    return [given] if isinstance(given, str) else plain_values.texts(list(given.values()) if isinstance(given, Mapping) else given)


def _is_address(given: str, like: str = "HOST:PORT") -> bool:
    try:
        host_and_port(given)
    except DaemonError:
        return False
    # A daemon that is asked by HTTP is not asked by tcp://.
    given_form, form = (address.partition("://")[0].lower().removesuffix("s") if "://" in address else "" for address in (given, like))
    return BLANK.search(given) is None and (not like or given_form == form)


def _fits(value: Any, about: Values) -> bool:
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


def _is_pattern(value: Any) -> bool:
    """Return whether Alertmanager takes a text as a regular expression that an empty label does not match."""
    if not (isinstance(value, str) and value.isascii() and value.isprintable()):
        return False
    bare = CLASS.sub("x", ESCAPED.sub("x", value))
    if NOT_IN_RE2.search(bare) or any(escaped in "123456789Z" for escaped in ESCAPED.findall(value)):
        return False
    for form, instead in AS_PYTHON:
        value = re.sub(form, instead, value)
    try:
        return re.fullmatch(value, "") is None
    except (re.error, RecursionError):
        return False


def _is_truth(value: Any) -> bool:
    return isinstance(value, bool) or str(value).lower() in TRUTHS


def _is_command(value: Any) -> bool:
    return bool(value.strip()) if isinstance(value, str) else _is_list(value) and bool(value)


def _shell_word(value: Any) -> str:
    """Return a word of a text that only a shell understands, or an empty text. Quoted ones, and those of a list, are meant as they are."""
    try:
        words = shlex.split(value, posix=False) if isinstance(value, str) else []
    except ValueError:
        # A quote that does not end: what runs it says so.
        return ""
    # They take the rest of the line as it is.
    if words and WINDOWS_SHELL.fullmatch(words[0]):
        return ""
    return next((word for word in words if SHELL_WORD.fullmatch(word)), "")


FORMS: Mapping[str, Callable[[Any], bool]] = {
    "text": lambda value: isinstance(value, str) and bool(value),
    "path": lambda value: isinstance(value, str) and os.path.isabs(value),
    "address": lambda value: isinstance(value, str) and _is_address(value),
    "whole": _is_whole,
    "seconds": lambda value: _is_whole(value) and int(value) > 0,
    "label": lambda value: isinstance(value, str) and LABEL.fullmatch(value) is not None,
    "pattern": _is_pattern,
    "truth": _is_truth,
    "mode": lambda value: isinstance(value, str) and MODE.fullmatch(value) is not None,
    "texts": lambda value: _is_list(value) and all(isinstance(item, str) and item for item in value),
    "wholes": lambda value: _is_list(value) and all(WHOLE.fullmatch(str(item)) for item in value),
    "command": _is_command,
    "counts": lambda value: all(map(_is_whole, value.values())) if isinstance(value, Mapping) else _is_whole(value),
    "options": lambda value: isinstance(value, Mapping),
    "mapping": lambda value: isinstance(value, Mapping) and all(isinstance(item, str) for item in value.values()),
    "task_file": lambda value: isinstance(value, str) and bool(value),
}


# --- Entries of drain_methods_former, before an undo needs them ----------------------------------------------------------


def wrong_former(former: Any, folders: Iterable[str], places: Iterable[str], hosts: Sequence[str] | None = None) -> dict[int, str]:
    """Return by the number of a former entry what is wrong with its kind, its options or its task file, in words.

    Only what the undo uses is asked for: a former entry of method tasks needs neither begin nor check.
    """
    known = catalogue.known_methods(folders) if former else {}
    found = {}
    for number, item in enumerate(plain_values.items(former), start=1):
        given = plain_values.mapping(item)
        kind = plain_values.text(given.get("method"))
        # What is no kind is for configured.problems() to say.
        if kind is not None and KIND.fullmatch(kind) and (words := _former(kind, given, known, [str(place) for place in places], hosts)):
            found[number] = f"drain_methods_former, entry {number} ({kind}): {words}"
    return found


def _former(kind: str, given: Values, known: Mapping[str, catalogue.Options | None], places: Sequence[str], hosts: Sequence[str] | None) -> str | None:
    by_hand = plain_values.flag(given.get("by_hand")) is True
    if kind not in known and not by_hand:
        return f"there is no method {kind}; there are {', '.join(sorted(known))}, and those in drain_methods_path. Correct it, or say by_hand: true."
    options = known.get(kind) or {}
    if known.get(kind) is not None and (words := _former_options(given, options, by_hand)):
        return words
    if by_hand:
        return None
    name = plain_values.text(given.get("undo"))
    if name is not None and options.get("undo", {}).get("type") == "task_file" and find_task_file(name, places) is None:
        return f"undo: there is no file {name[:LONGEST]} in {', '.join(places)}."
    # What was changed on a host that is gone comes back by no task.
    given, options = catalogue.flat(given, options)
    unknown = [words for key, about in options.items() if key in given for words in catalogue.unknown_hosts(key, given[key], about, hosts)]
    return f"{unknown[0]} Correct it, or say by_hand: true." if unknown else None


def _former_options(given: Values, known: catalogue.Options, by_hand: bool) -> str | None:
    kind, may = str(given["method"]), f"Options: {', '.join(known) or 'none'}."
    for key in map(str, given):
        if key not in RESERVED and key not in known:
            return f"there is no option {key[:LONGEST]}. {may}"
    for key, about in known.items():
        if key in given:
            if not _fits_undo(given[key], str(about.get("type"))):
                return f"{key} is wrong: {str(plain_values.plain(given[key]))[:LONGEST]}. It must be: {catalogue.description(kind, key, about)}"
        elif about.get("required") and not by_hand and (key == "undo" or about.get("type") not in OF_ONE_STEP):
            return f"{key} is missing: {catalogue.description(kind, key, about)} {may}"
    return None


def _fits_undo(value: Any, kind: str) -> bool:
    """Return whether a value has the form that the undo can use. Numbers and the like are the method's to read."""
    if kind in ("text", "path", "address", "task_file"):
        return isinstance(value, str) and (kind != "task_file" or bool(value))
    if kind == "texts":
        return len(plain_values.texts(value)) == len(plain_values.items(value)) and not isinstance(value, (str, Mapping))
    return isinstance(value, Mapping) if kind in ("mapping", "options") else True
