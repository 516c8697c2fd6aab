# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The archive under a stand-in for Windows' Python (tests/lab/windows/programs/python.py): what Windows lacks is missing. No Windows is involved."""

from __future__ import annotations

import fnmatch
import http.server
import json
import os
import pathlib
import subprocess
import sys
import threading
import time
import typing as t

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[6]
sys.path.insert(0, str(ROOT / "tests"))

from lab.simulator import Simulator  # noqa: E402  the folder of tests is no package

STAND_IN = ROOT / "tests" / "lab" / "windows" / "programs" / "python.py"
LISTED = ROOT / "tests" / "tools" / "runs_on_windows.txt"
SECRET = "one-secret-of-this-vm"


class Receiver(http.server.ThreadingHTTPServer):
    """A webhook on this machine. While it is down it answers 503."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.got: list[dict[str, t.Any]] = []
        self.credentials: set[str | None] = set()
        self.down = False
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def kinds(self) -> list[str]:
        """What it has accepted, each once: a message has the same id whenever it comes."""
        return [message["type"].rpartition(".")[2] for message in {message["id"]: message for message in self.got}.values()]


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        server = t.cast(Receiver, self.server)
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server.credentials.add(self.headers["Authorization"])
        if not server.down:
            server.got.append(body)
        self.send_response(503 if server.down else 200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_arguments: t.Any) -> None:
        pass


class Watcher:
    """One "Windows" VM's watcher. Each part is a process of the stand-in."""

    def __init__(self, folder: pathlib.Path, settings: dict[str, t.Any]) -> None:
        self.folder = folder
        for name in ("runtime", "state", "seen"):
            (folder / name).mkdir()
        self.python = folder / "python.exe"
        self.python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{STAND_IN}" "$0" "$@"\n')
        self.python.chmod(0o700)
        pack = ROOT / "plugins" / "plugin_utils" / "_controller" / "pack.py"
        package = ROOT / "plugins" / "module_utils" / "_scheduled_events"
        subprocess.run([sys.executable, str(pack), str(package), str(folder / "watch.pyz"), "_scheduled_events.watch.main"], check=True)
        (folder / "credential").write_text(SECRET + "\r\n")
        folders = {f"{name}_folder": str(folder / name) for name in ("runtime", "state", "seen")}
        content = {"system": "windows", "tell_credential_file": str(folder / "credential"), "records_path": str(folder / "records"), **folders, **settings}
        (folder / "watch.json").write_text(json.dumps(content))
        self.modules = folder / "modules"

    def start(self, word: str) -> subprocess.Popen[str]:
        command = [str(self.python), "-I", str(self.folder / "watch.pyz"), word, str(self.folder / "watch.json")]
        return subprocess.Popen(command, env={**os.environ, "WINDOWS_MODULES": str(self.modules)}, stderr=subprocess.PIPE, text=True)

    def run(self, word: str) -> tuple[int, str]:
        process = self.start(word)
        _nothing, errors = process.communicate(timeout=30)
        return process.returncode, errors

    @property
    def state(self) -> dict[str, t.Any]:
        try:
            return t.cast("dict[str, t.Any]", json.loads((self.folder / "runtime" / "state.json").read_text()))
        except FileNotFoundError:
            return {}

    def spooled(self) -> list[str]:
        return sorted(path.suffix for path in (self.folder / "state").iterdir() if path.suffix in (".waiting", ".accepted"))

    def log(self, name: str) -> str:
        path = self.folder / "runtime" / name
        return path.read_text() if path.exists() else ""


class Room(t.NamedTuple):
    watcher: Watcher
    simulator: Simulator
    receiver: Receiver


@pytest.fixture
def room(tmp_path: pathlib.Path) -> t.Iterator[Room]:
    simulator, receiver = Simulator(["web1"], 1), Receiver()
    settings = {"endpoint": simulator.endpoints["web1"], "tell_url": f"http://127.0.0.1:{receiver.server_port}/", "tell_credential": "bearer"}
    yield Room(Watcher(tmp_path, settings), simulator, receiver)
    simulator.close()
    receiver.shutdown()
    receiver.server_close()


def until(condition: t.Callable[[], object], seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def listed(module: str) -> bool:
    path = "/".join(module.split(".")[1:]) + ".py"
    return any(fnmatch.fnmatch(path, line) for line in LISTED.read_text().splitlines() if line and not line.startswith("#"))


def test_it_asks_and_tells_and_loads_nothing_that_is_not_checked_for_windows(room: Room) -> None:
    watcher, simulator, receiver = room
    assert watcher.run("check") == (0, "")
    code, errors = watcher.run("alive")
    assert code == 1 and "has not asked yet" in errors
    asker = watcher.start("ask")
    try:
        until(lambda: watcher.run("alive")[0] == 0)
        event = simulator.event("Reboot", ["web1"])
        # No systemd: the asker itself has started the teller.
        until(lambda: receiver.kinds() == ["listed"])
        assert receiver.credentials == {f"Bearer {SECRET}"}
        until(lambda: watcher.spooled() == [".accepted"])
        # The records show no run yet, so it stays in the spool.
        assert watcher.run("seen") == (0, "")
        assert json.loads((watcher.folder / "seen" / "seen.json").read_text()) == {}
        simulator.ask("POST", f"/events/{event}/cancel")
        until(lambda: receiver.kinds() == ["listed", "gone"])
    finally:
        asker.terminate()
        _nothing, errors = asker.communicate(timeout=10)
    assert (asker.returncode, errors, watcher.log("ask.log"), watcher.log("tell.log")) == (0, "", "", "")
    assert watcher.state["boot_id"] is None and watcher.state["uptime"] > 0
    # Nothing waits any more, so this one ends soon; the one that the asker started rests for a minute.
    assert watcher.run("tell") == (0, "") and watcher.spooled() == []
    loaded = set(watcher.modules.read_text().split())
    files = [module for module in loaded if module.count(".") > 1]
    assert {f"_scheduled_events.watch.{name}" for name in ("ask.asker", "ask.teller_process", "tell.teller", "seen")} <= loaded
    assert [module for module in files if not listed(module) and not (ROOT / "plugins/module_utils" / module.replace(".", "/")).is_dir()] == []


def test_killed_it_loses_nothing(room: Room) -> None:
    watcher, simulator, receiver = room
    receiver.down = True
    event = simulator.event("Reboot", ["web1"])
    for told in (False, True):
        asker = watcher.start("ask")
        until(lambda: watcher.state.get("events"))
        until(lambda: watcher.spooled() == [".waiting"])
        # The first is killed right then, maybe before it has started its teller; with the second nothing would ever tell.
        until(lambda told=told: not told or "answered 503" in watcher.log("tell.log"))
        # Ending a scheduled task kills it.
        asker.kill()
        asker.wait(10)
        t.cast(t.Any, asker.stderr).close()
    (watcher.folder / "seen" / "seen.json").write_text(json.dumps({event.lower(): "noticed"}))
    receiver.down = False
    asker = watcher.start("ask")
    try:
        until(lambda: receiver.kinds() == ["listed"], 60)
        until(lambda: watcher.spooled() == [])
    finally:
        asker.kill()
        asker.communicate(timeout=10)
    assert SECRET not in watcher.log("tell.log") + watcher.log("ask.log") + json.dumps(watcher.state)


def test_a_file_that_stays_busy_is_an_error_and_no_link_is_followed(room: Room) -> None:
    """In the stand-in, over file_access itself."""
    code = f"""
import sys, time
sys.path.insert(0, {str(ROOT / "plugins" / "module_utils")!r})
from _scheduled_events.host import file_access
import os
folder = {str(room.watcher.folder)!r}
os.symlink(folder + "/credential", folder + "/link")
for path, work in ((folder + "/link", file_access.open_to_read), (folder, file_access.open_to_read), (folder + "/none", file_access.open_to_read)):
    try:
        work(path)
        print("opened")
    except OSError as error:
        print(type(error).__name__, error.errno)
def busy(path):
    raise PermissionError(13, "busy")
os.unlink = busy
began = time.monotonic()
try:
    file_access.remove(folder + "/credential")
except PermissionError:
    print("busy", 0.9 < time.monotonic() - began < 5)
"""
    done = subprocess.run([str(room.watcher.python), "-c", code], capture_output=True, text=True, timeout=30, check=False)
    assert done.stdout.splitlines() == ["OSError 40", "PermissionError 13", "FileNotFoundError 2", "busy True"], done.stderr


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"drain_types": ["Preempt"]}, "drain_types"),
        ({"figures_folder": "/metrics"}, "figures_folder"),
        ({"system": "dos"}, "system"),
    ],
)
def test_what_needs_systemd_is_refused(room: Room, changes: dict[str, t.Any], words: str) -> None:
    path = room.watcher.folder / "watch.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
    for word in ("ask", "check"):
        code, errors = room.watcher.run(word)
        assert code == 78 and words in errors and len(errors.splitlines()) == 1


def test_it_never_drains(room: Room) -> None:
    code, errors = room.watcher.run("drain")
    assert code == 78 and "does not drain" in errors


def test_a_teller_that_fails_is_one_line_and_rests(room: Room) -> None:
    watcher, simulator, _receiver = room
    simulator.event("Reboot", ["web1"])
    (watcher.folder / "credential").write_text("")
    asker = watcher.start("ask")
    try:
        until(lambda: "the teller ended with 78" in watcher.log("ask.log"))
        assert "must be one line" in watcher.log("tell.log")
        (watcher.folder / "credential").write_text(SECRET)
        until(lambda: watcher.spooled() == [".accepted"], 40)
    finally:
        asker.kill()
        asker.communicate(timeout=10)
    assert watcher.log("ask.log").count("\n") == 1
