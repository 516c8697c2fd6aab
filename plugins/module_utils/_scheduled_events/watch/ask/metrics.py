# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""The asker's metrics for Prometheus: what is listed, and whether asking and telling work. No EventId is in them: each would be a series for ever."""

from __future__ import annotations

import sys
import typing as t

from ...core.types import Values
from ...host.system import Host
from ...imds.document import EVENT_FIELDS, unix_seconds
from ..exposition import COUNTER, GAUGE, Metric, MetricsFile, Sample, metric

NAME = "maintenance_watch.prom"
# The values of labels. What Azure, or one that lies, writes besides these is counted as "other": the number of series has a limit that no answer moves.
TYPES = EVENT_FIELDS["event_type"].words
STATUSES = ("Scheduled", "Started")
OTHER = "other"
THIS_VM: t.Mapping[t.Any, str] = {True: "true", False: "false"}
UNKNOWN = "unknown"


def watch_metrics(values: Values, now: str) -> list[Metric]:
    """Return the metrics of the asker's state. ``now`` is the VM's clock, in the form of utc_text."""
    return [
        Metric("watcher_info", GAUGE, "The watcher: the format of its state, and its Python.", [Sample(1, _info(values))]),
        metric("heartbeat_timestamp_seconds", GAUGE, "When the watcher wrote these metrics: every ten seconds, and at each change.", unix_seconds(now)),
        metric("answer_timestamp_seconds", GAUGE, "When the metadata service gave its last usable answer.", unix_seconds(values["answered_at"])),
        metric("problem", GAUGE, "Whether the watcher has a problem (1), which its state and the journal name.", int(values["problem"] is not None)),
        metric("requests_total", COUNTER, "Requests for the document since the watcher started.", values["requests"]),
        metric("answers_total", COUNTER, "Usable answers since the watcher started.", values["answers"]),
        metric("messages_waiting", GAUGE, "Messages in the spool.", values["messages_waiting"]),
        metric("messages_dropped_total", COUNTER, "Messages that the full spool lost, since the watcher started.", values["messages_dropped"]),
        Metric("listed", GAUGE, "Events in the last document, by type, status, and whether they name this VM.", _listed(values["events"])),
        metric("not_before_timestamp_seconds", GAUGE, "The nearest (earliest) NotBefore of an event that names this VM.", _nearest(values["events"])),
    ]


def _info(values: Values) -> dict[str, str]:
    return {"format": str(values["format"]), "python": f"{sys.version_info[0]}.{sys.version_info[1]}"}


def _listed(events: t.Sequence[Values]) -> list[Sample]:
    counts: dict[tuple[str, str, str], int] = {}
    for event in events:
        key = (known(event["event_type"], TYPES), known(event["event_status"], STATUSES), THIS_VM.get(event["affects_this_vm"], UNKNOWN))
        counts[key] = counts.get(key, 0) + 1
    return [Sample(count, {"type": key[0], "status": key[1], "this_vm": key[2]}) for key, count in sorted(counts.items())]


def known(text: t.Any, names: t.Sequence[str]) -> str:
    """Return the one of the names that the text is, without case, or "other"."""
    wanted = text.strip().lower() if isinstance(text, str) else None
    return next((name for name in names if name.lower() == wanted), OTHER)


def _nearest(events: t.Sequence[Values]) -> int | None:
    moments = [unix_seconds(event["not_before"]) for event in events if event["affects_this_vm"] is True]
    return min((moment for moment in moments if moment is not None), default=None)


class WatchMetrics:
    """The asker's file. A folder that cannot be written never ends the asking; it is one line, however long it lasts."""

    def __init__(self, where: str, host: Host, warn: t.Callable[[str], None]) -> None:
        self._file = MetricsFile(where, NAME)
        self._host = host
        self._warn = warn
        self._works = True
        self._try(self._file.remove_leftovers)

    def write(self, values: Values) -> None:
        """Write the metrics of the state."""
        self._try(lambda: self._file.write(watch_metrics(values, self._host.now())))

    def _try(self, work: t.Callable[[], None]) -> None:
        try:
            work()
        except OSError as error:
            if self._works:
                self._warn(f"cannot write metrics: {error}")
            self._works = False
        else:
            self._works = True
