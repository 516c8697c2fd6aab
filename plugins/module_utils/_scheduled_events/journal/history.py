# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""The history of a VM: a small entry for each event whose record was removed, in a folder of its own, so that an observation never reads it.

An entry is written before its record is removed, under a name that follows from the event: whatever is killed in between, and written twice, both are one
event. It has times and names, and nothing that an undo needs. An archive keeps entries of other VMs in the same form, a folder for each VM.
"""

from __future__ import annotations

import json
import re
import typing as t

from ..core.limits import FILE_BYTES, METHODS
from ..core.types import Data, Values
from ..host.files import TEMPORARY, Files, Folder
from ..host.system import Host, utc_seconds
from .history_limits import MOST, Limits
from .record_encoding import Reading, bounded_history, load, read_each, repaired_history, replace_file, short_text, whole_within
from .record_schema import EVENT_KEYS, METHOD_STATES, Record, RecordsError, Unreadable, shorten, stem
from .transitions import PHASES

FORMAT = 1
FOLDER = "history"
FILE_NAME = re.compile(r"event-[a-z0-9-]{1,80}\.json")
DAY, NEVER = 86400.0, float("-inf")
# Of one entry: names of resources, characters of a text, entries of the history of its phases.
NAMES, LONGEST, FIRST, LAST = 50, 300, 20, 40
TEXTS = ("phase", "outcome", "reason", "vm_id", "vm_name", "watcher", "approving_at", "approved_at", "started_at", "missing_since")

# An entry, as its file has it.
Entry = Data


def entry_of(record: Record) -> Entry:
    """Return the entry of a record: what it says of times, names, rules and methods, each of limited length."""
    event, history = record["event"], record["history"]
    rule, decision = record.get("rule") or {}, record.get("decision") or {}
    found: Entry = {key: _short(record.get(key)) for key in TEXTS}
    found["format"] = FORMAT
    found["event"] = {key: whole_within(event.get(key), -(10**9), 10**9) if key == "duration_in_seconds" else _short(event.get(key)) for key in EVENT_KEYS}
    names = [_short(name) for name in event.get("resources") or () if isinstance(name, str)]
    found["event"].update(event_id=event["event_id"], resources=names[:NAMES])
    found["resources_count"] = len(names)
    found["rule"] = {"name": _short(rule.get("name")), "approve": _short(rule.get("approve"))}
    found["decision"] = {key: _short(decision.get(key)) for key in ("action", "who", "why", "at")} if decision else None
    found["attempts"] = whole_within(record.get("attempts"), 0, 10**9) or 0
    found["history"] = repaired_history(bounded_history(history, FIRST, LAST))
    found["methods"] = [_method(method) for method in record["methods"][:METHODS]]
    found["ended_at"] = history[-1]["at"] if history else None
    return found


def _method(method: Values) -> Data:
    times = method.get("times") or {}
    found: Data = {key: _short(method.get(key)) for key in ("id", "method", "state", "at", "error")}
    return {**found, "outside": method.get("outside") is True, "times": {state: _short(times[state]) for state in METHOD_STATES if state in times}}


def _short(value: t.Any) -> str | None:
    text = short_text(value)
    return text if text is None else text[:LONGEST]


def checked(data: t.Any) -> Entry:
    """Return an entry that was read or given, with every key and within all limits. Raise Unreadable for what is none."""
    if not isinstance(data, dict) or data.get("format") != FORMAT or not isinstance(data.get("event"), dict):
        raise Unreadable("holds no entry that this version of the collection knows")
    if not isinstance(data["event"].get("event_id"), str) or data.get("phase") not in PHASES:
        raise Unreadable("names no event, or an unknown phase")
    lists = [data.get(key) for key in ("history", "methods")]
    if not all(isinstance(items, list) and all(isinstance(item, dict) for item in items) for items in lists):
        raise Unreadable("has no list of phases or methods")
    if not all(item.get("phase") in PHASES and isinstance(item.get("at"), str) for item in data["history"]):
        raise Unreadable("has a history without phases and times")
    objects: Data = {key: data.get(key) if isinstance(data.get(key), dict) else {} for key in ("rule", "decision")}
    resources = data["event"].get("resources")
    event = {**data["event"], "resources": resources if isinstance(resources, list) else []}
    methods = [{**method, "times": method.get("times") if isinstance(method.get("times"), dict) else {}} for method in data["methods"]]
    found = entry_of({**data, **objects, "event": event, "methods": methods})
    found["resources_count"] = whole_within(data.get("resources_count"), 0, 10**6) or found["resources_count"]
    return found


class History(Folder):
    """The history of one VM, in a folder of its own: on that VM, or in an archive."""

    def __init__(self, files: Files, host: Host, limits: Limits) -> None:
        super().__init__(files, host)
        self.limits = limits

    def read_all(self) -> Reading:
        """Read every entry, oldest first. What cannot be read is a problem, and hides no other entry. Raise OSError where the folder itself cannot be read."""
        names = filter(FILE_NAME.fullmatch, self._list())
        problem = "The file {} in {} is no usable entry of the history: it {}. Remove it."
        entries, problems = read_each(self.files, names, lambda name: self._read(name)[0], problem)
        return Reading(sorted(entries, key=lambda entry: entry["ended_at"] or ""), problems)

    def _read(self, name: str) -> tuple[Entry, int]:
        content = self.files.read(name)
        entry = checked(load(content))
        if _file_name(entry) != name:
            raise Unreadable("belongs to another event than its name says")
        return entry, len(content)

    def add(self, entry: Entry) -> bool:
        """Write the entry of one event, or replace it. Return whether anything changed. Raise RecordsError."""
        name = _file_name(entry)
        try:
            if self._read(name)[0] == entry:
                return False
        except (OSError, Unreadable):
            pass  # none yet, or a damaged one, which is replaced
        replace_file(self.files, name, entry, "The entry")
        return True

    def add_record(self, record: Record) -> None:
        """Write the entry of a record that is about to be removed. Raise RecordsError; then the record must stay."""
        if self.limits.entries > 0:
            self.add(checked(entry_of(record)))

    def ended(self, entry: Entry) -> float:
        """Return when an entry ended. One without a time, or with one that is still to come, ended before all others: what is made up must not stay longest."""
        at = utc_seconds(entry["ended_at"])
        return NEVER if at is None or at > self._now() + DAY else at

    def prune(self, new: t.Iterable[Entry] = ()) -> list[Entry]:
        """Remove what is beyond the limits, the oldest first, and what cannot be read before all. Return those of new entries that are within the limits.

        A failure is for the next call: the limits are no promise.
        """
        try:
            names = self.files.names()
        except OSError:
            names = []
        aged = {name: self._aged(name) for name in filter(FILE_NAME.fullmatch, names)}
        added = {_file_name(entry): entry for entry in new}
        aged.update({name: (self.ended(entry), 0.0, len(json.dumps(entry, indent=1)) + 1) for name, entry in added.items()})
        kept, total = 0, 0
        for name, (ended, written_ago, size) in sorted(aged.items(), key=lambda item: (item[1][0], item[0]), reverse=True):
            age = written_ago if ended == NEVER else self._now() - ended
            if kept < self.limits.entries and total + size <= self.limits.bytes and age <= self.limits.days * DAY:
                kept, total = kept + 1, total + size
            else:
                added.pop(name, None)
                self._remove(name)
        for name in names:
            if name.startswith(TEMPORARY) and self._written_ago(name) > DAY:
                self._remove(name)
        return list(added.values())

    def _aged(self, name: str) -> tuple[float, float, int]:
        """Return when the entry in a file ended; the seconds since the file was written, where that counts in place of it; and its bytes."""
        try:
            entry, size = self._read(name)
            ended = self.ended(entry)
        except (OSError, Unreadable):
            # At most so large.
            ended, size = NEVER, FILE_BYTES
        return ended, self._written_ago(name) if ended == NEVER else 0.0, size

    def _written_ago(self, name: str) -> float:
        try:
            return self.files.age(name)
        except OSError:
            return 0.0


def _file_name(entry: Entry) -> str:
    return f"{stem(entry['event']['event_id'])}.json"


def history_of(files: Files, host: Host, limits: Values | None) -> History:
    """Return the history beside the records of a VM. Raise RecordsError for limits that are none."""
    return History(files.inside(FOLDER), host, checked_limits(limits))


def checked_limits(given: Values | None) -> Limits:
    """Return the limits of an option. Raise RecordsError for what are none."""
    found = Limits(**{key: value for key, value in (given or {}).items() if value is not None})
    if any(not 0 <= value <= MOST.get(key, value) for key, value in found._asdict().items()):
        raise RecordsError(f"history: limits are 0 or more, with {MOST['entries']} entries and {MOST['bytes']} bytes at most, not {shorten(found._asdict())}")
    return found
