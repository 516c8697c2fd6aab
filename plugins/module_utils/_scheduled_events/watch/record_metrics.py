# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""The records' metrics for Prometheus: drains, their seconds and failures, and holds. Root writes them; no EventId is in them.

All are gauges of the records that are kept now. Records are pruned a day after their end, so a counter of them would go back, and Prometheus would take
each step back for a restart.
"""

from __future__ import annotations

import typing as t

from ..host.system import seconds_between
from ..imds.document import unix_seconds
from ..journal.record_schema import Record
from ..journal.transitions import PHASES
from .exposition import GAUGE, Metric, MetricsFile, Sample, metric

NAME = "maintenance_records.prom"


def record_metrics(records: t.Sequence[Record], now: str) -> list[Metric]:
    """Return the metrics of a VM's records. ``now`` is the VM's clock, in the form of utc_text."""
    seconds = [length for record in records for length in _drains(record)]
    held = [record for record in records if _is_held(record)]
    phases = [Sample(sum(record["phase"] == phase for record in records), {"phase": phase}) for phase in PHASES]
    return [
        metric("records_timestamp_seconds", GAUGE, "When the records of this VM were read.", unix_seconds(now)),
        Metric("records", GAUGE, "Records of this VM, by phase.", phases),
        metric("records_failed_drains", GAUGE, "Drains that failed, in the records that are kept.", sum(_failures(record) for record in records)),
        metric("records_finished_drains", GAUGE, "Drains that ended drained, in the records that are kept.", len(seconds)),
        metric("records_finished_drains_seconds", GAUGE, "Seconds that these drains took, together.", sum(seconds)),
        metric("records_longest_hold_seconds", GAUGE, "The longest time for which a listed event has been held.", max(map(_held_for(now), held), default=0.0)),
        metric("records_hold_half_notice_timestamp_seconds", GAUGE, "When half the notice of a held event is over: of several, the first.", _first_half(held)),
    ]


def _drains(record: Record) -> t.Iterator[float]:
    """Return the seconds of each drain that ended drained. A clock that went back in between leaves out that drain."""
    begun: str | None = None
    for entry in record["history"]:
        if entry["phase"] == "drained" and begun is not None:
            length = seconds_between(begun, entry["at"])
            if length is not None and length >= 0:
                yield length
        begun = entry["at"] if entry["phase"] == "draining" else None


def _failures(record: Record) -> int:
    return sum(entry["phase"] == "failed" for entry in record["history"])


def _is_held(record: Record) -> bool:
    """Return whether an event that is listed is held. One that is missing does not wait."""
    return record["phase"] == "held" and record["missing_since"] is None and record["outcome"] is None


def _held_for(now: str) -> t.Callable[[Record], float]:
    def seconds(record: Record) -> float:
        since = record["history"][-1]["at"] if record["history"] else None
        return max(seconds_between(since, now) or 0.0, 0.0)

    return seconds


def _first_half(held: t.Sequence[Record]) -> float | None:
    return min((half for half in map(_half_notice, held) if half is not None), default=None)


def _half_notice(record: Record) -> float | None:
    """Return the middle between the first entry of a record and the event's NotBefore."""
    noticed = unix_seconds(record["history"][0]["at"]) if record["history"] else None
    not_before = unix_seconds(record["event"]["not_before"])
    return None if noticed is None or not_before is None else (noticed + not_before) / 2


class RecordMetrics:
    """The records' file. The methods raise OSError."""

    def __init__(self, where: str) -> None:
        self._file = MetricsFile(where, NAME)

    def write(self, records: t.Sequence[Record], now: str) -> None:
        """Write the metrics of the records."""
        self._file.remove_leftovers()
        self._file.write(record_metrics(records, now))

    def remove(self) -> None:
        """Remove metrics that are no longer known to be true."""
        self._file.remove()
