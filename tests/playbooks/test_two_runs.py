# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Two runs at work on the same VMs at once, and runs that others left behind."""

from __future__ import annotations

import concurrent.futures
import pathlib
import time
import typing as t

from lab import warm
from lab.lab import Lab

Make = t.Callable[..., Lab]
VMS = ["web1", "web2", "web3"]
EVENT = "C7061BAC-AFDC-4513-B24B-AA5F13A16123"
# Appending a short line is one step: the file shows in which order the services of all VMs were stopped and started.
SERVICE = """#!/bin/sh
case $1 in
  stop) echo "stopped {vm}" >> {log} ;;
  start) echo "started {vm}" >> {log} ;;
esac
"""


def give_services(lab: Lab) -> pathlib.Path:
    """A service on each VM whose changes are written into one log for all."""
    log = lab.folder / "changes"
    log.touch()
    for vm in lab.vms:
        service = lab.folder / vm / "service"
        service.write_text(SERVICE.format(vm=vm, log=log))
        service.chmod(0o755)
        lab.hosts[vm]["drain_methods"].append({"method": "command", "begin": f"{service} stop", "check": "true", "undo": f"{service} start"})
    return log


def at_once(lab: Lab, runs: int = 2, **more: t.Any) -> list[tuple[int, str]]:
    """Several runs, started together; their exit codes and outputs."""
    command = lab.command("maintenance.azure.respond", **more)
    with concurrent.futures.ThreadPoolExecutor(runs) as pool:
        started = [pool.submit(warm.run_playbook, command, lab.environment(), lab.folder, 900) for _number in range(runs)]
    return [(one.result().returncode, one.result().stdout + one.result().stderr) for one in started]


def test_two_runs_at_once_do_everything_once_and_never_take_two_of_a_group(make_lab: Make) -> None:
    lab = make_lab(VMS)
    log = give_services(lab)
    # Two runs that give way to each other need some time more.
    lab.all.update(respond_capacity=[{"name": "web", "members": VMS, "max_unavailable": 1}], respond_drain_seconds=30, respond_wait_timeout=700)
    # Longer than an iteration on the busiest machine: a lease that ends before its run looks again is only removed, again and again.
    lab.all["respond_timing"]["lease_seconds"] = 120
    for vm in ("web1", "web2"):
        lab.simulator.event("Freeze", [vm], duration_in_seconds=30, notice=72000, started_seconds=60)
    for code, output in at_once(lab, respond_wait=True):
        assert code == 0, output[-5000:]
    changes = log.read_text().split("\n")[:-1]
    assert sorted(changes) == ["started web1", "started web2", "stopped web1", "stopped web2"], changes
    # Whoever is stopped is started before the next is stopped.
    first = changes[0].split()[1]
    assert changes[1] == f"started {first}", changes
    for vm in ("web1", "web2"):
        assert lab.phases(vm)[-1] == "recovered"
    assert [lab.leases(vm) for vm in VMS] == [[], [], []]


def test_of_two_runs_that_start_in_the_same_second_and_do_not_wait_one_acts(make_lab: Make) -> None:
    """As two controllers with one line of cron do."""
    lab = make_lab(VMS)
    log = give_services(lab)
    # Longer than an iteration on the busiest machine.
    lab.all["respond_timing"]["lease_seconds"] = 120
    lab.simulator.event("Reboot", ["web1", "web2"], notice=72000, started_seconds=60, event_id=EVENT)
    for code, output in at_once(lab):
        assert code == 0, output[-5000:]
    stopped = [line for line in log.read_text().split("\n") if line.startswith("stopped")]
    assert sorted(stopped) == ["stopped web1", "stopped web2"], "both gave way, or one drained what the other had"
    assert len(lab.simulator.approvals()) == 1
    assert [lab.leases(vm) for vm in VMS] == [[], [], []]


def leave_a_lease(lab: Lab, vm: str, run: str, seconds: float) -> None:
    """What a run that was killed leaves behind."""
    play = lab.folder / "lease.yml"
    play.write_text(
        f"""
- hosts: {vm}
  gather_facts: false
  tasks:
    - maintenance.azure.maintenance_record:
        records_path: "{{{{ respond_records_path }}}}"
        state: leased
        event_id: {EVENT}
        lease: {{run: {run}, who: bob on deploy2, seconds: {seconds}}}
"""
    )
    lab.play(str(play))


def test_a_vm_that_another_run_has_leased_is_left_to_it(make_lab: Make) -> None:
    lab = make_lab(VMS)
    log = give_services(lab)
    lab.simulator.event("Reboot", ["web1", "web2"], notice=72000, started_seconds=60, event_id=EVENT)
    leave_a_lease(lab, "web2", "other0run", 3600)
    output = lab.respond()
    assert "run other0run of bob on deploy2 is at work on web2" in output
    assert log.read_text() == "", "it was drained behind another run's back"
    assert lab.simulator.approvals() == []
    assert lab.leases("web1") == [], "half an event stays leased"
    assert "At work: run other0run of bob on deploy2" in lab.status()
    assert len(lab.leases("web2")) == 1


def test_what_a_dead_run_had_leased_is_taken_over_when_its_time_is_over(make_lab: Make) -> None:
    lab = make_lab(VMS)
    log = give_services(lab)
    lab.simulator.event("Reboot", ["web1", "web2"], notice=72000, started_seconds=60, event_id=EVENT)
    leave_a_lease(lab, "web2", "other0run", 1)
    leave_a_lease(lab, "web3", "other0run", 1)
    time.sleep(1.1)
    lab.respond(respond_wait=True)
    assert sorted(log.read_text().split("\n")[:-1]) == ["started web1", "started web2", "stopped web1", "stopped web2"]
    assert len(lab.simulator.approvals()) == 1
    assert [lab.leases(vm) for vm in VMS] == [[], [], []]


def test_a_run_that_lost_its_lease_does_nothing_more(make_lab: Make) -> None:
    """The drain of web1 takes its lease away, as another run would after the time limit: then nothing is noted and nothing approved."""
    lab = make_lab(["web1"])
    records = lab.folder / "web1" / "records"
    thief = lab.folder / "thief"
    thief.write_text(f"#!/bin/sh\nrm -f {records}/claim-*\n")
    thief.chmod(0o755)
    lab.hosts["web1"]["drain_methods"] = [{"method": "command", "begin": str(thief), "check": "true", "undo": "true"}]
    lab.simulator.event("Reboot", ["web1"], notice=72000, started_seconds=60)
    # It is robbed again and again, and tries until its time is over.
    lab.respond(code=None, respond_timing={**lab.all["respond_timing"], "retries": 0}, respond_wait_timeout=40)
    assert "drained" not in lab.phases("web1"), "it wrote on after its lease was gone"
    assert lab.phases("web1")[:2] == ["noticed", "draining"]
