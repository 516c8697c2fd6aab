# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Playbook respond on one VM and on several, over real HTTP. Failures first."""

from __future__ import annotations

import concurrent.futures
import json
import pathlib
import typing as t

from lab.lab import Lab

Make = t.Callable[..., Lab]


def test_a_failing_drain_is_undone_and_never_approved(make_lab: Make) -> None:
    lab = make_lab(["web1"], 60)
    log = lab.folder / "commands"
    lab.hosts["web1"]["drain_methods"] = [
        {"method": "probe_file", "path": str(lab.flag("web1")), "interval": 0, "threshold": 1},
        {"method": "command", "begin": f"sh -c 'echo begin >> {log}; exit 3'", "check": "true", "undo": f"sh -c 'echo undo >> {log}'"},
    ]
    event = lab.simulator.event("Reboot", ["web1"], notice=3600, started_seconds=900)
    timing = {**lab.all["respond_timing"], "retries": 1, "check_interval": 5}
    with concurrent.futures.ThreadPoolExecutor() as pool:
        # Drains that are short enough for an undo and a new drain before NotBefore.
        run = pool.submit(lab.respond, code=None, respond_wait=True, respond_drain_seconds=5, respond_timing=timing)
        lab.simulator.until(lambda: run.done() or log.exists() and log.read_text().split().count("undo") > 1, 200, "both attempts are undone")
        # The event starts by itself.
        lab.simulator.ask("POST", f"/events/{event}/start")
        output = run.result()
    assert lab.simulator.approvals() == []
    assert event in output
    assert "begin" in log.read_text()
    assert lab.flag("web1").read_text() == "yes\n", "the first method was not undone"
    transitions = [entry["transition"] for entry in lab.simulator.log() if entry["event_id"] == event]
    assert "started" in transitions, "the run ended before the event started by itself"
    (record,) = lab.records("web1")
    assert record["undone"] or all(method["state"] == "undone" for method in record["methods"])
    assert "failed=0" not in output.split("PLAY RECAP")[1], "a mishandled event must make the run red"


def test_each_reason_holds_its_own_event_and_is_told(make_lab: Make) -> None:
    lab = make_lab(["nothing", "web1", "web2", "web3", "web4"])
    lab.hosts["nothing"]["drain_methods"] = []
    lab.hosts["web2"].update(ansible_connection="ssh", ansible_host="127.0.0.1", ansible_port=9, ansible_ssh_timeout=2)
    lab.hosts["web3"]["respond_exclude"] = True
    held = {
        "drain_methods": lab.simulator.event("Reboot", ["nothing"], notice=36000),
        "stranger": lab.simulator.event("Reboot", ["web4", "stranger"], notice=36000, started_seconds=36000),
        "web2": lab.simulator.event("Freeze", ["web1", "web2"], duration_in_seconds=30, notice=36000),
        "web3": lab.simulator.event("Freeze", ["web1", "web3"], duration_in_seconds=30, notice=36000),
    }
    output = lab.respond()
    assert lab.simulator.approvals() == []
    for word, event in held.items():
        (line,) = [line for line in output.splitlines() if event in line and "Next:" in line]
        assert word in line, line
    assert not (lab.folder / "web3" / "records").exists(), "an excluded host was touched"


def test_an_unmanaged_vm_that_is_ignored_holds_nothing(make_lab: Make) -> None:
    lab = make_lab(["web1"])
    lab.simulator.event("Reboot", ["web1", "stranger"], notice=36000, started_seconds=120)
    lab.respond(respond_unmanaged="ignore", respond_wait=True)
    assert len(lab.simulator.approvals()) == 1
    assert lab.flag("web1").exists()


def test_a_group_with_a_limit_takes_its_vms_one_after_the_other(make_lab: Make) -> None:
    lab = make_lab(["web1", "web2"])
    lab.all["respond_capacity"] = [{"name": "web", "members": "{{ groups['all'] }}", "max_unavailable": 1}]
    lab.all["respond_drain_seconds"] = 30
    # Served by NotBefore, which has whole seconds: a difference that nothing can swallow.
    wanted = (("web1", 36000), ("web2", 72000))
    events = [lab.simulator.event("Freeze", [vm], duration_in_seconds=30, notice=notice, started_seconds=60) for vm, notice in wanted]
    lab.respond(respond_wait=True)
    seen = [(entry["transition"], entry["event_id"]) for entry in lab.simulator.log()]
    assert seen.index(("finished", events[0])) < seen.index(("approved", events[1])), seen
    assert "held" in lab.phases("web2")
    began = {vm: next(entry["at"] for entry in lab.records(vm)[0]["history"] if entry["phase"] == "draining") for vm in ("web1", "web2")}
    (back,) = [entry["at"] for entry in lab.records("web1")[0]["history"] if entry["phase"] == "recovered"]
    assert began["web2"] > back, "both were out at once"
    assert lab.phases("web2")[-1] == "recovered"


def test_a_health_check_of_the_wrong_port_lets_no_vm_go(make_lab: Make) -> None:
    """All four are out of service, by their checks. That is no reason to take them out: until 2.6.0 all were drained and approved, in green."""
    lab = make_lab(VMS := ["web1", "web2", "web3", "web4"])
    lab.all["respond_capacity"] = [{"name": "web", "members": "{{ groups['all'] }}", "max_unavailable": 1}]
    for vm in VMS:
        lab.hosts[vm]["respond_health"] = {"port": 9}
        lab.simulator.event("Reboot", [vm], notice=72000)
    doubt = "is respond_health right? The checks say: web1, web2, web3, web4: port 9 of 127.0.0.1 does not accept connections: "
    assert doubt in " ".join(lab.respond(code=2).split())
    assert [lab.flag(vm).exists() for vm in VMS] == [True] * 4
    assert [lab.phases(vm) for vm in VMS] == [["noticed", "held"]] * 4
    # At their deadline they drain, and by then all have records: none is approved for that, in this pass nor in the next.
    for _run in range(2):
        assert "is respond_health right?" in lab.respond(code=2, respond_pass_interval=80000)
        assert [lab.flag(vm).exists() for vm in VMS] == [False] * 4
        assert [lab.phases(vm)[-1] for vm in VMS] == ["drained"] * 4
        assert lab.simulator.approvals() == []


def test_one_event_from_notice_to_recovery_and_a_second_run_changes_nothing(make_lab: Make) -> None:
    lab = make_lab(["web1", "web2", "idle"], 60)
    told = lab.folder / "told.yml"
    told.write_text(
        "- ansible.builtin.lineinfile:\n"
        f"    path: {lab.folder}/told\n    create: true\n    insertafter: EOF\n    mode: '0600'\n"
        '    line: "{{ respond_notify_phase }} {{ respond_notify_event.event_id }} {{ ansible_play_hosts_all | length }}'
        " {{ lookup('ansible.builtin.pipe', 'date +%s%N') }}\"\n"
    )
    event = lab.simulator.event("Reboot", ["web1", "web2"], description="Host {{ lookup('pipe', 'false') }} {% raw %}", notice=36000, started_seconds=180)
    output = lab.respond(respond_wait=True, respond_notify_tasks=str(told))
    for vm in ("web1", "web2"):
        phases = lab.phases(vm)
        assert phases[0] == "noticed"
        assert phases[-1] == "recovered"
        assert phases.index("drained") < phases.index("gone")
        assert lab.flag(vm).read_text() == "yes\n"
    assert lab.records("idle") == []
    (approval,) = lab.simulator.approvals()
    assert json.loads(approval["body"])["StartRequests"] == [{"EventId": event}]
    phases_told = [line.split()[0] for line in (lab.folder / "told").read_text().splitlines()]
    assert len(phases_told) == len(set(phases_told)), "somebody was told twice"
    assert {"noticed", "drained", "recovered"} <= set(phases_told)
    assert "failed=0" in output
    assert output.count(f"{event}, times in UTC:") == 1 and "Out of service for" in output
    before = lab.records("web1")
    assert "times in UTC" not in lab.respond(respond_wait=True), "the table of an event that was over before"
    assert lab.records("web1") == before
    assert len(lab.simulator.approvals()) == 1


def test_people_who_cannot_be_told_block_nothing_and_are_told_by_the_next_run(make_lab: Make) -> None:
    lab = make_lab(["web1"])
    told = lab.folder / "told.yml"  # beside the inventory
    told.write_text("- ansible.builtin.fail:\n    msg: no mail today\n")
    lab.simulator.event("Freeze", ["web1"], duration_in_seconds=5, notice=36000, started_seconds=60)
    output = lab.respond(respond_wait=True, respond_notify_tasks="told.yml")
    assert "noticed" in output and "no mail today" in output
    assert len(lab.simulator.approvals()) == 1
    (record,) = lab.records("web1")
    assert record["phase"] == "recovered" and record["told"] == [] and {"noticed", "recovered"} <= set(record["untold"])
    told.write_text(f"- ansible.builtin.copy:\n    content: sent\n    dest: {lab.folder}/{{{{ respond_notify_phase }}}}\n    mode: '0600'\n")
    lab.respond(respond_notify_tasks="told.yml")
    assert (lab.folder / "noticed").exists() and (lab.folder / "recovered").exists()
    (after,) = lab.records("web1")
    assert set(after["told"]) == set(record["untold"]) and not after["untold"]


def test_a_reboot_that_starts_the_service_again_is_drained_again(make_lab: Make) -> None:
    lab = make_lab(["web1"], 30)
    event = lab.simulator.event("Reboot", ["web1"], notice=3000, started_seconds=3000)
    lab.respond()
    assert not lab.flag("web1").exists()
    before = lab.records("web1")[0]["methods"][0]["before"]
    lab.simulator.until(lambda: any(e["transition"] == "started" for e in lab.simulator.log()), 60, "the event starts")
    lab.flag("web1").write_text("yes\n")  # what a boot does
    lab.hosts["web1"]["respond_boot_id"] = "boot-of-web1-2"
    lab.respond()
    assert not lab.flag("web1").exists(), "it serves while the event is still listed"
    assert lab.records("web1")[0]["methods"][0]["before"] == before
    lab.simulator.ask("POST", f"/events/{event}/finish")
    lab.respond(respond_wait=True)
    assert lab.flag("web1").read_text() == "yes\n"
    assert lab.records("web1")[0]["phase"] == "recovered"


def test_an_event_that_is_cancelled_while_draining_is_recovered(make_lab: Make) -> None:
    lab = make_lab(["web1"])
    never = {"method": "command", "begin": "true", "check": "sh -c 'exit 75'", "undo": f"touch {lab.folder}/undone"}
    lab.hosts["web1"]["drain_methods"].append(never)
    event = lab.simulator.event("Reboot", ["web1"], notice=36000)
    lab.respond()
    assert lab.records("web1")[0]["phase"] == "draining"
    assert not lab.flag("web1").exists()
    lab.simulator.ask("POST", f"/events/{event}/cancel")
    lab.respond(respond_wait=True)
    record = lab.records("web1")[0]
    assert (record["phase"], record["outcome"]) == ("recovered", "cancelled")
    assert lab.flag("web1").exists()
    assert (lab.folder / "undone").exists()
    assert lab.simulator.approvals() == []


def test_a_slow_drain_delays_no_other_event(make_lab: Make) -> None:
    lab = make_lab(["slow", "fast"], 30)
    lab.hosts["slow"]["drain_methods"] = [{"method": "command", "begin": "true", "check": "sh -c 'exit 75'", "undo": "true"}]
    slow = lab.simulator.event("Redeploy", ["slow"], notice=36000)
    fast = lab.simulator.event("Redeploy", ["fast"], notice=36000, started_seconds=60)
    output = lab.respond(code=2, respond_wait=True, respond_wait_timeout=75, respond_timing={**lab.all["respond_timing"], "check_interval": 5})
    assert f"slow: draining for event {slow}, not back after respond_wait_timeout (75 s)" in " ".join(output.split())
    (approval,) = lab.simulator.approvals()
    assert fast in approval["body"]
    assert lab.records("fast")[0]["phase"] == "recovered"
    assert lab.records("slow")[0]["event"]["event_id"] == slow
    assert lab.records("slow")[0]["phase"] == "draining"


def test_a_vm_that_could_not_approve_is_asked_again_after_a_while(make_lab: Make) -> None:
    lab = make_lab(["web1"])
    lab.simulator.event("Freeze", ["web1"], duration_in_seconds=5, notice=72000, started_seconds=60)
    flag = lab.flag("web1").stat()
    lab.simulator.ask("POST", "/faults", {"kind": "status", "status": 405, "method": "POST", "count": 1})
    output = lab.respond(respond_wait=True)
    assert "could not approve" in output, "the fault did not hit"
    assert [entry["status"] for entry in lab.simulator.approvals()] == [405, 200]
    assert lab.flag("web1").stat().st_mtime_ns == flag.st_mtime_ns, "a short pause needs no drain"


def test_a_policy_that_is_wrong_is_named_before_anything_is_done(make_lab: Make) -> None:
    lab = make_lab(["web1"])
    lab.simulator.event("Reboot", ["web1"])
    output = lab.respond(code=None, respond_policy=[{"name": "odd", "when": "event_type ==", "drain": True, "approve": "after_drain"}])
    assert "odd" in output
    assert "failed=1" in output
    assert lab.simulator.requests() == []


def test_lost_network_in_the_middle_is_never_taken_for_the_end(make_lab: Make) -> None:
    lab = make_lab(["web1"], 60)
    lab.simulator.event("Reboot", ["web1"], notice=36000, approvals="none")
    lab.respond()
    assert lab.records("web1")[0]["phase"] == "approved"
    assert lab.leases("web1") == [], "a run that is over stands in the way of the next"
    lab.simulator.ask("POST", "/faults", {"kind": "empty_body", "count": 1000})
    for _run in range(2):
        assert "Could not read web1: The answer from" in lab.respond(code=2)
    assert lab.records("web1")[0]["phase"] == "approved"
    assert not lab.flag("web1").exists()


def visible(output: str) -> bool:
    """Whether every line is one that a terminal only shows; core separates some of its own with a tab."""
    return all(line.replace("\t", " ").isprintable() for line in output.split("\n"))


def test_status_shows_explains_and_changes_nothing(make_lab: Make, tmp_path: pathlib.Path) -> None:
    lab = make_lab(["web1", "web2"])
    lab.hosts["web2"].update(ansible_connection="ssh", ansible_host="127.0.0.1", ansible_port=9, ansible_ssh_timeout=2)
    event = lab.simulator.event("Reboot", ["web1"], event_source="User", notice=36000)
    # A line break, a terminal's commands, and letters that iteration the order round: an id and a text that a VM may have made up.
    hostile = "\x1b[2J\x9b31m\u202e\nweb9: approved"
    lab.simulator.event("Reboot", ["web1"], event_id=f"{event[:8]}{hostile}", description=hostile, notice=36000)
    text = lab.status()
    assert event in text
    assert "web2" in text
    assert "failed=0" in text
    assert visible(text)
    assert f"{event[:8]}\\\\x1b[2J\\\\x9b31m\\\\u202e web9: approved by" in text
    # What is enough to mean the one that is real, and no other.
    short = next(line.split(". ")[1].split(":")[0] for line in text.splitlines() if f"Reboot {event} by user" in line)
    assert event.lower().startswith(short) and len(short) == 9
    explained = lab.status(status_event_id=short)
    assert "everything else" in explained
    assert visible(explained)
    refused = lab.play("maintenance.azure.decide", code=2, decide_event_id=event[:8], decide_action="hold", decide_who="alice")
    assert f"{event[:8]} may be any of 2 events; type more of it" in " ".join(refused.split()), refused
    assert visible(refused)
    document = lab.status(status_format="json")
    assert visible(document)
    assert '\\"events\\"' in document or '"events"' in document
    assert lab.records("web1") == []
    assert lab.simulator.approvals() == []


BATCHES = """
- hosts: web1
  gather_facts: false
  tasks:
    # As a module of a VM that an attacker has taken over may bring it along.
    - ansible.builtin.set_fact: {respond_policy: [], cacheable: true}
- hosts: all
  gather_facts: false
  serial: 1
  roles:
    - maintenance.azure.respond
"""


def test_a_vm_with_settings_in_its_facts_ends_no_play_in_batches(make_lab: Make) -> None:
    """In the batch of the first VM nobody is left; the second is served."""
    lab = make_lab(["web1", "web2"])
    lab.simulator.event("Freeze", ["web2"], duration_in_seconds=5)
    play = lab.folder / "batches.yml"
    play.write_text(BATCHES)
    output = lab.play(str(play), code=None)
    assert "respond_policy comes from its facts" in output
    assert "Error while evaluating" not in output
    assert "PLAY RECAP" in output


def test_such_a_vm_comes_first_and_the_others_go_on(make_lab: Make) -> None:
    lab = make_lab(["web1", "web2"])
    lab.simulator.event("Freeze", ["web2"], duration_in_seconds=5)
    play = lab.folder / "together.yml"
    play.write_text(BATCHES.replace("  serial: 1\n", ""))
    output = lab.play(str(play))
    assert "respond_policy comes from its facts" in output
    assert len(lab.simulator.approvals()) == 1
