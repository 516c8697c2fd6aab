# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The same records, faster: a search reads and writes each of them thousands of times.

Only pure functions are replaced, by ones with the same results: JSON without line breaks, a copy of plain data without
C(copy)'s questions, and decoding that remembers. What decides, and which file operations there are, stays as it is.
"""

from __future__ import annotations

import functools
import json
import types
from typing import Any

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal import (
    record_changes,
    record_encoding,
    record_reading,
    record_store,
)
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease import lease_store
from ansible_collections.maintenance.azure.tests.model.machine import identifiers

decode = functools.lru_cache(maxsize=200_000)(record_encoding.decode)


def encode(record: dict[str, Any]) -> bytes:
    """A record as bytes."""
    return json.dumps(record, sort_keys=True).encode("ascii")


def copied(value: Any) -> Any:
    """A deep copy of plain data."""
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    return [copied(item) for item in value] if isinstance(value, list) else value


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
    return found + [(module, "uuid", identifiers) for module in (record_store, record_reading, lease_store, record_encoding)]
