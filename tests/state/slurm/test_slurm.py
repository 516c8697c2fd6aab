# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Method slurm, with slurmctld, munge and a slurmd for each of three VMs as Debian has them, and jobs that write when they begin and end."""

from __future__ import annotations

import contextlib
import pathlib
import signal
import sys
import threading
import time
import typing as t

import pytest
from away import Away
from impact import Impact, freeze, thaw
from killed import kill_when
from lab.lab import Lab
from lab.watcher import Watcher
from rehearsal import rehearse
from slurm.cluster import Cluster, run, until

NAMES = ("vm1", "vm2", "vm3")
TWINS = ("twin1", "twin2")
DRAIN_ALL = [{"name": "all", "drain": True, "approve": "after_drain"}]
AS_IT_IS = [{"name": "as it is", "drain": False, "approve": "now"}]


@pytest.fixture(scope="module")
def running() -> t.Iterator[Cluster]:
    found = Cluster(NAMES, twins=TWINS)
    yield found
    found.close()


@pytest.fixture
def cluster(running: Cluster) -> Cluster:
    running.settle()
    return running


@pytest.fixture
def lab(tmp_path: pathlib.Path, cluster: Cluster) -> t.Iterator[Lab]:
    found = Lab(tmp_path / "lab", NAMES, 1)
    for vm in NAMES:
        drain_by(found, vm)
    found.all["respond_policy"] = DRAIN_ALL
    # No command of a drain takes longer than the lease, and a controller that is away is told after 9 s.
    found.all["respond_timing"]["lease_seconds"] = 30
    yield found
    found.close()


def drain_by(lab: Lab, vm: str, jobs: str = "wait", **options: t.Any) -> None:
    lab.hosts[vm]["drain_methods"] = [{"method": "slurm", "node": vm, "jobs": jobs, **options}]


class Reboot:
    """The end of a VM, whose slurmd and jobs are gone, and its next boot a few seconds later."""

    def __init__(self, cluster: Cluster, lab: Lab, vms: t.Sequence[str], seconds: float = 5, event_id: str = "") -> None:
        self._cluster, self._vms = cluster, vms
        self.event_id = event_id or lab.simulator.event("Reboot", vms, notice=200)
        self.hit: list[str] = []
        """The jobs that were on the VMs, by what squeue says."""
        self.states: dict[str, str] = {}
        self.impact = Impact(lab, self.event_id, seconds, self._strike, self._boot)

    def _strike(self) -> None:
        self.states = {vm: self._cluster.state(vm) for vm in self._vms}
        self.hit = [job for vm in self._vms for job in self._cluster.runs_on(vm)]
        for vm in self._vms:
            self._cluster.kill(vm)

    def _boot(self) -> None:
        for vm in self._vms:
            self._cluster.start_node(vm, booted=True)


@contextlib.contextmanager
def at_once(is_so: t.Callable[[], bool], act: t.Callable[[], None]) -> t.Iterator[None]:
    """Act as soon as something is so, beside what is done meanwhile. It must have been so."""
    ended, acted = threading.Event(), []

    def work() -> None:
        while not ended.wait(0.05):
            if is_so():
                acted.append(act())
                return

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(30)
    assert acted, "it was never so"


def recovered(lab: Lab, *vms: str) -> bool:
    return all({"drained", "recovered"} <= set(lab.phases(vm)) for vm in vms)


def in_service(cluster: Cluster, *vms: str) -> None:
    # A run may be over before slurmctld has asked the slurmd again: the undo waits for that, so it is so at once.
    assert {vm: (cluster.state(vm), cluster.reason(vm)) for vm in vms} == dict.fromkeys(vms, ("IDLE", ""))


# --- in CI ---------------------------------------------------------------------------------------------------------------------


def test_two_vms_of_one_event_one_waits_and_one_requeues(cluster: Cluster, lab: Lab) -> None:
    drain_by(lab, "vm2", "requeue", requeue_seconds=600)
    waited_for = [cluster.submit(900, node="vm1", ends="waited") for _two in range(2)]
    requeued = [cluster.submit(900, node="vm2", ends="requeued"), cluster.submit(900, "--array=1-1", node="vm2", ends="requeued") + "_1"]
    until(lambda: len(cluster.log("begun")) == 4, "all run")
    reboot = Reboot(cluster, lab, ("vm1", "vm2"))
    rehearse(lab, "would drain node vm1 and wait for jobs", "would drain node vm2 and requeue jobs")
    assert {cluster.state(vm) for vm in ("vm1", "vm2")} == {"ALLOCATED"}
    began = time.monotonic()
    with reboot.impact, at_once(lambda: cluster.state("vm1") == "ALLOCATED+DRAIN", lambda: cluster.end("waited")):
        lab.respond(respond_wait=True)
    assert reboot.impact.struck is not None
    assert reboot.hit == [] and set(reboot.states.values()) == {"IDLE+DRAIN"}, reboot
    assert recovered(lab, "vm1", "vm2")
    in_service(cluster, "vm1", "vm2")
    assert set(waited_for) <= set(cluster.log("ended")) and not set(waited_for) & set(cluster.log("killed"))
    assert [cluster.job_state(job) for job in requeued] == ["PENDING", "PENDING"] and all("Restarts=1" in cluster.job(job) for job in requeued)
    for job in requeued:
        cluster.start_now(job, "vm3")
    cluster.end("requeued")
    until(lambda: len(cluster.log("ended")) == 4, "what was requeued has ended elsewhere")
    took = reboot.impact.struck - began
    print(f"state: slurm: two VMs, 2 jobs waited for and 2 requeued: {len(reboot.hit)} hit by the reboot, which came after {took:.1f} s", flush=True)


def test_what_an_administrator_has_drained_stays_and_what_may_not_be_requeued_is_named(cluster: Cluster, lab: Lab) -> None:
    run("scontrol", "update", "nodename=vm1", "state=drain", "reason=bad disk")
    for _twice in range(2):
        reboot = Reboot(cluster, lab, ("vm1",), 3)
        with reboot.impact:
            lab.respond(respond_wait=True)
        # Slurm itself adds DOWN to it, when slurmd registers: with its ReturnToService=0 a restart that it did not ask for needs a person.
        assert "DRAIN" in cluster.state("vm1").split("+") and (cluster.reason("vm1"), cluster.updates("vm1")) == ("bad disk", ["DRAINED"])
    assert [record["methods"][0]["before"] for record in lab.records("vm1")] == [{"node": "vm1", "left": True}] * 2
    drain_by(lab, "vm2", "requeue", requeue_seconds=600)
    stuck, moved = cluster.submit(900, "--no-requeue", node="vm2"), cluster.submit(900, node="vm2")
    until(lambda: len(cluster.runs_on("vm2")) == 2, "both run")
    event_id = lab.simulator.event("Reboot", ["vm2"], notice=600)
    output = lab.respond(code=None)
    assert f"jobs on node vm2 that cannot be requeued: {stuck}: Requested operation is presently disabled" in " ".join(output.split())
    assert (cluster.job_state(stuck), cluster.job_state(moved)) == ("RUNNING", "PENDING") and "Restarts=1" in cluster.job(moved)
    assert started(lab) == [] and lab.records("vm2")[0]["phase"] == "failed"
    lab.simulator.ask("POST", f"/events/{event_id}/cancel")
    lab.respond(respond_wait=True)
    assert (cluster.state("vm2"), cluster.reason("vm2")) == ("MIXED", "")
    print("state: slurm: an administrator's drain stays through two events; 1 of 2 jobs may not be requeued, and is named", flush=True)


def test_the_node_of_another_vm_and_a_suspended_job_are_named_and_left(cluster: Cluster, lab: Lab) -> None:
    drain_by(lab, "vm1")
    lab.hosts["vm1"]["drain_methods"][0]["node"] = "twin1"
    drain_by(lab, "vm2", "requeue", requeue_seconds=600)
    job = cluster.submit(900, node="vm2")
    until(lambda: cluster.job_state(job) == "RUNNING", "it runs")
    run("scontrol", "suspend", job)
    event_id = lab.simulator.event("Reboot", ["vm1", "vm2"], notice=600)
    output = " ".join(lab.respond("--check", code=None).split())
    assert "its drain would be refused: 1-slurm: node twin1 of Slurm is on twin (NodeHostName), and this VM, host, has none" in output
    assert f"would drain node vm2 and requeue jobs {job} (suspended)" in output
    output = " ".join(lab.respond(code=None).split())
    assert "node twin1 of Slurm is on twin (NodeHostName), and this VM, host, has none: correct option node, or leave it out" in output
    assert f"jobs on node vm2 that cannot be requeued: {job}: suspended, and a requeue would have Slurm hold it for good" in output
    assert started(lab) == [] and (cluster.updates("twin1"), cluster.updates("vm1"), cluster.job_state(job)) == ([], [], "SUSPENDED")
    lab.simulator.ask("POST", f"/events/{event_id}/cancel")
    lab.respond(respond_wait=True)
    run("scontrol", "resume", job)
    assert cluster.job_state(job) == "RUNNING" and "Restarts=0" in cluster.job(job)
    print("state: slurm: another VM's node is refused, and a suspended job is named and goes on after its resume", flush=True)


def started(lab: Lab) -> list[dict[str, t.Any]]:
    return [entry for entry in lab.simulator.ask("GET", "/events") if entry["event_status"] == "Started"]


# --- before a release ----------------------------------------------------------------------------------------------------------


@pytest.mark.full
def test_without_a_drain_jobs_are_hit(cluster: Cluster, lab: Lab) -> None:
    lab.all["respond_policy"] = AS_IT_IS
    jobs = [cluster.submit(900, node="vm1") for _two in range(2)]
    until(lambda: len(cluster.runs_on("vm1")) == 2, "both run")
    reboot = Reboot(cluster, lab, ("vm1",))
    with reboot.impact:
        lab.respond(respond_wait=True)
    assert sorted(job.split()[0] for job in reboot.hit) == sorted(jobs) and not set(jobs) & set(cluster.log("ended"))
    # What a restart without a drain leaves, with ReturnToService=0, until a person acts.
    until(lambda: cluster.state("vm1") == "DOWN", "the node is down")
    assert cluster.reason("vm1") == "Node unexpectedly rebooted"
    print(f"state: slurm: the same without a drain: {len(reboot.hit)} of 2 jobs hit by the reboot, and the node stays DOWN", flush=True)


@pytest.mark.full
def test_all_slurmds_of_a_vm_are_drained_and_come_back(cluster: Cluster, lab: Lab) -> None:
    for node in TWINS:
        cluster.start_node(node)
    until(lambda: all(cluster.state(node) == "IDLE" for node in TWINS), "both are idle")
    interpreter = lab.folder / "python-twin"
    interpreter.write_text(f'#!/bin/sh\nexec unshare --uts sh -c \'hostname twin; exec "$0" "$@"\' {sys.executable} "$@"\n')
    interpreter.chmod(0o755)
    # Neither is named: the VM finds them by its own name.
    lab.hosts["vm1"].update(ansible_python_interpreter=str(interpreter), drain_methods=[{"method": "slurm"}])
    jobs = [cluster.submit(900, node=node, ends=node) for node in TWINS]
    until(lambda: len(cluster.log("begun")) == 2, "both run")
    event_id = lab.simulator.event("Reboot", ["vm1"], notice=200)
    rehearse(lab, f"would drain node twin1 and twin2 and wait for jobs {', '.join(jobs)}")
    cluster.end("twin1")
    hit: list[str] = []

    def strike() -> None:
        hit.extend([*(job for node in TWINS for job in cluster.runs_on(node)), *(node for node in TWINS if cluster.state(node) != "IDLE+DRAIN")])

    with Impact(lab, event_id, 1, strike, lambda: None), at_once(lambda: cluster.state("twin2") == "MIXED+DRAIN", lambda: cluster.end("twin2")):
        lab.respond(respond_wait=True)
    assert hit == [] and recovered(lab, "vm1") and set(jobs) <= set(cluster.log("ended"))
    until(lambda: all(cluster.state(node) == "IDLE" for node in TWINS), "both are back")
    print("state: slurm: two slurmds on one VM: 2 of 2 jobs waited for, 0 hit, both nodes are back", flush=True)


@pytest.mark.full
@pytest.mark.parametrize("seconds", [5, 40])
def test_left_jobs_stand_still_for_a_freeze_and_go_on(cluster: Cluster, lab: Lab, seconds: int) -> None:
    drain_by(lab, "vm1", "leave")
    jobs = [cluster.submit(900, node="vm1", ends="left") for _two in range(2)]
    until(lambda: len(cluster.log("begun")) == 2, "both run")
    event_id = lab.simulator.event("Freeze", ["vm1"], notice=200, duration_in_seconds=seconds)
    processes = cluster.processes_of("vm1")
    states: list[str] = []
    with Impact(lab, event_id, seconds, lambda: (states.append(cluster.state("vm1")), freeze(processes))[1], lambda: thaw(processes)):
        lab.respond(respond_wait=True)
    assert states == ["ALLOCATED+DRAIN"] and recovered(lab, "vm1")
    assert (cluster.state("vm1"), cluster.reason("vm1")) == ("ALLOCATED", "")
    cluster.end("left")
    until(lambda: set(jobs) <= set(cluster.log("ended")), "both have ended")
    assert not cluster.log("killed")
    print(f"state: slurm: jobs left on a node that is frozen for {seconds} s: 0 of 2 killed", flush=True)


@pytest.mark.full
@pytest.mark.parametrize("reason", ["bad disk", "maintenance.azure {event} and a bad disk"])
def test_a_reason_of_a_person_in_between_stays_and_is_told(cluster: Cluster, lab: Lab, reason: str) -> None:
    reboot = Reboot(cluster, lab, ("vm1",), 3)
    text = reason.format(event=reboot.event_id)
    strike = reboot.impact._strike

    def person() -> None:
        run("scontrol", "update", "nodename=vm1", f"reason={text}")
        strike()

    reboot.impact._strike = person
    with reboot.impact:
        output = lab.respond(respond_wait=True)
    assert "Node vm1 of Slurm stays" in " ".join(output.split()) and recovered(lab, "vm1")
    assert "DRAIN" in cluster.state("vm1") and cluster.reason("vm1") == text


@pytest.mark.full
def test_jobs_have_all_of_the_drains_time_but_the_last_seconds(cluster: Cluster, lab: Lab) -> None:
    lab.all["respond_drain_seconds"] = 60
    drain_by(lab, "vm1", "requeue", requeue_seconds=40)
    short, long = cluster.submit(900, node="vm1", ends="short"), cluster.submit(900, node="vm1")
    until(lambda: len(cluster.log("begun")) == 2, "both run")
    reboot = Reboot(cluster, lab, ("vm1",))
    with reboot.impact, at_once(lambda: cluster.state("vm1") == "ALLOCATED+DRAIN", lambda: cluster.end("short")):
        lab.respond(respond_wait=True)
    assert reboot.hit == [] and cluster.log("ended") == [short] and "Restarts=1" in cluster.job(long) and recovered(lab, "vm1")
    record = lab.records("vm1")[0]
    assert (record["attempts"], record["methods"][0]["before"]) == (1, {"node": "vm1", "left": False})
    in_service(cluster, "vm1")
    print("state: slurm: requeued in the last 40 s of 60: a short job ended, a long one was requeued, 0 hit", flush=True)


@pytest.mark.full
def test_killed_between_its_steps_it_goes_on(cluster: Cluster, lab: Lab) -> None:
    # That of a killed run is waited for.
    lab.all["respond_timing"]["lease_seconds"] = 3
    drain_by(lab, "vm1", "requeue", requeue_seconds=600)
    job = cluster.submit(900, node="vm1")
    until(lambda: cluster.job_state(job) == "RUNNING", "it runs")
    reboot = Reboot(cluster, lab, ("vm1",))
    steps: dict[str, t.Callable[[], bool]] = {
        "found": lambda: bool(lab.records("vm1")) and any(one["state"] == "found" for one in lab.records("vm1")[0]["methods"]),
        "drained by Slurm": lambda: "DRAIN" in cluster.state("vm1"),
        "requeued": lambda: "Restarts=1" in cluster.job(job),
        "drained": lambda: "drained" in lab.phases("vm1"),
        "approved": lambda: "approved" in lab.phases("vm1"),
        "resumed": lambda: reboot.impact.struck is not None and "DRAIN" not in cluster.state("vm1"),
    }
    with reboot.impact:
        for name, seen in steps.items():
            killed = kill_when(lab, seen)
            print(f"state: slurm: killed when {name}: {'yes' if killed else 'it had ended'}", flush=True)
        lab.respond(respond_wait=True)
    assert reboot.hit == [] and recovered(lab, "vm1") and cluster.updates("vm1") == ["DRAINING", "IDLE"]
    assert cluster.job(job).count("Restarts=1") == 1
    in_service(cluster, "vm1")


@pytest.mark.full
def test_a_second_run_changes_nothing(cluster: Cluster, lab: Lab) -> None:
    lab.all["respond_policy"] = [{"name": "held", "drain": True, "approve": "never"}]
    event_id = lab.simulator.event("Reboot", ["vm1"], notice=600)
    lab.respond()
    before = cluster.show("vm1").partition("Reason=")[2]
    assert before.startswith(f"maintenance.azure {event_id} [") and cluster.updates("vm1") == ["DRAINED"]
    lab.respond()
    assert cluster.show("vm1").partition("Reason=")[2] == before and cluster.updates("vm1") == ["DRAINED"]
    lab.simulator.ask("POST", f"/events/{event_id}/cancel")
    lab.respond(respond_wait=True)
    assert cluster.updates("vm1") == ["DRAINED", "IDLE"]
    in_service(cluster, "vm1")


@pytest.mark.full
def test_a_preempt_is_left_to_the_watcher_alone(cluster: Cluster, lab: Lab) -> None:
    drain_by(lab, "vm1", "requeue")
    jobs = [cluster.submit(900, node="vm1") for _two in range(2)]
    until(lambda: len(cluster.runs_on("vm1")) == 2, "both run")
    watcher = Watcher(lab, "vm1", ["Preempt"], policy=DRAIN_ALL)
    try:
        began = time.monotonic()
        lab.simulator.event("Preempt", ["vm1"], notice=30)
        until(lambda: cluster.state("vm1") == "IDLE+DRAIN" and not cluster.runs_on("vm1"), "no job is left", 30)
        took = time.monotonic() - began
    finally:
        watcher.end()
    assert all("Restarts=1" in cluster.job(job) for job in jobs), watcher.lines()
    print(f"state: slurm: Preempt by the watcher alone: 2 of 2 jobs requeued {took:.1f} s after it was listed", flush=True)


@contextlib.contextmanager
def without(cluster: Cluster, daemon: str) -> t.Iterator[None]:
    cluster.stop(daemon)
    try:
        yield
    finally:
        cluster.start_munge() if daemon == "munged" else cluster.start_controller()


@pytest.mark.full
def test_munge_away_is_said_and_nothing_is_done(cluster: Cluster, lab: Lab) -> None:
    event_id = lab.simulator.event("Reboot", ["vm1"], notice=600)
    with without(cluster, "munged"):
        output = lab.respond(code=None)
    assert "munge does not work on this VM: see systemctl status munge" in " ".join(output.split())
    assert started(lab) == [] and cluster.updates("vm1") == []
    lab.simulator.ask("POST", f"/events/{event_id}/cancel")


@pytest.mark.full
@pytest.mark.parametrize("how", ["away", "hangs"])
def test_a_controller_that_is_away_is_waited_for(cluster: Cluster, lab: Lab, how: str) -> None:
    reboot = Reboot(cluster, lab, ("vm1",))
    controller = cluster.processes["slurmctld"]
    began = time.monotonic()
    with contextlib.ExitStack() as stack:
        if how == "away":
            stack.enter_context(without(cluster, "slurmctld"))
        else:
            controller.send_signal(signal.SIGSTOP)
            stack.callback(controller.send_signal, signal.SIGCONT)
        lab.respond()
        record = lab.records("vm1")[0]
        assert (record["phase"], record["attempts"]) == ("draining", 0) and "slurmctld does not answer" in record["reason"]
        took = time.monotonic() - began
    with reboot.impact:
        lab.respond(respond_wait=True)
    assert recovered(lab, "vm1") and reboot.hit == []
    in_service(cluster, "vm1")
    print(f"state: slurm: controller {how}: a run waits {took:.1f} s, no attempt used, and the next one drains", flush=True)


@pytest.mark.full
@pytest.mark.parametrize("state", ["found", "begun"])
def test_the_controller_is_away_in_the_middle(state: str, cluster: Cluster, lab: Lab) -> None:
    """A job is what was acknowledged: slurmctld has taken it. No other is submitted."""
    job = cluster.submit(900, node="vm1", ends="waited")
    until(lambda: cluster.log("begun"), "it runs")
    began = time.monotonic()

    def tick(_number: int) -> None:
        # The job ends after slurmctld is back.
        if time.monotonic() > began + 40:
            cluster.end("waited")

    away = Away(lab, "vm1", lambda: cluster.stop("slurmctld"), cluster.start_controller, tick, state)
    away.verdict(f"slurm, slurmctld, {state}", away.writer.acknowledged)
    assert job in cluster.log("ended") and cluster.log("killed") == []
    in_service(cluster, "vm1")
