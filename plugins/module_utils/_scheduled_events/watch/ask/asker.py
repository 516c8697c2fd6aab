# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""The asking part of the watcher: read the document once a second, put what changed into the spool, and name what is due. It never acts."""

from __future__ import annotations

import typing as t

from ...core.clock import Clock
from ...core.errors import ScheduledEventsError
from ...host.system import Host
from ...imds.client import Client
from ...imds.document import Document, flag_own, names_vm
from ...imds.identity import Identity, read_identity
from ..changes import Change
from ..message import cloud_event
from ..settings import Settings
from ..spool import Spool
from .known import Known, KnownStore, compare
from .state import State

if t.TYPE_CHECKING:
    # A VM that writes no metrics, or does not drain by itself, loads neither.
    from .due_triggers import DueTriggers
    from .metrics import WatchMetrics

# The first answer may take two minutes (fact 28); after it, one that takes longer than this is lost, and the next request may see a Preempt in time.
LATER_TIMEOUT = 10.0
# Pauses after failed requests: doubled up to this many seconds, because five requests a second are the VM's whole allowance (fact b4).
LONGEST_PAUSE = 10.0
# Seconds between two questions for this VM's own name, while there is no answer.
IDENTITY_PAUSE = 30.0


class Stores(t.NamedTuple):
    """Where the asker writes."""

    known: KnownStore
    spool: Spool
    state: State
    metrics: WatchMetrics | None = None
    due_triggers: DueTriggers | None = None


class Asker:
    """One VM's asker. ``tick`` is one request; ``run`` repeats it until told to stop."""

    def __init__(self, client: Client, settings: Settings, stores: Stores, host: Host, clock: Clock, alive: t.Callable[[str], None]) -> None:
        self._client = client
        self._settings = settings
        self._stores = stores
        self._host = host
        self._clock = clock
        self._alive = alive
        self._known: Known = stores.known.read()
        self._identity: Identity = read_identity(None)
        self._identity_due = clock.monotonic()
        self._failures = 0

    def run(self, stopped: t.Callable[[], bool]) -> None:
        """Ask until told to stop. One problem is one line, however long it lasts."""
        due = self._clock.monotonic()
        while not stopped():
            due = max(due + self.tick(), self._clock.monotonic())
            self._clock.sleep(due - self._clock.monotonic())

    def tick(self) -> float:
        """Ask once and keep what came. Return the seconds from the begin of this request to the next."""
        pause, news = self._settings.interval, False
        self._stores.state.values["requests"] += 1
        try:
            document = self._client.get_document_once()
            self._client.request_timeout = min(self._client.request_timeout, LATER_TIMEOUT)
            flag_own(document.events, self._read_vm_name())
            # First of all: a Preempt has 30 seconds.
            not_marked = self._mark(document)
            news = self._stores.state.answered(document.incarnation, document.events)
            self._keep(document)
            self._failures = 0
            if not_marked is not None:
                raise not_marked
            news = self._stores.state.works() or news
        except ScheduledEventsError as error:
            pause = self._pause_after(error)
            news = self._failed(f"no usable answer: {error.message}")
        except OSError as error:
            news = self._failed(f"cannot write: {error}")
        self._write_state(news)
        self._alive(f"{len(self._stores.state.values['events'])} events; {self._stores.state.values['problem'] or 'asking'}")
        return pause

    def _mark(self, document: Document) -> OSError | None:
        """Name the events that are due. Return what went wrong: it must not keep the news from being told."""
        try:
            if self._stores.due_triggers:
                self._stores.due_triggers.write(document.events)
        except OSError as error:
            return error
        return None

    def _keep(self, document: Document) -> None:
        found, known = compare(self._known, document.events, self._clock.monotonic())
        if self._settings.tells and found:
            self._spool([change for change in found if self._is_told(change)], document)
        # After the spool: a kill in between tells a change twice, with the same id, and never not at all.
        if found:
            self._stores.known.write(known)
        self._known = known

    def _is_told(self, change: Change) -> bool:
        name = self._settings.vm_name or self._identity["name"]
        # While this VM's name is unknown, an event may be its own.
        return self._settings.tell_about == "any" or name is None or names_vm(change.event["resources"] or [], name)

    def _spool(self, found: t.Sequence[Change], document: Document) -> None:
        vm, now = {**self._identity, "name": self._settings.vm_name or self._identity["name"]}, self._host.now()
        messages = [cloud_event(change, vm, document.incarnation, now) for change in found]
        self._stores.state.values["messages_dropped"] += self._stores.spool.add(messages)

    def _read_vm_name(self) -> str | None:
        """Return this VM's name; ask for it until it is known. None while it is not."""
        if self._identity["name"] is None and self._clock.monotonic() >= self._identity_due:
            self._identity_due = self._clock.monotonic() + IDENTITY_PAUSE
            try:
                self._identity = read_identity(self._client.get_instance_once())
            except ScheduledEventsError as error:
                self._client.warn(f"This VM's own name is not known yet: {error.message}")
        name = self._settings.vm_name or self._identity["name"]
        self._stores.state.values["vm_name"] = name
        return name

    def _failed(self, problem: str) -> bool:
        first = self._stores.state.failed(problem)
        if first:
            self._client.warn(problem)
        return first

    def _pause_after(self, error: ScheduledEventsError) -> float:
        self._failures += 1
        doubled = min(self._settings.interval * 2.0 ** min(self._failures - 1, 10), LONGEST_PAUSE)
        return max(self._settings.interval, doubled, min(error.retry_after or 0.0, LONGEST_PAUSE))

    def _write_state(self, news: bool) -> None:
        state, now = self._stores.state, self._clock.monotonic()
        if not news and not state.is_old(now):
            return
        try:
            if self._settings.tells:
                state.values["messages_waiting"] = len(self._stores.spool.entries())
            state.write(now)
        except OSError as error:
            if self._stores.state.failed(f"cannot write: {error}"):
                self._client.warn(f"cannot write: {error}")
        if self._stores.metrics:
            self._stores.metrics.write(state.values)
