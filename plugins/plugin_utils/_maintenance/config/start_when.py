# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""What keeps all from beginning that is not at its deadline: the pause of the whole fleet (C(respond_paused)), who paused it, why, and until when; and the
start gate (C(respond_start_when)), what is asked, and the answer as data.

Asking is not done here: the plan gets the answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict
from urllib.parse import urlsplit

from ....module_utils._scheduled_events.core.types import Values
from ..._core import plain_values
from ..._core.short_forms import suggestion
from ..._core.wrong_input import WrongInput
from ..core import timestamps
from ..core.blocker import Blocker

PAUSE_KEYS = ("who", "why", "until")
WRITE_PAUSE = "Write respond_paused: {who: alice, why: release night, until: '2026-11-25T06:00:00Z'}, or remove it for no pause"
# A date alone would end the pause at the first second of that day, which is hardly what its author means.
WITH_TIME = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}.*")
WAY_OUT = "remove respond_paused"


@dataclass(frozen=True)
class Pause:
    """A pause of the whole fleet. C(until) is in seconds since 1970."""

    who: str
    why: str
    until: float

    def holds(self, now: float) -> bool:
        """Return whether the fleet is paused at this time."""
        return now < self.until

    @property
    def ends(self) -> str:
        """Return the end, for operators."""
        return timestamps.to_the_second(self.until)

    @property
    def text(self) -> str:
        """Return the reason for operators and records."""
        return f"paused by {self.who} until {self.ends}: {self.why}"

    @property
    def line(self) -> str:
        """Return the sentences that every report begins with."""
        return f"P{self.text[1:].rstrip('.')}. No drain and no approval begins, except a drain at its deadline. Next: {WAY_OUT}."

    @property
    def hold(self) -> Blocker:
        """Return the blocker of events."""
        return Blocker("paused", self.text, subjects=(self.who, self.ends), way_out=WAY_OUT, retry_at=self.until)


def load_pause(value: Any) -> Pause | None:
    """Load a pause; return None for an empty value. Raise WrongInput."""
    if value is None or value in ("", {}):
        return None
    if not isinstance(value, Mapping):
        raise WrongInput(f"respond_paused must be a dictionary with {', '.join(PAUSE_KEYS)}, not {plain_values.plain(value)!r}. {WRITE_PAUSE}")
    source = plain_values.plain(value)
    if unknown := [f"{key}{suggestion(key, PAUSE_KEYS)}" for key in sorted(source) if key not in PAUSE_KEYS]:
        raise WrongInput(f"respond_paused has the unknown key {', '.join(unknown)}; there are {', '.join(PAUSE_KEYS)}. {WRITE_PAUSE}")
    if missing := [key for key in PAUSE_KEYS if not (plain_values.text(source.get(key)) or "").strip()]:
        raise WrongInput(f"respond_paused lacks {' and '.join(missing)}. {WRITE_PAUSE}")
    who, why, until = ((plain_values.text(source[key]) or "").strip() for key in PAUSE_KEYS)
    moment = timestamps.parse(until) if WITH_TIME.fullmatch(until) else None
    if moment is None:
        raise WrongInput(f"respond_paused: until must be a time in UTC such as 2026-11-25T06:00:00Z, not {source['until']!r}. {WRITE_PAUSE}")
    return Pause(who, why, moment)


KINDS = ("url", "command", "prometheus")
KEYS = (*KINDS, "timeout")
OF_PROMETHEUS = ("url", "query")
# A drain at its deadline waits for an answer to another event's question at most this long: no longer than the margin before NotBefore.
DEFAULT_SECONDS, MOST_SECONDS = 10.0, 30.0
# An answer counts for so many seconds, and where it is no, the gate is asked again after them.
ASK_SECONDS = 60.0
WRITE = "Write for example respond_start_when: {url: 'https://release.example/may-start'}, or remove it"
NAME = "the start gate (respond_start_when)"


class StartWhen(TypedDict):
    """A checked start gate: exactly one of the first three is set."""

    url: str
    command: list[str]
    prometheus: dict[str, str]
    timeout: float


def load(value: Any) -> StartWhen | None:
    """Load a start gate; return None for an empty value. Raise WrongInput."""
    if value is None or value in ("", {}):
        return None
    if not isinstance(value, Mapping):
        raise _error(f" must be a dictionary with one of {', '.join(KINDS)}, not {plain_values.plain(value)!r}")
    source = plain_values.plain(value)
    _known(source, KEYS, "")
    given = [kind for kind in KINDS if source.get(kind) not in (None, "")]
    if len(given) != 1:
        raise _error(f" needs exactly one of {', '.join(KINDS)}, and has {' and '.join(given) or 'none of them'}")
    return {
        "url": _url(source["url"], "url") if given == ["url"] else "",
        "command": _words(source["command"]) if given == ["command"] else [],
        "prometheus": _prometheus(source["prometheus"]) if given == ["prometheus"] else {},
        "timeout": _seconds(source.get("timeout")),
    }


def answer(value: Any) -> Blocker | None:
    """Return what an answer of the start gate holds: nothing where it is yes, or where there is none. C(value) has C(go) and C(text)."""
    given = plain_values.mapping(value)
    if not given or given.get("go") is True:
        return None
    text = plain_values.text(given.get("text")) or "no reason given"
    return Blocker("start_gate", f"{NAME} says no", detail=f"start gate says no: {text}", way_out="see why the start gate (respond_start_when) says no")


def _error(text: str) -> WrongInput:
    return WrongInput(f"respond_start_when{text}. {WRITE}")


def _known(source: Values, keys: Sequence[str], where: str) -> None:
    if unknown := [f"{key}{suggestion(key, keys)}" for key in sorted(source) if key not in keys]:
        raise _error(f"{where} has the unknown key {', '.join(unknown)}; there are {', '.join(keys)}")


def _url(given: Any, name: str) -> str:
    text = given.strip() if isinstance(given, str) else ""
    try:
        parts = urlsplit(text)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        usable = False
    # Blanks and control characters are no part of an address, and would end up in messages.
    if not usable or not text.isprintable() or " " in text:
        raise _error(f": {name} must be an address such as https://release.example/may-start, not {given!r}")
    return text


def _words(given: Any) -> list[str]:
    words = [word if isinstance(word, str) else str(word) for word in plain_values.items(given) if isinstance(word, (str, int, float))]
    is_list = len(words) == len(plain_values.items(given)) and not any(isinstance(word, bool) for word in plain_values.items(given))
    if not words or not is_list or not words[0].strip() or any("\0" in word for word in words):
        raise _error(f": command must be a list of words such as [/usr/local/bin/may-start, web], because no shell reads it, not {given!r}")
    return words


def _prometheus(given: Any) -> dict[str, str]:
    if not isinstance(given, Mapping):
        raise _error(f": prometheus must be a dictionary with {' and '.join(OF_PROMETHEUS)}, not {given!r}")
    _known(given, OF_PROMETHEUS, ": prometheus")
    query = given.get("query")
    if not isinstance(query, str) or not query.strip():
        raise _error(f": prometheus needs a query such as 'min(up{{job=\"web\"}}) == bool 1', not {query!r}")
    return {"url": _url(given.get("url"), "prometheus, url"), "query": query.strip()}


def _seconds(given: Any) -> float:
    if given in (None, ""):
        return DEFAULT_SECONDS
    seconds = plain_values.number(given)
    if seconds is None or not 0 < seconds <= MOST_SECONDS:
        raise _error(f": timeout must be a number of seconds, more than 0 and at most {MOST_SECONDS:g}, not {given!r}")
    return seconds
