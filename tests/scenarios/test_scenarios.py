# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every scenario of the simulator, run through the real modules; what must come out stands in outcomes/ as data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from outcome import START, Stage
from simulator_process import PACKAGE, SimulatorProcess

OUTCOMES = Path(__file__).resolve().parent / "outcomes"


def _load(name: str) -> dict[str, Any]:
    outcome: dict[str, Any] = json.loads((OUTCOMES / f"{name}.json").read_text(encoding="utf-8"))
    return outcome


def _names(folder: Path) -> list[str]:
    return sorted(path.stem for path in folder.glob("*.json"))


def test_all_thirty_scenarios_have_an_outcome() -> None:
    scenarios = sorted(json.loads((PACKAGE / "scenarios" / "scenarios.json").read_text(encoding="utf-8")))
    assert _names(OUTCOMES) == scenarios
    assert {int(name.partition("-")[0]) for name in scenarios} == set(range(1, 31))


@pytest.mark.parametrize("name", _names(OUTCOMES))
def test_outcome(name: str) -> None:
    outcome = _load(name)
    assert outcome["scenario"] == name.partition("-")[2]
    arguments = ["--clock", "virtual", "--start", START, "--scenario", outcome["scenario"]]
    # Tests ask faster than any client may; the limit is tried in scenario 28 and in the unit tests.
    arguments += ["--switch", "rate_limit=0"]
    with SimulatorProcess(*arguments, *outcome.get("arguments", [])) as simulator:
        Stage(outcome, simulator).play()
