# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The archive as systemd starts it: packed by the role's own packer, against the simulator, as processes of their own."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time
import typing as t
from collections.abc import Callable, Iterator

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[6]
sys.path.insert(0, str(ROOT / "tests"))

from lab.simulator import Simulator  # noqa: E402  the folder of tests is no package

PACK = ROOT / "plugins" / "plugin_utils" / "_controller" / "pack.py"
PACKAGE = ROOT / "plugins" / "module_utils" / "_scheduled_events"


def pack(archive: pathlib.Path) -> pathlib.Path:
    subprocess.run([sys.executable, str(PACK), str(PACKAGE), str(archive), "_scheduled_events.watch.main"], check=True)
    return archive


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return pack(tmp_path_factory.mktemp("archive") / "watch.pyz")


@pytest.fixture
def simulator() -> Iterator[Simulator]:
    simulator = Simulator(["web1"], 1)
    yield simulator
    simulator.close()


class Watcher:
    """The folders and the settings of one VM's watcher."""

    def __init__(self, folder: pathlib.Path, archive: pathlib.Path, endpoint: str) -> None:
        self.folder, self.archive, self.path = folder, archive, folder / "watch.json"
        names = ("runtime", "state", "seen", "told", "figures")
        for name in names:
            (folder / name).mkdir()
        folders = {f"{name}_folder": str(folder / name) for name in names if name != "told"}
        settings = {"endpoint": endpoint, "tell_folder": str(folder / "told"), "records_path": str(folder / "records"), **folders}
        self.path.write_text(json.dumps(settings))

    def command(self, command: str) -> list[str]:
        # As in the units: nothing of the user's surroundings.
        return [sys.executable, "-I", "-S", str(self.archive), command, str(self.path)]

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(self.command(command), capture_output=True, text=True, timeout=30, check=False)

    @property
    def state(self) -> dict[str, t.Any]:
        try:
            content: dict[str, t.Any] = json.loads((self.folder / "runtime" / "state.json").read_text())
        except FileNotFoundError:
            return {}
        return content

    def told(self) -> list[str]:
        found = [json.loads(path.read_text()) for path in sorted((self.folder / "told").iterdir())]
        return [message["type"].rpartition(".")[2] for message in found]


@pytest.fixture
def watcher(tmp_path: pathlib.Path, archive: pathlib.Path, simulator: Simulator) -> Watcher:
    return Watcher(tmp_path, archive, simulator.endpoints["web1"])


def until(condition: Callable[[], object], seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_alive_is_yes_once_it_has_asked_and_reads_nothing_but_the_state(watcher: Watcher, tmp_path: pathlib.Path) -> None:
    state = tmp_path / "runtime" / "state.json"
    assert watcher.run("alive").returncode == 1
    asker = subprocess.Popen(watcher.command("ask"))
    try:
        until(lambda: watcher.run("alive").returncode == 0)
    finally:
        asker.kill()
        asker.wait(10)
    # Whoever has taken the asker over puts a pipe or a link in its place: root neither waits nor follows.
    for put in (os.mkfifo, lambda path: os.symlink("/etc/hostname", path)):
        state.unlink()
        put(state)
        done = watcher.run("alive")
        assert done.returncode == 1 and "cannot be read" in done.stderr


def test_equal_files_give_equal_bytes(tmp_path: pathlib.Path, archive: pathlib.Path) -> None:
    assert pack(tmp_path / "again.pyz").read_bytes() == archive.read_bytes()


def test_wrong_words_and_wrong_settings_end_with_78_and_one_line(archive: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (tmp_path / "watch.json").write_text('{"interval": 0}')
    for words in ([], ["ask"], ["look", "x"], ["ask", str(tmp_path / "none")], ["check", str(tmp_path / "watch.json")]):
        run = subprocess.run([sys.executable, "-I", "-S", str(archive), *words], capture_output=True, text=True, timeout=30, check=False)
        assert run.returncode == 78
        assert len(run.stderr.splitlines()) == 1 and "Traceback" not in run.stderr


def test_folders_that_are_missing_are_one_line(watcher: Watcher) -> None:
    (watcher.folder / "state").rmdir()
    for command in ("ask", "tell"):
        run = watcher.run(command)
        assert run.returncode == 1 and len(run.stderr.splitlines()) == 1 and "state" in run.stderr


def test_from_an_event_to_its_message(watcher: Watcher, simulator: Simulator) -> None:
    asker = subprocess.Popen(watcher.command("ask"), stderr=subprocess.PIPE, text=True)
    try:
        until(lambda: watcher.state.get("answers"))
        # Neither TLS nor OpenSSL's hashes are loaded while there is no news: they take half of its memory.
        assert not [line for line in pathlib.Path(f"/proc/{asker.pid}/maps").read_text().splitlines() if "libssl" in line or "libcrypto" in line]
        event = simulator.event("Preempt", ["web1"])
        until(lambda: watcher.state["events"])
        assert watcher.state["events"][0]["event_id"] == event
        until(lambda: watcher.state["messages_waiting"] == 1)
        assert watcher.run("seen").returncode == 0
        assert watcher.run("tell").returncode == 0
        assert watcher.told() == ["listed"]
        simulator.ask("POST", f"/events/{event}/cancel")
        until(lambda: not watcher.state["events"])
        until(lambda: watcher.state["messages_waiting"] == 1)
        assert watcher.run("tell").returncode == 0
        assert watcher.told() == ["listed", "gone"]
    finally:
        asker.send_signal(signal.SIGTERM)
        _nothing, errors = asker.communicate(timeout=10)
    assert asker.returncode == 0 and errors == ""


def test_metrics_of_the_asker_and_of_the_records(watcher: Watcher, simulator: Simulator) -> None:
    asker = subprocess.Popen(watcher.command("ask"))
    files = {name: watcher.folder / "figures" / f"maintenance_{name}.prom" for name in ("watch", "records")}
    try:
        until(lambda: watcher.state.get("answers"))
        assert "azure_scheduled_events_listed" not in files["watch"].read_text()
        simulator.event("Preempt", ["web1"])
        until(lambda: 'azure_scheduled_events_listed{type="Preempt",status="Scheduled",this_vm="true"} 1' in files["watch"].read_text())
        assert watcher.run("seen").returncode == 0
        assert 'azure_scheduled_events_records{phase="noticed"} 0' in files["records"].read_text()
    finally:
        asker.terminate()
        asker.wait(10)
    assert sorted(path.name for path in (watcher.folder / "figures").iterdir()) == ["maintenance_records.prom", "maintenance_watch.prom"]


def test_without_the_folder_for_metrics_it_asks_all_the_same(watcher: Watcher) -> None:
    (watcher.folder / "figures").rmdir()
    asker = subprocess.Popen(watcher.command("ask"), stderr=subprocess.PIPE, text=True)
    until(lambda: watcher.state.get("answers"))
    asker.terminate()
    _nothing, errors = asker.communicate(timeout=10)
    assert asker.returncode == 0 and errors.count("cannot write metrics") == 1 and len(errors.splitlines()) == 1


def test_it_reports_to_systemd_what_it_does(watcher: Watcher) -> None:
    address = str(watcher.folder / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(address)
        manager.settimeout(15)
        asker = subprocess.Popen(watcher.command("ask"), env={**os.environ, "NOTIFY_SOCKET": address})
        try:
            assert manager.recv(1000) == b"READY=1"
            assert manager.recv(1000).startswith(b"WATCHDOG=1\nSTATUS=0 events; asking")
        finally:
            asker.terminate()
            asker.wait(10)


def test_killed_it_goes_on_where_it_was(watcher: Watcher, simulator: Simulator) -> None:
    event = simulator.event("Reboot", ["web1"])
    for _time in range(2):
        asker = subprocess.Popen(watcher.command("ask"))
        until(lambda: watcher.state.get("events"))
        asker.kill()
        asker.wait(10)
        (watcher.folder / "runtime" / "state.json").unlink()
    watcher.run("tell")
    simulator.ask("POST", f"/events/{event}/cancel")
    assert watcher.told() == ["listed"]
