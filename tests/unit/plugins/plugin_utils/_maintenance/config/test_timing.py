# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Time settings beyond what can work are refused before anything is done, each with its reason."""

from __future__ import annotations

import pathlib
import re
from typing import Any

import pytest
import yaml

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease import lease_schema
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config.settings import OWN_OPTIONS, Settings, SettingsError, load
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config.timing import BOUNDS, LONGEST_ACTION, refuse_out_of_bounds

ROLE = pathlib.Path(__file__).resolve().parents[6] / "roles" / "respond"
REHEARSAL = pathlib.Path(__file__).resolve().parents[6] / "docs" / "examples" / "local-rehearsal.yml"


def refusal(gate: bool = False, **timing: Any) -> str:
    try:
        refuse_out_of_bounds(load(timing), gate=gate)
    except SettingsError as error:
        return str(error)
    return ""


def test_every_number_has_bounds_and_its_default_is_within() -> None:
    numbers = {name for name, value in vars(Settings()).items() if isinstance(value, (int, float)) and not isinstance(value, bool)}
    assert set(BOUNDS) == numbers - {"min_answered"}
    assert refusal() == refusal(gate=True) == ""


@pytest.mark.parametrize("name", BOUNDS)
def test_what_is_out_of_bounds_is_named_with_the_reason(name: str) -> None:
    bounds = BOUNDS[name]
    where = OWN_OPTIONS.get(name) or f"respond_timing: {name}"
    for value in [bounds.most + 1, *([bounds.least - 1] if bounds.least > 0 else [])]:
        assert refusal(**{name: value}) == f"{where} is {value:g}; it must be {bounds.least:g} to {bounds.most:g}: {bounds.why}"
    for value in (bounds.least, bounds.most):
        assert refusal(**{name: value}) == ""


@pytest.mark.parametrize("seconds", [0, 20, 150])
def test_no_action_outlives_its_lease(seconds: int) -> None:
    assert refusal(lease_seconds=seconds).startswith(f"respond_timing: lease_seconds is {seconds}; it must be 151 to 21600: an action on a VM may take 150")


def test_a_rehearsal_may_have_short_leases_but_none_without_time() -> None:
    assert refusal(lease_seconds=3, rehearsal=True) == ""
    assert "lease_seconds is 0; it must be 1 to 21600" in refusal(lease_seconds=0, rehearsal=True)


def test_the_lease_of_a_gate_is_its_own_option() -> None:
    assert refusal(gate=True, lease_seconds=60) == ""
    assert refusal(gate=True, lease_seconds=0).startswith("gate_lease_seconds is 0; it must be 1 to 21600: so long a batch may take")
    assert refusal(gate=True, lease_seconds=21601).startswith("gate_lease_seconds is 21601; ")


def test_the_limits_are_those_of_the_task_and_of_the_lease() -> None:
    assert re.findall(r"timeout: \"\{\{ (\d+) if __respond_actions", (ROLE / "tasks" / "act.yml").read_text()) == [str(LONGEST_ACTION)]
    assert BOUNDS["lease_seconds"].most == lease_schema.LONGEST_SECONDS


def test_a_part_of_a_retry_is_none() -> None:
    with pytest.raises(SettingsError, match="retries must be a whole number, not 2.5"):
        load({"retries": 2.5})


def test_the_examples_are_within() -> None:
    given = re.findall(r"respond_timing:\n((?: +\w+: \d+\n)+)", REHEARSAL.read_text())
    assert given
    for block in given:
        assert refusal(**yaml.safe_load(block)) == ""
