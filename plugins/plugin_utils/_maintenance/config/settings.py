# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Settings of the plan, each with its default, checked when loaded."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any

from ....module_utils._scheduled_events.core.types import Data
from ....module_utils._scheduled_events.journal.history_limits import MOST, Limits
from ....module_utils._scheduled_events.lease.lease_schema import KINDS
from ....module_utils._scheduled_events.lease.lease_time import LEASE
from ..._core import plain_values
from ..._core.short_forms import suggestion
from ..._core.wrong_input import WrongInput
from ..._settings.renamed import refused_settings
from ..core.blocker import Blocker
from .alike_groups import load_alike
from .capacity_groups import Group, load_clusters
from .capacity_groups import load as load_groups
from .start_when import Pause, answer, load_pause

# Clocks of VMs that differ less from the controller's count as equal: an observation itself may take 30 s.
CLOCK_TOLERANCE = 60.0
# With more notice than this, an event drains near its time and not days before.
LONG_NOTICE = 3600.0
# The phases that operators are notified of, in this order. The others pass too quickly.
NOTIFIED_PHASES = ("noticed", "held", "failed", "drained", "approved", "started", "gone", "recovered")


# A run's id becomes part of a file name on the VMs.
RUN_ID = re.compile(r"[a-z0-9]{4,32}")


@dataclass(frozen=True)
class Run:
    """The run that will take the actions. A run without an id acquires no leases: its plan is for display only."""

    id: str = ""
    who: str = ""
    kind: str = "events"
    looks: int = 0
    """How often it has looked again in this pass because it has met another run."""


@dataclass(frozen=True)
class Settings:
    """What the plan needs besides the observations and the policy. Times are in seconds."""

    unmanaged: str = "wait"
    """What to do when an event names unmanaged VMs: C(wait) never approves, C(ignore) does."""
    pass_interval: float = 300.0
    """The next observation follows after this many seconds at the latest; 0 for a run that waits itself."""
    margin: float = 30.0
    drain_seconds: float = 600.0
    """The longest duration of a drain."""
    undo_seconds: float = 60.0
    retries: int = 3
    """Retries after the first failed drain."""
    retry_pause: float = 30.0
    """Pause before the first retry; doubled each time."""
    gone_seconds: float = 10.0
    enabling_seconds: float = 300.0
    witness_seconds: float = 600.0
    verify_seconds: float = 60.0
    recover_seconds: float = 600.0
    check_interval: float = 5.0
    longest_requeue: float = 300.0
    has_health: bool = False
    """Whether a health check is configured: recovered then means in service by it."""
    notify: bool = True
    """Whether notifications are configured. Without them, records do not keep which phases were notified."""
    notify_targets: tuple[str, ...] = ()
    """The names of the notification targets."""
    notify_failures: tuple[str, ...] = ()
    """The names of those for what fails for good, or is held near its deadline."""
    notify_phases: tuple[str, ...] = NOTIFIED_PHASES
    """The phases that the targets are told of."""
    notified: Mapping[str, str] = field(default_factory=dict)
    """What became of each notice in this pass: sent, delivered or failed."""
    on_drain_failure: str = "retry"
    only_events: tuple[str, ...] = ()
    """Act on these events only (lower case); on all if empty."""
    partial: bool = False
    """Whether this run looks at some hosts of the inventory only, so that an unknown name may belong to any of the others."""
    min_answered: float = 0.0
    """The share of the VMs, 0 to 1, that must answer; at least one of them must in any case."""
    allow_empty: bool = False
    """Whether a run without any VM, or with VMs that are all switched off, is in order."""
    retired: tuple[str, ...] = ()
    """VMs that will not come back (lower case) and hold nothing up. Only the controller retires a VM, never the VM's own answer."""
    capacity: tuple[Group, ...] = ()
    """Groups of which only a limited number of VMs may be unavailable at once: those declared, those of clusters, and those of VMs that are drained alike."""
    clusters: None = None
    """The hosts of each cluster that drain methods name, as loaded; they are in C(capacity) then."""
    alike: None = None
    """The groups of VMs that are drained alike, as loaded, or whether they are to be derived; they are in C(capacity) then, too."""
    run: Run = Run()
    """The run that takes the actions, for its leases."""
    paused: Pause | None = None
    """The pause of the whole fleet, which may be over."""
    start_gate: Blocker | None = None
    """What the start gate holds by its last answer. None where it said yes, where there is none, and where its answer is not known yet."""
    lease_seconds: float = LEASE
    """Time limit of each action under a lease: longer than an iteration takes, short enough to wait for after a crash."""
    history: Mapping[str, int] | None = None
    """The limits of the history of each VM, where they are not the usual ones."""
    rehearsal: bool = False
    """Whether a simulator plays the VMs, so that a lease may be shorter than an action may take (timing.py)."""


# Settings that have an option of their own, which overrides them in respond_timing. Those without a name are the collection's own.
OWN_OPTIONS = {
    **{
        name: f"respond_{name}"
        for name in ("allow_empty", "capacity", "drain_seconds", "history", "min_answered", "only_events", "pass_interval", "paused", "retired")
    },
    "alike": "respond_capacity_alike",
    "unmanaged": "respond_unmanaged",
    "has_health": "respond_health",
    "notify": "respond_notify_tasks",
    "notify_targets": "respond_notify",
    "notify_failures": "respond_notify_failures",
    "notify_phases": "respond_notify_phases",
    "notified": "",
    "partial": "",
    "clusters": "",
    "run": "",
    "start_gate": "respond_start_when",
}
CHOICES = {"unmanaged": ("wait", "ignore"), "on_drain_failure": ("retry", "hold")}


def load(value: Any) -> Settings:
    """Check the configured values. Raise WrongInput for unknown names and unusable values."""
    if value is None:
        return Settings()
    if not isinstance(value, Mapping):
        raise WrongInput(f"settings must be a dictionary, not {plain_values.kind(value)}")
    known = {one.name: one.default for one in fields(Settings)}
    result: Data = {}
    for key, given in value.items():
        name = plain_values.text(key) or ""
        if name not in known:
            if renamed := refused_settings({name: given}):
                raise WrongInput(renamed)
            there = sorted(known.keys() - OWN_OPTIONS.keys())
            raise WrongInput(f"unknown setting {name!r} (respond_timing){suggestion(name, there)}; there are: {', '.join(there)}")
        if given is not None:
            result[name] = SPECIAL[name](given) if name in SPECIAL else _checked(name, given, known[name])
    if clustered := load_clusters(result.pop("clusters", None), result.get("capacity", ())):
        result["capacity"] = (*result.get("capacity", ()), *clustered)
    if alike := load_alike(result.pop("alike", None)):
        result["capacity"] = (*result.get("capacity", ()), *alike)
    return Settings(**result)


def without_effect(timing: Any) -> list[str]:
    """Return a warning for each key of respond_timing that an option overrides."""
    own = [name for name in map(str, timing) if name in OWN_OPTIONS] if isinstance(timing, Mapping) else []
    return [f"respond_timing: {name} has no effect there; {f'set {OWN_OPTIONS[name]}' if OWN_OPTIONS[name] else 'remove it'}" for name in own]


def _option(name: str) -> str:
    """Return where an operator has written a setting."""
    return OWN_OPTIONS.get(name) or f"respond_timing: {name}"


def _checked(name: str, given: Any, default: Any) -> Any:
    if isinstance(default, bool):
        answer = plain_values.flag(given)
        if answer is None:
            raise WrongInput(f"{_option(name)} must be true or false, not {given!r}")
        return answer
    if isinstance(default, (int, float)):
        amount = plain_values.number(given)
        if amount is None or amount < 0:
            raise WrongInput(f"{_option(name)} must be a number, 0 or more, not {given!r}")
        if name == "min_answered" and amount > 1:
            raise WrongInput(f"respond_min_answered is a share of the VMs, 0 to 1, not {given!r}")
        if isinstance(default, int) and amount != int(amount):
            raise WrongInput(f"{_option(name)} must be a whole number, not {given!r}")
        return int(amount) if isinstance(default, int) else amount
    if isinstance(default, tuple):
        return _ids(name, given)
    choice = plain_values.text(given)
    if choice not in CHOICES[name]:
        raise WrongInput(f"{_option(name)} must be one of {', '.join(CHOICES[name])}, not {given!r}")
    return choice


def _run(given: Any) -> Run:
    source = plain_values.mapping(given)
    found, kind = plain_values.text(source.get("id")) or "", plain_values.text(source.get("kind")) or "events"
    unknown = sorted(set(source) - {"id", "who", "kind", "looks"})
    if not isinstance(given, Mapping) or unknown or kind not in KINDS or (found and not RUN_ID.fullmatch(found)):
        raise WrongInput(f"setting run must be a dictionary with id (4 to 32 small letters and digits), who, and kind ({' or '.join(KINDS)}), not {given!r}")
    return Run(found, plain_values.text(source.get("who")) or "", kind, plain_values.whole(source.get("looks")) or 0)


def load_limits(option: str, given: Any) -> dict[str, int] | None:
    """Return the limits of a history that are given, or None without any. Raise WrongInput."""
    source = plain_values.mapping(given)
    found = {str(key): plain_values.whole(value) for key, value in source.items()}
    wrong = [key for key, value in found.items() if key not in Limits._fields or value is None or not 0 <= value <= MOST.get(key, value)]
    if not isinstance(given, Mapping) or wrong:
        numbers = f"whole numbers of 0 or more (at most {MOST['entries']} entries and {MOST['bytes']} bytes)"
        raise WrongInput(f"{option} must be a dictionary with {', '.join(Limits._fields)}, {numbers}, not {given!r}")
    return {key: value for key, value in found.items() if value is not None} or None


def _phases(given: Any) -> tuple[str, ...]:
    listed = [item.strip() for item in given.split(",") if item.strip()] if isinstance(given, str) else plain_values.texts(given)
    unknown = [item for item in listed if item not in NOTIFIED_PHASES]
    if unknown or not listed:
        raise WrongInput(f"respond_notify_phases must be a list of {', '.join(NOTIFIED_PHASES)}" + (f", not {unknown[0]!r}" if unknown else ""))
    return tuple(listed)


def _names(given: Any) -> tuple[str, ...]:
    return tuple(plain_values.texts(given))


SPECIAL: dict[str, Callable[[Any], Any]] = {
    "alike": lambda given: given,
    "capacity": load_groups,
    "clusters": lambda given: given,
    "history": partial(load_limits, "respond_history"),
    "notified": plain_values.mapping,
    "notify_failures": _names,
    "notify_phases": _phases,
    "notify_targets": _names,
    "paused": load_pause,
    "run": _run,
    "start_gate": answer,
}


def _ids(name: str, given: Any) -> tuple[str, ...]:
    if isinstance(given, str):
        given = [item for item in (participant.strip() for participant in given.split(",")) if item]
    ids = plain_values.texts(given)
    # Any other value must not count as an empty list, which would select all events.
    if len(ids) != len(plain_values.items(given)) or not (given is None or (isinstance(given, Sequence) and not isinstance(given, (bytes, bytearray)))):
        wanted = "names of VMs" if name == "retired" else "event ids"
        raise WrongInput(f"respond_{name} must be a list of {wanted}, or text with commas between them, not {given!r}; quote what is a number")
    return tuple(item.lower() for item in ids)
