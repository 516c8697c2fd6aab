# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The notification targets (C(respond_notify), C(respond_notify_failures)), each a name and a URL of apprise. No message has a URL: it is a secret."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..._core import plain_values
from ..._core.wrong_input import WrongInput

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,29}")
SCHEME = re.compile(r"([a-z][a-z0-9]{0,19})://")
# A whole URL by reference, and a part of one in braces.
WHOLE = re.compile(r"(file|env):(?!//)(.+)")
PART = re.compile(r"\{(file|env):([^{}]+)\}")
# The record of an event keeps what each of them was told.
MOST = 8


class NotifyTarget(NamedTuple):
    """Where people are told."""

    name: str
    url: str
    """The URL, which may refer to files and variables of the environment."""


def load(option: str, given: Any) -> list[NotifyTarget]:
    """Check the targets of an option. Raise WrongInput, without any URL."""
    given = [given] if isinstance(given, (str, Mapping)) and given else given
    if given and not isinstance(given, (list, tuple)):
        raise WrongInput(f"{option} must be a list of URLs, or of dictionaries with name and url")
    found: list[NotifyTarget] = []
    for number, entry in enumerate(given or (), 1):
        about = entry if isinstance(entry, Mapping) else {"url": entry}
        url, name = plain_values.text(about.get("url")), plain_values.text(about.get("name"))
        scheme = SCHEME.match(url or "")
        if not url or set(about) - {"name", "url"} or not (scheme or WHOLE.fullmatch(url)):
            raise WrongInput(f"{option}: entry {number} must be a URL of apprise, file:PATH or env:NAME, or a dictionary with such a url and a name")
        name = name or _free(scheme[1] if scheme else "target", [one.name for one in found])
        if not NAME.fullmatch(name) or name in [one.name for one in found]:
            raise WrongInput(f"{option}: the name of entry {number} must be its own, of at most 30 letters, digits, dots, hyphens and underscores")
        found.append(NotifyTarget(name, url))
    if len(found) > MOST:
        raise WrongInput(f"{option} has {len(found)} targets; {MOST} is the most")
    return found


def _free(name: str, taken: list[str]) -> str:
    return next(one for one in (name, *(f"{name}{number}" for number in range(2, 99))) if one not in taken)
