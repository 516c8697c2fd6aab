# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Watch all endpoints at the same time, and put their messages into a queue."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeVar

from ....module_utils._scheduled_events.core.clock import Clock
from ....module_utils._scheduled_events.core.errors import ScheduledEventsError
from ....module_utils._scheduled_events.core.types import Data
from ....module_utils._scheduled_events.imds.client import Client
from ....module_utils._scheduled_events.imds.document import Document, Event
from ....module_utils._scheduled_events.imds.transport import LocalTransport, Transport
from ....module_utils._scheduled_events.watch.changes import LISTED, Change, by_id, changes
from ....module_utils._scheduled_events.watch.message import cloud_event
from ..messages.shape import ANSWERING, FAILING, endpoint_message
from .endpoints import Endpoint, Options

# One lost answer is no news.
FAILURES_BEFORE_REPORT = 3
LONGEST_PAUSE = 60.0


class Told(NamedTuple):
    """The messages after one request, and the seconds until the next one."""

    messages: list[Data]
    pause: float


class EndpointWatch:
    """One endpoint: what it listed last, and since when it fails. Without asyncio: a caller keeps time."""

    def __init__(self, endpoint: Endpoint, options: Options, clock: Clock | None = None, transport: Transport | None = None) -> None:
        self._vm = endpoint.vm
        self._interval = options.interval
        self._repeat_seconds = options.repeat_seconds
        self._clock = clock or Clock()
        self._client = Client(
            transport or LocalTransport(endpoint.endpoint),
            api_version=options.api_version,
            retries=0,
            connect_timeout=options.connect_timeout,
            request_timeout=options.request_timeout,
            clock=self._clock,
        )
        self._events: dict[str, Event] | None = None
        self._told_at: dict[str, float] = {}
        self._failures = 0

    def ask(self) -> Told:
        """Send one request, and return what is new. Never raise: one VM's answer must not end the watch over the others."""
        try:
            document = self._client.get_document_once()
        except ScheduledEventsError as error:
            return self._failed(error.message)
        except Exception as error:  # whatever a strange answer does to the parser
            return self._failed(f"{type(error).__name__}: {error}")
        return self._answered(document)

    def _answered(self, document: Document) -> Told:
        now = self._noticed_at()
        messages = [endpoint_message(ANSWERING, self._vm, None, now)] if self._failures >= FAILURES_BEFORE_REPORT else []
        self._failures = 0
        found = changes(self._events, document.events)
        self._events = by_id(document.events)
        messages += [cloud_event(change, self._vm, document.incarnation, now) for change in self._with_repetitions(found)]
        return Told(messages, self._interval)

    def _with_repetitions(self, found: list[Change]) -> list[Change]:
        """Add the events that were told long ago: the run that their news started may have failed."""
        seconds, events = self._clock.monotonic(), self._events or {}
        news = by_id(change.event for change in found)
        due = [key for key in events if key not in news and seconds - self._told_at.get(key, seconds) >= self._repeat_seconds]
        self._told_at = {key: seconds if key in news or key in due else self._told_at.get(key, seconds) for key in events}
        return found + [Change(LISTED, events[key]) for key in due]

    def _failed(self, problem: str) -> Told:
        self._failures += 1
        pause = min(self._interval * 2.0 ** min(self._failures, 10), max(LONGEST_PAUSE, self._interval))
        if self._failures != FAILURES_BEFORE_REPORT:
            return Told([], pause)
        return Told([endpoint_message(FAILING, self._vm, problem, self._noticed_at())], pause)

    def _noticed_at(self) -> str:
        return self._clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")


Result = TypeVar("Result")


class Queue(Protocol):
    """What a source puts its messages into."""

    async def put(self, message: Any) -> None:
        """Put one message."""


async def watch_all(queue: Queue, options: Options) -> None:
    """Watch until cancelled. Each endpoint has a task of its own, so that none waits for another."""
    await asyncio.gather(*(_watch(queue, endpoint, options) for endpoint in options.endpoints))


async def _watch(queue: Queue, endpoint: Endpoint, options: Options) -> None:
    watch = EndpointWatch(endpoint, options)
    # All of a large fleet at the same moment would be a burst of processor time each interval.
    await asyncio.sleep(random.uniform(0, min(options.interval, 1.0)) if len(options.endpoints) > 1 else 0)
    while True:
        told = await in_thread(watch.ask)
        for message in told.messages:
            await queue.put(message)
        await asyncio.sleep(told.pause)


async def in_thread(function: Callable[[], Result]) -> Result:
    """Return what the function returns.

    asyncio.to_thread shares a few threads, all of which endpoints that hang would take from the others; and the interpreter waits for them at its end. A
    daemon thread does neither.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Result] = loop.create_future()

    def settle(result: Result | None, error: BaseException | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)  # type: ignore[arg-type]

    def run() -> None:
        result, failure = None, None
        try:
            result = function()
        except BaseException as error:  # told to the caller, who has a loop to tell it in
            failure = error
        try:
            loop.call_soon_threadsafe(settle, result, failure)
        except RuntimeError:
            # The loop was closed meanwhile, and the caller with it.
            return

    threading.Thread(target=run, daemon=True).start()
    return await future
