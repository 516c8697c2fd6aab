# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""One event's record, written under the lease of a run."""

from __future__ import annotations

import typing as t

from ..core.printable_text import printable
from ..journal.drain_times import DrainTimes
from ..journal.record_changes import RecordChange
from ..journal.record_reading import is_foreign
from ..journal.record_schema import Record
from ..journal.record_store import RecordStore, Written
from ..lease.lease_operations import UnderLease

LONGEST_LINE = 900


class LeasedRecord:
    """Read and write the record of one event, and write each new phase to the VM's log."""

    def __init__(self, records: RecordStore, lease: UnderLease, event_id: str, vm_id: str | None, log: t.Callable[[str], None]) -> None:
        self._records = records
        self._lease = lease
        self._event_id = event_id
        self._vm_id = vm_id
        self._log = log

    def read(self) -> Record | None:
        """Return the record, or None where there is none of this VM. Raise RecordsError where it cannot be read."""
        record = self._records.read(self._event_id)
        return None if record is None or is_foreign(record, self._vm_id) else record

    def write(self, change: RecordChange) -> Record:
        """Apply a change and return the record after it. Raise RecordsError, or LeaseLost where the run's lease is gone."""
        written = write_under_lease(self._records, self._lease, self._event_id, change, None, False)
        log_phase(self._log, self._event_id, written)
        return t.cast(Record, written.after)

    def note_time(self, record: Record) -> None:
        """Keep how long a drain took. Without the lease: what is late here has drained all the same. Raise RecordsError."""
        DrainTimes(self._records.files, self._records.host).note(record)


def write_under_lease(records: RecordStore, lease: UnderLease, event_id: str, change: RecordChange, expected_revision: int | None, check_mode: bool) -> Written:
    """Write a record between two checks of the lease: a run that removed the lease in between has not read the new record."""
    written = records.write(event_id, change, expected_revision, check_mode, lambda: lease.begin(check_mode))
    lease.end(check_mode)
    return written


def log_phase(log: t.Callable[[str], None], event_id: str, written: Written) -> None:
    """Write one line to the VM's log for each new phase."""
    if written.changed and _phase(written.before) != _phase(written.after):
        log(log_line(event_id, written.after))


def log_line(event_id: str, record: Record | None) -> str:
    """Return one line, whatever the event contains: a line break in it must not pass as a second entry."""
    if record is None:
        fields = [event_id, "record removed"]
    else:
        fields = [event_id, record["event"]["event_type"] or "unknown type", record["phase"], record["reason"] or ""]
    return printable("maintenance.azure: event " + " ".join(printable(field, LONGEST_LINE // 3) for field in fields), LONGEST_LINE)


def _phase(record: Record | None) -> str | None:
    return record["phase"] if record else None
