# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The figures of the scale guide are calculated, and from what was measured."""

from __future__ import annotations

import pathlib

from ansible_collections.maintenance.azure.tests.benchmark import scale

ROOT = pathlib.Path(__file__).resolve().parents[3]
GUIDE = (ROOT / "docs" / "docsite" / "rst" / "scale_guide.rst").read_text()
FIGURES = (ROOT / "docs" / "figures.md").read_text()


def test_the_table_is_the_one_that_is_calculated() -> None:
    assert scale.table() in GUIDE
    assert f"= {scale.per_controller()}\n" in GUIDE


def test_measured_figures_are_those_of_the_page_of_figures() -> None:
    def row(start: str) -> list[str]:
        (line,) = [line for line in FIGURES.splitlines() if line.startswith(f"| {start} |")]
        return [cell.strip() for cell in line.strip("|").split("|")]

    assert row("first observation over all")[3] == f"{scale.OBSERVATION_500_SECONDS} s"
    assert row("everything after it, on the clock")[3] == f"{scale.AFTER_500_SECONDS} s"
    assert row("processor time")[2] == f"{scale.OBSERVATION_100_PROCESSOR} s"
    assert "41 | 384 | 1434" in FIGURES
    for figure in (scale.OBSERVATION_500_SECONDS, scale.AFTER_500_SECONDS, scale.OBSERVATION_100_PROCESSOR):
        assert f"{figure} s" in GUIDE


def test_events_follow_what_was_measured() -> None:
    assert [scale.EVENTS_OF_JOB + scale.EVENTS_OF_VM * vms for vms in (1, 50, 200)] == [41, 384, 1434]


def test_ten_times_the_fleet_needs_ten_times_as_much() -> None:
    small, large = scale.need(1_000), scale.need(10_000)
    assert round(large.cores, 6) == round(10 * small.cores, 6)
    assert large.jobs == 10 * small.jobs
    assert scale.need(501).jobs == 2
    assert scale.per_controller(4) in (2 * scale.per_controller(2), 2 * scale.per_controller(2) + 1)
