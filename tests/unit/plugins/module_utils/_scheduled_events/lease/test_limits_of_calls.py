# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""No call of a drain method outlasts the lease of its run: it is capped by what is left, after a renewal where that is little."""

from __future__ import annotations

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.files import LocalFiles
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine.commands import CommandResult
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine.daemons import Daemon
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine.machine import Machine
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine.time_limits import with_limit
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.system import LocalHost
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease import lease_operations
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease.lease_operations import UnderLease
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease.lease_schema import LeaseLost
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease.lease_store import LeaseStore
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.helpers import EVENT

RUN = "run1"


class Clock:
    """In place of time.monotonic."""

    now = 1000.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    found = Clock()
    monkeypatch.setattr(lease_operations, "time", found)
    return found


@pytest.fixture
def leases(tmp_path):
    return LeaseStore(LocalFiles(str(tmp_path / "records")), LocalHost())


def under(leases, seconds):
    leases.make(RUN, EVENT, seconds)
    return UnderLease(leases, {"run": RUN, "seconds": seconds}, EVENT)


def test_a_call_has_the_time_that_it_wants_as_long_as_the_lease_has_it(leases, clock):
    lease = under(leases, 30.0)
    assert lease.limit(10.0) == 10.0
    clock.now += 17.9
    assert lease.limit(10.0) == 10.0


def test_before_the_lease_could_run_out_under_a_call_it_is_renewed(leases, clock, monkeypatch):
    lease, renewals = under(leases, 30.0), []
    real = leases.renew
    monkeypatch.setattr(leases, "renew", lambda *given: renewals.append(clock.now) or real(*given))
    for passed, expected in ((0.0, 1), (17.9, 1), (0.2, 2), (100.0, 3)):
        clock.now += passed
        assert lease.limit(10.0) == 10.0 and len(renewals) == expected
    lease.begin(False)
    assert lease.limit(10.0) == 10.0 and len(renewals) == 4


@pytest.mark.parametrize("seconds,wanted,limit", [(30.0, 300.0, 28.0), (30.0, 28.0, 28.0), (180.0, 300.0, 178.0), (3.0, 10.0, 1.5), (3.0, 1.0, 1.0)])
def test_no_call_may_take_longer_than_a_whole_lease(leases, clock, seconds, wanted, limit):
    assert under(leases, seconds).limit(wanted) == limit


def test_a_renewal_that_takes_long_counts(leases, clock, monkeypatch):
    lease, real = under(leases, 30.0), leases.renew

    def slow(*given):
        real(*given)
        clock.now += 20

    monkeypatch.setattr(leases, "renew", slow)
    assert lease.limit(10.0) == 8.0


def test_no_call_begins_when_the_lease_is_gone(leases, clock):
    lease = under(leases, 30.0)
    leases.withdraw(RUN)
    with pytest.raises(LeaseLost):
        lease.limit(10.0)


def test_without_a_lease_nothing_is_limited(leases):
    assert UnderLease(leases, None, EVENT).limit(300.0) == 300.0


class Noting:
    """Commands and daemons that note the time that they were given."""

    def __init__(self):
        self.given = []

    def run(self, line, environment, seconds):
        self.given.append(seconds)
        return CommandResult(0, "", "")

    def request(self, daemon, method, path, body=None, headers=None):
        self.given.append((daemon.seconds, method, path, body, headers))

    def exchange(self, daemon, data, is_complete):
        self.given.append((daemon.seconds, data))

    def secret(self, path):
        return path

    def named(self, *named):
        self.given.append(*named)
        return self


def test_commands_and_daemons_are_limited():
    noting, asked = Noting(), []
    machine = with_limit(Machine(None, noting, None, None, None, daemons=noting.named), lambda wanted: asked.append(wanted) or wanted / 2)
    machine.commands.run("true", {}, 10.0)
    daemons = machine.daemons(["a:1"])
    daemons.request(Daemon("http://a", seconds=4.0), "PUT", "/", b"x", {"A": "b"})
    daemons.exchange(Daemon("tcp://a:1"), b"y", bool)
    assert noting.given == [5.0, ["a:1"], (2.0, "PUT", "/", b"x", {"A": "b"}), (5.0, b"y")]
    assert asked == [10.0, 4.0, 10.0] and daemons.secret("p") == "p"


def test_a_machine_without_daemons_has_none_under_a_limit_either():
    assert with_limit(Machine(None, Noting(), None, None, None), float).daemons is None
