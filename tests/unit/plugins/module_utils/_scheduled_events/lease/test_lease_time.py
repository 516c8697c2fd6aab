# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""No task outlives the lease under which it acts: neither the limits that the roles get from here, nor those that they have themselves."""

from __future__ import annotations

import pathlib
import re

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease import lease_time
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease.lease_operations import lease_argument
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config.settings import Settings

ROOT = pathlib.Path(__file__).resolve().parents[6]
ROLES = ("respond", "gate", "upgrade", "drain", "recover", "approve")
# Between the limit of a task and the end of a lease that nobody has shortened.
MARGIN = 30


@pytest.mark.parametrize("limit", lease_time.TASK_LIMITS.values())
def test_each_limit_stays_below_each_lease(limit: int) -> None:
    assert limit < lease_time.LEAST_LEASE and limit + MARGIN <= lease_time.LEASE


def test_one_run_begins_its_last_action_in_time() -> None:
    assert lease_time.TASK_LIMITS["act"] >= lease_time.MOST_SECONDS * 2 and lease_time.TASK_LIMITS["act_only"] > lease_time.MOST_SECONDS


def test_the_default_stands_here() -> None:
    assert lease_argument()["options"]["seconds"]["default"] == Settings().lease_seconds == lease_time.LEASE


def numbers(text: str) -> list[int]:
    """Return the limits of tasks that stand in a file as numbers; 0 is none."""
    return [int(found) for found in re.findall(r"^\s+timeout: (\d+)$", text, re.MULTILINE) if int(found)]


@pytest.mark.parametrize("role", ROLES)
def test_a_limit_in_a_role_leaves_time_to_release(role: str) -> None:
    """One that comes near to a lease is taken from here instead."""
    found = {path.name: numbers(path.read_text()) for path in (ROOT / "roles" / role / "tasks").rglob("*.yml")}
    assert {name: limits for name, limits in found.items() if any(limit > lease_time.LEAST_LEASE - MARGIN for limit in limits)} == {}


def test_a_number_in_a_role_is_found() -> None:
    assert numbers("- name: Act\n  timeout: 150\n  block:\n    - command: x\n      timeout: 0\n") == [150]


def test_roles_take_the_limits_from_here() -> None:
    found = {name for path in (ROOT / "roles").rglob("*.yml") for name in re.findall(r"__respond_loop\.limits\.(\w+)", path.read_text())}
    assert found == set(lease_time.LIMITS)
