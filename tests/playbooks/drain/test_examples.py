# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The drain methods to copy in docs/examples: consul and nomad against stubs of their agents, whose answers are those of the API's documentation."""

from __future__ import annotations

import collections.abc
import http.server
import json
import threading
import urllib.parse
from typing import Any

import pytest
from fleet import EVENT, ROOT, Fleet, Host

METHODS = ROOT / "docs" / "examples" / "drain-methods"
REASON = f"maintenance.azure {EVENT['event_id']}"
TOKEN = "a-token-of-the-stub"


class Agent:
    """An agent on loopback that knows its API by heart."""

    header = ""

    def __init__(self) -> None:
        self.writes: list[str] = []
        agent = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def _answer(self) -> None:
                given = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                parsed = urllib.parse.urlsplit(self.path)
                known = self.headers.get(agent.header) == TOKEN
                if known and self.command != "GET":
                    agent.writes.append(self.path)
                found = agent.answer(self.command, parsed.path, dict(urllib.parse.parse_qsl(parsed.query)), json.loads(given or b"{}")) if known else {}
                text = json.dumps(found).encode()
                self.send_response(200 if known else 403)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_PUT = do_POST = _answer

            def log_message(self, *_words: Any) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def answer(self, method: str, path: str, query: dict[str, str], body: dict[str, Any]) -> Any:
        raise NotImplementedError

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class Consul(Agent):
    header = "X-Consul-Token"
    reason: str | None = None

    def answer(self, method: str, path: str, query: dict[str, str], body: dict[str, Any]) -> Any:
        if (method, path) == ("PUT", "/v1/agent/maintenance"):
            # A second one leaves the first as it is.
            self.reason = (self.reason or query["reason"]) if query["enable"] == "true" else None
            return None
        assert (method, path) == ("GET", "/v1/agent/checks")
        check = {"CheckID": "_node_maintenance", "Name": "Node Maintenance Mode", "Status": "critical", "Notes": self.reason, "ServiceID": ""}
        return {} if self.reason is None else {"_node_maintenance": check}


class Nomad(Agent):
    header = "X-Nomad-Token"
    eligible, draining = True, False
    message: str | None = None

    def answer(self, method: str, path: str, query: dict[str, str], body: dict[str, Any]) -> Any:
        if path == "/v1/agent/self":
            return {"member": {"Name": "web1"}, "stats": {"client": {"node_id": "fb2170a8-257d-3c64-b14d-bc06cc94e34c"}}}
        if method == "POST":
            assert path == "/v1/node/fb2170a8-257d-3c64-b14d-bc06cc94e34c/drain"
            if body["DrainSpec"]:
                assert body["DrainSpec"] == {"Deadline": 500 * 10**9, "IgnoreSystemJobs": True}
                self.eligible, self.draining, self.message = False, True, body["Meta"]["message"]
            else:
                self.draining, self.eligible = False, self.eligible or body["MarkEligible"]
            return {"EvalIDs": None, "NodeModifyIndex": 3742}
        last = None if self.message is None else {"Status": "draining" if self.draining else "complete", "Meta": {"message": self.message}}
        return {
            "ID": "fb2170a8-257d-3c64-b14d-bc06cc94e34c", "SchedulingEligibility": "eligible" if self.eligible else "ineligible", "LastDrain": last,
            "DrainStrategy": {"Deadline": 500 * 10**9} if self.draining else None,
        }  # fmt: skip


@pytest.fixture
def consul() -> collections.abc.Iterator[Consul]:
    agent = Consul()
    yield agent
    agent.close()


@pytest.fixture
def nomad() -> collections.abc.Iterator[Nomad]:
    agent = Nomad()
    yield agent
    agent.close()


def vm(fleet: Fleet, *methods: tuple[str, Agent]) -> Host:
    token = fleet.folder / "token"
    token.write_text(TOKEN + "\n")
    entries = [{"method": name, "url": agent.url, "token_file": str(token)} for name, agent in methods]
    return fleet.add("web1", entries, drain_methods_path=str(METHODS))


def test_out_and_back(fleet: Fleet, consul: Consul, nomad: Nomad) -> None:
    web1 = vm(fleet, ("consul", consul), ("nomad", nomad))
    run = fleet.drain()
    assert web1.state == "draining" and web1.result["error"] == "Nomad moves its allocations", web1.result
    assert (consul.reason, nomad.message) == (REASON, REASON)
    nomad.draining = False
    fleet.drain()
    assert web1.state == "drained" and len(consul.writes) == len(nomad.writes) == 1, web1.result
    # A restart of the one, a person at the other: out again.
    consul.reason, nomad.eligible = None, True
    fleet.drain(verify=True)
    assert web1.state == "draining" and consul.reason == REASON, web1.result
    fleet.drain()
    assert not nomad.eligible, web1.result
    fleet.recover()
    assert web1.state == "undone" and (consul.reason, nomad.eligible, nomad.draining) == (None, True, False), web1.result
    assert TOKEN not in run.stdout + run.stderr + json.dumps(web1.record)


def test_what_a_person_took_out_stays_out(fleet: Fleet, consul: Consul, nomad: Nomad) -> None:
    web1 = vm(fleet, ("consul", consul), ("nomad", nomad))
    consul.reason, nomad.eligible, nomad.draining, nomad.message = "a disk is replaced", False, True, "a disk is replaced"
    fleet.drain()
    nomad.draining = False
    fleet.drain()
    # Nomad's own last drain is a person's; what is left there is drained by this event, and eligible it was not before.
    assert web1.state == "drained" and consul.writes == [] and consul.reason == "a disk is replaced", web1.result
    fleet.recover()
    assert web1.state == "undone" and (consul.reason, nomad.eligible) == ("a disk is replaced", False), web1.result
