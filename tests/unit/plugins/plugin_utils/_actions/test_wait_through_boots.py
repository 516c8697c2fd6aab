# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import typing as t

import pytest
from ansible.errors import AnsibleConnectionFailure, AnsibleError

from ansible_collections.maintenance.azure.plugins.action.wait_for_scheduled_event import WaitThroughBoots

FOUND = {"changed": False, "outcome": "matched", "elapsed": 3.0}
KILLED = {"failed": True, "module_stdout": "", "module_stderr": "", "rc": 143, "msg": "MODULE FAILURE"}
LOST = AnsibleConnectionFailure("Failed to connect to the host via ssh: Connection closed by remote host")


class Vm:
    """Runs of the module, each with the seconds that it takes and its end."""

    def __init__(self, *ends: tuple[float, t.Any]) -> None:
        self.ends = list(ends)
        self.now = 0.0
        self.given: list[dict[str, t.Any]] = []
        self.resets = 0

    def run(self, arguments: dict[str, t.Any]) -> dict[str, t.Any]:
        self.given.append(arguments)
        seconds, end = self.ends.pop(0)
        self.now += seconds
        if isinstance(end, BaseException):
            raise end
        return dict(end)

    def reset(self) -> None:
        self.resets += 1

    def wait(self, **arguments: t.Any) -> dict[str, t.Any]:
        def sleep(seconds: float) -> None:
            self.now += seconds

        return WaitThroughBoots(self.run, self.reset, lambda: self.now, sleep).wait(arguments)


def test_without_a_loss_nothing_is_added():
    vm = Vm((3, FOUND))
    assert vm.wait(state="gone", timeout=60) == FOUND
    assert vm.given == [{"state": "gone", "timeout": 60}]
    assert vm.resets == 0


@pytest.mark.parametrize("loss", [LOST, KILLED, dict(KILLED, rc=-15), dict(KILLED, rc=255)])
def test_a_wait_goes_on_after_the_boot_with_the_time_that_is_left(loss):
    vm = Vm((100, loss), (0, LOST), (20, FOUND))
    result = vm.wait(state="gone", timeout="1800")
    assert [one["timeout"] for one in vm.given] == ["1800", 1695.0, 1690.0]
    assert (result["outcome"], result["elapsed"], vm.resets) == ("matched", 130.0, 2)
    assert len(result["warnings"]) == 1
    assert "lost after 105 s" in result["warnings"][0]


def test_a_vm_that_does_not_come_back_is_a_timeout_that_says_so():
    vm = Vm((100, LOST), (250, LOST))
    result = vm.wait(state="gone", timeout=300)
    assert (result["failed"], result["outcome"], result["error_kind"]) == (True, "timeout", "timeout")
    assert "Connection closed by remote host" in result["msg"]
    assert len(vm.given) == 2


def test_the_last_run_never_has_a_negative_time():
    vm = Vm((58, LOST), (0, FOUND))
    vm.wait(state="gone", timeout=60)
    assert vm.given[-1]["timeout"] == 0.0


@pytest.mark.parametrize(
    "answer",
    [
        {"failed": True, "msg": "Waited 60 s", "outcome": "timeout"},
        dict(KILLED, rc=1),
        dict(KILLED, rc=137, module_stderr="Traceback (most recent call last):"),
        {"failed": True, "module_stdout": "", "msg": "no rc"},
    ],
)
def test_an_answer_is_an_answer(answer):
    vm = Vm((1, answer))
    assert vm.wait(state="gone", timeout=60) == answer


def test_what_the_module_refuses_is_left_to_it():
    vm = Vm((1, {"failed": True, "msg": "timeout is no number"}))
    assert vm.wait(state="gone", timeout="soon")["msg"] == "timeout is no number"


def test_another_error_is_not_a_boot():
    with pytest.raises(AnsibleError, match="no interpreter"):
        Vm((1, AnsibleError("no interpreter"))).wait(state="gone", timeout=60)
