# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the watcher has on a guest's disk, read from outside: also while the guest is frozen or off."""

from __future__ import annotations

import json
import pathlib
import typing as t

from ..lab.guest import Guest

MESSAGE = "[0-9]*-*.*"


class Disk:
    """The records and the spool of one guest."""

    def __init__(self, guest: Guest) -> None:
        self.records = guest.root / "var/lib/azure-maintenance"
        self.spool = guest.root / "var/lib/azure-maintenance-watch"

    def record(self, event_id: str) -> dict[str, t.Any]:
        """The newest revision of an event's record; empty where there is none."""
        found = self.records.glob(f"event-{event_id.lower()}.*.json")
        for path in sorted(found, key=lambda path: int(path.name.split(".")[-2]), reverse=True):
            if content := read(path):
                return content
        return {}

    def messages(self, event_id: str) -> list[tuple[str, str]]:
        """What the spool holds of an event, in order: listed, changed or gone, and whether it is waiting or accepted."""
        found = []
        for path in sorted(self.spool.glob(MESSAGE)):
            content = read(path)
            if content.get("subject", "").lower() == event_id.lower():
                found.append((content["type"].rpartition(".")[2], path.suffix.lstrip(".")))
        return found


def read(path: pathlib.Path) -> dict[str, t.Any]:
    """The content; empty where the guest has removed the file since it was listed."""
    try:
        content: dict[str, t.Any] = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    return content
