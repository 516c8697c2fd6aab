# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import typing as t

import pytest
import requests
from ansible.errors import AnsibleConnectionFailure, AnsibleError

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.errors import ScheduledEventsError
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.imds.transport import MAX_ANSWER_BYTES
from ansible_collections.maintenance.azure.plugins.plugin_utils._windows.transport import WindowsTransport
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._windows.played import PreparedCalls

PATH = "/metadata/scheduledevents?api-version=2020-07-01"
THERE = {"changed": False, "elapsed": 0}
LOST = AnsibleConnectionFailure("winrm connection error")
OK = {"status_code": 200, "content": '{"Events": []}', "elapsed": 0.1}


def transport(calls: PreparedCalls, check_mode: bool = False, keep_asking: bool = False, endpoint: str = "http://192.0.2.1:8080") -> WindowsTransport:
    return WindowsTransport(calls, endpoint, check_mode, keep_asking)


def failing(calls: PreparedCalls, method: str = "GET", **options: t.Any) -> ScheduledEventsError:
    with pytest.raises(ScheduledEventsError) as caught:
        transport(calls, **options).request(method, PATH, "{}" if method == "POST" else None)
    return caught.value


def test_a_request_is_one_call_after_the_first_connection():
    calls = PreparedCalls(win_wait_for=THERE, win_uri=OK)
    way = transport(calls)
    assert way.request("GET", PATH) == (200, {}, b'{"Events": []}')
    way.request("POST", PATH, '{"StartRequests": []}', request_timeout=9.2)
    assert calls.modules() == ["win_wait_for", "win_uri", "win_uri"]
    given = calls.made[-1][1]
    assert (given["url"], given["method"], given["body"]) == ("http://192.0.2.1:8080" + PATH, "POST", '{"StartRequests": []}')
    assert (given["use_proxy"], given["follow_redirects"], given["timeout"], given["content_type"]) == (False, "none", 10, "application/json")
    assert given["headers"]["Metadata"] == "true"


def test_a_refused_connection_is_noticed_before_anything_is_sent():
    calls = PreparedCalls(win_wait_for={"failed": True, "msg": "timed out"})
    error = failing(calls)
    assert (error.kind, error.retryable, error.answer_lost) == ("no_answer", True, False)
    assert "no answer came within 5 s" in error.message
    assert calls.modules() == ["win_wait_for"]


def test_the_advice_for_a_cluster_that_owns_the_range_is_in_the_error():
    error = failing(PreparedCalls(win_wait_for={"failed": True, "msg": "no"}), endpoint="http://169.254.169.254")
    assert "route add 169.254.169.254/32" in error.message


@pytest.mark.parametrize("status", [302, 400, 404, 410, 429, 500])
def test_every_status_is_an_answer(status):
    failed = {
        "failed": True,
        "msg": "Status code of request was ...",
        "status_code": status,
        "content": "why",
        "location": "http://elsewhere",
        "retry_after": "7",
    }
    answer = transport(PreparedCalls(win_wait_for=THERE, win_uri=failed)).request("GET", PATH)
    assert answer == (status, {"location": "http://elsewhere", "retry-after": "7"}, b"why")


def test_without_a_status_the_answer_was_lost():
    error = failing(PreparedCalls(win_wait_for=THERE, win_uri={"failed": True, "msg": "The underlying connection was closed", "status_code": None}))
    assert (error.kind, error.retryable, error.answer_lost) == ("connection_lost", True, True)
    assert "The underlying connection was closed" in error.message


def test_after_all_of_its_time_it_was_late(monkeypatch):
    now = iter([0.0, 126.0])
    monkeypatch.setattr("time.monotonic", lambda: next(now))
    error = failing(PreparedCalls(win_wait_for=THERE, win_uri={"failed": True, "msg": "timed out"}))
    assert (error.kind, error.answer_lost) == ("timeout", True)


def test_oversized_answers_are_refused():
    error = failing(PreparedCalls(win_wait_for=THERE, win_uri={"status_code": 200, "content": "x" * (MAX_ANSWER_BYTES + 1)}))
    assert error.kind == "too_large"


@pytest.mark.parametrize("loss", [LOST, requests.exceptions.ReadTimeout("psrp lets this through")])
def test_a_session_lost_under_an_approval_is_an_answer_that_was_lost(loss):
    calls = PreparedCalls(win_wait_for=THERE, win_uri=loss)
    error = failing(calls, "POST")
    assert (error.kind, error.answer_lost, calls.resets) == ("connection_lost", True, 1)


def test_a_session_lost_otherwise_makes_the_vm_unreachable():
    with pytest.raises(AnsibleConnectionFailure):
        transport(PreparedCalls(win_wait_for=THERE, win_uri=LOST)).request("GET", PATH)


def test_callers_that_keep_asking_continue_and_test_the_port_again():
    calls = PreparedCalls(win_wait_for=[THERE, LOST, THERE], win_uri=[LOST, OK])
    way = transport(calls, keep_asking=True)
    for _lost in range(2):
        with pytest.raises(ScheduledEventsError):
            way.request("GET", PATH)
    assert way.request("GET", PATH).status == 200
    assert calls.modules() == ["win_wait_for", "win_uri", "win_wait_for", "win_wait_for", "win_uri"]
    assert calls.resets == 2


def test_an_error_that_is_no_lost_session_is_not_swallowed():
    with pytest.raises(AnsibleError, match="no such module"):
        transport(PreparedCalls(win_wait_for=THERE, win_uri=AnsibleError("no such module")), keep_asking=True).request("POST", PATH, "{}")


def test_nothing_but_a_get_is_sent_in_check_mode():
    calls = PreparedCalls(win_wait_for=THERE, win_uri=OK)
    with pytest.raises(AssertionError):
        transport(calls, check_mode=True).request("POST", PATH, "{}")
    assert calls.made == []
