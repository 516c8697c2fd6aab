# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Leases: a run has a VM for itself until its time limit passes, and a run whose lease is gone does nothing more."""

from __future__ import annotations

import json
import os

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.files import LocalFiles
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_changes import RecordChange
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_schema import RecordsError
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_store import RecordStore
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease.lease_schema import (
    LeaseLost,
    lease_name,
    split_lease_name,
)
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease.lease_store import LeaseStore
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.operations.maintenance_record import (
    change_records,
    record_arguments,
)
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.helpers import (
    EVENT,
    START,
)

MINE, THEIRS = "run000mine", "run00other"


@pytest.fixture
def leases(tmp_path, host):
    return LeaseStore(LocalFiles(str(tmp_path / "records")), host)


def names(leases):
    try:
        return sorted(os.listdir(leases.files.where))
    except FileNotFoundError:
        return []


def options(**given):
    found = {key: spec.get("default") for key, spec in record_arguments().items()}
    return {**found, "event_id": EVENT, **given}


def change(leases, **given):
    return change_records(leases.files, leases.host, options(**given), False, lambda line: None)


def test_there_are_no_leases_without_a_directory(leases):
    assert leases.read_all() == ([], [], True)
    assert leases.withdraw(MINE) == []
    assert not leases.stands(MINE, EVENT)
    with pytest.raises(LeaseLost):
        leases.renew(MINE, EVENT, 10)
    assert names(leases) == []


def test_a_lease_says_whose_it_is_and_until_when(leases):
    leases.make(MINE, EVENT, 90.5, who="alice on deploy1", groups={"web": "abc"})
    (found,) = leases.read_all().leases
    assert (found["run"], found["event_id"], found["kind"], found["who"]) == (MINE, EVENT, "events", "alice on deploy1")
    assert found["groups"] == {"web": "abc"}
    assert found["made_at"] == "2026-11-21T20:00:00.000000Z"
    assert found["limit"] == "2026-11-21T20:01:30.500000Z"
    assert found["expired"] is False
    assert len(names(leases)) == 1


def test_the_event_counts_without_case(leases):
    leases.make(MINE, EVENT, 10)
    assert leases.stands(MINE, EVENT.lower())
    assert not leases.stands(MINE, EVENT + "0")
    assert not leases.stands(THEIRS, EVENT)


def test_leasing_again_renews(leases, host):
    first = leases.make(MINE, EVENT, 10)
    host.pass_time(5)
    second = leases.make(MINE, EVENT, 10)
    assert split_lease_name(second).limit - split_lease_name(first).limit == 5000
    assert names(leases) == [second]
    assert leases.make(MINE, EVENT, 10) == second


def test_each_run_and_each_event_has_its_own(leases):
    leases.make(MINE, EVENT, 10)
    leases.make(MINE, "another", 10)
    leases.make(THEIRS, EVENT, 10)
    assert len(leases.read_all().leases) == 3
    leases.withdraw(MINE, "another")
    assert [lease["run"] for lease in leases.read_all().leases] == [MINE, THEIRS]
    leases.withdraw(MINE)
    assert [lease["run"] for lease in leases.read_all().leases] == [THEIRS]


def test_only_what_has_expired_can_be_removed(leases, host):
    name = leases.make(THEIRS, EVENT, 10)
    assert not leases.remove_expired(name)
    host.pass_time(9.9)
    assert not leases.remove_expired(name)
    host.pass_time(0.2)
    assert leases.read_all().leases[0]["expired"] is True
    assert leases.remove_expired(name)
    assert not leases.remove_expired(name)
    with pytest.raises(LeaseLost, match="run00other"):
        leases.renew(THEIRS, EVENT, 10)


def test_what_was_renewed_in_time_is_not_removed(leases, host):
    name = leases.make(THEIRS, EVENT, 10)
    host.pass_time(11)
    # Late, but no other run has removed it yet.
    leases.renew(THEIRS, EVENT, 10)
    assert not leases.remove_expired(name)
    assert leases.stands(THEIRS, EVENT)


def test_a_clock_that_was_put_back_blocks_no_run_for_days(leases, host):
    host.pass_time(7 * 86400)
    name = leases.make(THEIRS, EVENT, 10)
    host.pass_time(-7 * 86400)
    assert leases.read_all().leases[0]["expired"] is True
    assert leases.remove_expired(name)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b'{"groups": 3, "who": {}}', b"[" * 100000])
def test_an_unreadable_lease_is_a_lease_all_the_same(leases, content):
    leases.files.make()
    name = lease_name(THEIRS, EVENT, int((START + 10) * 1000))
    leases.files.write_exclusive(name, content)
    (found,) = leases.read_all().leases
    assert (found["run"], found["expired"], found["groups"]) == (THEIRS, False, {})


def test_a_limit_beyond_any_calendar_is_no_traceback(leases):
    leases.files.make()
    leases.files.write_exclusive(lease_name(THEIRS, EVENT, 999999999999999), b"{}")
    assert leases.read_all().leases[0]["expired"] is True


@pytest.mark.parametrize("run", ["", "abc", "../abcd", "ABCD", "a" * 33, None, 5, "ab cd"])
def test_a_run_without_a_proper_id_is_refused(leases, run):
    with pytest.raises(RecordsError, match="lease.run"):
        leases.make(run, EVENT, 10)
    assert names(leases) == []


@pytest.mark.parametrize("seconds", [0, -1, "soon", None, True, 1e9, float("nan")])
def test_a_time_limit_that_is_none_is_refused(leases, seconds):
    with pytest.raises(RecordsError, match="lease.seconds"):
        leases.make(MINE, EVENT, seconds)


def test_leases_are_no_records_and_records_no_leases(leases, host):
    leases.make(MINE, EVENT, 10)
    records = RecordStore(leases.files, host)
    assert records.read_all() == ([], [], True, True)
    change(leases, changes={"phase": "noticed"})
    assert len(leases.read_all().leases) == 1
    assert len(records.read_all().records) == 1
    records.prune(0)
    assert leases.stands(MINE, EVENT)


def test_a_write_under_a_lease_renews_it(leases, host):
    change(leases, state="leased", lease={"run": MINE, "seconds": 10})
    host.pass_time(8)
    change(leases, changes={"phase": "noticed"}, lease={"run": MINE, "seconds": 10})
    host.pass_time(8)
    assert leases.read_all().leases[0]["expired"] is False


def test_without_its_lease_a_run_writes_nothing(leases, host):
    change(leases, state="leased", lease={"run": THEIRS, "seconds": 10})
    with pytest.raises(LeaseLost) as caught:
        change(leases, changes={"phase": "draining"}, lease={"run": MINE, "seconds": 10})
    assert caught.value.kind == "lease_lost"
    assert RecordStore(leases.files, host).read(EVENT) is None


class RemovedInBetween(LocalFiles):
    """Files of a VM on which another run removes a lease right after a record was linked to its name."""

    def link(self, old, new):
        super().link(old, new)
        for name in self.names():
            if name.startswith("claim-") and new.startswith("event-"):
                self.unlink(name)


def test_a_lease_removed_while_the_record_was_written_stops_the_run(leases, host):
    change(leases, state="leased", lease={"run": MINE, "seconds": 10})
    files = RemovedInBetween(leases.files.where)
    with pytest.raises(LeaseLost):
        change_records(files, host, options(changes={"phase": "draining"}, lease={"run": MINE, "seconds": 10}), False, lambda line: None)
    # The record stays: the next run adopts it.
    assert RecordStore(leases.files, host).read(EVENT)["phase"] == "draining"


class TakenOver(LocalFiles):
    """Files of a VM on which a run sleeps right after it has renewed its lease, and wakes when another has taken over and written."""

    host = None

    def rename(self, old, new):
        super().rename(old, new)
        if new.startswith("claim-") and self.host is not None:
            host, self.host = self.host, None
            host.pass_time(100)
            self.unlink(new)
            RecordStore(LocalFiles(self.where), host).write(EVENT, RecordChange(changes={"phase": "drained", "reason": "the successor's"}))


def test_who_sleeps_after_renewing_does_not_build_on_what_the_successor_has_written(leases, host):
    change(leases, state="leased", lease={"run": MINE, "seconds": 10})
    RecordStore(leases.files, host).write(EVENT, RecordChange(changes={"phase": "draining"}))
    files = TakenOver(leases.files.where)
    files.host = host
    with pytest.raises(LeaseLost):
        change_records(files, host, options(changes={"phase": "recovered"}, lease={"run": MINE, "seconds": 10}), False, lambda line: None)
    record = RecordStore(leases.files, host).read(EVENT)
    assert (record["phase"], record["reason"]) == ("drained", "the successor's")


def test_the_module_removes_what_has_expired_and_leases(leases, host):
    dead = leases.make(THEIRS, "another", 10)
    alive = leases.make("run00third", "another", 1000)
    host.pass_time(11)
    found = change(leases, state="leased", lease={"run": MINE, "seconds": 10, "who": "bob"}, expired=[dead, alive])
    assert found["changed"] is True
    assert len(found["leases"]) == 1
    assert [lease["run"] for lease in leases.read_all().leases] == [MINE, "run00third"]
    assert change(leases, state="released", event_id=None, lease={"run": MINE})["changed"] is True
    assert change(leases, state="released", event_id=None, lease={"run": MINE})["changed"] is False


def test_the_module_removes_what_has_expired_and_keeps_its_own(leases, host):
    dead = leases.make(THEIRS, "another", 10)
    host.pass_time(11)
    own = leases.make(MINE, EVENT, 10)
    change(leases, state="released", event_id="", lease={"run": MINE}, expired=[dead])
    assert names(leases) == [own]


def test_a_name_that_is_no_lease_is_never_removed(leases):
    change(leases, changes={"phase": "noticed"})
    before = names(leases)
    for name in [*before, "../../etc/passwd", "asked"]:
        with pytest.raises(RecordsError, match="not the name of a lease"):
            leases.remove_expired(name)
    assert names(leases) == before


def test_check_mode_leases_nothing(leases, host):
    found = change_records(leases.files, host, options(state="leased", lease={"run": MINE}), True, lambda line: None)
    assert found["changed"] and len(found["leases"]) == 1, "what would be there"
    assert names(leases) == []


def test_the_content_is_plain_json(leases):
    name = leases.make(MINE, EVENT, 10, who="böb")
    assert json.loads(leases.files.read(name))["who"] == "böb"
