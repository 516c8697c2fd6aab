# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The same records, faster: a search reads and writes each of them thousands of times.

Only pure functions are replaced, by ones with the same results: JSON without line breaks, a copy of plain data without
C(copy)'s questions, decoding that remembers, and settings, records and observations that are read once, however many plans are made of them. What decides, and
which file operations there are, stays as it is. A search makes no entries of the report, which it does not read: the histories make them.
"""

from __future__ import annotations

import functools
import json
import marshal
import types
from collections.abc import Callable
from typing import Any

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal import (
    record_changes,
    record_encoding,
    record_reading,
    record_store,
)
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease import lease_store
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config import policy, settings
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.observe import documents, reading
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.report import summaries
from ansible_collections.maintenance.azure.tests.model.machine import identifiers
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.world import copied

# Readings that are kept: more than one search has, and few enough for a thousand histories in one process.
MOST_READINGS = 50_000
decode = functools.lru_cache(maxsize=200_000)(record_encoding.decode)


def encode(record: dict[str, Any]) -> bytes:
    """A record as bytes."""
    return json.dumps(record, sort_keys=True).encode("ascii")


def _read_once(real: Callable[..., Any], *events: documents.Documents) -> Callable[..., Any]:
    """Whoever reads equal values gets one and the same result, which is never changed. Equal values have equal bytes (documents.py)."""
    known: dict[bytes, Any] = {}

    def read(value: Any, *_documents: Any) -> Any:
        content = marshal.dumps(value, documents.VERSION)
        if content not in known:
            if len(known) >= MOST_READINGS:
                known.clear()
            known[content] = real(value, *events)
        return known[content]

    return read


def readings(*more: str) -> list[tuple[Any, str, Any]]:
    """What to replace where plan after plan reads the same records: the reader of records, and more of that module. They share the events."""
    events = documents.Documents()
    once = [*((module, "load", _read_once(module.load)) for module in (policy, settings)), (reading, "Documents", lambda: events)]
    return [*once, *((reading, name, _read_once(getattr(reading, name), events)) for name in ("read_record", *more))]


def _noted(real: Any) -> Any:
    """Whether a writer is at looking whether what it has linked stands: what it misses there it does not read again."""

    def stands(self: Any, record: dict[str, Any]) -> bool:
        replay = identifiers.replay
        if replay is not None:
            replay.checks_itself = True
        found = bool(real(self, record))
        if replay is not None:
            replay.checks_itself = False
        return found

    return stands


def patches() -> list[tuple[Any, str, Any]]:
    """What to replace, for monkeypatch.setattr."""
    copying: Any = types.SimpleNamespace(deepcopy=copied)
    stands = _noted(record_store.RecordStore._counts)
    found: list[tuple[Any, str, Any]] = [(record_store.RecordStore, "_counts", stands)]
    found += [(record_store, "encode", encode), (record_store, "decode", decode), (record_reading, "decode", decode), (record_changes, "copy", copying)]
    # A search plans again and again from observations that it has planned from before.
    found += readings("read_observation")
    found.append((summaries, "entry", lambda *_given: {"blockers": [], "remarks": [], "decision": None, "parts": []}))
    return found + [(module, "uuid", identifiers) for module in (record_store, record_reading, lease_store, record_encoding)]
