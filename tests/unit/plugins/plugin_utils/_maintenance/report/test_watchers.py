# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What status says of watchers: alive, without a heartbeat, missing."""

from __future__ import annotations

import types
from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core.model import Watcher
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.report.watchers import STALE_SECONDS, is_alive, lines, summary


def seen(**watchers: Watcher | None) -> dict[str, Any]:
    system = {True: "windows", False: "linux"}
    observations: list[Any] = [(name, types.SimpleNamespace(watcher=watcher, system=system[name.startswith("win")])) for name, watcher in watchers.items()]
    return summary(observations)


@pytest.mark.parametrize(("age", "alive"), [(0.0, True), (STALE_SECONDS, True), (STALE_SECONDS + 0.1, False), (None, False)])
def test_a_heartbeat_is_a_moment_old(age: float | None, alive: bool) -> None:
    assert is_alive(Watcher(age, None, 0)) is alive
    assert is_alive(None) is False


def test_where_no_vm_has_one_nothing_is_said() -> None:
    assert lines(seen(web1=None, web2=None)) == []


def test_alive_stale_and_missing_are_named() -> None:
    found = seen(web1=Watcher(1.0, None, 0), web2=Watcher(90.0, None, 0), web3=None, web4=Watcher(None, "the state of the watcher cannot be read: x", 2))
    assert lines(found) == [
        "Watchers: alive on 1 of 4 VMs; no heartbeat on web2, web4; none on web3.",
        "Watcher of web4: the state of the watcher cannot be read: x.",
        "Watchers dropped messages on web4.",
    ]


def test_where_all_are_alive_it_is_one_line() -> None:
    assert lines(seen(web1=Watcher(1.0, None, 0), web2=Watcher(2.0, None, 0))) == ["Watchers: alive on 2 of 2 VMs."]


def test_a_windows_vm_without_one_is_served_by_the_schedule() -> None:
    assert lines(seen(web1=Watcher(1.0, None, 0), win1=Watcher(1.0, None, 0), win2=None)) == [
        "Watchers: alive on 2 of 3 VMs; none on win2.",
        "Windows without a watcher, so the schedule serves it: win2. A watcher there needs a Python (watch_python).",
    ]
    assert lines(seen(win1=None)) == []
