# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Wait for an event: poll the document, and conclude from each one what has happened."""

from __future__ import annotations

import datetime
import typing as t

from ..core.argument_specs import Spec, check_numbers, selection_arguments, shared_arguments, wait_arguments
from ..core.errors import ScheduledEventsError, seconds_in_words
from ..core.types import Data, Values
from ..discovery.endpoint import open_client
from ..host.access import Failed, HostAccess, Result
from ..imds.client import Client
from ..imds.document import Document, Event, flag_own, is_before, same_id
from .scheduled_events_info import Selection, select

# Polls in a row without an event until it counts as gone.
ABSENT_POLLS = 2
LONGEST_BACK_OFF = 10.0
# Polls that also ask for the name of this VM, where the wait can do without it.
NAME_ATTEMPTS = 3
# Seconds that the last poll may take beyond the timeout.
LAST_POLL_SECONDS = 1.0


class Track:
    """One event, followed from poll to poll."""

    def __init__(self, event: Event) -> None:
        self.event = event
        self.started = False
        self.absent = 0
        self.incarnation = 0
        self.outcome = "unknown"

    @property
    def is_gone(self) -> bool:
        return self.absent >= ABSENT_POLLS

    def see(self, event: Event, incarnation: int) -> None:
        self.event = event
        self.incarnation = incarnation
        self.absent = 0
        self.started = self.started or (event["event_status"] or "").lower() == "started"

    def miss(self, incarnation: int, now: datetime.datetime, approved: bool) -> None:
        self.absent += 1
        if self.absent == 1:
            self.outcome = self._conclude(incarnation, now, approved)

    def _conclude(self, incarnation: int, now: datetime.datetime, approved: bool) -> str:
        if self.started or approved:
            return "completed"
        # Each visible change counts one. A larger difference means that a change was missed, perhaps "Started".
        if incarnation - self.incarnation == 1 and is_before(now, self.event["not_before"]):
            return "cancelled"
        return "unknown"


class Wait:
    """One call of the module. Durations use the monotonic clock; only NotBefore is compared with the wall clock."""

    def __init__(
        self,
        client: Client,
        state: str,
        selection: Selection | None = None,
        vm_name: str | None = None,
        since_incarnation: int | None = None,
        approved: bool = False,
        timeout: float = 1800.0,
        poll_interval: float = 1.0,
        progress: t.Callable[[str], None] | None = None,
    ) -> None:
        check_numbers({"timeout": timeout, "poll_interval": poll_interval})
        self.client = client
        self.state = state
        self.selection = dict(selection or {})
        if state in ("started", "gone") and self.selection.get("event_statuses"):
            raise ScheduledEventsError(
                f"event_statuses cannot be combined with state: {state}, which follows an event from one status to the next.", "bad_option"
            )
        self.vm_name = vm_name or None
        self.since_incarnation = since_incarnation
        self.approved = approved
        self.timeout = timeout
        self.poll_interval = poll_interval
        self.progress = progress or (lambda text: None)
        self.began = client.clock.monotonic()
        self.tracks: dict[str, Track] = {}
        self.events: list[Event] = []
        self.incarnation: int | None = None
        self.polls = 0
        self.failed_polls = 0
        self.failures_in_a_row = 0
        self.last_error: ScheduledEventsError | None = None
        self.name_attempts = 0

    def run(self) -> Data:
        while True:
            document = self._poll()
            outcome = self._evaluate(document) if document else None
            if outcome:
                return self.result(outcome)
            left = self._left()
            if left <= 0:
                raise self._timeout_error()
            self.progress(f"waiting for {self._goal()}: {self._describe_status()}, {seconds_in_words(left)} left")
            self.client.clock.sleep(min(left, self._pause()))

    def result(self, outcome: str) -> Data:
        """Return the result, with the same keys however the wait ends."""
        return {
            "changed": False,
            "outcome": outcome,
            "outcomes": self._outcomes(),
            "events": self.events,
            "document_incarnation": self.incarnation,
            "elapsed": round(self.client.clock.monotonic() - self.began, 3),
            "polls": self.polls,
            "failed_polls": self.failed_polls,
            "last_status": self._last_status(),
            "last_error": str(self.last_error) if self.last_error else None,
            "vm_name": self.vm_name,
            "api_version": self.client.api_version,
            **self.client.where(),
        }

    # Poll

    def _poll(self) -> Document | None:
        """Return the document, or None when this poll had no usable answer and the next may have one. Raise ScheduledEventsError."""
        self.polls += 1
        try:
            # The first poll gets enough time even with a timeout of 0, which means "poll once"; so does the last one.
            floor = self.client.connect_timeout if self.polls == 1 else LAST_POLL_SECONDS
            document = self.client.get_document_once(max(self._left(), floor))
            self._learn_name(max(self._left(), floor))
        except ScheduledEventsError as error:
            self._failed(error)
            return None
        self.failures_in_a_row = 0
        self.incarnation = document.incarnation
        flag_own(document.events, self.vm_name)
        return document

    def _learn_name(self, left: float) -> None:
        if self.vm_name or self.name_attempts >= NAME_ATTEMPTS:
            return
        self.name_attempts += 1
        try:
            self.vm_name = self.client.get_vm_name_once(left)
        except ScheduledEventsError as error:
            if self.selection.get("affecting") == "this_vm":
                # Without the name this poll proves nothing; the next one asks again.
                self.name_attempts = 0
                raise
            if self.name_attempts == NAME_ATTEMPTS:
                self.client.warn(f"This VM's own name is not known, so affects_this_vm is null: {error}")

    def _failed(self, error: ScheduledEventsError) -> None:
        self.failed_polls += 1
        self.failures_in_a_row += 1
        first, self.last_error = self.last_error is None, error
        # An empty or cut body and a late answer are temporary as well; one of them must not end an hour of waiting.
        if not error.retryable and error.kind not in ("bad_document", "timeout", "not_discovered"):
            error.result = self.result("unknown")
            raise error
        if first:
            self.client.warn(f"{error} Asking goes on until the timeout of {seconds_in_words(self.timeout)} is over.")

    def _left(self) -> float:
        return self.timeout - (self.client.clock.monotonic() - self.began)

    def _pause(self) -> float:
        if not self.failures_in_a_row:
            return self.poll_interval
        back_off = self.poll_interval * 2.0 ** min(self.failures_in_a_row - 1, 30)
        return max(self.poll_interval, min(back_off, LONGEST_BACK_OFF))

    # Evaluate

    def _evaluate(self, document: Document) -> str | None:
        selected = select(document.events, self.selection, self.vm_name)
        self._follow(document, selected)
        self.events = selected
        if self.state == "changed":
            if self.since_incarnation is None:
                self.since_incarnation = document.incarnation
            # "Different", not "greater": the counter begins anew after 24 hours of silence.
            return "matched" if document.incarnation != self.since_incarnation else None
        if self.state == "scheduled":
            return "matched" if selected else None
        return self._evaluate_progress()

    def _follow(self, document: Document, selected: list[Event]) -> None:
        for event in selected:
            self.tracks.setdefault(event["event_id"].strip().lower(), Track(event))
        now = self.client.clock.now()
        for event_id, track in self.tracks.items():
            # By id alone: an event that leaves the selection is not gone.
            listed = [event for event in document.events if same_id(event["event_id"], event_id)]
            if listed:
                track.see(listed[0], document.incarnation)
            else:
                track.miss(document.incarnation, now, self.approved)

    def _evaluate_progress(self) -> str | None:
        tracks = list(self.tracks.values())
        if self.state == "started":
            self.events = [track.event for track in tracks if track.started and not track.absent]
            if self.events:
                return "matched"
        if tracks:
            self.events = [track.event for track in tracks]
            return _common_outcome(track.outcome for track in tracks) if all(track.is_gone for track in tracks) else None
        # No event to follow. A named event, or one that is awaited to be gone, is over already; any other may still come.
        if self.polls - self.failed_polls >= ABSENT_POLLS and (self.state == "gone" or self.selection.get("event_ids")):
            return "not_seen"
        return None

    # Report

    def _outcomes(self) -> list[Data]:
        found = [
            {"event_id": track.event["event_id"], "outcome": track.outcome if track.is_gone else "listed", "last_status": track.event["event_status"]}
            for track in self.tracks.values()
        ]
        for wanted in self.selection.get("event_ids") or []:
            if wanted.strip().lower() not in self.tracks:
                found.append({"event_id": wanted, "outcome": "not_seen", "last_status": None})
        return found

    def _last_status(self) -> str | None:
        tracks = list(self.tracks.values())
        if any(track.started for track in tracks):
            return "Started"
        return tracks[-1].event["event_status"] if tracks else None

    def _timeout_error(self) -> ScheduledEventsError:
        text = (
            f"Waited {seconds_in_words(self.timeout)} (timeout) for {self._goal()}; last status: {self._describe_status()}; "
            f"{self.polls} polls, {self.failed_polls} of them without a usable answer."
        )
        if self.last_error:
            text = f"{text} The last error: {self.last_error}"
        error = ScheduledEventsError(text, "timeout")
        error.result = self.result("timeout")
        return error

    def _describe_status(self) -> str:
        return self._last_status() or "no such event seen"

    def _goal(self) -> str:
        if self.state == "changed":
            return f"a DocumentIncarnation other than {self.since_incarnation}"
        ids = self.selection.get("event_ids")
        return "{} to be {}".format("event " + ", ".join(ids) if ids else "a selected event", self.state)


def wait(client: Client, state: str, **options: t.Any) -> Data:
    """Wait for a state; see Wait for the options."""
    return Wait(client, state, **options).run()


def waiting_arguments() -> Spec:
    """Return the argument spec of wait_for_scheduled_event."""
    return dict(**shared_arguments(), **selection_arguments(), **wait_arguments())


def wait_for_event(options: Values, access: HostAccess) -> Result:
    """Run the operation of wait_for_scheduled_event on one host. Raise Failed."""
    own = {name: options[name] for name in wait_arguments()}
    selection = {name: options[name] for name in selection_arguments()}
    try:
        client = open_client(options, access)
        return wait(client, selection=selection, vm_name=options["vm_name"], progress=access.progress, **own)
    except ScheduledEventsError as error:
        raise Failed(str(error), error_kind=error.kind, **error.result)


def _common_outcome(outcomes: t.Iterable[str]) -> str:
    different = set(outcomes)
    return different.pop() if len(different) == 1 else "unknown"
