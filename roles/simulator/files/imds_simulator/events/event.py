# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""One maintenance event: the options of its creation, and its state."""

from __future__ import annotations

import uuid
from typing import Any, Dict, List, Optional

WAITING, SCHEDULED, STARTED, GONE = "waiting", "scheduled", "started", "gone"

MINIMUM_NOTICE = {"Freeze": 900, "Reboot": 900, "Redeploy": 600, "Preempt": 30, "Terminate": 300}
MAXIMUM_NOTICE = {"Terminate": 900}
_STARTED_SECONDS = {"Freeze": 300, "Preempt": 30, "Terminate": 60}
_IMPACT_SECONDS = {"Freeze": 7, "Reboot": 60, "Redeploy": 120}
_ENDS_VM = ("Preempt", "Terminate")
_DESCRIPTIONS = {
    ("Freeze", "Platform"): "Virtual machine is being paused because of a memory-preserving Live Migration operation.",
    ("Reboot", "User"): "Virtual machine is going to be restarted as requested by authorized user.",
    ("Redeploy", "User"): "Virtual machine is going to be redeployed as requested by authorized user.",
    ("Preempt", "Platform"): "",
}
_NUMBER = (int, float)

# The options of POST /events: name -> (types, default; None is derived from the others).
FIELDS: Dict[str, Any] = {
    "event_id": (str, None),
    "event_type": (str, "Reboot"),
    "resources": (list, None),
    "group": (str, None),
    "event_source": (str, "Platform"),
    "description": (str, None),
    "duration_in_seconds": (int, None),
    "notice": (_NUMBER, None),
    "not_before": (str, None),
    "status": (str, "Scheduled"),
    "approvals": (str, "one"),
    "tenants": (list, []),
    "start_delay": (_NUMBER, None),
    "started_seconds": (_NUMBER, None),
    "impact_after": (_NUMBER, 1),
    "impact_seconds": (_NUMBER, None),
    "impact_type": (str, None),
    "secondary_impacts": (list, []),
    "ends_vm": (bool, None),
    "cancel_after": (_NUMBER, None),
    "os_image": (bool, False),
    "not_before_form": (str, "rfc1123"),
    "extra": (dict, {}),
}
_CHOICES = {
    "status": ("Scheduled", "Started"),
    # one: one VM's POST is enough. all: every simulated VM in resources must POST. none: only NotBefore starts it.
    # automatic: the platform approves by itself.
    "approvals": ("one", "all", "none", "automatic"),
    "not_before_form": ("rfc1123", "iso8601", "blank", "absent", "wrong_weekday"),
}


class EventError(ValueError):
    """The options do not make an event; the message says why."""


class Event:
    """The state of one event. Only the machine changes it."""

    def __init__(self, options: Dict[str, Any]) -> None:
        values = _checked(options)
        self.event_type: str = values["event_type"]
        self.event_id: str = values["event_id"] or str(uuid.uuid4()).upper()
        self.resources: List[str] = values["resources"] or []
        self.group: Optional[str] = values["group"]
        self.event_source: str = values["event_source"]
        self.approvals: str = values["approvals"]
        self.tenants: List[Any] = list(values["tenants"])
        self.start_delay: Optional[float] = values["start_delay"]
        self.impact_after: float = values["impact_after"]
        self.impact_type: str = values["impact_type"] or self.event_type
        self.secondary_impacts: List[Dict[str, float]] = values["secondary_impacts"]
        self.cancel_after: Optional[float] = values["cancel_after"]
        self.os_image: bool = values["os_image"]
        self.not_before_form: str = values["not_before_form"]
        self.extra: Dict[str, Any] = values["extra"]
        self.starts_at_once: bool = values["status"] == "Started"
        self._fill_from_type(values)
        self._start_life()

    def _fill_from_type(self, values: Dict[str, Any]) -> None:
        kind = self.event_type
        self.duration: int = _or(values["duration_in_seconds"], 5 if kind == "Freeze" else -1)
        self.description: str = _or(values["description"], _DESCRIPTIONS.get((kind, self.event_source), "Host server is undergoing maintenance."))
        self.notice: float = _or(values["notice"], MINIMUM_NOTICE.get(kind, 900))
        self.requested_not_before: Optional[str] = values["not_before"]
        self.started_seconds: float = _or(values["started_seconds"], _STARTED_SECONDS.get(kind, 600))
        usual = self.duration if self.duration > 0 else _IMPACT_SECONDS.get(self.impact_type, 7)
        self.impact_seconds: float = _or(values["impact_seconds"], usual)
        self.ends_vm: bool = _or(values["ends_vm"], kind in _ENDS_VM)

    def _start_life(self) -> None:
        self.state = WAITING
        self.outcome: Optional[str] = None
        self.not_before = 0.0
        self.not_before_date = 0.0
        self.approved_by: List[str] = []
        self.tenants_approved = [False] * len(self.tenants)
        self.start_planned = False
        self.timers: List[Any] = []

    @property
    def listed(self) -> bool:
        """Return whether documents list the event."""
        return self.state in (SCHEDULED, STARTED)

    @property
    def status(self) -> str:
        """Return EventStatus as documents show it."""
        return "Started" if self.state == STARTED else "Scheduled"

    def names(self, vm_name: str) -> bool:
        """Return whether Resources has the name, compared without case."""
        wanted = vm_name.lower()
        return any(isinstance(name, str) and name.lower() == wanted for name in self.resources)

    def as_dict(self) -> Dict[str, Any]:
        """Return the event for the control API and the log, not for a document."""
        return {
            "event_id": self.event_id,
            "event_type": self.event_type,
            "event_source": self.event_source,
            "event_status": self.status if self.listed else None,
            "resources": self.resources,
            "description": self.description,
            "duration_in_seconds": self.duration,
            "state": self.state,
            "outcome": self.outcome,
            "approved_by": self.approved_by,
            "not_before_unix": self.not_before_date,
            "impact_type": self.impact_type,
            "impact_seconds": self.impact_seconds,
        }


def _or(value: Any, default: Any) -> Any:
    return default if value is None else value


def _checked(options: Dict[str, Any]) -> Dict[str, Any]:
    unknown = sorted(set(options) - set(FIELDS))
    if unknown:
        raise EventError("an event has no '%s'; known are %s" % (unknown[0], ", ".join(sorted(FIELDS))))
    values = {name: default for name, (_types, default) in FIELDS.items()}
    for name, value in options.items():
        types = FIELDS[name][0]
        # JSON null leaves the default; a bool would pass as a number.
        if value is None:
            continue
        if not isinstance(value, types) or (isinstance(value, bool) and types is not bool):
            raise EventError("'%s' of an event cannot be %r" % (name, value))
        if name in _CHOICES and value not in _CHOICES[name]:
            raise EventError("'%s' of an event is one of %s, not %r" % (name, ", ".join(_CHOICES[name]), value))
        values[name] = value
    return values
