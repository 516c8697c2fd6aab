# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which hosts a run looks at for a message: never fewer than the event needs, whatever the message names."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.observe.chosen_hosts import KEEPERS, Known, choose, names_of

WEB = ("web1", "web2", "web3")


def host(name: str, *others: str, groups: tuple[tuple[str, ...], ...] = ()) -> Known:
    return Known(name, names_of(name, dict(enumerate(others))), groups)  # type: ignore[arg-type]


FLEET = [*(host(name, groups=(WEB,)) for name in WEB), *(host(f"vm{number}") for number in range(20))]


def test_the_named_vm_with_its_group_and_keepers() -> None:
    found = choose(["web2"], FLEET)
    assert found.why_all == "" and found.hosts == ("web1", "web2", "web3", "vm0", "vm1")
    assert choose(["vm19", "WEB1 "], FLEET).hosts == ("web1", "web2", "web3", "vm0", "vm19")


def test_the_comma_before_the_names_of_a_rulebook_is_no_name() -> None:
    assert choose(["", "web2"], FLEET) == choose(["web2"], FLEET)


def test_a_host_by_every_name_that_it_has() -> None:
    fleet = [host("a.example.com", "prod-7", "PROD-8"), *FLEET]
    for name in ("a", "A.example.com", "prod-7", "prod-8"):
        assert choose([name], fleet).hosts[0] == "a.example.com", name


@pytest.mark.parametrize(
    "names", [["nobody"], ["web1", "nobody"], ["all"], ["*"], ["web*"], ["~web.*"], ["web1,web2"], [""], ["!web1"], ["@/etc/passwd"], ["{{ 7 }}"], []]
)
def test_an_unknown_name_may_be_any_hosts_so_all_are_looked_at(names: list[str]) -> None:
    found = choose(names, FLEET)
    assert found.hosts == tuple(one.name for one in FLEET) and found.why_all


def test_two_hosts_of_the_same_name_are_both_looked_at() -> None:
    fleet = [host("x", "web1"), *FLEET]
    assert {"x", "web1"} <= set(choose(["web1"], fleet).hosts)


def test_a_group_that_names_hosts_of_other_plays_adds_none_of_them() -> None:
    assert choose(["a"], [host("a", groups=(("a", "elsewhere"),)), host("b")]).hosts == ("a", "b")


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from("abcdefgh"), unique=True, min_size=1), st.data())
def test_all_members_of_every_group_of_a_named_host_are_looked_at(names: list[str], data: st.DataObject) -> None:
    groups = data.draw(st.lists(st.lists(st.sampled_from(names), min_size=1, unique=True).map(tuple), max_size=3))
    fleet = [host(name, groups=tuple(groups)) for name in names]
    wanted = data.draw(st.lists(st.sampled_from(names), min_size=1))
    found = choose(wanted, fleet)
    assert set(wanted) <= set(found.hosts) <= set(names) and len(found.hosts) == len(set(found.hosts))
    assert all(set(group) <= set(found.hosts) for group in groups if set(group) & set(wanted))
    # There are other VMs for the copies, where the inventory has any.
    assert len(found.hosts) >= min(len(names), 1 + KEEPERS)
