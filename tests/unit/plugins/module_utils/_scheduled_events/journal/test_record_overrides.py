# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Overrides in the record: kept whole or refused, and older records without them can be read."""

from __future__ import annotations

import json

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.system import utc_text
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.overrides import WrongDecision, checked_decision
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_changes import RecordChange, apply_change
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_encoding import decode, encode
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_schema import RecordsError, Unreadable, empty_record, file_name
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.helpers import EVENT, START

NOON, LATER = utc_text(START), utc_text(START + 3600)
HOLD = {"action": "hold", "who": "alice", "why": None, "at": NOON, "until": LATER, "vm": None, "beside": []}
RETIRE = {"action": "retire_vm", "who": "alice", "why": "its disk is gone", "at": NOON, "until": LATER, "vm": "web2"}


def test_a_decision_is_kept_and_can_be_taken_back():
    record = apply_change(None, EVENT, RecordChange(changes={"decision": {"action": "hold", "who": " alice ", "at": NOON, "until": LATER}}), NOON)
    assert record["decision"] == HOLD
    record["revision"] = 1
    assert decode(encode(record), file_name(EVENT, 1))["decision"] == HOLD
    # Nothing else of the record changes with it, and other changes leave it.
    assert apply_change(record, EVENT, RecordChange(changes={"phase": "drained"}), LATER)["decision"] == HOLD
    assert apply_change(record, EVENT, RecordChange(changes={"decision": ""}), LATER) == {**record, "decision": None}


def test_what_still_holds_beside_it_is_kept():
    found = checked_decision({**HOLD, "beside": [RETIRE]})
    assert found["beside"] == [{**RETIRE, "beside": []}]
    assert checked_decision(found) == found


def test_a_record_without_the_key_is_one_without_a_decision():
    record = {**empty_record(EVENT), "revision": 1}
    del record["decision"]
    assert decode(encode(record), file_name(EVENT, 1))["decision"] is None


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ("hold", "not a dictionary"),
        ({**HOLD, "colour": 1}, "unknown key colour"),
        ({**HOLD, "action": "explode"}, "'explode'; known are approve, hold, release, let_it_come, retire_vm"),
        ({**HOLD, "action": ["hold"]}, "has the action"),
        ({**HOLD, "who": " "}, "needs who for hold"),
        ({**HOLD, "action": "approve"}, "needs why for approve"),
        ({**RETIRE, "why": ""}, "needs why for retire_vm"),
        ({**RETIRE, "vm": None}, "needs vm for retire_vm"),
        ({**HOLD, "until": None}, "needs until for hold"),
        ({**HOLD, "at": None}, "needs at for hold"),
        ({**HOLD, "until": "tomorrow"}, "'tomorrow' in until and not a time"),
        ({**HOLD, "why": "x" * 2000}, "more than 1000 characters in why"),
        ({**HOLD, "beside": "hold"}, "not a list in beside"),
        ({**HOLD, "beside": [{"action": "hold"}]}, "needs who"),
    ],
)
def test_what_is_no_decision_is_refused(wrong, words):
    with pytest.raises(WrongDecision, match=words):
        checked_decision(wrong)
    with pytest.raises(RecordsError, match=words):
        apply_change(None, EVENT, RecordChange(changes={"decision": wrong}), NOON)
    # In a file it makes the record unusable: no run continues without the override.
    data = json.dumps({**empty_record(EVENT), "revision": 1, "decision": wrong}).encode()
    with pytest.raises(Unreadable, match=words):
        decode(data, file_name(EVENT, 1))


def test_a_release_needs_no_end():
    assert checked_decision({"action": "release", "who": "bob", "at": NOON})["until"] is None


def test_what_holds_beside_a_decision_holds_nothing_beside_itself():
    inner = {"action": "retire_vm", "who": "bob", "why": "gone", "at": "2026-11-22T08:00:00Z", "until": "2026-11-23T08:00:00Z", "vm": "vm_1"}
    outer = {"action": "hold", "who": "alice", "at": "2026-11-22T08:00:00Z", "until": "2026-11-23T08:00:00Z", "beside": [{**inner, "beside": [inner]}]}
    found = checked_decision(outer)
    assert [(one["action"], one["vm"], one["beside"]) for one in found["beside"]] == [("retire_vm", "vm_1", [])]


@pytest.mark.parametrize("key", ["who", "why", "vm"])
def test_a_text_of_a_thousand_characters_is_kept_and_no_longer_one(key):
    assert checked_decision({**RETIRE, key: "x" * 1000})[key] == "x" * 1000
    assert checked_decision({**RETIRE, key: "  " + "x" * 1000 + "\n"})[key] == "x" * 1000
    with pytest.raises(WrongDecision, match=f"^has more than 1000 characters in {key}$"):
        checked_decision({**RETIRE, key: "x" * 1001})


@pytest.mark.parametrize("wrong", ["x" * 2000, {**HOLD, "action": "x" * 2000}, {**HOLD, "beside": "x" * 2000}, {**HOLD, "until": "x" * 1000}])
def test_a_message_repeats_no_more_than_a_hundred_characters_of_what_is_wrong(wrong):
    with pytest.raises(WrongDecision) as caught:
        checked_decision(wrong)
    assert str(caught.value).count("x") == 99


NEEDED = {
    "approve": {"who", "why", "at", "until"},
    "hold": {"who", "at", "until"},
    "release": {"who", "at"},
    "let_it_come": {"who", "at", "until"},
    "retire_vm": {"who", "why", "at", "until", "vm"},
}


@pytest.mark.parametrize("action", NEEDED)
@pytest.mark.parametrize("key", ["who", "why", "at", "until", "vm"])
@pytest.mark.parametrize("nothing", [None, "", "  "])
def test_what_each_action_needs(action, key, nothing):
    whole = {"action": action, "who": "alice", "why": "its disk is gone", "at": NOON, "until": LATER, "vm": "web2", "beside": []}
    assert checked_decision(whole) == whole
    if key in NEEDED[action]:
        with pytest.raises(WrongDecision, match=f"^needs {key} for {action}$"):
            checked_decision({**whole, key: nothing})
    else:
        assert checked_decision({**whole, key: nothing}) == {**whole, key: None}


@pytest.mark.parametrize("nothing", [None, ""])
def test_nothing_is_no_decision(nothing):
    assert checked_decision(nothing) is None
    assert checked_decision({**HOLD, "beside": [nothing, RETIRE, nothing]})["beside"] == [{**RETIRE, "beside": []}]
    assert checked_decision({**HOLD, "beside": nothing})["beside"] == []
    assert checked_decision({**HOLD, "beside": (RETIRE, HOLD)})["beside"] == [{**RETIRE, "beside": []}, HOLD]


@pytest.mark.parametrize("wrong", [0, False, [], {}, 5, ["hold"]])
def test_what_is_neither_nothing_nor_a_decision_is_refused(wrong):
    with pytest.raises(WrongDecision):
        checked_decision(wrong)
