# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Method silence, on a stand-in that answers as Alertmanager 0.25 did: tests/playbooks/drain has the real one."""

from __future__ import annotations

import json
import typing as t

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.methods.method import Event, MethodError, Task
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.methods.silence import SilenceMethod
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.registry import defaults
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine.daemons import Daemon, DaemonError, Reply
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine.machine import Machine, local_machine

EVENT = "C7061BAC-AFDC-4513-B24B-AA5F13A16123"


class Alertmanager:
    """Silences, and what was asked."""

    def __init__(self) -> None:
        self.silences: list[dict[str, t.Any]] = []
        self.away = self.refuses = False
        self.status = 200

    def machine(self) -> Machine:
        def no_command(words: t.Sequence[str]) -> tuple[int, str, str]:
            raise AssertionError(f"{words} must not be run")

        return local_machine(lambda: "2026-11-27T12:00:00.000000Z", no_command)._replace(daemons=lambda *_named: self)  # type: ignore[arg-type, return-value]

    def request(self, _daemon: Daemon, method: str, path: str, body: bytes | None = None, headers: t.Any = None) -> Reply:
        if self.away:
            raise DaemonError("connection refused")
        if method == "POST" and self.refuses:
            return Reply(403, {}, b"read only")
        if method == "POST":
            number = f"{len(self.silences):08x}"
            self.silences.append({**json.loads(body or b""), "id": number, "status": {"state": "active"}})
            return Reply(200, {}, json.dumps({"silenceID": number}).encode())
        if method == "DELETE":
            (one,) = [one for one in self.silences if path == f"/api/v2/silence/{one['id']}"]
            one["status"] = {"state": "expired"}
            return Reply(200, {}, b"")
        return Reply(self.status, {}, json.dumps(self.silences).encode())


def task(**options: t.Any) -> Task:
    return Task({**defaults("silence"), "value": "web1", **options}, {}, "new", None, {}, event=Event(EVENT, "Reboot"))


def states(one: Alertmanager) -> list[str]:
    return [silence["status"]["state"] for silence in one.silences]


def test_it_is_made_once_and_ended_and_those_of_others_stay() -> None:
    one, method, mine = Alertmanager(), SilenceMethod(), task(required=True)
    machine = one.machine()
    method.begin(machine, mine._replace(event=Event("another")))
    assert method.check(machine, mine).state == "lost"
    for _twice in range(2):
        method.begin(machine, mine)
    assert method.check(machine, mine).state == "drained" and states(one) == ["active", "active"]
    assert one.silences[1]["createdBy"] == f"maintenance.azure {EVENT}" and one.silences[1]["endsAt"].startswith("2026-11-27T14:00")
    # Whatever the clock of the VM is.
    assert one.silences[1]["startsAt"] < "2000"
    # One of this event for another VM is that VM's.
    assert method.check(machine, task(required=True, value="web2")).state == "lost"
    for _twice in range(2):
        assert method.undo(machine, mine).state == "undone"
    assert states(one) == ["active", "expired"]
    assert method.check(machine, mine).state == "lost"


def test_the_record_keeps_whose_it_is_whatever_the_host_is_called_later() -> None:
    one, method, mine = Alertmanager(), SilenceMethod(), task(value="")
    found = method.find(one.machine(), mine)
    assert found["value"].endswith("([.:].*)?")
    method.begin(one.machine(), mine._replace(finding={**found, "value": "old-name"}))
    assert one.silences[0]["matchers"] == [{"name": "instance", "value": "old-name", "isRegex": True}]


@pytest.mark.parametrize("status", [0, 500])
def test_one_that_cannot_be_asked_fails_only_where_it_is_required(status: int) -> None:
    one, method = Alertmanager(), SilenceMethod()
    one.away, one.status = status == 0, status
    machine = one.machine()
    method.begin(machine, task())
    assert "alerts may be sent" in str(method.check(machine, task()).note)
    assert method.undo(machine, task())[0] == "undone"
    for step in (method.begin, method.check, method.undo):
        with pytest.raises(MethodError, match="connection refused|answered 500"):
            step(machine, task(required=True))


def test_one_that_takes_no_silence_holds_no_drain_and_one_that_has_ended_is_made_anew() -> None:
    one, method = Alertmanager(), SilenceMethod()
    machine, one.refuses = one.machine(), True
    method.begin(machine, task())
    assert method.check(machine, task()) == ("drained", None, "alerts may be sent: Alertmanager answered 403: read only", None)
    with pytest.raises(MethodError, match="answered 403"):
        method.begin(machine, task(required=True))
    one.refuses = False
    for ended in range(2):
        assert method.check(machine, task()) == ("drained", None, None, None)
        assert states(one) == [*["expired"] * ended, "active"]
        one.silences[-1]["status"] = {"state": "expired"}


def test_in_check_mode_it_asks_whether_alertmanager_answers() -> None:
    one, method = Alertmanager(), SilenceMethod()
    machine = one.machine()
    assert method.would(machine, task()) == 'would silence alerts with instance=~"web1"' and one.silences == []
    method.begin(machine, task())
    assert method.would(machine, task()) == 'would keep the silence with instance=~"web1"'
    one.away = True
    assert method.would(machine, task()) == "would go on without a silence, so alerts may be sent: connection refused"
    with pytest.raises(MethodError, match="connection refused"):
        method.would(machine, task(required=True))


MATCHER = {"name": "instance", "value": "web1", "isRegex": True, "isEqual": True}
OURS: t.Any = {"id": "0000000a", "createdBy": f"maintenance.azure {EVENT}", "matchers": [MATCHER], "status": {"state": "active"}}


@pytest.mark.parametrize("key", ["id", "createdBy", "matchers", "status"])
@pytest.mark.parametrize("odd", [None, 7, "x", ["x"], [[1]], {"state": "active"}, ...])
def test_no_answer_of_an_alertmanager_fails_a_drain_that_does_not_require_it(key: str, odd: t.Any) -> None:
    one, method = Alertmanager(), SilenceMethod()
    one.silences = [{**OURS, key: odd} if odd is not ... else {name: value for name, value in OURS.items() if name != key}, "x", 7]  # type: ignore[list-item]
    method.begin(one.machine(), task())
    assert "known form" in str(method.undo(one.machine(), task()).note)


def test_a_silence_of_all_others_is_none_of_this_vm() -> None:
    one, method = Alertmanager(), SilenceMethod()
    one.silences = [{**OURS, "matchers": [{**MATCHER, "isEqual": False}]}]
    assert method.check(one.machine(), task(required=True)).state == "lost"
    one.silences = [{**OURS, "matchers": [{key: MATCHER[key] for key in ("name", "value", "isRegex")}]}]
    assert method.check(one.machine(), task()).state == "drained", "older ones know no isEqual"


def test_thousands_of_silences_that_pass_for_ours_do_not_stop_a_recovery() -> None:
    one, method, asked = Alertmanager(), SilenceMethod(), list[str]()
    one.silences = [{**OURS, "id": f"{number:08x}"} for number in range(5000)]
    request = one.request
    one.request = lambda *given, **more: (asked.append(given[1]), request(*given, **more))[1]  # type: ignore[method-assign]
    assert method.undo(one.machine(), task()).state == "undone"
    assert asked.count("DELETE") == 20
