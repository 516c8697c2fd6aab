# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The controller reads a record by the schema that the VM writes it by."""

from __future__ import annotations

from dataclasses import fields

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal import record_schema, transitions
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.recorded import Recorded
from ansible_collections.maintenance.azure.plugins.plugin_utils._answers.schemas import RECORD_TYPES
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core.model import Record
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.observe.documents import Documents
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.observe.reading import PLAIN, read_record
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import NOW, at, event, method, record


def test_every_part_of_the_model_is_a_key_of_the_schema() -> None:
    # The key "decision" holds the overrides.
    assert {field.name for field in fields(Record)} - {"overrides"} <= set(record_schema.RECORD_KINDS)
    assert {*Recorded._fields, "id", "at", "method"} - {"identifier", "since", "kind"} == set(record_schema.METHOD_KINDS)
    assert {"event", "phase", "history", "methods", "overrides"} | set(PLAIN) == {field.name for field in fields(Record)}


def test_an_answer_may_have_every_key_of_the_schema() -> None:
    assert set(RECORD_TYPES) == {*record_schema.RECORD_KINDS, "age_seconds"}


@pytest.mark.parametrize("key", [key for key in record_schema.STAMPS if key in PLAIN])
def test_every_time_is_read_as_one(key: str) -> None:
    for value, wanted in ((at(-10), NOW - 10), ("yesterday", None), (7, None)):
        found = read_record(record("drained", **{key: value}))
        assert found is not None and getattr(found, key) == wanted


@pytest.mark.parametrize("phase", transitions.PHASES)
def test_every_phase_is_read(phase: str) -> None:
    found = read_record(record(phase))
    assert found is not None and found.phase == phase


@pytest.mark.parametrize("phase", ["done", "", None, 7])
def test_an_unknown_phase_is_no_record(phase: object) -> None:
    assert read_record({**record("drained"), "phase": phase}) is None


@pytest.mark.parametrize(("state", "wanted"), [*zip(record_schema.METHOD_STATES, record_schema.METHOD_STATES), ("unheard of", "begun"), (None, "found")])
def test_a_method_in_an_unknown_state_needs_an_undo(state: str | None, wanted: str) -> None:
    found = read_record(record("drained", methods=[method(state=state)]))
    assert found is not None and found.methods[0].state == wanted
    assert found.needs_undo is (wanted != "undone")


def test_an_event_has_every_key_that_a_record_keeps() -> None:
    found = Documents().event(event())
    assert found is not None and set(found.for_record()) == set(record_schema.EVENT_KEYS) <= set(found.values)
