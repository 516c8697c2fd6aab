# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The bounds of each time setting, and what they follow from. Checked before anything is done: beyond them a run fails on its VMs, or acts wrongly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ....module_utils._scheduled_events.core.types import Values
from ....module_utils._scheduled_events.lease.lease_time import LEAST_LEASE, LONGEST_LEASE, WHY_LEAST
from ..._core import plain_values
from ..._core.wrong_input import WrongInput
from .settings import OWN_OPTIONS, Settings

DAY = 86400


class Bounds(NamedTuple):
    """The lowest and the highest sensible value, and why."""

    least: float
    most: float
    why: str


LEASE = Bounds(LEAST_LEASE, LONGEST_LEASE, f"{WHY_LEAST}; with rehearsal: true in respond_timing, for VMs that a simulator plays, 1 or more")
BOUNDS = {
    "check_interval": Bounds(0, 3600, "so late the end of a drain is seen"),
    "drain_seconds": Bounds(1, DAY, "a drain without time always fails, and one without end is always at its deadline"),
    "enabling_seconds": Bounds(0, DAY, "so long after Scheduled Events were enabled an empty list proves nothing"),
    "gone_seconds": Bounds(1, 600, "two documents that were read at the same moment prove no end of an event"),
    "lease_seconds": LEASE,
    "longest_requeue": Bounds(5, 3600, "so long a pass waits for news at most, and a shorter wait would be spent on looking"),
    "margin": Bounds(0, 900, "Azure gives most events 15 minutes of notice, and with a longer margin each would be at its deadline when it is first seen"),
    "pass_interval": Bounds(0, DAY, "so late the next run is expected"),
    "recover_seconds": Bounds(10, DAY, "a service needs time to start, and two checks to be seen"),
    "retries": Bounds(0, 100, "each failed drain takes users from the VM"),
    "retry_pause": Bounds(1, 3600, "without a pause all retries fail for the same passing reason"),
    "undo_seconds": Bounds(0, 3600, "a failed drain is undone only while so much time is left beside a new one"),
    "verify_seconds": Bounds(30, 3600, "one iteration may take 30 seconds, and a drain that was verified before it must still count after it"),
    "witness_seconds": Bounds(60, DAY, "the document of another VM may be older by a minute"),
}


def refuse_out_of_bounds(settings: Settings) -> None:
    """Raise WrongInput for a time setting that is out of its bounds."""
    for name in BOUNDS:
        _refuse(name, getattr(settings, name), lambda: settings.rehearsal, OWN_OPTIONS.get(name) or f"respond_timing: {name}")


def seconds_of_batch(settings: Settings, leases: Values, step_seconds: float | None) -> float:
    """Return how long the first leases of a batch last: as its option says, or, for a step of an upgrade, as long as the step and one action.

    C(leases) has the options that say how long VMs are leased, by their names. Raise WrongInput for a time that is out of its bounds.
    """
    refuse_out_of_bounds(settings)
    found = settings.lease_seconds
    for option, given in leases.items():
        found = seconds_of_lease(option, given, lambda: settings.rehearsal)
    return found if step_seconds is None else min(step_seconds + settings.lease_seconds, LONGEST_LEASE)


def wrong_leases(given: Values, variables: Values, template: Callable[[Any], Any]) -> str | None:
    """Return what is wrong with the seconds of leases, by the names of their options. Only one that is too short needs the setting respond_timing."""
    try:
        for option, seconds in given.items():
            if seconds is not None:
                seconds_of_lease(option, seconds, lambda: _is_rehearsal(template(variables.get("respond_timing"))))
    except WrongInput as error:
        return str(error)
    return None


def _is_rehearsal(timing: Any) -> bool:
    return plain_values.flag(plain_values.mapping(timing).get("rehearsal")) is True


def seconds_of_lease(option: str, given: Any, rehearsal: Callable[[], bool]) -> float:
    """Return how long an option says that VMs are leased. Raise WrongInput for what is no number, or out of its bounds: those of a rehearsal are wider."""
    seconds = plain_values.number(given)
    if seconds is None:
        raise WrongInput(f"{option} must be a number of seconds, not {given!r}")
    _refuse("lease_seconds", seconds, rehearsal, option)
    return seconds


def _refuse(name: str, value: float, rehearsal: Callable[[], bool], where: str) -> None:
    bounds = BOUNDS[name]
    least = 1 if name == "lease_seconds" and value < bounds.least and rehearsal() else bounds.least
    if not least <= value <= bounds.most:
        raise WrongInput(f"{where} is {value:g}; it must be {least:g} to {bounds.most:g}: {bounds.why}")
