# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Rules 9 and 10 in the plan: whatever one VM says, the others get what it could cause by itself; no exception, and in time.

2,000 lies are tried here. C(TRUST_LIES=50000) tries more.
"""

from __future__ import annotations

import itertools
import os
import random
import time
import typing as t

import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.budget import allocation
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.decide import approval_blockers
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.state import overrides
from ansible_collections.maintenance.azure.tests.trust.one_liar import Lie, Scene, what_it_could_be

LIES = int(os.environ.get("TRUST_LIES", "2000"))
# Of processor time, so that a busy machine is no failure.
LONGEST_SECONDS = 2.0


def search(examples: int) -> list[int]:
    """Try so many lies; for each how many valid answers had to be tried."""
    tried = []

    @settings(max_examples=examples, deadline=None, derandomize=True, database=None, phases=(Phase.explicit, Phase.generate), report_multiple_bugs=False)
    @given(st.integers(0, 2**64))
    # One of 50,000: what another VM listed chose on which VM it was noted what people were told.
    @example(512538)
    def one(seed: int) -> None:
        scene = Scene(random.Random(seed))
        lie = Lie(scene).observation()
        began = time.process_time()
        plan = scene.plan(lie)
        assert time.process_time() - began < LONGEST_SECONDS
        tried.append(what_it_could_be(scene, lie, plan)[0])

    one()
    return tried


def test_whatever_one_vm_says_the_others_get_what_it_could_cause_by_itself() -> None:
    tried = search(LIES)
    assert len(tried) >= LIES
    # A liar that is never heard would pass too.
    assert sum(number > 1 for number in tried) > LIES / 20


def any_approval_counts(patch: pytest.MonkeyPatch) -> None:
    """As in 1.3.1: the newest word, on whatever VM it stands."""
    real = overrides.override

    def override(parts: t.Any, *given: t.Any, **more: t.Any) -> overrides.EffectiveOverride:
        words = [word for part in parts for word in (part.record.overrides if part.record else ()) if word.action == "approve"]
        return overrides.EffectiveOverride(words[0]) if words else real(parts, *given, **more)

    patch.setattr(overrides, "override", override)


def any_approval_puts_all_out(patch: pytest.MonkeyPatch) -> None:
    """As in 1.3.1: when any record says that the event was approved, all its VMs are out."""
    patch.setattr(allocation, "_why_hit", lambda its, _part: "approved" if its.approved or its.started else None)


def a_stranger_sets_all_back(patch: pytest.MonkeyPatch) -> None:
    """A failed drain on a VM that the event does not name keeps the others from draining."""
    patch.setattr(approval_blockers, "setback", lambda its, _settings: next((part for part in its.participants if part.failed_live), None))


def lies(known: int) -> t.Iterator[int]:
    """Seeds of lies: first one that was found to show a mutant, then any. The scenes may be made otherwise some day."""
    yield known
    dice = random.Random(7)
    while True:
        yield dice.getrandbits(64)


@pytest.mark.parametrize(
    ("mutant", "known"),
    [(any_approval_counts, 15330970212801873023), (any_approval_puts_all_out, 10913458841674932831), (a_stranger_sets_all_back, 16100421543272241037)],
)
def test_each_of_these_is_seen(mutant: t.Callable[[pytest.MonkeyPatch], None], known: int, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant(monkeypatch)
    with pytest.raises(AssertionError, match="lies, and no valid answer"):
        for seed in itertools.islice(lies(known), 6000):
            scene = Scene(random.Random(seed))
            what_it_could_be(scene, Lie(scene).observation())
