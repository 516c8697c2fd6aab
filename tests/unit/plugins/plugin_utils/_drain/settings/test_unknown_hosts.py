# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An option of a method that names hosts of the inventory says so in its description, and a host that is not there is found before an event needs it."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence
from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.settings import catalogue, validation

FOLDER = str(pathlib.Path(__file__).resolve().parents[6] / "roles" / "drain" / "tasks" / "methods")
HOSTS = ("web1", "lb1", "lb2", "lb3", "sql2")


def problems(entry: dict[str, Any], *folders: str, hosts: Sequence[str] | None = HOSTS, system: str = "linux") -> list[str]:
    return validation.problems([entry], [], system, [FOLDER, *folders], hosts=hosts)


def test_the_methods_whose_options_name_hosts() -> None:
    known = catalogue.known_methods([FOLDER])
    found = {(kind, name) for kind, options in known.items() for name, about in (options or {}).items() if about.get("hosts")}
    methods = {(kind, "members") for kind in ("galera", "pacemaker", "patroni", "redis_sentinel")}
    # The members of a store are a part of it.
    assert found == {("haproxy", "balancers"), ("wsfc", "replicas"), ("patroni", "store"), *methods}
    every = [(kind, name, about) for kind, options in known.items() for name, about in (options or {}).items()]
    described = [(kind, name) for kind, name, about in every if "inventory host" in str(catalogue.description(kind, name, about))]
    assert found == set(described), "each option that is described as hosts of the inventory is checked as such"


def test_a_balancer_that_is_no_host() -> None:
    (found,) = problems({"method": "haproxy", "balancers": ["lb1", "lb22", "lb22"]})
    assert found == "drain_methods, entry 1 (haproxy): balancers: the inventory has no host lb22 (did you mean lb2?)."


def test_a_replica_that_is_no_host() -> None:
    (found,) = problems({"method": "wsfc", "replicas": {"SQL2": "sql2", "SQL3": "sql_2"}}, system="windows")
    assert found == "drain_methods, entry 1 (wsfc): replicas: the inventory has no host sql_2 (did you mean sql2?)."


@pytest.mark.parametrize("balancers", [["lb1", "lb2"], ["localhost"], ["127.0.0.1"]])
def test_hosts_that_are_there(balancers: list[str]) -> None:
    assert problems({"method": "haproxy", "balancers": balancers}) == []


def test_where_the_inventory_is_not_known_nothing_is_unknown() -> None:
    assert problems({"method": "haproxy", "balancers": ["lb9"]}, hosts=None) == []


def test_a_method_of_ones_own_may_describe_its_hosts(tmp_path: pathlib.Path) -> None:
    (tmp_path / "varnish").mkdir()
    (tmp_path / "varnish" / "check.yml").write_text("---")
    (tmp_path / "varnish" / "options.yml").write_text(
        "caches: {type: texts, hosts: true, description: hosts}\nrouter: {type: text, hosts: true, description: a host}\n"
    )
    found = problems({"method": "varnish", "caches": ["web1", "web9"], "router": "lb33"}, str(tmp_path))
    assert [words.split("varnish): ")[1] for words in found] == [
        "caches: the inventory has no host web9 (did you mean web1?).",
        "router: the inventory has no host lb33 (did you mean lb3?).",
    ]


def test_a_former_method() -> None:
    former = [{"method": "haproxy", "balancers": ["lb22"]}, {"method": "haproxy", "balancers": ["lb22"], "by_hand": True}]
    found = validation.wrong_former(former, [FOLDER], [], HOSTS)
    words = "drain_methods_former, entry 1 (haproxy): balancers: the inventory has no host lb22 (did you mean lb2?). Correct it, or say by_hand: true."
    assert found == {1: words}
    assert validation.wrong_former(former, [FOLDER], []) == {}
