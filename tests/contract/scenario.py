# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A scenario of the simulator on one way, with the steps and outcomes of tests/scenarios."""

from __future__ import annotations

import json
import re
import threading
import time
import typing as t

from outcome import QUICK, START, Stage, compare
from simulator_process import SimulatorProcess

from ansible_collections.maintenance.azure.tests.contract.ways import Way

ID = re.compile(r"\b[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\b")


class OneWay(Stage):
    """The modules' runs of a scenario, by the given way; everything else is as in tests/scenarios."""

    def __init__(self, outcome: dict[str, t.Any], simulator: SimulatorProcess, way: Way) -> None:
        super().__init__(outcome, simulator)
        self._way = way
        self._processes = 1
        self.results: list[dict[str, t.Any]] = []

    def _run_module(self, step: dict[str, t.Any]) -> None:
        arguments = dict(QUICK, connect_timeout=1, endpoint=self._simulator.url(step.get("vm", 0)), **self._fill(step.get("arguments", {})))
        helper = threading.Thread(target=self._advance_when_asked, args=(step.get("meanwhile"), self._asked()), daemon=True)
        if "meanwhile" in step:
            helper.start()
        # Nobody sleeps here. Who would have slept goes on when the scenario has, or when the limit of requests in a second is over.
        sleep = helper.join if "meanwhile" in step else (lambda: time.sleep(1.1)) if arguments["retries"] else None
        result = self._way.run(step["module"], arguments, on_sleep=sleep)
        self.results.append(result)
        said = f"{step['module']} ({result.get('msg')})"
        assert result.get("failed", False) == step.get("fails", False), f"failed is {result.get('failed')}: {said}"
        compare(self._fill(step.get("expect", {})), result, said)

    def _advance_when_asked(self, seconds: float, before: int) -> None:
        end = time.monotonic() + 30
        while self._asked() == before and time.monotonic() < end:
            time.sleep(0.02)
        self._simulator.control("clock", {"advance": seconds})


def play(outcome: dict[str, t.Any], way: Way) -> dict[str, t.Any]:
    """Results and requests, without the ports and the ids of events that this run made up."""
    arguments = ["--clock", "virtual", "--start", START, "--scenario", outcome["scenario"], "--switch", "rate_limit=0"]
    with SimulatorProcess(*arguments, *outcome.get("arguments", [])) as simulator:
        stage = OneWay(outcome, simulator, way)
        stage.play()
        requests = [_request(entry) for entry in simulator.control("requests")]
        text = json.dumps({"results": stage.results, "requests": requests})
        for number, url in enumerate(simulator.vms.values()):
            text = text.replace(url, f"$endpoint{number}")
    names: dict[str, str] = {}
    played: dict[str, t.Any] = json.loads(ID.sub(lambda found: names.setdefault(found.group().lower(), f"$id{len(names)}"), text))
    return played


def _request(entry: dict[str, t.Any]) -> dict[str, t.Any]:
    # Not the status: how many requests in a second are too many depends on the machine.
    return {key: entry[key] for key in ("vm", "method", "path", "body") if key in entry}
