# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wrong with an entry of drain_methods_former, before an undo needs it: its kind, its options, its task file.

Only what the undo uses is asked for: a former entry of method tasks needs neither begin nor check.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..._core import plain_values
from .catalogue import unknown_hosts
from .configured import KIND, RESERVED

# Types of options that only one of begin, check and undo uses, by the option's name.
OF_ONE_STEP = ("task_file", "command")
LONGEST = 100

Options = Mapping[str, Mapping[str, Any]]


def former_problems(
    former: Any, known: Mapping[str, Options | None], places: Sequence[str], is_file: Callable[[str], bool], hosts: Sequence[str] | None = None
) -> dict[int, str]:
    """By the number of the entry what is wrong with it, in words. C(known) has each kind's options, or None where they are not described."""
    found = {}
    for number, item in enumerate(plain_values.items(former), start=1):
        given = plain_values.mapping(item)
        kind = plain_values.text(given.get("method"))
        if kind is None or not KIND.fullmatch(kind):
            continue  # configured.problems() says it
        by_hand = plain_values.flag(given.get("by_hand")) is True
        options = known.get(kind)
        words = _unknown_kind(kind, known, by_hand) or _options(given, options, by_hand)
        if words is None and not by_hand:
            words = _file(given, options, places, is_file) or _hosts(given, options or {}, hosts)
        if words is not None:
            found[number] = f"drain_methods_former, entry {number} ({kind}): {words}"
    return found


def _unknown_kind(kind: str, known: Mapping[str, Any], by_hand: bool) -> str | None:
    if kind in known or by_hand:
        return None
    return f"there is no method {kind}; there are {', '.join(sorted(known))}, and those in drain_methods_path. Correct it, or say by_hand: true."


def _options(given: Mapping[str, Any], known: Options | None, by_hand: bool) -> str | None:
    if known is None:
        return None
    may = f"Options: {', '.join(known) or 'none'}."
    for key in map(str, given):
        if key not in RESERVED and key not in known:
            return f"there is no option {key[:LONGEST]}. {may}"
    for key, about in known.items():
        if key in given:
            if not _fits(given[key], str(about.get("type"))):
                return f"{key} is wrong: {str(plain_values.plain(given[key]))[:LONGEST]}. It must be: {about.get('description')}"
        elif about.get("required") and not by_hand and (key == "undo" or about.get("type") not in OF_ONE_STEP):
            return f"{key} is missing: {about.get('description')} {may}"
    return None


def _fits(value: Any, kind: str) -> bool:
    """Whether a value has the form that the undo can use. Numbers and the like are the method's to read."""
    if kind in ("text", "task_file"):
        return isinstance(value, str) and (kind == "text" or bool(value))
    if kind == "texts":
        return len(plain_values.texts(value)) == len(plain_values.items(value)) and not isinstance(value, (str, Mapping))
    if kind == "mapping":
        return isinstance(value, Mapping)
    return True


def _hosts(given: Mapping[str, Any], known: Options, hosts: Sequence[str] | None) -> str | None:
    """Return which host of the entry is unknown, and the way out: what was changed on a host that is gone comes back by no task."""
    found = [words for key, about in known.items() if key in given for words in unknown_hosts(key, given[key], about, hosts)]
    return f"{found[0]} Correct it, or say by_hand: true." if found else None


def _file(given: Mapping[str, Any], known: Options | None, places: Sequence[str], is_file: Callable[[str], bool]) -> str | None:
    about = (known or {}).get("undo", {})
    name = plain_values.text(given.get("undo"))
    if about.get("type") != "task_file" or name is None:
        return None
    # An absolute path stays as it is, also behind a place.
    if any(is_file(name if name.startswith("/") else f"{place}/{name}") for place in places):
        return None
    return f"undo: there is no file {name[:LONGEST]} in {', '.join(places)}."
