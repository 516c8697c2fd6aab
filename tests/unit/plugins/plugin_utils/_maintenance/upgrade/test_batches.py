# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Batches, for any inventory: every host once, one domain at a time, and never more hosts than allowed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.maintenance.azure.plugins.plugin_utils._core.wrong_input import WrongInput
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.upgrade.batches import KINDS, make_batches

DOMAINS = st.sampled_from([None, "0", "1", "2", "3", "10", 4, "a"])


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(st.lists(DOMAINS, max_size=40), st.sampled_from(KINDS[1:]), st.sampled_from([None, 1, 2, "3", "25%", [1, 2], ["10%", "50%"]]))
def test_domain_order_holds_for_any_inventory(domains: list[Any], by: str, serial: Any) -> None:
    places = {f"vm{number}": {by: domain} for number, domain in enumerate(domains)}
    if not any(domain is not None for domain in domains):
        if places:
            with pytest.raises(WrongInput):
                make_batches(list(places), by, serial, places)
        return
    found = make_batches(list(places), by, serial, places)
    assert sorted(name for batch in found for name in batch) == sorted(places), "every VM once"
    known = [[places[name][by] for name in batch] for batch in found]
    assert all(len(set(batch)) == 1 for batch in known), "no batch has VMs of two domains"
    assert all(len(batch) == 1 for batch in known if batch[0] is None), "who may be in any domain goes alone"
    order = [batch[0] for batch in known]
    for domain in {one for one in order if one is not None}:
        first, last = order.index(domain), len(order) - 1 - order[::-1].index(domain)
        assert set(order[first : last + 1]) == {domain}, "a domain is done before the next one begins"
    numbers = [int(one) for one in order if one is not None and str(one).isdecimal()]
    assert numbers == sorted(numbers)
    if isinstance(serial, int) or serial == "3":
        assert all(len(batch) <= int(serial) for batch in found)


@pytest.mark.parametrize(
    ("serial", "sizes"),
    [(None, [1] * 7), (3, [3, 3, 1]), ("3", [3, 3, 1]), ("50%", [3, 3, 1]), ("1%", [1] * 7), ([1, 5], [1, 5, 1]), ([1, "50%"], [1, 3, 3]), ("100%", [7])],
)
def test_serial_is_ansibles(serial: Any, sizes: list[int]) -> None:
    found = make_batches([f"vm{number}" for number in range(7)], "serial", serial)
    assert [len(batch) for batch in found] == sizes
    assert [name for batch in found for name in batch] == [f"vm{number}" for number in range(7)]


@pytest.mark.parametrize("serial", [0, -1, "0%", "101%", "x", True, 1.5, [1, 0], {}])
def test_invalid_serials_are_refused(serial: Any) -> None:
    with pytest.raises(WrongInput, match="serial must be"):
        make_batches(["a", "b"], "serial", serial)


def test_invalid_batch_arguments_are_refused() -> None:
    with pytest.raises(WrongInput, match="by must be"):
        make_batches(["a"], "rack")
    with pytest.raises(WrongInput, match="hosts must be"):
        make_batches(["a", 5])
    with pytest.raises(WrongInput, match="no VM says in which fault domain it is"):
        make_batches(["a"], "fault_domain", None, {"a": {"zone": "1"}})
    assert make_batches([], "zone") == []


@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(st.lists(st.tuples(st.sampled_from(["0", "1", "2"]), st.booleans()), min_size=1, max_size=20), st.sampled_from(KINDS), st.sampled_from([1, 2]))
def test_begun_vms_come_first_in_batches_of_their_own(vms: list[tuple[str, bool]], by: str, serial: Any) -> None:
    places = {f"vm{number}": {by: domain} for number, (domain, _begun) in enumerate(vms)}
    begun = [f"vm{number}" for number, (_domain, begun) in enumerate(vms) if begun]
    found = make_batches(list(places), by, serial, places, begun)
    assert sorted(name for batch in found for name in batch) == sorted(places), "every VM once"
    kinds = [{name in begun for name in batch} for batch in found]
    assert all(len(kind) == 1 for kind in kinds), "no batch has both"
    assert kinds == sorted(kinds, key=lambda kind: kind != {True}), "what was begun comes first"
    rest = [name for name in places if name not in begun]
    assert found[kinds.count({True}) :] == make_batches(rest, by, serial, places), "the others go as ever"
