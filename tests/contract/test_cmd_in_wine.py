# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The lines of cmd.exe that the records on a Windows VM need, in the stand-in; and each of their commands in the cmd.exe of Wine too.

Wine's cmd.exe is not that of Windows. It is somebody else's, over files that are shared and renamed as Windows does it. Debian's Wine (8.0)
carries out what follows "&&" and "||" in any case and loses its way in nested parentheses, so it is given the commands of a line one by
one. What a line makes of their exit codes is shown with the stand-in only.
"""

from __future__ import annotations

import fcntl
import os
import pathlib
import sys
import threading
import time
import typing as t

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from lab.windows.collections.ansible_collections.ansible.windows.plugins.module_utils.cmd_grammar import parse
from lab.windows.collections.ansible_collections.ansible.windows.plugins.module_utils.cmd_line import Cmd
from lab.windows.collections.ansible_collections.ansible.windows.plugins.module_utils.machine import Machine, Refused
from lab.wine import Wine

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.files import LocalFiles
from ansible_collections.maintenance.azure.plugins.plugin_utils._windows import files

WHERE = "C:\\ProgramData\\azure-maintenance"
# Wine has no PowerShell, no forfiles (for the stand-in see test_a_file_is_old_by_its_date), and an icacls that does nothing and is content.
NOT_IN_WINE = ("OLD",)
ONLY_NAMED_IN_WINE = ("icacls", "powershell")


class Side:
    """A drive C: and a cmd.exe, as WindowsFiles wants to have them."""

    drive: pathlib.Path

    def command(self, line: str) -> tuple[int, str, str]:
        code, output, errors = self.run(line)
        return code, output.decode(), errors.decode()

    def run(self, line: str) -> tuple[int, bytes, bytes]:
        raise NotImplementedError

    def send(self, content: bytes) -> str:
        (self.drive / "sent.json").write_bytes(content)
        return "C:\\sent.json"

    @property
    def records(self) -> pathlib.Path:
        return self.drive / "ProgramData" / "azure-maintenance"

    def fill(self, contents: dict[str, bytes] | None) -> None:
        """Make the directory as it shall be; None: there is none."""
        if self.records.is_dir():
            for path in self.records.iterdir():
                path.rmdir() if path.is_dir() else path.unlink()
            self.records.rmdir()
        elif self.records.exists():
            self.records.unlink()
        if contents is not None:
            self.records.mkdir()
            for name, content in contents.items():
                (self.records / name).write_bytes(content) if content != FOLDER else (self.records / name).mkdir()

    def held(self) -> dict[str, bytes] | str:
        if not self.records.is_dir():
            return "a file" if self.records.exists() else "nothing"
        return {path.name: path.read_bytes() if path.is_file() else FOLDER for path in self.records.iterdir()}


class InWine(Side):
    def __init__(self, folder: pathlib.Path) -> None:
        self.wine = Wine(folder)
        self.drive = self.wine.drive

    def run(self, line: str) -> tuple[int, bytes, bytes]:
        return self.wine.command(line)


class InStandIn(Side):
    def __init__(self, folder: pathlib.Path) -> None:
        folder.mkdir(exist_ok=True)
        self.machine = Machine(str(folder))
        self.drive = folder / "C"

    def run(self, line: str) -> tuple[int, bytes, bytes]:
        return Cmd(self.machine).run(line)


FOLDER = b"(a folder)"
ONE = b'{"phase": "noticed", "text": "100 % (a) & {{ b }} <c> ^ | \\" ! \xc3\xa9"}\n'
TWO = b'{"phase": "drained"}\n'
BOTH = {"event-1.1.json": ONE, "event-1.2.json": TWO}


@pytest.fixture(scope="module")
def wine(tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[InWine]:
    side = InWine(tmp_path_factory.mktemp("wine"))
    yield side
    side.wine.close()


@pytest.fixture(scope="module")
def stand_in(tmp_path_factory: pytest.TempPathFactory) -> InStandIn:
    return InStandIn(tmp_path_factory.mktemp("stand-in"))


def line(form: str, where: str = WHERE, **names: t.Any) -> str:
    plain: t.Any = None
    return files.WindowsFiles(plain, where, False)._line(getattr(files, form), **names)


# What is there before, the line, the exit code that the collection counts on.
CASES: dict[str, tuple[dict[str, bytes] | None, str, int]] = {
    "load nothing": (None, line("LOAD", largest=99), 2),
    "load an empty directory": ({}, line("LOAD", largest=99), 0),
    "load two files": (BOTH, line("LOAD", largest=99), 0),
    "load by a variable": (BOTH, line("LOAD", "%ProgramData%\\azure-maintenance", largest=99), 0),
    "load leaves large files out": ({"a.json": ONE, "b.json": TWO}, line("LOAD", largest=30), 0),
    "load leaves folders out": ({**BOTH, "other": FOLDER}, line("LOAD", largest=99), 0),
    "load many files": (dict.fromkeys(("b.json", "A.json", "a-1.json", "C.json", "_1.json", "10.json", "2.json"), TWO), line("LOAD", largest=99), 0),
    "make": (None, line("MAKE", rights=files.RIGHTS), 0),
    "make by a variable": (None, line("MAKE", "%ProgramData%\\azure-maintenance", rights=files.RIGHTS), 0),
    "make again, empty": ({}, line("MAKE", rights=files.RIGHTS), 0),
    "make again": (BOTH, line("MAKE", rights=files.RIGHTS), 0),
    "distrust": ({}, line("DISTRUST"), 0),
    "store": ({}, line("STORE", name="new.json", sent="C:\\sent.json"), 0),
    "store over a file": (BOTH, line("STORE", name="event-1.1.json", sent="C:\\sent.json"), 5),
    "store what was not sent": ({}, line("STORE", name="new.json", sent="C:\\other.json"), 1),
    "store nowhere": (None, line("STORE", name="new.json", sent="C:\\sent.json"), 2),
    "take": (BOTH, line("TAKE", name="event-1.2.json", new="event-1.3.json"), 0),
    "take a name that is taken": (BOTH, line("TAKE", name="event-1.2.json", new="event-1.1.json"), 5),
    "take what is not there": (BOTH, line("TAKE", name="event-2.1.json", new="event-2.2.json"), 2),
    "replace": (BOTH, line("REPLACE", name="event-1.2.json", new="event-1.1.json"), 0),
    "replace by what is not there": (BOTH, line("REPLACE", name="event-2.1.json", new="event-1.1.json"), 2),
    "replace nothing": (BOTH, line("REPLACE", name="event-1.2.json", new="event-1.3.json"), 0),
    "remove": (BOTH, line("REMOVE", name="event-1.2.json", new=".gone"), 0),
    "remove what is not there": (BOTH, line("REMOVE", name="event-2.1.json", new=".gone"), 2),
    "remove without a directory": (None, line("REMOVE", name="event-2.1.json", new=".gone"), 2),
}


# Where Wine 8.0 differs, and what it gives: these two do not say that there is nothing to rename.
NOTHING_TO_RENAME = ("ren", "move")


@pytest.mark.parametrize("name", CASES)
def test_the_line_in_the_stand_in(name: str, stand_in: InStandIn) -> None:
    before, command, code = CASES[name]
    stand_in.fill(before)
    stand_in.send(ONE)
    assert stand_in.run(command)[0] == code, command


def pieces(tree: t.Any, before: str = "") -> t.Iterator[str]:
    """The commands of a line, each as a line of its own: with the condition or the loop that it is in, without what decides otherwise."""
    kind = type(tree).__name__
    if kind == "Sequence":
        for part in tree.parts:
            yield from pieces(part, before)
            before += "".join(f"{piece}&" for piece in pieces(part) if piece.startswith("cd "))
    elif kind in ("Both", "Either"):
        yield from pieces(tree.first, before)
        yield from pieces(tree.second, before)
    elif kind == "Group":
        yield from pieces(tree.body, before)
    elif kind == "If":
        words = f"exist {tree.words[1]}" if tree.words[0] == "exist" else " ".join((tree.words[1], tree.words[0], tree.words[2]))
        for piece in pieces(tree.body):
            yield f"{before}if {'not ' if tree.negated else ''}{words} {piece}"
    elif kind == "For":
        for piece in pieces(tree.body):
            yield f"{before}(for %{tree.name} in ({tree.pattern}) do @{piece})"
    else:
        silent = "".join(f" {stream}>nul" for stream in sorted(tree.silent))
        yield before + tree.text.strip() + silent


def pieces_of(command: str) -> list[str]:
    """Without "exit", which is no act, and what Wine only pretends to have."""
    return [piece for piece in dict.fromkeys(pieces(parse(command))) if not piece.split("&")[-1].startswith(("exit", *ONLY_NAMED_IN_WINE))]


def test_the_pieces_of_a_line() -> None:
    assert pieces_of('(if not exist "a\\" exit 2)&(cd /d "a" 2>nul||exit 4)&(for %f in (*) do @if %~zf LEQ 9 (echo %f&echo.))&dir /b /a-d 2>nul') == [
        'if not exist "a\\" exit 2',
        'cd /d "a" 2>nul',
        'cd /d "a" 2>nul&(for %f in (*) do @if %~zf LEQ 9 echo %f)',
        'cd /d "a" 2>nul&(for %f in (*) do @if %~zf LEQ 9 echo.)',
        'cd /d "a" 2>nul&dir /b /a-d 2>nul',
    ]


@pytest.mark.parametrize("name", CASES)
def test_each_command_does_the_same_in_wine(name: str, wine: InWine, stand_in: InStandIn) -> None:
    before, command, _code = CASES[name]

    def done(side: Side, piece: str) -> list[t.Any]:
        side.fill(before)
        side.send(ONE)
        code, output, _errors = side.run(piece)
        # In which order names come is the file system's business; nothing depends on it.
        return [code, sorted(output.splitlines(True)), side.held(), (side.drive / "sent.json").exists()]

    for piece in pieces_of(command):
        seen = [done(wine, piece), done(stand_in, piece)]
        if seen[0][0] not in (0, seen[1][0]):
            # Wine itself breaks off now and then on a busy machine, with an exit code that the command does not have; once more it does not.
            seen[0] = done(wine, piece)
        if piece.startswith(NOTHING_TO_RENAME) and seen[1][0] == 1 and seen[0][0] == 0:
            # Wine says nothing; that nothing was done must be true in both.
            assert seen[0][2] == (before if before is not None else "nothing"), piece
            seen[0][0] = 1
        if "dir /b /a " in piece:
            # Wine sees "." and ".." in an empty directory. Nothing depends on this code.
            seen[0][0] = seen[1][0] = 0
        assert seen[0] == seen[1], piece


@pytest.mark.parametrize(("state", "shown"), [(None, b""), (b"x" * 31, b""), (TWO, b"=watcher\r\n" + TWO)])
def test_the_state_of_the_watcher_in_wine(state: bytes | None, shown: bytes, wine: InWine, stand_in: InStandIn) -> None:
    """What LOAD does last, command by command: a file that is missing or too large shows nothing, and neither do its neighbours."""
    for side in (wine, stand_in):
        runtime = side.drive / "ProgramData" / "azure-maintenance-watch" / "runtime"
        runtime.mkdir(parents=True, exist_ok=True)
        (runtime / "state.json").unlink(missing_ok=True)
        (runtime / ".temporary-1").write_bytes(ONE)
        (runtime / "ask.log").write_bytes(ONE)
        if state is not None:
            (runtime / "state.json").write_bytes(state)
        output = b""
        for command in ("echo =watcher", 'type "%f"'):
            line = f'cd /d "%ProgramData%\\azure-maintenance-watch\\runtime"&(for %f in ({files.STATE_PATTERN}) do @if %~zf LEQ 30 {command})'
            assert command.split()[0] in files.LOAD
            output += side.run(line)[1]
        assert output == shown, side


def test_a_file_that_is_read_is_not_renamed(wine: InWine, stand_in: InStandIn) -> None:
    """Windows lets nobody rename a file while it is open elsewhere. Nothing is changed then, and it can be tried again."""
    busy = {"busy.json": ONE, "other.json": TWO}
    held, go = (wine.drive / "windows" / name for name in ("held", "go"))
    wine.fill(busy)
    # A process that has it as its input, until it is told to end.
    hold = ["@echo held>C:\\windows\\held", ":again", '@if exist "C:\\windows\\go" exit 0', "@goto again"]
    reader = wine.wine.start(wine.wine.batch("read.bat", [f'@cmd.exe /d /c {wine.wine.batch("hold.bat", hold)} <"{WHERE}\\busy.json"']))
    try:
        while not held.exists():
            assert reader.process.poll() is None, "the reader has ended"
            time.sleep(0.05)
        assert wine.run(f'ren "{WHERE}\\busy.json" "new.json"')[0] == 1
        wine.run(f'move /y "{WHERE}\\other.json" "{WHERE}\\busy.json"')
        wine.run(f'del /f /q "{WHERE}\\busy.json"')
        assert wine.held() == busy
    finally:
        go.touch()
        reader.finish(60)
    assert wine.run(f'ren "{WHERE}\\busy.json" "new.json"')[0] == 0
    stand_in.fill({"busy.json": ONE, "other.json": TWO})
    with (stand_in.records / "busy.json").open("rb") as open_file:
        fcntl.flock(open_file, fcntl.LOCK_SH)
        for change in ('ren "{0}\\busy.json" "new.json"', 'move /y "{0}\\busy.json" "{0}\\other.json"', 'move /y "{0}\\other.json" "{0}\\busy.json"'):
            assert stand_in.run(change.format(WHERE))[0] == 1
        stand_in.run(f'del /f /q "{WHERE}\\busy.json"')
    assert stand_in.held() == {"busy.json": ONE, "other.json": TWO}


def test_a_file_in_the_place_of_the_directory(stand_in: InStandIn) -> None:
    for command, code in ((line("MAKE", rights=files.RIGHTS), 1), (line("LOAD", largest=99), 4)):
        stand_in.fill(None)
        stand_in.records.write_bytes(ONE)
        assert (stand_in.run(command)[0], stand_in.held()) == (code, "a file")


def test_every_line_is_here() -> None:
    """A new line of files.py needs a case, or a reason why it has none."""
    forms = {name for name in vars(files) if name.isupper() and isinstance(getattr(files, name), str) and "{where}" in getattr(files, name)}
    covered = {form for form in forms for _before, command, _code in CASES.values() if command.split('"')[0] == getattr(files, form).split('"')[0]}
    assert forms - covered == set(NOT_IN_WINE)


def act(what: t.Callable[[], t.Any]) -> t.Any:
    try:
        return what()
    except OSError as error:
        return type(error).__name__


def life(store: t.Any) -> list[t.Any]:
    """What records do with their directory, and what comes of it."""

    def linked(old: str, new: str) -> t.Any:
        # Here a second name and then one less, there one rename.
        done = act(lambda: store.link(old, new))
        act(lambda: store.unlink(old))
        return done

    return [
        act(store.names),
        act(store.make),
        act(store.make),
        act(store.names),
        act(lambda: store.read("a.json")),
        act(lambda: store.write_exclusive("a.json", ONE)),
        act(lambda: store.write_exclusive("a.json", TWO)),
        act(lambda: store.read("a.json")),
        act(lambda: store.write_exclusive(".b", TWO)),
        linked(".b", "b.json"),
        act(lambda: sorted(store.names())),
        act(lambda: store.write_exclusive(".c", ONE)),
        linked(".c", "b.json"),
        act(lambda: sorted(store.names())),
        act(lambda: store.rename("a.json", "b.json")),
        act(lambda: store.rename("a.json", "b.json")),
        act(lambda: store.read("b.json")),
        act(lambda: store.unlink("b.json")),
        act(lambda: store.unlink("b.json")),
        act(store.names),
    ]


def test_a_life_as_on_linux(stand_in: InStandIn, tmp_path: pathlib.Path) -> None:
    expected = life(LocalFiles(str(tmp_path / "records")))
    assert "FileExistsError" in expected and "FileNotFoundError" in expected and ONE in expected
    stand_in.fill(None)
    calls: t.Any = stand_in
    assert life(files.WindowsFiles(calls, WHERE, False)) == expected


class Reading(InStandIn):
    """Somebody has a file open for the first calls."""

    def __init__(self, folder: pathlib.Path, calls: int) -> None:
        super().__init__(folder)
        self.calls = calls

    def command(self, line: str) -> tuple[int, str, str]:
        self.calls -= 1
        with (self.records / "a.json").open("rb") as reader:
            if self.calls >= 0:
                fcntl.flock(reader, fcntl.LOCK_SH)
            return super().command(line)


CHANGES: dict[str, t.Callable[[t.Any], t.Any]] = {
    "link": lambda store: store.link("a.json", "b.json"),
    "rename": lambda store: store.rename("a.json", "b.json"),
    "unlink": lambda store: store.unlink("a.json"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_in_use_is_tried_again(change: str, tmp_path: pathlib.Path) -> None:
    for calls, fails in ((files.TRIES - 1, False), (files.TRIES, True)):
        side: t.Any = Reading(tmp_path / str(calls), calls)
        side.fill({"a.json": ONE})
        store = files.WindowsFiles(side, WHERE, False)
        if not fails:
            CHANGES[change](store)
            assert "a.json" not in side.held()
            continue
        with pytest.raises(OSError) as caught:
            CHANGES[change](store)
        assert not isinstance(caught.value, (FileNotFoundError, FileExistsError))
        assert side.held() == {"a.json": ONE}


def test_nothing_is_read_by_half(wine: InWine, stand_in: InStandIn) -> None:
    """While one name gets another content all the time, and other names come and go."""
    listing = f'cd /d "{WHERE}"&echo =list&dir /b /a-d&echo =file busy.json&type "busy.json"&echo =read&echo =list&dir /b /a-d&echo =end&exit 0'
    for side, reading in ((wine, listing), (stand_in, line("LOAD", largest=files.LARGEST_FILE))):
        side.fill({"kept.json": ONE, "busy.json": ONE})
        stop = threading.Event()
        contents = [b"%d" % digit * 50_000 + b"\n" for digit in range(10)]

        def change(side: Side = side, stop: threading.Event = stop, contents: list[bytes] = contents) -> None:
            iteration = 0
            while not stop.is_set():
                iteration += 1
                (side.drive / "next").write_bytes(contents[iteration % 10])
                os.replace(side.drive / "next", side.records / "busy.json")
                os.rename(side.records / "kept.json", side.records / f"kept-{iteration}.json")
                os.rename(side.records / f"kept-{iteration}.json", side.records / "kept.json")

        writer = threading.Thread(target=change)
        writer.start()
        calls: t.Any = side
        try:
            for _observation in range(15):
                code, output, errors = calls.command(reading)
                if side is wine and "=end" not in output:
                    # Wine itself did not get to the end, as happens on a busy machine: its exit code says so, and once more it does.
                    assert code != 0, output
                    code, output, errors = calls.command(reading)
                assert code == 0, (side, output[-500:], errors)
                _before, read, _after = files._parts(output)
                assert read["busy.json"] in (ONE, *contents)
                assert read.get("kept.json", ONE) == ONE
        finally:
            stop.set()
            writer.join()


def test_what_is_not_known_is_refused(stand_in: InStandIn) -> None:
    for refused in (
        "format c:",
        "echo a|more",
        "echo a>file",
        "echo ^a",
        "if exist x (echo a) else (echo b)",
        "for %f in (*) do echo %f",
        "if exist x (echo a)&echo b",
        'icacls "C:\\Temp',
        "(echo a",
        "exit /b 1",
    ):
        with pytest.raises(Refused, match="^stand-in"):
            stand_in.run(refused)


def test_a_file_is_old_by_its_date(stand_in: InStandIn) -> None:
    stand_in.fill({"young.json": ONE, "old.json": ONE})
    os.utime(stand_in.records / "old.json", (1, 1))
    assert [stand_in.run(line("OLD", name=name))[0] for name in ("young.json", "old.json", "missing.json")] == [1, 0, 1]
