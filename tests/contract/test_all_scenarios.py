# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The thirty scenarios on both ways: what tests/scenarios expects, and the same results and requests."""

from __future__ import annotations

import json
import pathlib

import pytest

from ansible_collections.maintenance.azure.tests.contract import scenario, table
from ansible_collections.maintenance.azure.tests.contract.compare import differences
from ansible_collections.maintenance.azure.tests.contract.ways import ROOT, Linux, Windows

OUTCOMES = sorted((ROOT / "tests" / "scenarios" / "outcomes").glob("*.json"))


def test_all_thirty_are_there() -> None:
    assert {int(path.stem.partition("-")[0]) for path in OUTCOMES} == set(range(1, 31))


@pytest.mark.parametrize("path", OUTCOMES, ids=[path.stem for path in OUTCOMES])
def test_scenario(path: pathlib.Path, tmp_path: pathlib.Path) -> None:
    outcome = json.loads(path.read_text(encoding="utf-8"))
    linux = table.RULES.general(scenario.play(outcome, Linux(tmp_path / "linux")))
    windows = table.RULES.general(scenario.play(outcome, Windows(tmp_path / "windows")))
    case = f"scenario: {path.stem}"
    unjustified = table.judge(case, differences(case, linux, windows))
    assert not unjustified, "\n".join(unjustified)
