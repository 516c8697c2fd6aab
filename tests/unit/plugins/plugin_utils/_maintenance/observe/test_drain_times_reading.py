# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long a VM's last drains took, and when it first set something: what it says of itself, whatever that is."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.observe.reading import read_observations, read_record
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import NOW, at, method, record, vm

BOTH = ("haproxy", "service")


def times(given: Any, methods: Any = BOTH, state: str = "ok") -> tuple[float, ...]:
    seen = vm("vm1", methods=methods, drain_times=given)
    if state != "ok":
        seen = {**seen, "state": state, "observation": None, "last_observation": seen["observation"]}
    known = read_observations([seen])[0].last_known
    assert known is not None
    return known.drain_times


@pytest.mark.parametrize("given", [
    None, 5, "x", [], [1, 2], {}, {"methods": list(BOTH)}, {"seconds": [4]}, {"methods": ["service", "haproxy"], "seconds": [4]},
    {"methods": ["haproxy"], "seconds": [4]}, {"methods": "haproxy", "seconds": [4]}, {"methods": list(BOTH), "seconds": 4},
    {"methods": list(BOTH), "seconds": [-1, 86_401, "x", None, float("nan"), float("inf"), {}]},
])  # fmt: skip
def test_times_of_other_methods_and_what_is_no_time_are_left_out(given: Any) -> None:
    assert times(given) == ()


@pytest.mark.parametrize("state", ["ok", "unreachable", "resting"])
def test_the_times_of_the_same_methods_in_the_same_order_are_read(state: str) -> None:
    assert times({"methods": list(BOTH), "seconds": [4, 31.75]}, state=state) == (4.0, 31.75)


def test_of_many_times_the_last_five_are_read() -> None:
    assert times({"methods": list(BOTH), "seconds": list(range(2000))}) == (1995.0, 1996.0, 1997.0, 1998.0, 1999.0)


def test_a_vm_without_methods_has_none() -> None:
    assert times({"methods": list(BOTH), "seconds": [4]}, methods=()) == ()


@pytest.mark.parametrize(("methods", "wanted"), [
    ([], None),
    ([method("begun")], None),
    ([method("begun", times=5)], None),
    ([method("begun", times={"found": {"x": 1}, "begun": at(-9)})], None),
    ([method("begun", times={"found": at(-9), "begun": at(-5)})], NOW - 9),
    ([method("begun", times={"begun": at(-5)})], NOW - 5),
    ([method("drained", times={"drained": at(-5)})], None),
    ([method("undone", times={"found": at(-50), "undone": at(-40)})], None),
    ([method("undone", times={"found": at(-50)}), method("found", id="2-service", times={"found": at(-7)})], NOW - 7),
    ([method("drained", times={"found": at(-20)}), method("found", id="2-service", times={"found": at(-30)})], NOW - 30),
])  # fmt: skip
def test_a_drain_is_counted_from_the_first_thing_that_is_set_and_not_undone(methods: Any, wanted: float | None) -> None:
    found = read_record(record("draining", methods=methods))
    assert found is not None and found.first_set_at == wanted
