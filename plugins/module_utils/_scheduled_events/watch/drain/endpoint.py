# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""What the endpoint says now, for all events that wait to be served: one request a second, and none that blocks for long.

A Preempt leaves 30 seconds. So nothing is retried inside, and a Retry-After is not obeyed: an event that waits is looked for again a second later, while
the methods of another one go on.
"""

from __future__ import annotations

import typing as t

from ...core.clock import Clock
from ...core.errors import ScheduledEventsError
from ...imds.client import Client
from ...imds.document import Event
from ...imds.identity import Identity, read_identity

LOOK_SECONDS = 1.0
# So long the VM's id is asked for; then a VM whose name the settings have is served without it.
IDENTITY_SECONDS = 8.0


class Seen(t.NamedTuple):
    """One answer."""

    events: t.Sequence[Event]
    identity: Identity


class Endpoint:
    """The endpoint, with its last answer."""

    def __init__(self, client: Client, vm_name: str | None, clock: Clock) -> None:
        self._client = client
        self._vm_name = vm_name
        self._clock = clock
        self._began = clock.monotonic()
        self._asked_at: float | None = None
        self._seen: Seen | ScheduledEventsError | None = None
        self._identity = read_identity(None)

    def look(self) -> Seen:
        """Return the answer of the last second. Raise ScheduledEventsError."""
        now = self._clock.monotonic()
        if self._seen is None or self._asked_at is None or now - self._asked_at >= LOOK_SECONDS:
            try:
                self._seen = self._ask(now)
            except ScheduledEventsError as error:
                self._seen = error
            # From the end of the requests on: a slow endpoint must not be asked without a pause.
            self._asked_at = self._clock.monotonic()
        if isinstance(self._seen, ScheduledEventsError):
            raise self._seen
        return self._seen

    def _ask(self, now: float) -> Seen:
        document = self._client.get_document_once()
        if self._identity["vm_id"] is None:
            try:
                self._identity = read_identity(self._client.get_instance_once())
            except ScheduledEventsError:
                if self._vm_name is None or now - self._began < IDENTITY_SECONDS:
                    raise
        return Seen(document.events, self._identity)
