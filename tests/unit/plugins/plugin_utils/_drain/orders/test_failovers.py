# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Failovers on other hosts: the settings name them, and no record or answer of a VM adds one."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.orders import vm_actions
from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.orders.method_orders import drain_orders

WSFC = {"method": "wsfc", "availability_groups": ["Orders", "Bills"], "replicas": {"SQL2": "sql2", "SQL3": "sql3"}}


def first_step(methods: Any, record: Any = None) -> Any:
    return drain_orders(record or {}, [methods], [], "sql1", "windows")[0]


def test_host_and_instance_are_those_of_the_settings() -> None:
    assert vm_actions.failovers({"Orders": "SQL3", "Bills": "SQL2"}, first_step(WSFC), "sql1") == [
        {"host": "sql2", "instance": "SQL2", "group": "Bills", "primary": ["sql1"]},
        {"host": "sql3", "instance": "SQL3", "group": "Orders", "primary": ["sql1"]},
    ]
    assert vm_actions.failovers({}, first_step(WSFC), "sql1") == vm_actions.failovers(None, first_step(WSFC), "sql1") == []


@pytest.mark.parametrize(("settings", "drained", "nodes"), [
    ({}, "sql1.example.org", ["sql1"]),
    ({"node": "SQL-1"}, "db1", ["SQL-1"]),
    ({"node": "other", "replicas": {"SQL2": "sql2", "SQL1\\ONE": "db1", "SQL4\\TWO": "db1"}}, "db1", ["SQL1", "SQL4"]),
])  # fmt: skip
def test_the_settings_say_which_node_must_be_primary(settings: dict[str, Any], drained: str, nodes: list[str]) -> None:
    before = {"moved": {}, "node": "SQL3"}
    options = {"node": "SQL3", "replicas": {"SQL3": drained}, "availability_groups": ["Orders"]}
    record = {"phase": "draining", "methods": [{"id": "1-wsfc", "method": "wsfc", "state": "found", "before": before, "options": options}]}
    for one in (None, record):
        (found,) = vm_actions.failovers({"Orders": "SQL2"}, first_step({**WSFC, **settings}, one), drained)
        assert found["primary"] == nodes


@pytest.mark.parametrize("handover", [{"Orders": "SQL9"}, {"Payroll": "SQL2"}, {"Orders": "sql2"}, {"Orders": ["SQL2"]}, {"Orders": None}])
def test_what_the_settings_do_not_name_is_an_error(handover: Any) -> None:
    with pytest.raises(ValueError, match="the settings of method 1-wsfc do not name availability group"):
        vm_actions.failovers(handover, first_step(WSFC), "sql1")


def test_a_record_adds_neither_a_group_nor_a_replica() -> None:
    options = {"availability_groups": ["Orders", "Payroll"], "replicas": {"SQL9": "victim"}}
    record = {"phase": "draining", "methods": [{"id": "1-wsfc", "method": "wsfc", "state": "found", "before": {"moved": {}}, "options": options}]}
    step = first_step({**WSFC, "availability_groups": ["Orders"]}, record)
    assert vm_actions.failovers({"Orders": "SQL2"}, step, "sql1") == [{"host": "sql2", "instance": "SQL2", "group": "Orders", "primary": ["sql1"]}]
    for handover in ({"Payroll": "SQL2"}, {"Orders": "SQL9"}):
        with pytest.raises(ValueError, match="do not name"):
            vm_actions.failovers(handover, step, "sql1")


@pytest.mark.parametrize(("answers", "words"), [
    ([], ""),
    ([{"results": [{"failed": False}]}], ""),
    ([{"results": [{"failed": True, "msg": "a"}]}, {"results": [{"failed": False}]}, {"msg": "b", "failed": False}], "a; b"),
    ([{"results": [{"msg": "unclear"}]}], "unclear"),
    ([{}], "no reason was given"),
    ([{"unreachable": True, "msg": "gone"}], ""),
    (None, ""),
])  # fmt: skip
def test_what_failed(answers: Any, words: str) -> None:
    assert vm_actions.failover_failure(answers) == words
