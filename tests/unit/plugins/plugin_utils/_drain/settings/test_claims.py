# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose it is: two hosts whose settings name the same server, node or member."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.settings.claims import conflicts, names

WORDS = "so that a drain of one would take out another: give each its own server, or remove server from the group's variables."


def haproxy(server: str | None = None, balancers: Any = ("lb1",), **options: Any) -> list[dict[str, Any]]:
    return [{"method": "haproxy", "balancers": list(balancers), **({} if server is None else {"server": server}), **options}]


def of(**methods: Any) -> list[tuple[tuple[str, ...], str]]:
    return [(one.hosts, one.text) for one in conflicts(methods)]


# HAProxy


def test_a_server_in_the_variables_of_the_group_is_that_of_all_its_hosts() -> None:
    same = haproxy("web1")
    assert of(web1=same, web2=same, web3=same) == [
        (("web1", "web2", "web3"), f"web1, web2, web3 have the same server web1 on balancer lb1 in drain_methods (haproxy), {WORDS}")
    ]


def test_a_host_is_its_own_server_where_none_is_named() -> None:
    assert of(web1=haproxy(), web2=haproxy()) == of(web1=haproxy(""), web2=haproxy("")) == []
    assert [hosts for hosts, _text in of(web1=haproxy(), web2=haproxy("web1"))] == [("web1", "web2")], "copied host_vars"


def test_the_same_server_on_balancers_that_overlap_in_one_of_two() -> None:
    ((hosts, text),) = of(web1=haproxy("s", ["lb1", "lb2"]), web2=haproxy("s", ["lb2", "lb3"]), web3=haproxy("s", ["lb4"]))
    assert hosts == ("web1", "web2") and "server s on balancer lb2 in drain" in text


def test_all_balancers_where_it_is_the_same_are_one_sentence() -> None:
    ((_hosts, text),) = of(web1=haproxy("s", ["lb1", "lb2"]), web2=haproxy("s", ["lb1", "lb2"]))
    assert "the same server s on balancer lb1, on balancer lb2 in drain_methods" in text
    many = [f"lb{number}" for number in range(9)]
    ((_hosts, text),) = of(web1=haproxy("s", many), web2=haproxy("s", many))
    assert "on balancer lb5 and 3 more in drain_methods" in text


def test_disjoint_backends_are_different_servers() -> None:
    assert of(web1=haproxy("s", backends=["a"]), web2=haproxy("s", backends=["b"])) == []
    ((hosts, text),) = of(web1=haproxy("s", backends=["a", "c"]), web2=haproxy("s", backends=["b", "c"]), web3=haproxy("s", backends=["a2"]))
    assert (hosts, "server s on balancer lb1" in text) == (("web1", "web2"), True)


def test_no_backends_are_all_of_them() -> None:
    ((hosts, text),) = of(web1=haproxy("s"), web2=haproxy("s", backends=["b"]))
    assert (hosts, "server s on balancer lb1" in text) == (("web1", "web2"), True)


def test_two_processes_on_one_balancer_have_servers_of_their_own() -> None:
    assert of(web1=haproxy("s", socket="/run/a.sock"), web2=haproxy("s")) == []
    ((_hosts, text),) = of(web1=haproxy("s", socket="/run/a.sock"), web2=haproxy("s", socket="/run/a.sock"))
    assert "on balancer lb1 (/run/a.sock) in" in text


def test_two_entries_of_one_host_are_no_conflict() -> None:
    assert of(web1=haproxy("s") + haproxy("s"), web2=haproxy("t")) == []


# Kubernetes


def test_the_same_node_of_the_same_cluster() -> None:
    node = {"method": "kubernetes", "node": "n1"}
    ((hosts, text),) = of(a=[node], b=[node])
    assert hosts == ("a", "b")
    assert text.startswith("a, b have the same node n1 in drain_methods (kubernetes), so that a drain of one would take out another: give each its own node, ")
    assert of(a=[node], b=[{**node, "context": "prod"}], c=[{**node, "kubeconfig": "/etc/k"}], d=[{"method": "kubernetes"}]) == []
    ((_hosts, text),) = of(a=[{**node, "context": "x", "kubeconfig": "/k"}], b=[{**node, "context": "x", "kubeconfig": "/k"}])
    assert "node n1 in kubeconfig /k in context x in drain_methods" in text
    assert [one[0] for one in of(n1=[{"method": "kubernetes"}], b=[node])] == [("b", "n1")]


# Clusters


@pytest.mark.parametrize(("method", "option"), [("slurm", "node"), ("pacemaker", "node"), ("patroni", "member")])
def test_the_same_name_in_a_cluster_is_a_warning(method: str, option: str) -> None:
    one = {"method": method, option: "n1"}
    (found,) = conflicts({"a": [one], "b": [{**one, "cluster": "x"}]})
    assert (found.hosts, found.warns) == (("a", "b"), True)
    assert found.text == f"a, b have the same {option} n1 in drain_methods ({method}). Correct {option}, or name the cluster of each (cluster)."
    assert conflicts({"a": [{**one, "cluster": "x"}], "b": [{**one, "cluster": "y"}]}) == []
    assert len(conflicts({"a": [{**one, "cluster": "x"}], "b": [{**one, "cluster": "x"}]})) == 1
    assert conflicts({"a": [{"method": method}], "b": [{"method": method}]}) == [], "where it is left out, the VM itself says it"


def test_names_of_different_methods_are_different_things() -> None:
    assert of(a=haproxy("x"), b=[{"method": "kubernetes", "node": "x"}], c=[{"method": "slurm", "node": "x"}], d=[{"method": "own", "server": "x"}]) == []


# Anything else


@pytest.mark.parametrize("methods", [None, "text", 5, {}, [None, 5, "x", [], {}], [{"method": []}], [{"method": "haproxy", "balancers": "lb1", "server": {}}]])
def test_what_is_no_list_of_methods_claims_nothing(methods: Any) -> None:
    assert conflicts({"a": methods, "b": methods}) == []
    assert names({"a": methods}) == set()


def test_a_large_inventory_with_one_server_is_one_sentence_soon() -> None:
    ((hosts, text),) = of(**{f"h{number}": haproxy("web1", backends=[f"b{number % 7}", "web"]) for number in range(20000)})
    assert len(hosts) == 20000 and len(text) < 400


def test_the_names_of_what_hosts_claim() -> None:
    methods = [*haproxy(), *haproxy("s"), {"method": "slurm"}, {"method": "patroni", "member": "m"}, {"method": "none"}]
    assert names({"web1": methods, "n": [{"method": "kubernetes"}]}) == {"web1", "s", "m", "n"}
