# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulator as a process: start, control, recordings, end."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from simulator_process import COLLECTION, PACKAGE, SimulatorProcess, exchange

GET = "/metadata/scheduledevents?api-version=2020-07-01"
HEADER = {"Metadata": "true"}


def _until(true: Callable[[], object], seconds: float = 10.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


def _run(*words: str, main: Path = PACKAGE) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(main), *words], capture_output=True, text=True, timeout=30, check=False)


def test_help_and_the_list_of_scenarios() -> None:
    assert "--control" in _run("--help").stdout
    listed = _run("--list-scenarios").stdout.splitlines()
    assert len(listed) >= 30
    assert {int(line.split()[0]) for line in listed} == set(range(1, 31))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--speed", "0"], "--speed"),
        (["--switch", "colour=red"], "there is no switch 'colour'"),
        (["--vm", "web1=127.0.0.1:port"], "not an address"),
        (["--vm", "web1", "--vm", "WEB1"], "already is a VM"),
        (["--vm", "web1", "--scenario", "live-migration"], "needs 2 VMs"),
        (["--scenario", "nothing"], "there is no scenario 'nothing'"),
    ],
)
def test_invalid_command_lines_are_errors(words: list[str], message: str) -> None:
    run = _run(*words)
    assert run.returncode != 0
    assert message in run.stderr
    assert "Traceback" not in run.stderr


def test_many_vms_at_ports_and_addresses_of_their_own() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.2", 0))
        port = free.getsockname()[1]
    with SimulatorProcess("--vm", "web1", "--vm", f"web2=127.0.0.2:{port}", "--vms", "3") as simulator:
        assert list(simulator.vms) == ["web1", "web2", "vm-0001", "vm-0002", "vm-0003"]
        assert simulator.vms["web2"] == f"http://127.0.0.2:{port}"
        names = [json.loads(exchange(url, "GET", "/metadata/instance?api-version=2021-02-01", HEADER)[2])["compute"]["name"] for url in simulator.vms.values()]
        assert names == list(simulator.vms)
        more = simulator.control("vms", {"name": "late", "priority": "Spot"})
        assert exchange(more["url"], "GET", GET, HEADER)[0] == 200


def test_the_control_api_explains_errors() -> None:
    with SimulatorProcess("--vm", "web1") as simulator:
        cases = [
            ("GET", "/nowhere", "", 404, "GET /"),
            ("POST", "/events", "{", 400, "not JSON"),
            ("POST", "/events", '{"colour": 1}', 400, "colour"),
            ("POST", "/events/none/start", "{}", 404, "no event none"),
            ("POST", "/clock", '{"advance": 5}', 409, "--clock virtual"),
            ("POST", "/faults", '{"kind": "hiccup"}', 400, "hiccup"),
            ("POST", "/scenarios/live-migration", "{}", 400, "needs 2 VMs"),
            ("POST", "/switches", '{"rate_limit": "x"}', 400, "rate_limit"),
            ("POST", "/vms", '{"name": "web1"}', 409, "already is a VM"),
            ("POST", "/vms", '{"size": "x"}', 400, "name"),
        ]
        for method, path, body, status, words in cases:
            found, _headers, answer = exchange(simulator.control_url, method, path, {"Content-Type": "application/json"}, body)
            assert (found, words in json.loads(answer)["error"]) == (status, True), (method, path, answer)
        assert set(simulator.control("")) == {"routes", "event", "faults", "switches"}


def test_a_rehearsal_in_true_time_at_sixty_times_the_speed() -> None:
    """Two minutes in two seconds: the order is that of the virtual clock, and nothing starts before its date."""
    with SimulatorProcess("--scenario", "rehearsal", "--speed", "60") as simulator:
        _until(lambda: simulator.transitions().count("finished") == 3)
        log = simulator.control("log")
        started = [entry for entry in log if entry["transition"] == "started"]
        events = {event["event_id"]: event for event in simulator.control("events")}
    assert [entry["transition"] for entry in log] == [
        *["created", "created", "created", "started", "impact", "impact_ended", "cancelled", "started", "impact"],
        *["finished", "impact_ended", "created", "started", "impact", "impact_ended", "finished", "finished"],
    ]
    for entry in started:
        second = events[entry["event_id"]]["not_before_unix"]
        real = time.mktime(time.strptime(entry["time"][:19], "%Y-%m-%dT%H:%M:%S")) - time.timezone + float("0" + entry["time"][19:-1])
        assert real >= int(second)


def test_an_evicted_vm_is_gone_and_open_connections_with_it() -> None:
    with SimulatorProcess("--vm", "spot", "--clock", "virtual") as simulator:
        host, port = simulator.url(0)[len("http://") :].split(":")
        with socket.create_connection((host, int(port)), 5) as connection:
            simulator.control("events", {"event_type": "Preempt", "resources": ["spot"]})
            simulator.control("clock", {"advance": 31})
            connection.settimeout(5)
            with contextlib.suppress(ConnectionError):
                assert connection.recv(1) == b"", "closed from the other side"
        with pytest.raises(ConnectionError):
            exchange(simulator.url(0), "GET", GET, HEADER)


def test_hook_and_record(tmp_path: Path) -> None:
    seen, record = tmp_path / "seen", tmp_path / "record"
    hook = f"sh -c {shlex.quote(f'cat >> {seen}; echo >> {seen}')}"
    with SimulatorProcess("--vm", "web1", "--clock", "virtual", "--hook", hook, "--record", str(record)) as simulator:
        simulator.control("events", {"resources": ["web1"]})
        exchange(simulator.url(0), "GET", GET, HEADER)
        simulator.control("clock", {"advance": 2000})
        simulator.end()
    expected = ["created", "started", "impact", "impact_ended", "finished"]
    assert [json.loads(line)["transition"] for line in seen.read_text().splitlines()] == expected
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    assert [line["transition"]["transition"] for line in lines if "transition" in line] == expected
    assert [line["request"]["status"] for line in lines if "request" in line] == [200]


def test_it_ends_on_sigterm_on_shutdown_and_with_its_parent() -> None:
    assert SimulatorProcess("--vm", "web1").end() == 0
    simulator = SimulatorProcess("--vm", "web1")
    simulator.control("shutdown", {})
    assert simulator.process.wait(10) == 0
    assert simulator.process.stdout is not None
    simulator.process.stdout.close()
    parent = subprocess.Popen(["sleep", "60"])
    child = SimulatorProcess("--vm", "web1", "--parent", str(parent.pid))
    parent.kill()
    parent.wait()
    assert child.process.wait(10) == 0
    child.end()


def test_in_the_background_from_one_archive(tmp_path: Path) -> None:
    """As the role does: packed, started, found again, stopped. Packing twice gives the same bytes."""
    packer = COLLECTION / "plugins" / "plugin_utils" / "_controller" / "pack.py"
    archives = [tmp_path / name for name in ("imds_simulator.pyz", "again.pyz")]
    for archive in archives:
        subprocess.run([sys.executable, str(packer), str(PACKAGE), str(archive), "imds_simulator.program.command_line"], check=True)
    assert archives[0].read_bytes() == archives[1].read_bytes()
    pid_file = tmp_path / "pid"
    words = ["--vm", "web1", "--vm", "web2", "--scenario", "2", "--pid-file", str(pid_file), "--parent", str(os.getpid())]
    started = _run(*words, "--background", main=archives[0])
    try:
        assert list(json.loads(started.stdout)["vms"]) == ["web1", "web2"], started
        assert "already running" in _run(*words, "--background", main=archives[0]).stdout
    finally:
        stopped = _run("--pid-file", str(pid_file), "--stop", main=archives[0])
    assert (stopped.returncode, stopped.stdout.strip()) == (0, "stopped")
    assert not pid_file.exists()
    assert _run("--pid-file", str(pid_file), "--stop", main=archives[0]).stdout.strip() == "not running"


def test_stop_leaves_a_stranger_with_the_same_number_alone(tmp_path: Path) -> None:
    stranger = subprocess.Popen(["sleep", "60"])
    try:
        (tmp_path / "pid").write_text(str(stranger.pid))
        assert _run("--pid-file", str(tmp_path / "pid"), "--stop").stdout.strip() == "not running"
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_a_file_says_where_it_listens(tmp_path: Path) -> None:
    with SimulatorProcess("--vm", "web1", "--ready-file", str(tmp_path / "ready")) as simulator:
        ready = json.loads((tmp_path / "ready").read_text())
        assert ready == {"control": simulator.control_url, "vms": simulator.vms}
