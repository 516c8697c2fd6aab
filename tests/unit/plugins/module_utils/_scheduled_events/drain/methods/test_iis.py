# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Method iis, through the engine; IIS is a stand-in."""

from __future__ import annotations

import pytest

from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.drain.scene import step


class FakeWebServer:
    """In place of IIS: what a test sets, and what was asked for in order."""

    def __init__(self):
        self.all_sites = {"Shop": "Started", "Old": "Stopped", "Other": "Started"}
        self.all_pools = {"ShopPool": "Started", "Idle": "Stopped"}
        self.counts = {"shop": 0, "_total": 7}
        self.calls, self.slow = [], set()

    def sites(self, names):
        self.calls.append("observation")
        return {name: self.all_sites[name] for name in names if name in self.all_sites}

    def pools(self, names):
        return {name: self.all_pools[name] for name in names if name in self.all_pools}

    def set_sites(self, names, state):
        self._set(self.all_sites, names, state)

    def set_pools(self, names, state):
        self._set(self.all_pools, names, state)

    def connections(self):
        self.calls.append("count")
        return self.counts

    def _set(self, where, names, state):
        self.calls += [(state, name) for name in names]
        where.update({name: {"stopped": "Stopping", "started": "Starting"}[state] if name in self.slow else state.title() for name in names})


@pytest.fixture
def server():
    return FakeWebServer()


@pytest.fixture
def seams(server):
    return {"system": "windows", "web_server": server}


def iis(**options):
    return step("iis", given={"sites": ["Shop", "Old"], "pools": ["ShopPool", "Idle"], **options})


def test_sites_stop_first_then_pools_and_what_ran_comes_back(vm, server):
    assert vm.drain(iis()).state == "drained"
    assert server.calls == ["observation", ("stopped", "Shop"), "observation", "count", ("stopped", "ShopPool"), "observation"]
    assert vm.entry("1-iis")["before"] == {"sites": {"Shop": "Started", "Old": "Stopped"}, "pools": {"ShopPool": "Started", "Idle": "Stopped"}}
    server.calls.clear()
    assert vm.undo(iis()).state == "undone"
    assert server.calls == ["observation", ("started", "ShopPool"), ("started", "Shop"), "observation"]


def test_a_pool_is_not_stopped_while_its_sites_answer(vm, server):
    server.counts["shop"] = 3
    out = vm.drain(iis(connections=2))
    assert (out.state, out.error, server.all_pools["ShopPool"]) == ("draining", "3 connection(s) on site Shop", "Started")
    assert vm.drain(iis(connections=3)).state == "draining"  # the options of the record stay
    server.counts["shop"] = 2
    assert vm.drain(iis()).state == "drained"


def test_without_counters_nobody_knows(vm, server):
    server.counts = None
    out = vm.drain(iis())
    assert out.state == "draining" and out.error.startswith("Windows does not say how many connections there are")
    assert server.all_pools["ShopPool"] == "Started"


def test_what_stops_slowly_is_waited_for(vm, server):
    server.slow = {"ShopPool"}
    out = vm.drain(iis())
    assert (out.state, out.error) == ("draining", "still stopping: application pool ShopPool")
    server.all_pools["ShopPool"] = "Stopped"
    assert vm.drain(iis()).state == "drained"


@pytest.mark.parametrize("state", ["Started", "Starting", "Unknown"])
def test_what_is_started_again_is_stopped_again(vm, server, state):
    vm.drain(iis())
    server.all_sites["Shop"] = state
    server.calls.clear()
    assert vm.drain(iis(), verify=True).state == "drained"
    assert ("stopped", "Shop") in server.calls and server.all_sites["Old"] == "Stopped"
    assert vm.entry("1-iis")["before"]["sites"]["Shop"] == "Started"
    server.slow = {"Shop"}
    server.all_sites["Shop"] = state
    server.set_sites = lambda names, state: None
    out = vm.drain(iis(), verify=True)
    assert (out.state, out.error) == ("draining", "started again: Shop")


def test_what_is_not_there_is_never_created(vm, server):
    out = vm.drain(iis(sites=["Shop", "Gone"], pools=["None"]))
    assert (out.state, out.error) == ("failed", "1-iis: IIS on this VM has no site Gone, application pool None.")
    assert vm.drain(iis()).state == "drained"
    del server.all_sites["Shop"]
    server.calls.clear()
    assert vm.undo(iis()).state == "undone"
    assert ("started", "Shop") not in server.calls


def test_what_starts_slowly_is_waited_for_and_asked_once(vm, server):
    vm.drain(iis())
    server.slow = {"Shop", "ShopPool"}
    out = vm.undo(iis())
    assert (out.state, out.error) == ("undoing", "not yet running: site Shop, application pool ShopPool")
    server.calls.clear()
    assert vm.undo(iis()).state == "undoing"
    assert server.calls == ["observation"]


def test_a_record_that_does_not_say_what_ran_starts_nothing(vm, server):
    vm.drain(iis())
    vm.damage(lambda record: record["methods"][0].update(before={"sites": {"Shop": "Started"}}))
    out = vm.undo(iis())
    assert out.state == "failed" and "does not say which pools ran before" in out.error
    assert server.all_sites["Shop"] == "Stopped"


def test_there_is_no_iis_on_linux(vm):
    vm.machine = vm.machine._replace(web_server=None)
    assert vm.drain(iis()).error == "1-iis: there is no IIS on this system"
    vm.machine = vm.machine._replace(system="linux")
    assert "there is no method 'iis' that runs on the VM" in vm.drain(iis()).error


@pytest.mark.parametrize("options,ran", [({"pools": []}, "Shop"), ({"sites": ["Old"]}, "ShopPool")])
def test_sites_without_pools_and_pools_without_sites_come_back(vm, server, options, ran):
    both = {**server.all_sites, **server.all_pools}
    assert vm.drain(iis(**options)).state == "drained"
    assert {**server.all_sites, **server.all_pools}[ran] == "Stopped"
    assert vm.undo(iis(**options)).state == "undone"
    assert {**server.all_sites, **server.all_pools} == both


def test_where_nothing_ran_nothing_is_asked_or_started(vm, server):
    quiet = iis(sites=["Old"], pools=["Idle"])
    assert vm.drain(quiet).state == "drained"
    server.calls.clear()
    assert vm.undo(quiet).state == "undone"
    assert server.calls == []


@pytest.mark.parametrize("state", ["Starting", "Stopping", "Unknown"])
def test_a_pool_in_any_other_state_is_not_stopped_yet(vm, server, state):
    server.set_pools = lambda names, wanted: server.all_pools.update(dict.fromkeys(names, state))
    out = vm.drain(iis())
    assert (out.state, out.error) == ("draining", "still stopping: application pool ShopPool")


def test_one_connection_is_too_many_where_none_is_allowed(vm, server):
    server.counts["shop"] = 1
    assert vm.drain(iis())[:2] == ("draining", "1 connection(s) on site Shop")
