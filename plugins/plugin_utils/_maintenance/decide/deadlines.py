# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When things are due: drains, deadlines, retries."""

from __future__ import annotations

from dataclasses import dataclass

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config.settings import LONG_NOTICE, Settings
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.state import overrides
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.state.event_state import Case, Part, clock_offset

# A check of what is drained already gets at least this long, also right before NotBefore.
SHORTEST = 10.0


def must_drain(part: Part, settings: Settings) -> bool:
    """Whether waiting for another pass would be too late for a whole drain. What is approved may begin any moment."""
    return part.coming or out_of_time(part, settings)


def out_of_time(part: Part, settings: Settings) -> bool:
    """Whether a whole drain must begin now by the time that the VM's own document names."""
    left = latest(part, settings)
    return left is not None and left <= 0


def latest(part: Part, settings: Settings) -> float | None:
    """Seconds until a whole drain must begin; None where there is no such time."""
    return None if part.left is None else part.left - (settings.drain_seconds + settings.margin + settings.pass_interval)


def too_near_to_undo(case: Case, part: Part, settings: Settings) -> bool:
    """Whether there is no time to put back and drain again before the event begins, as far as one can know."""
    if part.coming:
        return True
    if overrides.says_approve(case.word) and not case.blockers:
        return True
    return part.left is not None and part.left < settings.undo_seconds + settings.drain_seconds


def kept_from_draining(part: Part, settings: Settings) -> bool:
    """Whether a person said that no drain begins now."""
    return overrides.keeps_from_draining(part.word, must_drain=must_drain(part, settings))


@dataclass(frozen=True, slots=True)
class Due:
    """Whether a drain may begin; if not, why and for how many seconds."""

    now: bool
    wait: float | None = None
    words: str | None = None


def drain_due(case: Case, part: Part, settings: Settings, now: float) -> Due:
    """Whether a drain may begin now."""
    last = latest(part, settings)
    if part.word is not None and kept_from_draining(part, settings):
        waits = [seconds for seconds in (last, (part.word.until or now) - now) if seconds is not None and 0 < seconds < float("inf")]
        return Due(False, min(waits, default=None), part.word.words)
    if part.coming:
        return Due(True)
    decision = part.decision
    if must_drain(part, settings):
        if case.blockers and decision.hold_at_deadline == "let_it_come":
            return Due(False, words="it cannot be approved, and the policy lets it come undrained")
        return Due(True)
    if decision.drain_at == "now":
        return Due(True)
    if isinstance(decision.drain_at, float):
        return _near(part, last, decision.drain_at)
    if case.blockers:
        # The VM would only be out of service for longer: nothing can be approved before Azure begins by itself.
        return Due(False, last, "it cannot be approved, so the drain begins near its time")
    if decision.window:
        if any(window.contains(now) for window in decision.window):
            return Due(True)
        return Due(False, last if last is None else min(last, 60.0), "it waits for the policy's window")
    return _near(part, last, LONG_NOTICE)


def _near(part: Part, last: float | None, before: float) -> Due:
    if part.left is None or part.left <= before:
        return Due(True)
    wait = part.left - before
    return Due(False, wait if last is None else min(wait, last), "the drain begins nearer to its time")


def deadline(part: Part, settings: Settings, now: float, *, begins: bool) -> float:
    """Until when a drain may take, by the controller's clock: its longest time, and soon enough before NotBefore."""
    began = part.record.last("draining") if part.record and not begins else None
    limit = (now if began is None else min(began - clock_offset(part.host, now), now)) + settings.drain_seconds
    if not part.started and part.event.not_before is not None:
        due = part.event.not_before - settings.margin
        # A failure should be seen by a pass that can still do something about it, where there is time for that.
        early = due - settings.pass_interval
        limit = min(limit, early if early > now + SHORTEST else due)
    return max(limit, now + SHORTEST) if begins else limit


@dataclass(frozen=True, slots=True)
class Retry:
    """Where a failed drain stands."""

    failures: int
    exhausted: bool
    wait: float


def retry(part: Part, settings: Settings) -> Retry:
    """Counted from the history, so that nobody has to keep a counter right through a crash."""
    record = part.record
    if record is None:
        raise AssertionError("only a part with a record gets here")
    times = [at for phase, at in record.since("noticed") if phase == "failed"]
    failures = max(len(times), 1)
    allowed = 0 if (part.decision.on_drain_failure or settings.on_drain_failure) == "hold" else settings.retries
    pause = settings.retry_pause * 2.0 ** min(failures - 1, 10)
    last = times[-1] if times else part.look_now
    wait = pause - (part.look_now - last) if last <= part.look_now else pause
    return Retry(failures, failures > allowed, max(wait, 0.0))
