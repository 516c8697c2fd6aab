# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Client of the metadata service: api-versions, retries, and the handling of each status."""

from __future__ import annotations

import json
import typing as t

from ..core.argument_specs import API_VERSIONS, DISCOVER, check_numbers
from ..core.clock import Clock
from ..core.errors import ScheduledEventsError
from ..core.printable_text import printable
from ..core.types import Data
from .document import UNDERSCORE_VERSION, Document, parse_document, parse_object
from .status_codes import check_answer
from .transport import Answer, Transport

EVENTS_PATH = "/metadata/scheduledevents"
INSTANCE_PATH = "/metadata/instance"
# The oldest version with each field that is read: priority, resourceId, the scale set's name, names at all.
INSTANCE_VERSIONS = ("2021-02-01", "2020-06-01", "2019-06-01", "2017-12-01", "2017-08-01", "2017-04-02")
# 410 means that the service is being updated; Microsoft documents how long a retry makes sense.
GONE_SECONDS = 70.0
LONGEST_PAUSE = 10.0
LONGEST_RETRY_AFTER = 30.0
# What to do about an api-version that the service rejects: a configured one, and the last one of those that were tried.
USE_AUTO = "Use api_version: auto, which finds one that it knows."
NO_VERSION = "No api-version is left; tried: {}. Check that the endpoint is Azure's metadata service."

Result = t.TypeVar("Result")


class Client:
    """One VM's metadata service. ``api_version`` is the one in use, None until "auto" has chosen one."""

    def __init__(
        self,
        transport: Transport,
        api_version: str = "auto",
        retries: int = 3,
        connect_timeout: float = 5.0,
        request_timeout: float = 125.0,
        clock: Clock | None = None,
        warn: t.Callable[[str], None] | None = None,
    ) -> None:
        check_numbers({"retries": retries, "connect_timeout": connect_timeout, "request_timeout": request_timeout})
        self.transport = transport
        self.clock = clock or Clock()
        self._warn = warn
        self.retries = retries
        self.connect_timeout = connect_timeout
        self.request_timeout = request_timeout
        self._versions = list(API_VERSIONS) if api_version == "auto" else [api_version]
        self.api_version: str | None = None if api_version == "auto" else api_version
        self.incarnation: int | None = None

    def warn(self, text: str) -> None:
        """Add a warning to the result."""
        if self._warn is not None:
            self._warn(printable(text))

    def where(self) -> dict[str, str | None]:
        """Return the endpoint and its source. The source of a configured endpoint is null; both are null before discovery."""
        endpoint = self.transport.endpoint
        return {"endpoint": None if endpoint == DISCOVER else endpoint, "endpoint_source": getattr(self.transport, "source", None)}

    def get_document(self) -> Document:
        """Return the current scheduled events; retry temporary faults within the budget."""
        return self.retry(self.get_document_once)

    def get_document_once(self, time_left: float | None = None) -> Document:
        """Return the current scheduled events after one try, for callers that keep time themselves. Take no longer than ``time_left`` seconds."""
        # From the version in use on: the service may move back to an older one.
        versions = self._versions[self._versions.index(self.api_version) if self.api_version else 0 :]
        answer, version = self._get(EVENTS_PATH, versions, time_left)
        document = parse_document(answer.body, version, source=self._source(EVENTS_PATH, version))
        self.api_version = version
        self.incarnation = document.incarnation
        return document

    def approve(self, event_ids: t.Sequence[str], incarnation: int | None = None) -> None:
        """Send one approval, once only: the caller reads the document again before it sends another."""
        if self.api_version is None:
            self.get_document()
        version = str(self.api_version)
        body: Data = {"StartRequests": [{"EventId": event_id} for event_id in event_ids]}
        if version == UNDERSCORE_VERSION:
            # The preview's approval names the incarnation of the document.
            body["DocumentIncarnation"] = self.incarnation if incarnation is None else incarnation
        self._request("POST", EVENTS_PATH, version, json.dumps(body), None)

    def get_instance(self) -> Data:
        """Return the instance metadata, in the newest version that the service knows."""
        return self.retry(self.get_instance_once)

    def get_instance_once(self, time_left: float | None = None) -> Data:
        """Return the instance metadata after one try."""
        answer, version = self._get(INSTANCE_PATH, INSTANCE_VERSIONS, time_left)
        return parse_object(answer.body, self._source(INSTANCE_PATH, version))

    def get_vm_name(self) -> str:
        """Return this VM's name as Resources has it. Never the host name: in scale sets the two differ (fact b8)."""
        return self.retry(self.get_vm_name_once)

    def get_vm_name_once(self, time_left: float | None = None) -> str:
        """Return this VM's name after one try. Raise ScheduledEventsError if it is not known."""
        compute = self.get_instance_once(time_left).get("compute")
        name = compute.get("name") if isinstance(compute, dict) else None
        if not isinstance(name, str) or not name.strip():
            raise ScheduledEventsError(
                f"The instance metadata from {self.transport.endpoint} has no compute.name, so this VM's own name is not known. Give it with "
                "the option vm_name.",
                "not_found",
            )
        return name

    def close(self) -> None:
        """Close the transport."""
        self.transport.close()

    def retry(self, action: t.Callable[[], Result]) -> Result:
        """Repeat the action while the fault may be temporary and the budget lasts."""
        began = self.clock.monotonic()
        attempt = 0
        while True:
            try:
                return action()
            except ScheduledEventsError as error:
                elapsed = self.clock.monotonic() - began
                pause = self.pause_before_retry(error, attempt, elapsed)
                if pause is None:
                    if attempt:
                        raise error.with_note(f"Tried {attempt + 1} times in {elapsed:.0f} s.")
                    raise
            attempt += 1
            self.clock.sleep(pause)

    def pause_before_retry(self, error: ScheduledEventsError, attempt: int, elapsed: float) -> float | None:
        """Return the pause before the next try, or None if the budget allows no other."""
        if not error.retryable or self.retries == 0:
            return None
        pause = max(min(2.0**attempt, LONGEST_PAUSE), min(error.retry_after or 0.0, LONGEST_RETRY_AFTER))
        if error.status == 410:
            return pause if elapsed + pause <= GONE_SECONDS else None
        if error.kind == "no_answer" and elapsed + pause >= self.connect_timeout:
            # An endpoint that accepts no connection must be reported within connect_timeout, whatever the fault.
            return None
        return pause if attempt < self.retries else None

    def _get(self, path: str, versions: t.Sequence[str], time_left: float | None) -> tuple[Answer, str]:
        """Send a GET in the newest version first, and in older ones only when the answer rejects the version."""
        began = self.clock.monotonic()
        for version in versions:
            left = None if time_left is None else time_left - (self.clock.monotonic() - began)
            try:
                return self._request("GET", path, version, None, left), version
            except ScheduledEventsError as error:
                if error.kind != "version_rejected":
                    raise
                if version == versions[-1]:
                    configured = path == EVENTS_PATH and len(self._versions) == 1
                    raise error.with_note(USE_AUTO if configured else NO_VERSION.format(", ".join(versions))) from None
        raise AssertionError("no versions")

    def _request(self, method: str, path: str, version: str, body: str | None, time_left: float | None) -> Answer:
        # Never less than a moment, so that a limit that has just passed appears as a timeout of the request.
        limit = float("inf") if time_left is None else max(time_left, 0.05)
        target = f"{path}?api-version={version}"
        answer = self.transport.request(
            method, target, body, connect_timeout=min(self.connect_timeout, limit), request_timeout=min(self.request_timeout, limit)
        )
        check_answer(answer, f"{method} {self.transport.endpoint}{target}")
        return answer

    def _source(self, path: str, version: str) -> str:
        return f"{self.transport.endpoint}{path}?api-version={version}"
