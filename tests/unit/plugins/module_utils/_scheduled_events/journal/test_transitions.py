# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which phase may follow which: the table, what it refuses, and that no way back is among it."""

from __future__ import annotations

import itertools
import os
import re

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.system import utc_text
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_changes import RecordChange, apply_change
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_schema import RecordsError
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.transitions import (
    ALWAYS,
    FOLLOWING,
    PHASES,
    may_follow,
)
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.helpers import EVENT, START

PAIRS = list(itertools.permutations(PHASES, 2))
REFUSED = {
    *(("draining", "noticed"), ("drained", "noticed"), ("approved", "noticed"), ("started", "noticed")),
    ("recovered", "drained"),
}
ROLES = os.path.join(os.path.dirname(__file__), *[".."] * 6, "roles")


def in_phase(phase, outcome=None):
    return apply_change(None, EVENT, RecordChange(changes={"phase": phase, "outcome": outcome}), utc_text(START))


def entered(record, phase, **changes):
    return apply_change(record, EVENT, RecordChange(changes={"phase": phase, **changes}), utc_text(START + 1))


def test_the_table_knows_every_phase_once():
    assert set(FOLLOWING) == set(PHASES)
    for after in FOLLOWING.values():
        assert len(set(after)) == len(after) and set(after) <= set(PHASES)


def test_only_what_would_hide_a_drain_or_state_one_is_refused():
    assert {pair for pair in PAIRS if not may_follow(*pair)} == REFUSED


@pytest.mark.parametrize(("before", "after"), PAIRS)
def test_a_phase_is_entered_by_the_table_and_by_nothing_else(before, after):
    record = in_phase(before)
    if (before, after) in REFUSED:
        with pytest.raises(RecordsError, match=f"phase {after} cannot follow {before}") as caught:
            entered(record, after)
        assert EVENT in str(caught.value) and "held" in str(caught.value)
        assert (record["phase"], len(record["history"])) == (before, 1)
    else:
        assert [item["phase"] for item in entered(record, after)["history"]] == [before, after]


@pytest.mark.parametrize("before", PHASES)
def test_no_record_is_kept_from_recovery_or_from_an_operator(before):
    for after in ("gone", "recovering", "recovered", "failed", "held"):
        assert entered(in_phase(before), after)["phase"] == after
    for after in PHASES:
        assert entered(entered(in_phase(before), "held"), after)["phase"] == after


@pytest.mark.parametrize("phase", PHASES)
def test_a_record_that_was_lost_begins_where_its_vm_is(phase):
    assert in_phase(phase)["phase"] == phase


@pytest.mark.parametrize("before", PHASES)
def test_an_event_that_is_listed_again_begins_anew(before):
    record = in_phase(before, outcome="unknown")
    assert entered(record, "noticed", outcome=None)["history"][-1]["phase"] == "noticed"


@pytest.mark.parametrize("phase", PHASES)
def test_the_same_phase_again_is_no_transition(phase):
    assert len(entered(in_phase(phase), phase, reason="x")["history"]) == 1


def test_a_refused_write_says_what_may_follow():
    with pytest.raises(RecordsError, match="known to follow it are approved, draining, failed, gone, held"):
        entered(in_phase("recovered"), "drained")


def test_a_failed_attempt_after_another_is_counted_and_no_transition():
    failed = entered(in_phase("failed"), "failed", attempts=1)
    assert [item["phase"] for item in failed["history"]] == ["failed", "failed"]


# --- What the roles ask for: everything that they write, in any phase that they write it in ------------------------------------

# The drain: it leaves approved and started, enters drained by way of draining, and fails or retries from anywhere.
BY_DRAIN = [
    *(("drain", before, "draining") for before in PHASES if before not in ("approved", "started", "draining")),
    *(("drain", before, "drained") for before in ("noticed", "draining", "failed", "held")),
    *(("drain fails", before, "failed") for before in PHASES),
    *(("undo", before, after) for before in PHASES for after in ("recovering", "failed")),
]
# A run whose observation is older than another run's write; it has the lease, so only notes, approvals and an operator's changes come in between.
RACES = [("drain", before, after) for before in ("approved", "started", "gone") for after in ("draining", "drained")]
BY_OTHERS = [
    *(("approve", before, "approved") for before in PHASES),
    *(("upgrade", before, "recovered") for before in PHASES),
]


@pytest.mark.parametrize(("writer", "before", "after"), [*BY_DRAIN, *RACES, *BY_OTHERS])
def test_what_the_roles_write_is_in_the_table(writer, before, after):
    assert may_follow(before, after)


def test_the_roles_write_no_other_phase():
    """Compare the phases in the tasks of the roles with the table above, where a new writer has to be added."""
    written = set()
    for folder, _folders, files in os.walk(ROLES):
        for name in files:
            if name.endswith(".yml") and os.path.basename(folder) != "files":
                with open(os.path.join(folder, name), encoding="utf-8") as stream:
                    written |= set(re.findall(r"[{ ]'?phase'?: '?([a-z]+)'?", stream.read()))
    assert written & set(PHASES) == {"recovered"}


# --- Any history ---------------------------------------------------------------------------------------------------------------

pytest.importorskip("hypothesis")
from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

OUTCOMES = st.sampled_from([None, "", "unknown", "cancelled"])
WRITES = st.lists(st.tuples(st.sampled_from(PHASES), st.dictionaries(st.just("outcome"), OUTCOMES), st.booleans()), min_size=1, max_size=30)


@settings(max_examples=300, deadline=None, database=None)
@given(writes=WRITES)
def test_no_record_has_a_history_outside_of_the_table(writes):
    record = None
    for place, (phase, changes, drains) in enumerate(writes):
        before = record
        method = {"id": "1-x", "state": "begun"} if drains else {}
        try:
            record = apply_change(record, EVENT, RecordChange(changes={"phase": phase, **changes}, method=method), utc_text(START + place))
        except RecordsError as error:
            assert before is not None and not may_follow(before["phase"], phase, before["outcome"] is not None)
            assert f"phase {phase} cannot follow {before['phase']}" in str(error)
            continue
        assert record["phase"] == record["history"][-1]["phase"] == phase
        if before is not None and before["phase"] != phase:
            assert phase in FOLLOWING[before["phase"]] or (before["outcome"] is not None and phase == "noticed")
            assert phase in ALWAYS or (before["phase"], phase) not in REFUSED or before["outcome"] is not None
