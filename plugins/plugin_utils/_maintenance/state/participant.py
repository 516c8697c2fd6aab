# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The state of one VM's part in one event."""

from __future__ import annotations

from ..config.policy import Decision
from ..core.blocker import PASSING, Blocker
from ..core.model import Event, Host, Override, Record, value
from .presence import Presence, outcome_of


@value
class Participant:
    """One VM's part in one event."""

    host: Host
    record: Record | None
    named: bool
    """Whether the event names it. A VM with a record that is no longer named may still need recovery."""
    presence: Presence
    contested: str | None
    """A sentence about another VM with the same identity (directory.py), or None."""
    event: Event
    """This VM's version of the event: of its own document, else of its record, else of other documents."""
    rule: Decision
    """The decision of the policy about that version; the records keep it."""
    decision: Decision
    """The same, or the decision of an override in its place."""
    started: bool
    """Whether the event has started, by its own document or its own record."""
    left: float | None
    """Seconds until NotBefore by its own document; None without NotBefore."""
    presumed: bool = False
    """Whether only others list the event while its own list proves nothing yet (enabling): it drains within capacity, and never beyond."""
    override: Override | None = None
    """The override that counts for this VM (overrides.py)."""
    approved_elsewhere: bool = False
    """Whether any record of the event has its approval."""
    intent: str = "none"
    """The intent: none, drain, verify, stay, fail, undo, recover, finish (intents.py) or kept (undo_order.py)."""
    reason: str | None = None
    """Why it has this intent, in words."""
    blocker: Blocker | None = None
    """What keeps its drain from going on."""
    wait: float | None = None
    """Seconds until the next observation is due."""
    asleep: bool = False
    """Whether no action follows for it, however long a run waits."""
    held_out: bool = False
    """Whether another event keeps the VM out of service."""
    failed: Blocker | None = None
    """Why it failed: a pass is red in whose last plan any VM has failed. Nothing else of an event makes it red (intents.py)."""
    exhausted: bool = False
    """Whether its drain failed and is not retried."""
    beyond_capacity: bool = False
    """Whether it drains at its deadline without room."""
    may_act: bool = True
    """Whether this run has the leases for this VM's next action (leases.py)."""
    intends: bool = False
    """Whether its record gets the note of an approval now."""

    @property
    def hold(self) -> Blocker | None:
        """Return the blocker for which its record is held, or None."""
        return None if self.blocker is None or self.blocker.kind in PASSING else self.blocker

    @property
    def why(self) -> str | None:
        """Return in words why it has this intent, or what keeps its drain."""
        return self.reason or (self.blocker.detail if self.blocker else None)

    @property
    def undrained_intent(self) -> str:
        """Return the intent while no drain may begin or continue: changes on the VM stay as they are."""
        return "stay" if self.holds_changes else "none"

    @property
    def observed_at(self) -> float:
        """Return the VM's own time at the observation."""
        return self.host.observation.now if self.host.observation else 0.0

    @property
    def ok(self) -> bool:
        """Return whether the VM has a good observation."""
        return self.host.ok

    @property
    def listed(self) -> bool:
        """Return whether its own document has the event."""
        return self.presence.listed

    @property
    def may_begin(self) -> bool:
        """Return whether its own document allows a drain: it lists the event, or proves nothing yet while others list it."""
        return self.listed or self.presumed

    @property
    def phase(self) -> str | None:
        """Return the recorded phase, or None."""
        return self.record.phase if self.record else None

    @property
    def waits(self) -> bool:
        """Return whether its drain waits for others to serve, and has changed nothing."""
        return self.record is not None and self.record.waits

    @property
    def should_serve(self) -> bool:
        """Return whether a method of its drain has said that others no longer serve enough without the VM."""
        return self.record is not None and self.record.should_serve

    @property
    def over(self) -> bool:
        """Return whether the event is gone for this VM: now, or concluded earlier and not listed again."""
        return self.ok and (self.presence.gone or (not self.listed and self.record is not None and self.record.outcome is not None))

    @property
    def outcome(self) -> str | None:
        """How the event ended for this VM, in the record or as this plan has it written there; None while it is not over."""
        if self.record is None or not (self.record.outcome or self.over):
            return None
        return self.record.outcome or outcome_of(self.record, began=self.started or self.approved)

    @property
    def has_ended(self) -> bool:
        """Return whether it was recovered: in the present observation, or in the last one of a VM that no longer takes part."""
        return self.phase == "recovered" and (self.over or self.host.state == "resting")

    @property
    def failed_live(self) -> bool:
        """Return whether its drain failed and the event is not over."""
        return self.ok and not self.over and self.phase == "failed"

    @property
    def holds_changes(self) -> bool:
        """Return whether a drain for this event has changed the VM."""
        return self.record is not None and self.record.needs_undo

    @property
    def intended(self) -> bool:
        """Return whether its own record has the note of an approval: the request may still be on its way."""
        return self.record is not None and self.record.approving_at is not None and self.record.outcome is None

    @property
    def approved(self) -> bool:
        """Return whether the event was approved, as far as this VM is concerned.

        Before an approval, every VM of the event gets a note in its record. So the approval in another VM's record counts only if this
        VM's record has the note.
        """
        if self.record is None:
            return False
        return self.record.approved_at is not None or (self.approved_elsewhere and self.record.approving_at is not None)

    @property
    def coming(self) -> bool:
        """Return whether the event may begin any moment: then no undo begins, and drains begin now."""
        return self.started or self.approved or self.intended
