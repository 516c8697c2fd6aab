# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""The records in their directory: one small file per event, changed only by exclusive creation, rename and unlink.

A change is a new file with the next revision in its name. Killed anywhere, a reader finds the old or the new revision.
"""

from __future__ import annotations

import typing as t
import uuid

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.files import Files
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host import Host
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.record_format import (
    FOREIGN,
    LINEAGE,
    LINEAGE_LENGTH,
    TEMPORARY,
    UNREADABLE,
    Record,
    RecordsError,
    Unreadable,
    decode,
    encode,
    event_id_of,
    file_name,
    public,
    revision_name,
    split_name,
    stem,
)
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.record_steps import (
    Step,
    may_be_pruned,
    take_step,
)

DEFAULT_PATH = "/var/lib/azure-maintenance"
ATTEMPTS = 50
LEFTOVER_SECONDS = 86400


class Found(t.NamedTuple):
    """What the files of one event hold."""

    record: Record | None
    highest: int
    problems: list[str]
    unreadable: list[str]


class Written(t.NamedTuple):
    """The outcome of one write: the record before and after, and whether it was written."""

    before: Record | None
    after: Record | None
    changed: bool


class Reading(t.NamedTuple):
    """All records, oldest first; readable is False when there may be more than could be read."""

    records: list[Record]
    problems: list[str]
    readable: bool


class Records:
    """All records of one VM."""

    def __init__(self, files: Files, host: Host) -> None:
        self.files = files
        self.host = host

    # reading

    def read_all(self, vm_id: str | None = None, set_aside: bool = False) -> Reading:
        """Every record that can be read, and in words whatever cannot."""
        try:
            names = self.files.names()
        except FileNotFoundError:
            return Reading([], [], True)
        except OSError as error:
            return Reading([], [f"The records in {self.files.where} cannot be read: {error}."], False)
        records, problems, readable = [], _asides(self.files.where, names), True
        for one in sorted({place[0] for place in map(split_name, names) if place}):
            found = self._find(one, names)
            problems.extend(found.problems)
            readable = readable and not (found.unreadable and found.record is None)
            if found.record is not None and is_foreign(found.record, vm_id):
                problems.append(self._report_foreign(found.record, one, set_aside))
            elif found.record is not None:
                records.append(public(found.record))
        return Reading(sorted(records, key=_begin), problems, readable)

    def read(self, event_id: str) -> Record | None:
        """The record of one event, None without one; an error when there is one that cannot be read."""
        found = self._find_for_writing(event_id)
        return public(found.record) if found.record else None

    def _list(self) -> list[str]:
        try:
            return self.files.names()
        except FileNotFoundError:
            return []

    def _find(self, one: str, names: list[str] | None = None) -> Found:
        for _attempt in range(ATTEMPTS):
            try:
                return self._highest_complete(one, self._list() if names is None else names)
            except FileNotFoundError:
                names = None  # a newer revision has replaced it in this moment: look again
        problem = f"The record {one} in {self.files.where} changes faster than it can be read."
        return Found(None, 0, [problem], [one])

    def _highest_complete(self, one: str, names: list[str]) -> Found:
        problems: list[str] = []
        unreadable: list[str] = []
        highest = 0
        for revision in _revisions(one, names):
            highest = max(highest, revision)
            name = revision_name(one, revision)
            try:
                return Found(decode(self.files.read(name), name), highest, problems, unreadable)
            except FileNotFoundError:
                raise
            except (OSError, Unreadable) as error:
                unreadable.append(name)
                problems.append(f"The file {name} in {self.files.where} is kept, but is no record that can be used: it {_why(error)}. Repair or remove it.")
        return Found(None, highest, problems, unreadable)

    def _find_for_writing(self, event_id: str) -> Found:
        try:
            found = self._find(stem(event_id))
        except OSError as error:
            raise RecordsError(f"The records in {self.files.where} cannot be read: {error}.")
        if found.record is None and found.problems:
            # A fresh record would forget what the lost one would have put back.
            raise RecordsError(" ".join(found.problems))
        return found

    # writing

    def write(self, event_id: str, step: Step, expected_revision: int | None = None, check_mode: bool = False) -> Written:
        """Take one step. With expected_revision 0 there must be no record yet; another writer makes it a conflict."""
        for _attempt in range(ATTEMPTS):
            found = self._find_for_writing(event_id)
            if found.record is not None and is_foreign(found.record, step.vm_id):
                if not check_mode:
                    self._report_foreign(found.record, stem(event_id), True)
                    found = self._find_for_writing(event_id)
                found = found._replace(record=None)
            before = found.record
            self._expect(event_id, before, expected_revision)
            after = take_step(before, event_id, step, self.host.now())
            if before is not None and after == before:
                return Written(public(before), public(before), False)
            after["revision"] = found.highest + 1
            after[LINEAGE] = (after.get(LINEAGE, []) + [uuid.uuid4().hex[:12]])[-LINEAGE_LENGTH:]
            encode(after)  # what cannot be stored is refused in check mode too
            if check_mode or self._publish(after, found.unreadable):
                return Written(public(before) if before else None, public(after), True)
        raise RecordsError(f"The record of event {event_id} is written by others all the time; try again.", "conflict")

    def _expect(self, event_id: str, record: Record | None, expected: int | None) -> None:
        present = record["revision"] if record else 0
        if expected is None or expected == present:
            return
        raise RecordsError(
            f"The record of event {event_id} in {self.files.where} has revision {present}, and {expected} was expected: "
            "somebody else has written it. Look again.",
            "conflict",
            public(record) if record else None,
        )

    def _publish(self, record: Record, unreadable: list[str]) -> bool:
        """Write a new revision; False when another writer was faster, and the caller must look again."""
        temporary = f"{TEMPORARY}{uuid.uuid4().hex}.json"
        name = file_name(event_id_of(record), record["revision"])
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
            if not self._stands(record):
                self._remove(name)
                return False
        except OSError as error:
            raise RecordsError(
                f"The record of event {event_id_of(record)} cannot be written in {self.files.where}: {error}. It must be a directory with room, on a file "
                "system with hard links, that this user may write."
            )
        self._tidy(record, unreadable)
        return True

    def _stands(self, record: Record) -> bool:
        """Whether our revision counts.

        A writer that slept for long may have taken a revision's name that was used and removed in the meantime. Then
        there is a higher revision that does not build on ours, or a lower one on which ours does not build.
        """
        one, mine = stem(event_id_of(record)), record["revision"]
        names = self._list()
        revisions = _revisions(one, names)
        if not revisions or revisions[0] < mine:
            return False
        for revision in revisions:
            name = revision_name(one, revision)
            try:
                lineage = decode(self.files.read(name), name).get(LINEAGE) or [None]
            except (OSError, Unreadable):
                continue
            if revision > mine and record[LINEAGE][-1] not in lineage:
                return False
            if mine - LINEAGE_LENGTH < revision < mine and lineage[-1] not in record[LINEAGE]:
                return False
        return True

    def _tidy(self, record: Record, unreadable: t.Iterable[str]) -> None:
        """Remove what the new revision replaces. What fails here is done by the next write."""
        for name in unreadable:
            self._set_aside(name, UNREADABLE)
        try:
            names = self._list()
        except OSError:
            return
        one = stem(event_id_of(record))
        for revision in _revisions(one, names):
            if revision < record["revision"]:
                self._remove(revision_name(one, revision))
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

    def _remove(self, name: str) -> None:
        try:
            self.files.unlink(name)
        except OSError:
            return  # gone already, or removed by the next write

    # removing

    def remove(self, event_id: str, expected_revision: int | None = None, check_mode: bool = False) -> Written:
        """Remove the record of one event."""
        found = self._find_for_writing(event_id)
        self._expect(event_id, found.record, expected_revision)
        if found.record is None:
            return Written(None, None, False)
        if not check_mode:
            self._unlink_revisions(stem(event_id), found.record["revision"])
        return Written(public(found.record), None, True)

    def _unlink_revisions(self, one: str, up_to: int) -> None:
        # Oldest first: cut off in between, what is left is the newest. A revision written since then stays.
        try:
            for revision in reversed(_revisions(one, self._list())):
                if revision <= up_to:
                    self.files.unlink(revision_name(one, revision))
            self.files.sync()
        except FileNotFoundError:
            return
        except OSError as error:
            raise RecordsError(f"The record {one} in {self.files.where} cannot be removed: {error}.")

    def prune(self, older_than: float, check_mode: bool = False) -> list[str]:
        """Remove the records that are over; the ids of their events."""
        try:
            self._list()
        except OSError as error:
            raise RecordsError(f"The records in {self.files.where} cannot be read: {error}.")
        # One file that cannot be read does not keep the others from going.
        reading = self.read_all()
        now, pruned = self.host.now(), []
        for record in reading.records:
            if may_be_pruned(record, now, older_than):
                pruned.append(event_id_of(record))
                if not check_mode:
                    self._unlink_revisions(stem(event_id_of(record)), record["revision"])
        if not check_mode:
            self._sweep(self._list())
        return pruned

    # setting aside

    def _report_foreign(self, record: Record, one: str, set_aside: bool) -> str:
        names = [revision_name(one, revision) for revision in _revisions(one, self._list())]
        moved = [self._set_aside(name, FOREIGN) for name in names] if set_aside else []
        return "The record of event {} in {} was written by another VM (vmId {}): it is {}. {}".format(
            event_id_of(record),
            self.files.where,
            record["vm_id"],
            "set aside" if moved and all(moved) else "not used",
            ADVICE_FOREIGN,
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
                return True  # another process has set it aside
            except OSError:
                return False
        return False


ADVICE_FOREIGN = "Was this VM made from an image of a VM that was drained? Then look at what its methods changed, put it back by hand, and remove the file."


def is_foreign(record: Record, vm_id: str | None) -> bool:
    """Both ids are known and differ."""
    return bool(vm_id and record["vm_id"] and record["vm_id"].lower() != vm_id.lower())


def _asides(where: str, names: t.Iterable[str]) -> list[str]:
    return [
        "The file {} in {} was set aside and is not used. {}".format(name, where, ADVICE_FOREIGN if name.startswith(FOREIGN) else "Look at it, then remove it.")
        for name in names
        if name.startswith((FOREIGN, UNREADABLE))
    ]


def _why(error: Exception) -> str:
    return str(error) if isinstance(error, Unreadable) else f"cannot be read ({error})"


def _begin(record: Record) -> tuple[str, str]:
    return (record["history"][0]["at"] if record["history"] else "", event_id_of(record))


def _revisions(one: str, names: t.Iterable[str]) -> list[int]:
    """The revisions of one record, highest first."""
    places = (split_name(name) for name in names)
    return sorted((place[1] for place in places if place and place[0] == one), reverse=True)
