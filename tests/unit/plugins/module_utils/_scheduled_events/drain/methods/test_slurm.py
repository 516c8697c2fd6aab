# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Method slurm, on a stand-in that answers as Slurm 22.05.8 did: tests/state/slurm has the real one."""

from __future__ import annotations

import re
import time

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.methods.method import Event, MethodError, NoAnswer, NotYet, Task
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.methods.slurm.slurm import SlurmMethod
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.registry import defaults, methods_of
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine.commands import CommandResult
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine.machine import Machine
from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.kinds.registry import kind_of
from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.settings import validation
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.drain.scene import EVENT, step

OURS = f"maintenance.azure {EVENT}"
SHOWN = """NodeName={node} Arch=x86_64 CoresPerSocket=1\x20
   CPUAlloc=0 CPUEfctv=2 CPUTot=2 CPULoad=7.93
   NodeAddr=10.9.0.1 NodeHostName={host} Port=17001 Version=22.05.8
   OS=Linux 6.18.44 #1 SMP PREEMPT_DYNAMIC @0\x20
   State={state} ThreadsPerCore=1 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A
   Partitions=all\x20
   BootTime=2026-11-27T09:28:18 SlurmdStartTime=2026-11-27T10:00:44
   ExtSensorsJoules=n/s ExtSensorsWatts=0 ExtSensorsTemp=n/s
{more}
"""  # noqa: W291  as scontrol writes it
OK = CommandResult(0, "", "")
# What Slurm 22.05.8 said: code, output, errors.
NO_SCONTROL = CommandResult(127, "", "scontrol: No such file or directory")
NO_MUNGE = CommandResult(
    1,
    "",
    "scontrol: error: If munged is up, restart with --num-threads=10\n"
    'scontrol: error: Munge encode failed: Failed to access "/run/munge/munge.socket.2": No such file or directory (Did you start munged?)\n'
    "scontrol: error: slurm_send_node_msg: auth_g_create: REQUEST_NODE_INFO has authentication error\n"
    "slurm_load_node error: Protocol authentication error\n",
)
NOT_BELIEVED = CommandResult(1, "", "slurm_load_node error: Protocol authentication error\n")
NOT_ALLOWED = CommandResult(1, "", "slurm_update error: Invalid user id\n")
CONTROLLER_AWAY = CommandResult(1, "", "slurm_load_node error: Unable to contact slurm controller (connect failure)\n")
CONTROLLER_SLOW = CommandResult(1, "", "slurm_load_node error: Socket timed out on send/recv operation\n")
REQUEUE_AWAY = CommandResult(1, "", "Unexpected message received for job 3\n")
TIMED_OUT = CommandResult(124, "", "")
UNKNOWN_NODE = CommandResult(1, "Node vm9 not found\n", "")
UNKNOWN_TO_UPDATE = CommandResult(1, "", "slurm_update error: Invalid node name specified\n")
NOT_DRAINED = CommandResult(1, "", "slurm_update error: Invalid node state specified\n")
NO_REASON = CommandResult(1, "", "You must specify a reason when DOWNING or DRAINING a node. Request denied\n")
NOT_TO_REQUEUE = CommandResult(1, "", "Requested operation is presently disabled for job 2\n")
NO_BATCH_JOB = CommandResult(1, "", "Only batch jobs are accepted or processed for job 6\n")
NO_SUCH_JOB = CommandResult(1, "", "Invalid job id specified for job 999\n")


class Cluster:
    """slurmctld, as its commands show it: nodes with a state and a reason, jobs on them, and the commands that changed something."""

    def __init__(self, state="IDLE", reason="", jobs=()):
        self.state, self.reason, self.by, self.more = state, reason, "[root@2026-11-27T10:02:13]", ""
        self.jobs = dict(jobs)
        self.refused, self.unknown = {}, ()
        self.says = {}
        self.after_resume = "IDLE"
        self.changes, self.asked = [], []
        self.host = "vm1.internal.cloudapp.net"
        # By node: the VM that it is on. The one of its own name, where slurm.conf does not say it.
        self.hosts = {}

    def run(self, line, environment, seconds):
        assert environment == {"LC_ALL": "C"} and isinstance(line, list)
        self.asked.append((line, seconds))
        if line == ["uname", "-n"]:
            return CommandResult(0, self.host + "\n", "")
        if line == ["scontrol", "show", "aliases"] and self.says.get("scontrol show") is not NO_SCONTROL:
            # It reads slurm.conf, and asks nobody.
            host = self.host.partition(".")[0]
            found = [node for node, on in self.hosts.items() if on == host] or [host for one in (host,) if one not in self.unknown and one not in self.hosts]
            return CommandResult(0, " ".join(found) + "\n", "")
        said = self.says.get(" ".join(line[:2])) or self.says.get(line[0])
        return said or getattr(self, "_" + "_".join(line[:2] if line[0] == "scontrol" else line[:1]))(line)

    def _scontrol_show(self, line):
        assert line[:3] == ["scontrol", "show", "node"] and len(line) == 4
        reason = self.reason.partition("\n")
        more = f"   Reason={reason[0]} {self.by}" + "".join(f"\n          {text}" for text in reason[2:] if text.strip()) if self.reason else ""
        if line[3] in self.unknown:
            return UNKNOWN_NODE
        host = self.hosts.get(line[3], line[3])
        return CommandResult(0, SHOWN.format(node=line[3], state=self.state, host=host, more=more + self.more), "")

    def _scontrol_update(self, line):
        keys = dict(word.split("=", 1) for word in line[2:])
        self.changes.append(keys)
        if keys["state"] == "drain":
            # Without a word it takes the reason that was there.
            self.state, self.reason = "+".join(dict.fromkeys([*self.state.split("+"), "DRAIN"])), keys["reason"]
        elif "DRAIN" not in self.state and "DOWN" not in self.state:
            return NOT_DRAINED
        else:
            self.state, self.reason = self.after_resume, ""
        return OK

    def _scontrol_requeue(self, line):
        assert line[:3] == ["scontrol", "requeue", "incomplete"] and len(line) == 4
        self.changes.append(line[3])
        if line[3] in self.refused:
            return self.refused[line[3]]
        self.jobs = {job: "COMPLETING" if job.partition("+")[0] == line[3] else state for job, state in self.jobs.items()}
        return OK

    def _squeue(self, line):
        assert line[:4] == ["squeue", "-h", "-a", "-w"] and line[5:] == ["-o", "%i %T"]
        return CommandResult(0, "".join(f"{job} {state}\n" for job, state in self.jobs.items()), "")


class Twins(Cluster):
    """Two nodes of one VM, vm1, each with a slurmd of its own; vm2 is on another VM."""

    def __init__(self, **states):
        super().__init__()
        self.hosts = {"a": "vm1", "b": "vm1", "c": "vm2"}
        self.nodes = {name: states.get(name) or Cluster() for name in self.hosts}
        for one in self.nodes.values():
            one.hosts = self.hosts

    def run(self, line, environment, seconds):
        node = next((name for name in self.nodes if name in line or f"nodename={name}" in line), "")
        if line[:2] == ["scontrol", "requeue"]:
            node = next(name for name, one in self.nodes.items() if line[3] in one.jobs)
        return self.nodes[node].run(line, environment, seconds) if node else super().run(line, environment, seconds)

    def states(self):
        return [one.state for one in self.nodes.values()]


def machine(cluster, now="2026-11-21T20:00:00Z"):
    return Machine(lambda: now, cluster, None, None, None)


def task(finding=None, state="new", deadline=None, event=EVENT, **options):
    return Task({**defaults("slurm"), **options}, finding or {}, state, None, {}, deadline=deadline, event=Event(event))


METHOD = SlurmMethod()
FOUND = {"node": "vm1", "left": False}
OUT = [
    ("IDLE+DRAIN", "bad disk"), ("ALLOCATED+DRAIN", "bad disk"), ("DOWN", "dead"), ("DOWN+DRAIN", ""), ("IDLE+FAIL", "x"),
    ("IDLE+DRAIN", "maintenance.azure OTHER"),
]  # fmt: skip


def find(cluster, one):
    return METHOD.find(machine(cluster), one)


def begin(cluster, one=None, now="2026-11-21T20:00:00Z"):
    METHOD.begin(machine(cluster, now), one or task(FOUND, "found"))


def check(cluster, one=None, now="2026-11-21T20:00:00Z"):
    return METHOD.check(machine(cluster, now), one or task(FOUND, "begun"))


def undo(cluster, one=None):
    return METHOD.undo(machine(cluster), one or task(FOUND, "drained"))


# --- a drain and its undo ------------------------------------------------------------------------------------------------------


def test_a_node_is_drained_with_the_events_reason_and_comes_back():
    cluster = Cluster()
    assert find(cluster, task()) == FOUND and cluster.changes == []
    begin(cluster)
    assert cluster.changes == [{"nodename": "vm1", "state": "drain", "reason": OURS}]
    assert check(cluster) == ("drained", None, None, None)
    assert undo(cluster) == ("undone", None, None, None)
    assert (cluster.state, cluster.changes[1:]) == ("IDLE", [{"nodename": "vm1", "state": "resume"}])


def test_begun_and_undone_twice_it_acts_once():
    cluster = Cluster()
    for _twice in range(2):
        begin(cluster)
    for _twice in range(2):
        assert undo(cluster).state == "undone"
    assert [change["state"] for change in cluster.changes] == ["drain", "resume"]


def test_by_the_engine_the_finding_is_recorded_and_a_copy_may_keep_it(vm):
    cluster = Cluster()
    vm.machine = vm.machine._replace(commands=cluster)
    one = step("slurm", where="controller", given=defaults("slurm"), outside=True)
    assert vm.drain(one, stop_at_finding=True).state == "found" and cluster.changes == []
    assert vm.drain(one).state == "drained"
    entry = vm.entry("1-slurm")
    assert (entry["before"], entry["outside"]) == (FOUND, True)
    assert kind_of("slurm").for_replica(entry["before"]) == FOUND
    assert vm.undo(one).state == "undone" and cluster.state == "IDLE"


@pytest.mark.parametrize(("host", "option", "name"), [("vm1.internal.cloudapp.net", "", "vm1"), ("vm1", "", "vm1"), ("vm1", "hpc-pg0-1", "hpc-pg0-1")])
def test_the_node_is_the_one_that_is_set_else_the_short_host_name(host, option, name):
    cluster = Cluster()
    cluster.host, cluster.unknown = host, ("vm1",) if option else ()
    assert find(cluster, task(node=option))["node"] == name
    begin(cluster, task({"node": name}, "found", node=option))
    assert cluster.changes[0]["nodename"] == name


def test_the_node_of_another_vm_is_refused_by_both_names():
    # As in variables of a group: this VM would be called drained, because its neighbour is.
    cluster = Cluster()
    with pytest.raises(MethodError, match=r"node vm2 of Slurm is on vm2 \(NodeHostName\), and this VM, vm1, has vm1: correct option node, or leave it out"):
        find(cluster, task(node="vm2"))
    assert cluster.changes == []


# --- which nodes are this VM's --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("node", "host", "words"), [
    # Set for this VM, and on another one by NodeHostName.
    ("vm2", "host9", "node vm2 of Slurm is on host9 (NodeHostName), and this VM, vm1, has none: correct option node, or leave it out"),
    ("vm2", "host9.internal.example", "node vm2 of Slurm is on host9.internal.example (NodeHostName), and this VM, vm1, has none"),
    ("vm2", "vm1", None), ("vm2", "VM1.internal.example", None),
    # In clouds it may be the node's own name, or an address, which says nothing.
    ("hpc-1", "hpc-1", None), ("hpc-1", "10.0.0.5", None), ("hpc-1", "fd00::5", None),
])  # fmt: skip
def test_a_node_of_another_vm_is_refused_where_slurm_says_so(node, host, words):
    cluster = Cluster()
    cluster.hosts, cluster.unknown = {node: host}, ("vm1",)
    if words is None:
        assert find(cluster, task(node=node)) == {"node": node, "left": False}
    else:
        with pytest.raises(MethodError) as caught:
            find(cluster, task(node=node))
        assert str(caught.value).startswith(words) and cluster.changes == []


def test_the_name_of_a_node_that_differs_from_its_vms_is_found_by_the_vm():
    cluster = Cluster()
    cluster.hosts = {"node-7": "vm1"}
    assert find(cluster, task()) == {"node": "node-7", "left": False}
    with pytest.raises(MethodError, match=r"node node-8 of Slurm is on node-8 \(NodeHostName\), and this VM, vm1, has node-7: correct option node"):
        find(cluster, task(node="node-8"))


@pytest.mark.parametrize("node", ["", "a", "b"])
def test_all_nodes_of_the_vm_are_drained_and_come_back_and_no_other(node):
    cluster, mine = Twins(), node or "a"
    found = find(cluster, task(node=node))
    assert found == {"node": mine, "left": False}
    assert METHOD.would(machine(cluster), task(node=node)._replace(present=found)).startswith("would drain node " + ("b and a" if node == "b" else "a and b"))
    begin(cluster, task(found, "found", node=node))
    assert cluster.states() == ["IDLE+DRAIN", "IDLE+DRAIN", "IDLE"]
    assert check(cluster, task(found, "begun", node=node)).state == "drained"
    assert undo(cluster, task(found, "drained", node=node)) == ("undone", None, None, None)
    assert cluster.states() == ["IDLE", "IDLE", "IDLE"]


def test_jobs_of_every_node_of_the_vm_are_waited_for_and_requeued():
    cluster = Twins(a=Cluster("ALLOCATED", "", {"1": "RUNNING"}), b=Cluster("ALLOCATED", "", {"2": "RUNNING"}), c=Cluster("ALLOCATED", "", {"3": "RUNNING"}))
    found = find(cluster, task())
    assert METHOD.would(machine(cluster), task()._replace(present=found)) == "would drain node a and b and wait for jobs 1, 2"
    begin(cluster)
    cluster.nodes["a"].jobs, cluster.nodes["a"].state = {}, "IDLE+DRAIN"
    assert check(cluster, task(found, "begun"))[:2] == ("draining", "jobs on node b: 2")
    one = task(found, "begun", jobs="requeue")
    # One that has to begin again comes first.
    cluster.nodes["a"].jobs = {"1": "COMPLETING"}
    assert check(cluster, one)[:2] == ("lost", "jobs to requeue on node b: 2")
    begin(cluster, one)
    assert [one.changes[1:] for one in cluster.nodes.values()] == [[], ["2"], []]


def test_what_a_person_has_set_on_one_of_the_nodes_stays():
    cluster = Twins(b=Cluster("DOWN*+DRAIN", "bad disk"))
    found = find(cluster, task())
    begin(cluster, task(found, "found"))
    assert check(cluster, task(found, "begun")).state == "drained"
    assert undo(cluster, task(found, "drained")) == ("undone", None, None, None)
    assert cluster.states() == ["IDLE", "DOWN*+DRAIN", "IDLE"] and cluster.nodes["b"].reason == "bad disk"


def test_every_node_of_the_vm_is_waited_for_on_the_way_back():
    cluster = Twins(a=Cluster("IDLE+DRAIN", OURS), b=Cluster("IDLE+DRAIN+NOT_RESPONDING", OURS))
    assert undo(cluster, task({"node": "a", "left": False}, "drained"))[:2] == (
        "undoing", "slurmd of node b does not answer; the node stays drained until it does",
    )  # fmt: skip
    cluster.nodes["b"].state = "IDLE+DRAIN"
    assert undo(cluster, task({"node": "a", "left": False}, "undoing")).state == "undone" and cluster.states() == ["IDLE", "IDLE", "IDLE"]


@pytest.mark.parametrize("name", ["ALL", "all", "default", "vm[1-3]", "vm1,vm2", "-a", "--help", "vm1 state=down", "vm1\n", "vm1=x", "é", "v" * 65, ".", "_x"])
@pytest.mark.parametrize("stage", ["find", "begin", "check", "undo"])
def test_no_name_but_that_of_one_node_reaches_scontrol(name, stage):
    cluster = Cluster()
    with pytest.raises(MethodError, match="option node must be the name of one node"):
        getattr(METHOD, stage)(machine(cluster), task(node=name))
    assert cluster.asked == []


@pytest.mark.parametrize("host", ["ALL", "", "vm1,vm2"])
def test_a_host_name_that_is_no_nodes_is_refused_too(host):
    cluster = Cluster()
    cluster.host = host
    with pytest.raises(MethodError, match="option node"):
        find(cluster, task())


@pytest.mark.parametrize("state", ["found", "begun", "drained", "undoing"])
@pytest.mark.parametrize("stage", ["find", "begin", "check", "undo"])
def test_another_node_than_the_recorded_one_is_not_touched(stage, state):
    cluster = Cluster("IDLE+DRAIN", OURS)
    with pytest.raises(MethodError, match="the record says node vm2, and the settings node vm1"):
        getattr(METHOD, stage)(machine(cluster), task({"node": "vm2", "left": False}, state))
    assert cluster.changes == []


@pytest.mark.parametrize("name", ["vm2", "ALL", "vm2,vm3", None])
def test_a_node_that_a_copy_of_the_record_makes_up_holds_nothing_up(name):
    cluster = Cluster("IDLE+DRAIN", OURS)
    of_own = cluster._scontrol_show
    cluster._scontrol_show = lambda line: of_own(line) if line[3] == "vm1" else CommandResult(1, "", f"Node {line[3]} not found")
    one = task({"node": name, "left": False}, "begun")
    assert find(cluster, one) == FOUND and check(cluster, one).state == "drained" and undo(cluster, one).state == "undone"
    assert {line[3] for line, _seconds in cluster.asked if line[:3] == ["scontrol", "show", "node"]} <= {"vm1", "vm2", "None"}


def test_the_node_of_an_earlier_drain_says_nothing():
    assert find(Cluster(), task({"node": "vm2", "left": True}, "undone")) == FOUND


@pytest.mark.parametrize("event", ["", "a b", "x\ny", "ALL,", "é"])
def test_an_event_id_of_an_unusual_form_is_refused_before_anything_is_asked(event):
    cluster = Cluster()
    with pytest.raises(ValueError, match="unusual form"):
        find(cluster, task(event=event))
    assert cluster.asked == []


# --- what somebody else did ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("state", "reason"), OUT)
def test_what_is_out_already_is_left_twice_and_afterwards(state, reason):
    cluster = Cluster(state, reason)
    for _twice in range(2):
        finding = find(cluster, task())
        assert finding == {"node": "vm1", "left": True}
        begin(cluster, task(finding, "found"))
        assert check(cluster, task(finding, "begun")).state == ("draining" if "ALLOCATED" in state else "drained")
        assert undo(cluster, task(finding, "drained")) == ("undone", None, None, None)
    assert (cluster.changes, cluster.state, cluster.reason) == ([], state, reason)


def test_ours_is_not_somebody_elses_when_it_is_found_again():
    assert find(Cluster("IDLE+DRAIN", OURS), task()) == FOUND


def test_what_was_left_and_is_resumed_by_somebody_is_drained_and_then_ours():
    cluster, left = Cluster(), {"node": "vm1", "left": True}
    answer = check(cluster, task(left, "drained"))
    assert (answer.state, answer.error) == ("lost", "node vm1 is IDLE, not drained")
    begin(cluster, task(left, "found"))
    assert (cluster.reason, undo(cluster, task(left, "drained")).state, cluster.state) == (OURS, "undone", "IDLE")


@pytest.mark.parametrize(
    "reason", [OURS + " and a bad disk", "bad disk", OURS + "\nmore", OURS + " [bob@noon]", "maintenance.azure OTHER", OURS.upper(), "", OURS + " "]
)
@pytest.mark.parametrize("state", ["IDLE+DRAIN", "DOWN+DRAIN", "IDLE+FAIL", "DOWN", "IDLE+DRAIN+NOT_RESPONDING"])
def test_a_reason_that_is_not_ours_to_the_letter_is_theirs(state, reason):
    cluster = Cluster(state, reason)
    answer = undo(cluster)
    assert (answer.state, answer.error, cluster.changes, cluster.state) == ("undone", None, [], state)
    assert answer.note.startswith("Node vm1 of Slurm stays ") and "its reason is not that of the drain" in answer.note


def test_a_reason_in_a_note_is_short_and_printable():
    note = undo(Cluster("IDLE+DRAIN", "\x1b[31m" + "x" * 1000)).note
    assert "\x1b" not in note and len(note) < 400


def test_a_reason_made_to_be_slow_to_read_is_read_at_once():
    # Root of any node may set it on another one; before, this took a quarter of a minute.
    cluster = Cluster("IDLE+DRAIN", "x [" + "@" * 50000)
    began = time.process_time()
    assert find(cluster, task())["left"] is True
    assert time.process_time() - began < 2


def test_a_comment_of_the_node_is_no_state_and_no_reason():
    cluster = Cluster("IDLE+DRAIN", "bad disk")
    cluster.more = f"\n   Comment=a\n   State=IDLE b\n   Reason={OURS} [root@now]"
    assert (undo(cluster).state, cluster.changes) == ("undone", [])


# --- jobs ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "jobs", "expected", "error"),
    [
        ("IDLE+DRAIN", {}, "drained", None),
        ("IDLE+DRAIN+NOT_RESPONDING", {}, "drained", None),
        ("IDLE*+DRAIN", {}, "drained", None),
        ("ALLOCATED+DRAIN", {"3": "RUNNING"}, "draining", "jobs on node vm1: 3"),
        ("ALLOCATED+DRAIN", {}, "draining", "node vm1 is ALLOCATED+DRAIN"),
        ("MIXED+DRAIN", {}, "draining", "node vm1 is DRAIN+MIXED"),
        ("IDLE+DRAIN+COMPLETING", {}, "draining", "node vm1 is COMPLETING+DRAIN+IDLE"),
        ("IDLE+DRAIN", {"3": "COMPLETING"}, "draining", "jobs on node vm1: 3"),
        ("IDLE+DRAIN", {"3": "SUSPENDED"}, "draining", "jobs on node vm1: 3 (suspended)"),
        ("IDLE", {}, "lost", "node vm1 is IDLE, not drained"),
        ("MIXED", {"3": "RUNNING"}, "lost", "node vm1 is MIXED, not drained"),
        ("UNKNOWN", {}, "lost", "node vm1 is UNKNOWN, not drained"),
    ],
)
def test_drained_is_out_and_without_any_job(state, jobs, expected, error):
    assert check(Cluster(state, OURS, jobs)) == (expected, error, None, None)


@pytest.mark.parametrize("state", ["ALLOCATED+DRAIN", "MIXED+DRAIN", "IDLE+DRAIN"])
def test_left_jobs_are_not_asked_for(state):
    cluster = Cluster(state, OURS, {"3": "RUNNING"})
    assert check(cluster, task(FOUND, "begun", jobs="leave")) == ("drained", None, None, None)
    assert all(line[0] != "squeue" for line, _seconds in cluster.asked)
    assert check(Cluster("IDLE"), task(FOUND, "begun", jobs="leave")).state == "lost"


def test_many_jobs_are_counted():
    answer = check(Cluster("ALLOCATED+DRAIN", OURS, {str(number): "RUNNING" for number in range(1, 13)}))
    assert answer.error == "jobs on node vm1: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 2 more"


DEADLINE = "2026-11-21T20:10:00Z"
MOMENTS = [
    (DEADLINE, 60, "2026-11-21T20:08:59Z", False), (DEADLINE, 60, "2026-11-21T20:09:00Z", True), (DEADLINE, 60, "2026-11-21T20:11:00Z", True),
    (DEADLINE, "300", "2026-11-21T20:05:00Z", True), (DEADLINE, 0, "2026-11-21T20:09:59Z", False), (None, 60, "2026-11-21T20:00:00Z", True),
    ("soon", 60, "2026-11-21T20:00:00Z", True),
]  # fmt: skip


@pytest.mark.parametrize(("deadline", "seconds", "now", "due"), MOMENTS)
def test_jobs_are_requeued_so_many_seconds_before_the_deadline_and_without_one_at_once(deadline, seconds, now, due):
    cluster = Cluster("ALLOCATED", "", {"3": "RUNNING", "4_2": "RUNNING", "5+0": "RUNNING", "5+1": "RUNNING", "6": "COMPLETING"})
    one = task(FOUND, "found", deadline, jobs="requeue", requeue_seconds=seconds)
    begin(cluster, one, now)
    assert cluster.changes[1:] == (["3", "4_2", "5"] if due else [])
    assert check(cluster, one._replace(state="begun"), now).state == "draining"


@pytest.mark.parametrize("jobs", ["wait", "leave"])
def test_only_requeue_requeues(jobs):
    cluster = Cluster("ALLOCATED", "", {"3": "RUNNING"})
    begin(cluster, task(FOUND, "found", jobs=jobs))
    assert len(cluster.changes) == 1


def test_a_requeue_that_is_due_begins_the_method_again(vm):
    cluster = Cluster("IDLE", "", {"3": "RUNNING"})
    vm.machine = vm.machine._replace(commands=cluster, now=lambda: vm.clock)
    one = step("slurm", where="controller", given={**defaults("slurm"), "jobs": "requeue"}, outside=True)
    vm.clock = "2026-11-21T20:00:00Z"
    assert vm.drain(one, deadline=DEADLINE)[:2] == ("draining", "jobs on node vm1: 3")
    vm.clock = "2026-11-21T20:09:30Z"
    assert vm.drain(one, deadline=DEADLINE)[:2] == ("draining", "jobs on node vm1: 3")
    assert cluster.changes[1:] == ["3"] and cluster.jobs == {"3": "COMPLETING"}
    cluster.jobs = {}
    assert vm.drain(one, deadline=DEADLINE).state == "drained"
    assert len(cluster.changes) == 2 and vm.record()["attempts"] == 1


def test_jobs_of_a_node_that_is_left_are_requeued_all_the_same():
    cluster = Cluster("ALLOCATED+DRAIN", "bad disk", {"3": "RUNNING"})
    begin(cluster, task({"node": "vm1", "left": True}, "found", jobs="requeue"))
    assert (cluster.changes, cluster.reason) == (["3"], "bad disk")


def test_what_slurm_refuses_to_requeue_is_named_once_the_rest_is_requeued():
    cluster = Cluster("ALLOCATED", "", {"2": "RUNNING", "3": "RUNNING", "6": "RUNNING", "999": "RUNNING", "7": "RUNNING"})
    cluster.refused = {"2": NOT_TO_REQUEUE, "6": NO_BATCH_JOB, "999": NO_SUCH_JOB}
    with pytest.raises(MethodError) as caught:
        begin(cluster, task(FOUND, "found", jobs="requeue"))
    assert str(caught.value) == "jobs on node vm1 that cannot be requeued: 2, 6: Requested operation is presently disabled for job 2"
    assert cluster.changes[1:] == ["2", "3", "6", "999", "7"]


def test_a_suspended_job_is_not_requeued_and_is_named():
    # Slurm would hold it as JobHeldAdmin, with priority 0, for good.
    cluster = Cluster("ALLOCATED", "", {"2": "SUSPENDED", "3": "RUNNING"})
    with pytest.raises(MethodError) as caught:
        begin(cluster, task(FOUND, "found", jobs="requeue"))
    said = "jobs on node vm1 that cannot be requeued: 2: suspended, and a requeue would have Slurm hold it for good"
    assert str(caught.value).startswith(said) and cluster.changes[1:] == ["3"]
    assert check(cluster, task(FOUND, "begun")).error == "jobs on node vm1: 2 (suspended), 3"
    assert METHOD.would(machine(cluster), task(jobs="requeue")._replace(present=FOUND)) == "would drain node vm1 and requeue jobs 2 (suspended), 3"


@pytest.mark.parametrize("line", ["x RUNNING", "3", "-1 RUNNING", "3_[1-4] PENDING", "3;reboot RUNNING", "3 "])
def test_a_job_of_an_unusual_form_is_named_and_not_requeued(line):
    cluster = Cluster("ALLOCATED+DRAIN", OURS)
    cluster.says = {"squeue": CommandResult(0, line + "\n", "")}
    with pytest.raises(MethodError, match="squeue does not say which job this is"):
        begin(cluster, task(FOUND, "found", jobs="requeue"))
    assert cluster.changes == []


# --- Slurm does not answer, or says no -----------------------------------------------------------------------------------------

SAID = [
    (NO_SCONTROL, "scontrol cannot be run on this VM: scontrol: No such file or directory"),
    (NO_MUNGE, "munge does not work on this VM: see systemctl status munge: "),
    (NOT_BELIEVED, "Slurm does not believe this VM: munge needs the key of the cluster, and a clock that is right: "),
    (UNKNOWN_NODE, "Slurm has no node vm1; set the option node"),
    (CommandResult(1, "", "slurm_load_node error: odd\x1b[31m\n" + "x" * 5000), "scontrol show node ended with exit code 1: slurm_load_node error: odd\\x1b"),
    (CommandResult(0, "", ""), "scontrol does not say how node vm1 is: "),
    (CommandResult(0, "NodeName=vm1 Arch=x86_64\n", ""), "scontrol does not say how node vm1 is: NodeName=vm1"),
    (CommandResult(0, SHOWN.format(node="vm2", state="IDLE", host="vm2", more=""), ""), "scontrol does not say how node vm1 is: NodeName=vm2"),
]


@pytest.mark.parametrize(("said", "words"), SAID)
@pytest.mark.parametrize("stage", ["find", "begin", "check", "undo"])
def test_what_is_wrong_is_said_before_anything_is_changed(stage, said, words):
    cluster = Cluster()
    cluster.says = {"scontrol show": said}
    with pytest.raises(MethodError) as caught:
        getattr(METHOD, stage)(machine(cluster), task(FOUND, "found"))
    assert str(caught.value).startswith(words) and len(str(caught.value)) <= 400 and "\x1b" not in str(caught.value)
    assert cluster.changes == []


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (NOT_ALLOWED, "Slurm does not let root of this VM change nodes: slurm_update error: Invalid user id"),
        (NO_REASON, "scontrol update ended with exit code 1: You must specify a reason"),
        (UNKNOWN_TO_UPDATE, "scontrol update ended with exit code 1: slurm_update error: Invalid node name"),
    ],
)
def test_a_drain_and_a_resume_that_slurm_refuses_say_why(said, words):
    for cluster, act in ((Cluster(), begin), (Cluster("IDLE+DRAIN", OURS), undo)):
        cluster.says = {"scontrol update": said}
        with pytest.raises(MethodError) as caught:
            act(cluster)
        assert str(caught.value).startswith(words)


AWAY = [
    (CONTROLLER_AWAY, "slurmctld does not answer: slurm_load_node error: Unable to contact slurm controller (connect failure)"),
    (CONTROLLER_SLOW, "slurmctld does not answer: slurm_load_node error: Socket timed out on send/recv operation"),
    (TIMED_OUT, "slurmctld does not answer s"),
]


@pytest.mark.parametrize(("said", "words"), AWAY)
@pytest.mark.parametrize("command", ["scontrol", "squeue"])
def test_a_controller_that_is_away_is_waited_for(said, words, command):
    cluster = Cluster("IDLE+DRAIN", OURS, {"3": "RUNNING"})
    cluster.says = {command: said}
    # In a check that is no failure: the engine waits, and the record says so.
    with pytest.raises(NoAnswer, match=re.escape(words)):
        check(cluster)
    stages = [lambda: begin(cluster, task(FOUND, "found", jobs="requeue"))]
    if command == "scontrol":
        stages += [lambda: find(cluster, task()), lambda: undo(cluster)]
    for stage in stages:
        with pytest.raises(NotYet) as caught:
            stage()
        assert words in str(caught.value)
    assert cluster.changes == []


def test_a_controller_that_goes_away_under_a_requeue_is_waited_for_too():
    cluster = Cluster("ALLOCATED+DRAIN", OURS, {"3": "RUNNING"})
    cluster.says = {"scontrol requeue": REQUEUE_AWAY}
    with pytest.raises(NotYet, match="Unexpected message received for job 3"):
        begin(cluster, task(FOUND, "found", jobs="requeue"))


def test_by_the_engine_an_away_controller_uses_no_attempt_and_undoes_later(vm):
    cluster = Cluster()
    cluster.says = {"scontrol": CONTROLLER_AWAY}
    vm.machine = vm.machine._replace(commands=cluster, now=lambda: vm.clock)
    one = step("slurm", where="controller", given=defaults("slurm"), outside=True)
    vm.clock = "2026-11-21T20:09:00Z"
    outcome = vm.drain(one, deadline=DEADLINE)
    assert outcome.state == "draining" and "not yet: slurmctld does not answer" in outcome.error and vm.record()["attempts"] == 0
    cluster.says = {}
    assert vm.drain(one, deadline=DEADLINE).state == "drained"
    cluster.says = {"scontrol": CONTROLLER_AWAY}
    outcome = vm.undo(one)
    assert outcome.state == "undoing" and "slurmctld does not answer" in outcome.error
    cluster.says = {}
    assert vm.undo(one).state == "undone"


def test_it_fails_by_name_when_fifteen_seconds_are_left(vm):
    cluster = Cluster()
    cluster.says = {"scontrol": CONTROLLER_AWAY}
    vm.machine = vm.machine._replace(commands=cluster, now=lambda: "2026-11-21T20:09:45Z")
    outcome = vm.drain(step("slurm", where="controller", given=defaults("slurm"), outside=True), deadline=DEADLINE)
    assert outcome.state == "failed" and "slurmctld does not answer" in outcome.error


def test_no_call_has_more_than_twelve_seconds():
    cluster = Cluster("IDLE", "", {"3": "RUNNING"})
    one = task(FOUND, "found", jobs="requeue")
    for stage in (find, begin, check, undo):
        stage(cluster, one)
    assert {seconds for _line, seconds in cluster.asked} == {12.0}


# --- back in service -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", ["IDLE+DRAIN+NOT_RESPONDING", "IDLE*+DRAIN", "DOWN*+DRAIN", "DOWN+DRAIN+NOT_RESPONDING", "UNKNOWN+DRAIN"])
def test_a_silent_node_stays_drained_until_its_slurmd_answers(state):
    cluster = Cluster(state, OURS)
    answer = undo(cluster)
    assert (answer.state, cluster.changes) == ("undoing", []) and "does not answer; the node stays drained" in answer.error
    cluster.state = "DOWN+DRAIN"
    assert (undo(cluster).state, cluster.state) == ("undone", "IDLE")


@pytest.mark.parametrize("state", ["IDLE+NOT_RESPONDING", "IDLE*", "DOWN*", "DOWN+NOT_RESPONDING", "UNKNOWN"])
def test_a_resumed_node_is_back_once_its_slurmd_answers(state):
    cluster = Cluster("IDLE+DRAIN", OURS)
    cluster.after_resume = state
    for _twice in range(2):
        assert undo(cluster)[:2] == ("undoing", "slurmd of node vm1 does not answer")
    cluster.state = "MIXED"
    assert undo(cluster) == ("undone", None, None, None) and len(cluster.changes) == 1


def test_a_node_that_somebody_resumed_in_between_is_undone():
    cluster = Cluster("IDLE+DRAIN", OURS)
    cluster.says = {"scontrol update": NOT_DRAINED}
    assert undo(cluster)[:2] == ("undoing", "node vm1 is DRAIN+IDLE")
    cluster.state, cluster.reason = "ALLOCATED", ""
    assert undo(cluster) == ("undone", None, None, None)


# --- what the controller and people read ---------------------------------------------------------------------------------------


def test_a_person_reads_how_it_is_undone_without_a_name_of_the_record():
    kind, finding = kind_of("slurm"), {"node": "vm2", "left": False}
    words = kind.by_hand(finding, {}, [{"name": "1-slurm"}])
    assert words.startswith("scontrol update nodename=NODE state=resume, if ") and "vm2" not in words
    assert "compare it with drain_methods" in kind.by_hand(finding, {}, [])
    assert kind.by_hand({"node": "vm1", "left": True}, {}, [{"name": "1-slurm"}]) == "nothing to do: it stood so before the drain"


def test_it_is_outside_its_vm_and_no_method_of_windows():
    assert METHOD.outside and METHOD.safe_at_once and "slurm" not in methods_of("windows")
    (problem,) = validation.problems([{"method": "slurm"}], [], "windows", (), (), "")
    assert problem == "drain_methods, entry 1 (slurm): method slurm is not supported on Windows hosts."


@pytest.mark.parametrize(
    ("state", "jobs", "option", "words"),
    [
        ("IDLE", {}, "wait", "would drain node vm1; no job is on it"),
        ("MIXED", {"7": "RUNNING", "8": "RUNNING"}, "wait", "would drain node vm1 and wait for jobs 7, 8"),
        ("MIXED", {"7": "RUNNING"}, "requeue", "would drain node vm1 and requeue jobs 7"),
        ("MIXED", {"7": "RUNNING"}, "leave", "would drain node vm1 and leave jobs 7"),
        ("MIXED+DRAIN", {"7": "RUNNING"}, "wait", "would leave node vm1, which is out already, and wait for jobs 7"),
    ],
)
def test_check_mode_says_what_would_become_of_the_jobs(state, jobs, option, words):
    cluster = Cluster(state, jobs=jobs)
    one = task(jobs=option)
    assert METHOD.would(machine(cluster), one._replace(present=find(cluster, one))) == words
    assert cluster.changes == []
