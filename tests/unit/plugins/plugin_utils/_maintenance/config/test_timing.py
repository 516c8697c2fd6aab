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

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease import lease_time
from ansible_collections.maintenance.azure.plugins.plugin_utils._core.wrong_input import WrongInput
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config.settings import OWN_OPTIONS, Settings, load
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config.timing import (
    BOUNDS,
    refuse_out_of_bounds,
    seconds_of_batch,
    wrong_leases,
)

ROLE = pathlib.Path(__file__).resolve().parents[6] / "roles" / "respond"
REHEARSAL = pathlib.Path(__file__).resolve().parents[6] / "docs" / "examples" / "local-rehearsal.yml"


def refusal(**timing: Any) -> str:
    try:
        refuse_out_of_bounds(load(timing))
    except WrongInput as error:
        return str(error)
    return ""


def test_every_number_has_bounds_and_its_default_is_within() -> None:
    numbers = {name for name, value in vars(Settings()).items() if isinstance(value, (int, float)) and not isinstance(value, bool)}
    assert set(BOUNDS) == numbers - {"min_answered"}
    assert refusal() == ""


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


@pytest.mark.parametrize("option", ["gate_lease_seconds", "upgrade_tasks_seconds"])
@pytest.mark.parametrize("seconds", [0, 20, 150, 21601])
def test_the_lease_of_a_batch_is_its_own_option(option: str, seconds: int) -> None:
    with pytest.raises(WrongInput, match=f"^{option} is {seconds}; it must be 151 to 21600: an action on a VM may take 150 seconds"):
        seconds_of_batch(load({}), {option: seconds}, None)
    with pytest.raises(WrongInput, match=f"^{option} must be a number of seconds, not 'soon'"):
        seconds_of_batch(load({}), {option: "soon"}, None)
    assert seconds_of_batch(load({}), {option: "151"}, None) == 151


def test_the_lease_of_a_step_is_one_action_longer() -> None:
    """Six hours are the most that a lease may last, and the settings of role respond are checked here, too: they are the margin."""
    leases = {"upgrade_tasks_seconds": 3600}
    assert seconds_of_batch(load({"lease_seconds": 200}), leases, 600) == 800
    assert seconds_of_batch(load({}), leases, 21600) == lease_time.LONGEST_LEASE
    assert seconds_of_batch(load({"rehearsal": True, "lease_seconds": 3}), {"upgrade_tasks_seconds": 2}, 5) == 8
    with pytest.raises(WrongInput, match="^respond_timing: lease_seconds is 0; it must be 151"):
        seconds_of_batch(load({"lease_seconds": 0}), leases, 600)


def test_only_a_lease_that_is_too_short_needs_the_setting_for_rehearsals() -> None:
    assert wrong_leases({"one": 180, "other": None}, {"respond_timing": "{{"}, lambda value: pytest.fail("no drain needs it")) is None
    assert (wrong_leases({"one": 20}, {}, lambda value: value) or "").startswith("one is 20; it must be 151 to 21600")
    assert wrong_leases({"one": 20}, {"respond_timing": {"rehearsal": "yes"}}, lambda value: value) is None


def test_the_limits_are_those_of_a_lease() -> None:
    bounds = BOUNDS["lease_seconds"]
    assert (bounds.least, bounds.most) == (lease_time.LEAST_LEASE, lease_time.LONGEST_LEASE)


def test_a_part_of_a_retry_is_none() -> None:
    with pytest.raises(WrongInput, match="retries must be a whole number, not 2.5"):
        load({"retries": 2.5})


def test_the_examples_are_within() -> None:
    given = re.findall(r"respond_timing:\n((?: +\w+: \d+\n)+)", REHEARSAL.read_text())
    assert given
    for block in given:
        assert refusal(**yaml.safe_load(block)) == ""
