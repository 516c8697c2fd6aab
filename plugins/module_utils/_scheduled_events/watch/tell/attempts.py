# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""When a message is sent again: pauses that double, with jitter, kept across restarts of the teller within one boot, for one destination
and the settings as they are now."""

from __future__ import annotations

import json
import typing as t

from ...core.bounded_json import load_bounded
from ..shared_folder import SharedFolder

NAME = "attempts.json"
# After a failed delivery the receiver rests: 1 s, doubled up to five minutes.
SHORTEST_PAUSE, LONGEST_PAUSE = 1.0, 300.0
# An accepted message that no record confirms is repeated after a minute, later after up to 15 minutes.
SHORTEST_REPEAT, LONGEST_REPEAT = 60.0, 900.0
RECEIVER = "receiver"


class Attempt(t.NamedTuple):
    """How often, and when again: seconds of the boot's clock."""

    times: int = 0
    due: float = 0.0


class Attempts:
    """The attempts for each accepted message, and for the receiver as a whole."""

    def __init__(self, folder: SharedFolder, valid_for: t.Sequence[str | None], jitter: t.Callable[[], float], now: float) -> None:
        self._folder = folder
        # Where no boot id is known (Windows), what is due later than any pause lasts is of an earlier boot.
        self._latest = now + max(LONGEST_PAUSE, LONGEST_REPEAT)
        # The clock begins anew with a boot, one receiver's pause says nothing about another, and a corrected secret is used at once.
        self._valid_for = list(valid_for)
        self._jitter = jitter
        self._known = self._read()

    def due(self, key: str) -> float:
        """Return when the next attempt is due; 0 where none was made."""
        return self._known.get(key, Attempt()).due

    def failed(self, now: float) -> None:
        """Note that the receiver did not take a message."""
        self._postpone(RECEIVER, now, SHORTEST_PAUSE, LONGEST_PAUSE)

    def accepted(self, message_id: str, now: float) -> None:
        """Note that the receiver took a message; it is repeated all the same until a record confirms it."""
        self._known.pop(RECEIVER, None)
        self._postpone(message_id, now, SHORTEST_REPEAT, LONGEST_REPEAT)

    def keep_only(self, keys: t.Container[str]) -> None:
        """Forget messages that are no longer in the spool."""
        self._known = {key: attempt for key, attempt in self._known.items() if key == RECEIVER or key in keys}

    def write(self) -> None:
        """Keep the attempts. Raise OSError."""
        content = {"valid_for": self._valid_for, "attempts": {key: list(attempt) for key, attempt in self._known.items()}}
        self._folder.write(NAME, json.dumps(content).encode("ascii"), durable=False)

    def _postpone(self, key: str, now: float, shortest: float, longest: float) -> None:
        times = self._known.get(key, Attempt()).times + 1
        # Between half of the pause and all of it, so that a fleet does not come back in one moment.
        pause = min(shortest * 2.0 ** min(times - 1, 20), longest) * (0.5 + 0.5 * self._jitter())
        self._known[key] = Attempt(times, now + pause)

    def _read(self) -> dict[str, Attempt]:
        try:
            data = load_bounded(self._folder.read(NAME).decode("utf-8"), lambda digits: None)
            if data["valid_for"] != self._valid_for:
                return {}
            found = {str(key): Attempt(int(times), float(due)) for key, (times, due) in data["attempts"].items()}
            return {key: attempt for key, attempt in found.items() if attempt.due <= self._latest}
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError):
            return {}  # missing or damaged: every message is due at once
