# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Whether what the methods of a drain have found proves that a drained VM is out: of a misspelt file that is not there, nothing was changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...module_utils._scheduled_events.journal.recorded import Recorded
from .kinds.registry import kind_of


def doubts_of(methods: Iterable[Recorded]) -> list[str | None]:
    """Return the doubts of the methods of a record, as Method.doubt says them."""
    return [kind_of(one.kind).doubt(one.before, one.options) for one in methods if one.state != "undone"]


def unproven(doubts: Sequence[str | None], serves: str) -> str:
    """Return why a drain proves nothing, or an empty text. C(serves) is what the health check says of a VM that still is in service, else empty."""
    return "" if not serves or "" in doubts else next((f"its health check finds it in service ({serves}), and {doubt}" for doubt in doubts if doubt), "")
