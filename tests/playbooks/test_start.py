# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A paused fleet and a start gate, in whole runs: what is held, what goes on, and what an operator reads."""

from __future__ import annotations

import datetime
import http.server
import json
import pathlib
import threading
import time
import typing as t

import pytest
from lab.lab import Lab

Make = t.Callable[..., Lab]
# Ten minutes until NotBefore, by the clock: with drains of 30 seconds and a schedule of 300 the deadline is far, with the usual 600 seconds it has come.
NOTICE = {"notice": 36000, "started_seconds": 60}
FAR: dict[str, t.Any] = {"respond_drain_seconds": 30}
CALLBACK = "maintenance.azure.maintenance_progress"
AT_DEADLINE = "No drain and no approval begins, except a drain at its deadline. Next: remove respond_paused."


def until(seconds: float) -> str:
    return (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def paused(seconds: float = 3600) -> dict[str, t.Any]:
    return {"who": "alice", "why": "release night", "until": until(seconds)}


@pytest.fixture(autouse=True)
def _plain_output(monkeypatch: pytest.MonkeyPatch) -> None:
    """Print lines for people, and ask loopback without a proxy."""
    monkeypatch.setenv("ANSIBLE_STDOUT_CALLBACK", CALLBACK)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


# Wrong settings


@pytest.mark.parametrize("playbook", ["respond", "status", "gate"])
def test_a_wrong_pause_is_refused_before_any_vm_is_asked(idle_lab: Lab, playbook: str) -> None:
    lab = idle_lab
    given = {"gate_hosts": "web1"} if playbook == "gate" else {}
    output = lab.play(f"maintenance.azure.{playbook}", code=2, respond_paused={"who": "alice"}, **given)
    (line,) = [line for line in output.splitlines() if "respond_paused lacks why and until" in line]
    assert line.startswith("FAILED: ") and "Write respond_paused: {who: alice, why: release night, until: '2026-11-25T06:00:00Z'}" in line
    assert lab.simulator.requests() == []


def test_a_wrong_start_gate_is_refused_before_any_vm_is_asked(idle_lab: Lab) -> None:
    output = idle_lab.respond(code=2, respond_start_when={"command": "may-start web"})
    assert "FAILED: respond_start_when: command must be a list of words such as [/usr/local/bin/may-start, web]" in output
    assert idle_lab.simulator.requests() == []


# The pause


def test_a_paused_fleet_notices_and_tells_and_drains_nothing_until_the_pause_is_removed(make_lab: Make) -> None:
    lab = make_lab(["web1", "web2"], 60)
    told = lab.folder / "told.yml"
    told.write_text(
        f"- ansible.builtin.lineinfile:\n    path: {lab.folder}/told\n    create: true\n    mode: '0600'\n"
        '    line: "{{ respond_notify_phase }}: {{ respond_notify_event.reason }}"\n'
    )
    drains = lab.simulator.event("Reboot", ["web1"], **NOTICE)
    lab.simulator.event("Freeze", ["web2"], duration_in_seconds=5, **NOTICE)
    pause = paused()
    first = f"Paused by alice until {pause['until']}: release night. {AT_DEADLINE}"
    held = f"held: paused by alice until {pause['until']}: release night. Next: remove respond_paused; otherwise"
    output = lab.respond(respond_paused=pause, respond_notify_tasks=str(told), **FAR)
    lines = output.splitlines()
    report = [place for place, line in enumerate(lines) if line == first]
    assert len(report) == 2, "once when the run plans, and as the first line of the report"
    assert lines[report[1] + 1].startswith("1. ")
    assert output.count(held) == 2
    assert lab.phases("web1") == lab.phases("web2") == ["noticed", "held"]
    assert lab.simulator.approvals() == []
    assert lab.flag("web1").exists()
    assert lab.leases("web1") == []
    assert {line.split(":")[0] for line in (lab.folder / "told").read_text().splitlines()} == {"noticed", "held"}
    before = lab.records("web1")
    lab.respond(respond_paused=pause, respond_notify_tasks=str(told), **FAR)
    assert lab.records("web1") == before, "a second run writes again what is held"
    shown = lab.status(respond_paused=pause, **FAR)
    assert first in shown and shown.index(first) < shown.index("1. ")
    data = lab.status(respond_paused=pause, status_format="json", status_file=str(lab.folder / "status.json"), **FAR)
    written = json.loads((lab.folder / "status.json").read_text())
    assert list(written)[0] == "paused" and written["paused"]["who"] == "alice", data
    # Without the pause the next run goes on.
    lab.respond(respond_wait=True, **FAR)
    assert lab.phases("web1")[-1] == lab.phases("web2")[-1] == "recovered"
    assert len(lab.simulator.approvals()) == 2
    assert any(drains in entry["body"] for entry in lab.simulator.approvals())


def test_what_is_at_its_deadline_drains_and_is_not_approved(make_lab: Make) -> None:
    lab = make_lab(["web1"], 60)
    lab.simulator.event("Reboot", ["web1"], **NOTICE)
    output = lab.respond(respond_paused=paused())
    assert lab.phases("web1")[-1] == "drained"
    assert "drained" in lab.phases("web1")
    assert lab.simulator.approvals() == []
    assert "; drained, paused by alice until" in output


def test_what_was_drained_before_the_pause_comes_back_during_it(make_lab: Make) -> None:
    lab = make_lab(["web1"], 60)
    event = lab.simulator.event("Reboot", ["web1"], **NOTICE)
    lab.respond(respond_policy=[{"drain": True, "approve": "never", "drain_at": "now"}])
    assert (lab.phases("web1")[-1], lab.flag("web1").exists()) == ("drained", False)
    # Another event that names it, and is held, does not keep it out.
    lab.simulator.event("Reboot", ["web1"], notice=72000)
    lab.simulator.ask("POST", f"/events/{event}/cancel")
    lab.respond(respond_paused=paused(), **FAR)
    assert sorted(record["phase"] for record in lab.records("web1")) == ["held", "recovered"]
    assert lab.flag("web1").read_text() == "yes\n"


def test_a_run_that_waits_goes_on_when_the_pause_ends(make_lab: Make) -> None:
    lab = make_lab(["web1"], 60)
    lab.simulator.event("Reboot", ["web1"], **NOTICE)
    pause = paused(20)
    output = lab.respond(respond_paused=pause, respond_wait=True, **FAR)
    assert lab.phases("web1")[-1] == "recovered"
    began = next(entry["at"] for entry in lab.records("web1")[0]["history"] if entry["phase"] == "draining")
    assert began >= pause["until"].removesuffix("Z")
    assert f"Problem on respond_paused: the pause of alice ended at {pause['until']}, and nothing is paused; remove it." in output


def test_no_batch_of_an_upgrade_begins_while_the_fleet_is_paused(make_lab: Make) -> None:
    lab = make_lab(["web1"])
    output = lab.play("maintenance.azure.gate", code=2, respond_paused=paused(), gate_hosts="web1", gate_wait_seconds=0)
    assert "The gate is closed for web1: paused by alice until" in output
    assert "release night; to begin the batch now, remove respond_paused" in output
    assert lab.leases("web1") == []


# The start gate


class Gate:
    """An HTTP server on loopback that answers with one status and body, after some seconds."""

    def __init__(self, status: int = 200, seconds: float = 0.0, body: str = "") -> None:
        self.status, self.seconds, self.body = status, seconds, body
        self.asked: list[str] = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked.append(self.path)
                time.sleep(outer.seconds)
                data = outer.body.encode()
                self.send_response(outer.status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *arguments: t.Any) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture(name="gate")
def _gate() -> t.Iterator[Gate]:
    gate = Gate()
    yield gate
    gate.close()


def gated(make_lab: Make) -> Lab:
    lab = make_lab(["web1"], 60)
    lab.simulator.event("Reboot", ["web1"], **NOTICE)
    return lab


def is_untouched(lab: Lab) -> bool:
    return lab.flag("web1").exists() and lab.simulator.approvals() == [] and lab.phases("web1") == ["noticed", "held"]


def test_a_no_holds_and_a_yes_lets_the_next_run_begin(make_lab: Make, gate: Gate) -> None:
    lab = gated(make_lab)
    output = lab.respond(respond_start_when={"url": "http://127.0.0.1:9"}, **FAR)
    assert "start gate says no: http://127.0.0.1:9 gave no answer: Connection refused; start it, or correct the address" in output
    assert is_untouched(lab)
    gate.seconds = 600
    output = lab.respond(respond_start_when={"url": gate.url}, **FAR)
    assert f"start gate says no: {gate.url} gave no answer" in output
    assert is_untouched(lab)
    gate.seconds, gate.status = 0, 503
    gate.asked.clear()
    output = lab.respond(respond_start_when={"url": f"{gate.url}/may-start"}, **FAR)
    assert f"held: start gate says no: {gate.url}/may-start answered 503 Service Unavailable; 2xx is yes. Next: see why" in output
    assert is_untouched(lab)
    assert lab.records("web1")[0]["reason"] == "the start gate (respond_start_when) says no"
    assert gate.asked == ["/may-start"], "asked once in a pass"
    gate.status = 204
    lab.respond(respond_start_when={"url": f"{gate.url}/may-start"}, **FAR)
    assert "drained" in lab.phases("web1")
    assert len(lab.simulator.approvals()) == 1


def test_what_is_at_its_deadline_goes_without_asking_and_so_does_a_run_without_an_event(make_lab: Make, gate: Gate) -> None:
    lab = make_lab(["web1"], 60)
    gate.status = 503
    lab.respond(respond_start_when={"url": gate.url})
    assert gate.asked == []
    lab.simulator.event("Reboot", ["web1"], **NOTICE)
    lab.respond(respond_start_when={"url": gate.url})
    assert "drained" in lab.phases("web1")
    assert len(lab.simulator.approvals()) == 1
    assert gate.asked == []


def test_a_run_that_waits_asks_again_after_a_minute(make_lab: Make, gate: Gate) -> None:
    lab = gated(make_lab)
    gate.status = 503
    threading.Timer(20, lambda: setattr(gate, "status", 200)).start()
    lab.respond(respond_start_when={"url": gate.url}, respond_wait=True, **FAR)
    assert lab.phases("web1")[-1] == "recovered"
    assert len(gate.asked) == 2


def answer(*values: str) -> str:
    return json.dumps({"status": "success", "data": {"resultType": "vector", "result": [{"metric": {}, "value": [1, value]} for value in values]}})


def test_prometheus(make_lab: Make, gate: Gate) -> None:
    lab = gated(make_lab)
    given = {"prometheus": {"url": gate.url, "query": 'min(up{job="web"}) == bool 1'}}
    gate.body = answer("0")
    output = lab.respond(respond_start_when=given, **FAR)
    assert f'start gate says no: {gate.url}/api/v1/query answered the query min(up{{job="web"}}) == bool 1: 1 of 1 values are not 1, the first is 0' in output
    assert is_untouched(lab)
    gate.body = answer("1")
    lab.respond(respond_start_when=given, **FAR)
    assert "drained" in lab.phases("web1")


def test_a_command_and_where_it_is_not_run(make_lab: Make) -> None:
    lab = gated(make_lab)
    ran = lab.folder / "ran"
    script = pathlib.Path(lab.folder / "may-start")
    script.write_text(f'#!/bin/sh\necho "$@" >> {ran}\ntest "$2" = yes || {{ echo frozen for $1; exit 3; }}\n')
    script.chmod(0o700)
    for shown in (lab.respond("--check", respond_start_when={"command": [str(script), "web", "yes"]}, **FAR),
                  lab.status(respond_start_when={"command": [str(script), "web", "yes"]}, **FAR)):  # fmt: skip
        assert f"start gate says no: the command {script} is not run in check mode, by status or by decide, which counts as no" in shown
    assert not ran.exists()
    output = lab.respond(respond_start_when={"command": [str(script), "web", "no; $(touch x)"]}, **FAR)
    assert f"start gate says no: the command {script} ended with exit code 3: frozen for web; 0 is yes" in output
    assert is_untouched(lab)
    lab.respond(respond_start_when={"command": [str(script), "web", "yes"]}, **FAR)
    assert "drained" in lab.phases("web1")
    assert ran.read_text().splitlines() == ["web no; $(touch x)", "web yes"]
