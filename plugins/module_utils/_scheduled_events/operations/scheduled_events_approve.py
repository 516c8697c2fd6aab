# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Approve events: read the document, guard, send once, and read the document before sending again."""

from __future__ import annotations

import typing as t

from ..core.argument_specs import Spec, approve_arguments, shared_arguments
from ..core.errors import ScheduledEventsError
from ..core.types import Data, Values
from ..discovery.endpoint import open_client
from ..host.access import Failed, HostAccess, Result
from ..imds.client import Client
from ..imds.document import Document, Event, names_vm, same_id

ANYTHING = "*"


class _EventsByState(t.NamedTuple):
    """The wanted events, by their state in the present document."""

    open: list[Event]
    started: list[str]
    missing: list[str]


class Approval:
    """One call of the module. Nothing is sent unless every event that would be approved passes the guard."""

    def __init__(
        self,
        client: Client,
        event_ids: t.Sequence[str],
        approve_for: t.Sequence[str] | None = None,
        vm_name: str | None = None,
        check_mode: bool = False,
        fail_on_missing: bool = False,
    ) -> None:
        self.client = client
        self.wanted = _checked_ids(event_ids)
        self.approve_for = approve_for
        self.vm_name = vm_name
        self.check_mode = check_mode
        self.fail_on_missing = fail_on_missing
        self.approved: list[str] = []
        self.already_started: list[str] = []
        self.not_found: list[str] = []
        # Sent, but the answer was lost: only the next document shows whether they are approved.
        self.uncertain: list[str] = []
        self.incarnation: int | None = None

    def run(self) -> Data:
        try:
            self._run()
        except ScheduledEventsError as error:
            error.result = self.result()
            raise
        return self.result()

    def result(self) -> Data:
        lost = [event_id for event_id in self.not_found if _contains(self.uncertain, event_id)]
        return {
            "changed": bool(self.approved or lost),
            "approved": self.approved,
            "already_started": self.already_started,
            "not_found": self.not_found,
            "document_incarnation": self.incarnation,
            "vm_name": self.vm_name,
            "api_version": self.client.api_version,
            **self.client.where(),
        }

    def _run(self) -> None:
        attempt = 0
        began = self.client.clock.monotonic()
        failure: ScheduledEventsError | None = None
        sent: list[str] = []
        while True:
            document = self.client.get_document()
            to_send = self._still_to_send(document)
            if not to_send or self.check_mode:
                self.approved.extend(to_send)
                return
            if failure is not None:
                self._check_again(failure, attempt, sent, to_send)
            try:
                self.client.approve(to_send, document.incarnation)
            except ScheduledEventsError as error:
                failure, sent = error, to_send
                if error.answer_lost:
                    self.uncertain.extend(to_send)
                self._pause(error, attempt, self.client.clock.monotonic() - began)
                attempt += 1
            else:
                self.approved.extend(to_send)
                return

    def _still_to_send(self, document: Document) -> list[str]:
        """Sort the wanted ids by this document, and guard what is left to approve."""
        self.incarnation = document.incarnation
        found = _sort(document, self.wanted)
        self.not_found = found.missing
        self.approved = [event_id for event_id in found.started if _contains(self.uncertain, event_id)]
        self.already_started = [event_id for event_id in found.started if not _contains(self.uncertain, event_id)]
        for event_id in found.missing:
            if _contains(self.uncertain, event_id):
                self.client.warn(
                    f"Event {event_id} was approved, the answer was lost, and now it is no longer listed: whether the approval counted is not known."
                )
        self._fail_on_missing()
        self._guard(found.open)
        return [event["event_id"] for event in found.open]

    def _fail_on_missing(self) -> None:
        if not self.fail_on_missing or not (self.not_found or self.already_started):
            return
        parts = []
        if self.not_found:
            parts.append("not listed: {}".format(", ".join(self.not_found)))
        if self.already_started:
            parts.append("already started: {}".format(", ".join(self.already_started)))
        raise ScheduledEventsError(
            "Not every event can be approved ({}), and fail_on_missing is set; nothing more was sent.".format("; ".join(parts)), "not_found"
        )

    def _guard(self, events: list[Event]) -> None:
        """Raise ScheduledEventsError if an event names a VM that is not allowed: an approval starts the event for every VM it names."""
        if not events:
            return
        if self.approve_for is None:
            self.vm_name = self.vm_name or self.client.get_vm_name()
        allowed = [str(self.vm_name)] if self.approve_for is None else list(self.approve_for)
        if ANYTHING in allowed:
            return
        refusals = [refusal for refusal in (_refusal(event, allowed) for event in events) if refusal]
        if refusals:
            raise ScheduledEventsError(
                "Nothing was approved, because an approval starts an event for every VM it names. {} Allowed by "
                "approve_for: {}. Add the names once those VMs are ready, or '*' for any.".format(" ".join(refusals), ", ".join(allowed) or "no VM"),
                "refused",
            )

    def _check_again(self, failure: ScheduledEventsError, attempt: int, sent: list[str], to_send: list[str]) -> None:
        """Raise the failure unless sending again may help."""
        # One event that is gone makes the whole request fail. After a 400 only a smaller request is worth another try.
        may_help = len(to_send) < len(sent) if failure.status == 400 else attempt <= self.client.retries
        if not may_help:
            raise failure

    def _pause(self, error: ScheduledEventsError, attempt: int, elapsed: float) -> None:
        """Pause before the next attempt. Raise the error when another attempt cannot help."""
        if error.status == 400:
            return
        pause = self.client.pause_before_retry(error, attempt, elapsed)
        if pause is None and not error.answer_lost:
            raise error
        self.client.clock.sleep(pause or 0.0)


def approve(client: Client, event_ids: t.Sequence[str], **options: t.Any) -> Data:
    """Approve events that pass the guard; see Approval for the options."""
    return Approval(client, event_ids, **options).run()


def approval_arguments() -> Spec:
    """Return the argument spec of scheduled_events_approve."""
    return dict(**shared_arguments(), **approve_arguments())


def approve_events(options: Values, access: HostAccess) -> Result:
    """Run the operation of scheduled_events_approve on one host. Raise Failed."""
    own = {name: options[name] for name in approve_arguments()}
    try:
        client = open_client(options, access)
        return approve(client, vm_name=options["vm_name"], check_mode=access.check_mode, **own)
    except ScheduledEventsError as error:
        raise Failed(str(error), error_kind=error.kind, **error.result)


def _checked_ids(event_ids: t.Sequence[str]) -> list[str]:
    wanted: list[str] = []
    for event_id in event_ids:
        if not event_id.strip():
            raise ScheduledEventsError("event_ids has an empty id.", "bad_option")
        if not _contains(wanted, event_id):
            wanted.append(event_id)
    if not wanted:
        raise ScheduledEventsError("event_ids is empty; name the events to approve.", "bad_option")
    return wanted


def _sort(document: Document, wanted: list[str]) -> _EventsByState:
    found = _EventsByState([], [], [])
    for event_id in wanted:
        listed = [event for event in document.events if same_id(event["event_id"], event_id)]
        if not listed:
            found.missing.append(event_id)
        elif (listed[0]["event_status"] or "").lower() == "started":
            found.started.append(listed[0]["event_id"])
        else:
            # A status that is not known is not "Started": Azure decides what an approval means for it.
            found.open.append(listed[0])
    return found


def _refusal(event: Event, allowed: list[str]) -> str:
    others = [name for name in event["resources"] if not names_vm(allowed, name)]
    if others:
        return "Event {} ({}) also names {}.".format(event["event_id"], event["event_type"], ", ".join(others))
    if not event["resources"]:
        return "Event {} ({}) names no VM at all.".format(event["event_id"], event["event_type"])
    return ""


def _contains(ids: list[str], event_id: str) -> bool:
    return any(same_id(known, event_id) for known in ids)
