# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The request to the gate: which VMs of which upgrade, and which events block it. Checked when loaded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ....module_utils._scheduled_events.imds.document import EVENT_FIELDS
from ....module_utils._scheduled_events.lease.lease_schema import UPGRADE
from ..._core import plain_values
from ..._core.wrong_input import WrongInput

# Known types, which C(types) may exclude. An unknown type always blocks.
KNOWN_TYPES = EVENT_FIELDS["event_type"].words
LONGEST_NAME = 100


@dataclass(frozen=True)
class GateRequest:
    """One request to the gate. Times are in seconds."""

    upgrade: str
    """The upgrade's name, which its leases and progress marks carry."""
    batch: tuple[str, ...]
    """The inventory hosts that would be taken out of service together."""
    quiet_seconds: float = 60.0
    """How long an event of the batch must be over."""
    look_ahead: float | None = None
    """Events that start later than this plus the batch's time do not block. Without it every listed event blocks."""
    batch_seconds: float = 0.0
    """The approximate duration of the batch."""
    types: tuple[str, ...] = ()
    """Event types that block (lower case). All if empty."""
    marks: bool = False
    """Whether to skip VMs that a mark of this upgrade reports as done, and to mark those that begin."""

    tasks_digest: str = ""
    """The digest of the upgrade's tasks file. A VM that was upgraded with another one is refused. Not compared if empty."""

    @property
    def lease_id(self) -> str:
        """Return the lease's subject, instead of an event's id."""
        return UPGRADE + self.upgrade

    @property
    def horizon(self) -> float | None:
        """Return the seconds after which events do not block, or None for no limit."""
        return None if self.look_ahead is None else self.look_ahead + self.batch_seconds


def load(value: Any) -> GateRequest:
    """Check a request. Raise WrongInput for unknown names and unusable values."""
    if not isinstance(value, Mapping):
        raise WrongInput(f"ask must be a dictionary with upgrade and batch, not {type(value).__name__}")
    given = {plain_values.text(key) or "": item for key, item in value.items()}
    if unknown := sorted(set(given) - set(GateRequest.__dataclass_fields__)):
        raise WrongInput(f"unknown keys {', '.join(unknown)}; there are {', '.join(GateRequest.__dataclass_fields__)}")
    ahead = given.get("look_ahead")
    return GateRequest(
        upgrade=_name(given.get("upgrade")),
        batch=_hosts(given.get("batch")),
        quiet_seconds=_seconds("quiet_seconds", given.get("quiet_seconds"), GateRequest.quiet_seconds),
        # A template may turn null into the empty text.
        look_ahead=None if ahead is None or ahead == "" else _seconds("look_ahead", ahead, 0.0),
        batch_seconds=_seconds("batch_seconds", given.get("batch_seconds"), GateRequest.batch_seconds),
        types=_types(given.get("types")),
        marks=_flag(given.get("marks")),
        tasks_digest=plain_values.text(given.get("tasks_digest")) or "",
    )


def _name(given: Any) -> str:
    name = (plain_values.text(given) or "").strip()
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise WrongInput(f"upgrade must be a name of 1 to {LONGEST_NAME} printable letters, not {given!r}")
    return name


def _hosts(given: Any) -> tuple[str, ...]:
    names = plain_values.texts(given)
    if not names or len(names) != len(plain_values.items(given)):
        raise WrongInput(f"batch must be a list of inventory hosts, at least one, not {given!r}")
    return tuple(dict.fromkeys(names))


def _seconds(name: str, given: Any, default: float) -> float:
    if given is None:
        return default
    amount = plain_values.number(given)
    if amount is None or amount < 0:
        raise WrongInput(f"{name} must be a number of seconds, 0 or more, not {given!r}")
    return amount


def _types(given: Any) -> tuple[str, ...]:
    types = [given] if isinstance(given, str) and given else given
    found = tuple(one.strip().lower() for one in plain_values.texts(types))
    if len(found) != len(plain_values.items(types)) or (types and not found):
        raise WrongInput(f"types must be a list of event types such as {', '.join(KNOWN_TYPES)}, not {given!r}")
    return found


def _flag(given: Any) -> bool:
    answer = False if given is None else plain_values.flag(given)
    if answer is None:
        raise WrongInput(f"marks must be true or false, not {given!r}")
    return answer
