# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A VM that drains by itself, and an endpoint that is throttled, slow, half broken, or lies: a real Preempt is drained in its 30 seconds all the same."""

from __future__ import annotations

import json
import pathlib
import time
import typing as t
import uuid

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.ask.due_triggers import AGAIN_SECONDS, MOST_TRIGGERS, DueTriggers
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.drain import decision, drainer, endpoint
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.settings import Settings
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.watch.drain.test_served_event import APPROVES, VM
from ansible_collections.maintenance.azure.tests.unit.plugins.support import FakeClock, Server, document, http, raw_event, slowly

EVENT = "c7061bac-afdc-4513-b24b-aa5f13a16123"
OTHER = "11111111-1111-4111-8111-111111111111"
# A Preempt's notice, and time for a busy machine beside it.
NOTICE_SECONDS = 30.0


class Platform:
    """In place of the simulator, which answers by the rules: only what VM asks of it."""

    @staticmethod
    def approvals() -> list[t.Any]:
        return []


def preempt(event_id: str = EVENT, *resources: str) -> dict[str, t.Any]:
    return raw_event(EventId=event_id, EventType="Preempt", Resources=list(resources or ("web1",)))


def instance(name: str = "web1", vm_id: str = "v1") -> bytes:
    return http(body=json.dumps({"compute": {"name": name, "vmId": vm_id}}))


@pytest.fixture
def vm(tmp_path: pathlib.Path) -> VM:
    return VM(tmp_path, t.cast(t.Any, Platform()))


def serve(vm: VM, server: Server, *event_ids: str) -> bool:
    vm.settings["endpoint"] = server.url
    # VM takes the endpoint of its simulator, which the settings replace.
    vm.simulator.endpoints = {"web1": server.url}
    return vm.serve(*(event_ids or (EVENT,)))


@pytest.mark.parametrize("answer", [http(429, **{"Retry-After": "30"}), http(410, **{"Retry-After": "30"}), http(500), http(body="nonsense")], ids=range(4))
def test_a_preempt_does_not_wait_for_what_the_endpoint_asks_for(vm: VM, answer: bytes) -> None:
    began = time.monotonic()
    with Server(answer, answer, http(body=document(1, preempt())), instance=instance()) as server:
        assert serve(vm, server)
    assert not vm.app.exists() and time.monotonic() - began < NOTICE_SECONDS
    assert len([line for line in vm.log if "asked again every second" in line]) == 1


def test_without_its_identity_it_is_served_by_the_name_in_the_settings(vm: VM, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "IDENTITY_SECONDS", 2.0)
    vm.settings["vm_name"] = "web1"
    with Server(http(body=document(1, preempt())), instance=http(500)) as server:
        assert serve(vm, server)
    assert not vm.app.exists() and vm.record(EVENT)["vm_id"] is None


def test_slow_answers_do_not_hold_up_a_drain_that_goes_on(vm: VM, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drainer, "REQUEST_SECONDS", 1.0)
    slow = slowly(20, http(body=document(1)))
    began, check = vm.folder / "began", f"test $(($(date +%s) - $(cat {vm.folder}/began))) -ge 3 || exit 75"
    vm.methods = [vm.command("1-command", f"date +%s > {began}; rm -f {vm.app}", check, "true")]
    with Server(http(body=document(1, preempt(), preempt(OTHER))), slow, instance=instance()) as server:
        assert serve(vm, server, EVENT, OTHER)
        fakes = [str(uuid.uuid4()) for unused in range(4)]
        for event_id in fakes:
            vm.triggers.add(event_id)
        monkeypatch.setattr("ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.drain.served_event.MOST_SECONDS", 4.0)
        began = time.monotonic()
        assert not vm.drain_once(), vm.log[-6:]
        # One request for all of them, and not one after the other for each.
        assert time.monotonic() - began < 15
    assert vm.phases(EVENT)[-1] == "drained"


def test_an_endpoint_that_makes_events_up_does_not_fill_the_records(vm: VM, monkeypatch: pytest.MonkeyPatch) -> None:
    # Each drain reads all records, so the full number costs the square of it and shows the same.
    monkeypatch.setattr(decision, "MOST_RECORDS", 20)
    ids = [str(uuid.uuid4()) for unused in range(25)]
    with Server(http(body=document(1, *map(preempt, ids))), instance=instance()) as server:
        for start in range(0, len(ids), 10):
            serve(vm, server, *ids[start : start + 10])
    assert len(vm.records.read_all().records) == 20, vm.log[-6:]
    assert any("records, which are too many" in line for line in vm.log)


def test_an_event_that_is_listed_twice_names_all_that_both_name(vm: VM) -> None:
    vm.rules = [APPROVES]
    with Server(http(body=document(1, preempt(EVENT, "web1"), preempt(EVENT, "web1", "web2"))), instance=instance()) as server:
        assert serve(vm, server)
        assert [request.method for request in server.requests if request.method == "POST"] == []
    assert any("names other VMs, too" in line for line in vm.log)


def test_a_wrong_identity_sets_no_record_aside(vm: VM) -> None:
    with Server(http(body=document(1, preempt())), instance=instance()) as server:
        assert serve(vm, server)
    with Server(http(body=document(1, preempt(OTHER))), instance=instance(vm_id="another")) as server:
        serve(vm, server, OTHER)
    assert vm.record(EVENT)["phase"] == "drained"


def test_an_event_that_comes_and_goes_is_not_named_more_often() -> None:
    clock, named = FakeClock(), []

    class Triggers:
        def add(self, event_id: str) -> bool:
            named.append(event_id)
            return True

    class Host:
        def now(self) -> str:
            return "2026-11-25T12:00:00Z"

    due_triggers = DueTriggers(t.cast(t.Any, Triggers()), Settings(drain_types=["Preempt"]), t.cast(t.Any, Host()), clock, print)
    event = {"event_id": EVENT, "event_type": "Preempt", "event_status": "Scheduled", "resources": ["web1"], "not_before": None, "affects_this_vm": True}
    for second in range(60):
        due_triggers.write([t.cast(t.Any, event)] if second % 2 else [])
        clock.sleep(1.0)
    assert len(named) <= 60 / AGAIN_SECONDS + 1
    named.clear()
    due_triggers.write([t.cast(t.Any, {**event, "event_id": str(uuid.uuid4())}) for unused in range(1000)])
    assert len(named) == MOST_TRIGGERS
