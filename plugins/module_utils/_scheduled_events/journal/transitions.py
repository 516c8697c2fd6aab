# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""The phases of a record, and which phase may follow which. The only table of transitions; record_changes.py enters a phase by it.

A recovery is never refused: a VM must always be able to recover, and an operator to repair a record. So any record may enter
the phases in ALWAYS, and every phase can be reached from every other in two writes at most, through held. Two transitions
are refused: to noticed while a drain is in effect, because the record would then claim that nothing was changed, and to drained without a drain.
"""

from __future__ import annotations

import typing as t

PHASES = ("noticed", "draining", "drained", "approved", "started", "gone", "recovering", "recovered", "failed", "held")

# What Azure did (a fact cannot be refused), the recovery, and what an operator writes by hand.
ALWAYS = ("approved", "started", "gone", "recovering", "recovered", "failed", "held")

FOLLOWING: t.Mapping[str, tuple[str, ...]] = {
    # Where all methods are still drained (the event is listed again, or retried), the VM is drained without a new begin.
    "noticed": (*ALWAYS, "draining", "drained"),
    "draining": (*ALWAYS, "drained"),
    # After a boot the VM is drained again.
    "drained": (*ALWAYS, "draining"),
    # The drains are those of a run whose observation is older than another run's note of the approval or the start.
    "approved": (*ALWAYS, "draining", "drained"),
    "started": (*ALWAYS, "draining", "drained"),
    # The drains are those of a run whose observation is older than the end of the event. To refuse them would lose the findings of its methods.
    "gone": (*ALWAYS, "noticed", "draining", "drained"),
    # An undo was interrupted, and the methods that are still drained are drained again without a new begin.
    "recovering": (*ALWAYS, "noticed", "draining", "drained"),
    # An upgrade of the same name uses its record again.
    "recovered": (*ALWAYS, "noticed", "draining"),
    # A retry; and the phase that an operator writes to reset the count of failures.
    "failed": (*ALWAYS, "noticed", "draining", "drained"),
    "held": (*ALWAYS, "noticed", "draining", "drained"),
}

# An event that was over for the VM (its record has an outcome) and is listed again begins anew, in whatever phase its record is.
LISTED_AGAIN = ("noticed",)


def may_follow(before: str | None, after: str, ended: bool = False) -> bool:
    """Return whether a transition between two phases is allowed; ``ended`` means that the record has an outcome.

    A new record begins in any phase: if the record before it was lost or removed, what is under way must be recorded all the same.
    """
    return before is None or before == after or after in FOLLOWING[before] or (ended and after in LISTED_AGAIN)


def refusal(before: str, after: str) -> str:
    """Return the message for a refused transition: the phases that may follow, and how an operator repairs a record."""
    return (
        f"phase {after} cannot follow {before}; known to follow it are {', '.join(sorted(FOLLOWING[before]))}. "
        f"To mend a record by hand, write phase held first, and then {after}."
    )
