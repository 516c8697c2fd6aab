# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Records and leases on a Windows VM: as safe as on Linux. The lines of cmd run in the stand-in's interpreter (test_cmd_in_wine.py
holds it against a cmd.exe)."""

from __future__ import annotations

import json
import os
import pathlib
import re
import stat
import typing as t

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.files import TEMPORARY, Files, LocalFiles
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.imds.enabled_since import note_asked
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_changes import RecordChange
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_schema import RecordsError
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_store import RecordStore
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease.lease_schema import LeaseLost
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease.lease_store import LeaseStore
from ansible_collections.maintenance.azure.plugins.plugin_utils._windows.files import check_directory
from ansible_collections.maintenance.azure.tests.contract.windows_files import Killed, PlayedCalls, folder, windows_files
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.helpers import EVENT, FakeHost
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.journal.test_record_store_crash import begin, drain, finish, prune

Action = t.Callable[[RecordStore], None]
# What is there before, what is done, and the phases that a reader may find when that is cut off (None: no record).
CASES: dict[str, tuple[list[Action], Action, set[str | None]]] = {
    "create": ([], begin, {None, "noticed"}),
    "change": ([begin], drain, {"noticed", "draining"}),
    "change again": ([begin, drain], finish, {"draining", "recovered"}),
    "prune": ([begin, drain, finish], prune, {"recovered", None}),
}


@pytest.mark.parametrize("case", list(CASES))
def test_killed_between_any_two_calls_a_reader_finds_the_old_or_the_new_record(case: str, tmp_path: pathlib.Path) -> None:
    before, action, allowed = CASES[case]
    seen: set[str | None] = set()
    cut = 0
    while True:
        home = tmp_path / str(cut)
        for earlier in before:
            earlier(RecordStore(windows_files(home), FakeHost()))
        try:
            action(RecordStore(windows_files(home, cut), FakeHost()))
            killed = False
        except Killed:
            killed = True
        seen.add(_phase(home))
        # Somebody who is not killed does it again, and it ends as if nothing had been.
        action(RecordStore(windows_files(home), FakeHost()))
        assert _phase(home) == ("recovered" if case == "change again" else {"create": "noticed", "change": "draining", "prune": None}[case])
        if not killed:
            break
        cut += 1
    assert cut > 8, "the cut points were not reached"
    assert seen == allowed


def _phase(home: pathlib.Path) -> str | None:
    reading = RecordStore(windows_files(home), FakeHost()).read_all()
    assert reading.problems == [] and reading.readable and len(reading.records) <= 1
    return reading.records[0]["phase"] if reading.records else None


NAMES = st.sampled_from(["one.json", "two.json", "three.json"])
OPERATIONS = st.one_of(
    st.tuples(st.just("write_exclusive"), NAMES, st.sampled_from([b"{}\n", b'{"a": "100% of \\u00e9 & {{ x }}"}\n'])),
    st.tuples(st.just("rename"), NAMES, NAMES),
    st.tuples(st.just("link"), NAMES, NAMES),
    st.tuples(st.just("unlink"), NAMES),
    st.tuples(st.just("read"), NAMES),
    st.tuples(st.just("names")),
    st.tuples(st.just("make")),
)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(OPERATIONS, max_size=12))
def test_files_behave_as_on_linux(tmp_path_factory: pytest.TempPathFactory, operations: list[tuple[t.Any, ...]]) -> None:
    home = tmp_path_factory.mktemp("files")
    linux, windows = LocalFiles(str(home / "linux")), windows_files(home / "windows")
    for name, *arguments in operations:
        if name == "rename" and arguments[0] == arguments[1]:
            continue  # nothing to either, in other words
        found = _outcome(linux, name, arguments)
        assert _outcome(windows, name, arguments) == found, (name, arguments)
        if name == "link" and found is None:
            # What link leaves under the old name is removed by whoever calls it; on Windows it is gone already.
            linux.unlink(arguments[0])
            with pytest.raises(FileNotFoundError):
                windows.unlink(arguments[0])
    assert _outcome(windows, "names", []) == _outcome(linux, "names", [])


def _outcome(files: Files, name: str, arguments: t.Sequence[t.Any]) -> t.Any:
    try:
        return getattr(files, name)(*arguments)
    except OSError as error:
        return type(error).__name__


def test_a_lease_is_exclusive_renewed_and_lost(tmp_path: pathlib.Path) -> None:
    host = FakeHost()
    mine, other = LeaseStore(windows_files(tmp_path), host), LeaseStore(windows_files(tmp_path), host)
    name = mine.make("run1", EVENT, 60)
    assert [lease["name"] for lease in other.read_all().leases] == [name]
    host.pass_time(30)
    assert not other.remove_expired(name), "its time is not over"
    renewed = mine.renew("run1", EVENT, 60)
    host.pass_time(45)
    # It was over under its old name; the owner has renewed it meanwhile.
    assert not other.remove_expired(name)
    assert mine.stands("run1", EVENT)
    host.pass_time(60)
    assert other.remove_expired(renewed)
    assert not other.remove_expired(renewed), "only one removes it"
    with pytest.raises(LeaseLost):
        mine.renew("run1", EVENT, 60)
    assert not list(folder(tmp_path).iterdir())


def test_of_two_writers_of_one_revision_one_wins(tmp_path: pathlib.Path) -> None:
    begin(RecordStore(windows_files(tmp_path), FakeHost()))
    slow = windows_files(tmp_path)
    taken = slow.link

    def too_late(old: str, new: str) -> None:
        # In the moment before the slow one publishes, a quick one does.
        slow.link = taken  # type: ignore[method-assign]
        drain(RecordStore(windows_files(tmp_path), FakeHost()))
        taken(old, new)

    slow.link = too_late  # type: ignore[method-assign]
    RecordStore(slow, FakeHost()).write(EVENT, RecordChange(changes={"reason": "slow"}))
    [record] = RecordStore(windows_files(tmp_path), FakeHost()).read_all().records
    assert (record["phase"], record["reason"], record["revision"]) == ("draining", "slow", 3)


def test_a_file_that_another_user_put_into_the_new_folder_is_no_record(tmp_path: pathlib.Path) -> None:
    """Between mkdir and icacls every user may write in a folder below %ProgramData%, and the owner of a file keeps it."""
    (tmp_path / "intruders.json").write_text(json.dumps({"C:\\ProgramData\\azure-maintenance": ["event-1.1.json"]}))
    files = windows_files(tmp_path)
    with pytest.raises(OSError, match="another user"):
        files.make()
    # Its rights are again those of its parent, so that no later run trusts it.
    assert stat.S_IMODE(folder(tmp_path).stat().st_mode) == 0o777


def test_an_observation_reads_the_folder_once(tmp_path: pathlib.Path) -> None:
    begin(RecordStore(windows_files(tmp_path), FakeHost()))
    note_asked(windows_files(tmp_path), FakeHost())
    files = windows_files(tmp_path, once=True)
    note_asked(files, FakeHost())
    LeaseStore(files, FakeHost()).read_all()
    assert len(RecordStore(files, FakeHost()).read_all().records) == 1
    assert len(files._calls.lines) == 1  # type: ignore[attr-defined]


def test_a_record_that_cannot_be_read_at_this_moment_is_not_taken_for_a_broken_one(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begin(RecordStore(windows_files(tmp_path), FakeHost()))
    kept = [path.name for path in folder(tmp_path).iterdir()]
    whole = PlayedCalls.command

    def without_content(self: PlayedCalls, line: str) -> tuple[int, str, str]:
        code, output, errors = whole(self, line)
        return code, re.sub(r"(=file [^\r\n]*\r\n).*?=read\r\n", r"\1", output, flags=re.DOTALL), errors

    with monkeypatch.context() as patch:
        patch.setattr(PlayedCalls, "command", without_content)
        reading = RecordStore(windows_files(tmp_path), FakeHost()).read_all()
        assert (reading.records, reading.readable) == ([], False)
        with pytest.raises(RecordsError):
            drain(RecordStore(windows_files(tmp_path), FakeHost()))
    assert [path.name for path in folder(tmp_path).iterdir()] == kept, "nothing was set aside"
    assert _phase(tmp_path) == "noticed"


def test_leftovers_of_the_killed_are_swept_after_a_day(tmp_path: pathlib.Path) -> None:
    begin(RecordStore(windows_files(tmp_path), FakeHost()))
    left = folder(tmp_path) / f"{TEMPORARY}0123456789abcdef0123456789abcdef.json"
    left.write_text("{")
    drain(RecordStore(windows_files(tmp_path), FakeHost()))
    assert left.exists(), "its writer may be at work"
    os.utime(left, (0, 0))
    finish(RecordStore(windows_files(tmp_path), FakeHost()))
    assert not left.exists()


def test_nothing_is_changed_in_check_mode(tmp_path: pathlib.Path) -> None:
    files = windows_files(tmp_path)
    files._check_mode = True
    for action in (files.make, lambda: files.write_exclusive("a.json", b"{}"), lambda: files.rename("a", "b"), lambda: files.unlink("a")):
        with pytest.raises(AssertionError):
            action()
    assert files._calls.lines == []  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "path",
    ["relative", "/var/lib/elsewhere", "C:", "\\\\server\\share", 'C:\\a"&del *', "C:\\a%b", "C:\\a\nb", "C:\\*", "%a b%\\c", "C:\\a|b", "C:\\..\\"],
)
def test_a_path_that_cmd_could_misread_is_refused(path: str) -> None:
    if path == "C:\\..\\":
        assert check_directory(path) == "C:\\.."  # odd, and harmless
        return
    with pytest.raises(ValueError, match="records_path"):
        check_directory(path)


@pytest.mark.parametrize("path", ["C:\\ProgramData\\x", "%ProgramData%\\azure-maintenance", "D:/data/a & b (1)/", "c:\\Übung ^!\\r"])
def test_plain_paths_are_taken(path: str) -> None:
    assert check_directory(path) == path.replace("/", "\\").rstrip("\\")


def test_a_folder_that_others_own_or_may_write_is_refused(tmp_path: pathlib.Path) -> None:
    begin(RecordStore(windows_files(tmp_path), FakeHost()))
    for rights in ("O:BUG:SYD:PAI(A;OICI;FA;;;BA)", "O:BAG:SYD:AI(A;OICI;FA;;;BA)(A;OICI;0x1301bf;;;BU)", "cannot be read"):
        (tmp_path / "rights.txt").write_text(rights)
        reading = RecordStore(windows_files(tmp_path), FakeHost()).read_all()
        assert reading.records == [] and not reading.readable and len(reading.problems) == 1
        with pytest.raises(RecordsError):
            drain(RecordStore(windows_files(tmp_path), FakeHost()))
        with pytest.raises(RecordsError):
            LeaseStore(windows_files(tmp_path), FakeHost()).make("run1", EVENT, 60.0)
        assert note_asked(windows_files(tmp_path), FakeHost()).problems
    (tmp_path / "rights.txt").unlink()
    assert _phase(tmp_path) == "noticed"
