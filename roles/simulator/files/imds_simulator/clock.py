# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Simulated time: seconds since the simulator's start, and timers that fire in order.

Every duration of the simulation is counted on one of these clocks. The real one runs ``speed`` times faster than the wall clock, the virtual one moves only on
request. The dates in documents come from ``date_of``, so that with the real clock a client that compares NotBefore with its own clock is right at any speed.
"""

from __future__ import annotations

import abc
import asyncio
import heapq
import itertools
import time
from datetime import datetime, timezone
from typing import Any, Callable, List, Optional, Tuple


def iso(unix: float) -> str:
    """Format Unix time as ISO 8601 in UTC with microseconds, as in logs and recordings."""
    return datetime.fromtimestamp(unix, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def parse_iso(text: str) -> float:
    """Return the Unix time of an ISO 8601 date; a date without a zone is UTC. Raise ValueError."""
    moment = datetime.fromisoformat(text.strip().replace("Z", "+00:00").replace("z", "+00:00"))
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    return moment.timestamp()


class Timer:
    """One planned action; a cancelled timer stays in the heap and does nothing."""

    __slots__ = ("action", "moment")

    def __init__(self, moment: float, action: Callable[[], Any]) -> None:
        self.moment = moment
        self.action: Optional[Callable[[], Any]] = action

    def cancel(self) -> None:
        """Cancel the action."""
        self.action = None


class Clock(abc.ABC):
    """The base of both clocks: the heap of timers."""

    kind = ""
    speed = 1.0

    def __init__(self) -> None:
        self._timers: List[Tuple[float, int, Timer]] = []
        self._count = itertools.count()

    @abc.abstractmethod
    def now(self) -> float:
        """Return the simulated seconds since the start."""

    @abc.abstractmethod
    def date_of(self, moment: float) -> float:
        """Return the Unix time that a document states for a moment of the simulation."""

    @abc.abstractmethod
    def moment_of(self, unix: float) -> float:
        """Return the moment of the simulation for a Unix time."""

    def call_at(self, moment: float, action: Callable[[], Any]) -> Timer:
        """Plan an action for a moment of the simulation."""
        timer = Timer(moment, action)
        heapq.heappush(self._timers, (moment, next(self._count), timer))
        self._planned()
        return timer

    def call_later(self, seconds: float, action: Callable[[], Any]) -> Timer:
        """Plan an action for so many simulated seconds from now."""
        return self.call_at(self.now() + seconds, action)

    @abc.abstractmethod
    def _planned(self) -> None:
        """React to a new timer."""

    def _next_moment(self) -> Optional[float]:
        while self._timers and self._timers[0][2].action is None:
            heapq.heappop(self._timers)
        return self._timers[0][0] if self._timers else None

    def _fire_next(self) -> None:
        timer = heapq.heappop(self._timers)[2]
        if timer.action is not None:
            timer.action()


class VirtualClock(Clock):
    """A clock that stands still between two calls of ``advance``."""

    kind = "virtual"

    def __init__(self, start: Optional[float] = None) -> None:
        super().__init__()
        # Whole seconds, because NotBefore has no finer resolution and must not lie before the true moment.
        self._origin = float(int(time.time() if start is None else start))
        self._now = 0.0

    def now(self) -> float:
        return self._now

    def date_of(self, moment: float) -> float:
        return self._origin + moment

    def moment_of(self, unix: float) -> float:
        return unix - self._origin

    def _planned(self) -> None:
        pass  # it fires when the clock is advanced

    def advance(self, seconds: float) -> None:
        """Advance the clock; timers fire at their own moments, in order, including those that they add."""
        target = self._now + max(0.0, seconds)
        while True:
            moment = self._next_moment()
            if moment is None or moment > target:
                break
            self._now = max(self._now, moment)
            self._fire_next()
        self._now = max(self._now, target)


class RealClock(Clock):
    """A clock that runs by itself, ``speed`` simulated seconds in each real one."""

    kind = "real"

    def __init__(self, speed: float = 1.0, loop: Optional[asyncio.AbstractEventLoop] = None) -> None:
        super().__init__()
        self.speed = speed
        self._loop = loop or asyncio.get_event_loop()
        self._start = self._loop.time()
        self._handle: Optional[asyncio.TimerHandle] = None

    def now(self) -> float:
        return (self._loop.time() - self._start) * self.speed

    def date_of(self, moment: float) -> float:
        return time.time() + (moment - self.now()) / self.speed

    def moment_of(self, unix: float) -> float:
        return self.now() + (unix - time.time()) * self.speed

    def _planned(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
        moment = self._next_moment()
        self._handle = None if moment is None else self._loop.call_at(self._start + moment / self.speed, self._wake)

    def _wake(self) -> None:
        while True:
            moment = self._next_moment()
            if moment is None or moment > self.now():
                break
            self._fire_next()
        self._planned()
