# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Item 1: the interpreter of a VM, or of a load balancer, answers what it likes. One run of respond meets all of these liars at once."""

from __future__ import annotations

import typing as t

import pytest
from victims import Victims

NOW = [{"name": "liar", "drain": False, "approve": "now"}]
ESCAPES = "\x1b[2Jboom\x1b]0;title\x07 \r\nTASK [fake] ok: [web1] \u202egnp.exe \u2028 \x9b31m"
# Named so that its values rule every task that runs once: the first host of the play.
FACTS = "liar-a-facts"
LIARS: dict[str, dict[str, t.Any]] = {
    "liar-b-unreachable": {"merge": {"unreachable": True, "msg": ESCAPES}},
    "liar-c-skipped": {"merge": {"skipped": True, "results": [{"failed": True}, 7], "events": []}},
    "liar-d-digits": {"raw": '{"changed": false, "events": [], "document_incarnation": ' + "9" * 5000 + "}"},
    "liar-e-deep": {"raw": '{"changed": false, "events": ' + "[" * 100_000 + "]" * 100_000 + "}"},
    "liar-f-utf8": {"raw_hex": b'{"changed": false, "events": [], "vm_name": "\xff\xfe\xed\xa0\x80"}'.hex()},
    "liar-g-failed": {"answer": {"failed": True, "msg": ESCAPES, "warnings": [ESCAPES], "exception": ESCAPES}},
    "liar-h-types": {"answer": {"events": {"a": 1}, "records": 7, "identity": [], "now": {}, "leases": "x", "failed": "no", "invocation": 1}},
    "liar-i-huge": {"merge": {"vm_name": "x" * 12_000_000}},
    "liar-j-hang": {"hang": 60, "answer": {"events": []}},
}
SECRET = "-u:admin:one-secret"
VMS = (FACTS, *LIARS, "web1", "web2", "web3")


class Answered:
    """The lab after one pass."""

    def __init__(self, lab: Victims) -> None:
        self.lab = lab
        for vm, lie in LIARS.items():
            lab.lie(vm, maintenance_act=lie)
            lab.hosts[vm]["drain_methods"] = [{"method": "command", "begin": f"curl {SECRET} http://x/", "check": "true", "undo": "true"}]
        facts = {
            "respond_policy": NOW, "__respond_policy": NOW, "respond_unmanaged": "ignore", "respond_notify_tasks": lab.evil_tasks("notify"),
            "respond_capacity": [], "drain_methods": [{"method": "tasks", **dict.fromkeys(("begin", "check", "undo"), lab.evil_tasks("methods", "drained"))}],
            "ansible_connection": "ssh", "ansible_host": "127.0.0.1", "ansible_ssh_common_args": f"-o ProxyCommand='touch {lab.canary('ssh')}'",
        }  # fmt: skip
        lab.lie(FACTS, maintenance_act={"merge": {"ansible_facts": facts, "warnings": [ESCAPES], "_ansible_facts_gathered": True}})
        lab.all.update(respond_observation_seconds=10, respond_notify_tasks="")
        self._lying_balancer(facts)
        long = {"notice": 36000, "started_seconds": 36000}
        self.honest = lab.simulator.event("Redeploy", ["web1"], **long)
        lab.simulator.event("Redeploy", [FACTS], **long)
        # It says that it is still draining.
        lab.hosts["web2"]["drain_methods"] = [{"method": "command", "begin": "true", "check": "sh -c 'exit 75'", "undo": "true"}]
        self.draining = lab.simulator.event("Redeploy", ["web2"], **long)
        self.with_stranger = lab.simulator.event("Freeze", ["web1", "stranger"], duration_in_seconds=5, description=ESCAPES, **long)
        self.balanced = lab.simulator.event("Redeploy", ["web3"], **long)
        self.code, self.output = lab.raw_play("maintenance.azure.respond")
        lab.more_environment["ANSIBLE_STDOUT_CALLBACK"] = "maintenance.azure.maintenance_progress"
        few = f"{FACTS},liar-b-unreachable,liar-g-failed,web1"
        self.progress = lab.raw_play("maintenance.azure.status", respond_hosts=few, status_event_id=self.with_stranger)[1]

    def _lying_balancer(self, facts: dict[str, t.Any]) -> None:
        lab = self.lab
        lab.balancer("lb1", web3="ready")
        (lab.folder / "lb1").mkdir()
        evil = {**facts, "respond_notify_tasks": lab.evil_tasks("balancer")}
        found = {"shop": {"backend": "shop", "server": "web3", "state": "ready", "status": ESCAPES, "up": True, "checked": True, "sessions": 0, "queued": 0}}
        out = [{"name": ESCAPES * 9, "status": ESCAPES * 9, "why": ESCAPES}] * 10
        left = {
            "server": ESCAPES, "tracks": "", "address": ESCAPES, "takes": True, "weighs": True, "others": 0, "names": [], "candidates": 10**39,
            "missing": 10**39, "out": out, "asked": 1,
        }  # fmt: skip
        answer = {"changed": False, "backends": found, "left": {ESCAPES: left}, "reached": True, "short": [ESCAPES], "was": {}}
        lab.lie("lb1", haproxy_server={"answer": {**answer, "ansible_facts": evil, "warnings": [ESCAPES]}})
        lab.hosts["web3"]["drain_methods"] = [{"method": "haproxy", "balancers": ["lb1"]}]


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[Answered]:
    lab = Victims(tmp_path_factory.mktemp("answers") / "lab", VMS)
    try:
        yield Answered(lab)
    finally:
        lab.close()


def test_the_pass_serves_the_others_to_its_end(answered: Answered) -> None:
    text = answered.output.decode("utf-8", "replace")
    assert "VMs answered" in text, text[-3000:]
    assert answered.honest in answered.lab.approved(), "an honest VM was not served"


@pytest.mark.parametrize(
    ("canary", "what"),
    [
        ("notify", "respond_notify_tasks in an observation's ansible_facts: a task file of the liar's choice ran on the controller"),
        ("methods", "drain_methods in an observation's ansible_facts: a task file of the liar's choice ran on the controller"),
        ("ssh", "ansible_ssh_common_args in an observation's ansible_facts: a command ran on the controller"),
        ("balancer", "ansible_facts of haproxy_server: a task file of the balancer's choice ran on the controller"),
    ],
)
def test_no_answer_runs_anything_here(answered: Answered, canary: str, what: str) -> None:
    assert canary not in answered.lab.found(), what


def test_a_balancer_can_hold_its_own_server_by_one_short_line_and_is_named(answered: Answered) -> None:
    (record,) = answered.lab.records("web3")
    assert record["blocker"] == {"kind": "needed", "subjects": []} and record["methods"] == [], record
    assert record["reason"].isprintable() and len(record["reason"]) < 500 and "is the last server of backend" in record["reason"]
    assert "on lb1" in record["reason"] and answered.balanced not in answered.lab.approved()


def test_no_answer_changes_the_policy(answered: Answered) -> None:
    assert answered.draining not in answered.lab.approved(), "respond_policy in ansible_facts: approved although it is still draining"


def test_no_answer_changes_who_may_be_hit(answered: Answered) -> None:
    assert answered.with_stranger not in answered.lab.approved(), "respond_unmanaged in ansible_facts: an event of a stranger was approved"


# What these add to a good answer is dropped, and the rest is good.
DROPPED = ("liar-b-unreachable", "liar-c-skipped")


@pytest.mark.parametrize("vm", [vm for vm in LIARS if vm not in DROPPED])
def test_what_cannot_be_read_is_that_vms_failed_observation(answered: Answered, vm: str) -> None:
    text = answered.output.decode("utf-8", "replace")
    lines = [line for line in text.splitlines() if line.lstrip(' "').startswith(("Could not be read:", "Unreachable:", "Problem on ")) and vm in line]
    assert lines, f"{vm} is not among those that could not be read"


def test_no_settings_of_a_vm_that_could_not_be_read_are_printed(answered: Answered) -> None:
    assert SECRET.encode() not in answered.output, "a command of drain_methods is on the screen"


def test_no_answer_reaches_the_screen_raw(answered: Answered) -> None:
    assert raw_characters(answered.output) == [], "control characters of a VM are on the screen"
    assert fakes(answered.output) == [], "a VM has written a line of its own"


def test_no_answer_reaches_the_screen_raw_with_callback_maintenance_progress(answered: Answered) -> None:
    assert b"Names: web1, stranger" in answered.progress, answered.progress[-1500:]
    assert raw_characters(answered.progress) == [], "control characters of a VM or an event are on the screen"
    assert fakes(answered.progress) == [], "a VM or an event has written a line of its own"


def fakes(output: bytes) -> list[str]:
    """Lines that a VM begins."""
    return [line for line in output.decode("utf-8", "replace").splitlines() if line.startswith("TASK [fake]")]


def raw_characters(output: bytes) -> list[str]:
    """The control, C1 and bidi characters in an output, with what is around them."""
    text = output.decode("utf-8", "replace")
    bad = {*map(chr, range(0x20)), *map(chr, range(0x7F, 0xA0)), *"\u202a\u202b\u202c\u202d\u202e\u2028\u2029\u2066\u2067\u2068\u2069"} - {"\n"}
    return [repr(text[max(0, place - 30) : place + 30]) for place, letter in enumerate(text) if letter in bad][:5]
