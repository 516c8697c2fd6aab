# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""What is remembered of messages and events, in bounded memory: what was passed on, who told first of an event, its VMs and its runs."""

from __future__ import annotations

import dataclasses
import re
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeVar

Value = TypeVar("Value")
MOST = 10_000
# Names of VMs and of instances of scale sets: 64 characters at most, without blanks and commas.
LONGEST_NAME = 80
NAME = re.compile(rf"[A-Za-z0-9._-]{{1,{LONGEST_NAME}}}")
# Role awx has surveys that take so many of the longest names as one answer.
MOST_NAMES = 200


class Recent(OrderedDict[str, Value]):
    """A dictionary of bounded size: the entries that were put longest ago are forgotten."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def put(self, key: str, value: Value) -> Value:
        """Set an entry, as the newest one, and return its value."""
        self[key] = value
        self.move_to_end(key)
        while len(self) > self._most:
            self.popitem(last=False)
        return value


class Memory:
    """Keys and when each was passed on last; the oldest are forgotten."""

    def __init__(self, most: int = MOST) -> None:
        self._seen: Recent[float] = Recent(most)

    def within(self, key: str, seconds: float, now: float) -> bool:
        """Return whether the key was passed on less than so many seconds ago."""
        at = self._seen.get(key)
        return at is not None and now - at < seconds

    def add(self, key: str, now: float) -> None:
        """Remember that the key was passed on now."""
        self._seen.put(key, now)


class Introducers:
    """Which sender told first of an event, and when the event was last counted for it. Those counted longest ago are forgotten and cost their sender nothing.

    A sender may tell of few new events within an hour, because each run holds a place until its event is over. Without this memory it could collect events
    for hours, and start the runs of all of them in one minute.
    """

    def __init__(self) -> None:
        self._known: Recent[tuple[str, float]] = Recent(MOST)

    def count(self, event_id: str, sender: str, now: float) -> None:
        """Remember that an event of this sender is counted now."""
        self._known.put(event_id, (sender, now))

    def has_to_count(self, event_id: str, sender: str, seconds: float, now: float) -> bool:
        """Return whether news of the event counts once more: the sender told first of it, and it was not counted for so many seconds."""
        introducer, counted = self._known.get(event_id, ("", now))
        return introducer == sender and now - counted >= seconds


class NamedVms:
    """The names of VMs in all messages about an event. The events whose news are the oldest are forgotten.

    They are only added, so that no sender can take the VMs of others away from the run that is started.
    """

    def __init__(self) -> None:
        self._names: Recent[frozenset[str] | None] = Recent(MOST)

    def add(self, event_id: str, names: Iterable[str]) -> list[str]:
        """Add the names of a message, and return those of all, sorted; an empty list where they do not suffice.

        That is where a message names none, or one that is no name of a VM, and where there are too many.
        """
        given = frozenset(names)
        before = self._names.get(event_id, frozenset())
        found = None if before is None or not given or not all(map(NAME.fullmatch, given)) else before | given
        return sorted(self._names.put(event_id, None if found is None or len(found) > MOST_NAMES else found) or ())


# --- How many messages and new events a sender may send, counted by windows of time --------------------------------------


WINDOW_SECONDS = 60.0
REPORT_SECONDS = 60.0
# Above it the sender that was quiet for longest is forgotten.
MOST_SENDERS = 10_000


@dataclasses.dataclass
class _Count:
    """What a sender sent since its window began."""

    began: float
    passed: int = 0
    dropped: int = 0
    reported_at: float | None = None


class Rate:
    """Messages or events of each sender, no more than a number in a window of time."""

    def __init__(self, window_seconds: float = WINDOW_SECONDS, most_senders: int = MOST_SENDERS) -> None:
        self._counts: Recent[_Count] = Recent(most_senders)
        self._window_seconds = window_seconds

    def admit(self, sender: str, most: int, now: float) -> bool:
        """Count a message, and return whether it is passed on. ``now`` is a clock's seconds that never go back."""
        count = self._count(sender, now)
        if count.passed < most:
            count.passed += 1
            return True
        count.dropped += 1
        return False

    def room(self, sender: str, most: int, now: float) -> int:
        """Return how many messages would be passed on, without counting one."""
        count = self._counts.get(sender)
        return most if count is None or now - count.began >= self._window_seconds else max(most - count.passed, 0)

    def use(self, sender: str, number: int, now: float) -> None:
        """Count what was passed on already."""
        self._count(sender, now).passed += number

    def take_back(self, sender: str) -> None:
        """Take back the last message that was admitted, because it is not passed on for another reason."""
        self._counts[sender].passed -= 1

    def drop(self, sender: str, number: int, now: float) -> None:
        """Count what was dropped for another reason than the rate, so that it is reported like the rest."""
        self._count(sender, now).dropped += number

    def to_report(self, sender: str, now: float) -> int:
        """Return how many messages of the sender were dropped since the last report; 0 if that was less than a minute ago."""
        count = self._counts.get(sender)
        if count is None or not count.dropped:
            return 0
        if count.reported_at is not None and now - count.reported_at < REPORT_SECONDS:
            return 0
        dropped, count.dropped, count.reported_at = count.dropped, 0, now
        return dropped

    def _count(self, sender: str, now: float) -> _Count:
        count = self._counts.put(sender, self._counts.get(sender) or _Count(now))
        if now - count.began >= self._window_seconds:
            count.began, count.passed = now, 0
        return count


# --- Which run of an event serves a message ------------------------------------------------------------------------------
# Mostly there is one at a time, and what comes during it waits for its end. A run may last for two hours, and it looks at the VMs that were named before it
# began. VMs of one availability set see each other's events, so one of them could tell first, name itself alone, and list the event for as long as it likes:
# news of the VMs that are really hit would wait for the end of that run. So after a minute a message that names other VMs starts a run beside it.


# Longer than a burst of messages about one event, and shorter than half of the shortest notice but a Preempt's, for which VMs drain themselves.
BESIDE_SECONDS = 60.0
# Of an event, at a time. The second has the names of all messages so far; the third is for VMs that told of the event later than that.
MOST_RUNS = 3
MOST_EVENTS = 10_000


class _Run(NamedTuple):
    number: int
    began: float
    vms: frozenset[str]
    """Empty for all."""
    sender: str
    """Whose message began it."""


class Runs:
    """The last run of each event, as far as messages have started it: its end is not known here. The events without news for longest are forgotten."""

    def __init__(self) -> None:
        self._runs: Recent[_Run] = Recent(MOST_EVENTS)

    def begin(self, event_id: str, vms: Sequence[str], sender: str, now: float) -> str:
        """Begin the first run of an event. Return its key, which is the EventId."""
        return self._begin(event_id, 1, vms, sender, now)

    def wants_another(self, event_id: str, vms: Sequence[str], sender: str, now: float) -> bool:
        """Return whether the last run has gone on for long, and does not look at all of these VMs. No sender begins both that are beside the first."""
        run = self._runs.get(event_id)
        if run is None or run.number >= MOST_RUNS or now - run.began < BESIDE_SECONDS or not run.vms:
            return False
        if run.number > 1 and run.sender == sender:
            return False
        return not vms or not run.vms.issuperset(vms)

    def begin_another(self, event_id: str, vms: Sequence[str], sender: str, now: float) -> str:
        """Begin a run beside the last one. Return its key."""
        return self._begin(event_id, self._runs[event_id].number + 1, vms, sender, now)

    def key(self, event_id: str) -> str:
        """Return the key of the last run."""
        run = self._runs.get(event_id)
        return event_id if run is None or run.number == 1 else f"{event_id}/{run.number}"

    def _begin(self, event_id: str, number: int, vms: Sequence[str], sender: str, now: float) -> str:
        self._runs.put(event_id, _Run(number, now, frozenset(vms), sender))
        return self.key(event_id)
