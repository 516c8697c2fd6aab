# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The values that the plan is made of: hosts, their observations, and the records, leases and replicas on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

from ....module_utils._scheduled_events.core.names import folded
from ....module_utils._scheduled_events.core.types import Data, Doubt, Values
from ....module_utils._scheduled_events.journal.record_schema import EVENT_KEYS, NEEDED, NOT_YET, SEEN, UNSEEN
from ....module_utils._scheduled_events.journal.recorded import Recorded
from ....module_utils._scheduled_events.journal.transitions import PHASES
from ....module_utils._scheduled_events.lease.lease_schema import UPGRADE
from ..._core import plain_values
from ..._drain.doubts import unproven
from ..._drain.records.replicas import Target
from . import timestamps

# pylint knows dataclasses by the name of the standard library's decorator alone.
# pylint: disable=invalid-field-call
__all__ = ["EVENT_KEYS", "PHASES", "STRICTEST", "Event", "Host", "Identity", "Lease", "Observation", "Override", "Record", "value"]
Class = TypeVar("Class")


@dataclass_transform(frozen_default=True)
def value(cls: type[Class]) -> type[Class]:
    """Make a dataclass that nothing changes, as the type checker sees to: one that Python itself freezes takes three times as long to make."""
    return dataclass(slots=True, unsafe_hash=True)(cls)


@value
class Event:
    """One version of an event, from a document or a record."""

    key: str
    values: Values
    resources: tuple[str, ...]
    not_before: float | None
    names: frozenset[str] = field(init=False, repr=False, compare=False)
    """The resources in lower case, as names compare."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", frozenset(map(folded, self.resources)))

    @property
    def event_id(self) -> str:
        """Return the id as Azure wrote it."""
        return str(self.values["event_id"])

    @property
    def event_type(self) -> str:
        """Return the type: Freeze, Reboot, or any other that Azure has."""
        return str(self.values.get("event_type") or "unknown type")

    @property
    def started(self) -> bool:
        """Return whether the event has started: every state but Scheduled is impact, an unknown one too."""
        return str(self.values.get("event_status") or "").lower() != "scheduled"

    def for_record(self) -> Data:
        """Return the fields that a record keeps."""
        return {key: self.values.get(key) for key in EVENT_KEYS}


VERBS = {"approve": "approved", "hold": "held", "let_it_come": "left alone (no drain, no approval)", "release": "released", "retire_vm": "retired"}


# The actions of an override. Of overrides made at the same moment on one VM, the first of these counts.
STRICTEST = ("hold", "let_it_come", "release", "approve")


@value
class Override:
    """The decision of an operator for an event, or for one VM of it. Times are by the clock of the machine where it was made."""

    action: str
    who: str
    why: str | None
    at: float
    until: float | None
    vm: str | None

    def holds(self, now: float) -> bool:
        """Return whether it is in force at this time."""
        return self.until is None or now < self.until

    @property
    def unreadable(self) -> bool:
        """Return whether it replaces an override that could not be read."""
        return self.at == float("inf")

    @property
    def text(self) -> str:
        """Return a sentence for operators."""
        until = "" if self.until is None else f" until {_minute(self.until)}"
        about = f"{self.vm} was " if self.vm else ""
        return f"{about}{VERBS[self.action]} by {self.who}{until}" + (f": {self.why}" if self.why else "")

    def as_dict(self) -> Data:
        """Return it as a record keeps it."""
        until = None if self.until is None else timestamps.form(self.until)
        return {"action": self.action, "who": self.who, "why": self.why, "vm": self.vm, "at": timestamps.form(self.at), "until": until}


def _minute(seconds: float) -> str:
    return "further notice" if seconds == float("inf") else timestamps.as_datetime(seconds).strftime("%Y-%m-%d %H:%M UTC")


@value
class Record:
    """The journal of one event on one VM. Times are by that VM's clock."""

    event: Event
    revision: int | None
    phase: str
    reason: str | None
    blocker: Values
    """The kind and the subjects of the blocker for which it is held (blocker.py); empty in records of before 2.3."""
    history: tuple[tuple[str, float], ...]
    boot_id: str | None
    rule: Values
    deadline: float | None
    verified_at: float | None
    approving_at: float | None
    """When a run announced its approval: from then on the event may begin any moment."""
    approved_at: float | None
    started_at: float | None
    missing_since: float | None
    told: tuple[str, ...]
    untold: Values
    """The phases whose notification failed: the time of the first attempt (C(since)), and the run of the last one (C(run))."""
    outcome: str | None
    methods: tuple[Recorded, ...]
    watcher: str | None = None
    """Whether the VM's own watcher began the record: unseen or seen, by a run (record_schema.py)."""
    overrides: tuple[Override, ...] = ()
    """The overrides of the event in this record; overrides.py decides which of them count."""

    @property
    def only_has_overrides(self) -> bool:
        """Return whether the record holds overrides only, and no drain was ever begun for the event on this VM."""
        return bool(self.overrides) and not self.methods and all(phase == "held" for phase, _at in self.history)

    @property
    def needs_undo(self) -> bool:
        """Return whether the VM may still be changed. Even after the state C(found), a method may have acted before a crash."""
        return any(method.state != "undone" for method in self.methods)

    @property
    def all_drained(self) -> bool:
        """Return whether every method is drained. A record without methods has no drain."""
        return bool(self.methods) and all(method.state == "drained" for method in self.methods)

    @property
    def not_yet(self) -> bool:
        """Return whether a drain method has said last that it does not begin yet, or that the VM is needed (drain/engine.py)."""
        return self.blocker.get("kind") in (NOT_YET, NEEDED)

    @property
    def should_serve(self) -> bool:
        """Return whether a drain has changed the VM, and one of its methods has said last that too few others serve without it."""
        return self.blocker.get("kind") == NEEDED and self.needs_undo

    @property
    def waits(self) -> bool:
        """Return whether a drain waits that has changed nothing: it takes no place in a budget, and no time limit runs for it."""
        return self.phase == "draining" and self.not_yet and not self.needs_undo

    @property
    def first_set_at(self) -> float | None:
        """Return when a method was first about to set something in the present drain; None where no method has, or the record does not say."""
        return min((at for method in self.methods if (at := timestamps.parse(method.set_at)) is not None), default=None)

    def last(self, *phases: str) -> float | None:
        """Return when it last entered one of these phases."""
        return next((at for phase, at in reversed(self.history) if phase in phases), None)

    def since(self, phase: str) -> tuple[tuple[str, float], ...]:
        """Return the history after the last time it entered a phase; the whole history if it never did."""
        places = [place for place, (entered, _at) in enumerate(self.history) if entered == phase]
        return self.history[places[-1] + 1 :] if places else self.history

    @property
    def watched(self) -> bool:
        """Return whether the VM's own watcher began the record."""
        return self.watcher in (UNSEEN, SEEN)

    @property
    def ended_the_vm(self) -> bool:
        """Return whether the event has probably deleted the VM by now, so that no run waits for it."""
        ends = self.event.event_type in ("Preempt", "Terminate")
        return ends and (self.event.started or self.started_at is not None or self.approved_at is not None)

    @property
    def order(self) -> int:
        """Return the number of the drain among the drains of its VM. A later drain found the state that this one left."""
        found = plain_values.whole(self.rule.get("order"))
        return found if found is not None and found >= 0 else 0


@value
class Identity:
    """The identity of a VM, in lower case; None where it is not known."""

    name: str | None = None
    group: str | None = None
    subscription: str | None = None
    vm_id: str | None = None
    scale_set: str | None = None


@value
class Lease:
    """The lease of a run on one VM, for an event or an upgrade. The time limit is by that VM's clock."""

    name: str
    run: str
    digest: str
    event_id: str | None
    kind: str
    who: str | None
    groups: Mapping[str, str]
    limit: float | None
    expired: bool
    made_at: float | None = None
    """When the run began to work there, by that VM's clock."""

    @property
    def text(self) -> str:
        """Return the holder, for operators."""
        return f"run {self.run}" + (f" of {self.who}" if self.who else "")

    @property
    def purpose(self) -> str | None:
        """Return what the lease is for, for operators: the event, or the upgrade by its name."""
        if self.kind == "upgrade" and self.event_id:
            return f"upgrade {self.event_id.removeprefix(UPGRADE)!r}"
        return self.event_id


@value
class Replica:
    """A replica of another VM's record."""

    vm: str
    """The other VM's name in the inventory."""
    vm_id: str | None
    record: Record
    keeper_vm_id: str | None = None
    """The VM that wrote it; another VM with the file was made from its disk."""


@value
class Watcher:
    """What a VM says of its own watcher: it is shown, and decides nothing."""

    age_seconds: float | None
    """Seconds since its last heartbeat; None where they are not known."""
    problem: str | None
    messages_dropped: int


@value
class Observation:
    """One good observation of a VM."""

    vm_name: str | None
    incarnation: int | None
    listed: Mapping[str, Event]
    """The events of its document. Equal ones are the same object, also on other VMs, and others never are (documents.py)."""
    identity: Identity
    spot: bool
    booted_at: float | None
    now: float
    problems: tuple[str, ...]
    about: Values
    """The instance metadata as it was read."""
    boot_id: str | None = None
    enabled_at: float | None = None
    enabled_recently: bool = False
    in_service: bool | None = None
    in_service_why: str | None = None
    records: Mapping[str, Record] = field(default_factory=dict)
    doubts: tuple[Doubt, ...] = ()
    """Why what the methods of its drains have found proves nothing. Of all its drains: a later one has found what another has left."""
    leases: tuple[Lease, ...] = ()
    replicas: tuple[Replica, ...] = ()
    marks: Mapping[str, str] = field(default_factory=dict)
    """Upgrades by name, and how far each is on this VM: begun, upgraded (not yet back), left or done."""
    mark_digests: Mapping[str, str] = field(default_factory=dict)
    """By upgrade, the digest of the tasks file with which this VM was upgraded."""
    moved_at: float | None = None
    """The time of the last change of phase in any record."""
    answered_at: float | None = None
    """When the answer came, by the controller's clock; None where the controller has not noted it."""
    watcher: Watcher | None = None
    drain_times: tuple[float, ...] = ()
    """Seconds of its last drains with the methods that it has now, newest last, by its own word."""
    services: tuple[str, ...] = ()
    """The systemd units that run and that a drain method is for. Only status asks, and it decides nothing."""
    system: str | None = None
    """linux or windows."""
    tombstones: frozenset[str] = frozenset()
    """Events (lower case) whose records are over and removed: their replicas no longer count."""


@value
class Host:
    """An inventory host and its observation."""

    name: str
    place: int
    state: str
    error: str | None
    observation: Observation | None
    identity: Identity
    methods: tuple[str, ...] = ()
    reached_before: bool = False
    last_observation: Observation | None = None
    could_not_approve: tuple[str, ...] = field(default=())
    approved: tuple[str, ...] = ()
    """Events (lower case) that this VM has approved for this run."""
    labels: Values = field(default_factory=dict)
    """Its labels in the inventory (respond_labels), for the keep conditions of capacity groups."""
    wrong_settings: tuple[str, ...] = ()
    """Why its settings cannot be used, one sentence for each fault."""
    outside: bool = False
    """Whether its drain methods change something outside the VM."""
    short_pause_hurts: bool = False
    """Whether a short pause hurts what any of its drain methods drains."""
    targets: tuple[Target, ...] = ()
    """The targets outside the VM that its variables allow its drain methods."""
    restores: Mapping[str, Values] = field(default_factory=dict)
    """Records that it has lost, by event, as they will be restored (replicas.py)."""
    listed_before: Mapping[str, Event] | None = None
    """The events that its document listed in the previous observation of this run, or None without one."""
    acknowledged: tuple[str, ...] = ()
    """Events (lower case) whose lease by this run the VM acknowledged before its last observation."""
    cannot_write: str | None = None
    """Why it cannot write its records, so that it takes no action; None as far as this run knows."""
    drains_asked: int = 0
    """In how many iterations of this pass the controller has asked it to drain."""
    drain_asked_at: float | None = None
    """When it last did, by the controller's clock."""
    unusable: bool = False
    """Whether it did answer, with what no intact VM answers."""
    inventory_identity: Identity = Identity()
    """Its identity as the controller's variables alone have it: only of this a command is made that an operator pastes."""

    @property
    def ok(self) -> bool:
        """Return whether it has a good observation."""
        return self.observation is not None

    @property
    def last_known(self) -> Observation | None:
        """Return the present observation, else the last good one of this run."""
        return self.observation or self.last_observation

    @property
    def latest(self) -> Observation | None:
        """Return the observation that words and sums use: the present one, or that of a VM that is not observed again in this pass. It decides nothing."""
        return self.observation or (self.last_observation if self.state == "resting" else None)

    @property
    def own_name(self) -> str:
        """Return the name by which a document would name the VM, in lower case; the inventory's name is the best guess if its own is not known."""
        return self.identity.name or self.name.lower()

    def record(self, key: str) -> Record | None:
        """Return its record of an event (id in lower case) as last known, or None."""
        return self.last_known.records.get(key) if self.last_known else None

    def is_settled(self, key: str) -> bool:
        """Return whether two successive observations of this run agree about an event: then the document was not just changing."""
        if self.observation is None or self.listed_before is None:
            return False
        return self.observation.listed.get(key) is self.listed_before.get(key)

    @property
    def serves(self) -> str:
        """Return what its health check says of a VM that is in service and that no drain of it proves to be out, or an empty text."""
        seen = self.observation
        return seen.in_service_why or "" if seen and seen.in_service and "" not in seen.doubts else ""

    @property
    def unproven(self) -> str:
        """Return why no drain of it has taken it out, although all methods may say so, or an empty text."""
        return unproven(self.observation.doubts, self.serves) if self.observation else ""

    @property
    def unread(self) -> bool:
        """Return whether the host is managed and has no good observation."""
        return self.observation is None and self.state not in ("excluded", "retired")
