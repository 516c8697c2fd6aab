# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""Tombstones: an event is over on this VM and its record is removed. A replica of the record that appears later restores nothing.

One file for each event, replaced atomically, written before the record is removed. They outlive the replicas.
"""

from __future__ import annotations

import re

from ..core.types import Data
from ..host.files import Folder
from ..host.system import seconds_between
from .record_encoding import Reading, load, read_each, replace_file
from .record_schema import Record, Unreadable, event_id_of, stem
from .replicas import LONGEST_SECONDS

FORMAT = 1
FILE_NAME = re.compile(r"tombstone-event-[a-z0-9-]{1,80}\.json")
# A day more than the replicas.
KEPT_SECONDS = LONGEST_SECONDS + 86400.0

Tombstone = Data


def tombstone_name(event_id: str) -> str:
    """Return the name of a tombstone's file."""
    return f"tombstone-{stem(event_id)}.json"


class Tombstones(Folder):
    """All tombstones on one VM."""

    def read_all(self) -> Reading:
        """Read every tombstone that can be read, in the order of their names."""
        return read_each(self.files, self._names(FILE_NAME), self._read, "The file {} in {} is not a usable tombstone: it {}. Remove it.")

    def _read(self, name: str) -> Tombstone:
        data = load(self.files.read(name))
        if not isinstance(data, dict) or data.get("format") != FORMAT or not isinstance(data.get("event_id"), str) or not isinstance(data.get("at"), str):
            raise Unreadable("holds no tombstone that this version of the collection knows")
        if tombstone_name(data["event_id"]) != name:
            raise Unreadable("belongs to another event than its name says")
        vm_id = data.get("vm_id")
        return {"event_id": data["event_id"], "vm_id": vm_id if isinstance(vm_id, str) and vm_id else None, "at": data["at"]}

    def write(self, record: Record) -> None:
        """Write a tombstone for the record, if it has changes outside the VM. Other records have no replicas and need none."""
        if any(method.get("outside") is True for method in record["methods"]):
            content = {"format": FORMAT, "event_id": event_id_of(record), "vm_id": record["vm_id"], "at": self.host.now()}
            replace_file(self.files, tombstone_name(event_id_of(record)), content, "The tombstone")

    def prune(self, check_mode: bool = False) -> None:
        """Remove the tombstones that outlived every replica. Keep all if the clock went back."""
        for name in self._names(FILE_NAME):
            try:
                age = seconds_between(self._read(name)["at"], self.host.now())
                if age is not None and age > KEPT_SECONDS and not check_mode:
                    self.files.unlink(name)
            except (OSError, Unreadable):
                continue
