# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""A blocker: one reason why something may not go now. Decisions go by its kind and its subjects, and never by its words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from ....module_utils._scheduled_events.core.types import Data
from . import timestamps

# All kinds, in the order in which they are told: of several blockers of one event operators read the first.
Kind = Literal[
    "cannot_write",  # a VM cannot write its records
    "failed",  # a drain or a recovery failed
    "paused",  # respond_paused
    "start_gate",  # respond_start_when says no
    "override",  # an operator holds the event, or lets it come
    "policy_unusable",  # the policy cannot decide about the event
    "unmanaged",  # the event names VMs that are not managed here
    "lease",  # another run is at work on its VMs
    "capacity",  # no room in a capacity group
    "policy",  # the policy never approves it, or does not drain for it
    "wrong_settings",  # the settings of a VM cannot be used
    "no_method",  # no drain method is configured
    "contested",  # two VMs have the same identity
    "conflict",  # the documents of its VMs contradict each other
    "unread",  # a VM of the event was not read
    "window",  # the policy's window for approvals is closed
    "sibling",  # another VM of the event could not be drained
    "cluster",  # another VM of the same cluster drains first
    "needed",  # a drain method answers that too few others serve without the VM
    "not_yet",  # a drain method answers that it may not begin yet
    "unproven",  # only other VMs list the event yet
    "not_due",  # the drain begins later
    "no_approver",  # no VM that lists the event could approve it
    "draining",  # the approval waits for drains, or for their last check
    "unleased",  # the approval waits for the leases of its VMs
    # Of a batch of an upgrade alone (upgrade/gate_blockers.py).
    "enabling",  # Scheduled Events were enabled just now
    "event",  # an event names a VM of the batch
    "record",  # a VM of the batch is not back from an event
    "recent",  # an event of the batch ended just now
]
KINDS: tuple[Kind, ...] = get_args(Kind)
RANK = {kind: place for place, kind in enumerate(KINDS)}
# Only an operator can lift these: the records say so of an event that is held for one of them.
LASTING = frozenset[Kind](("paused", "start_gate", "override", "policy_unusable", "unmanaged"))
# The approval goes on by itself: nothing blocks it but what is done for it now.
WAITING: tuple[Kind, ...] = ("no_approver", "draining", "unleased")
# These keep one drain for now, and are no holds: no record says them. An override is recorded where it is found (record_writes.py).
PASSING = frozenset[Kind](("override", "lease", "not_due"))


@dataclass(frozen=True, slots=True)
class Blocker:
    """One reason why a drain, an approval or a batch may not go now."""

    kind: Kind
    text: str
    """The reason as records keep it."""
    subjects: tuple[str, ...] = ()
    """What it is about: names of VMs or groups, ids of events, or who decided it and when. With the kind it tells one blocker from another."""
    detail: str = ""
    """The reason as operators read it now; the text unless given."""
    way_out: str = ""
    """What comes next, or what an operator can do, in the imperative; empty if it ends by itself."""
    retry_at: float | None = None
    """When it ends by itself, in seconds since 1970; None if unknown."""
    wait: float | None = None
    """Seconds until it may be over; None if unknown."""
    holds_approval: bool = True
    """Whether it holds the approval, too, and not the drains alone."""

    def __post_init__(self) -> None:
        if not self.detail:
            object.__setattr__(self, "detail", self.text)

    @property
    def lasting(self) -> bool:
        """Return whether only an operator can lift it."""
        return self.kind in LASTING

    @property
    def identity(self) -> Data:
        """Return what tells it from other blockers, as records keep it beside the text."""
        return {"kind": self.kind, "subjects": list(self.subjects)}

    def as_dict(self) -> Data:
        """Return it as the plan shows it."""
        retry_at = None if self.retry_at is None else timestamps.to_the_second(self.retry_at)
        words = {"text": self.text, "detail": self.detail, "way_out": self.way_out}
        return {**self.identity, **words, "retry_at": retry_at, "wait": self.wait, "lasting": self.lasting}


def in_order(blockers: Iterable[Blocker]) -> list[Blocker]:
    """Return different blockers in the order in which they are told."""
    return sorted(dict.fromkeys(blockers), key=lambda one: RANK[one.kind])


def first(blockers: Iterable[Blocker | None], *kinds: Kind) -> Blocker | None:
    """Return the blocker that is told first, or None; only of some kinds, if any are given."""
    found = [one for one in blockers if one is not None and (not kinds or one.kind in kinds)]
    return min(found, key=lambda one: RANK[one.kind], default=None)
