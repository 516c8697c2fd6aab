# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import copy
import itertools
import json
import os
import re
import stat

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.limits import REPLICA_BYTES
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host import files as files_module
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.files import LocalFiles
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_encoding import complete
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_schema import RecordsError, empty_record
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_store import RecordStore
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.replicas import (
    LONGEST_SECONDS,
    ReplicaStore,
    checked_record,
    checked_restore,
    only_findings,
    replica_argument,
    replica_name,
)
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.helpers import (
    EVENT,
    as_unprivileged_user,
    record_change,
)

METHOD = {"id": "1-haproxy", "method": "haproxy", "before": {"balancers": {}}, "outside": True}
NAME = replica_name("web1", EVENT)


@pytest.fixture
def records(tmp_path, host):
    return RecordStore(LocalFiles(str(tmp_path / "web1")), host)


@pytest.fixture
def replicas(tmp_path, host):
    return ReplicaStore(LocalFiles(str(tmp_path / "web2")), host)


def drained(records, state="drained", **changes):
    return records.write(EVENT, record_change(changes={"phase": "drained", **changes}, method={**METHOD, "state": state}, vm_id="VM-1")).after


def only(record, phase="draining"):
    """Return the part of a record that a replica holds."""
    begin = [{"phase": "draining", "at": record["history"][0]["at"]}]
    methods = [{key: one[key] for key in ("id", "method", "state", "before", "at", "outside")} for one in record["methods"] if one["outside"]]
    kept = {"revision": record["revision"], "vm_id": record["vm_id"], "undone": record["undone"], "history": begin, "methods": methods}
    return {**empty_record(EVENT), **kept, "phase": phase}


def present(replicas):
    return sorted(os.listdir(replicas.files.where))


def test_a_copy_is_no_record_of_the_vm_that_it_lies_on(records, replicas, host):
    record = drained(records)
    assert replicas.write("web1", "VM-1", record).changed
    assert present(replicas) == [NAME]
    assert replicas.read_all() == ([{"vm": "web1", "vm_id": "VM-1", "keeper_vm_id": None, "record": only(record)}], [])
    assert RecordStore(replicas.files, host).read_all("VM-2", set_aside=True) == ([], [], True, True)
    assert present(replicas) == [NAME]
    mode = os.stat(replicas.files.where).st_mode
    assert stat.S_IMODE(mode) == 0o700
    assert replicas.write("web1", "VM-1", record).changed is False
    # The same event on another VM has a file of its own, whatever the VM is called.
    replicas.write("../web/1 \N{SNOWMAN}", None, record)
    assert len(present(replicas)) == 2 and len(replicas.read_all().found) == 2


def test_an_older_revision_never_replaces_a_newer_one(records, replicas):
    old = drained(records)
    new = drained(records, attempts=2)
    assert new["revision"] > old["revision"]
    replicas.write("web1", "VM-1", new)
    written = replicas.write("web1", "VM-1", old)
    assert (written.changed, written.after) == (False, only(new))
    # Not even one that says that all is over: a new drain may have begun since.
    assert replicas.write("web1", "VM-1", {**old, "phase": "recovered"}).changed is False
    assert replicas.read_all().found[0]["record"] == only(new)
    # Another machine by that name: its clock and its revisions say nothing about the old one's.
    assert replicas.write("web1", "VM-2", {**old, "phase": "recovered"}).changed and present(replicas) == []


def test_a_record_that_began_later_is_newer_with_whatever_revision(records, replicas, host):
    replicas.write("web1", "VM-1", {**drained(records), "revision": 9})
    records.remove(EVENT)
    host.pass_time(60)
    later = drained(records)
    assert later["revision"] == 1 and replicas.write("web1", "VM-1", later).changed
    assert replicas.read_all().found[0]["record"] == only(later)


def test_recovered_is_removed_and_check_mode_changes_nothing(records, replicas):
    record = drained(records)
    assert replicas.write("web1", None, record, check_mode=True).changed
    assert not os.path.exists(replicas.files.where)
    replicas.write("web1", None, record)
    over = records.write(EVENT, record_change(changes={"phase": "recovered", "undone": True})).after
    assert replicas.write("web1", None, over, check_mode=True).changed and present(replicas) == [NAME]
    assert replicas.write("web1", None, over).changed and present(replicas) == []
    assert replicas.write("web1", None, over).changed is False


RESTORED = {
    "event": {"event_id": EVENT, "resources": ["web1"]},
    "phase": "draining",
    "history": [{"phase": "draining", "at": "2026-11-21T20:05:00.000000Z"}],
    "methods": [{**METHOD, "state": "begun"}],
}


def test_a_restored_record_says_what_was_changed_outside_and_counts_as_newer_than_its_copy(records, replicas, host):
    drained(records)
    replicas.write("web1", "VM-1", drained(records, attempts=2))
    records.remove(EVENT)
    # As a template of ansible-core 2.18 may hand it on.
    given = {**RESTORED, "age_seconds": 3, "revision": "0"}
    restored = records.write(EVENT, record_change(restore=checked_restore(given), vm_id="VM-1"), expected_revision=0).after
    assert restored["revision"] == 1 and restored["vm_id"] == "VM-1" and restored["phase"] == "draining"
    (method,) = restored["methods"]
    assert {key: value for key, value in method.items() if value is not None} == {**METHOD, "state": "begun"}
    assert restored["rule"] is None and restored["decision"] is None
    assert replicas.write("web1", "VM-1", restored).changed
    # The undo goes on with it.
    undone = records.write(EVENT, record_change(changes={"phase": "recovering"}, method={"id": METHOD["id"], "state": "undone"})).after
    assert undone["methods"][0]["state"] == "undone" and undone["methods"][0]["before"] == METHOD["before"]
    # A record that is there is not replaced.
    changed = records.write(EVENT, record_change(restore=RESTORED, changes={"attempts": 7})).after
    assert changed["attempts"] == 7 and changed["vm_id"] == "VM-1"
    with pytest.raises(RecordsError, match="was expected"):
        records.write(EVENT, record_change(restore=RESTORED), expected_revision=0)
    with pytest.raises(RecordsError, match="record to restore is of"):
        records.write("ANOTHER", record_change(restore=RESTORED))


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"phase": "approved"}, "must be in phase draining"),
        ({"rule": {"name": "x"}}, "has rule"),
        ({"decision": {"action": "hold", "who": "x", "why": "y", "at": "2026-11-21T20:05:00Z", "until": "2026-11-22T20:05:00Z"}}, "has decision"),
        ({"approved_at": "2026-11-21T20:05:00Z"}, "has approved_at"),
        ({"methods": [{**METHOD, "outside": False}]}, "not outside"),
        ({"methods": [{**METHOD, "options": {"undo": "/tmp/evil.yml"}}]}, "has options"),
    ],
)
def test_nothing_but_findings_outside_is_restored(more, words):
    with pytest.raises(RecordsError, match=words):
        checked_restore({**RESTORED, **more})


def test_a_replica_holds_no_command_no_rule_and_no_override(records, replicas):
    local = {"id": "2-command", "method": "command", "state": "drained", "options": {"undo": "SECRET"}, "before": {}}
    records.write(EVENT, record_change(changes={"phase": "drained", "reason": "SECRET", "rule": {"name": "SECRET"}}, method=local, vm_id="VM-1"))
    record = records.write(EVENT, record_change(method={**METHOD, "state": "drained", "options": {"socket": "SECRET"}}, vm_id="VM-1")).after
    replicas.write("web1", "VM-1", record, keeper_vm_id="VM-2")
    with open(replicas.files._path(NAME)) as stream:
        text = stream.read()
    assert "SECRET" not in text and json.loads(text)["keeper_vm_id"] == "VM-2" and json.loads(text)["format"] == 2
    assert [one["id"] for one in replicas.read_all("vm-2").found[0]["record"]["methods"]] == ["1-haproxy"]


def test_what_came_with_another_vms_disk_is_no_copy(records, replicas):
    replicas.write("web1", "VM-1", drained(records), keeper_vm_id="VM-2")
    reading = replicas.read_all("VM-9")
    assert reading.found == [] and NAME in reading.problems[0] and "kept by another VM" in reading.problems[0]
    for own in ("vm-2", None):
        assert len(replicas.read_all(own).found) == 1 and replicas.read_all(own).problems == []


def test_a_copy_of_format_1_is_understood_without_what_no_copy_may_hold(records, replicas, host):
    record = {**drained(records), "decision": None, "rule": {"name": "x"}}
    record["methods"][0]["options"] = {"socket": "evil"}
    replicas.files.make()
    replicas.files.write_exclusive(NAME, json.dumps({"format": 1, "vm": "web1", "vm_id": "VM-1", "record": record}).encode())
    (replica,) = replicas.read_all("VM-2").found
    assert replica == {"vm": "web1", "vm_id": "VM-1", "keeper_vm_id": None, "record": only(record)}
    host.pass_time(LONGEST_SECONDS + 1)
    assert replicas.read_all("VM-2") == ([], [])


def test_a_copy_lives_a_month_by_the_clock_of_who_keeps_it(records, replicas, host):
    replicas.write("web1", None, drained(records))
    host.pass_time(LONGEST_SECONDS - 10)
    assert len(replicas.read_all().found) == 1
    host.pass_time(20)
    assert replicas.read_all() == ([], []) and replicas.prune(86400) == [EVENT] and present(replicas) == []


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{}", '{"format": 3}', '{"format": 1, "vm": "web1", "record": {}}', '{"format": 1, "vm": "web1", "record": {"event": {"event_id": "X"}}}'],
)
def test_what_is_no_copy_is_told_and_replaced(records, replicas, content):
    replicas.files.make()
    with open(os.path.join(replicas.files.where, NAME), "w") as stream:
        stream.write(content)
    reading = replicas.read_all()
    assert reading.found == [] and NAME in reading.problems[0]
    assert replicas.write("web1", None, drained(records)).changed
    assert len(replicas.read_all().found) == 1


@pytest.mark.parametrize("given", [{}, {"event": 1}, {"event": {}}, {"event": {"event_id": " "}}, {"event": {"event_id": "X"}, "phase": "??"}])
def test_a_record_that_is_none_is_refused(replicas, given):
    with pytest.raises(RecordsError, match="record given"):
        replicas.write("web1", None, given)
    with pytest.raises(RecordsError, match=r"replica\.vm"):
        replicas.write(" ", None, given)


def test_copies_are_pruned_when_nothing_is_left_to_undo(records, replicas, host):
    replicas.write("web1", None, drained(records))
    undone = {"event": {"event_id": "E-2"}, "phase": "recovering", "history": [{"phase": "draining", "at": host.now()}], "revision": 1}
    replicas.write("web1", None, {**undone, "methods": [{**METHOD, "state": "undone"}]})
    host.pass_time(86401)
    assert replicas.prune(86400, check_mode=True) == ["E-2"] and len(present(replicas)) == 2
    assert replicas.prune(86400) == ["E-2"]
    assert present(replicas) == [NAME], "what was not put back yet is kept"
    stamp = os.stat(replicas.files._path(NAME)).st_mtime - LONGEST_SECONDS - 10
    os.utime(replicas.files._path(NAME), (stamp, stamp))
    assert replicas.prune(86400) == [EVENT] and present(replicas) == []


def test_a_folder_that_cannot_be_written_is_named(records, replicas, tmp_path):
    replicas.write("web1", None, drained(records))
    newer = drained(records, attempts=3)
    os.chmod(replicas.files.where, 0o555)

    def write():
        try:
            replicas.write("web1", None, newer)
        except RecordsError as error:
            return str(error)
        return "written"

    said = as_unprivileged_user(tmp_path, replicas.files.where, write)
    assert replicas.files.where in said and said.startswith("cannot write records to"), said
    with open(replicas.files._path(NAME)) as stream:
        assert json.load(stream)["record"]["revision"] < newer["revision"]


def test_a_copy_has_its_limit_and_none_is_kept_instead(records, replicas):
    """Otherwise one VM's replicas would leave no room for those of the others."""
    record = drained(records)
    record["methods"][0]["before"] = {"balancers": {f"lb{number}": {"shop": {"state": "ready", "up": True}} for number in range(500)}}
    assert replicas.write("web1", "VM-1", record).changed
    record["methods"][0]["before"] = {"x": "y" * REPLICA_BYTES}
    record["revision"] += 1
    with pytest.raises(RecordsError, match=f"more than {REPLICA_BYTES} bytes, and is not kept"):
        replicas.write("web1", "VM-1", record)
    assert present(replicas) == [NAME] and len(replicas.read_all().found) == 1


def test_no_message_asks_to_remove_a_replica_that_only_was_not_read(records, replicas, monkeypatch):
    replicas.write("web1", "VM-1", drained(records))
    monkeypatch.setattr(files_module, "FOLDER_BYTES", 10)
    (problem,) = ReplicaStore(LocalFiles(replicas.files.where), replicas.host).read_all().problems
    assert "was not read: it would be more than 10 bytes" in problem and "Remove" not in problem


def test_a_copy_counts_for_thirty_days_and_not_longer(records, replicas, host):
    replicas.write("web1", "VM-1", drained(records))
    host.pass_time(30 * 86400)
    assert len(replicas.read_all().found) == 1 and replicas.prune(86400) == []
    host.pass_time(1)
    assert replicas.read_all().found == [] and replicas.prune(86400) == [EVENT]


def test_a_copy_of_what_is_undone_is_kept_for_its_time_only(records, replicas, host):
    replicas.write("web1", "VM-1", drained(records, "undone"))
    host.pass_time(86400)
    assert replicas.prune(86400) == []
    host.pass_time(1)
    assert replicas.prune(86400, check_mode=True) == [EVENT] and present(replicas) == [NAME]
    assert replicas.prune(86400) == [EVENT] and present(replicas) == []


def test_a_copy_of_what_still_stands_is_kept_until_it_is_a_month_old(records, replicas, host):
    replicas.write("web1", "VM-1", drained(records))
    host.pass_time(29 * 86400)
    assert replicas.prune(86400) == [] and present(replicas) == [NAME]


def test_a_copy_that_goes_in_this_moment_hides_no_other(records, replicas, monkeypatch):
    record = drained(records)
    for name in ("web1", "web3"):
        replicas.write(name, "VM-1", record)
    first, read = present(replicas)[0], replicas.files.read

    def gone(name):
        if name == first:
            raise FileNotFoundError(name)
        return read(name)

    monkeypatch.setattr(replicas.files, "read", gone)
    reading = replicas.read_all()
    assert (len(reading.found), reading.problems) == (1, [])


@pytest.mark.parametrize("value", [5, "", None, ["VM-2"]])
def test_a_keeper_that_is_no_text_is_none(records, replicas, value):
    replicas.write("web1", "VM-1", drained(records), keeper_vm_id="VM-2")
    path = os.path.join(replicas.files.where, NAME)
    with open(path, encoding="utf-8") as stream:
        data = json.load(stream)
    with open(path, "w", encoding="utf-8") as stream:
        json.dump({**data, "keeper_vm_id": value}, stream)
    (found,) = replicas.read_all("VM-3").found
    assert found["keeper_vm_id"] is None


def test_the_option_of_a_replica_needs_a_vm_and_a_record():
    options = replica_argument()
    assert (options["type"], {key: about.get("required", False) for key, about in options["options"].items()}) == (
        "dict",
        {"vm": True, "vm_id": False, "keeper_vm_id": False, "record": True},
    )


@pytest.mark.parametrize("vm", ["web1", "WEB1", "../x", "\ud800", "x" * 5000])
def test_the_name_of_a_copy_is_one_that_is_listed(vm):
    name = replica_name(vm, EVENT)
    assert re.fullmatch(r"mirror-[0-9a-f]{16}-event-c7061bac-afdc-4513-b24b-aa5f13a16123\.json", name)
    assert name == replica_name(vm, EVENT.lower()) != replica_name(vm + "x", EVENT)


SMALL = {"event": {"event_id": EVENT}, "phase": "draining", "revision": 3}


@pytest.mark.parametrize("key", ["revision", "attempts"])
@pytest.mark.parametrize("value,found", [("7", 7), (7, 7), ("", 0), ("-7", 0), ("7.0", 0), (" 7", 0), (None, 0), ([], 0)])
def test_numbers_that_came_as_text_are_numbers(key, value, found):
    assert checked_record({**SMALL, key: value})[key] == found


def test_a_record_given_is_not_changed():
    given = {**SMALL, "age_seconds": 5, "attempts": "2", "event": {"event_id": EVENT, "resources": ["a"]}}
    before = copy.deepcopy(given)
    record = checked_record(given)
    assert given == before and "age_seconds" not in record and record["event"]["resources"] == ["a"]


@pytest.mark.parametrize("wrong", [{"rule": object()}, {"rule": {1, 2}}, {"phase": "?"}, {"methods": "x"}])
def test_a_record_given_that_cannot_be_stored_is_named(wrong):
    with pytest.raises(RecordsError, match=f"^the record given of event {EVENT} "):
        checked_record({**SMALL, **wrong})
    endless = {}
    endless["again"] = endless
    with pytest.raises(RecordsError, match=f"^the record given of event {EVENT} "):
        checked_record({**SMALL, "rule": endless})


OUTSIDE = [(True, True), ("True", True), ("true", True), (False, False), ("False", False), (None, False), ("", False), (1, False)]


@pytest.mark.parametrize("value,outside", OUTSIDE)
def test_what_is_outside_of_the_vm_is_copied(value, outside):
    record = {**empty_record(EVENT), "methods": [{**METHOD, "outside": value}, {**METHOD, "id": "2-x", "outside": True}]}
    assert [method["id"] for method in only_findings(record)["methods"]] == (["1-haproxy"] if outside else []) + ["2-x"]


@pytest.mark.parametrize("key", ["rule", "decision", "reason", "deadline", "verified_at", "approving_at", "approved_at", "started_at", "outcome"])
def test_no_key_but_findings_is_restored(key):
    hold = {"action": "hold", "who": "x", "at": "2026-11-21T20:05:00Z", "until": "2026-11-22T20:05:00Z"}
    value = {"rule": {"name": "x"}, "decision": hold, "reason": "x", "outcome": "unknown"}.get(key, "2026-11-21T20:05:00Z")
    assert checked_restore({**RESTORED, key: None})[key] is None
    with pytest.raises(RecordsError, match=f"has {key}; only findings"):
        checked_restore({**RESTORED, key: value})


@pytest.mark.parametrize("phase", ["noticed", "drained", "approved", "started", "gone", "recovering", "recovered", "failed", "held"])
def test_only_a_drain_that_is_under_way_is_restored(phase):
    with pytest.raises(RecordsError, match=f"is in phase {phase}, and must be in phase draining"):
        checked_restore({**RESTORED, "phase": phase})


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("wrong", [{"outside": False}, {"options": {"a": 1}}])
def test_one_method_that_may_not_be_restored_is_enough(place, wrong):
    methods = [{**METHOD, "id": f"{number}-haproxy"} for number in range(3)]
    assert [one["id"] for one in checked_restore({**RESTORED, "methods": methods})["methods"]] == ["0-haproxy", "1-haproxy", "2-haproxy"]
    with pytest.raises(RecordsError, match="has a method that is not outside, or has options"):
        checked_restore({**RESTORED, "methods": [dict(one, **(wrong if number == place else {})) for number, one in enumerate(methods)]})


def test_a_copy_of_a_recovered_vm_says_so_and_any_other_that_it_drains():
    history = [{"phase": "noticed", "at": "2026-11-21T20:00:00Z"}, {"phase": "draining", "at": "2026-11-21T20:01:00Z"}]
    for phase in ("noticed", "drained", "approved", "gone", "recovering", "recovered", "failed", "held"):
        found = only_findings({**empty_record(EVENT), "phase": phase, "history": history, "undone": True, "revision": 4, "vm_id": "VM-1"})
        assert (found["phase"], found["undone"], found["revision"], found["vm_id"]) == ("recovered" if phase == "recovered" else "draining", True, 4, "VM-1")
        assert found["history"] == [{"phase": "draining", "at": "2026-11-21T20:00:00Z"}]


@pytest.mark.parametrize("own,keeper,vm_id,used", [
    ("VM-2", "VM-2", "VM-1", True), ("vm-2", "VM-2", "VM-1", True), ("VM-2", None, "VM-1", True), (None, "VM-2", "VM-1", True), ("", "VM-2", None, True),
    ("VM-3", "VM-2", "VM-1", False), ("VM-1", "VM-2", "VM-1", False),
])  # fmt: skip
def test_a_copy_counts_on_the_vm_that_keeps_it(records, replicas, own, keeper, vm_id, used):
    replicas.write("web1", vm_id, drained(records), keeper_vm_id=keeper)
    reading = replicas.read_all(own)
    assert (len(reading.found), len(reading.problems)) == ((1, 0) if used else (0, 1))
    if used:
        assert (reading.found[0]["vm_id"], reading.found[0]["keeper_vm_id"]) == (vm_id, keeper)


def test_a_copy_that_changed_in_any_way_is_written_anew_and_no_other(records, replicas, host):
    record = drained(records)
    assert replicas.write("web1", "VM-1", record, keeper_vm_id="VM-2") == (None, only(record), True)
    host.pass_time(60)
    assert replicas.write("web1", "VM-1", record, keeper_vm_id="VM-2") == (only(record), only(record), False)
    assert replicas.write("web1", "VM-1", record, keeper_vm_id="VM-3") == (only(record), only(record), True)
    assert replicas.write("web1", "VM-1", record, keeper_vm_id="VM-3").changed is False
    assert replicas.write("web1", None, record, keeper_vm_id="VM-3").changed is True
    assert replicas.write("web1", "", record, keeper_vm_id="VM-3").changed is False
    assert replicas.write("web1", "", record, keeper_vm_id="").changed is True
    newer = drained(records, attempts=2)
    assert replicas.write("web1", None, newer) == (only(record), only(newer), True)


def test_of_two_copies_the_one_that_began_later_counts_then_the_higher_revision(replicas, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)

    def at(begin, revision):
        history = [] if begin is None else [{"phase": "draining", "at": f"2026-11-21T20:0{begin}:00Z"}]
        return {**empty_record(EVENT), "phase": "draining", "history": history, "revision": revision}

    order = [at(None, 0), at(None, 5), at(1, 1), at(1, 2), at(1, 10), at(2, 1)]
    for older, newer in itertools.combinations(order, 2):
        replicas.write("web1", "VM-1", newer)
        before = replicas.read_all().found[0]["record"]
        assert replicas.write("web1", "VM-1", older) == (before, before, False)
        replicas.files.unlink(NAME)
        replicas.write("web1", "VM-1", older)
        assert replicas.write("web1", "VM-1", newer).changed
        replicas.files.unlink(NAME)


def test_removing_what_is_not_there_is_no_change(records, replicas):
    over = records.write(EVENT, record_change(changes={"phase": "recovered", "undone": True})).after
    assert replicas.write("web1", "VM-1", over, check_mode=True) == (None, None, False)
    assert replicas.write("web1", "VM-1", over) == (None, None, False)
    record = {**over, "phase": "draining"}
    replicas.write("web1", "VM-1", record)
    before = replicas.read_all().found[0]["record"]
    assert replicas.write("web1", "VM-1", over, check_mode=True) == (before, None, True)
    assert replicas.write("web1", "VM-1", over) == (before, None, True)


@pytest.mark.parametrize("extra", [0, 1])
def test_a_copy_may_have_its_limit_and_no_byte_more(replicas, extra):
    record = {**empty_record(EVENT), "phase": "draining", "revision": 1, "methods": [{**METHOD, "state": "drained", "before": {"x": ""}}]}
    content = {"format": 2, "vm": "web1", "vm_id": None, "keeper_vm_id": None, "record": only_findings(complete(json.loads(json.dumps(record))))}
    record["methods"][0]["before"]["x"] = "y" * (REPLICA_BYTES - len(json.dumps(content)) + extra)
    if extra:
        with pytest.raises(RecordsError, match="is not kept"):
            replicas.write("web1", None, record)
    else:
        assert replicas.write("web1", None, record).changed


@pytest.mark.parametrize("wrong,words", [
    ({"format": 0}, "holds no replica that this version"), ({"format": 3}, "holds no replica that this version"), ({"format": None}, "holds no replica"),
    ({"format": "2"}, "holds no replica that this version"), ({"record": None}, "holds no replica"), ({"record": []}, "holds no replica"),
    ({"vm": None}, "names no VM or no event"), ({"vm": 5}, "names no VM or no event"), ({"vm": "web9"}, "belongs to another VM or event than its name says"),
    ({"record": {"event": None}}, "names no VM or no event"), ({"record": {"event": {}}}, "names no VM or no event"),
    ({"record": {"event": {"event_id": 5}}}, "names no VM or no event"), ({"record": {"event": {"event_id": "another"}}}, "belongs to another VM or event"),
    ({"record": {"event": {"event_id": EVENT}, "phase": "?"}}, "has the unknown phase"),
])  # fmt: skip
def test_one_thing_that_is_wrong_makes_a_copy_none(records, replicas, wrong, words):
    replicas.write("web1", "VM-1", drained(records))
    path = os.path.join(replicas.files.where, NAME)
    with open(path, encoding="utf-8") as stream:
        data = json.load(stream)
    with open(path, "w", encoding="utf-8") as stream:
        json.dump({**data, **wrong}, stream)
    reading = replicas.read_all()
    assert reading.found == [] and len(reading.problems) == 1
    assert f"The file {NAME} in {replicas.files.where} is not a usable replica of a record: it {words}" in reading.problems[0]


@pytest.mark.parametrize("vm_id,found", [("VM-1", "VM-1"), ("", None), (None, None), (5, None), (["VM-1"], None)])
def test_the_vm_id_of_a_copy_is_a_text_or_not_known(records, replicas, vm_id, found):
    replicas.write("web1", "VM-1", drained(records))
    path = os.path.join(replicas.files.where, NAME)
    with open(path, encoding="utf-8") as stream:
        data = json.load(stream)
    with open(path, "w", encoding="utf-8") as stream:
        json.dump({**data, "vm_id": vm_id}, stream)
    assert [one["vm_id"] for one in replicas.read_all().found] == [found]
