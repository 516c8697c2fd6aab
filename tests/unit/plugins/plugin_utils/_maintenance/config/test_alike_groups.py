# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""VMs that are drained alike, by what the inventory has written: who is in which group, what it is called, and what moves nobody."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config import alike_groups
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config.settings import load, without_effect
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.observe import written_hosts

HAPROXY = [{"method": "haproxy", "balancers": ["lb1"], "backends": ["web"], "server": "{{ inventory_hostname }}"}]
NONE = [{"method": "none"}]
SUBSCRIPTION = "00000000-0000-4000-8000-000000000001"


def vm_id(group: str, name: str = "x", subscription: str = SUBSCRIPTION) -> str:
    return f"/subscriptions/{subscription}/resourceGroups/{group}/providers/Microsoft.Compute/virtualMachines/{name}"


def host(methods: Any = None, *groups: str, **variables: Any) -> dict[str, Any]:
    found = {"group_names": list(groups), **variables}
    return found if methods is None else {"drain_methods": methods, **found}


class HostVars(dict[str, Any]):
    def raw_get(self, name: str) -> Any:
        return self[name]


def derive(hosts: dict[str, Any], declared: Any = (), retired: Any = ()) -> list[dict[str, Any]]:
    groups = load({"capacity": [{"name": "x", "members": list(declared), "max_unavailable": 1}]}).capacity if declared else ()
    return alike_groups.derive(written_hosts.read(hosts, HostVars(hosts), alike_groups.left_out(groups, retired)))


def members(hosts: dict[str, Any], **more: Any) -> list[list[str]]:
    return [group["members"] for group in derive(hosts, **more)]


class Secret:
    """As core's text of a vault, which must neither be decrypted nor shown."""

    def __init__(self, ciphertext: str) -> None:
        self._ciphertext = ciphertext

    def __str__(self) -> str:
        raise AssertionError("a secret was decrypted")


# Who is in no group


@pytest.mark.parametrize("methods", [None, [], "", {}])
def test_hosts_without_a_method_are_in_none(methods: Any) -> None:
    assert members({"a": host(methods), "b": host(methods)}) == []


@pytest.mark.parametrize("excluded", [True, "true", "yes"])
def test_one_that_is_left_alone_is_no_member(excluded: Any) -> None:
    hosts = {"a": host(NONE), "b": host(NONE), "c": host(NONE, respond_exclude=excluded)}
    assert members(hosts) == [["a", "b"]]
    assert members({**hosts, "c": host(NONE, respond_exclude="{{ is_old }}")}) == [["a", "b", "c"]], "a template says nothing"


def test_a_retired_one_is_no_member_by_any_of_its_names() -> None:
    hosts = {"Web1": host(NONE), "b": host(NONE), "c": host(NONE)}
    hosts |= {name: host(NONE, id=vm_id("rg", f"Web-{name}")) for name in "fgh"}
    assert members(hosts, retired=("web1", "web-f")) == [["b", "c"], ["g", "h"]]


def test_one_of_a_declared_group_has_a_limit_of_its_own() -> None:
    hosts = {name: host(NONE) for name in "abc"}
    assert members(hosts, declared={"a"}) == [["b", "c"]]
    assert members(hosts, declared={"a", "b"}) == [], "one alone stands in for no other"


# Who is in one


def test_the_same_as_written_is_alike_whatever_it_makes_of_each_host() -> None:
    hosts = {
        "web1": host(HAPROXY),
        "web2": host([dict(reversed(HAPROXY[0].items()))]),
        "db1": host(NONE),
        "db2": host(NONE),
        "x": host([{"method": "service"}]),
    }
    assert members(hosts) == [["db1", "db2"], ["web1", "web2"]]
    hosts["web2"] = host([{**HAPROXY[0], "backends": ["api"]}])
    assert members(hosts) == [["db1", "db2"]]


def test_resource_groups_are_kept_apart_where_the_inventory_says_them() -> None:
    hosts = {"a": host(NONE, id=vm_id("shop")), "b": host(NONE, id=vm_id("SHOP")), "c": host(NONE, id=vm_id("other")), "d": host(NONE, id=vm_id("other"))}
    hosts |= {"e": host(NONE), "f": host(NONE, id="7"), "g": host(NONE, id=vm_id("{{ group }}"))}
    hosts |= {"h": host(NONE, id=vm_id("shop", subscription="00000000-0000-4000-8000-000000000002"))}
    assert members(hosts) == [["a", "b"], ["c", "d"], ["e", "f", "g"]]


def test_a_fact_says_no_resource_group() -> None:
    """Rule 9: what a VM says of itself may put it in no other group."""
    hosts = {name: host(NONE, id=vm_id("shop")) for name in "ab"}
    hosts["c"] = host(NONE, id=vm_id("shop"), ansible_facts={"id": vm_id("shop")})
    assert members(hosts) == [["a", "b"]]


@pytest.mark.parametrize("template", ["{{ methods_of[role] }}", ["{{ web_method }}"]])
def test_where_all_is_one_template_the_groups_of_the_inventory_are_the_same_too(template: Any) -> None:
    hosts = {"a": host(template, "web", "eu"), "b": host(template, "eu", "web"), "c": host(template, "db", "eu"), "d": host(template, "db", "eu")}
    assert members(hosts) == [["a", "b"], ["c", "d"]]
    assert [one["what"] for one in derive(hosts)] == ["the same template; group eu, web", "the same template; group db, eu"]
    hosts["a"]["group_names"].append("azure_maintenance_chosen")
    assert members(hosts) == [["a", "b"], ["c", "d"]], "a group that a playbook makes for a run changes nothing"


def test_a_secret_of_a_vault_is_compared_and_neither_decrypted_nor_shown() -> None:
    hosts = {name: host([{"method": "probe_file", "path": Secret(secret)}]) for name, secret in (("a", "61"), ("b", "61"), ("c", "62"), ("d", "62"))}
    assert [(one["members"], one["what"]) for one in derive(hosts)] == [(["a", "b"], "probe_file"), (["c", "d"], "probe_file")]


# What people read


@pytest.mark.parametrize(
    ("methods", "words"),
    [
        (HAPROXY, "haproxy: backend web"),
        ([{**HAPROXY[0], "backends": ["a", "b", "c"]}], "haproxy: backends a, b and 1 more"),
        ([{"method": "haproxy", "balancers": ["lb1"]}], "haproxy: balancer lb1"),
        ([{"method": "haproxy", "balancers": "{{ groups['lb'] }}"}, {"method": "service", "names": ["nginx.service"]}], "haproxy, service: name nginx.service"),
        ([{"method": "probe_file", "path": "/srv/ready"}], "probe_file: path /srv/ready"),
        ([{"method": "patroni", "cluster": "pg"}], "patroni: cluster pg"),
        ([{"method": "kubernetes", "node": "{{ inventory_hostname }}"}], "kubernetes"),
        ([{"method": "command", "begin": "echo hunter2"}], "command"),
        ([{"method": "{{ kind }}"}], "{{ kind }}"),
        ([{"method": "own", "password": "hunter2"}, 5, "x"], "own, ?"),
        ([5], "?"),
    ],
)
def test_what_is_the_same_in_words(methods: Any, words: str) -> None:
    (group,) = derive({"a": host(methods, id=vm_id("Shop")), "b": host(methods, id=vm_id("shop"))})
    assert (group["name"], group["what"]) == ("alike a", f"{words}; resource group shop")


def test_the_words_are_short_and_printable() -> None:
    long = [{"method": "service", "names": ["\u202e\n" + "x" * 500]}] * 2
    (group,) = derive({"a": host(long), "b": host(long)})
    assert len(group["what"]) <= 160 and group["what"].isprintable()


# Large ones


def test_a_large_one_is_divided_by_groups_of_the_inventory_first() -> None:
    hosts = {f"w{number}": host(NONE, "web", f"zone{number % 3}", *(["canary"] if number < 5 else [])) for number in range(99)}
    found = derive(hosts)
    assert sorted(len(one["members"]) for one in found) == [33, 33, 33]
    assert sorted(one["what"] for one in found) == ["none; group zone0", "none; group zone1", "none; group zone2"]


def test_groups_that_are_too_large_still_keep_apart_what_they_can() -> None:
    hosts = {f"h{number:03}": host(NONE, "prod" if number < 140 else "dev") for number in range(200)}
    for one in derive(hosts):
        assert len({hosts[name]["group_names"][0] for name in one["members"]}) == 1
        assert one["what"] in ("none; group dev", "none; group prod")


def test_without_groups_it_is_divided_by_a_hash_into_as_few_as_possible() -> None:
    found = derive({f"h{number}": host(NONE, "web", f"own{number}") for number in range(100)})
    assert sorted(len(one["members"]) for one in found) == [33, 33, 34]
    assert {one["what"] for one in found} == {"none"}


def test_ten_thousand_groups_of_two_end_soon() -> None:
    found = derive({f"h{number}": host(NONE, f"pair{number // 2}") for number in range(10000)})
    assert sum(len(one["members"]) for one in found) == 10000 and len(found) == 250


@st.composite
def inventories(draw: st.DrawFn) -> dict[str, Any]:
    seed = random.Random(draw(st.integers(0, 2**32)))
    size, kinds, groups = seed.choice([1, 2, 5, 40, 41, 90, 300]), seed.randrange(1, 4), [f"g{number}" for number in range(seed.randrange(1, 30))]
    methods: list[Any] = [NONE, HAPROXY, "{{ all_of_it }}"]
    return {f"h{number}": host(methods[seed.randrange(kinds)], *seed.sample(groups, seed.randrange(0, min(4, len(groups) + 1)))) for number in range(size)}


@settings(max_examples=60, deadline=None)
@given(inventories(), st.randoms(use_true_random=False))
def test_any_inventory_is_divided_once_whatever_its_order(hosts: dict[str, Any], order: random.Random) -> None:
    found = derive(hosts)
    listed = [name for group in found for name in group["members"]]
    assert len(listed) == len(set(listed)), "a host is in one group"
    assert all(2 <= len(group["members"]) <= alike_groups.MOST for group in found)
    assert len({group["name"] for group in found}) == len(found)
    same: dict[Any, list[str]] = {}
    for name, raw in hosts.items():
        key = str(raw["drain_methods"]) + (str(sorted(raw["group_names"])) if isinstance(raw["drain_methods"], str) else "")
        same.setdefault(key, []).append(name)
    assert sorted(listed) == sorted(name for names in same.values() if len(names) > 1 for name in names), "one with another that is alike is in a group"
    shuffled = list(hosts.items())
    order.shuffle(shuffled)
    assert derive(dict(shuffled)) == found
    more = {**hosts, **{f"a{number}": host([{"method": "service", "names": ["x"]}], "g0", "g1") for number in range(50)}}
    assert [group for group in derive(more) if not group["members"][0].startswith("a")] == found, "hosts elsewhere rename none"
    assert load({"alike": found}).capacity == () or all(len(group.members) // 4 in (0, group.limit) for group in load({"alike": found}).capacity)


# The setting


def test_each_is_a_group_of_which_a_quarter_and_at_least_one_may_be_unavailable() -> None:
    given_ = [{"name": f"alike {size}", "members": [f"{size}x{number}" for number in range(size)], "what": "none"} for size in (2, 4, 7, 8, 40)]
    loaded = load({"alike": given_, "capacity": [{"name": "web", "members": ["vm9"], "max_unavailable": 2}], "clusters": {"pg": ["2x0"]}})
    assert [(group.name, group.limit, group.alike) for group in loaded.capacity[2:]] == [
        ("alike 2", 1, "none"),
        ("alike 4", 1, "none"),
        ("alike 7", 1, "none"),
        ("alike 8", 2, "none"),
        ("alike 40", 10, "none"),
    ]
    assert [(group.name, group.alike) for group in loaded.capacity[:2]] == [("web", ""), ("cluster pg", "")]
    assert {group.configured for group in loaded.capacity[2:]} == {""}


@pytest.mark.parametrize("given_", [True, False, None, "true", [], [5]])
def test_until_they_are_derived_there_are_none(given_: Any) -> None:
    assert [group.members for group in load({"alike": given_}).capacity if group.members] == []


def test_it_has_an_option_of_its_own() -> None:
    assert without_effect({"alike": True}) == ["respond_timing: alike has no effect there; set respond_capacity_alike"]
