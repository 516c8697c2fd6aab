# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Method silence through whole events, with Debian's Alertmanager on loopback: made before the drain, ours alone is ended."""

from __future__ import annotations

import json
import pathlib
import socket
import subprocess
import time
import typing as t
import urllib.request

import pytest
from lab.debian_packages import unpacked
from lab.lab import Lab

Make = t.Callable[..., Lab]
PACKAGE = "prometheus-alertmanager"
SILENCE: dict[str, t.Any] = {"method": "silence", "value": "web1:9100"}


def _find_its_templates_here(root: pathlib.Path) -> None:
    """Debian's build opens its templates by an absolute path. One of the same length, below the folder in which it is started, needs no root."""
    program = root / "usr/bin" / PACKAGE
    content = program.read_bytes()
    assert b"/usr/share/prometheus/alertmanager" in content
    program.write_bytes(content.replace(b"/usr/share/prometheus/alertmanager", b"usr//share/prometheus/alertmanager"))


class Alertmanager:
    """A process of its own, with a folder of its own."""

    def __init__(self, folder: pathlib.Path) -> None:
        root = unpacked("alertmanager", [PACKAGE], needed=(f"{PACKAGE}_",), finish=_find_its_templates_here)
        folder.mkdir()
        (folder / "config.yml").write_text("route: {receiver: nobody}\nreceivers: [{name: nobody}]\n")
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        options = {
            "config.file": folder / "config.yml",
            "storage.path": folder / "data",
            "web.listen-address": f"127.0.0.1:{port}",
            "cluster.listen-address": "",
        }
        command = [str(root / "usr/bin" / PACKAGE), *(f"--{name}={value}" for name, value in options.items())]
        self._process = subprocess.Popen(command, cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _attempt in range(100):
            try:
                self.silences()
            except OSError:
                time.sleep(0.1)
            else:
                return
        raise AssertionError("Alertmanager does not answer")

    def silences(self, state: str = "active") -> list[dict[str, t.Any]]:
        with urllib.request.urlopen(f"{self.url}/api/v2/silences", timeout=10) as answer:
            return [one for one in json.loads(answer.read()) if one["status"]["state"] == state]

    def post(self, creator: str, value: str) -> str:
        body = {"matchers": [{"name": "instance", "value": value, "isRegex": True}], "startsAt": "2026-01-01T00:00:00Z", "endsAt": "2099-01-01T00:00:00Z"}
        data = json.dumps({**body, "createdBy": creator, "comment": "theirs"}).encode()
        request = urllib.request.Request(f"{self.url}/api/v2/silences", data, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=10) as answer:
            return str(json.loads(answer.read())["silenceID"])

    def close(self) -> None:
        self._process.terminate()
        self._process.wait(20)


@pytest.fixture
def alertmanager(tmp_path: pathlib.Path) -> t.Iterator[Alertmanager]:
    found = Alertmanager(tmp_path / "alertmanager")
    yield found
    found.close()


def test_it_is_there_while_the_vm_is_out_and_only_ours_is_ended(make_lab: Make, alertmanager: Alertmanager) -> None:
    lab = make_lab(["web1"], 60)
    lab.hosts["web1"]["drain_methods"].insert(0, {**SILENCE, "url": alertmanager.url})
    theirs = alertmanager.post("alice", "web1:9100")
    event = lab.simulator.event("Reboot", ["web1"], notice=36000, started_seconds=600)
    lab.respond()
    (ours,) = [one for one in alertmanager.silences() if one["id"] != theirs]
    assert ours["createdBy"] == f"maintenance.azure {event}"
    assert ours["comment"].startswith(f"Azure's Reboot {event}: ")
    assert [(one["name"], one["value"], one["isRegex"]) for one in ours["matchers"]] == [("instance", "web1:9100", True)]
    assert ours["endsAt"] > ours["startsAt"] and not lab.flag("web1").exists()
    lab.respond()
    assert len(alertmanager.silences()) == 2, "a second pass made a second one"
    lab.respond(respond_wait=True)
    assert lab.phases("web1")[-1] == "recovered"
    assert [one["id"] for one in alertmanager.silences()] == [theirs]
    assert [one["id"] for one in alertmanager.silences("expired")] == [ours["id"]]


@pytest.mark.parametrize("required", [False, True])
def test_one_that_is_away_fails_a_drain_only_where_it_is_required(make_lab: Make, required: bool) -> None:
    lab = make_lab(["web1"], 60)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    lab.hosts["web1"]["drain_methods"].insert(0, {**SILENCE, "url": f"http://127.0.0.1:{port}", "required": required})
    lab.simulator.event("Reboot", ["web1"], notice=36000, started_seconds=60)
    checked = lab.respond("--check", code=2 if required else 0)
    assert f"1-silence: would {'be refused' if required else 'go on without a silence, so alerts may be sent'}: " in checked
    lab.respond(respond_wait=not required, code=2 if required else 0)
    assert len(lab.simulator.approvals()) == (0 if required else 1)
    assert ("failed" if required else "recovered") in lab.phases("web1")
