# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""The schema of a record, for the VM that keeps it and the controller that reads it: its keys, their kinds, and the names of its files."""

from __future__ import annotations

import hashlib
import re
import typing as t

from ..core.errors import ScheduledEventsError, cannot_write
from ..core.types import Data, Values

FORMAT = 1

# A record: the journal of one event on one VM, also with the keys that a newer version wrote. Times are texts by the VM's clock.
Record = Data

# The kind of each key. Checks, repair and the controller's reading use these tables; a new key is added here.
# text, time (a text that is a time), whole (a number), flag, object, texts (a list); the others are named by their key.
RECORD_KINDS: t.Mapping[str, str] = {
    "format": "whole",
    "revision": "whole",
    "event": "event",
    "phase": "phase",
    "reason": "text",
    "blocker": "object",
    "history": "history",
    "vm_id": "text",
    "vm_name": "text",
    "boot_id": "text",
    "rule": "object",
    "decision": "decision",
    "attempts": "whole",
    "deadline": "time",
    "verified_at": "time",
    "approving_at": "time",
    "approved_at": "time",
    "started_at": "time",
    "missing_since": "time",
    "undone": "flag",
    "told": "texts",
    "untold": "object",
    "outcome": "text",
    "watcher": "text",
    "methods": "methods",
}
# not_before is no time here: it stays as Azure wrote it.
EVENT_KINDS: t.Mapping[str, str] = {
    "event_id": "text",
    "event_type": "text",
    "event_status": "text",
    "event_source": "text",
    "not_before": "text",
    "description": "text",
    "resources": "texts",
    "duration_in_seconds": "whole",
}
# before: what the method found before it acted, its finding. error_kind: BY_HAND, or null. times: when it entered each state of its present drain.
METHOD_KINDS: t.Mapping[str, str] = {
    "id": "text",
    "method": "text",
    "options": "object",
    "before": "object",
    "state": "state",
    "boot_id": "text",
    "at": "time",
    "times": "object",
    "error": "text",
    "error_kind": "text",
    "outside": "flag",
}
# The kinds of a blocker for which a drain waits: a method has not begun, and may later; and too few others would serve without the VM.
NOT_YET, NEEDED = "not_yet", "needed"
# The kind of a method's error: it cannot be undone from here, and an operator has to.
BY_HAND = "by_hand"
# why: of held and failed, the last reason. not_before: of the first, as the event had it then; it has none once it has started. Others have no such key.
HISTORY_KINDS: t.Mapping[str, str] = {"phase": "phase", "at": "time", "why": "text", "not_before": "text"}

# found: the method has not acted yet, according to the record. begun: it may have acted. undoing: its undo may have acted.
METHOD_STATES = ("found", "begun", "drained", "failed", "undoing", "undone")


def keys_of(kinds: t.Mapping[str, str], *wanted: str) -> tuple[str, ...]:
    """Return the keys of these kinds, in the order of the table."""
    return tuple(key for key, kind in kinds.items() if kind in wanted)


EVENT_KEYS = tuple(EVENT_KINDS)
METHOD_KEYS = tuple(METHOD_KINDS)
STAMPS = keys_of(RECORD_KINDS, "time")
TEXT_KEYS = keys_of(RECORD_KINDS, "text", "time")
# The VM's own watcher began the record; UNSEEN until a controller's run has written that it knows of it. None: a run began it.
UNSEEN, SEEN = "unseen", "seen"
# Internal: the writes that this revision builds on, newest last. See RecordStore.write.
LINEAGE = "lineage"
LINEAGE_LENGTH = 32

PLAIN_ID = re.compile(r"[A-Za-z0-9-]{1,64}")
FILE_NAME = re.compile(r"(event-[a-z0-9-]{1,80})\.([1-9][0-9]{0,8})\.json")
FOREIGN = "foreign-"
# The kind of an error: nothing can be written.
NOT_WRITTEN = "not_written"
# The kind of an error: another writer was faster.
CONFLICT = "conflict"
UNREADABLE = "unreadable-"


class RecordsError(ScheduledEventsError):
    """The records cannot be read or written as asked; kind is records, not_written or conflict."""

    def __init__(self, message: str, kind: str = "records", record: Record | None = None) -> None:
        super().__init__(message, kind)
        self.record = record

    @property
    def conflict(self) -> bool:
        """Return whether another writer was faster."""
        return self.kind == CONFLICT


def not_written(where: str, error: Exception) -> RecordsError:
    """Return the error for a folder in which nothing can be written. It names no file, so that equal causes on many VMs are shown once."""
    return RecordsError(cannot_write(where, error), NOT_WRITTEN)


class Unreadable(ValueError):
    """A file holds no record; the message completes "the file ...", as in "is not JSON"."""


def stem(event_id: str) -> str:
    """Return the file name up to the revision. Ids compare without case. Hash an unusual id, to a name longer than that of any plain id."""
    wanted = event_id.strip()
    if PLAIN_ID.fullmatch(wanted):
        return "event-" + wanted.lower()
    digest = hashlib.sha256(wanted.lower().encode("utf-8", "surrogatepass")).hexdigest()
    return "event-hashed-" + digest


def file_name(event_id: str, revision: int) -> str:
    """Return the name of one revision of one event's record."""
    return revision_name(stem(event_id), revision)


def revision_name(one: str, revision: int) -> str:
    """Return the name of one revision, from the stem."""
    return f"{one}.{revision}.json"


def split_name(name: str) -> tuple[str, int] | None:
    """Return stem and revision of a record's file, or None for any other file."""
    found = FILE_NAME.fullmatch(name)
    return (found.group(1), int(found.group(2))) if found else None


def shorten(value: t.Any) -> str:
    """Return any value as text for a message, of limited length even where it is hostile."""
    return repr(value)[:100]


def empty_record(event_id: str) -> Record:
    """Return a record with every key, before anything is known."""
    event: Data = dict.fromkeys(EVENT_KEYS)
    event.update(event_id=event_id, resources=[])
    record: Record = dict.fromkeys(RECORD_KINDS)
    record.update(format=FORMAT, revision=0, event=event, phase="noticed", attempts=0, undone=False)
    for key in keys_of(RECORD_KINDS, "history", "texts", "methods"):
        record[key] = []
    return record


def empty_method(identifier: str) -> Data:
    """Return a drain method with every key, before anything is known of it."""
    method: Data = dict.fromkeys(METHOD_KEYS)
    method["id"] = identifier
    return method


def event_id_of(record: Values) -> str:
    """Return the id as Azure wrote it."""
    return str(record["event"]["event_id"])


def public(record: Record) -> Record:
    """Return a record as operators and roles get it: without the keys that only the store needs."""
    return {key: value for key, value in record.items() if key != LINEAGE}
