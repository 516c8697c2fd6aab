# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Playbook decide: what a person says is written, seen by status and heeded by respond. Refusals first."""

from __future__ import annotations

import typing as t

from lab.lab import Lab

Make = t.Callable[..., Lab]
FOREVER = "2200-01-01T00:00:00Z"


def decide(lab: Lab, event: str, action: str, *arguments: str, code: int | None = 0, **more: t.Any) -> str:
    return lab.play("maintenance.azure.decide", *arguments, code=code, decide_event_id=event, decide_action=action, decide_who="alice", **more)


def changed(output: str) -> int:
    """How many tasks changed something, on all hosts."""
    return sum(int(line.split("changed=")[1].split()[0]) for line in output.split("PLAY RECAP")[1].splitlines() if "changed=" in line)


def test_what_cannot_be_written_is_refused_with_what_there_is(make_lab: Make) -> None:
    lab = make_lab(["web1"])
    event = lab.simulator.event("Reboot", ["web1"], notice=36000)
    assert "must be one of approve, hold, release, let_it_come" in decide(lab, event, "explode", code=2)
    assert "decide_why is missing" in decide(lab, event, "approve", code=2)
    assert f"known are: {event} (Reboot of web1)" in decide(lab, "E-unknown", "hold", code=2)
    assert lab.records("web1") == []


def test_what_status_shows_can_be_decided_where_nothing_is_due(make_lab: Make) -> None:
    lab = make_lab(["web1", "web2"])
    lab.all["respond_policy"] = [{"name": "by hand", "drain": True, "approve": "never"}]
    event = lab.simulator.event("Reboot", ["web1"], notice=360000)
    lab.respond()
    assert lab.phases("web1")[-1] == "noticed"
    assert changed(decide(lab, event, "hold", decide_why="release night")) == 1
    # Where no VM answers, that is said, and not that there is no event.
    for host in lab.hosts.values():
        host.update(ansible_connection="ssh", ansible_host="127.0.0.1", ansible_port=9, ansible_ssh_timeout=2)
    output = decide(lab, event, "release", code=None)
    assert "Could not read any of 2 VMs" in output and "known are" not in output


def test_hold_is_written_once_on_all_vms_seen_heeded_and_released(make_lab: Make) -> None:
    lab = make_lab(["web1", "web2", "idle"])
    lab.all["respond_drain_seconds"] = 30
    event = lab.simulator.event("Freeze", ["web1", "web2"], duration_in_seconds=5, notice=36000, started_seconds=36000)
    why = "not now, 100 % sure"
    output = decide(lab, event[:6].lower(), "hold", "--check", decide_why=why, decide_until=FOREVER)
    assert "Would be written on web1, web2" in output
    assert lab.records("web1") == []
    output = decide(lab, event.lower(), "hold", decide_why=why, decide_until=FOREVER)
    assert "held by alice until 2200-01-01 00:00 UTC: not now" in output
    assert changed(output) == 2
    assert [len(lab.records(vm)) for vm in lab.vms] == [1, 1, 0]
    kept = lab.records("web1")
    assert kept[0]["decision"]["who"] == "alice"
    assert kept[0]["decision"] == lab.records("web2")[0]["decision"]
    output = decide(lab, event, "hold", decide_why=why, decide_until=FOREVER)
    assert "nothing changes" in output
    assert changed(output) == 0
    assert lab.records("web1") == kept
    assert "held by alice until 2200-01-01 00:00 UTC: not now" in lab.respond()
    assert lab.simulator.approvals() == []
    # What stands in a record is text: no VM can have the controller run anything.
    path = max((lab.folder / "web1" / "records").glob("event-*.json"))
    path.write_text(path.read_text().replace("not now", "{{ lookup('pipe', 'touch " + str(lab.folder / "ran") + "') }} {% raw %}"))
    assert "held by alice until 2200-01-01 00:00 UTC: " in lab.status()
    decide(lab, event, "release")
    assert not (lab.folder / "ran").exists()
    lab.respond()
    assert len(lab.simulator.approvals()) == 1


def test_approve_does_not_wait_and_let_it_come_does_not_drain(make_lab: Make) -> None:
    lab = make_lab(["web1", "web2"])
    first = lab.simulator.event("Reboot", ["web1", "stranger"], notice=36000, started_seconds=36000)
    second = lab.simulator.event("Reboot", ["web2"], notice=36000)
    decide(lab, first, "approve", decide_why="the stranger is mine")
    decide(lab, second, "let_it_come")
    lab.respond(respond_drain_seconds=40000)
    assert [first in approval["body"] for approval in lab.simulator.approvals()] == [True]
    assert lab.flag("web1").exists()
    assert lab.flag("web2").exists(), "drained at its deadline all the same"


def test_a_dead_vm_is_retired(make_lab: Make) -> None:
    lab = make_lab(["web1", "web2"])
    lab.hosts["web2"].update(ansible_connection="ssh", ansible_host="127.0.0.1", ansible_port=9, ansible_ssh_timeout=2)
    lab.all["respond_capacity"] = [{"name": "web", "members": ["web1", "web2"], "max_unavailable": 1}]
    both = lab.simulator.event("Freeze", ["web1", "web2"], duration_in_seconds=5, notice=36000, started_seconds=36000)
    alone = lab.simulator.event("Freeze", ["web2"], duration_in_seconds=5, notice=36000, started_seconds=36000)
    lab.respond()
    assert lab.simulator.approvals() == []
    output = lab.respond(respond_retired="web2")
    assert "Retired (respond_retired), so nothing waits for them: web2." in output
    (approval,) = lab.simulator.approvals()
    assert both in approval["body"]
    assert alone not in approval["body"], "approved for nobody"
