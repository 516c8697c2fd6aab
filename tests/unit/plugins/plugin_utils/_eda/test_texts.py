# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""No text of a message leaves the filter with Ansible's override header in it, by which a text would choose delimiters of its own for its template."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.changes import Change
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.message import cloud_event
from ansible_collections.maintenance.azure.plugins.plugin_utils._eda.messages import texts
from ansible_collections.maintenance.azure.plugins.plugin_utils._eda.receiving.receiver import Limits, Receiver

HEADER = "#jinja2:"
# Ran a command on ansible-core 2.18, as an extra variable.
FOUND = """#jinja2:variable_start_string:'<<',variable_end_string:'>>',zz:<<lookup(*["pipe"]+["id"])>>#"""
EVENT_ID = "C7061BAC-AFDC-4513-B24B-AA5F13A16123"
NOON = "2026-11-25T12:00:00Z"
Message = dict[str, Any]


def watcher(**fields: Any) -> Message:
    return cloud_event(Change("listed", {"event_id": EVENT_ID, "resources": ["web1"], **fields}), {"name": "web1"}, 1, NOON)


def endpoint(problem: str) -> Message:
    return {**watcher(), "type": "maintenance.azure.endpoint.failing", "data": {"problem": problem}}


def event_grid(message: Message, **properties: Any) -> Message:
    resource = {"properties": {"EventId": EVENT_ID, "Resources": ["web1"], **properties}}
    return {"eventType": "microsoft.maintenance/scheduledevents/Write", "data": {"resources": [resource]}, **message}


# The key of the shape, the form of the message, and a message that has the text there.
PLACES: dict[tuple[str, str], Callable[[str], Message]] = {
    ("message_id", "watcher"): lambda text: {**watcher(), "id": text},
    ("sender", "watcher"): lambda text: {**watcher(), "source": text},
    ("sent_at", "watcher"): lambda text: {**watcher(), "time": text},
    ("event_type", "watcher"): lambda text: watcher(event_type=text),
    ("event_status", "watcher"): lambda text: watcher(event_status=text),
    ("event_source", "watcher"): lambda text: watcher(event_source=text),
    ("resource_type", "watcher"): lambda text: watcher(resource_type=text),
    ("description", "watcher"): lambda text: watcher(description=text),
    ("problem", "endpoint"): endpoint,
    ("message_id", "event_grid"): lambda text: event_grid({"id": text}),
    ("sender", "event_grid"): lambda text: event_grid({"subject": text}),
    ("sender", "event_grid, topic"): lambda text: event_grid({"topic": text}),
    ("sent_at", "event_grid"): lambda text: event_grid({"eventTime": text}),
    ("event_type", "event_grid"): lambda text: event_grid({}, EventType=text),
    ("event_status", "event_grid"): lambda text: event_grid({}, EventStatus=text),
    ("description", "event_grid"): lambda text: event_grid({}, Description=text),
    ("sender", "unknown"): lambda text: {"source": text},
    ("problem", "unknown"): lambda text: {"specversion": "1.0", "type": f"maintenance.azure.scheduled_event.{text}"},
    ("sender", "dropped"): lambda text: {"source": text},
    ("problem", "dropped"): lambda text: {"source": text},
}
BLANKS = st.text(" \t\n\r\x0b\x0c\u00a0\u2003\u2028", max_size=3)
CASES = st.lists(st.booleans(), min_size=len(HEADER), max_size=len(HEADER)).map(
    lambda upper: "".join(letter.upper() if high else letter for letter, high in zip(HEADER, upper))
)
TAILS = st.sampled_from(["", HEADER, FOUND, "{#jinja2:", "x\n<<1>>"]) | st.text(max_size=30)


def strings(value: Any) -> Iterator[str]:
    """All texts in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for below in value.values() if isinstance(value, dict) else value:
            yield from strings(below)


@pytest.mark.parametrize("place", PLACES, ids=" of ".join)
@settings(max_examples=50, deadline=None)
@given(BLANKS, CASES, TAILS)
@example("", HEADER, FOUND.removeprefix(HEADER))
def test_no_text_field_has_an_override_header(place: tuple[str, str], blanks: str, header: str, tail: str) -> None:
    key, form = place
    limits = Limits(most_per_minute=0) if form == "dropped" else Limits()
    (shape,) = Receiver().receive(PLACES[place](blanks + header + tail), limits, 0.0)
    assert shape["form"] == form.partition(",")[0]
    # The text came through, and is harmless.
    assert "jinja2:" in shape[key].lower()
    assert not [text for text in strings(shape) if HEADER in text.lower()]


@pytest.mark.parametrize(
    ("given_text", "left"),
    [
        (FOUND, "# " + FOUND[1:]),
        ("  #Jinja2:x", "# Jinja2:x"),
        ("#jinja", "#jinja"),
        ("{#jinja2:", "{ # jinja2:"),
        ("{{{ 1 }}", "{ { { 1 }}"),
        ("a #1 of {2}", "a #1 of {2}"),
    ],
)
def test_what_is_left_of_a_text(given_text: str, left: str) -> None:
    assert texts.text(given_text) == left
