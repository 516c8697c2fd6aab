# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""The records in their directory: one small file per event, changed only by exclusive creation, rename and unlink.

A change is a new file with the next revision in its name. Wherever a writer is killed, a reader finds the old or the new revision.
"""

from __future__ import annotations

import typing as t
import uuid

from ..core.limits import REVISION
from ..host.files import TEMPORARY
from . import record_schema as schema
from .record_changes import RecordChange, apply_change, may_be_pruned
from .record_encoding import decode, encode
from .record_reading import ATTEMPTS, RecordFiles, RecordsReader, is_foreign, revisions_of
from .record_schema import Record, RecordsError, Unreadable

DEFAULT_PATH = "/var/lib/azure-maintenance"
LEFTOVER_SECONDS = 86400


class Written(t.NamedTuple):
    """The outcome of one write: the record before and after, and whether it was written."""

    before: Record | None
    after: Record | None
    changed: bool


def _as_read(record: Record) -> Record:
    """Return the record as its file will give it back. Raise RecordsError where the file could not be read again."""
    try:
        return decode(encode(record), schema.file_name(schema.event_id_of(record), record["revision"]))
    except Unreadable as error:
        raise RecordsError(f"The record of event {schema.shorten(schema.event_id_of(record))} cannot be stored: it {error}.")


def _is_too_high(name: str) -> bool:
    place = schema.split_name(name)
    return place is not None and place[1] >= REVISION


class RecordStore(RecordsReader):
    """All records of one VM, to read and to write."""

    def write(
        self, event_id: str, change: RecordChange, expected_revision: int | None = None, check_mode: bool = False, allowed: t.Callable[[], None] | None = None
    ) -> Written:
        """Apply one change and return the outcome. Raise RecordsError, of kind conflict where another writer was faster.

        With expected_revision 0 there must be no record yet. ``allowed`` is called after each reading, and raises where the writer
        may not write any more: called before it, a writer that sleeps in between would overwrite what its successor has written.
        """
        for _attempt in range(ATTEMPTS):
            found = self._find_for_writing(event_id)
            if allowed is not None:
                allowed()
            if found.record is not None and is_foreign(found.record, change.vm_id):
                found = self._without_foreign(event_id, found, check_mode)
            if found.too_high and not check_mode:
                self._bring_down(event_id, found)
                continue
            before = found.record
            self._expect(event_id, before, expected_revision)
            after = apply_change(before, event_id, change, self.host.now())
            if before is not None and after == before:
                return Written(schema.public(before), schema.public(before), False)
            # Count on from the revision of a restored replica, so that later replicas count as newer.
            present = after["revision"] or 0
            after["revision"] = max(found.highest, present if present < REVISION else 0) + 1
            after[schema.LINEAGE] = (after.get(schema.LINEAGE, []) + [uuid.uuid4().hex[:12]])[-schema.LINEAGE_LENGTH :]
            after = _as_read(after)  # what cannot be stored is refused in check mode too
            if check_mode or self._publish(after, found.unreadable):
                return Written(schema.public(before) if before else None, schema.public(after), True)
        raise RecordsError(f"The record of event {event_id} is written by others all the time; try again.", "conflict")

    def _bring_down(self, event_id: str, found: RecordFiles) -> None:
        """Give a record whose number is too high to count from the next number that is free."""
        high, low = t.cast(str, found.too_high), schema.file_name(event_id, found.highest + 1)
        if found.highest + 1 >= REVISION:
            # No number is free between the two, and the lower revision is replaced anyway.
            self._remove(schema.file_name(event_id, found.highest))
            return
        try:
            self.files.link(high, low)
        except (FileExistsError, FileNotFoundError):
            return  # another process was faster: the caller reads again
        except OSError as error:
            raise RecordsError(f"The record of event {event_id} in {self.files.where} has too high a number, and cannot be given another: {error}.")
        if not self._set_aside(high, schema.UNREADABLE):
            raise RecordsError(f"The file {high} in {self.files.where} blocks newer ones and cannot be set aside: remove it.")

    def _without_foreign(self, event_id: str, found: RecordFiles, check_mode: bool) -> RecordFiles:
        if check_mode:
            return found._replace(record=None)
        problem = self._report_foreign(t.cast(Record, found.record), schema.stem(event_id), True)
        again = self._find_for_writing(event_id)
        if again.record is not None:
            raise RecordsError(problem)
        return again

    def _expect(self, event_id: str, record: Record | None, expected: int | None) -> None:
        present = record["revision"] if record else 0
        if expected is None or expected == present:
            return
        raise RecordsError(
            f"The record of event {event_id} in {self.files.where} has revision {present}, and {expected} was expected: "
            "another writer has changed it. Read it again.",
            "conflict",
            schema.public(record) if record else None,
        )

    def _publish(self, record: Record, unreadable: list[str]) -> bool:
        """Write a new revision. Return False when another writer was faster, and the caller must read again."""
        temporary = f"{TEMPORARY}{uuid.uuid4().hex}.json"
        name = schema.file_name(schema.event_id_of(record), record["revision"])
        try:
            self.files.make()
            try:
                self.files.write_exclusive(temporary, encode(record))
                self.files.link(temporary, name)
            except FileExistsError:
                return False
            finally:
                self._remove(temporary)
            self.files.sync()
            if not self._counts(record):
                self._remove(name)
                return False
        except OSError as error:
            raise schema.not_written(self.files.where, error)
        self._tidy(record, unreadable)
        return True

    def _counts(self, record: Record) -> bool:
        """Return whether the revision just written counts.

        A writer that slept for long may have taken a revision's name that was used and removed in the meantime. Then
        there is a higher revision that does not build on this one, or a lower one on which this one does not build. No revision
        counts below one that this one builds on: it was not the highest when it was linked, and its writer removes it or was killed.
        """
        one, mine = schema.stem(schema.event_id_of(record)), record["revision"]
        names = self._list()
        # A revision that is too high to count from is already a base of this one; it is set aside next.
        revisions = [revision for revision in revisions_of(one, names) if revision < REVISION or revision == mine]
        if not revisions or revisions[0] < mine:
            return False
        for revision in revisions:
            name = schema.revision_name(one, revision)
            try:
                lineage = decode(self.files.read(name), name).get(schema.LINEAGE) or [None]
            except (OSError, Unreadable):
                continue
            if revision > mine and record[schema.LINEAGE][-1] not in lineage:
                return False
            if mine - schema.LINEAGE_LENGTH < revision < mine:
                return lineage[-1] in record[schema.LINEAGE]
        return True

    def _tidy(self, record: Record, unreadable: t.Iterable[str]) -> None:
        """Remove the files that the new revision replaces. The next write retries what fails here."""
        for name in unreadable:
            if not self._set_aside(name, schema.UNREADABLE) and _is_too_high(name):
                raise RecordsError(f"The file {name} in {self.files.where} blocks newer ones and cannot be set aside: remove it.")
        try:
            names = self._list()
        except OSError:
            return
        one = schema.stem(schema.event_id_of(record))
        for revision in revisions_of(one, names):
            if revision < record["revision"]:
                self._remove(schema.revision_name(one, revision))
        self._sweep(names)

    def _sweep(self, names: t.Iterable[str]) -> None:
        for name in names:
            if not name.startswith(TEMPORARY):
                continue
            try:
                if self.files.age(name) > LEFTOVER_SECONDS:
                    self.files.unlink(name)
            except OSError:
                continue

    def remove(self, event_id: str, expected_revision: int | None = None, check_mode: bool = False, bury: t.Callable[[Record], None] | None = None) -> Written:
        """Remove the record of one event; ``bury`` is called with it before."""
        found = self._find_for_writing(event_id)
        self._expect(event_id, found.record, expected_revision)
        if found.record is None:
            return Written(None, None, False)
        if not check_mode:
            if bury is not None:
                bury(found.record)
            self._unlink_revisions(schema.stem(event_id), found.record["revision"])
        return Written(schema.public(found.record), None, True)

    def _unlink_revisions(self, one: str, up_to: int) -> None:
        # Newest last, so that an interruption leaves the newest. A revision written meanwhile stays.
        try:
            for revision in reversed(revisions_of(one, self._list())):
                if revision <= up_to:
                    self.files.unlink(schema.revision_name(one, revision))
            self.files.sync()
        except FileNotFoundError:
            return
        except OSError as error:
            raise RecordsError(f"The record {one} in {self.files.where} cannot be removed: {error}.")

    def prune(self, older_than: float, check_mode: bool = False, bury: t.Callable[[Record], bool] | None = None) -> list[str]:
        """Remove the records of ended events. Return the ids of their events. Keep a record for which ``bury`` returns False until the next call."""
        try:
            self._list()
        except OSError as error:
            raise RecordsError(f"The records in {self.files.where} cannot be read: {error}.")
        # A file that cannot be read does not prevent the removal of the others.
        reading = self.read_all(limit=None)
        now, pruned = self.host.now(), []
        for record in reading.records:
            if may_be_pruned(record, now, older_than) and (check_mode or bury is None or bury(record)):
                pruned.append(schema.event_id_of(record))
                if not check_mode:
                    self._unlink_revisions(schema.stem(schema.event_id_of(record)), record["revision"])
        if not check_mode:
            self._sweep(self._list())
        return pruned
