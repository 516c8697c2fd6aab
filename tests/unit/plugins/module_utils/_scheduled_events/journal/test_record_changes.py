# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import copy

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.limits import HISTORY_FIRST, HISTORY_LAST
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.system import utc_text
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_changes import (
    LONGEST_NOTICE,
    RecordChange,
    apply_change,
    difference,
    may_be_pruned,
    nothing_changed,
)
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_schema import RecordsError
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.helpers import EVENT, START

NOON = utc_text(START)
LATER = utc_text(START + 10)
SERVICE = {"id": "1-service", "method": "service", "options": {"name": "nginx"}, "before": {"active": True}}


def begun(**keys):
    return apply_change(None, EVENT, RecordChange(method=dict(SERVICE, state="begun"), **keys), NOON)


def test_a_new_record_begins_with_noticed_and_has_every_key():
    record = apply_change(None, EVENT, RecordChange(event={"event_id": EVENT.lower(), "event_type": "Freeze", "raw": {"x": 1}}), NOON)
    assert record["history"] == [{"phase": "noticed", "at": NOON}]
    assert record["event"]["event_id"] == EVENT
    assert record["event"]["event_type"] == "Freeze"
    assert "raw" not in record["event"]
    assert set(record) == {
        *("format", "revision", "event", "phase", "reason", "blocker", "history", "vm_id", "vm_name", "boot_id", "rule", "decision", "attempts"),
        *("deadline", "verified_at", "approving_at", "approved_at", "started_at", "missing_since", "undone"),
        *("told", "untold", "outcome", "watcher", "methods"),
    }


def test_the_blocker_is_that_of_the_reason():
    full = {"kind": "capacity", "subjects": ["web"]}
    held = apply_change(None, EVENT, RecordChange(changes={"phase": "held", "reason": "no room", "blocker": full}), NOON)
    assert held["blocker"] == full
    assert apply_change(held, EVENT, RecordChange(stamp=("missing_since",)), NOON)["blocker"] == full
    assert apply_change(held, EVENT, RecordChange(changes={"phase": "failed", "reason": "it hangs"}), NOON)["blocker"] is None


def test_a_new_record_may_begin_in_another_phase():
    record = apply_change(None, EVENT, RecordChange(changes={"phase": "held", "reason": "no drain method"}), NOON)
    assert (record["phase"], record["reason"]) == ("held", "no drain method")
    assert record["history"] == [{"phase": "held", "at": NOON, "why": "no drain method"}]


def test_the_history_keeps_the_last_reason_of_each_hold():
    """The record itself has the reason of its present phase alone."""
    record = apply_change(None, EVENT, RecordChange(changes={"phase": "held", "reason": "no drain method"}), NOON)
    for changes in ({"phase": "held", "reason": "x" * 300}, {"phase": "draining", "reason": None}, {"reason": "of a drain"}):
        record = apply_change(record, EVENT, RecordChange(changes=changes), LATER)
    assert record["history"] == [{"phase": "held", "at": NOON, "why": "x" * 200}, {"phase": "draining", "at": LATER}]


def test_a_method_keeps_when_it_entered_each_state_of_its_present_drain():
    record = None
    for second, state in enumerate(("found", "begun", "drained", "undoing", "undone", "begun")):
        before = {"before": {"a": 1}} if state == "found" else {}
        record = apply_change(record, EVENT, RecordChange(method={"id": "1-x", "method": "x", "state": state, **before}), utc_text(START + second))
        if state == "undone":
            assert record["methods"][0]["times"] == {one: utc_text(START + at) for at, one in enumerate(("found", "begun", "drained", "undoing", "undone"))}
    assert record["methods"][0]["times"] == {"begun": utc_text(START + 5)}


def test_history_grows_only_with_a_change_of_phase():
    record = apply_change(begun(), EVENT, RecordChange(changes={"phase": "draining"}), LATER)
    again = apply_change(record, EVENT, RecordChange(changes={"phase": "draining", "reason": "x"}), utc_text(START + 20))
    assert again["history"] == [{"phase": "noticed", "at": NOON}, {"phase": "draining", "at": LATER}]


def test_history_keeps_its_begin_and_its_end():
    record = apply_change(None, EVENT, RecordChange(), NOON)
    for number in range(1000):
        phase = "held" if number % 2 else "draining"
        record = apply_change(record, EVENT, RecordChange(changes={"phase": phase}), utc_text(START + number))
    assert len(record["history"]) == HISTORY_FIRST + HISTORY_LAST
    assert record["history"][0] == {"phase": "noticed", "at": NOON}
    assert record["history"][-1] == {"phase": "held", "at": utc_text(START + 999)}


def test_the_given_record_is_not_changed():
    record = begun()
    copied = copy.deepcopy(record)
    apply_change(record, EVENT, RecordChange(changes={"phase": "failed", "rule": {"name": "x"}}, method={"id": "1-service", "state": "failed"}), LATER)
    assert record == copied


def test_before_and_options_are_written_once():
    second = {"id": "1-service", "before": {"active": False}, "options": {"name": "other"}, "state": "drained"}
    method = apply_change(begun(), EVENT, RecordChange(method=second), LATER)["methods"][0]
    assert method["before"] == {"active": True}
    assert method["options"] == {"name": "nginx"}
    assert (method["state"], method["at"]) == ("drained", LATER)


def test_an_empty_before_counts_as_written():
    record = apply_change(None, EVENT, RecordChange(method={"id": "1-none", "before": {}}), NOON)
    assert apply_change(record, EVENT, RecordChange(method={"id": "1-none", "before": {"a": 1}}), LATER)["methods"][0]["before"] == {}


@pytest.mark.parametrize("state", ["begun", "drained", "failed", "undoing"])
def test_a_retry_keeps_what_was_found_before(state):
    record = apply_change(begun(), EVENT, RecordChange(method={"id": "1-service", "state": state}), LATER)
    again = apply_change(record, EVENT, RecordChange(method={"id": "1-service", "state": "found", "before": {"active": False}}), LATER)
    assert again["methods"][0]["before"] == {"active": True}


def test_a_drain_after_a_finished_undo_finds_anew():
    undone = apply_change(begun(), EVENT, RecordChange(method={"id": "1-service", "state": "undone"}, changes={"undone": True}), LATER)
    assert undone["undone"] is True
    found = {"id": "1-service", "state": "found", "before": {"active": False}, "options": {"name": "httpd"}}
    again = apply_change(undone, EVENT, RecordChange(method=found), utc_text(START + 20))
    assert again["methods"][0]["before"] == {"active": False}
    assert again["methods"][0]["options"] == {"name": "httpd"}
    assert again["undone"] is False


def test_a_drain_after_an_undo_that_says_nothing_keeps_what_was_found():
    undone = apply_change(begun(), EVENT, RecordChange(method={"id": "1-service", "state": "undone"}), LATER)
    again = apply_change(undone, EVENT, RecordChange(method={"id": "1-service", "state": "begun", "before": None}), LATER)
    assert again["methods"][0]["before"] == {"active": True}


def test_methods_stay_in_the_order_in_which_they_began():
    record = begun()
    for name in ("2-probe_file", "3-command", "1-service", "2-probe_file"):
        record = apply_change(record, EVENT, RecordChange(method={"id": name, "state": "drained"}), LATER)
    assert [method["id"] for method in record["methods"]] == ["1-service", "2-probe_file", "3-command"]


def test_the_time_of_a_method_moves_with_its_state_only():
    record = apply_change(begun(), EVENT, RecordChange(method={"id": "1-service", "state": "begun", "error": "slow"}), LATER)
    assert record["methods"][0]["at"] == NOON
    assert record["methods"][0]["error"] == "slow"


def test_undone_of_one_method_does_not_unset_undone():
    record = apply_change(begun(), EVENT, RecordChange(changes={"undone": True}), LATER)
    record = apply_change(record, EVENT, RecordChange(method={"id": "1-service", "state": "undone"}), LATER)
    assert record["undone"] is True


def test_stamps_are_the_present_time_and_win_over_changes():
    record = apply_change(begun(), EVENT, RecordChange(stamp=["verified_at"], changes={"verified_at": "x", "deadline": "y"}), LATER)
    assert (record["verified_at"], record["deadline"]) == (LATER, "y")


def test_a_boot_is_noted_with_a_check_only():
    record = apply_change(begun(boot_id="boot-1"), EVENT, RecordChange(changes={"phase": "draining"}, boot_id="boot-1"), NOON)
    assert record["boot_id"] is None
    record = apply_change(record, EVENT, RecordChange(stamp=["verified_at"], boot_id="boot-1"), NOON)
    assert record["boot_id"] == "boot-1"
    noted = apply_change(record, EVENT, RecordChange(changes={"phase": "started"}, stamp=["started_at"], boot_id="boot-2"), LATER)
    assert noted["boot_id"] == "boot-1"
    assert apply_change(noted, EVENT, RecordChange(changes={"verified_at": LATER}, boot_id="boot-2"), LATER)["boot_id"] == "boot-2"


def test_text_from_old_templates_is_understood():
    changes = {"attempts": "2", "undone": "False", "reason": "", "told": ("noticed",), "rule": ""}
    record = apply_change(begun(), EVENT, RecordChange(changes=changes, event={"duration_in_seconds": "-1"}), LATER)
    assert (record["attempts"], record["undone"], record["reason"], record["told"]) == (2, False, None, ["noticed"])
    assert record["event"]["duration_in_seconds"] == -1
    assert record["rule"] is None


def test_phases_that_operators_were_notified_of_are_added_and_no_longer_untold():
    failed = {phase: {"since": NOON, "run": "run1"} for phase in ("noticed", "held")}
    record = apply_change(begun(), EVENT, RecordChange(changes={"told": ["drained"], "untold": {"held": failed["held"]}}), LATER)
    record = apply_change(record, EVENT, RecordChange(changes={"untold": {"noticed": failed["noticed"]}}), LATER)
    assert (record["told"], record["untold"]) == (["drained"], failed)
    record = apply_change(record, EVENT, RecordChange(changes={"told": ["noticed", "drained"]}), LATER)
    assert (record["told"], record["untold"]) == (["drained", "noticed"], {"held": failed["held"]})


@pytest.mark.parametrize(
    "wrong",
    [
        {"changes": {"phase": "finished"}},
        {"changes": {"history": []}},
        {"changes": {"revision": 7}},
        {"changes": {"methods": []}},
        {"changes": {"attempts": "many"}},
        {"changes": {"attempts": True}},
        {"changes": {"undone": "perhaps"}},
        {"changes": {"told": "noticed"}},
        {"changes": {"rule": "default"}},
        {"changes": {"outcome": "fine"}},
        {"method": {"state": "begun"}},
        {"method": {"id": "1-service", "state": "stopped"}},
        {"method": {"id": "1-service", "foo": 1}},
        {"method": {"id": "1-service", "before": "running"}},
        {"stamp": ["now"]},
        {"event": {"event_id": "another"}},
        {"event": {"resources": "web1"}},
        {"event": {"duration_in_seconds": "soon"}},
    ],
)
def test_what_makes_no_sense_is_refused_in_words(wrong):
    with pytest.raises(RecordsError) as caught:
        apply_change(begun(), EVENT, RecordChange(**wrong), LATER)
    assert not caught.value.conflict
    assert len(str(caught.value)) > 20


def recovered_at(seconds, **changes):
    keys = dict({"phase": "recovered", "undone": True}, **changes)
    return apply_change(begun(), EVENT, RecordChange(changes=keys), utc_text(START + seconds))


def test_recovered_records_are_pruned_after_their_time_only():
    record = recovered_at(100)
    assert not may_be_pruned(record, utc_text(START + 100 + 86400), 86400)
    assert may_be_pruned(record, utc_text(START + 100 + 86401), 86400)


def test_a_clock_that_went_back_prunes_nothing():
    assert not may_be_pruned(recovered_at(100), utc_text(START - 500000), 86400)


@pytest.mark.parametrize("phase", ["noticed", "draining", "drained", "approved", "started", "gone", "recovering", "failed"])
def test_unfinished_records_are_never_pruned(phase):
    assert not may_be_pruned(recovered_at(0, phase=phase), utc_text(START + 10**8), 86400)


def test_held_records_are_pruned_when_nothing_is_left_and_the_event_is_gone():
    day_later = utc_text(START + 90000)
    assert not may_be_pruned(recovered_at(0, phase="held"), day_later, 86400)
    assert may_be_pruned(recovered_at(0, phase="held", missing_since=NOON), day_later, 86400)
    assert not may_be_pruned(recovered_at(0, phase="held", missing_since=NOON, undone=False), day_later, 86400)
    assert may_be_pruned(recovered_at(0, phase="held"), utc_text(START + 90000 + LONGEST_NOTICE), 86400)


def test_nothing_changed_means_no_method_or_all_undone():
    assert nothing_changed(apply_change(None, EVENT, RecordChange(), NOON))
    assert not nothing_changed(begun())
    assert nothing_changed(apply_change(begun(), EVENT, RecordChange(method={"id": "1-service", "state": "undone"}), LATER))


def test_difference_shows_only_what_differs():
    record = begun()
    after = dict(apply_change(record, EVENT, RecordChange(changes={"reason": "why"}), LATER), revision=2)
    shown = difference(record, after, "event-x")
    assert (shown["before"], shown["after"]) == ({"reason": None}, {"reason": "why"})


def test_an_attempt_that_fails_before_it_has_begun_is_counted():
    first = apply_change(None, "x", RecordChange(changes={"phase": "failed", "attempts": 1}), utc_text(START))
    again = apply_change(first, "x", RecordChange(changes={"phase": "failed", "attempts": 2}), utc_text(START))
    same = apply_change(again, "x", RecordChange(changes={"phase": "failed", "attempts": 2}), utc_text(START))
    assert [entry["phase"] for entry in again["history"]] == ["failed", "failed"]
    assert same["history"] == again["history"]


@pytest.mark.parametrize("value,found", [("true", True), (" Yes ", True), ("1", True), (1, True), (True, True), ("False", False), ("no", False), (0, False)])
def test_true_and_false_are_read_in_every_form_that_a_template_leaves(value, found):
    assert apply_change(begun(), EVENT, RecordChange(changes={"undone": value}), LATER)["undone"] is found


@pytest.mark.parametrize("value", [1.5, "1.5", [], True, False])
def test_a_number_is_whole(value):
    with pytest.raises(RecordsError, match="attempts must be a whole number"):
        apply_change(begun(), EVENT, RecordChange(changes={"attempts": value}), LATER)


def test_a_held_record_outlives_the_longest_notice_and_no_more():
    held = recovered_at(0, phase="held")
    limit = 86400 + 8 * 86400
    assert LONGEST_NOTICE == 8 * 86400
    assert not may_be_pruned(held, utc_text(START + limit), 86400)
    assert may_be_pruned(held, utc_text(START + limit + 1), 86400)
    never = recovered_at(0, phase="held", undone=False)
    assert not may_be_pruned(never, utc_text(START + limit + 1), 86400)


def test_a_hundred_methods_and_no_more():
    record = begun()
    for number in range(2, 101):
        record = apply_change(record, EVENT, RecordChange(method={"id": f"{number}-none"}), LATER)
    assert len(record["methods"]) == 100
    assert apply_change(record, EVENT, RecordChange(method={"id": "100-none", "state": "drained"}), LATER)["methods"][-1]["state"] == "drained"
    with pytest.raises(RecordsError, match="has 100 methods already"):
        apply_change(record, EVENT, RecordChange(method={"id": "101-none"}), LATER)


def test_a_method_that_says_no_state_has_found_something():
    assert apply_change(None, EVENT, RecordChange(method={"id": "1-none"}), NOON)["methods"][0]["state"] == "found"
    assert apply_change(begun(), EVENT, RecordChange(method={"id": "1-service", "state": ""}), NOON)["methods"][0]["state"] == "begun"


def test_what_is_changed_again_is_not_undone_any_more():
    undone = apply_change(begun(), EVENT, RecordChange(method={"id": "1-service", "state": "undone"}, changes={"undone": True}), LATER)
    same = apply_change(undone, EVENT, RecordChange(method={"id": "1-service", "error": "noted later"}), LATER)
    assert same["undone"] is True
    assert apply_change(undone, EVENT, RecordChange(method={"id": "1-service", "state": "drained"}), LATER)["undone"] is False
    assert apply_change(undone, EVENT, RecordChange(method={"id": "2-none", "state": "drained"}, changes={"undone": True}), LATER)["undone"] is True


def test_a_restored_record_must_be_of_the_same_event():
    replica = dict(begun(), revision=4)
    after = apply_change(None, EVENT.lower(), RecordChange(restore=replica, changes={"phase": "draining"}), LATER)
    assert (after["event"]["event_id"], after["methods"][0]["before"]) == (EVENT, {"active": True})
    with pytest.raises(RecordsError, match="the record to restore is of"):
        apply_change(None, "another", RecordChange(restore=replica), LATER)
    # A record that is there is never replaced.
    assert apply_change(apply_change(None, "another", RecordChange(), NOON), "another", RecordChange(restore=replica), LATER)["methods"] == []


@pytest.mark.parametrize("other", ["another", "zzz", EVENT + "0", EVENT[:-1]])
def test_no_other_event_passes_for_this_one(other):
    with pytest.raises(RecordsError, match="and the event given is"):
        apply_change(begun(), EVENT, RecordChange(event={"event_id": other}), LATER)
    with pytest.raises(RecordsError, match="the record to restore is of"):
        apply_change(None, other, RecordChange(restore=dict(begun(), revision=4)), LATER)


WHOLE = {"1": 1, " 7 ": 7, "-3": -3, 0: 0, 12: 12}


@pytest.mark.parametrize("value", WHOLE)
def test_a_whole_number_comes_as_a_number_or_as_text(value):
    assert apply_change(begun(), EVENT, RecordChange(changes={"attempts": value}), LATER)["attempts"] == WHOLE[value]
    found = apply_change(begun(), EVENT, RecordChange(event={"duration_in_seconds": value}), LATER)
    assert found["event"]["duration_in_seconds"] == WHOLE[value]


@pytest.mark.parametrize("nothing", [None, ""])
def test_a_duration_that_is_not_known_is_none(nothing):
    known = apply_change(begun(), EVENT, RecordChange(event={"duration_in_seconds": 5}), LATER)
    assert apply_change(known, EVENT, RecordChange(event={"duration_in_seconds": nothing}), LATER)["event"]["duration_in_seconds"] is None


def test_each_key_of_an_event_is_taken_over_but_its_id():
    event = {
        "event_id": f" {EVENT.lower()} ",
        "event_type": "Freeze",
        "event_status": "Started",
        "event_source": "Platform",
        "not_before": "soon",
        "description": "text",
        "resources": ("a", "b"),
        "duration_in_seconds": 9,
    }
    found = apply_change(begun(), EVENT, RecordChange(event=event), LATER)["event"]
    assert found == {**event, "event_id": EVENT, "resources": ["a", "b"]}
    assert apply_change(dict(begun(), event=found), EVENT, RecordChange(event={"event_type": None}), LATER)["event"] == {**found, "event_type": None}


def test_the_names_of_the_vm_are_noted_and_not_forgotten():
    record = apply_change(begun(), EVENT, RecordChange(vm_id="VM-1", vm_name="web1"), LATER)
    assert (record["vm_id"], record["vm_name"]) == ("VM-1", "web1")
    again = apply_change(record, EVENT, RecordChange(vm_id="", vm_name=None), LATER)
    assert (again["vm_id"], again["vm_name"]) == ("VM-1", "web1")
    assert apply_change(record, EVENT, RecordChange(vm_name="web2"), LATER)["vm_name"] == "web2"


STAMPED = ("deadline", "verified_at", "approving_at", "approved_at", "started_at", "missing_since")


@pytest.mark.parametrize("key", STAMPED)
def test_every_time_of_a_record_can_be_stamped_alone_or_with_others(key):
    record = apply_change(begun(), EVENT, RecordChange(stamp=[key]), LATER)
    assert [one for one in STAMPED if record[one] == LATER] == [key]
    assert [one for one in STAMPED if apply_change(begun(), EVENT, RecordChange(stamp=list(STAMPED)), LATER)[one] != LATER] == []


@pytest.mark.parametrize("place", range(3))
def test_one_stamp_that_there_is_not_is_enough(place):
    stamps = ["verified_at", "approved_at", "started_at"]
    stamps[place] = "reason"
    with pytest.raises(RecordsError, match="stamp names 'reason'; known are deadline, verified_at"):
        apply_change(begun(), EVENT, RecordChange(stamp=stamps), LATER)


@pytest.mark.parametrize("outcome", ["completed", "cancelled", "unknown"])
def test_an_outcome_is_one_of_three_and_can_be_taken_back(outcome):
    record = apply_change(begun(), EVENT, RecordChange(changes={"outcome": outcome}), LATER)
    assert record["outcome"] == outcome
    for nothing in (None, ""):
        assert apply_change(record, EVENT, RecordChange(changes={"outcome": nothing}), LATER)["outcome"] is None


@pytest.mark.parametrize("key", ["rule", "before", "options"])
def test_what_is_given_is_not_kept_by_reference(key):
    value = {"a": {"b": 1}}
    change = RecordChange(changes={"rule": value}) if key == "rule" else RecordChange(method={"id": "9-x", key: value})
    record = apply_change(begun(), EVENT, change, LATER)
    value["a"]["b"] = 2
    assert (record["rule"] if key == "rule" else record["methods"][-1][key]) == {"a": {"b": 1}}


@pytest.mark.parametrize(
    "states,undone", [([], True), (["undone"], True), (["undone", "undone"], True), (["undone", "begun"], False), (["begun", "undone"], False)]
)
def test_every_method_must_be_undone(states, undone):
    record = {"undone": False, "methods": [{"id": str(number), "state": state} for number, state in enumerate(states)]}
    assert nothing_changed(record) is undone
    assert nothing_changed({**record, "undone": True}) is True


@pytest.mark.parametrize("states,prunable", [(["undone"], True), (["begun"], False)])
def test_a_held_record_is_pruned_by_its_methods_too(states, prunable):
    history = [{"phase": "noticed", "at": utc_text(START - 10**7)}, {"phase": "held", "at": NOON}]
    record = {"undone": False, "phase": "held", "history": history, "missing_since": NOON, "methods": [{"id": "1-x", "state": state} for state in states]}
    assert may_be_pruned(record, utc_text(START + 86401), 86400) is prunable
    # The last entry of its history counts.
    assert not may_be_pruned(record, utc_text(START + 86400), 86400)
    assert not may_be_pruned({**record, "history": []}, utc_text(START + 10**8), 86400)


@pytest.mark.parametrize("before,after,shown", [
    (None, {"revision": 1, "phase": "noticed"}, ({}, {"phase": "noticed"})),
    ({"revision": 1, "phase": "noticed", "b": 1}, None, ({"phase": "noticed", "b": 1}, {})),
    ({"revision": 1, "a": 1, "b": 1}, {"revision": 2, "a": 1, "b": 2, "c": None}, ({"b": 1}, {"b": 2})),
    ({"revision": 1, "a": 1}, {"revision": 2, "a": 1}, ({}, {})),
    (None, None, ({}, {})),
])  # fmt: skip
def test_a_difference_has_the_keys_of_either_side(before, after, shown):
    found = difference(before, after, "event-x")
    assert (found["before"], found["after"]) == shown
    assert (found["before_header"], found["after_header"]) == ("event-x", "event-x")


@pytest.mark.parametrize("attempts,entries", [(0, 1), (1, 2), (2, 2)])
def test_a_failure_is_counted_once_for_each_attempt(attempts, entries):
    failed = apply_change(None, EVENT, RecordChange(changes={"phase": "failed"}), NOON)
    again = apply_change(failed, EVENT, RecordChange(changes={"phase": "failed", "attempts": attempts}), LATER)
    assert len(again["history"]) == entries
    held = apply_change(None, EVENT, RecordChange(changes={"phase": "held"}), NOON)
    assert len(apply_change(held, EVENT, RecordChange(changes={"phase": "held", "attempts": attempts}), LATER)["history"]) == 1


def test_a_record_without_a_history_gets_its_phase_in_it():
    record = dict(begun(), history=[])
    assert apply_change(record, EVENT, RecordChange(), LATER)["history"] == [{"phase": "noticed", "at": LATER}]


@pytest.mark.parametrize("state", [None, ""])
@pytest.mark.parametrize("at", [None, utc_text(START + 99)])
def test_the_time_of_a_method_is_now_unless_it_is_given(state, at):
    given = {"id": "9-x", "state": state, **({} if at is None else {"at": at})}
    assert apply_change(begun(), EVENT, RecordChange(method=given), LATER)["methods"][-1]["at"] == (at or LATER)


@pytest.mark.parametrize("new,anew", [("found", True), ("begun", True), ("drained", False), ("failed", False), ("undoing", False), ("undone", False)])
def test_only_a_new_begin_after_an_undo_replaces_what_was_found(new, anew):
    undone = apply_change(begun(), EVENT, RecordChange(method={"id": "1-service", "state": "undone"}), LATER)
    given = {"id": "1-service", "state": new, "before": {"active": False}, "options": {"name": "other"}}
    (method,) = apply_change(undone, EVENT, RecordChange(method=given), LATER)["methods"]
    assert (method["before"], method["options"]) == (({"active": False}, {"name": "other"}) if anew else ({"active": True}, {"name": "nginx"}))


@pytest.mark.parametrize("identifier", [None, "", 5, ["1-x"]])
def test_a_method_needs_a_name(identifier):
    with pytest.raises(RecordsError, match="method needs an id, such as 1-service; it is "):
        apply_change(begun(), EVENT, RecordChange(method={"id": identifier, "state": "begun"}), LATER)
