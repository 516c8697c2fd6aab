# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Members and daemons of a method: the options of any class may name them, and the settings alone say which; a record adds none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain import registry
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.methods.method import Option
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.methods.none import NoMethod
from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.orders import method_orders
from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.orders.method_orders import drain_orders, undo_orders

CLUSTER = {"method": "cluster", "mates": {"a": "db2", "b": "db3"}, "witness": "db9", "sentinels": ["127.0.0.1:26379", "db2:26379"]}
ENTRY = {"state": "drained", "before": {}, "options": {"mates": {"x": "victim"}, "sentinels": ["169.254.169.254:80"]}}
RECORD = {"methods": [{"id": "1-cluster", "method": "cluster", **ENTRY}]}
HOSTS, ADDRESSES = ["db2", "db3", "db9"], ["http://127.0.0.1:8008", "127.0.0.1:26379", "db2:26379"]
URLS = Option("texts", address=True)


class Cluster(NoMethod):
    """A method of a cluster."""

    name = "cluster"
    options: ClassVar[Mapping[str, Option]] = {
        "mates": Option("mapping", default={}, hosts=True),
        "witness": Option("text", default="", hosts=True),
        "url": Option("text", default="http://127.0.0.1:8008", address=True),
        "sentinels": Option("texts", default=[], address=True),
        "store": Option("options", default={}, hosts=True, parts={"kind": Option("text"), "urls": URLS, "members": Option("mapping", hosts=True)}),
    }


@pytest.fixture(autouse=True)
def _a_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.METHODS, "cluster", Cluster())  # type: ignore[misc]


@pytest.mark.parametrize("record", [{}, {"phase": "draining", **RECORD}, {"phase": "drained", **RECORD}])
def test_a_drain_reaches_what_the_settings_name(record: Any) -> None:
    (order,) = drain_orders(record, [CLUSTER], [], "db1", "linux")
    assert (order["hosts"], order["addresses"]) == (HOSTS, ADDRESSES)


def test_an_undo_does_too_and_nothing_else_when_it_is_not_in_the_settings_any_more() -> None:
    (order,) = undo_orders(RECORD, [CLUSTER], [], "db1", "linux")
    assert (order["hosts"], order["addresses"]) == (HOSTS, ADDRESSES)
    for methods, former in (([{"method": "none"}], []), ([{"method": "none", "name": "1-cluster"}], [])):
        (order,) = undo_orders(RECORD, methods, former, "db1", "linux")
        assert not {"hosts", "addresses"} & set(order)
    (order,) = undo_orders(RECORD, [{"method": "none"}], [{**CLUSTER, "name": "1-cluster"}], "db1", "linux")
    assert order["hosts"] == HOSTS


def test_the_parts_of_an_option_reach_what_they_name() -> None:
    store = {"kind": "etcd", "urls": ["http://db4:2379"], "members": {"a": "db2", "e": "db4"}}
    (order,) = drain_orders(RECORD, [{**CLUSTER, "store": store}], [], "db1", "linux")
    assert (order["hosts"], order["addresses"]) == ([*HOSTS, "db4"], [*ADDRESSES, "http://db4:2379"])
    # Whatever a record says, the store is that of the settings, and without one there is none.
    assert order["override"]["store"] == store
    (order,) = drain_orders(RECORD, [CLUSTER], [], "db1", "linux")
    assert (order["override"]["store"], order["hosts"]) == ({}, HOSTS)
    for made_up in ("etcd", ["db9"], {"urls": 5, "members": "db9"}):
        (order,) = drain_orders({}, [{**CLUSTER, "store": made_up}], [], "db1", "linux")
        assert "http://db9" not in order["addresses"]


def test_what_reaches_nothing_says_nothing() -> None:
    for method in ({"method": "none"}, {"method": "service", "names": ["a"]}, {"method": "own", "replicas": {"a": "db2"}}):
        (order,) = drain_orders({}, [method], [], "db1", "linux")
        assert not {"hosts", "addresses"} & set(order)


def test_members_are_the_hosts_that_the_orders_name() -> None:
    names, asked = {"db2": "two", "web1": "1"}, []

    def name_of(host: str) -> str | None:
        asked.append(host)
        return names.get(host)

    orders = drain_orders({}, [{"method": "none"}, CLUSTER], [], "db1", "linux")
    assert method_orders.members_of_orders(orders, name_of) == {"db2": "two"}
    assert asked == ["db2", "db3", "db9"]
    for nothing in (None, "x", ["x", {"hosts": "db2"}, {"hosts": [1]}]):
        assert method_orders.members_of_orders(nothing, name_of) == {}
