# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Marks of upgrades: begun, done, written under the lease, and of this VM only."""

from __future__ import annotations

import json
import os

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_schema import RecordsError
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease.lease_operations import change_leases
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease.lease_schema import UPGRADE, LeaseLost
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease.lease_store import LeaseStore
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease.progress_marks import ProgressMarks, progress_mark_name
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.operations.maintenance_record import change_records, record_arguments

RUN, NAME = "run000mine", "Kernel November"


def mark(files, host, state, *, check_mode=False, leased=True, name=NAME, digest=None, **more):
    if leased:
        LeaseStore(files, host).make(RUN, UPGRADE + name, 600, "upgrade")
    options = {key: spec.get("default") for key, spec in record_arguments().items()}
    options.update(state="marked", upgrade={"name": name, "state": state, "digest": digest}, lease={"run": RUN, "who": "alice", "seconds": 600}, **more)
    return change_records(files, host, options, check_mode, lambda line: None)


def test_begun_and_done_and_forgotten(files, host):
    begun = mark(files, host, "begun")
    assert begun["changed"]
    assert ProgressMarks(files, host).read_all() == (
        [{"name": NAME, "state": "begun", "at": host.now(), "begun_at": host.now(), "run": RUN, "who": "alice", "digest": None}],
        [],
    )
    assert mark(files, host, "begun")["changed"] is False
    done = mark(files, host, "done")
    assert (done["changed"], done["upgrade"]["state"], done["diff"]["before"]["upgrade"]["state"]) == (True, "done", "begun")
    assert done["upgrade"]["begun_at"] == begun["upgrade"]["at"]
    assert mark(files, host, "absent")["changed"]
    assert ProgressMarks(files, host).read_all() == ([], [])
    assert mark(files, host, "absent")["changed"] is False


def test_without_its_lease_nothing_is_written(files, host):
    with pytest.raises(LeaseLost):
        mark(files, host, "begun", leased=False)
    assert ProgressMarks(files, host).read_all().found == []
    mark(files, host, "begun")
    LeaseStore(files, host).withdraw(RUN)
    with pytest.raises(LeaseLost):
        mark(files, host, "begun", leased=False)


def test_the_digest_of_the_tasks_stays_with_a_vm_that_is_done_and_no_longer(files, host):
    mark(files, host, "begun")
    assert mark(files, host, "upgraded", digest="a" * 64)["upgrade"]["digest"] == "a" * 64
    assert mark(files, host, "done")["upgrade"]["digest"] == "a" * 64
    assert ProgressMarks(files, host).read_all().found[0]["digest"] == "a" * 64
    # Begun again, it may be with other tasks.
    assert mark(files, host, "begun")["upgrade"]["digest"] is None
    assert mark(files, host, "done")["upgrade"]["digest"] is None


@pytest.mark.parametrize("digest", ["a", "A" * 64, "a" * 65, "../" * 20])
def test_what_is_no_digest_is_refused(files, host, digest):
    with pytest.raises(RecordsError, match="64 hexadecimal digits"):
        mark(files, host, "upgraded", digest=digest)
    assert ProgressMarks(files, host).read_all().found == []


def test_a_mark_of_an_earlier_version_has_no_digest_and_is_read(files, host):
    mark(files, host, "done", digest="a" * 64)
    path = os.path.join(files.where, progress_mark_name(NAME))
    with open(path) as stream:
        content = json.load(stream)
    del content["digest"]
    with open(path, "w") as stream:
        json.dump(content, stream)
    (found,) = ProgressMarks(files, host).read_all().found
    assert (found["state"], found["digest"]) == ("done", None)


def test_check_mode_says_it_and_writes_nothing(files, host):
    assert mark(files, host, "begun", check_mode=True, leased=False)["changed"]
    assert not os.path.exists(files.where)


def test_names_that_differ_in_case_are_two(files, host):
    mark(files, host, "begun")
    mark(files, host, "done", name=NAME.upper())
    assert [(one["name"], one["state"]) for one in ProgressMarks(files, host).read_all().found] == [(NAME.upper(), "done"), (NAME, "begun")]


def test_a_mark_that_came_with_an_image_says_nothing_here(files, host):
    mark(files, host, "done", vm_id="VM-1")
    assert [one["state"] for one in ProgressMarks(files, host, "vm-1").read_all().found] == ["done"]
    reading = ProgressMarks(files, host, "vm-2").read_all()
    assert reading.found == []
    assert "belongs to VM vm-1" in reading.problems[0]
    assert mark(files, host, "begun", vm_id="VM-2")["changed"]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}", json.dumps({"format": 1, "name": "other", "state": "done"}).encode()])
def test_what_cannot_be_read_is_said_and_never_done(files, host, content):
    files.make()
    files.write_exclusive(progress_mark_name(NAME), content)
    reading = ProgressMarks(files, host).read_all()
    assert reading.found == []
    assert progress_mark_name(NAME) in reading.problems[0]
    assert mark(files, host, "begun")["upgrade"]["state"] == "begun"


@pytest.mark.parametrize("name", ["", " ", " x", "a\nb", "x" * 101])
def test_invalid_names_are_refused(files, host, name):
    with pytest.raises(RecordsError, match=r"upgrade\.name"):
        mark(files, host, "begun", name=name, leased=False)


def test_a_lease_that_is_removed_during_its_renewal_is_lost(files, host, monkeypatch):
    """A run that renews continues only if its lease was never lost: another run, which removed it, may hold a lease as well."""
    leases, event_id = LeaseStore(files, host), UPGRADE + NAME
    options = {"event_id": event_id, "lease": {"run": RUN, "seconds": 600}}
    first = change_leases(leases, {**options, "state": "leased"}, False)
    assert first["diff"]["before"]["leases"] == []
    host.pass_time(1)
    renewed = change_leases(leases, {**options, "state": "renewed"}, False)
    assert renewed["diff"]["before"]["leases"] == first["leases"]
    real = LeaseStore.renew

    def renew(self, *given):
        # Another run removes the lease after the listing and before the renewal.
        self.withdraw(RUN, event_id)
        return real(self, *given)

    monkeypatch.setattr(LeaseStore, "renew", renew)
    with pytest.raises(LeaseLost):
        change_leases(leases, {**options, "state": "renewed"}, False)
    assert leases.own(RUN) == []


def test_a_mark_may_acquire_its_lease(files, host):
    options = {key: spec.get("default") for key, spec in record_arguments().items()}
    options.update(state="marked", upgrade={"name": NAME, "state": "begun"}, lease={"run": RUN})
    with pytest.raises(LeaseLost):
        change_records(files, host, options, False, lambda line: None)
    options["lease"]["acquire"] = True
    assert change_records(files, host, options, True, lambda line: None)["changed"] and LeaseStore(files, host).own(RUN) == [], "check mode acquires none"
    assert change_records(files, host, options, False, lambda line: None)["upgrade"]["state"] == "begun"
    assert len(LeaseStore(files, host).own(RUN)) == 1
