# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Every interleaving of two runs over three VMs and two events, and what is broken on purpose. MODEL_LARGE=1 explores more."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest

from ansible_collections.maintenance.azure.tests.model import mutants, quick
from ansible_collections.maintenance.azure.tests.model.ending import Survivor
from ansible_collections.maintenance.azure.tests.model.explorer import Explorer
from ansible_collections.maintenance.azure.tests.model.fleet import Case

NOW = [{"name": "all", "drain": False, "approve": "now"}]
APART, SAME, TOGETHER = ((0,), (1,)), ((0,), (0,)), ((0, 1), (2,))
LARGE = os.environ.get("MODEL_LARGE") == "1"

CASES = [
    Case("two VMs", APART),
    Case("one VM twice", SAME),
    Case("two VMs together, two may be out", TOGETHER, limit=2),
    Case("two VMs together, one may be out", TOGETHER),
    Case("approved at once", APART, policy=NOW),
    Case("one VM twice, approved at once", SAME, policy=NOW),
    Case("two VMs together, approved at once", TOGETHER, policy=NOW, limit=2),
    Case("the second run misses a VM", APART, misses=(0,)),
]
LATE = Case("approved at once, the first event comes late", APART, policy=NOW, late=(0,))


APART_LATE = Case("the first event comes late", APART, late=(0,))
ASLEEP = Case("the first event comes late, and a run sleeps past its limit", APART, late=(0,), jumps=1)
ASLEEP_NOW = Case("the same, approved at once", APART, policy=NOW, late=(0,), jumps=1)


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for place, name, value in quick.patches():
        monkeypatch.setattr(place, name, value)
    yield


@pytest.mark.parametrize("case", CASES + ([LATE] if LARGE else []), ids=lambda case: case.name)
def test_no_interleaving_breaks_a_rule_and_all_end_well(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    explorer = Explorer(case)
    found = explorer.explore()
    assert found.broken is None, "\n".join([str(found.broken), *found.trace])
    assert found.cut == 0
    # A search that approves nothing would break no rule either.
    assert found.posts > 0
    ended = Survivor(case, explorer.contents).end_all(explorer.states)
    with capsys.disabled():
        print(f"\n{case.name}: {found.states} states, {found.steps} steps, {found.shared} shared states, ended from {ended}")


MUTANTS = [mutants.earlier_lease_may_pass, mutants.the_winner_passes, mutants.no_fresh_reading, mutants.leases_do_not_count]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.__name__)
def test_a_broken_lease_is_caught(mutant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch) -> None:
    mutant(monkeypatch)
    # With drains: an approval looks at the room once more after it was noted, and that alone would do.
    found = Explorer(APART_LATE).explore_switching(3)
    assert found.broken is not None
    assert found.broken.startswith("rule 4")


def test_a_run_that_sleeps_anywhere_past_its_limit_breaks_no_rule(capsys: pytest.CaptureFixture[str]) -> None:
    explorer = Explorer(ASLEEP_NOW)
    found = explorer.explore_switching(2)
    assert found.broken is None
    assert found.posts > 0
    with capsys.disabled():
        print(f"\n{ASLEEP_NOW.name}, two switches: {found.states} states, {found.shared} shared states")


def test_a_command_that_comes_after_its_lease_is_gone_finds_its_room_kept(capsys: pytest.CaptureFixture[str]) -> None:
    """A run sleeps between its last observation at its lease and the command that stops the service: what it has noted still counts."""
    found = Explorer(ASLEEP).explore_switching(2)
    assert found.broken is None, "\n".join([str(found.broken), *found.trace])
    with capsys.disabled():
        print(f"\n{ASLEEP.name}, two switches: {found.states} states, {found.shared} shared states")


def test_to_put_back_what_only_says_that_it_begins_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the collection did at first, and this search found to be wrong.

    The record was read after the lease was renewed then. Since it is read before, to put back breaks no rule with three switches (10,216,797 states).
    """
    mutants.renewed_before_reading(monkeypatch)
    mutants.what_was_noted_is_put_back(monkeypatch)
    found = Explorer(ASLEEP).explore_switching(2)
    assert found.broken is not None
    assert found.broken.startswith("rule 4: a drain")


def test_to_act_without_renaming_the_own_lease_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    mutants.act_without_renaming(monkeypatch)
    found = Explorer(ASLEEP).explore_switching(2)
    assert found.broken is not None
    assert found.broken.startswith("rule 4")


def test_all_leases_in_one_file_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Explorer(APART_LATE).explore_switching(3).broken is None
    mutants.one_shared_file(monkeypatch)
    found = Explorer(APART_LATE).explore_switching(3)
    assert found.broken is not None
    assert found.broken.startswith("rule 4")
