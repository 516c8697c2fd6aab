# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plays an outcome file: the steps of a client through a scenario, and what each must bring."""

from __future__ import annotations

import json
import re
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from module_runner import run_inside, run_process
from simulator_process import SimulatorProcess, exchange

# Long enough for a busy machine, short enough for a test; retries would hide which answer a run had.
QUICK = {"retries": 0, "connect_timeout": 5, "request_timeout": 10}
START = "2036-04-11T22:11:48Z"


class Stage:
    """One scenario at play, with its simulator."""

    def __init__(self, outcome: dict[str, Any], simulator: SimulatorProcess) -> None:
        self._outcome = outcome
        self._simulator = simulator
        self._processes = 0

    def play(self) -> None:
        for number, step in enumerate(self._outcome["steps"], 1):
            try:
                self._take(step)
            except AssertionError as problem:
                raise AssertionError(f"step {number} of {self._outcome['scenario']} {json.dumps(step)}: {problem}") from problem
        assert self._processes, "no module ran as a process of its own"

    def _take(self, step: dict[str, Any]) -> None:
        if "advance" in step:
            self._simulator.control("clock", {"advance": step["advance"]})
        elif "module" in step:
            self._run_module(step)
        elif "control" in step:
            found = self._simulator.control(self._fill(step["control"]), step.get("body"), step.get("method"))
            compare(self._fill(step.get("expect", {})), found, "control")
        elif "request" in step:
            self._send(step)
        elif "log" in step:
            compare(step["log"], self._simulator.transitions(), "log")
        elif "approvals_sent" in step:
            posts = [entry for entry in self._simulator.control("requests") if entry["method"] == "POST"]
            compare(step["approvals_sent"], len(posts), "approvals_sent")
        else:
            raise AssertionError("this step does nothing")

    def _run_module(self, step: dict[str, Any]) -> None:
        url = self._simulator.url(step.get("vm", 0))
        arguments = dict(QUICK, endpoint=url, **self._fill(step.get("arguments", {})))
        # The first run of every scenario is a true process; the others save the start of a Python each.
        run = run_inside if self._processes and "meanwhile" not in step else run_process
        self._processes += run is run_process
        if "meanwhile" in step:
            result = self._run_meanwhile(step, arguments)
        else:
            result = run(step["module"], arguments)
        failed = result.get("failed", False)
        assert failed == step.get("fails", False), f"failed is {failed}: {json.dumps(result)}"
        compare(self._fill(step.get("expect", {})), result, step["module"])

    def _run_meanwhile(self, step: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
        """Let the time go on only once the module has asked; it waits for its answer until then."""
        before = self._asked()
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(run_process, step["module"], arguments)
            end = time.monotonic() + 30
            while self._asked() == before and time.monotonic() < end:
                time.sleep(0.02)
            self._simulator.control("clock", {"advance": step["meanwhile"]})
            return running.result()

    def _asked(self) -> int:
        asked: int = self._simulator.control("state")["asked"]
        return asked

    def _send(self, step: dict[str, Any]) -> None:
        wish = self._fill(step["request"])
        headers = wish.get("headers", {"Metadata": "true"})
        path = wish.get("path", "/metadata/scheduledevents?api-version=2020-07-01")
        url = self._simulator.url(step.get("vm", 0))
        status, sent_headers, body = exchange(url, wish.get("method", "GET"), path, headers, wish.get("body"))
        answer: dict[str, Any] = {"status": status, "body": body.decode(), "headers": sent_headers}
        if body:
            answer["json"] = json.loads(body) if body[:1] in b"{[" else None
        compare(self._fill(step["expect"]), answer, "answer")

    def _fill(self, value: Any) -> Any:
        """``$name`` is the EventId of the scenario's event ``name``."""
        if isinstance(value, dict):
            return {key: self._fill(entry) for key, entry in value.items()}
        if isinstance(value, list):
            return [self._fill(entry) for entry in value]
        if isinstance(value, str) and "$" in value:
            ids = self._simulator.control("state")["scenario"]["events"]
            return re.sub(r"\$\{?([a-z][a-z0-9_-]*)\}?", lambda found: ids[found.group(1)], value)
        return value


def compare(wanted: Any, found: Any, where: str) -> None:
    """Objects may have more keys than wanted, lists have the same length, ``~text`` is a regular expression."""
    if isinstance(wanted, dict):
        assert isinstance(found, dict), f"{where} is {found!r}, not an object"
        for key, value in wanted.items():
            assert key in found, f"{where} has no {key}: {found!r}"
            compare(value, found[key], f"{where}.{key}")
    elif isinstance(wanted, list):
        assert isinstance(found, list), f"{where} is {found!r}, not a list"
        assert len(wanted) == len(found), f"{where} has {len(found)} entries, not {len(wanted)}: {found!r}"
        for index, (one, other) in enumerate(zip(wanted, found, strict=True)):
            compare(one, other, f"{where}[{index}]")
    elif isinstance(wanted, str) and wanted.startswith("~"):
        text = found if isinstance(found, str) else json.dumps(found)
        assert re.search(wanted[1:], text), f"{where} is {text!r}, which does not match {wanted[1:]!r}"
    else:
        assert wanted == found and isinstance(wanted, bool) == isinstance(found, bool), f"{where} is {found!r}, not {wanted!r}"
