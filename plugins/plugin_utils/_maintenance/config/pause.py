# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pause of the whole fleet (C(respond_paused)): who paused it, why, and until when."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..._core import plain_values
from ..._core.short_forms import suggestion
from ..core import timestamps
from .start_hold import StartHold

KEYS = ("who", "why", "until")
WRITE = "Write respond_paused: {who: alice, why: release night, until: '2026-11-25T06:00:00Z'}, or remove it for no pause"
# A date alone would end the pause at the first second of that day, which is hardly what its author means.
WITH_TIME = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}.*")
WAY_OUT = "remove respond_paused"


class PauseError(ValueError):
    """A pause that cannot be used; the message says what is wrong and what to write."""


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
    def hold(self) -> StartHold:
        """Return the blocker of events."""
        return StartHold(self.text, self.text, WAY_OUT, self.until)


def load(value: Any) -> Pause | None:
    """Load a pause; return None for an empty value. Raise PauseError."""
    if value is None or value in ("", {}):
        return None
    if not isinstance(value, Mapping):
        raise PauseError(f"respond_paused must be a dictionary with {', '.join(KEYS)}, not {plain_values.plain(value)!r}. {WRITE}")
    source = plain_values.plain(value)
    if unknown := [f"{key}{suggestion(key, KEYS)}" for key in sorted(source) if key not in KEYS]:
        raise PauseError(f"respond_paused has the unknown key {', '.join(unknown)}; there are {', '.join(KEYS)}. {WRITE}")
    if missing := [key for key in KEYS if not (plain_values.text(source.get(key)) or "").strip()]:
        raise PauseError(f"respond_paused lacks {' and '.join(missing)}. {WRITE}")
    who, why, until = ((plain_values.text(source[key]) or "").strip() for key in KEYS)
    moment = timestamps.parse(until) if WITH_TIME.fullmatch(until) else None
    if moment is None:
        raise PauseError(f"respond_paused: until must be a time in UTC such as 2026-11-25T06:00:00Z, not {source['until']!r}. {WRITE}")
    return Pause(who, why, moment)
