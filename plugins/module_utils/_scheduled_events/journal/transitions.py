# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""The phases of a record, and which phase may follow which. The only table of transitions; record_changes.py enters a phase by it.

A way back is never refused: a VM must always be able to recover, and an operator to mend a record. So any record may enter
the phases in ALWAYS, and every phase can be reached from every other in two writes at most, by way of C(held). Two things are
refused: C(noticed) over a drain that stands, which would look as if nothing was changed, and C(drained) without a drain.
"""

from __future__ import annotations

import typing as t

PHASES = (
    "noticed",
    "draining",
    "drained",
    "approved",
    "started",
    "gone",
    "recovering",
    "recovered",
    "failed",
    "held",
)

# What Azure did (a fact cannot be refused), the ways back, and what an operator writes by hand.
ALWAYS = ("approved", "started", "gone", "recovering", "recovered", "failed", "held")

FOLLOWING: t.Mapping[str, tuple[str, ...]] = {
    # A drain whose methods still stand from before (listed again, or retried) is drained without beginning.
    "noticed": (*ALWAYS, "draining", "drained"),
    "draining": (*ALWAYS, "drained"),
    # After a boot it drains again.
    "drained": (*ALWAYS, "draining"),
    # The drains are those of a run that looked before another run wrote the approval or the start.
    "approved": (*ALWAYS, "draining", "drained"),
    "started": (*ALWAYS, "draining", "drained"),
    # The drains are those of a run that looked before the event vanished. Refusing them would lose what its methods changed.
    "gone": (*ALWAYS, "noticed", "draining", "drained"),
    # An undo that stopped half-way, and a drain of what still stands: it has nothing to begin.
    "recovering": (*ALWAYS, "noticed", "draining", "drained"),
    # An upgrade of the same name uses its record again.
    "recovered": (*ALWAYS, "noticed", "draining"),
    # A retry; and what an operator writes to have the failures counted anew.
    "failed": (*ALWAYS, "noticed", "draining", "drained"),
    "held": (*ALWAYS, "noticed", "draining", "drained"),
}

# An event that was over for the VM (its record has an outcome) and is listed again begins anew, wherever its record is.
LISTED_AGAIN = ("noticed",)


def may_follow(before: str | None, after: str, ended: bool = False) -> bool:
    """Return whether a record may go from one phase to another; ``ended`` says that it has an outcome.

    A new record begins in any phase: where the one before was lost or removed, what is under way must be written down all the same.
    """
    return before is None or before == after or after in FOLLOWING[before] or (ended and after in LISTED_AGAIN)


def refusal(before: str, after: str) -> str:
    """Say that one phase may not follow another, what may, and what an operator who mends a record can do."""
    return (
        f"phase {after} cannot follow {before}; known to follow it are {', '.join(sorted(FOLLOWING[before]))}. "
        f"To mend a record by hand, write phase held first, and then {after}."
    )
