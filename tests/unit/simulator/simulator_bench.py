# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A simulator without sockets: requests go straight to the endpoints."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from imds_simulator.clock import Clock, VirtualClock
from imds_simulator.endpoint.handler import Endpoint
from imds_simulator.events.event import Event
from imds_simulator.simulator import Simulator
from imds_simulator.switches import Switches
from imds_simulator.vm import Vm
from imds_simulator.wire import Answer, Request

EVENTS = "/metadata/scheduledevents"
NEWEST = EVENTS + "?api-version=2020-07-01"
METADATA = {"Metadata": "true"}
START = 1617000000


class Bench:
    """Short access to a simulator for tests. Requests are not rate limited by default."""

    def __init__(self, *vms: str | Vm, enabled: bool = True, clock: Clock | None = None, **switches: Any) -> None:
        self.loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self.loop)
        self.clock = clock or VirtualClock(START)
        self.simulator = Simulator(self.clock, Switches(**{"rate_limit": 0, **switches}), enabled=enabled)
        self.endpoints: dict[str, Endpoint] = {}
        for vm in vms:
            made = Vm(vm) if isinstance(vm, str) else vm
            self.simulator.groups.add(made)
            self.endpoints[made.name] = Endpoint(self.simulator, made)

    def close(self) -> None:
        asyncio.set_event_loop(None)
        self.loop.close()

    def ask(self, method: str, target: str, headers: dict[str, str], body: bytes = b"", vm: str = "web1") -> list[Answer]:
        """Send a request; the list receives the answer as soon as there is one."""
        request = Request(method, target, [(name.lower(), value) for name, value in headers.items()], True)
        request.body = body
        answers: list[Answer] = []
        self.endpoints[vm].handle(request, answers.append)
        return answers

    def send(self, method: str = "GET", target: str = NEWEST, headers: dict[str, str] | None = None, body: bytes = b"", vm: str = "web1") -> Answer:
        answers = self.ask(method, target, METADATA if headers is None else headers, body, vm)
        assert len(answers) == 1, "there was no answer, or more than one"
        return answers[0]

    def document(self, vm: str = "web1", version: str = "2020-07-01") -> dict[str, Any]:
        answer = self.send(target=f"{EVENTS}?api-version={version}", vm=vm)
        assert answer.status == 200
        document: dict[str, Any] = json.loads(answer.body)
        return document

    def shown(self, vm: str = "web1", version: str = "2020-07-01") -> list[tuple[str, str]]:
        """Return EventType and EventStatus of each event in the document."""
        return [(event["EventType"], event["EventStatus"]) for event in self.document(vm, version)["Events"]]

    def create(self, event_type: str = "Reboot", *resources: str, **more: Any) -> Event:
        return self.simulator.machine.create({"event_type": event_type, "resources": list(resources) or ["web1"], **more})

    def approve(self, *ids: str, vm: str = "web1") -> int:
        body = json.dumps({"StartRequests": [{"EventId": event_id} for event_id in ids]}).encode()
        return self.send("POST", body=body, vm=vm).status

    def advance(self, seconds: float) -> None:
        assert isinstance(self.clock, VirtualClock)
        self.clock.advance(seconds)

    def log(self) -> list[str]:
        return [entry["transition"] for entry in self.simulator.recorder.log()]
