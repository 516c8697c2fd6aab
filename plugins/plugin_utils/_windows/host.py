# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""What a Windows VM provides: its clock, its boot, its services, its event log."""

from __future__ import annotations

import time
import typing as t

from ...module_utils._scheduled_events.core.types import Data, Values
from ...module_utils._scheduled_events.host.health import Answer, check_with, split_url, unusable_url
from ...module_utils._scheduled_events.host.system import seconds_between, utc_seconds, utc_text
from ...module_utils._scheduled_events.host.watcher_state import WatcherState, age_by_clock, parse_watcher
from .calls import Calls, failure_text, whole_seconds

LOG, SOURCE, EVENT_ID = "APPLICATION", "maintenance.azure", "1"


class WindowsHost:
    """A Windows VM; see Host. Its clock is read once; after that the time that passes on the controller is added."""

    system = "windows"

    def __init__(self, calls: Calls, boot_id: str | None = None, watcher_state: t.Callable[[], bytes | None] = lambda: None) -> None:
        """``watcher_state`` returns the state of the VM's watcher as the last reading of the records showed it (WindowsFiles)."""
        self._calls = calls
        self._boot_id = boot_id or None
        self._facts: Data | None = None
        self._asked = 0.0
        self._watcher_state = watcher_state

    def now(self) -> str:
        facts = self._read()
        # Windows writes the time with a fraction of six digits, as records do.
        seconds = utc_seconds((facts.get("ansible_date_time") or {}).get("iso8601_micro"))
        if seconds is None:
            raise OSError("ansible.windows.setup did not give the VM's time (ansible_date_time.iso8601_micro)")
        return utc_text(seconds + time.monotonic() - self._asked)

    def boot_id(self) -> str | None:
        # Windows has no boot id. The boot time serves as one, within a second (see enabled_since.py), unless the clock is set; then the
        # drain is verified once more than needed.
        return self._boot_id or str(self._read().get("ansible_lastboot") or "") or None

    def uptime_seconds(self) -> float | None:
        uptime = self._read().get("ansible_uptime_seconds")
        if isinstance(uptime, bool) or not isinstance(uptime, (int, float)):
            return None
        return float(uptime) + time.monotonic() - self._asked

    def check_health(self, health: Values | None) -> Answer:
        return check_with(health, self._port, self._url, self._file, self._service)

    def watcher(self) -> WatcherState | None:
        content = self._watcher_state()
        if content is None:
            return None
        # By the VM's own clock: Windows has no boot id.
        now = self.now()
        return parse_watcher(content, age_by_clock(lambda at: seconds_between(at, now)))

    def log(self, line: str) -> str | None:
        """Write one line to the event log of applications. Return why it failed, or None."""
        answer = self._calls.call("win_command", argv=["eventcreate.exe", "/l", LOG, "/t", "INFORMATION", "/so", SOURCE, "/id", EVENT_ID, "/d", line])
        return failure_text(answer) if answer.get("failed") or answer.get("rc") else None

    def _read(self) -> Data:
        if self._facts is None:
            before = time.monotonic()
            answer = self._calls.call("setup", gather_subset=["!all", "!min", "date_time", "uptime"])
            self._asked = (before + time.monotonic()) / 2
            if answer.get("failed"):
                raise OSError(f"the VM's time cannot be queried: {failure_text(answer)}")
            self._facts = dict(answer.get("ansible_facts") or {})
        return self._facts

    def _port(self, host: str, port: int, timeout: float) -> Answer:
        where, limit = f"port {port} of {host}", whole_seconds(timeout)
        answer = self._calls.call("win_wait_for", host=host, port=port, state="started", delay=0, sleep=1, connect_timeout=limit, timeout=limit)
        if answer.get("failed"):
            return False, f"{where} does not accept connections: {failure_text(answer)}"
        return True, f"{where} accepts connections"

    def _url(self, url: str, timeout: float, validate_certs: bool) -> Answer:
        try:
            split_url(url)
        except ValueError as error:
            return unusable_url(url, error)
        answer = self._calls.call(
            "win_uri", url=url, method="GET", use_proxy=False, follow_redirects="none", validate_certs=validate_certs, timeout=whole_seconds(timeout)
        )
        status = answer.get("status_code")
        if isinstance(status, bool) or not isinstance(status, int) or status < 100:
            return False, f"{url} does not answer: {failure_text(answer)}"
        return 200 <= status < 400, f"{url} answers with status {status}"

    def _file(self, path: str) -> Answer:
        answer = self._calls.call("win_stat", path=path, get_checksum=False)
        found = answer.get("stat")
        if answer.get("failed") or not isinstance(found, dict):
            return None, f"the file {path} cannot be examined: {failure_text(answer)}"
        if not found.get("exists"):
            return False, f"the file {path} is not there"
        if found.get("isdir"):
            return False, f"{path} is a directory and not a file"
        return True, f"the file {path} is there"

    def _service(self, name: str) -> Answer:
        answer = self._calls.call("win_service_info", name=name)
        services = answer.get("services")
        if answer.get("failed") or not isinstance(services, list):
            return None, f"the service {name} cannot be queried: {failure_text(answer)}"
        states = [str(service.get("state")) for service in services if isinstance(service, dict)]
        if not states:
            return False, f"Windows has no service {name}"
        return all(state == "started" for state in states), f"Windows calls the service {name} {' and '.join(states)}"
