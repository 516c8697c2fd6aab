# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is read from a file: mended where the meaning stays, refused where it would change, and within its limits in any case."""

from __future__ import annotations

import json

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.limits import (
    ATTEMPTS,
    FILE_BYTES,
    HISTORY_FIRST,
    HISTORY_LAST,
    METHODS,
    RECORD_BYTES,
    REVISION,
    TEXT,
)
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_encoding import (
    bounded_history,
    complete,
    decode,
    encode,
    repaired_lineage,
    replace_file,
    whole_within,
)
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_schema import (
    RecordsError,
    Unreadable,
    empty_record,
    shorten,
)

NAME = "event-x.1.json"
NOW = "2026-11-21T20:00:00.000000Z"


def read(name=NAME, **changes):
    """Return the record in a file with these keys."""
    return decode(json.dumps({**empty_record("x"), "revision": 1, **changes}).encode(), name)


@pytest.mark.parametrize("value", ["no", "false", 0, 1, None, [], "yes"])
def test_whether_it_is_undone_is_never_guessed(value):
    """Read as true, the VM would stay drained for ever; read as false, the changes would be put back again."""
    with pytest.raises(Unreadable, match="another type where true or false belongs"):
        read(undone=value)
    assert read(undone=True)["undone"] is True


@pytest.mark.parametrize(
    "changes,words",
    [
        ({"format": 2}, "has the format 2, and this version of the collection knows 1"),
        ({"format": True}, "has the format True"),
        ({"format": "1"}, "has the format '1'"),
        ({"revision": 2}, "holds another revision than its name says"),
        ({"event": None}, "names no event"),
        ({"event": {"event_id": 5}}, "names no event"),
        ({"event": {"event_id": "y"}}, "belongs to another event than its name says"),
        ({"phase": "finished"}, "has the unknown phase 'finished'"),
        ({"history": {}}, "has no list of objects in history"),
        ({"history": ["noticed"]}, "has no list of objects in history"),
        ({"methods": None}, "has no list of objects in methods"),
        ({"methods": [{}]}, "has a method without an id"),
        ({"methods": [{"id": 5}]}, "has a method without an id"),
        ({"history": [{"phase": "noticed"}]}, "has a history without phases and times"),
        ({"history": [{"phase": "noticed", "at": 5}]}, "has a history without phases and times"),
        ({"history": [{"phase": "finished", "at": NOW}]}, "has a history without phases and times"),
        ({"told": "noticed"}, "has no list where one belongs"),
        ({"event": {"event_id": "x", "resources": "vm_0"}}, "has no list where one belongs"),
        ({"rule": []}, "has a rule that is not an object"),
        ({"reason": 5}, "has no text in reason"),
        ({"verified_at": 5}, "has no text in verified_at"),
        ({"decision": {"action": "guess"}}, "has a decision that has the action 'guess'"),
    ],
)
def test_what_would_change_the_meaning_is_refused(changes, words):
    with pytest.raises(Unreadable) as caught:
        read(**changes)
    assert str(caught.value).startswith(words)


@pytest.mark.parametrize("name", ["event-x.json", "event-x.0.json", "mirror-x.1.json", "event-X.1.json"])
def test_a_file_of_another_name_holds_no_record(name):
    with pytest.raises(Unreadable, match="holds no record"):
        read(name)


@pytest.mark.parametrize("revision", [None, 0, -1, True, "1", 1.5, REVISION])
def test_the_name_says_the_revision_where_the_content_says_none(revision):
    assert read(revision=revision)["revision"] == 1


@pytest.mark.parametrize("attempts,found", [(0, 0), (7, 7), (-1, 0), (ATTEMPTS, ATTEMPTS), (ATTEMPTS + 1, ATTEMPTS), (True, 0), ("3", 0), (None, 0), (1.5, 0)])
def test_attempts_are_a_number_within_its_limit(attempts, found):
    assert read(attempts=attempts)["attempts"] == found


@pytest.mark.parametrize(
    "seconds,found", [(-1, -1), (0, 0), (10**9, 10**9), (10**9 + 1, None), (-(10**9), -(10**9)), (-(10**9) - 1, None), ("5", None), (True, None)]
)
def test_the_duration_is_a_number_that_an_event_may_have(seconds, found):
    assert read(event={"event_id": "x", "duration_in_seconds": seconds})["event"]["duration_in_seconds"] == found


def test_texts_are_cut_at_their_limit():
    assert read(reason="a" * TEXT)["reason"] == "a" * TEXT
    assert read(reason="a" * (TEXT + 1))["reason"] == "a" * (TEXT - 4) + " ..."
    assert read(event={"event_id": "x", "description": "\ud800"})["event"]["description"] == "?"
    assert read(event={"event_id": "x", "resources": ["vm_0", 5, None]})["event"]["resources"] == ["vm_0"]


def test_a_time_that_is_none_is_forgotten():
    assert read(verified_at="yesterday", approved_at=NOW)["verified_at"] is None
    assert read(verified_at="yesterday", approved_at=NOW)["approved_at"] == NOW
    history = [{"phase": "noticed", "at": "yesterday"}, {"phase": "draining", "at": NOW, "who": "?"}]
    assert read(history=history)["history"] == [{"phase": "draining", "at": NOW}]


def test_phases_that_were_told_keep_to_their_limits():
    assert read(told=["noticed", 5, None, "a" * TEXT, "b" * (TEXT + 1)])["told"] == ["noticed", "a" * TEXT]
    assert len(read(told=["noticed"] * (METHODS + 1))["told"]) == METHODS


@pytest.mark.parametrize("length", [0, 1, HISTORY_FIRST, HISTORY_FIRST + 1, HISTORY_LAST + 1, HISTORY_FIRST + HISTORY_LAST])
def test_a_history_within_its_limit_stays_as_it_is(length):
    history = [{"phase": "held", "at": str(number)} for number in range(length)]
    assert bounded_history(history) == history


@pytest.mark.parametrize("more", [1, 50])
def test_a_longer_history_loses_its_middle(more):
    numbers = [{"phase": "held", "at": number} for number in range(HISTORY_FIRST + HISTORY_LAST + more)]
    kept = [one["at"] for one in bounded_history(numbers)]
    assert kept == [*range(HISTORY_FIRST), *range(HISTORY_FIRST + more, HISTORY_FIRST + HISTORY_LAST + more)]


@pytest.mark.parametrize("lineage", [None, [], "abc", {}, [""], ["a", 5], ["a", ""], ["a" * 65], ["a", "b" * 65]])
def test_a_file_that_does_not_say_what_it_builds_on_is_named_by_its_content(lineage):
    found = repaired_lineage(lineage, b"content")
    assert found == repaired_lineage(lineage, b"content") != repaired_lineage(lineage, b"other")
    assert len(found) == 1 and found[0].startswith("file-") and len(found[0]) == 17


def test_a_lineage_that_is_one_stays():
    assert repaired_lineage(["a", "b" * 64], b"") == ["a", "b" * 64]


def test_methods_are_named_by_their_ids_and_each_counts_once():
    found = read(methods=[{"id": "1-service"}, {"id": "1-service", "method": "command"}, {"id": ""}, {"id": "odd id", "method": "none"}])["methods"]
    assert [(one["id"], one["method"]) for one in found] == [("1-service", "service"), ("3-unnamed", "unknown"), ("odd id", "none")]
    assert found[0]["state"] == "begun" and found[0]["error"] is None
    assert found[1]["state"] == "undone" and "nothing was undone" in found[1]["error"]
    assert len(read(methods=[{"id": f"{number}-none"} for number in range(METHODS + 1)])["methods"]) == METHODS


@pytest.mark.parametrize(
    "key,value", [("before", []), ("options", "x"), ("outside", "yes"), ("boot_id", 5), ("at", "yesterday"), ("error", 5), ("boot_id", "")]
)
def test_what_a_method_says_in_another_form_is_forgotten(key, value):
    methods = read(methods=[{"id": "1-none", key: value}])["methods"]
    assert [method[key] for method in methods] == [None]


def test_a_record_that_fits_is_written_and_a_larger_one_is_refused():
    record = {**empty_record("x"), "revision": 1, "rule": {"text": ""}}
    room = FILE_BYTES - len(json.dumps(record, sort_keys=True, separators=(",", ":"))) - 1
    record["rule"]["text"] = "a" * room
    assert len(encode(record)) == FILE_BYTES
    record["rule"]["text"] += "a"
    with pytest.raises(RecordsError, match=f"is larger than {FILE_BYTES} bytes"):
        encode(record)


def test_a_record_is_laid_out_for_reading_where_there_is_room():
    assert encode({**empty_record("x"), "revision": 1}).splitlines()[1] == b' "approved_at": null,'


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), {1, 2}])
def test_what_is_no_json_is_refused(value):
    with pytest.raises(RecordsError, match="cannot be stored as JSON"):
        encode({**empty_record("x"), "revision": 1, "rule": {"text": value}})


def test_a_file_may_be_as_large_as_a_record_and_no_larger():
    least = len(json.dumps({**read(rule={"text": ""})}, sort_keys=True, separators=(",", ":"))) + 1
    assert read(rule={"text": "a" * (RECORD_BYTES - least)})
    with pytest.raises(Unreadable, match=f"is larger than {RECORD_BYTES} bytes"):
        read(rule={"text": "a" * (RECORD_BYTES - least + 1)})


class FullFiles:
    """A directory in which one operation fails; it notes every call."""

    where = "/records"

    def __init__(self, **errors):
        self.errors, self.calls = errors, []

    def __getattr__(self, name):
        def call(*arguments):
            self.calls.append((name, *arguments))
            if name in self.errors:
                raise self.errors[name]

        return call


FAILURES = [OSError(28, "No space left on device"), ValueError("not a plain file name")]


@pytest.mark.parametrize("failing", ["make", "write_exclusive", "rename", "sync"])
@pytest.mark.parametrize("error", FAILURES)
@pytest.mark.parametrize("kept", [False, True])
def test_a_small_file_that_cannot_be_written_leaves_nothing_beside(failing, error, kept):
    files = FullFiles(**{failing: error}, **({"unlink": FileNotFoundError(2, "No such file")} if kept else {}))
    with pytest.raises(RecordsError) as caught:
        replace_file(files, "mark.json", {"a": 1}, "The mark")
    if isinstance(error, OSError):
        # Without the name of the file: runs show equal causes of many VMs once.
        assert (str(caught.value), caught.value.kind) == ("cannot write records to /records: No space left on device.", "not_written")
    else:
        assert (str(caught.value), caught.value.kind) == (f"The mark mark.json in /records cannot be written: {error}.", "records")
    steps = ["make", "write_exclusive", "rename", "sync"]
    assert [call[0] for call in files.calls] == [*steps[: steps.index(failing) + 1], "unlink"]
    assert files.calls[-1][1].startswith("temporary-") and files.calls[-1][1].endswith(".json")


def test_a_small_file_is_written_beside_and_renamed():
    files = FullFiles()
    replace_file(files, "mark.json", {"b": [1], "a": None}, "The mark")
    (_make, write, rename, _sync) = files.calls
    assert [call[0] for call in files.calls] == ["make", "write_exclusive", "rename", "sync"]
    assert (write[2], rename[1:]) == (b'{\n "a": null,\n "b": [\n  1\n ]\n}\n', (write[1], "mark.json"))


@pytest.mark.parametrize("value", [float("nan"), float("-inf")])
def test_a_small_file_that_is_no_json_is_not_written(value):
    files = FullFiles()
    with pytest.raises(RecordsError, match=r"^The mark mark.json in /records cannot be written"):
        replace_file(files, "mark.json", {"a": value}, "The mark")
    assert [call[0] for call in files.calls] == ["unlink"]


def test_a_record_that_is_nested_without_end_is_refused():
    endless = {}
    endless["again"] = endless
    deep = None
    for _level in range(100000):
        deep = [deep]
    for value in (endless, {"deep": deep}):
        with pytest.raises(RecordsError, match="cannot be stored as JSON"):
            encode({**empty_record("x"), "revision": 1, "rule": value})


def test_a_large_record_is_written_without_blanks():
    rule = {"text": ["a"] * 150000}
    content = encode({**empty_record("x"), "revision": 1, "rule": rule})
    assert content.startswith(b'{"approved_at":null,') and content.endswith(b"}\n") and json.loads(content)["rule"] == rule


def test_messages_repeat_no_more_than_a_hundred_characters():
    assert shorten("x" * 200) == "'" + "x" * 99
    assert shorten("x" * 98) == "'" + "x" * 98 + "'"
    with pytest.raises(Unreadable, match=r"^has the unknown phase '" + "x" * 99 + "$"):
        read(phase="x" * 200)


@pytest.mark.parametrize("number", [0, 1, REVISION - 1])
@pytest.mark.parametrize("found", [-1, 0, 1, 2, REVISION - 1, REVISION, REVISION + 1, True, 1.0, "1", None])
def test_a_whole_number_within_its_limits(number, found):
    expected = found if isinstance(found, int) and not isinstance(found, bool) and number <= found <= REVISION else None
    assert whole_within(found, number, REVISION) == expected


@pytest.mark.parametrize("key", ["history", "methods"])
@pytest.mark.parametrize("place", range(3))
def test_one_entry_that_is_none_makes_the_whole_list_none(key, place):
    good = {"history": {"phase": "noticed", "at": NOW}, "methods": {"id": "1-none"}}[key]
    entries = [dict(good, id=f"{number}-none") for number in range(3)]
    assert len(read(**{key: entries})[key]) == 3
    for wrong in ("x", None, [], {}):
        with pytest.raises(Unreadable):
            read(**{key: [*entries[:place], wrong, *entries[place + 1 :]]})


@pytest.mark.parametrize("rule,kept", [(None, None), ({}, {}), ({"name": "x"}, {"name": "x"})])
def test_an_object_is_one_or_nothing(rule, kept):
    assert read(rule=rule)["rule"] == kept


def test_a_revision_in_the_content_is_compared_only_where_it_is_one():
    assert read(name="event-x.7.json", revision=7)["revision"] == 7
    assert read(name="event-x.7.json", revision=REVISION)["revision"] == 7
    for other in (1, 6, 8, REVISION - 1):
        with pytest.raises(Unreadable, match="holds another revision"):
            read(name="event-x.7.json", revision=other)


@pytest.mark.parametrize("revision,found", [(None, 0), (0, 0), (5, 5), (REVISION, REVISION), (REVISION + 1, 0), (-1, 0), (True, 0), ("5", 0)])
def test_a_record_that_is_given_has_a_revision_or_none(revision, found):
    assert complete({"event": {"event_id": "x"}, "revision": revision})["revision"] == found
