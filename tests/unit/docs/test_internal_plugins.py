# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What only the roles and playbooks of this collection call says so where people choose a plugin: in what ansible-doc lists."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
# What a play of a user's own calls. No role calls no_renamed and no_settings any more.
FOR_ALL = {
    "module": {"maintenance_info", "scheduled_events_approve", "scheduled_events_info", "wait_for_scheduled_event"},
    "filter": {
        "batches", "gate", "no_renamed", "no_settings", "override", "plan", "policy", "printable", "status_lines", "survey", "timeline",
    },
    "lookup": {"hosts", "scheduled_events"},
    "test": {"module_installed"},
}  # fmt: skip
HOW_MANY = {"module": 18, "filter": 7, "lookup": 4, "test": 0}


@pytest.mark.parametrize("kind", FOR_ALL)
def test_ansible_doc_lists_what_is_internal_as_internal(kind: str) -> None:
    """In its list for people, which cuts off the ends of descriptions."""
    command = [str(pathlib.Path(sys.executable).with_name("ansible-doc")), "-t", kind, "-l", "maintenance.azure"]
    printed = subprocess.run(command, env={**os.environ, "COLUMNS": "80"}, capture_output=True, text=True, check=True).stdout
    listed = dict(re.findall(r"^maintenance\.azure\.(\w+) +(.*)$", printed, re.MULTILINE))
    marked = {name for name, text in listed.items() if text.startswith("(internal) ")}
    assert set(listed) - marked == FOR_ALL[kind]
    assert len(marked) == HOW_MANY[kind]


def test_the_start_page_agrees() -> None:
    rows = dict(re.findall(r"^\| (modules|filters) \| (.*) \|$", (ROOT / "README.md").read_text(), re.MULTILINE))
    own, _mark, internal = rows["modules"].partition("; for the roles and playbooks alone ")
    assert set(re.findall(r"`(\w+)`", own)) == FOR_ALL["module"] and len(re.findall(r"`(\w+)`", internal)) == HOW_MANY["module"]
    assert set(re.findall(r"`(\w+)`", rows["filters"])) <= FOR_ALL["filter"]
