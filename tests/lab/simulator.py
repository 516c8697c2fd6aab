# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The simulator as a process of its own, and its control API."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
import time
import typing as t

import requests

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "roles" / "simulator" / "files" / "imds_simulator"


class Simulator:
    """One process that serves all VMs of a test; ends with the test."""

    def __init__(self, vms: t.Sequence[str], speed: float = 60, *arguments: str) -> None:
        command = [sys.executable, str(PACKAGE), "--control", "127.0.0.1:0", "--speed", str(speed), *arguments]
        for vm in vms:
            command += ["--vm", vm]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the simulator ended at once: {' '.join(command)}")
        ready = json.loads(line)
        self.control: str = ready["control"]
        self.endpoints: dict[str, str] = ready["vms"]

    def ask(self, method: str, path: str, body: t.Any = None) -> t.Any:
        """One request to the control API; its JSON answer."""
        answer = requests.request(method, self.control + path, json=body, timeout=10)
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def event(self, event_type: str, resources: t.Sequence[str], **more: t.Any) -> str:
        """A new event; its EventId."""
        return str(self.ask("POST", "/events", {"event_type": event_type, "resources": list(resources), **more})["event_id"])

    def approvals(self) -> list[dict[str, t.Any]]:
        """Every POST that any VM sent, but for those that the rate limit has refused: nothing came of them, and they are sent again."""
        return [entry for entry in self.requests() if entry["method"] == "POST" and entry["status"] != 429]

    def requests(self) -> list[dict[str, t.Any]]:
        """Everything that was asked of any VM's endpoint."""
        return list(self.ask("GET", "/requests"))

    def log(self) -> list[dict[str, t.Any]]:
        """The transitions of all events, in order."""
        return list(self.ask("GET", "/log"))

    def until(self, true: t.Callable[[], bool], seconds: float, what: str) -> None:
        """Wait for something that the simulator is about to do."""
        end = time.monotonic() + seconds
        while not true():
            if time.monotonic() > end:
                raise AssertionError(f"not within {seconds} s: {what}")
            time.sleep(0.1)

    def close(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(5)
        if self.process.stdout:
            self.process.stdout.close()
