# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The history of a VM: nothing that ended is lost, whatever fails, and nothing grows without a limit. Failures first."""

from __future__ import annotations

import json
import os
import pathlib
import stat
import threading

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core import limits as on_the_vm
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.access import Failed, HostAccess
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.files import LocalFiles
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.system import utc_text
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.history import History, checked, entry_of, history_of
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.history_limits import Limits
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_schema import RecordsError, Unreadable, empty_record
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_store import RecordStore
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.operations.maintenance_history import history_arguments, history_of_vm
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.operations.maintenance_record import change_records, record_arguments
from ansible_collections.maintenance.azure.plugins.plugin_utils._answers import limits as on_the_controller
from ansible_collections.maintenance.azure.plugins.plugin_utils._answers.answer import read_output
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.helpers import EVENT, START

NAME = "event-" + EVENT.lower() + ".json"
DAY = 86400
KILLED = 77

# Threads of other tests' servers, blocked in accept(), hold no lock that a child could wait for.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")


def change(files, host, check_mode=False, **options):
    given = {key: about.get("default") for key, about in record_arguments().items()}
    return change_records(files, host, {**given, **options}, check_mode, lambda line: None)


def recovered(files, host, event_id=EVENT, **more):
    change(files, host, event_id=event_id, changes={"phase": "held", "reason": "no drain method"}, vm_id="VM-1", vm_name="web1")
    change(files, host, event_id=event_id, event={"event_id": event_id, "event_type": "Reboot", "resources": ["web1"]}, changes={"phase": "recovered", **more})


def history(files, host, **limits):
    return history_of(files, host, limits)


def ids(files, host):
    return [entry["event"]["event_id"] for entry in history(files, host).read_all().found]


def hour(number):
    return utc_text(START - 10 * DAY + number * 3600)


def entry(number, ended_at=None):
    record = empty_record(f"E-{number}")
    return {**entry_of({**record, "history": [{"phase": "noticed", "at": ended_at or hour(number)}]})}


# --- What fails ----------------------------------------------------------------------------------------------------------


def test_without_a_place_for_its_entry_a_record_stays_and_the_others_are_told_why(files, host):
    recovered(files, host)
    host.pass_time(DAY + 1)
    in_the_way = pathlib.Path(files.where, "history")
    in_the_way.write_text("")
    for state in ("pruned", "absent"):
        with pytest.raises(RecordsError) as raised:
            change(files, host, state=state, event_id=EVENT)
        assert "cannot write" in raised.value.message and "history" in raised.value.message
    assert [name for name in os.listdir(files.where) if name.startswith("event-")] != []
    in_the_way.unlink()
    assert change(files, host, state="pruned")["pruned"] == [EVENT] and ids(files, host) == [EVENT]


@pytest.mark.parametrize("full_after", range(3))
def test_on_a_full_disk_a_record_or_its_entry_is_there_at_any_time(files, host, monkeypatch, full_after):
    recovered(files, host, event_id="E-1")
    recovered(files, host, event_id="E-2")
    host.pass_time(DAY + 1)
    writes = []

    def write(self, name, content, real=LocalFiles.write_exclusive):
        writes.append(name)
        if len(writes) > full_after:
            raise OSError(28, "No space left on device")
        real(self, name, content)

    monkeypatch.setattr(LocalFiles, "write_exclusive", write)
    if full_after < 2:
        with pytest.raises(RecordsError, match="No space left"):
            change(files, host, state="pruned")
    else:
        change(files, host, state="pruned")
    left = [record["event"]["event_id"] for record in RecordStore(files, host).read_all().records]
    assert sorted(left + ids(files, host)) == ["E-1", "E-2"]


def test_killed_at_any_point_a_record_or_its_entry_is_left_and_both_are_one_event(tmp_path, host):
    """Each operation on a file has a cut point before and after it, in both folders."""
    cut = 0
    while True:
        files = LocalFiles(str(tmp_path / str(cut)))
        recovered(files, host)
        host.pass_time(DAY + 1)
        ended = not killed(files, host, cut)
        left = [record["event"]["event_id"] for record in RecordStore(files, host).read_all().records]
        assert set(left + ids(files, host)) == {EVENT}
        assert change(files, host, state="pruned")["pruned"] == left and ids(files, host) == [EVENT]
        assert RecordStore(files, host).read_all().problems == history(files, host).read_all().problems == []
        if ended:
            break
        cut += 1
    assert cut >= 12


def killed(files, host, cut):
    """Prune in a child that dies at the cut point; return whether it died."""
    child = os.fork()
    if child == 0:
        left = [cut]

        def dying(operation):
            def run(*given):
                for when in ("before", "after"):
                    if left[0] == 0:
                        os._exit(KILLED)
                    left[0] -= 1
                    if when == "before":
                        result = operation(*given)
                return result

            return run

        for name in ("make", "write_exclusive", "rename", "link", "unlink", "sync"):
            setattr(LocalFiles, name, dying(getattr(LocalFiles, name)))
        change(files, host, state="pruned")
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == KILLED


def test_two_runs_at_once_write_one_entry(files, host):
    for number in range(20):
        recovered(files, host, event_id=f"E-{number}")
    host.pass_time(DAY + 1)
    failed = []

    def run():
        try:
            change(LocalFiles(files.where), host, state="pruned")
        except RecordsError as error:
            failed.append(error.message)

    runs = [threading.Thread(target=run) for _number in range(4)]
    for one in runs:
        one.start()
    for one in runs:
        one.join()
    assert failed == [] and sorted(ids(files, host)) == sorted(f"E-{number}" for number in range(20))
    assert RecordStore(files, host).read_all().records == []


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"\xff\xfe",
        b'{"format": 9}',
        b"[" * 5000,
        b'{"format": 1, "event": {"event_id": 7}, "phase": "held", "history": [], "methods": []}',
        b'{"format": 1, "event": {"event_id": "OTHER"}, "phase": "held", "history": [], "methods": []}',
        b'{"format": 1, "event": {"event_id": "E-9"}, "phase": "no such", "history": [], "methods": []}',
        b'{"format": 1, "event": {"event_id": "E-9"}, "phase": "held", "history": [{"phase": "x", "at": 1}], "methods": []}',
        b'{"format": 1, "event": {"event_id": "E-9"}, "phase": "held", "history": [], "methods": [1]}',
        b" " * (1024 * 1024 + 1),
    ],
)
def test_a_damaged_entry_is_told_hides_no_other_and_is_the_first_to_go(files, host, content):
    recovered(files, host)
    change(files, host, state="absent", event_id=EVENT)
    damaged = history(files, host).files
    damaged.write_exclusive("event-e-9.json", content)
    reading = history(files, host).read_all()
    assert [one["event"]["event_id"] for one in reading.found] == [EVENT]
    assert len(reading.problems) == 1 and "event-e-9.json" in reading.problems[0] and "Remove it" in reading.problems[0]
    history(files, host, entries=1).prune()
    assert damaged.names() == [NAME]


def test_a_damaged_entry_is_replaced_by_the_record_of_its_event(files, host):
    history(files, host).files.make()
    history(files, host).files.write_exclusive(NAME, b"half")
    recovered(files, host)
    host.pass_time(DAY + 1)
    change(files, host, state="pruned")
    assert ids(files, host) == [EVENT]


def test_a_folder_of_others_is_not_trusted(files, host):
    files.make()
    os.mkdir(os.path.join(files.where, "history"))
    os.chmod(os.path.join(files.where, "history"), 0o777)
    with pytest.raises(OSError, match="may be written by any user"):
        history(files, host).read_all()
    recovered(files, host)
    with pytest.raises(RecordsError, match="may be written by any user"):
        change(files, host, state="absent", event_id=EVENT)


def test_wrong_limits_are_refused(files, host):
    recovered(files, host)
    with pytest.raises(RecordsError, match="0 or more"):
        change(files, host, state="absent", event_id=EVENT, history={"days": -1})


# --- What is kept --------------------------------------------------------------------------------------------------------


def test_a_pruned_record_becomes_an_entry_without_what_an_undo_needs(files, host):
    method = {"id": "1-service", "method": "service", "before": {"secret": "s3cret"}, "options": {"password": "s3cret"}, "state": "undone", "outside": False}
    change(files, host, event_id=EVENT, method=method)
    recovered(files, host, outcome="completed")
    host.pass_time(DAY + 1)
    assert change(files, host, check_mode=True, state="pruned")["pruned"] == [EVENT] and ids(files, host) == []
    change(files, host, state="pruned")
    (path,) = (os.path.join(files.where, "history", name) for name in os.listdir(os.path.join(files.where, "history")))
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600 and stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode) == 0o700
    text = pathlib.Path(path).read_text()
    assert "s3cret" not in text and len(text) < 3000
    found = json.loads(text)
    assert (found["event"]["event_type"], found["outcome"], found["vm_name"], found["methods"][0]["id"]) == ("Reboot", "completed", "web1", "1-service")
    assert {"phase": "held", "why": "no drain method"}.items() <= found["history"][-2].items()


def test_a_record_of_2x_goes_in_too(files, host):
    """It has neither times of its methods nor reasons in its history."""
    record = empty_record(EVENT)
    record.update(
        revision=1, phase="recovered", history=[{"phase": "recovered", "at": host.now()}], methods=[{"id": "1-service", "method": "service", "state": "undone"}]
    )
    files.make()
    files.write_exclusive("event-" + EVENT.lower() + ".1.json", json.dumps(record).encode())
    host.pass_time(DAY + 1)
    assert change(files, host, state="pruned")["pruned"] == [EVENT] and ids(files, host) == [EVENT]


def test_it_is_bounded_in_number_bytes_and_age(files, host):
    store = history(files, host)
    for number in range(10):
        store.add(entry(number, utc_text(host.seconds - (10 - number) * DAY)))
    size = max(os.stat(os.path.join(store.files.where, name)).st_size for name in store.files.names())
    for limits, kept in (({"days": 8}, 8), ({"bytes": size * 6}, 6), ({"entries": 4}, 4), ({}, 4)):
        history(files, host, **limits).prune()
        assert ids(files, host) == [f"E-{number}" for number in range(10 - kept, 10)], limits
    history(files, host, entries=0).prune()
    assert ids(files, host) == []


def test_without_entries_none_is_written(files, host):
    recovered(files, host)
    change(files, host, state="absent", event_id=EVENT, history={"entries": 0})
    assert not os.path.exists(os.path.join(files.where, "history"))


def test_an_entry_is_bounded_whatever_the_record_holds():
    record = empty_record(EVENT)
    record["event"].update(resources=[f"web{number}" * 30 for number in range(1000)], description="x" * 100000)
    record.update(reason="y" * 100000, history=[{"phase": "held", "at": utc_text(number), "why": "z" * 5000} for number in range(200)])
    record["methods"] = [
        {**dict.fromkeys(("id", "method", "error"), "m" * 5000), "state": "undone", "times": {"begun": "t" * 5000, "other": 1}} for _one in range(200)
    ]
    found = entry_of(record)
    assert len(json.dumps(found)) < 200_000
    assert (len(found["event"]["resources"]), found["resources_count"], len(found["history"]), len(found["methods"])) == (50, 1000, 60, 100)
    assert checked(json.loads(json.dumps(found))) == found, "what is read equals what was written"


def test_what_is_no_entry_is_refused():
    for data in (None, [], {}, {**entry(1), "format": 2}, {**entry(1), "history": {}}):
        with pytest.raises(Unreadable):
            checked(data)


def test_an_equal_entry_is_not_written_again(files, host):
    store = History(files, host, Limits())
    assert [store.add(checked(entry(1))), store.add(checked(entry(1)))] == [True, False]


# --- The module ----------------------------------------------------------------------------------------------------------


def run(files, host, check_mode=False, **options):
    access = HostAccess(check_mode, pytest.fail, files=LocalFiles, host=lambda boot_id: host)
    given = {key: about.get("default") for key, about in history_arguments().items()}
    return history_of_vm({**given, "records_path": files.where, **options}, access)


@pytest.mark.parametrize("name", ["records", "history"])
def test_a_vm_whose_folder_cannot_be_read_is_not_taken_for_one_without_events(files, host, name):
    files.make()
    if name == "history":
        pathlib.Path(files.where, name).touch()
    else:
        os.chmod(files.where, 0o777)
    with pytest.raises(Failed, match=f"The {name} in .* cannot be (used|read): .*(Not a directory|may be written by any user)"):
        run(files, host)


def test_an_archive_that_is_a_file_is_not_taken_for_an_empty_one(files, host):
    pathlib.Path(files.where).touch()
    with pytest.raises(Failed, match=r"The archive in .* cannot be used: .*Not a directory"):
        run(files, host, state="kept", share="web1", entries=[])


def test_a_vm_tells_its_records_and_its_history_and_both_of_one_event_once(files, host):
    recovered(files, host, event_id="E-1")
    recovered(files, host, event_id="E-2")
    store = history(files, host)
    store.add(checked(entry(1)))
    store.add(checked(entry(3)))
    found = run(files, host)
    assert sorted(one["event"]["event_id"] for one in found["entries"]) == ["E-1", "E-2", "E-3"]
    assert {one["event"]["event_id"]: one["phase"] for one in found["entries"]}["E-1"] == "recovered", "the record is the newer one"
    assert (found["changed"], found["problems"], found["now"]) == (False, [], host.now())


def test_a_vm_without_any_folder_has_no_history(files, host):
    assert run(files, host)["entries"] == []


def test_only_what_took_place_in_a_time_is_told(files, host):
    for number in (1, 2, 3):
        history(files, host).add(checked(entry(number)))
    found = run(files, host, since=hour(2), until=hour(3))
    assert [one["event"]["event_id"] for one in found["entries"]] == ["E-2"]


def test_an_archive_keeps_what_a_vm_has_lost_and_takes_no_earlier_state(files, host):
    late, early = {**entry(1, hour(9)), "outcome": "completed"}, entry(1, hour(5))
    assert run(files, host, check_mode=True, state="kept", share="web1", entries=[late])["changed"] and not os.path.exists(files.where)
    assert [run(files, host, state="kept", share="web1", entries=given)["changed"] for given in ([late, entry(2)], [early], [])] == [True, False, False]
    found = run(files, host, state="kept", share="web1")
    assert {one["event"]["event_id"]: one["outcome"] for one in found["entries"]} == {"E-1": "completed", "E-2": None}
    assert sorted(os.listdir(files.where)) == ["web1"] and stat.S_IMODE(os.stat(os.path.join(files.where, "web1")).st_mode) == 0o700


def test_a_vm_fills_its_own_share_only_and_within_its_limits(files, host):
    run(files, host, state="kept", share="web2", entries=[entry(1)])
    days = [{**entry(number, utc_text(host.seconds - number * DAY))} for number in range(30)]
    run(files, host, state="kept", share="web1", entries=days, limits={"entries": 9, "bytes": 10**6, "days": 5})
    assert len(run(files, host, state="kept", share="web1", limits={"entries": 9, "bytes": 10**6, "days": 5})["entries"]) == 6
    assert len(os.listdir(os.path.join(files.where, "web2"))) == 1


def names_of(files, host, **options):
    return [one["event"]["event_id"] for one in run(files, host, state="kept", share="web1", **options)["entries"]]


@pytest.mark.parametrize("at", ["9999-12-31T23:59:59Z", "2099-01-01T00:00:00.000000Z", "zzzz", ""])
def test_no_entry_of_a_time_to_come_or_of_none_stays_longer_than_true_ones(files, host, at):
    limits = {"entries": 5, "bytes": 10**6, "days": 5}
    lies = [{**entry(f"lie-{number}", at or "x"), "history": [{"phase": "noticed", "at": at}]} for number in range(9)]
    true = [entry(number, utc_text(host.seconds - number * 3600)) for number in range(3)]
    assert len(names_of(files, host, entries=lies, limits=limits)) == 5
    assert set(names_of(files, host, entries=true, limits=limits)) > {"E-0", "E-1", "E-2"}, "true ones come in"
    # One of an event that is true by now gives way to it, and the others go by the age of their files.
    assert "E-lie-8" in names_of(files, host, entries=[entry("lie-8", utc_text(host.seconds))], limits=limits)
    for path in pathlib.Path(files.where, "web1").iterdir():
        os.utime(path, (1, 1))
    assert set(names_of(files, host, limits=limits)) == {"E-0", "E-1", "E-2", "E-lie-8"}


def test_of_tens_of_thousands_of_entries_the_last_ones_are_looked_at(files, host, monkeypatch):
    monkeypatch.setattr("ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.operations.maintenance_history.HISTORY_ENTRIES", 10)
    assert names_of(files, host, entries=[entry(number) for number in range(30)]) == [f"E-{number}" for number in range(20, 30)]


def test_a_vm_that_answers_too_much_at_once_locks_no_share(files, host, monkeypatch):
    monkeypatch.setattr("ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.files.FOLDER_FILES", 30)
    limits = {"entries": 20, "bytes": 10**6, "days": 400}
    for begin in (0, 100):
        names_of(files, host, entries=[entry(number) for number in range(begin, begin + 50)], limits=limits)
    assert sorted(names_of(files, host, entries=[entry(150)], limits=limits)) == sorted(f"E-{number}" for number in range(131, 151))


def test_what_is_too_large_to_be_read_again_fills_no_share(files, host, monkeypatch):
    limits = {"entries": 50, "bytes": 20_000, "days": 400}
    large = [{**entry(number), "methods": [{"id": f"{one}" * 300} for one in range(9)]} for number in range(40)]
    monkeypatch.setattr("ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.files.FOLDER_BYTES", 30_000)
    for _again in range(2):
        names_of(files, host, entries=large, limits=limits)
        assert sum(path.stat().st_size for path in pathlib.Path(files.where, "web1").iterdir()) <= 20_000
    assert "E-41" in names_of(files, host, entries=[entry(41)], limits=limits)


def accepted(found):
    """Return whether the controller takes an answer of the module."""
    answer = read_output("maintenance_history", "web1", json.dumps({"changed": False, **found}))
    return answer is not None and not json.loads(answer).get("failed")


JUNK = (None, True, 10**30, "\ud800", ["x"], {"x": [1]})


def test_what_an_archive_takes_it_gives_back_in_an_answer_that_is_accepted(files, host):
    given = []
    for number, junk in enumerate(JUNK):
        whole = entry(1)
        method = {"id": "1-x", "method": "x", "state": "undone", "times": {"begun": "x"}, "outside": True, "at": "x", "error": "x"}
        for key in (*whole, "missing"):
            given.append({**whole, key: junk, "methods": [method]} if key != "methods" else {**whole, key: junk})
        given += [{**whole, "event": {**whole["event"], key: junk}} for key in whole["event"] if key != "event_id"]
        given += [{**whole, "methods": [{**method, key: junk}]} for key in method]
        given += [{**whole, "history": [{"phase": "noticed", "at": hour(1), key: junk}]} for key in ("why", "not_before", "other")]
    given = [{**one, "event": {**one["event"], "event_id": f"E-{number}"}} for number, one in enumerate(given) if isinstance(one["event"], dict)]
    found = run(files, host, state="kept", share="web1", entries=given, limits={"entries": 4000, "bytes": 10**7, "days": 400})
    assert len(found["entries"]) > 100 and accepted({**found, "problems": []})
    assert accepted(run(files, host, state="kept", share="web1"))


def test_a_share_full_of_what_no_answer_may_have_is_read_again(files, host, monkeypatch):
    module = "ansible_collections.maintenance.azure.plugins.plugin_utils._answers.limits."
    monkeypatch.setattr(f"{module}VALUES", 20_000)
    monkeypatch.setattr("ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.operations.maintenance_history.HISTORY_VALUES", 19_000)
    commas = [entry(number) for number in range(200)]
    for one in commas:
        one["event"]["description"] = "," * 300
    run(files, host, state="kept", share="web1", entries=commas, limits={"entries": 300, "bytes": 10**7, "days": 400})
    found = run(files, host, state="kept", share="web1", limits={"entries": 300, "bytes": 10**7, "days": 400})
    assert accepted(found) and 10 < len(found["entries"]) < 200 and "older entries are left out" in found["problems"][0]
    assert found["entries"][-1]["event"]["event_id"] == "E-199"


def test_what_a_vm_answers_is_below_what_is_accepted():
    assert on_the_vm.HISTORY_BYTES < 0.8 * on_the_controller.BYTES and on_the_vm.HISTORY_VALUES < 0.9 * on_the_controller.VALUES


@pytest.mark.parametrize("wrong", [{"entries": 5001}, {"bytes": 10**8}, {"days": -1}])
def test_limits_beyond_what_is_read_are_refused(files, host, wrong):
    with pytest.raises(Failed, match="4000 entries and 12582912 bytes at most"):
        run(files, host, state="kept", share="web1", entries=[entry(1)], limits={"entries": 9, "bytes": 10**6, "days": 5, **wrong})


@pytest.mark.parametrize("share", ["", ".", "..", "a/b", "../x", "Web1", "a" * 101, "x\n"])
def test_a_share_has_a_plain_name(files, host, share):
    with pytest.raises(Failed, match="share must be"):
        run(files, host, state="kept", share=share, entries=[entry(1)])


def test_what_is_no_entry_is_not_kept_and_told(files, host):
    found = run(files, host, state="kept", share="web1", entries=[{"format": 9}, entry(1)])
    assert len(found["entries"]) == 1 and "it is not kept" in found["problems"][0]


def test_an_archive_that_cannot_be_written_says_so(files, host, monkeypatch):
    def write(*_given):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(LocalFiles, "write_exclusive", write)
    with pytest.raises(Failed, match="No space left"):
        run(files, host, state="kept", share="web1", entries=[entry(1)])
