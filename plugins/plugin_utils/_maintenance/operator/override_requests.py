# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Overrides that an operator requests (playbook decide.yml): checked, and the writes to the records of the event's VMs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ....module_utils._scheduled_events.core.printable_text import printable
from ....module_utils._scheduled_events.core.types import Data
from ....module_utils._scheduled_events.journal.overrides import LONGEST_TEXT, NEEDS_WHY
from ..._core import plain_values
from ..._core.short_forms import some
from ..._core.wrong_input import WrongInput
from ..config import policy
from ..config import settings as settings_module
from ..core import timestamps
from ..core.model import Override
from ..decide import unread
from ..observe.directory import Directory
from ..observe.reading import read_observations
from ..report import event_choice
from ..state import overrides
from ..state.event_state import build_event_state
from ..state.observed_event import ObservedEvent, collect, merge
from ..state.participant import Participant

# The actions of an override. Records of 1.3 may also hold retire_vm.
ACTIONS = ("approve", "hold", "release", "let_it_come")
OPTIONS = ("event_id", "action", "who", "why", "until", "hours", "vm")
DEFAULT_HOURS = 24.0
SHOWN_VMS = 6


@dataclass(frozen=True)
class OverrideRequest:
    """A checked request, before its VMs are known."""

    event_id: str
    override: Override
    end: float | None
    """The requested end, or None."""
    duration: float | None
    """The requested duration in seconds, or None."""


# --- The request ---------------------------------------------------------------------------------------------------------


def load(given: Any, now: float) -> OverrideRequest:
    """Check the request before any VM is observed. Raise WrongInput."""
    source = {key: plain_values.text(value) for key, value in plain_values.mapping(given).items()}
    unknown = sorted(str(key) for key in source if key not in OPTIONS)
    if unknown:
        raise WrongInput(f"there is no decide_{unknown[0]}; there are {', '.join('decide_' + key for key in OPTIONS)}")
    texts = {key: (source.get(key) or "").strip() for key in OPTIONS}
    event_id, action, who, why = texts["event_id"], texts["action"], texts["who"], texts["why"]
    checks = (
        (not event_id, "decide_event_id is missing: the id of the event, as maintenance.azure.status shows it"),
        (
            action == "retire_vm",
            "a VM is retired by the controller, not in a VM's record: name it in respond_retired, in the inventory or as an extra variable",
        ),
        (action not in ACTIONS, f"decide_action is {action!r}; it must be one of {', '.join(ACTIONS)}"),
        (not who, "decide_who is missing: the name of the operator"),
        (action in NEEDS_WHY and not why, f"decide_why is missing: {action} needs a reason for the records"),
        (texts["vm"], "decide_vm was for retire_vm, which is respond_retired now: name the VM there"),
        *((len(texts[key]) > LONGEST_TEXT, f"decide_{key} has more than {LONGEST_TEXT} characters") for key in ("who", "why")),
    )
    for is_wrong, message in checks:
        if is_wrong:
            raise WrongInput(message)
    end, duration = _end(texts["until"], now), _duration(texts["hours"], bool(texts["until"]))
    until = end if end is not None else now + (DEFAULT_HOURS * 3600 if duration is None else duration)
    override = Override(action, who, why or None, now, None if action == "release" else until, None)
    return OverrideRequest(event_id, override, end, duration)


def _end(given: str, now: float) -> float | None:
    if not given:
        return None
    moment = timestamps.parse(given)
    if moment is None:
        raise WrongInput(f"decide_until must be a time such as 2026-11-23T08:00:00Z (UTC where it names no zone), not {given!r}")
    if moment <= now:
        raise WrongInput(f"decide_until is {given}, which is over: it is {timestamps.form(now)} here")
    return moment


def _duration(given: str, until: bool) -> float | None:
    if not given:
        return None
    hours = plain_values.number(given)
    if hours is None or not 0 < hours <= 24 * 366:
        raise WrongInput(f"decide_hours must be a number of hours, more than 0 and at most a year, not {given!r}")
    if until:
        raise WrongInput("give decide_until or decide_hours, not both")
    return hours * 3600


# --- The writes ----------------------------------------------------------------------------------------------------------


def answer(observations: Any, request: Any, settings: Any = None, now: Any = None) -> Data:
    """Return the changes to the record of each VM of the event; none for a record that already has the override.

    Without observations the request is only checked.
    """
    moment = timestamps.parse(now)
    if observations is None:
        load(request, moment or 0.0)
        return {"event_id": None, "text": None, "writes": []}
    if moment is None:
        raise WrongInput(f"now must be a time such as 2026-11-21T20:00:00Z, not {now!r}")
    asked = load(request, moment)
    chosen = settings_module.load(settings)
    hosts = overrides.retire(read_observations(observations), chosen.retired)
    if none_read := unread.none_read(hosts):
        raise WrongInput(none_read)
    seen = _find(asked.event_id, collect(hosts))
    event_state = build_event_state(seen, Directory(hosts), policy.load("default"), chosen, moment)
    carriers = [participant for participant in event_state.participants if participant.named and participant.ok]
    if not carriers:
        names = ", ".join(event_state.event.resources) or "it names no VM"
        raise WrongInput(f"no VM of event {event_state.event.event_id} answers ({names}), and only their records count; try again when one does")
    override = _repeated_or_new(asked, carriers, moment)
    return {
        "event_id": event_state.event.event_id,
        "text": printable(override.text),
        "writes": [write for participant in carriers if (write := _write(participant, override))],
    }


def _find(event_id: str, events: Iterable[ObservedEvent]) -> ObservedEvent:
    """Find the event by its whole id or an unambiguous beginning of it. Raise WrongInput."""
    known = {seen.key: seen for seen in events}
    shown = {key: _shown(seen) for key, seen in known.items()}
    try:
        found = event_choice.select(event_id, shown)
    except WrongInput as error:
        raise WrongInput(f"decide_event_id: {error}") from error
    if found is None:
        raise WrongInput(event_choice.unknown(event_id, shown))
    return known[found]


def _shown(seen: ObservedEvent) -> str:
    event = merge(seen.versions or seen.recorded)
    return f"{event.event_id} ({event.event_type} of {some(event.resources, SHOWN_VMS) or 'no VM'})"


def _repeated_or_new(request: OverrideRequest, carriers: Iterable[Participant], now: float) -> Override:
    """Return the requested override, or the recorded one that it repeats, with its times, as long as that is in force."""
    recorded = [overrides.newest_override(participant.record.overrides if participant.record else (), now) for participant in carriers]
    new = request.override
    for old in sorted((one for one in recorded if one is not None), key=lambda one: -one.at):
        if _repeats(old, request) and (old.action == "release" or old.holds(now)):
            # A newer override of another operator would take precedence over the older one.
            newest = max(one.at for one in recorded if one is not None)
            return old if old.at >= newest else new
    return new


def _repeats(old: Override, request: OverrideRequest) -> bool:
    """Return whether the request repeats the override. Another end makes it a new one: a VM could have changed the recorded end."""
    new = request.override
    if (old.action, old.who, old.why) != (new.action, new.who, new.why):
        return False
    if old.until is None:
        return True
    wanted = request.end if request.end is not None else old.at + (DEFAULT_HOURS * 3600 if request.duration is None else request.duration)
    return abs(old.until - wanted) < 1.0


def _write(participant: Participant, override: Override) -> Data | None:
    record = participant.record
    if record is not None and record.overrides == (override,):
        return None
    changes: Data = {"decision": {**override.as_dict(), "beside": []}}
    step: Data = {"host": participant.host.name, "changes": changes, "event": None}
    if record is not None:
        return {**step, "event_id": record.event.event_id}
    step.update(event_id=participant.event.event_id, event=participant.event.for_record())
    if not participant.listed:
        # C(noticed) would mean that the VM's own document listed the event; this record only carries the override.
        changes.update(phase="held", reason=override.text)
        step["expected_revision"] = 0
    return step
