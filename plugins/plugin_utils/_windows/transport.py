# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The transport to the metadata service of a Windows VM: each request is one call of win_uri there."""

from __future__ import annotations

import time
import typing as t

from ...module_utils._scheduled_events.core.errors import ScheduledEventsError, seconds_in_words
from ...module_utils._scheduled_events.core.types import Data, Values
from ...module_utils._scheduled_events.discovery.candidates import USUAL_ADDRESS, Candidate
from ...module_utils._scheduled_events.discovery.option_245 import VARIABLE, finding_of_address
from ...module_utils._scheduled_events.imds import transport as imds
from ...module_utils._scheduled_events.imds.transport import Answer
from .calls import Calls, OverCalls, failure_text, is_session_fault, whole_seconds

# Headers that the client reads; win_uri returns each as a key of its result.
READ_HEADERS = ("location", "retry-after", "content-type")
HINT = (
    "Check that this is an Azure VM; that 'route print -4' has a route to 169.254.169.254 by the primary network interface (it comes with DHCP); that no "
    "firewall or VPN blocks the address. A failover cluster takes 169.254.0.0/16 for itself: there, 'route add 169.254.169.254/32 <IP of the primary "
    "interface> metric 1 -p' gives the address back. A proxy is never used and must not catch it."
)


class WindowsTransport:
    """Send requests from the Windows VM.

    A broken session becomes a lost answer if ``keep_asking`` is set, for callers that repeat the request anyway, and always for an
    approval, which may have been received. Otherwise Ansible's own error makes the VM unreachable, as on Linux.
    """

    def __init__(self, calls: Calls, endpoint: str, check_mode: bool, keep_asking: bool = False) -> None:
        self.endpoint, self._host, self._port = imds.split_endpoint(endpoint)
        self.hint = HINT if self._host == imds.AZURE_HOST else imds.other_hint(self.endpoint)
        self._calls = calls
        self._check_mode = check_mode
        self._keep_asking = keep_asking
        self._connects = False

    def request(self, method: str, path: str, body: str | None = None, connect_timeout: float = 5.0, request_timeout: float = 125.0) -> Answer:
        """Send one request and read its answer; see Transport. Raise ScheduledEventsError."""
        if self._check_mode and method != "GET":
            # win_uri would send it. Callers send nothing in check mode; this is a second check.
            raise AssertionError(f"{method} in check mode")
        target = f"{method} {self.endpoint}{path}"
        try:
            self._connect(target, connect_timeout)
            return self._ask(method, path, body, target, request_timeout)
        except ScheduledEventsError:
            self._connects = False
            raise
        except Exception as error:
            self._connects = False
            if not is_session_fault(error) or not (self._keep_asking or method == "POST"):
                raise
            self._calls.reset()
            raise imds.cut_off(target, f"the session with the VM was lost: {' '.join(str(error).split())[:200]}") from error

    def close(self) -> None:
        """Do nothing: no connection is kept open."""

    def _connect(self, target: str, connect_timeout: float) -> None:
        """Test the connection first: win_uri has a single time limit, and an unreachable service must not take as long as a slow first answer."""
        if self._connects:
            return
        limit = whole_seconds(connect_timeout)
        answer = self._calls.call("win_wait_for", host=self._host, port=self._port, state="started", delay=0, sleep=1, connect_timeout=limit, timeout=limit)
        if answer.get("failed"):
            raise imds.not_connected(target, f"no answer came within {seconds_in_words(connect_timeout)}", self.hint)
        self._connects = True

    def _ask(self, method: str, path: str, body: str | None, target: str, request_timeout: float) -> Answer:
        arguments: Data = {
            "url": self.endpoint + path,
            "method": method,
            "headers": dict(imds.HEADERS),
            "use_proxy": False,
            "follow_redirects": "none",
            "return_content": True,
            "timeout": whole_seconds(request_timeout),
            "status_code": [200],
        }
        if body is not None:
            arguments.update(body=body, content_type=imds.JSON_HEADERS["Content-Type"])
        began = time.monotonic()
        answer = self._calls.call("win_uri", **arguments)
        status = answer.get("status_code")
        # A failure despite an accepted status: the body ended early.
        broken = bool(answer.get("failed")) and status == 200
        if isinstance(status, int) and not isinstance(status, bool) and status >= 100 and not broken:
            return _answer(status, answer, target)
        # Without a status there was no answer. The error's text depends on the VM's language; the elapsed time does not.
        if time.monotonic() - began >= request_timeout:
            raise imds.too_late(target, request_timeout)
        raise imds.cut_off(target, failure_text(answer))


def _answer(status: int, answer: Values, target: str) -> Answer:
    body = str(answer.get("content") or "").encode("utf-8", "surrogatepass")
    if len(body) > imds.MAX_ANSWER_BYTES:
        raise imds.too_large(target)
    # A header becomes a key by its capitals: Retry-After is retry_after, and retry-after is retryafter.
    found = {name: answer.get(name.replace("-", "_"), answer.get(name.replace("-", ""))) for name in READ_HEADERS}
    return Answer(status, {name: value for name, value in found.items() if isinstance(value, str)}, body)


# --- Where a Windows VM may have its endpoint ----------------------------------------------------------------------------


# Description; key; value. Variables of the whole system are in the registry as well.
REGISTRY_VALUES = (
    (f"system variable {VARIABLE}", "HKLM:\\SYSTEM\\CurrentControlSet\\Control\\Session Manager\\Environment", VARIABLE),
    ("registry value ScheduledEventsIp", "HKLM:\\SOFTWARE\\ScheduledEvents", "ScheduledEventsIp"),
)


class WindowsPlaces(OverCalls):
    """See Places. No DHCP request is sent from here: Windows offers that to programs only, and no program is installed on the VM."""

    advice = (
        "For a VM in a virtual network leave the option endpoint out. For any other, find the address of the VM's DHCP option 245 once (Microsoft's sample "
        "virtual-machines-scheduled-events-discover-endpoint-for-non-vnet-vm does; run it as administrator with --outputregistry), or set the system "
        f"variable {VARIABLE} with 'setx {VARIABLE} ADDRESS /m', or set the option endpoint to http://ADDRESS."
    )

    def candidates(self, seconds: float) -> t.Iterator[Candidate]:
        """Return both values, then the default address."""
        for source, key, name in REGISTRY_VALUES:
            yield self._read(source, key, name)
        yield Candidate("Azure's usual address", USUAL_ADDRESS)

    def _read(self, source: str, key: str, name: str) -> Candidate:
        answer = self._calls.call("win_reg_stat", path=key, name=name)
        if answer.get("failed"):
            return Candidate(source, None, f"cannot be read ({failure_text(answer)})")
        text = str(answer.get("value") or "").strip() if answer.get("exists") else ""
        return Candidate(source, *finding_of_address(text)) if text else Candidate(source, None, "not set")
