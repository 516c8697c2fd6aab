# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What was told before: each change once, and an end only after two documents that are ten seconds apart."""

from __future__ import annotations

import pathlib
import typing as t

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.imds.document import EVENT_FIELDS
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.ask.known import GONE_SECONDS, NAME, Known, KnownStore, compare
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.shared_folder import SharedFolder


def event(name: str, status: str = "Scheduled") -> dict[str, t.Any]:
    return {**dict.fromkeys(EVENT_FIELDS), "event_id": name, "event_status": status, "resources": ["web1"]}


def kinds(found: t.Iterable[t.Any]) -> list[tuple[str, str]]:
    return [(change.kind, change.event["event_id"]) for change in found]


def test_listed_changed_gone() -> None:
    found, known = compare(Known(), [event("A")], 0)
    assert kinds(found) == [("listed", "A")]
    found, known = compare(known, [event("A")], 1)
    assert found == []
    found, known = compare(known, [event("A", "Started")], 2)
    assert kinds(found) == [("changed", "A")]
    found, known = compare(known, [], 3)
    assert found == [] and set(known.events) == {"a"}
    found, known = compare(known, [], 3 + GONE_SECONDS - 0.1)
    assert found == []
    found, known = compare(known, [], 3 + GONE_SECONDS)
    assert kinds(found) == [("gone", "A")] and known == Known()
    assert compare(known, [], 99)[0] == []


def test_an_event_that_is_missing_for_a_moment_is_no_news() -> None:
    known = compare(Known(), [event("A")], 0)[1]
    known = compare(known, [], 1)[1]
    found, known = compare(known, [event("A")], 9)
    assert found == [] and known.missing == {}
    known = compare(known, [], 10)[1]
    # The ten seconds begin anew.
    assert compare(known, [], 12)[0] == []


def test_one_that_comes_back_changed_is_told() -> None:
    known = compare(Known(), [event("A")], 0)[1]
    known = compare(known, [], 1)[1]
    assert kinds(compare(known, [event("a", "Started")], 2)[0]) == [("changed", "a")]


@given(st.lists(st.tuples(st.floats(0, 30), st.sets(st.sampled_from("ABC")))))
def test_any_sequence_tells_listed_and_gone_in_turn(steps: list[tuple[float, set[str]]]) -> None:
    known, now, told = Known(), 0.0, dict[str, str]()
    for pause, names in steps:
        now += pause
        found, known = compare(known, [event(name) for name in sorted(names)], now)
        for kind, name in kinds(found):
            assert kind == ("gone" if told.get(name) == "listed" else "listed")
            told[name] = kind
        # What is listed has been told, whatever came before.
        assert all(told.get(name) == "listed" for name in names)


def test_it_survives_on_disk(tmp_path: pathlib.Path) -> None:
    store = KnownStore(SharedFolder(str(tmp_path)))
    assert store.read() == Known()
    store.write(Known({"a": {**event("A"), "raw": {"large": 1}, "affects_this_vm": True}}, {"b": 1.0}))
    assert store.read() == Known({"a": event("A")})


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"events": 7}', b'{"events": {"a": 1}}', b'{"events": [1, {"event_id": 2}, {}]}', b"\xff"])
def test_a_damaged_file_is_none(tmp_path: pathlib.Path, content: bytes) -> None:
    (tmp_path / NAME).write_bytes(content)
    assert KnownStore(SharedFolder(str(tmp_path))).read() == Known()
