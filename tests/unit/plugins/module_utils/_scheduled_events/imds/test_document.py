# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Bodies that real services and fakes sent, and 20,000 made up ones: events, or one clear error."""

from __future__ import annotations

import _strptime
import calendar
import datetime
import json
import random
import typing as t

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.argument_specs import API_VERSIONS
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.errors import KINDS, ScheduledEventsError
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.imds.document import (
    Document,
    flag_own,
    is_before,
    parse_document,
    parse_not_before,
    same_id,
    unix_seconds,
)
from ansible_collections.maintenance.azure.tests.unit.plugins.support import PAYLOADS, document, payload, raw_event

KEYS = {
    "event_id",
    "event_type",
    "event_status",
    "resource_type",
    "resources",
    "not_before",
    "description",
    "event_source",
    "duration_in_seconds",
    "affects_this_vm",
    "raw",
}


def parse(name: str, api_version: str = "2020-07-01", vm_name: str | None = None) -> Document:
    return parse_document(payload(name), api_version, vm_name)


# Vectors


@pytest.mark.parametrize(
    ("name", "incarnation", "expected"),
    [
        ("live_migration_1_empty.json", 1, []),
        ("live_migration_2_scheduled.json", 2, [("Freeze", "Scheduled", "2022-04-11T22:26:58Z", "Platform", 5)]),
        ("live_migration_3_started.json", 3, [("Freeze", "Started", None, "Platform", 5)]),
        ("live_migration_4_empty.json", 4, []),
        ("user_reboot_1_empty.json", 1, []),
        ("user_reboot_2_scheduled.json", 2, [("Reboot", "Scheduled", "2021-07-22T04:50:17Z", "User", -1)]),
        ("user_reboot_4_empty.json", 4, []),
        ("preempt_2019-08-01.json", 1, [("Preempt", "Scheduled", "2021-03-16T00:58:46Z", "Platform", None)]),
        ("preempt_2020-07-01.json", 1, [("Preempt", "Scheduled", "2022-08-09T17:07:32Z", "Platform", -1)]),
        ("reboots_190_empty.json", 190, []),
        ("reboots_192_two.json", 192, [("Reboot", "Scheduled", "2018-01-24T21:20:44Z", None, None)] * 2),
        ("incarnation_0_empty.json", 0, []),
        ("redeploy_2017-03-01_underscore.json", 1, [("Redeploy", "Scheduled", "2017-04-17T18:40:06Z", None, None)]),
        ("reboot_other_key_order.json", 1, [("Reboot", "Scheduled", "2016-09-19T18:29:47Z", "Platform", -1)]),
        ("freeze_iso_not_before.json", 2, [("Freeze", "Scheduled", "2025-08-13T12:15:00Z", "Platform", 9)]),
    ],
)
def test_vectors_parse_as_their_names_say(name: str, incarnation: int, expected: list[t.Any]) -> None:
    found = parse(name)
    assert found.incarnation == incarnation
    told = ("event_type", "event_status", "not_before", "event_source", "duration_in_seconds")
    assert [tuple(event[key] for key in told) for event in found.events] == expected
    assert [event["raw"] for event in found.events] == json.loads(payload(name))["Events"]
    assert all(set(event) == KEYS for event in found.events)


@pytest.mark.parametrize("path", sorted(PAYLOADS.glob("no_document_*")) + sorted(PAYLOADS.glob("error_*")), ids=lambda path: path.name)
def test_an_invalid_document_is_one_error_with_its_content_and_source(path: t.Any) -> None:
    with pytest.raises(ScheduledEventsError) as caught:
        parse_document(path.read_bytes(), "2020-07-01", source="http://127.0.0.1:1/where")
    assert caught.value.kind == "bad_document"
    assert "http://127.0.0.1:1/where" in str(caught.value)
    assert len(str(caught.value)) < 800
    if path.stat().st_size:
        assert path.read_text()[:15].split()[0] in str(caught.value)
    else:
        assert "the body is empty" in str(caught.value)


# Versions, names and ids


def test_underscore_of_the_preview_is_taken_off_names_and_kept_in_raw() -> None:
    event = parse("redeploy_2017-03-01_underscore.json", "2017-03-01", "OLDVM").events[0]
    assert event["resources"] == ["oldvm"]
    assert event["affects_this_vm"] is True
    assert event["raw"]["Resources"] == ["_oldvm"]


@pytest.mark.parametrize("version", [version for version in API_VERSIONS if version != "2017-03-01"])
def test_underscore_is_part_of_the_name_in_later_versions(version: str) -> None:
    event = parse("redeploy_2017-03-01_underscore.json", version, "oldvm").events[0]
    assert event["resources"] == ["_oldvm"]
    assert event["affects_this_vm"] is False


def test_own_name_is_compared_without_case_and_unknown_is_null() -> None:
    assert parse("live_migration_2_scheduled.json", vm_name="NORTH_1").events[0]["affects_this_vm"] is True
    assert parse("live_migration_2_scheduled.json", vm_name="north_10").events[0]["affects_this_vm"] is False
    found = parse("live_migration_2_scheduled.json")
    assert found.events[0]["affects_this_vm"] is None
    flag_own(found.events, "north_0")
    assert found.events[0]["affects_this_vm"] is True


def test_ids_are_compared_without_case_and_kept_verbatim() -> None:
    assert same_id("abc-DEF", "ABC-def")
    assert not same_id("abc-1", "abc-2")
    assert parse_document(document(1, raw_event(EventId="aB-c")), "2020-07-01").events[0]["event_id"] == "aB-c"


def test_unknown_types_states_and_fields_are_kept() -> None:
    raw = raw_event(EventType="Teleport", EventStatus="Pondering", Impact={"Level": [1, "two"]})
    event = parse_document(document(1, raw), "2020-07-01").events[0]
    assert (event["event_type"], event["event_status"]) == ("Teleport", "Pondering")
    assert event["raw"]["Impact"] == {"Level": [1, "two"]}


@pytest.mark.parametrize(("came", "expected"), [(5, 5), ("5", 5), (" 7 ", 7), (2.0, 2), (0, 0), (-3, -3)])
def test_incarnation_may_be_text(came: t.Any, expected: int) -> None:
    assert parse_document(document(came), "2020-07-01").incarnation == expected


@pytest.mark.parametrize("came", [None, "", "five", True, [], {}])
def test_without_an_incarnation_it_is_no_document(came: t.Any) -> None:
    with pytest.raises(ScheduledEventsError, match="DocumentIncarnation"):
        parse_document(document(came), "2020-07-01")


@pytest.mark.parametrize(("came", "expected"), [(9, 9), (0, 0), (-1, -1), ("9", 9), (8.2, 9), (None, None), (..., None), ("long", None), (True, None)])
def test_duration(came: t.Any, expected: int | None) -> None:
    event = parse_document(document(1, raw_event(DurationInSeconds=came)), "2020-07-01").events[0]
    assert event["duration_in_seconds"] == expected


@pytest.mark.parametrize(("came", "expected"), [([], []), (None, []), (..., []), (["a", "b"], ["a", "b"])])
def test_resources(came: t.Any, expected: list[str]) -> None:
    assert parse_document(document(1, raw_event(Resources=came)), "2020-07-01").events[0]["resources"] == expected


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        (7, "event 2 is not an object"),
        (raw_event(EventId=...), "event 2 has no EventId"),
        (raw_event(EventId="  "), "event 2 has no EventId"),
        (raw_event(EventId=5), "event 2 has no EventId"),
        (raw_event(Resources="vm_0"), "event 2 has Resources that are not a list of names"),
        (raw_event(Resources=[1]), "event 2 has Resources that are not a list of names"),
        (raw_event(EventType=["Reboot"]), "event 2 has no text as EventType"),
    ],
)
def test_one_unusable_event_spoils_the_document(event: t.Any, reason: str) -> None:
    with pytest.raises(ScheduledEventsError, match=reason):
        parse_document(document(1, raw_event(), event), "2020-07-01")


@pytest.mark.parametrize(
    "body",
    [
        b"\xff\xfe\x00",
        b'{"DocumentIncarnation":1,"Events":[{"EventId":"a","Size":NaN}]}',
        b'{"DocumentIncarnation":1,"Events":[{"EventId":"a","Size":1e999}]}',
        b'{"DocumentIncarnation":1e999,"Events":[]}',
        b'{"DocumentIncarnation":1,"Events":' + b"[" * 100000,
        b'{"DocumentIncarnation":1,"Events":[],"x":' + b"[" * 50 + b"]" * 50 + b"}",
        b'{"DocumentIncarnation":' + b"9" * 5000 + b',"Events":["x"]}',
        b'{"DocumentIncarnation":1,"Events":{}}',
        b"<html>proxy</html>",
        b"  \r\n ",
        b"null",
    ],
    ids=lambda body: repr(body[:30]),
)
def test_hostile_bodies_are_one_error(body: bytes) -> None:
    with pytest.raises(ScheduledEventsError) as caught:
        parse_document(body, "2020-07-01")
    assert caught.value.kind == "bad_document"


def test_byte_order_mark_and_half_a_surrogate_pair_do_no_harm() -> None:
    body = b"\xef\xbb\xbf" + document(1, raw_event(Description="\ud800!")).encode()
    event = parse_document(body, "2020-07-01").events[0]
    assert event["description"] == "?!"
    json.dumps(event, ensure_ascii=False).encode("utf-8")


# NotBefore


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mon, 19 Sep 2016 18:29:47 GMT", "2016-09-19T18:29:47Z"),
        ("Sun, 19 Sep 2016 18:29:47 GMT", "2016-09-19T18:29:47Z"),  # the wrong weekday
        ("lun., 19 Sep 2016 18:29:47 GMT", "2016-09-19T18:29:47Z"),  # a weekday in another language
        ("19 Sep 2016 18:29:47 GMT", "2016-09-19T18:29:47Z"),
        ("Mon, 9 Sep 2016 8:29:47 GMT", "2016-09-09T08:29:47Z"),
        ("Mon, 19 Sep 2016 18:29 GMT", "2016-09-19T18:29:00Z"),
        ("Mon, 19 Sep 2016 18:29:47 +0200", "2016-09-19T16:29:47Z"),
        ("Monday, 19-Sep-16 18:29:47 GMT", "2016-09-19T18:29:47Z"),
        ("mon, 19 SEP 2016 18:29:47 gmt", "2016-09-19T18:29:47Z"),
        ("2016-09-19T18:29:47Z", "2016-09-19T18:29:47Z"),
        ("2016-09-19T18:29:47.1234567Z", "2016-09-19T18:29:47Z"),
        ("2016-09-19 18:29:47", "2016-09-19T18:29:47Z"),
        ("2016-09-19T18:29:47", "2016-09-19T18:29:47Z"),
        ("2016-09-19T18:29:47+05:30", "2016-09-19T12:59:47Z"),
        ("2016-09-19T18:29:47-02", "2016-09-19T20:29:47Z"),
        ("2016-12-31T23:59:60Z", "2016-12-31T23:59:59Z"),
        ("0900-01-01T00:00:00Z", "0900-01-01T00:00:00Z"),
        ("  2016-09-19T18:29:47Z ", "2016-09-19T18:29:47Z"),
        ("", None),
        ("   ", None),
        (None, None),
        (1474309787, None),
        ("soon", None),
        ("Mon, 19 Foo 2016 18:29:47 GMT", None),
        ("2016-13-19T18:29:47Z", None),
        ("2016-09-31T18:29:47Z", None),
        ("2016-09-19T25:29:47Z", None),
        ("0001-01-01T00:00:00+01:00", None),
        ("\u0662016-09-19T18:29:47Z", None),
    ],
)
def test_not_before(text: t.Any, expected: str | None) -> None:
    assert parse_not_before(text) == expected


def test_not_before_does_not_depend_on_the_locale(monkeypatch: pytest.MonkeyPatch) -> None:
    german = ["", "jan", "feb", "mär", "apr", "mai", "jun", "jul", "aug", "sep", "okt", "nov", "dez"]
    monkeypatch.setattr(calendar, "month_abbr", german)
    monkeypatch.setattr(calendar, "day_abbr", ["mo", "di", "mi", "do", "fr", "sa", "so"])
    monkeypatch.setattr(_strptime, "_TimeRE_cache", _strptime.TimeRE())
    monkeypatch.setattr(_strptime, "_regex_cache", {})
    # The process now uses German: a client with strptime would fail on this.
    with pytest.raises(ValueError, match="does not match"):
        datetime.datetime.strptime("Wed, 19 Oct 2016", "%a, %d %b %Y")
    assert parse_not_before("Wed, 19 Oct 2016 18:29:47 GMT") == "2016-10-19T18:29:47Z"
    assert parse_not_before("Tue, 10 May 2016 18:29:47 GMT") == "2016-05-10T18:29:47Z"
    assert is_before(datetime.datetime(2016, 5, 10, tzinfo=datetime.timezone.utc), "2016-05-10T18:29:47Z")


@pytest.mark.parametrize("text", [None, "", "soon", 7, "2026-13-01T00:00:00Z", "9" * 200])
def test_what_is_no_time_has_no_seconds(text: t.Any) -> None:
    assert unix_seconds(text) is None


@pytest.mark.parametrize("text", ["Wed, 19 Oct 2016 18:29:47 GMT", "2016-10-19T18:29:47Z", "2016-10-19T18:29:47.999999Z", "2016-10-19T20:29:47+02:00"])
def test_seconds_since_1970(text: str) -> None:
    assert unix_seconds(text) == 1476901787


def test_is_before_needs_a_time() -> None:
    moment = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)
    assert is_before(moment, "2026-01-01T00:00:01Z")
    assert not is_before(moment, "2026-01-01T00:00:00Z")
    assert not is_before(moment, None)


# 20,000 made up bodies

SCALARS = [None, True, False, 0, -1, 5, 10**30, 1.5, "", "5", "Started", "\ud800", "Mon, 19 Sep 2016 18:29:47 GMT", "2016-09-19T18:29:47Z", "_vm"]
EXAMPLES = 2000
BODIES_OF_AN_EXAMPLE = 10


def made_up(chance: random.Random, depth: int = 0) -> t.Any:
    kind = chance.random()
    if kind < 0.7 or depth > 3:
        return chance.choice(SCALARS)
    if kind < 0.85:
        return [made_up(chance, depth + 1) for unused in range(chance.randrange(4))]
    return {chance.choice(["EventId", "Events", "x", ""]): made_up(chance, depth + 1) for unused in range(chance.randrange(4))}


def made_up_body(chance: random.Random, text: str) -> bytes:
    """Damage a valid document more and more: values, keys, then the bytes."""
    events = [raw_event(EventId=str(number)) for number in range(chance.randrange(4))]
    data: t.Any = {"DocumentIncarnation": chance.randrange(9), "Events": events}
    for unused in range(chance.choice([0, 0, 0, 1, 1, 2])):
        victim = chance.choice([data, *events])
        victim[chance.choice([*victim, text])] = made_up(chance)
    for event in events:
        if chance.random() < 0.1:
            event["NotBefore"] = text
        if chance.random() < 0.1:
            event.pop(chance.choice(list(event)))
    body = json.dumps(chance.choice([data] * 12 + [made_up(chance)])).encode()
    for unused in range(chance.choice([0] * 8 + [1, 3])):
        place = chance.randrange(len(body) + 1)
        body = body[:place] + chance.choice([b"", b"\xff", b'"', b"]", b"\\ud800", text.encode("utf-8", "replace")]) + body[place + chance.randrange(3) :]
    return body[: chance.choice([len(body)] * 12 + [chance.randrange(len(body) + 1)])]


def is_number(value: t.Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def check_events(found: Document) -> None:
    assert is_number(found.incarnation)
    for event in found.events:
        assert set(event) == KEYS
        assert isinstance(event["event_id"], str)
        assert event["event_id"].strip()
        assert all(isinstance(name, str) for name in event["resources"])
        assert event["duration_in_seconds"] is None or is_number(event["duration_in_seconds"])
        for key in ("event_type", "event_status", "resource_type", "description", "event_source", "not_before"):
            assert event[key] is None or isinstance(event[key], str)
        assert event["not_before"] is None or parse_not_before(event["not_before"]) == event["not_before"]
    # Every result can be returned to Ansible.
    json.dumps(found.events, allow_nan=False, ensure_ascii=False).encode("utf-8")


def test_20000_made_up_bodies_are_events_or_one_error() -> None:
    count = {"documents": 0, "events": 0, "errors": 0}

    def judge(body: bytes, version: str) -> None:
        try:
            found = parse_document(body, version, "vm_0")
        except ScheduledEventsError as error:
            assert error.kind in KINDS
            assert "\n" not in str(error)
            assert len(str(error)) < 1000
            count["errors"] += 1
        else:
            check_events(found)
            count["documents"] += 1
            count["events"] += len(found.events)

    @seed(20)
    @settings(max_examples=EXAMPLES, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.integers(min_value=0), st.text(max_size=20), st.sampled_from(API_VERSIONS), st.binary(max_size=40))
    def run(number: int, text: str, version: str, noise: bytes) -> None:
        chance = random.Random(number)
        judge(noise, version)
        for unused in range(BODIES_OF_AN_EXAMPLE):
            judge(made_up_body(chance, text), version)

    run()
    assert count["documents"] + count["errors"] >= 20000
    # If either half were empty, the test would no longer test it.
    assert count["documents"] > 5000
    assert count["events"] > 5000
    assert count["errors"] > 5000


HUGE = [
    b'{"DocumentIncarnation": ' + b"9" * 5000 + b', "Events": []}',
    b'{"DocumentIncarnation": 1e400, "Events": []}',
    b'{"DocumentIncarnation": Infinity, "Events": []}',
    b'{"DocumentIncarnation": 1, "Events": [' + b",".join([b'{"EventId": "x"}'] * 1001) + b"]}",
    b'{"DocumentIncarnation": 1, "Events": [{"EventId": {"a": 1}}]}',
    b'{"DocumentIncarnation": 1, "Events": [{"EventId": "' + b"x" * 5000 + b'"}]}',
    b'{"DocumentIncarnation": 1, "Events": [{"EventId": "x", "Resources": ["' + b"x" * 5000 + b'"]}]}',
    b'{"DocumentIncarnation": 1, "Events": ' + b"[" * 900000,
    b" " * (1024 * 1024 + 1),
]


@pytest.mark.parametrize("number", range(len(HUGE)))
def test_out_of_bounds_input_is_refused_with_a_message(number):
    with pytest.raises(ScheduledEventsError) as caught:
        parse_document(HUGE[number], "2020-07-01")
    assert len(str(caught.value)) < 1000


def test_a_long_description_hides_no_event_and_a_duration_out_of_bounds_is_unknown():
    body = b'{"DocumentIncarnation": 1, "Events": [{"EventId": "x", "Description": "' + b"d" * 9000 + b'", "DurationInSeconds": 1e300}]}'
    [event] = parse_document(body, "2020-07-01").events
    assert len(event["description"]) == 4096 and event["duration_in_seconds"] is None
