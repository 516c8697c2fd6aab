# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""Which events a controller's run has seen, by this VM's own records: only that ends the repetition of a message.

The records' folder is open to root alone. A small unit of root writes what the teller may know of it: EventIds and phases.
"""

from __future__ import annotations

import json
import typing as t

from ..core.bounded_json import load_bounded
from ..core.types import Values
from ..host.files import LocalFiles
from ..host.system import LocalHost
from ..journal.record_schema import UNSEEN, Record, event_id_of
from ..journal.record_store import DEFAULT_PATH, RecordStore
from .changes import GONE
from .message import TYPES
from .record_metrics import RecordMetrics
from .settings import Settings
from .shared_folder import SharedFolder

NAME = "seen.json"
# Phases of an event that a run knows to be over for this VM.
OVER = ("gone", "recovering", "recovered")

Seen = t.Mapping[str, str]


def publish(settings: Settings) -> None:
    """Write the phases of all recorded events, and their metrics, as root. Raise OSError. Without records the list is empty."""
    host = LocalHost()
    reading = RecordStore(LocalFiles(settings.records_path or DEFAULT_PATH), host).read_all(None, set_aside=False)
    metrics = RecordMetrics(settings.figures_folder) if settings.figures_folder else None
    if not reading.readable:
        # An empty list would do no harm, but it would hide why messages are repeated.
        raise OSError("; ".join([*reading.problems, *_withdraw(metrics)]))
    phases = {event_id_of(record).strip().lower(): _what_a_run_knows(record) for record in reading.records}
    folder = SharedFolder(settings.seen_folder, mode=0o644)
    folder.remove_leftovers()
    folder.write(NAME, json.dumps(phases, sort_keys=True).encode("ascii"), durable=False)
    if metrics:
        metrics.write(reading.records, host.now())


def _what_a_run_knows(record: Record) -> str:
    """Return the phase, or UNSEEN where this VM's own watcher alone has written to the record."""
    return UNSEEN if record["watcher"] == UNSEEN else str(record["phase"])


def _withdraw(metrics: RecordMetrics | None) -> list[str]:
    """Remove the metrics of records that can no longer be read. Return what went wrong."""
    try:
        if metrics:
            metrics.remove()
    except OSError as error:
        return [f"The old metrics cannot be removed: {error}"]
    return []


def read_seen(folder: SharedFolder) -> Seen:
    """Return the phase of each recorded event, by EventId in lower case. What cannot be read shows nothing, so messages are repeated."""
    try:
        data = load_bounded(folder.read(NAME).decode("utf-8"), lambda digits: None)
    except (OSError, ValueError, RecursionError, OverflowError):
        return {}
    return {key: phase for key, phase in data.items() if isinstance(phase, str)} if isinstance(data, dict) else {}


def is_seen(message: Values, seen: Seen) -> bool:
    """Return whether the records show that a run knows what an accepted message says."""
    phase = seen.get(str(message.get("subject")).strip().lower())
    if TYPES.get(str(message.get("type"))) == GONE:
        # An event that no run has recorded needs no recovery.
        return phase is None or phase in OVER
    return phase is not None and phase != UNSEEN
