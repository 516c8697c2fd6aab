# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Behind a real HAProxy that says which VM sends: a VM that lies about its name uses up what it has itself. Set up by the guide's own commands."""

from __future__ import annotations

import http.client
import json
import os
import pathlib
import socket
import ssl
import subprocess
import typing as t

import pytest
from lab.haproxy import find_haproxy
from lab.lab import Lab

from eda.documented import Shell, configuration
from eda.messages import EVENTS, message
from eda.rulebook import PATIENCE_SECONDS, Rulebook, free_port

# most_new_events_per_sender of event filter normalize
MOST_EVENTS = 4


class Proxied(t.NamedTuple):
    """A rulebook behind HAProxy."""

    shell: Shell
    port: int

    def send(self, body: t.Any, shows: str | None, **headers: str) -> int:
        """Send a message with the certificate of a VM, or with none; the status of the answer."""
        context = ssl.create_default_context(cafile=str(self.shell.folder / "certificate.pem"))
        if shows:
            context.load_cert_chain(self.shell.folder / f"{shows}.pem", self.shell.folder / f"{shows}.key")
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=20, context=context)
        given = {"Authorization": f"Bearer {self.shell.variable('maintenance_token')}", **{name.replace("_", "-"): value for name, value in headers.items()}}
        try:
            connection.request("POST", "/", body=json.dumps(body).encode(), headers=given)
            return connection.getresponse().status
        finally:
            connection.close()

    def begun(self) -> list[str]:
        return [run.event_id for run in self.shell.rulebook.begun()]


@pytest.fixture(scope="module")
def proxied(tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[Proxied]:
    lab = Lab(tmp_path_factory.mktemp("proxy"), ["web1"])
    shell, port = Shell(Rulebook(lab, seconds=0.1)), free_port()
    proxy: subprocess.Popen[bytes] | None = None
    try:
        shell.install()
        for vm in ("web1", "liar"):
            shell.certify(vm)
        shell.start("behind_proxy.yml")
        proxy = haproxy(shell.folder, configuration("X-Maintenance-Sender").replace(":5000", f"127.0.0.1:{port}").replace(":5001", f":{shell.rulebook.port}"))
        lab.simulator.until(lambda: answers(proxy, port, shell.folder / "haproxy.log"), 30, "HAProxy")
        yield Proxied(shell, port)
    finally:
        if proxy:
            proxy.kill()
            proxy.wait(10)
        shell.rulebook.kill()
        lab.close()


def haproxy(folder: pathlib.Path, configured: str) -> subprocess.Popen[bytes]:
    (folder / "haproxy.cfg").write_text(configured)
    program, more = find_haproxy()
    with (folder / "haproxy.log").open("wb") as log:
        return subprocess.Popen([program, "-db", "-f", "haproxy.cfg"], cwd=folder, env={**os.environ, **more}, stdout=log, stderr=log)


def answers(proxy: subprocess.Popen[bytes] | None, port: int, log: pathlib.Path) -> bool:
    assert proxy and proxy.poll() is None, log.read_text()
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_a_certificate_is_needed(proxied: Proxied) -> None:
    with pytest.raises((OSError, http.client.HTTPException)):
        proxied.send(message(EVENTS[0]), None)
    assert proxied.begun() == []


def test_a_vm_that_lies_about_its_name_uses_up_what_it_has_itself(proxied: Proxied) -> None:
    until = proxied.shell.rulebook.lab.simulator.until
    for event_id in EVENTS[1:11]:
        # As web1, in the message and in the header that the proxy sets.
        assert proxied.send(message(event_id, "web1"), "liar", X_Maintenance_Sender="web1") == 200
    until(lambda: len(proxied.begun()) >= MOST_EVENTS, PATIENCE_SECONDS, "runs")
    assert proxied.send(message(EVENTS[11], "web1"), "web1") == 200
    until(lambda: EVENTS[11] in proxied.begun(), PATIENCE_SECONDS, "a run for web1")
    # The rulebook handles one message after another, so what it dropped before is dropped. Runs of several events begin in any order.
    assert sorted(proxied.begun()) == [*EVENTS[1 : MOST_EVENTS + 1], EVENTS[11]]
    assert "liar: more than 4 new events in an hour" in proxied.shell.rulebook.text()


def test_past_the_proxy_nothing_is_news(proxied: Proxied) -> None:
    before = proxied.begun()
    past = Proxied(proxied.shell, proxied.shell.rulebook.port)
    assert past.send(message(EVENTS[12], "web1"), None) == 200
    text = "Not of a known sender: there is no header X-Maintenance-Sender"
    proxied.shell.rulebook.lab.simulator.until(lambda: text in proxied.shell.rulebook.text(), PATIENCE_SECONDS, "what the rulebook says of it")
    assert proxied.begun() == before
