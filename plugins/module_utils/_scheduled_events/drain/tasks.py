# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""What a method of an order works with: its class, its options, the event, the time that is left, and what it may reach."""

from __future__ import annotations

import functools
import time
import typing as t

from ..core.types import Data, Values
from ..host.machine.machine import Machine
from ..host.system import seconds_between
from ..journal.recorded import Recorded
from .journal import environment_of, resources_of, text_of
from .methods.method import Event, Method, MethodError, Task
from .orders import MethodOrder
from .registry import defaults, methods_of


class Tasks:
    """Make the tasks of one drain or undo."""

    def __init__(self, machine: Machine, event: Values, deadline: str | None, members: t.Mapping[str, str]) -> None:
        self._machine = machine
        self._values = event
        self._event = event_of(event)
        self._deadline = deadline
        self._members = members
        self._environment = environment_of(event, deadline)

    def of(self, order: MethodOrder, entry: Recorded, present: Values | None = None, must_begin: bool = False) -> Task:
        """Return the task of a method with what the record has of it."""
        left = self._seconds_to(self._event.not_before)
        left = None if left is None else max(left, 0.0)
        return Task(
            options_of(order, entry, self._machine.system),
            entry.before or {},
            entry.state,
            entry.since,
            dict(self._environment, MAINTENANCE_SECONDS_LEFT="" if left is None else str(int(left))),
            present or {},
            resources_of(self._values),
            self._members,
            left,
            self._deadline,
            self._event,
            must_begin,
        )

    def has_only(self, seconds: float) -> bool:
        """Return whether no more than so many seconds are left before the deadline; without one, before NotBefore. A time that is not known is none."""
        left = self._seconds_to(self._deadline or self._event.not_before)
        return left is None or left <= seconds

    def machine(self, order: MethodOrder) -> Machine:
        """Return the machine as the method may use it: its daemons are those of the VM, and those that the settings name."""
        daemons = self._machine.daemons
        return self._machine if daemons is None else self._machine._replace(daemons=functools.partial(daemons, order.addresses))

    def _seconds_to(self, moment: str | None) -> float | None:
        if not moment:
            return None
        now, asked_at = self._asked
        left = seconds_between(now, moment)
        return None if left is None else left - (time.monotonic() - asked_at)

    @functools.cached_property
    def _asked(self) -> tuple[str, float]:
        """The VM's clock when it was first asked: each time costs a call of a Windows VM."""
        return self._machine.now(), time.monotonic()


def event_of(event: Values) -> Event:
    """Return an event typed. A value of another type than Azure's is not known."""

    def text(key: str) -> str | None:
        return text_of(event.get(key)) or None

    duration = event.get("duration_in_seconds")
    known = isinstance(duration, int) and not isinstance(duration, bool) and duration >= 0
    return Event(
        text_of(event.get("event_id")), text("event_type"), text("event_status"), text("not_before"), duration if known else None, text("event_source")
    )


def method_of(order: MethodOrder, system: str) -> Method:
    """Return the method that a step names. Raise MethodError where it does not run on the VM."""
    methods = methods_of(system)
    if order.kind not in methods:
        raise MethodError(f"there is no method {order.kind!r} that runs on the VM; known are {', '.join(methods)}")
    return methods[order.kind]


def options_of(order: MethodOrder, entry: Recorded, system: str) -> Data:
    """Return the options of a method: those of the record where it rules and has any, else as configured, with the defaults and the overrides."""
    recorded = entry.options if order.by_record and not entry.untouched else {}
    return {**defaults(order.kind, system), **(recorded or order.options), **order.override}
