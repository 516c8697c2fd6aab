# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an action makes of a VM that does not answer."""

from __future__ import annotations

import signal
import subprocess
import typing as t

import pytest
from ansible.errors import AnsibleConnectionFailure, AnsibleError

from ansible_collections.maintenance.azure.plugins.plugin_utils._actions import checked


class Action(checked.CheckedAction):
    answers = "maintenance_act"

    def __init__(self) -> None:
        pass

    def host_name(self) -> str:
        return "web1"


def test_a_vm_that_hangs_while_its_folder_is_removed_holds_up_nobody(monkeypatch: pytest.MonkeyPatch):
    programs: list[subprocess.Popen[bytes]] = []

    def hang(self: t.Any, force: bool) -> None:
        try:
            programs.append(subprocess.Popen(["sleep", "600"], stdout=subprocess.PIPE))
            programs[0].communicate(timeout=60)
        except Exception:  # as the retries of a connection plugin
            pytest.fail("it was not ended")

    monkeypatch.setattr(checked, "CLEANUP_SECONDS", 1)
    monkeypatch.setattr(checked.NormalAction, "cleanup", hang)
    before = signal.getsignal(signal.SIGALRM)
    Action().cleanup()
    assert programs[0].wait(timeout=60) == -9
    assert (signal.getsignal(signal.SIGALRM), signal.alarm(0)) == (before, 0)


@pytest.mark.parametrize("kind", [AnsibleConnectionFailure, AnsibleError])
def test_what_a_vm_has_put_into_an_error_of_core_is_one_short_line(kind: type[AnsibleError]):
    def fail() -> t.NoReturn:
        raise kind("Data could not be sent: \x1b[2J\nTASK [done]" + "x" * 1_000_000)

    with pytest.raises(kind) as found:
        Action().without_exceptions(fail)
    assert found.type is kind
    assert len(str(found.value)) <= 4000
    assert str(found.value).startswith("Data could not be sent:  [2J TASK [done]xx")
