# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs killed between acting and recording, and check mode: what is done twice, and what is not done at all."""

from __future__ import annotations

from pathlib import Path

import pytest
from fleet import HERE, Fleet, Host
from lab import warm

# Killed before or after this write of a record. (Every cut point of a whole pass: tests/crash.)
CUTS = [("after", 1), ("before", 2), ("after", 3), ("before", 4)]
UNDO_CUTS = [("before", 1), ("before", 2)]


def add(fleet: Fleet, name: str) -> Host:
    host = fleet.add(name, [])
    host.path("ready").write_text("as it was before " + name)
    host.path("ready").chmod(0o751)
    busy = host.path("busy")
    host.variables["drain_methods"] = [
        {"method": "probe_file", "path": str(host.path("ready")), "interval": 0},
        {"method": "command", "begin": ["touch", str(busy)], "check": f"test -e {busy}", "undo": f"rm -f {busy}"},
    ]
    return host


def as_before(host: Host) -> bool:
    return (
        host.path("ready").read_text() == "as it was before " + host.name
        and host.path("ready").stat().st_mode & 0o777 == 0o751
        and not host.path("busy").exists()
    )


def kill_at(fleet: Fleet, cut: tuple[str, int]) -> dict[str, str]:
    return {
        "ANSIBLE_CALLBACK_PLUGINS": str(HERE / "callback"),
        "ANSIBLE_CALLBACKS_ENABLED": "kill_at",
        "KILL_FILE": str(fleet.folder / "controller"),
        "KILL_WHEN": cut[0],
        "KILL_WRITE": str(cut[1]),
    }


@pytest.mark.parametrize(("act", "cuts"), [("drain", CUTS), ("recover", UNDO_CUTS)])
def test_killed_and_run_again(fleet: Fleet, act: str, cuts: list[tuple[str, int]]) -> None:
    hosts = [add(fleet, f"{act}{position}") for position in range(len(cuts))]
    for host in hosts:
        host.variables["ansible_python_interpreter"] = warm.python(str(HERE / "site"))
    if act == "recover":
        fleet.drain()
    for host, cut in zip(hosts, cuts):
        run = getattr(fleet, act)(host.name, env=kill_at(fleet, cut), may_end_early=True)
        assert run.returncode == -9 and host.result == {}, (cut, run.stdout)
    if act == "drain":
        fleet.drain()
        for host, cut in zip(hosts, cuts):
            assert host.state == "drained" and host.record["phase"] == "drained", (cut, host.result)
            assert not host.path("ready").exists() and host.path("busy").exists(), cut
            assert host.method(0)["before"]["kind"] == "file" and host.record["attempts"] == 1, (cut, host.record)
    fleet.recover()
    for host, cut in zip(hosts, cuts):
        assert host.state == "undone" and host.record["undone"] is True and as_before(host), (cut, host.result)
        assert not list(host.folder.glob("*.maintenance.*"))


def snapshot(folder: Path) -> dict[str, tuple[int, bytes]]:
    ours = ("event.json", "record.json")
    files = [file for file in sorted(folder.rglob("*")) if file.is_file() and file.name not in ours]
    return {str(file): (file.stat().st_mode, file.read_bytes()) for file in files}


def test_check_mode_says_and_changes_nothing(fleet: Fleet) -> None:
    fresh = add(fleet, "fresh")
    wrong = fleet.add("wrong", [{"method": "command"}])
    before = snapshot(fresh.folder)
    run = fleet.drain(check_mode=True)
    assert snapshot(fresh.folder) == before and fresh.record == {} and wrong.record == {}
    assert f"Would drain for event {fresh.event['event_id']}: 1-probe_file, 2-command" in run.stdout, run.stdout
    assert fresh.state == "draining" and wrong.state == "failed" and "begin is missing" in wrong.result["error"]

    fleet.drain("fresh")
    before = snapshot(fresh.folder)
    run = fleet.recover("fresh", check_mode=True)
    assert snapshot(fresh.folder) == before and fresh.state == "undoing"
    assert "Would undo for event" in run.stdout and "2-command, 1-probe_file" in run.stdout
    fleet.drain("fresh", check_mode=True)
    assert snapshot(fresh.folder) == before and fresh.state == "drained"
