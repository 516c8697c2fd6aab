# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulator as a process, and a small client of its control API, for tests and benchmarks."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

COLLECTION = Path(__file__).resolve().parents[2]
PACKAGE = COLLECTION / "roles" / "simulator" / "files" / "imds_simulator"


class SimulatorProcess:
    """Starts, is asked, ends. Addresses are loopback ports that the system chose."""

    def __init__(self, *arguments: str) -> None:
        words = [sys.executable, str(PACKAGE), "--parent", str(os.getpid()), *arguments]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the simulator ended at once with status {self.process.wait()}")
        ready = json.loads(line)
        self.control_url: str = ready["control"]
        self.vms: dict[str, str] = ready["vms"]

    def __enter__(self) -> SimulatorProcess:
        return self

    def __exit__(self, *_problem: object) -> None:
        self.end()

    def end(self) -> int:
        self.process.terminate()
        try:
            return self.process.wait(10)
        finally:
            if self.process.stdout is not None:
                self.process.stdout.close()

    def url(self, vm: int) -> str:
        return list(self.vms.values())[vm]

    def control(self, path: str, body: dict[str, Any] | None = None, method: str | None = None) -> Any:
        """Call the control API; an error status is an error here."""
        method = method or ("GET" if body is None else "POST")
        status, _headers, answer = exchange(self.control_url, method, "/" + path, {"Content-Type": "application/json"}, json.dumps(body or {}))
        value = json.loads(answer)
        if status != 200:
            raise RuntimeError(f"{method} /{path} answered {status}: {value}")
        return value

    def transitions(self) -> list[str]:
        return [entry["transition"] for entry in self.control("log")]


def exchange(url: str, method: str, path: str, headers: dict[str, str], body: str | bytes | None = None) -> tuple[int, dict[str, str], bytes]:
    """One bare HTTP request: exactly these headers, besides what every request must have."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=10)
    try:
        connection.putrequest(method, path, skip_accept_encoding=True)
        data = body.encode() if isinstance(body, str) else body
        for name, value in headers.items():
            connection.putheader(name, value)
        if data is not None:
            connection.putheader("Content-Length", str(len(data)))
        connection.endheaders(data)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        connection.close()
