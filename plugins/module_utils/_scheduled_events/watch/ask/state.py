# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""The state of the asker: one small file in memory (/run), by which others see that it is alive and what it sees. It never holds a credential."""

from __future__ import annotations

import json
import typing as t

from ...core.printable_text import printable
from ...core.types import Data
from ...host.system import Host
from ...host.watcher_state import FORMAT, HEARTBEAT_SECONDS, NAME
from ...imds.document import Event
from ..shared_folder import SharedFolder

SHOWN = ("event_id", "event_type", "event_status", "not_before", "affects_this_vm")


class State:
    """Counts since the start, and what is written of them."""

    def __init__(self, folder: SharedFolder, host: Host) -> None:
        self._folder = folder
        self._host = host
        self._written_at: float | None = None
        self.values: Data = {
            "format": FORMAT,
            "boot_id": host.boot_id(),
            "started_at": host.now(),
            "requests": 0,
            "answers": 0,
            "answered_at": None,
            "problem": None,
            "problem_since": None,
            "vm_name": None,
            "document_incarnation": None,
            "events": [],
            "messages_waiting": 0,
            "messages_dropped": 0,
        }

    def answered(self, incarnation: int | None, events: t.Sequence[Event]) -> bool:
        """Note an answer. Return whether it says anything new."""
        before = (self.values["document_incarnation"], self.values["events"])
        shown = [{key: event.get(key) for key in SHOWN} for event in events]
        self.values.update(document_incarnation=incarnation, events=shown, answered_at=self._host.now())
        self.values["answers"] += 1
        return before != (incarnation, shown)

    def works(self) -> bool:
        """Note that everything works. Return whether it did not before."""
        worked = self.values["problem"] is None
        self.values.update(problem=None, problem_since=None)
        return not worked

    def failed(self, problem: str) -> bool:
        """Note a request without a usable answer, or anything else that does not work. Return whether it worked before."""
        first = self.values["problem"] is None
        if first:
            self.values["problem_since"] = self._host.now()
        self.values["problem"] = printable(problem)
        return first

    def is_old(self, now: float) -> bool:
        """Return whether the last heartbeat is so long ago that another one is due. ``now`` is of a clock that never jumps."""
        return self._written_at is None or now - self._written_at >= HEARTBEAT_SECONDS

    def write(self, now: float) -> None:
        """Write the file. Raise OSError."""
        content = dict(self.values, at=self._host.now(), uptime=self._host.uptime_seconds())
        self._folder.write(NAME, json.dumps(content, sort_keys=True).encode("ascii") + b"\n", durable=False)
        self._written_at = now
