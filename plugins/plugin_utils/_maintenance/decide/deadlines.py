# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Compute when drains, deadlines and retries are due."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..._core import plain_values
from ..config.settings import LONG_NOTICE, Settings
from ..config.start_when import ASK_SECONDS
from ..core.blocker import Blocker
from ..core.model import Host
from ..state import overrides
from ..state.event_state import EventState, clock_offset
from ..state.participant import Participant

# The check of a drained VM gets at least this long, also right before NotBefore.
SHORTEST = 10.0
# A drain that is held so that others serve is expected to take so many times as long as the longest of the last ones, and at least so many seconds.
TIMES_LONGEST, LEAST_DRAIN = 2.0, 120.0


def must_drain(participant: Participant, settings: Settings) -> bool:
    """Return whether waiting for another pass would be too late for a whole drain. An approved event may begin any moment."""
    return participant.coming or out_of_time(participant, settings)


def out_of_time(participant: Participant, settings: Settings) -> bool:
    """Return whether a whole drain must begin now, by NotBefore of the VM's own document."""
    left = latest(participant, settings)
    return left is not None and left <= 0


def latest(participant: Participant, settings: Settings) -> float | None:
    """Return the seconds until a whole drain must begin, or None without NotBefore."""
    return None if participant.left is None else participant.left - (settings.drain_seconds + settings.margin + settings.pass_interval)


def drain_share(host: Host, settings: Settings) -> float:
    """Return how many seconds a drain of a VM probably takes, by its last ones."""
    measured = host.observation.drain_times if host.observation else ()
    return min(max(TIMES_LONGEST * max(measured, default=0.0), LEAST_DRAIN), settings.drain_seconds)


def latest_held(participant: Participant, settings: Settings) -> float | None:
    """Return the seconds until a drain must begin that is held so that others serve, or None without NotBefore."""
    if participant.left is None:
        return None
    return participant.left - (drain_share(participant.host, settings) + settings.margin + settings.pass_interval)


def goes_alone(participant: Participant, settings: Settings, *, comes: bool) -> bool:
    """Return whether a drain no longer waits for others to serve: Azure takes the VM anyway, and it is not approved for that.

    C(comes) says that Azure may take it any moment.

    A pause that is shorter than the drain takes less from users than the drain, unless a short one hurts what is drained.
    """
    left = latest_held(participant, settings)
    if not comes and (left is None or left > 0):
        return False
    event, duration = participant.event, plain_values.whole(participant.event.values.get("duration_in_seconds"))
    short = event.event_type == "Freeze" and duration is not None and 0 <= duration < drain_share(participant.host, settings)
    return not short or participant.host.short_pause_hurts


def may_put_back(participant: Participant, settings: Settings) -> bool:
    """Return whether there is time to put a VM back that should serve, and to drain it once more before Azure takes it."""
    left = latest_held(participant, settings)
    return not participant.coming and (left is None or left > settings.undo_seconds)


def too_near_to_undo(event_state: EventState, participant: Participant, settings: Settings) -> bool:
    """Return whether there is no time to undo and drain again before the event begins, as far as known."""
    if participant.coming:
        return True
    if overrides.is_approval(event_state.override) and not event_state.blockers:
        return True
    return participant.left is not None and participant.left < settings.undo_seconds + settings.drain_seconds


def kept_from_draining(participant: Participant, settings: Settings) -> bool:
    """Return whether an override keeps the drain from beginning now."""
    return overrides.blocks_drain(participant.override, must_drain=must_drain(participant, settings))


def drain_blocker(event_state: EventState, participant: Participant, settings: Settings, now: float) -> Blocker | None:
    """Return what keeps a drain from beginning now, with the seconds until it is decided again; or None."""
    early = _too_early(event_state, participant, settings, now)
    hold = start_hold(event_state, participant, settings)
    # A start gate holds nothing that would wait without it, too.
    if hold is None or (early is not None and not hold.holds_approval):
        return early
    return replace(hold, wait=hold_wait(hold, participant, settings, now))


def start_hold(event_state: EventState, participant: Participant, settings: Settings) -> Blocker | None:
    """Return what keeps a drain from beginning: a pause, or the start gate. Nothing does at its deadline, and no override is passed over."""
    if must_drain(participant, settings) or (participant.override is not None and kept_from_draining(participant, settings)):
        return None
    return event_state.start_hold


def hold_wait(hold: Blocker, participant: Participant, settings: Settings, now: float) -> float:
    """Return the seconds until a held drain is decided again: when the hold ends, when the gate may be asked again, or at the deadline."""
    waits = [ASK_SECONDS if hold.retry_at is None else hold.retry_at - now, latest(participant, settings)]
    return min(seconds for seconds in waits if seconds is not None and seconds > 0)


def _too_early(event_state: EventState, participant: Participant, settings: Settings, now: float) -> Blocker | None:
    last = latest(participant, settings)
    if participant.override is not None and kept_from_draining(participant, settings):
        waits = [seconds for seconds in (last, (participant.override.until or now) - now) if seconds is not None and 0 < seconds < float("inf")]
        held = overrides.blocker(participant.override)
        return replace(held, wait=min(waits, default=None)) if held else None
    if participant.coming:
        return None
    decision = participant.decision
    if must_drain(participant, settings):
        if event_state.blockers and decision.hold_at_deadline == "let_it_come":
            return _not_due(participant, "it cannot be approved, and the policy (hold_at_deadline: let_it_come) does not drain for it", None)
        return None
    if decision.drain_at == "now":
        return None
    if isinstance(decision.drain_at, float):
        return _near(participant, last, decision.drain_at)
    if event_state.blockers:
        # The VM would only be out of service for longer: nothing can be approved before Azure begins by itself.
        return _not_due(participant, "it cannot be approved, so the drain begins shortly before NotBefore", last)
    if decision.window:
        # It is open: one that is closed is a blocker.
        return None
    return _near(participant, last, LONG_NOTICE)


def _near(participant: Participant, last: float | None, before: float) -> Blocker | None:
    if participant.left is None or participant.left <= before:
        return None
    wait = participant.left - before
    return _not_due(participant, "the drain begins closer to NotBefore", wait if last is None else min(wait, last))


def _not_due(participant: Participant, text: str, wait: float | None) -> Blocker:
    return Blocker("not_due", text, (participant.host.name,), wait=wait)


def deadline(participant: Participant, settings: Settings, now: float, *, begins: bool) -> float:
    """Return when a drain must be done, by the controller's clock: within its longest time, and soon enough before NotBefore."""
    record = None if begins else participant.record
    # One that has waited for others to serve began when it first set something.
    began = max((at for at in (record.last("draining"), record.first_set_at) if at is not None), default=None) if record else None
    limit = (now if began is None else min(began - clock_offset(participant.host.observation, now), now)) + settings.drain_seconds
    if not participant.started and participant.event.not_before is not None:
        due = participant.event.not_before - settings.margin
        # If there is time, leave enough for a later pass to react to a failure.
        early = due - settings.pass_interval
        limit = min(limit, early if early > now + SHORTEST else due)
    # One that still waits then has had its time, whatever its VM's clock says.
    is_over = participant.waits and limit < now
    return max(limit, now + SHORTEST) if begins and not is_over else limit


@dataclass(frozen=True, slots=True)
class Retry:
    """The retries of a failed drain."""

    failures: int
    exhausted: bool
    wait: float


def retry(participant: Participant, settings: Settings) -> Retry:
    """Return the retries of a failed drain. They are counted from the history, so that a crash cannot leave a wrong counter."""
    record = participant.record
    if record is None:
        raise AssertionError("only a participant with a record gets here")
    times = [at for phase, at in record.since("noticed") if phase == "failed"]
    failures = max(len(times), 1)
    allowed = 0 if (participant.decision.on_drain_failure or settings.on_drain_failure) == "hold" else settings.retries
    pause = settings.retry_pause * 2.0 ** min(failures - 1, 10)
    last = times[-1] if times else participant.observed_at
    wait = pause - (participant.observed_at - last) if last <= participant.observed_at else pause
    return Retry(failures, failures > allowed, max(wait, 0.0))
