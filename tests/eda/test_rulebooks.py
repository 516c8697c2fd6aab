# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The three rulebooks: valid for ansible-rulebook, and the same but for what they run."""

from __future__ import annotations

import pathlib
import typing as t

import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
RULEBOOKS = ROOT / "extensions" / "eda" / "rulebooks"
NAMES = ("respond", "respond_job_template", "respond_workflow_template")
ACTIONS = ("run_playbook", "run_job_template", "run_workflow_template")


def load(name: str) -> t.Any:
    return yaml.safe_load((RULEBOOKS / f"{name}.yml").read_text())


@pytest.mark.parametrize("name", NAMES)
def test_it_is_valid(name: str) -> None:
    from ansible_rulebook.rules_parser import parse_rule_sets
    from ansible_rulebook.validators import Validate

    Validate.rulebook(load(name))
    assert [len(rule_set.rules) for rule_set in parse_rule_sets(load(name), {})] == [3, 1]


@pytest.mark.parametrize(("name", "action"), list(zip(NAMES, ACTIONS)))
def test_it_differs_by_its_run_alone(name: str, action: str) -> None:
    ours, first = load(name), load("respond")
    runs = [rulebook[1]["rules"][0]["actions"].pop(1) for rulebook in (ours, first)]
    assert ours == first
    assert list(runs[0]) == [action]
    text = str(runs[0])
    # Nothing of a message but the EventId and the names of VMs to look at, and no choice of hosts.
    assert text.count("events.") == 3
    assert [text.count(f"events.{name}") for name in ("idle.maintenance_idle", "news.maintenance_event", "news.maintenance_vms")] == [1, 1, 1]
    assert "limit" not in text
