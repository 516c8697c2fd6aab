# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Whether what the methods of a drain have found proves that a drained VM is out: of a misspelt file that is not there, nothing was changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...module_utils._scheduled_events.core.printable_text import printable
from ...module_utils._scheduled_events.core.types import Doubt
from ...module_utils._scheduled_events.journal.recorded import Recorded
from .kinds.registry import kind_of

# Characters of each half of the sentence: a record, which may name any number of things, is a VM's own word, and the sentence is told for each event.
LONGEST = 300


def doubts_of(methods: Iterable[Recorded]) -> tuple[Doubt, ...]:
    """Return the doubts of recorded methods, as Method.doubt says them, each once."""
    return tuple(dict.fromkeys(kind_of(one.kind).doubt(one.before, one.options) for one in methods if one.state != "undone"))


def unproven(doubts: Sequence[Doubt], serves: str) -> str:
    """Return why a drain proves nothing, or an empty text. C(serves) is what the health check says of a VM that still is in service, else empty."""
    why = next((doubt for doubt in doubts if doubt), None)
    if not serves or why is None or "" in doubts:
        return ""
    return f"its health check finds it in service ({printable(serves, LONGEST)}), and {printable(why, LONGEST)}"
