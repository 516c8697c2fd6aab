# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Flag files of a Windows VM, by a fake Calls."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine.flag_files import FlagFileError
from ansible_collections.maintenance.azure.plugins.plugin_utils._windows.machine.flag_files import WindowsFlagFiles
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._windows.machine.fake_calls import FakeCalls

PATH = "C:\\www\\ready"
ASIDE = PATH + ".maintenance"


def disk(*files: str, folders: t.Sequence[str] = (), **more: t.Any) -> FakeCalls:
    def stat(given: t.Any) -> t.Any:
        path = given["path"]
        return {"stat": {"exists": True, "isdir": path in folders} if path in (*files, *folders) else {"exists": False}}

    return FakeCalls(**{"win_stat": stat, "win_command": {"rc": 0}, "win_file": {"changed": True}, **more})


def lines(calls: FakeCalls) -> list[str]:
    return [given["cmd"] for module, given in calls.made if module == "win_command"]


def test_what_is_there() -> None:
    assert WindowsFlagFiles(disk(PATH)).describe(PATH) == {"kind": "file"}
    assert WindowsFlagFiles(disk()).describe(PATH) == {"kind": "absent"}
    assert [WindowsFlagFiles(disk(*files)).exists(PATH) for files in ((), (PATH,))] == [False, True]
    with pytest.raises(FlagFileError, match="is not a file"):
        WindowsFlagFiles(disk(folders=[PATH])).describe(PATH)


def test_it_is_set_aside_and_put_back_by_a_rename() -> None:
    calls = disk(PATH)
    WindowsFlagFiles(calls).set_aside(PATH)
    assert lines(calls) == [f'cmd.exe /d /s /c "move /y "{PATH}" "{ASIDE}""']
    calls = disk(ASIDE)
    WindowsFlagFiles(calls).restore(PATH, {"kind": "file"})
    assert lines(calls) == [f'cmd.exe /d /s /c "move /y "{ASIDE}" "{PATH}""']
    assert calls.modules() == ["win_stat", "win_command"]


def test_one_that_was_made_anew_stays_and_one_that_is_lost_is_reported() -> None:
    calls = disk(PATH)
    WindowsFlagFiles(calls).restore(PATH, {"kind": "file"})
    assert lines(calls) == []
    with pytest.raises(FlagFileError, match="Create .* when the VM may serve again"):
        WindowsFlagFiles(disk()).restore(PATH, {"kind": "file"})


def test_only_a_file_is_removed() -> None:
    for calls, removed in ((disk(PATH), True), (disk(), False), (disk(folders=[PATH]), False)):
        WindowsFlagFiles(calls).remove(PATH)
        assert (("win_file", {"path": PATH, "state": "absent"}) in calls.made) == removed
    calls = disk()
    WindowsFlagFiles(calls).create(PATH, "0644")
    assert calls.made == [("win_file", {"path": PATH, "state": "touch"})]


@pytest.mark.parametrize("act", ["describe", "set_aside", "restore"])
def test_no_path_leaves_its_quotes(act: str) -> None:
    path = 'C:\\a" & del "C:\\b'
    calls = disk(path, path + ".maintenance")
    with pytest.raises(FlagFileError, match="holds a double quote"):
        getattr(WindowsFlagFiles(calls), act)(path, *([{"kind": "file"}] if act == "restore" else []))
    assert lines(calls) == []


def test_a_failure_is_said() -> None:
    failed = {"failed": True, "msg": "denied"}
    for calls, act in ((disk(win_stat=failed), "exists"), (disk(PATH, win_file=failed), "remove"), (disk(win_stat={"msg": "denied"}), "exists")):
        with pytest.raises(OSError, match="denied"):
            getattr(WindowsFlagFiles(calls), act)(PATH)
    with pytest.raises(OSError, match="cannot be renamed .*: The file is in use"):
        WindowsFlagFiles(disk(PATH, win_command={"rc": 1, "failed": True, "msg": "non-zero return code", "stderr": "The file is in use"})).set_aside(PATH)
