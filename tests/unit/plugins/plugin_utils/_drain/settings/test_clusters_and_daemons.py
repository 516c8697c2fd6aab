# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cluster of an entry, the addresses of daemons in options, and methods that talk to daemons where no host can: checked with the settings."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain import registry
from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.orders.method_orders import drain_orders
from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.settings.validation import problems, wrong_former
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.drain.interface.asking import AskingMethod


@pytest.fixture(autouse=True)
def _asking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.METHODS, "asking", AskingMethod())  # type: ignore[misc]


@pytest.mark.parametrize("cluster", ["a", "Orders-DB", "10.0_x", "a" * 63])
def test_a_cluster_has_a_name_and_is_no_option(cluster: str) -> None:
    entry = {"method": "none", "cluster": cluster}
    assert problems([entry], [], "linux") == []
    assert drain_orders({}, [entry], [], "db1", "linux")[0]["given"] == {}


@pytest.mark.parametrize("cluster", ["", None, 5, ["a"], "-a", "a b", "a" * 64, "a\n"])
def test_a_wrong_cluster_is_named(cluster: Any) -> None:
    (found,) = problems([{"method": "none", "cluster": cluster}], [], "linux")
    words = "It must be a name of letters, digits, dots, - and _, at most 63."
    assert found == f"drain_methods, entry 1: cluster is wrong: {str(cluster)[:100] or 'it is empty'}. {words}"


@pytest.mark.parametrize(("url", "wrong"), [("http://127.0.0.1:8008", False), ("db1:8008", True), ("http://a:b", True), ("ftp://a:1", True), ("a", True)])
def test_the_address_of_a_daemon_is_one(url: str, wrong: bool) -> None:
    found = problems([{"method": "asking", "url": url}], [], "linux")
    assert [("drain_methods, entry 1 (asking): url: " in one and "is no address of a daemon" in one) for one in found] == [True] * wrong


@pytest.mark.parametrize("kind", ["rabbitmq", "galera"])
def test_where_two_nodes_at_once_would_be_one_too_many_an_entry_names_its_cluster(kind: str) -> None:
    words = "cluster is missing: a name for the cluster, the same for all its nodes, whose drains then go one after the other."
    assert problems([{"method": kind}], [], "linux") == [f"drain_methods, entry 1 ({kind}): {words}"]
    assert problems([{"method": kind, "cluster": "orders"}], [], "linux") == []


@pytest.mark.parametrize("kind", ["slurm", "patroni", "pacemaker", "redis_sentinel", "rabbitmq", "galera"])
def test_a_method_of_linux_is_refused_by_name_on_windows_hosts(kind: str) -> None:
    assert problems([{"method": kind}], [], "windows") == [f"drain_methods, entry 1 ({kind}): method {kind} is not supported on Windows hosts."]


def test_on_windows_hosts_no_method_talks_to_daemons() -> None:
    words = "drain_methods, entry 1 (asking): method asking is not supported on Windows hosts."
    assert problems([{"method": "asking"}], [], "windows") == [words]


LIKE = "is no address of a daemon; it must be like"


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"method": "patroni", "url": "127.0.0.1:8008"}, f"url: '127.0.0.1:8008' {LIKE} http://127.0.0.1:8008, without user, path or query."),
        ({"method": "silence", "url": "tcp://127.0.0.1:9093"}, f"url: 'tcp://127.0.0.1:9093' {LIKE} http://127.0.0.1:9093, without user, path or query."),
        ({"method": "silence", "url": "http://am 1:9093"}, f"url: 'http://am 1:9093' {LIKE} http://127.0.0.1:9093, without user, path or query."),
        ({"method": "patroni", "url": "http://me:hunter2@127.0.0.1:8008"}, f"url: '127.0.0.1:8008' {LIKE} http://127.0.0.1:8008"),
        ({"method": "redis_sentinel", "sentinels": ["10.0.0.4:26379", "tcp://10.0.0.5:26379"]}, f"'tcp://10.0.0.5:26379' {LIKE} 127.0.0.1:26379, without"),
        ({"method": "redis_sentinel", "address": "6379"}, "address is wrong: 6379. It must be: HOST:PORT of the Redis on this VM"),
        ({"method": "redis_sentinel", "password_file": "hunter2"}, "password_file is wrong: it is no absolute path. It must be: a file of root"),
        ({"method": "patroni", "config_folder": "etc/patroni.d"}, "config_folder is wrong: it is no absolute path."),
        ({"method": "galera", "cluster": "orders", "defaults_file": "[client]\npassword=hunter2"}, "defaults_file is wrong: it is no absolute path."),
    ],
)
def test_what_is_written_in_place_of_an_address_or_a_file_is_said_and_no_secret_is_repeated(entry: dict[str, Any], words: str) -> None:
    (found,) = problems([entry], [], "linux")
    assert words in found and "hunter2" not in found


@pytest.mark.parametrize(
    ("given", "described", "wrong"),
    [
        ("lb1:80", "{type: text, address: true}", []),
        ("https://lb1", "{type: text, address: true, default: 'http://lb1'}", []),
        ("lb1", "{type: text, address: true}", ["lb1"]),
        (["lb1:80", "http://a:b"], "{type: texts, address: true}", ["http://a:b"]),
        (["lb1:80", "lb2"], "{type: texts, address: true, default: []}", ["lb2"]),
        ({"one": "lb1"}, "{type: mapping, address: true, required: true}", ["lb1"]),
    ],
)
def test_an_address_of_a_method_of_ones_own_needs_no_default(tmp_path: pathlib.Path, given: Any, described: str, wrong: list[str]) -> None:
    (tmp_path / "own" / "balancer").mkdir(parents=True)
    (tmp_path / "own" / "balancer" / "check.yml").write_text("[]")
    (tmp_path / "own" / "balancer" / "options.yml").write_text(f"at: {described}\n")
    found = problems([{"method": "balancer", "at": given}], [], "linux", ["", str(tmp_path / "own")])
    words = f"{LIKE} HOST:PORT or http://HOST:PORT, without user, path or query."
    assert found == [f"drain_methods, entry 1 (balancer): at: {one!r} {words}" for one in wrong]


STORE = {"kind": "etcd", "urls": ["http://10.0.0.1:2379", "10.0.0.2:2379"], "members": {"etcd1": "db1"}}


@pytest.mark.parametrize(
    ("store", "words"),
    [
        ({}, None),
        (STORE, None),
        ({"kind": "zookeeper", "urls": ["db1:2181"]}, None),
        ("etcd", "store is wrong: etcd. It must be: "),
        ({**STORE, "url": "x"}, "there is no option store.url (did you mean store.urls?)."),
        ({**STORE, "kind": "raft"}, "store.kind is wrong: raft. It must be: "),
        ({**STORE, "urls": []}, "store.urls is wrong: []. It must be: "),
        ({**STORE, "urls": ["http://me:hunter2@10.0.0.1:2379"]}, "store.urls: '10.0.0.1:2379' is no address of a daemon; it must be like HOST:PORT"),
        ({**STORE, "members": {"etcd1": "db9"}}, "store.members: the inventory has no host db9"),
        ({**STORE, "members": ["etcd1"]}, "store.members is wrong: ['etcd1']. It must be: "),
        ({"urls": ["10.0.0.1:2379"]}, "store.kind is missing: "),
    ],
)
def test_a_store_is_checked_part_by_part(store: Any, words: str | None) -> None:
    found = problems([{"method": "patroni", "store": store}], [], "linux", hosts=["db1", "db2"])
    assert [words is not None and words in one and "hunter2" not in one for one in found] == [True] * (words is not None), found


def test_of_a_former_entry_too() -> None:
    entry = {"method": "patroni", "store": {**STORE, "members": {"etcd1": "db9"}}}
    found = wrong_former([entry], [], [], ["db1"])
    assert ["store.members: the inventory has no host db9" in words for words in found.values()] == [True]
