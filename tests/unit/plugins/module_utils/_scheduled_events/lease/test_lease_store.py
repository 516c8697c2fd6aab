# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Claims: a run has a VM for itself until its time limit passes, and a run whose claim is gone does nothing more."""

from __future__ import annotations

import json
import os

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.files import LocalFiles
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_changes import Step
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
    FakeHost,
)

MINE, THEIRS = "run000mine", "run00other"


@pytest.fixture
def host():
    return FakeHost()


@pytest.fixture
def claims(tmp_path, host):
    return LeaseStore(LocalFiles(str(tmp_path / "records")), host)


def names(claims):
    try:
        return sorted(os.listdir(claims.files.where))
    except FileNotFoundError:
        return []


def options(**given):
    found = {key: spec.get("default") for key, spec in record_arguments().items()}
    return {**found, "event_id": EVENT, **given}


def change(claims, **given):
    return change_records(claims.files, claims.host, options(**given), False, lambda line: None)


def test_nobody_has_claimed_anything_without_a_directory(claims):
    assert claims.read_all() == ([], [], True)
    assert claims.withdraw(MINE) == []
    assert not claims.stands(MINE, EVENT)
    with pytest.raises(LeaseLost):
        claims.renew(MINE, EVENT, 10)
    assert names(claims) == []


def test_a_claim_says_whose_it_is_and_until_when(claims):
    claims.make(MINE, EVENT, 90.5, who="alice on deploy1", groups={"web": "abc"})
    (found,) = claims.read_all().claims
    assert (found["run"], found["event_id"], found["kind"], found["who"]) == (MINE, EVENT, "events", "alice on deploy1")
    assert found["groups"] == {"web": "abc"}
    assert found["made_at"] == "2026-11-21T20:00:00.000000Z"
    assert found["limit"] == "2026-11-21T20:01:30.500000Z"
    assert found["expired"] is False
    assert len(names(claims)) == 1


def test_the_event_counts_without_case(claims):
    claims.make(MINE, EVENT, 10)
    assert claims.stands(MINE, EVENT.lower())
    assert not claims.stands(MINE, EVENT + "0")
    assert not claims.stands(THEIRS, EVENT)


def test_claiming_again_renews(claims, host):
    first = claims.make(MINE, EVENT, 10)
    host.pass_time(5)
    second = claims.make(MINE, EVENT, 10)
    assert split_lease_name(second).limit - split_lease_name(first).limit == 5000
    assert names(claims) == [second]
    assert claims.make(MINE, EVENT, 10) == second


def test_each_run_and_each_event_has_its_own(claims):
    claims.make(MINE, EVENT, 10)
    claims.make(MINE, "another", 10)
    claims.make(THEIRS, EVENT, 10)
    assert len(claims.read_all().claims) == 3
    claims.withdraw(MINE, "another")
    assert [claim["run"] for claim in claims.read_all().claims] == [MINE, THEIRS]
    claims.withdraw(MINE)
    assert [claim["run"] for claim in claims.read_all().claims] == [THEIRS]


def test_only_what_has_expired_can_be_removed(claims, host):
    name = claims.make(THEIRS, EVENT, 10)
    assert not claims.remove_expired(name)
    host.pass_time(9.9)
    assert not claims.remove_expired(name)
    host.pass_time(0.2)
    assert claims.read_all().claims[0]["expired"] is True
    assert claims.remove_expired(name)
    assert not claims.remove_expired(name)
    with pytest.raises(LeaseLost, match="run00other"):
        claims.renew(THEIRS, EVENT, 10)


def test_what_was_renewed_in_time_is_not_removed(claims, host):
    name = claims.make(THEIRS, EVENT, 10)
    host.pass_time(11)
    # Late, but nobody has removed it yet.
    claims.renew(THEIRS, EVENT, 10)
    assert not claims.remove_expired(name)
    assert claims.stands(THEIRS, EVENT)


def test_a_clock_that_was_put_back_blocks_nobody_for_days(claims, host):
    host.pass_time(7 * 86400)
    name = claims.make(THEIRS, EVENT, 10)
    host.pass_time(-7 * 86400)
    assert claims.read_all().claims[0]["expired"] is True
    assert claims.remove_expired(name)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b'{"groups": 3, "who": {}}', b"[" * 100000])
def test_an_unreadable_claim_is_a_claim_all_the_same(claims, content):
    claims.files.make()
    name = lease_name(THEIRS, EVENT, int((START + 10) * 1000))
    claims.files.write_exclusive(name, content)
    (found,) = claims.read_all().claims
    assert (found["run"], found["expired"], found["groups"]) == (THEIRS, False, {})


def test_a_limit_beyond_any_calendar_is_no_traceback(claims):
    claims.files.make()
    claims.files.write_exclusive(lease_name(THEIRS, EVENT, 999999999999999), b"{}")
    assert claims.read_all().claims[0]["expired"] is True


@pytest.mark.parametrize("run", ["", "abc", "../abcd", "ABCD", "a" * 33, None, 5, "ab cd"])
def test_a_run_without_a_proper_id_is_refused(claims, run):
    with pytest.raises(RecordsError, match="claim.run"):
        claims.make(run, EVENT, 10)
    assert names(claims) == []


@pytest.mark.parametrize("seconds", [0, -1, "soon", None, True, 1e9, float("nan")])
def test_a_time_limit_that_is_none_is_refused(claims, seconds):
    with pytest.raises(RecordsError, match="claim.seconds"):
        claims.make(MINE, EVENT, seconds)


def test_claims_are_no_records_and_records_no_claims(claims, host):
    claims.make(MINE, EVENT, 10)
    records = RecordStore(claims.files, host)
    assert records.read_all() == ([], [], True)
    change(claims, changes={"phase": "noticed"})
    assert len(claims.read_all().claims) == 1
    assert len(records.read_all().records) == 1
    records.prune(0)
    assert claims.stands(MINE, EVENT)


def test_a_write_under_a_claim_renews_it(claims, host):
    change(claims, state="claimed", claim={"run": MINE, "seconds": 10})
    host.pass_time(8)
    change(claims, changes={"phase": "noticed"}, claim={"run": MINE, "seconds": 10})
    host.pass_time(8)
    assert claims.read_all().claims[0]["expired"] is False


def test_without_its_claim_a_run_writes_nothing(claims, host):
    change(claims, state="claimed", claim={"run": THEIRS, "seconds": 10})
    with pytest.raises(LeaseLost) as caught:
        change(claims, changes={"phase": "draining"}, claim={"run": MINE, "seconds": 10})
    assert caught.value.kind == "claim_lost"
    assert RecordStore(claims.files, host).read(EVENT) is None


class RemovedInBetween(LocalFiles):
    """Files of a VM on which another run removes a claim right after a record was linked to its name."""

    def link(self, old, new):
        super().link(old, new)
        for name in self.names():
            if name.startswith("claim-") and new.startswith("event-"):
                self.unlink(name)


def test_a_claim_removed_while_the_record_was_written_stops_the_run(claims, host):
    change(claims, state="claimed", claim={"run": MINE, "seconds": 10})
    files = RemovedInBetween(claims.files.where)
    with pytest.raises(LeaseLost):
        change_records(files, host, options(changes={"phase": "draining"}, claim={"run": MINE, "seconds": 10}), False, lambda line: None)
    # It stays: whoever comes next adopts it.
    assert RecordStore(claims.files, host).read(EVENT)["phase"] == "draining"


class TakenOver(LocalFiles):
    """Files of a VM on which a run sleeps right after it has renewed its claim, and wakes when another has taken over and written."""

    host = None

    def rename(self, old, new):
        super().rename(old, new)
        if new.startswith("claim-") and self.host is not None:
            host, self.host = self.host, None
            host.pass_time(100)
            self.unlink(new)
            RecordStore(LocalFiles(self.where), host).write(EVENT, Step(changes={"phase": "drained", "reason": "the successor's"}))


def test_who_sleeps_after_renewing_does_not_build_on_what_the_successor_has_written(claims, host):
    change(claims, state="claimed", claim={"run": MINE, "seconds": 10})
    RecordStore(claims.files, host).write(EVENT, Step(changes={"phase": "draining"}))
    files = TakenOver(claims.files.where)
    files.host = host
    with pytest.raises(LeaseLost):
        change_records(files, host, options(changes={"phase": "recovered"}, claim={"run": MINE, "seconds": 10}), False, lambda line: None)
    record = RecordStore(claims.files, host).read(EVENT)
    assert (record["phase"], record["reason"]) == ("drained", "the successor's")


def test_the_module_removes_what_has_expired_and_claims(claims, host):
    dead = claims.make(THEIRS, "another", 10)
    alive = claims.make("run00third", "another", 1000)
    host.pass_time(11)
    found = change(claims, state="claimed", claim={"run": MINE, "seconds": 10, "who": "bob"}, expired=[dead, alive])
    assert found["changed"] is True
    assert len(found["claims"]) == 1
    assert [claim["run"] for claim in claims.read_all().claims] == [MINE, "run00third"]
    assert change(claims, state="released", event_id=None, claim={"run": MINE})["changed"] is True
    assert change(claims, state="released", event_id=None, claim={"run": MINE})["changed"] is False


def test_the_module_removes_what_has_expired_and_keeps_its_own(claims, host):
    dead = claims.make(THEIRS, "another", 10)
    host.pass_time(11)
    own = claims.make(MINE, EVENT, 10)
    change(claims, state="released", event_id="", claim={"run": MINE}, expired=[dead])
    assert names(claims) == [own]


def test_a_name_that_is_no_claim_is_never_removed(claims):
    change(claims, changes={"phase": "noticed"})
    before = names(claims)
    for name in [*before, "../../etc/passwd", "asked"]:
        with pytest.raises(RecordsError, match="not the name of a lease"):
            claims.remove_expired(name)
    assert names(claims) == before


def test_check_mode_claims_nothing(claims, host):
    found = change_records(claims.files, host, options(state="claimed", claim={"run": MINE}), True, lambda line: None)
    assert found["changed"] and len(found["claims"]) == 1, "what would be there"
    assert names(claims) == []


def test_the_content_is_plain_json(claims):
    name = claims.make(MINE, EVENT, 10, who="böb")
    assert json.loads(claims.files.read(name))["who"] == "böb"
