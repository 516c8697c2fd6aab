# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""Read the records in their directory, and set aside files that are no record of this VM. Files are only renamed."""

from __future__ import annotations

import typing as t
import uuid

from ..core.limits import RECORDS, REVISION
from ..host.files import Folder
from . import record_schema as schema
from .record_encoding import decode
from .record_schema import Record, RecordsError, Unreadable

ATTEMPTS = 50


class RecordFiles(t.NamedTuple):
    """The files of one event's record. The next revision is counted from ``highest``; ``unreadable`` are the files to set aside then.

    ``too_high`` is the name of the record's file where no next revision can be counted from its own.
    """

    record: Record | None
    highest: int
    problems: list[str]
    unreadable: list[str]
    too_high: str | None = None


class RecordsReading(t.NamedTuple):
    """All records, oldest first; readable is False when there may be more than could be read, and entered is False where the folder itself could not be."""

    records: list[Record]
    problems: list[str]
    readable: bool
    entered: bool = True


class RecordsReader(Folder):
    """All records of one VM, read only."""

    def read_all(self, vm_id: str | None = None, set_aside: bool = False, limit: int | None = RECORDS) -> RecordsReading:
        """Read every record, and report what cannot be read. Read no more records than the limit, if there is one."""
        try:
            names = self.files.names()
        except FileNotFoundError:
            return RecordsReading([], [], True)
        except OSError as error:
            return RecordsReading([], [f"The records in {self.files.where} cannot be read: {error}."], False, entered=False)
        records, problems, readable = [], _report_set_aside(self.files.where, names), True
        stems = sorted({place[0] for place in map(schema.split_name, names) if place})
        if limit is not None and len(stems) > limit:
            readable = False
            problems.append(
                f"There are records of {len(stems)} events in {self.files.where}, and {limit} are read: find out what creates them, and remove ended ones."
            )
        for one in stems[:limit]:
            found = self.find(one, names)
            problems.extend(found.problems)
            readable = readable and not (found.unreadable and found.record is None)
            if found.record is not None and is_foreign(found.record, vm_id):
                problems.append(self._report_foreign(found.record, one, set_aside))
            elif found.record is not None:
                records.append(schema.public(found.record))
        return RecordsReading(sorted(records, key=_begin), problems, readable)

    def read(self, event_id: str) -> Record | None:
        """Return the record of one event, or None without one. Raise RecordsError when it cannot be read."""
        found = self._find_for_writing(event_id)
        return schema.public(found.record) if found.record else None

    def find(self, one: str, names: list[str] | None = None) -> RecordFiles:
        """Return what the files of one event hold, by the stem of their names."""
        for _attempt in range(ATTEMPTS):
            try:
                return self._highest_complete(one, self._list() if names is None else names)
            except FileNotFoundError:
                names = None  # a newer revision has just replaced it: list again
            except OSError as error:
                return RecordFiles(None, 0, [f"The records in {self.files.where} cannot be read: {error}."], [one])
        problem = f"The record {one} in {self.files.where} changes faster than it can be read."
        return RecordFiles(None, 0, [problem], [one])

    def _highest_complete(self, one: str, names: list[str]) -> RecordFiles:
        problems: list[str] = []
        unreadable: list[str] = []
        highest = 0
        for revision in revisions_of(one, names):
            # No file name fits a higher number. A revision up there counts, and the next one is counted from below it.
            highest = max(highest, revision if revision < REVISION else 0)
            name = schema.revision_name(one, revision)
            try:
                record = decode(self.files.read(name), name)
                if revision >= REVISION:
                    return RecordFiles(record, _below(one, names), problems, unreadable, name)
                return RecordFiles(record, highest, problems, unreadable)
            except FileNotFoundError:
                raise
            except (OSError, Unreadable) as error:
                unreadable.append(name)
                problems.append(f"The file {name} in {self.files.where} is kept, but is not a usable record: it {_describe_error(error)}. {ADVICE_UNREADABLE}")
        return RecordFiles(None, highest, problems, unreadable)

    def _find_for_writing(self, event_id: str) -> RecordFiles:
        found = self.find(schema.stem(event_id))
        if found.record is None and found.problems:
            # A new record would lack the findings that the unreadable one would have put back.
            raise RecordsError(" ".join(found.problems))
        return found

    def _report_foreign(self, record: Record, one: str, set_aside: bool) -> str:
        try:
            names = [schema.revision_name(one, revision) for revision in revisions_of(one, self._list())]
        except OSError:
            names = []
        moved = [self._set_aside(name, schema.FOREIGN) for name in names] if set_aside else []
        return "The record of event {} in {} was written by another VM (vmId {}): it is {}. {}".format(
            schema.event_id_of(record), self.files.where, record["vm_id"], "set aside" if moved and all(moved) else "not used", ADVICE_FOREIGN
        )

    def _set_aside(self, name: str, prefix: str) -> bool:
        for new in (prefix + name, f"{prefix}{uuid.uuid4().hex[:12]}-{name}"):
            try:
                self.files.link(name, new)
                self.files.unlink(name)
                return True
            except FileExistsError:
                continue
            except FileNotFoundError:
                return True  # another process has set the file aside
            except OSError:
                return False
        return False


ADVICE_UNREADABLE = (
    "Repair or remove it. Before you remove it, check by hand that what it may have changed on this VM (its services, the file that a health check asks for, "
    "its place in a load balancer) is as it should be: no other record tells what it was."
)
ADVICE_FOREIGN = "Was this VM made from an image of a VM that was drained? Then look at what its methods changed, put it back by hand, and remove the file."


def is_foreign(record: Record, vm_id: str | None) -> bool:
    """Return whether the record belongs to another VM: both ids are known and differ."""
    return bool(vm_id and record["vm_id"] and record["vm_id"].lower() != vm_id.lower())


def _report_set_aside(where: str, names: t.Iterable[str]) -> list[str]:
    return [
        "The file {} in {} was set aside and is not used. {}".format(
            name, where, ADVICE_FOREIGN if name.startswith(schema.FOREIGN) else "Look at it, then remove it."
        )
        for name in names
        if name.startswith((schema.FOREIGN, schema.UNREADABLE))
    ]


def _describe_error(error: Exception) -> str:
    return str(error) if isinstance(error, Unreadable) else f"cannot be read ({error})"


def _begin(record: Record) -> tuple[str, str]:
    return (record["history"][0]["at"] if record["history"] else "", schema.event_id_of(record))


def _below(one: str, names: t.Iterable[str]) -> int:
    """Return the highest revision from which the next one can be counted."""
    return next((revision for revision in revisions_of(one, names) if revision < REVISION), 0)


def revisions_of(one: str, names: t.Iterable[str]) -> list[int]:
    """Return the revisions of one record, highest first."""
    places = (schema.split_name(name) for name in names)
    return sorted((place[1] for place in places if place and place[0] == one), reverse=True)
