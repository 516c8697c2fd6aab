# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The actions of a plan: typed values while the plan is made, and the dictionaries that the roles read.

They are in the lowest folder, because C(decide) makes actions as C(act) does, and imports go downwards only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import ClassVar

from ....module_utils._scheduled_events.core.types import Data, Values

# Of a field whose key is left out while the field has its default.
OPTIONAL = {"optional": True}


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One thing to do on one host."""

    name: ClassVar[str]
    """The kind of action, as the roles and the stages know it."""
    host: str
    event_id: str
    reason: str
    continues: bool = False
    """Whether the action continues one that was begun before: then the next observation is not due at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AcquireLease(Action):
    """Acquire the lease of one VM for one event or upgrade."""

    name: ClassVar[str] = "acquire"
    lease: Values
    expired: list[str]
    """File names of expired leases, which are removed with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseLease(Action):
    """Release a lease of this run, or remove expired leases of other runs."""

    name: ClassVar[str] = "release"
    lease: Values
    expired: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteRecord(Action):
    """Write what is new about an event to its record."""

    name: ClassVar[str] = "write"
    changes: Values
    stamp: list[str]
    """Keys that get the VM's own time."""
    event: Values | None
    lease: Values | None
    """The lease under which it is written; None if it needs none."""
    expected_revision: int | None = field(default=None, metadata=OPTIONAL)
    """The revision that the record must have, 0 for a record that must not exist, None for any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreRecord(Action):
    """Write a lost record back, from its replica on another VM."""

    name: ClassVar[str] = "write"
    restore: Values
    changes: Values = field(default_factory=dict)
    stamp: list[str] = field(default_factory=list)
    event: None = None
    lease: Values | None = field(default=None, metadata=OPTIONAL)
    expected_revision: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Approve(Action):
    """Approve events from one VM, in one request."""

    name: ClassVar[str] = "approve"
    event_ids: list[str]
    approve_for: list[str]
    """The names of all VMs that the events hit."""
    lease: Values | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodAction(Action):
    """An action of the drain methods of a VM, under the VM's lease."""

    lease: Values | None
    keeper: str | None = field(default="", metadata=OPTIONAL)
    """The VM that keeps the replica of the record: None if no VM can, empty if no replica is needed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drain(MethodAction):
    """Drain a VM, or verify that it is still drained."""

    name: ClassVar[str] = "drain"
    event: Values
    deadline: str
    rule: Values
    verify: bool
    must: bool = field(default=False, metadata=OPTIONAL)
    """Whether a method begins whoever else serves: there is no time to wait, or an operator wants it."""
    away: Sequence[Values] = field(default=(), metadata=OPTIONAL)
    """The targets of VMs that do not count as serving: other runs have leased them, or the event takes them, too."""
    serves: str = field(default="", metadata=OPTIONAL)
    """What its health check says of a VM that is in service (Host.serves), for check mode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Undo(MethodAction):
    """Undo a failed or held drain before the event is over."""

    name: ClassVar[str] = "undo"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recover(MethodAction):
    """Undo a drain after the event."""

    name: ClassVar[str] = "recover"


@dataclass(frozen=True, slots=True, kw_only=True)
class Replicate(Action):
    """Write, or remove, the replica of another VM's record."""

    name: ClassVar[str] = "replicate"
    vm: str
    """The VM whose record it is; C(host) keeps the replica."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notify(Action):
    """Run the tasks of C(respond_notify_tasks) for one phase of an event."""

    name: ClassVar[str] = "notify"
    phase: str
    changes: Values
    """What is written to the record when they have run."""
    failed: Values
    """What is written to it when they have failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prune(Action):
    """Remove a record that is no longer needed."""

    name: ClassVar[str] = "prune"
    history: Mapping[str, int] | None = field(default=None, metadata=OPTIONAL)
    """The limits of the VM's history, where they are not the usual ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkProgress(Action):
    """Write the progress mark of an upgrade on a VM."""

    name: ClassVar[str] = "mark_progress"
    upgrade: str
    state: str
    lease: Values | None


KINDS = (AcquireLease, ReleaseLease, WriteRecord, RestoreRecord, Approve, Drain, Undo, Recover, Replicate, Notify, Prune, MarkProgress)


def keys(kind: type[Action]) -> dict[str, bool]:
    """Return the keys that the dictionaries of a kind of action have, each with whether it is always there."""
    return {"host": True, "action": True, **{one.name: not one.metadata for one in fields(kind)}}


def serialise(action: Action) -> Data:
    """Return the dictionary of an action, as the roles read it."""
    values = {one.name: getattr(action, one.name) for one in fields(action) if not one.metadata or getattr(action, one.name) != one.default}
    return {"host": action.host, "action": action.name, **values}
