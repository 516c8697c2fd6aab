# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Misspelt options: warned about with the right name, and nobody's own variables are."""

from __future__ import annotations

import pathlib
import re

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._settings.near_misses import PREFIXES, ROLES, distance, options, warnings

ROOT = pathlib.Path(__file__).resolve().parents[5]
# What AWX gives each job, behind awx_.
AWX = [
    "job_id",
    "job_template_id",
    "job_template_name",
    "job_launch_type",
    "user_id",
    "user_name",
    "user_email",
    "user_first_name",
    "user_last_name",
    "schedule_id",
    "schedule_name",
    "workflow_job_id",
    "workflow_job_name",
    "workflow_job_template_id",
    "workflow_job_template_name",
    "workflow_job_launch_type",
    "inventory_id",
    "inventory_name",
    "project_revision",
    "project_scm_branch",
    "parent_job_schedule_id",
    "webhook_event_type",
    "webhook_event_ref",
    "webhook_payload",
    "execution_node",
]


@pytest.mark.parametrize(
    ("name", "right"),
    [
        ("respond_capacty", "respond_capacity"),
        ("drain_methds", "drain_methods"),
        ("drain_method", "drain_methods"),
        ("status_fromat", "status_format"),
        ("gate_nmae", "gate_name"),
        ("respond_wiat", "respond_wait"),
        ("respond_pause", "respond_paused"),
        ("respond_start_whne", "respond_start_when"),
        ("respond_observaton_secods", "respond_observation_seconds"),
        ("status_host", "status_hosts"),
        ("awx_organisation", "awx_organization"),
    ],
)
def test_what_is_almost_an_option_is_named_with_the_right_name(name: str, right: str) -> None:
    (said,) = warnings([name, "ansible_user"])
    assert said == f"The variable {name} is no option of maintenance.azure and has no effect. Did you mean {right}?"


@pytest.mark.parametrize(
    "name",
    [
        "respond_team_channel",
        "drain_methods_of_web",
        "drain_methods2",
        "upgrade_tasks_2",
        "gate_why",
        "respnd_capacity",
        "capacty",
        "respond_plan",
        "observe_result",
        "respond_",
        *(f"awx_{name}" for name in AWX),
    ],
)
def test_other_names_belong_to_users(name: str) -> None:
    assert warnings([name]) == []


def test_no_variable_of_the_collection_itself_is_warned_about() -> None:
    files = [*ROOT.glob("playbooks/*.yml"), *(file for folder in ("tasks", "vars", "defaults") for file in ROOT.glob(f"roles/*/{folder}/**/*.yml"))]
    names = {name for file in files for name in re.findall(r"\b[a-z][a-z_]+\b", file.read_text())}
    assert len([name for name in names if name.startswith(PREFIXES)]) > 150
    # What a template or a task is given is no variable of an inventory; there both names are misspelt options.
    assert warnings(names - {"respond_notify_phase", "respond_notify_text"}) == []
    assert {"decide_hosts", "drill_speed", "respond_hosts", "status_hosts"} <= options((*ROLES, "awx", "simulator"))


@pytest.mark.parametrize(
    ("one", "other", "letters"),
    [("", "", 0), ("a", "", 1), ("abc", "abc", 0), ("abc", "acb", 1), ("abcd", "bcd", 1), ("abc", "axc", 1), ("abc", "cab", 2), ("ab", "xaby", 2)],
)
def test_letters_that_differ(one: str, other: str, letters: int) -> None:
    assert distance(one, other) == distance(one=other, other=one) == letters
