# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Services of a Windows VM, by a fake Calls."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine.services import ServiceError
from ansible_collections.maintenance.azure.plugins.plugin_utils._windows.machine.services import WindowsServices
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._windows.machine.fake_calls import FakeCalls


def info(**more: t.Any) -> dict[str, t.Any]:
    return {"name": "W3SVC", "state": "started", "start_mode": "auto", "win32_exit_code": 1067, "dependency_of": ["Shop"], **more}


def test_a_state() -> None:
    calls = FakeCalls(win_service_info={"exists": True, "services": [info(name="Other"), info()]})
    (one,) = WindowsServices(calls).states(["w3svc"])
    assert one == ("w3svc", True, "started", False, "auto", 1067, ["Shop"])
    assert calls.made == [("win_service_info", {"name": "w3svc"})]


def test_one_that_windows_calls_otherwise_is_not_known() -> None:
    # win_service_info also finds display names and patterns.
    services = WindowsServices(FakeCalls(win_service_info={"services": [info(display_name="Web"), "x"]}))
    assert [one.known for one in services.states(["Web", "W3*"])] == [False, False]
    (one,) = WindowsServices(FakeCalls(win_service_info={"services": [{"name": "a", "state": "stopped"}]})).states(["a"])
    assert (one.exit_code, list(one.needed_by)) == (0, [])


@pytest.mark.parametrize("answer", [{"failed": True, "msg": "no"}, {"failed": True, "services": [], "msg": "no"}, {"services": None, "msg": "no"}])
def test_a_failure_is_no_state(answer: t.Any) -> None:
    with pytest.raises(ServiceError, match="the service a cannot be queried: no"):
        WindowsServices(FakeCalls(win_service_info=answer)).states(["a"])


def codes(**by_name: int) -> FakeCalls:
    return FakeCalls(win_command=lambda given: {"rc": by_name[given["argv"][2]], "stdout": "\r\n[SC] it \x1b[2J says\r\n"})


def test_all_are_asked_and_what_refuses_is_told_by_its_name() -> None:
    calls = codes(a=5, b=0, c=1072)
    with pytest.raises(ServiceError) as error:
        WindowsServices(calls).stop(["a", "b", "c"])
    assert str(error.value) == "sc.exe stop a: [SC] it \\x1b[2J says; sc.exe stop c: [SC] it \\x1b[2J says"
    assert [given["argv"] for _module, given in calls.made] == [["sc.exe", "stop", name] for name in "abc"]


def test_what_is_needed_is_returned() -> None:
    assert WindowsServices(codes(a=0, b=1051, c=1061, d=1062)).stop(["a", "b", "c", "d"]) == ["b"]


@pytest.mark.parametrize(("order", "accepted"), [("stop", (0, 1051, 1061, 1062)), ("start", (0, 1056, 1061)), ("pause", (0, 1061, 1062))])
def test_what_each_order_may_be_answered_with(order: str, accepted: tuple[int, ...]) -> None:
    for code in (0, 1, 5, 1051, 1052, 1056, 1060, 1061, 1062, 1072):
        act = getattr(WindowsServices(codes(a=code)), order)
        if code in accepted:
            act(["a"])
        else:
            with pytest.raises(ServiceError, match=f"sc.exe {order} a"):
                act(["a"])


def test_a_call_without_an_exit_code_is_a_refusal() -> None:
    with pytest.raises(ServiceError, match="sc.exe start a: broken"):
        WindowsServices(FakeCalls(win_command={"failed": True, "msg": "broken"})).start(["a"])


def test_nobody_is_asked_for_nothing() -> None:
    services = WindowsServices(FakeCalls())
    services.start([])
    services.pause([])
    assert (services.states([]), services.stop([])) == ([], [])
