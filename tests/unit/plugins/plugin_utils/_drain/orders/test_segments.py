# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is taken at once, and what stands alone."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.orders.vm_actions import segments


def step(kind: str, **keys: Any) -> Any:
    return {"id": kind, "kind": kind, "outside": False, "runs": True, "given": {}, "override": {}, **keys}


def cut(*steps: Any, system: str = "linux") -> list[tuple[bool, list[str], bool]]:
    return [(one["on_vm"], [step["kind"] for step in one["methods"]], one["last"]) for one in segments(steps, system)]


def test_nothing_is_no_segment() -> None:
    assert cut() == []


def test_what_the_engine_runs_is_taken_at_once() -> None:
    assert cut(step("service"), step("command"), step("none")) == [(True, ["service", "command", "none"], True)]


def test_tasks_stand_alone_in_their_place() -> None:
    assert cut(step("service"), step("haproxy", outside=True), step("tasks"), step("none"), step("command")) == [
        (True, ["service"], False),
        (False, ["haproxy"], False),
        (False, ["tasks"], False),
        (True, ["none", "command"], True),
    ]


def test_what_acts_outside_stands_alone_because_its_finding_is_copied_first() -> None:
    assert cut(step("service"), step("command", outside=True), step("none"), step("service")) == [
        (True, ["service"], False),
        (True, ["command"], False),
        (True, ["none", "service"], True),
    ]


def test_what_is_only_reported_is_recorded_by_the_engine() -> None:
    assert cut(step("haproxy", runs=False), step("none")) == [(True, ["haproxy", "none"], True)]


KINDS = ["probe_file", "iis", "wsfc", "service", "command", "none"]


def test_on_windows_all_of_the_vms_own_are_the_engines() -> None:
    assert cut(*map(step, KINDS), system="windows") == [(True, KINDS, True)]


@pytest.mark.parametrize("where", ["given", "override"])
def test_what_another_host_may_have_to_act_for_stands_alone(where: str) -> None:
    steps = [step(kind, **{where: {"availability_groups": ["Orders"]}} if kind == "wsfc" else {}) for kind in KINDS]
    assert cut(*steps, system="windows") == [
        (True, ["probe_file", "iis"], False),
        (True, ["wsfc"], False),
        (True, ["service", "command", "none"], True),
    ]


STEPS = st.lists(st.builds(step, st.sampled_from(["none", "service", "haproxy", "own"]), outside=st.booleans(), runs=st.booleans()), max_size=8)


@given(STEPS, st.sampled_from(["linux", "windows"]))
def test_every_method_is_in_one_segment_in_order(steps: list[Any], system: str) -> None:
    found = segments(steps, system)
    assert [one for segment in found for one in segment["methods"]] == steps
    assert [segment["last"] for segment in found] == [False] * (len(found) - 1) + [True] * bool(found)
    for segment in found:
        assert len(segment["methods"]) == 1 or (segment["on_vm"] and not any(one["outside"] for one in segment["methods"]))


@pytest.mark.parametrize("system", ["linux", "windows"])
def test_no_task_is_handed_to_the_engine(system: str) -> None:
    assert not any(one["on_vm"] for one in segments([step("haproxy"), step("tasks"), step("own")], system))
