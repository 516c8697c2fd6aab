# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The filters as Ansible finds them: their names, their errors, and documentation for each option."""

from __future__ import annotations

import inspect
import pathlib
from typing import Any

import pytest
import yaml
from ansible.errors import AnsibleFilterError

from ansible_collections.maintenance.azure.plugins.filter.maintenance import FilterModule

FOLDER = pathlib.Path(__file__).resolve().parents[4] / "plugins" / "filter"
FILTERS = FilterModule().filters()
NOW = "2026-11-21T20:00:00Z"
ASK = {"upgrade": "x", "batch": ["a"]}


def find(name: str) -> Any:
    return FILTERS[name]


@pytest.mark.parametrize("name", FILTERS)
def test_every_option_is_documented(name: str) -> None:
    documentation = yaml.safe_load((FOLDER / f"{name}.yml").read_text())["DOCUMENTATION"]
    given = list(inspect.signature(find(name)).parameters)
    assert documentation["name"] == name
    assert set(documentation["options"]) == {"_input", *given[1:]}


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("plan", (["x"],), "maintenance.azure.plan: now must be"),
        ("plan", (["x"], "default", None, NOW), "maintenance.azure.plan: observation 1"),
        ("plan", ([], "none", None, NOW), "no policy named"),
        ("plan", ([], "default", {"x": 1}, NOW), "unknown setting"),
        ("gate", ([], {}), "maintenance.azure.gate: upgrade must be"),
        ("gate", ([], ASK), "maintenance.azure.gate: now must be"),
        ("gate", (["x"], ASK, "default", None, NOW), "maintenance.azure.gate: observation 1"),
        ("gate", ([], ASK, "default", {"x": 1}, NOW), "unknown setting"),
        ("gate", ([], ASK, "none", None, NOW), "no policy named"),
        ("policy", ([],), "maintenance.azure.policy: the policy has no rules"),
        ("status_lines", ({},), "maintenance.azure.status_lines: "),
        ("timeline", ("x",), "maintenance.azure.timeline: "),
    ],
)
def test_errors_are_ansibles(name: str, given: tuple[Any, ...], words: str) -> None:
    with pytest.raises(AnsibleFilterError) as caught:
        find(name)(*given)
    assert words in str(caught.value)


def test_they_fit_together() -> None:
    plan = find("plan")([{"host": "vm1", "state": "unreachable"}], find("policy")("documentation"), {}, NOW)
    assert find("status_lines")(plan)[0] == "Could not read vm1: no reason given."
    assert find("status_lines")(plan, format="json", event_id="")["done"] is True
    assert find("timeline")({}) == []


def test_what_a_run_would_do_comes_first_and_can_be_printed() -> None:
    plan = find("plan")([{"host": "vm1", "state": "unreachable"}], "default", {}, NOW)
    plan["actions"] = [{"host": "vm1", "action": "drain", "event_id": "E1\n\x1b[2J", "reason": "Reboot E1"}, {"host": "vm1", "action": "prune"}]
    lines = find("status_lines")(plan, would=True)
    assert lines[0].startswith("vm1: Would drain for event E1") and lines[0].endswith(": Reboot E1") and lines[0].isprintable()
    assert lines[1] == "vm1: Would prune"
    assert lines[2:] == find("status_lines")(plan)
    assert find("status_lines")(plan, format="json", would=True) == find("status_lines")(plan, format="json")


def test_one_vm_does_not_push_the_others_out_of_what_would_be_done() -> None:
    plan = find("plan")([{"host": "vm1", "state": "unreachable"}], "default", {}, NOW)
    plan["actions"] = [{"host": "evil", "action": "write", "event_id": f"E{number}"} for number in range(1000)] + [{"host": "vm1", "action": "drain"}]
    lines = find("status_lines")(plan, would=True)
    assert len(lines) == 12 + len(find("status_lines")(plan))
    assert lines[10:12] == ["vm1: Would drain", "evil: 990 actions more"]
