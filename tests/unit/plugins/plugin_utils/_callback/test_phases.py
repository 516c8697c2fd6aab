# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each phase of an event on a VM is printed once, whatever results it is in."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.printable_text import INVISIBLE
from ansible_collections.maintenance.azure.plugins.plugin_utils._callback.phases import MOST_LINES, Phases
from ansible_collections.maintenance.azure.tests.unit.plugins import builders

GUID = "C7061BAC-AFDC-4513-B24B-AA5F13A16123"
ANY_TEXT = some.text(some.characters(min_codepoint=0, max_codepoint=0x10FFFF, categories=None), max_size=20)
KEYS = ("event", "event_id", "phase", "history", "at", "methods")
JUNK: Any = some.recursive(
    some.none() | some.booleans() | some.integers() | ANY_TEXT,
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(some.sampled_from(KEYS), inner, max_size=4),
    max_leaves=8,
)


def record(*phases: str, event_id: str = GUID, **more: Any) -> dict[str, Any]:
    entries = [(phase, f"2027-01-15T08:00:{place:02d}Z") for place, phase in enumerate(phases)]
    return builders.record(phases[-1], entries=entries, event=builders.event(event_id, not_before="2027-01-15T08:15:00Z"), **more)


def lines(phases: Phases, host: str = "web1", **result: Any) -> list[str]:
    return [line.text for line in phases.news(host, result)]


@pytest.fixture(name="observed")
def _observed() -> Phases:
    """A VM that was observed, with nothing to do."""
    phases = Phases()
    assert lines(phases, records=[]) == []
    return phases


def test_what_was_there_before_the_run_is_no_news() -> None:
    phases = Phases()
    assert lines(phases, records=[record("noticed", "draining")]) == []
    assert lines(phases, records=[record("noticed", "draining")]) == []
    assert lines(phases, records=[record("noticed", "draining", "drained")]) == ["web1  C7061BAC  drained"]


def test_a_new_event_is_news_from_its_beginning(observed: Phases) -> None:
    assert lines(observed, records=[record("noticed", "draining", "drained")]) == [
        "web1  C7061BAC  noticed     (Reboot, not before 2027-01-15T08:15:00Z)",
        "web1  C7061BAC  draining",
        "web1  C7061BAC  drained",
    ]


def test_each_phase_is_printed_once_whether_an_action_or_an_observation_has_it(observed: Phases) -> None:
    drained = record("noticed", "draining", "drained")
    assert len(lines(observed, results=[{"action": "drain", "record": drained}], records=[drained])) == 3
    assert lines(observed, record=drained) == []
    assert lines(observed, "web2", record=record("noticed", "draining")) == ["web2  C7061BAC  draining"], "a record of another VM"


def test_a_vm_that_keeps_the_replica_of_another_one_is_in_none_of_its_phases(observed: Phases) -> None:
    kept = {"action": "replicate", "record": record("noticed", "draining")}
    assert lines(observed, results=[kept], records=[]) == []


def test_reasons_are_those_of_the_present_phase(observed: Phases) -> None:
    waits = [{"id": "1-service", "error": "3 connection(s) open on port(s) 443"}, {"id": "2-none", "error": None}]
    assert lines(observed, record=record("draining", methods=waits)) == ["web1  C7061BAC  draining    (1-service: 3 connection(s) open on port(s) 443)"]
    assert lines(observed, record=record("draining", "failed", "held", reason="no drain method")) == [
        "web1  C7061BAC  failed",
        "web1  C7061BAC  held        (no drain method)",
    ]
    assert lines(observed, record=record("draining", "failed", "held", "gone", outcome="completed")) == ["web1  C7061BAC  gone        (completed)"]
    assert lines(observed, record=record("gone", outcome="unknown")) == ["web1  C7061BAC  gone        (not known whether it took place)"]


def test_columns_stand_below_one_another() -> None:
    phases = Phases()
    for host in ("web1", "database10"):
        lines(phases, host, records=[])
    assert lines(phases, records=[record("approved", event_id="upgrade:Kernel")]) == ["web1        upgrade:Kernel  approved"]


def test_a_vm_that_makes_up_phases_does_not_fill_the_screen(observed: Phases) -> None:
    made_up = [record("noticed", "draining", event_id=f"E{number}") for number in range(500)]
    found = lines(observed, records=made_up)
    assert len(found) == MOST_LINES + 1
    assert found[-1] == f"web1: {1000 - MOST_LINES} more phases, not shown here"


@settings(max_examples=200, derandomize=True, deadline=None)
@given(JUNK, JUNK, ANY_TEXT)
def test_any_answer_gives_visible_lines(records: Any, result: Any, text: str) -> None:
    phases = Phases()
    lines(phases, records=[])
    found = lines(phases, records=records, record=result, results=[result])
    found += lines(phases, records=[record(text, "noticed", "failed", event_id=text, reason=text, methods=[{"id": text, "error": text}])])
    for line in found:
        assert line.isprintable() and not INVISIBLE.search(line), ascii(line)
        assert line.startswith("web1")
