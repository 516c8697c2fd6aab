# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""Method slurm: drain a node of a Slurm cluster, and wait for its jobs, have them requeued, or leave them."""

from __future__ import annotations

import typing as t

from ....core.printable_text import printable
from ....core.types import Data, Values
from ....host.machine.machine import Machine
from ....host.system import seconds_between
from ..method import DRAINED, DRAINING, LONGEST_MESSAGE, LOST, UNDOING, UNDONE, Answer, Method, MethodError, NoAnswer, NotYet, Option, Task
from .node import ADDRESS, NODE_NAME, Job, Node, Slurm

MOST_JOBS = 10
LONGEST_REASON = 120
SUSPENDED = "suspended, and a requeue would have Slurm hold it for good: resume it, or requeue and release it (scontrol)"


class SlurmMethod(Method):
    """Drain the VM's node with a reason of its own. Whose drain it is, that reason says, and nothing else: it must be exactly ours to be undone."""

    name = "slurm"
    # The state of a node is slurmctld's, and outlives the VM. It says itself whose it is, so that it may be changed before its record has a copy.
    outside = True
    safe_at_once = True
    # A controller that is restarted is waited for until then.
    needs_seconds = 15.0
    units = ("slurmd.service",)
    own_name = "node"
    options: t.ClassVar[t.Mapping[str, Option]] = {
        "node": Option("text", default=""),
        "jobs": Option("text", default="wait", choices=("wait", "requeue", "leave")),
        "requeue_seconds": Option("whole", default=60),
    }

    def find(self, machine: Machine, task: Task) -> Data:
        reason, node = task.reason, _node(machine, task)
        _refuse_elsewhere(Slurm(machine.commands), node)
        # Single words, so that another VM may keep a copy.
        return {"node": node.name, "left": node.is_out and node.reason != reason}

    def would(self, machine: Machine, task: Task) -> str:
        nodes = [node.name for node in _nodes(machine, task)]
        name, jobs = " and ".join(nodes), [job for node in nodes for job in Slurm(machine.commands).jobs(node)]
        about = {"wait": "wait for", "requeue": "requeue", "leave": "leave"}[task.options["jobs"]]
        first = f"would leave node {name}, which is out already," if task.present["left"] else f"would drain node {name}"
        return f"{first} and {about} jobs {_ids(jobs)}" if jobs else f"{first}; no job is on it"

    def begin(self, machine: Machine, task: Task) -> None:
        slurm, nodes = Slurm(machine.commands), _nodes(machine, task)
        for node in nodes:
            # What somebody else has put out stays as it is: a second drain would take the reason away.
            if not node.is_out:
                slurm.drain(node.name, task.reason)
        if _is_requeue_due(machine, task):
            _requeue(slurm, nodes)

    def check(self, machine: Machine, task: Task) -> Answer:
        try:
            answers = [_checked(machine, task, node) for node in _nodes(machine, task)]
        except NotYet as error:
            # A controller that is restarted has lost nothing.
            raise NoAnswer(str(error))
        return min(answers, key=lambda answer: (LOST, DRAINING, DRAINED).index(answer.state))

    def undo(self, machine: Machine, task: Task) -> Answer:
        node, *others = _nodes(machine, task)
        answers = [_undone(machine, task, node, task.known.get("left") is True), *(_undone(machine, task, one, True) for one in others)]
        return next((answer for answer in answers if answer.state != UNDONE), answers[0])

    def by_hand(self, finding: Values, options: Values) -> str:
        if finding.get("left") is True:
            return ""
        # The node stands in a record that the VM has written: another could be meant.
        return "scontrol update nodename=NODE state=resume, if scontrol show node NODE says as its Reason maintenance.azure and this EventId, and nothing else"


def _checked(machine: Machine, task: Task, node: Node) -> Answer:
    """Return how far one node is."""
    if not node.is_out:
        return Answer(LOST, f"node {node.name} is {node.state}, not drained")
    if task.options["jobs"] == "leave":
        return Answer(DRAINED)
    jobs = Slurm(machine.commands).jobs(node.name)
    if any(job.runs for job in jobs) and _is_requeue_due(machine, task):
        return Answer(LOST, f"jobs to requeue on node {node.name}: {_ids(jobs)}")
    if jobs:
        return Answer(DRAINING, f"jobs on node {node.name}: {_ids(jobs)}")
    return Answer(DRAINING, f"node {node.name} is {node.state}") if node.is_busy else Answer(DRAINED)


def _undone(machine: Machine, task: Task, node: Node, left: bool) -> Answer:
    """Resume one node, if its drain is ours. One that was left as it was found is not waited for."""
    slurm = Slurm(machine.commands)
    if node.is_out and node.reason == task.reason:
        if node.is_silent:
            # Slurm would set it down, with a reason of its own, when a VM that was restarted registers and is not drained.
            return Answer(UNDOING, f"slurmd of node {node.name} does not answer; the node stays drained until it does")
        slurm.resume(node.name)
        node = slurm.node(node.name)
    if node.is_out and node.reason == task.reason:
        return Answer(UNDOING, f"node {node.name} is {node.state}")
    if node.is_silent and not node.flags & {"DRAIN", "FAIL"} and not left:
        return Answer(UNDOING, f"slurmd of node {node.name} does not answer")
    theirs = f"Node {node.name} of Slurm stays {node.state}: its reason is not that of the drain, but {printable(node.reason, LONGEST_REASON)!r}."
    return Answer(UNDONE, note=theirs if node.is_out and not left else None)


def _nodes(machine: Machine, task: Task) -> list[Node]:
    """Return all nodes of the VM, that of the entry first: they all go with it, and so do their jobs."""
    slurm, first = Slurm(machine.commands), _node(machine, task)
    here = slurm.on_this_host()
    return [first, *(slurm.node(name) for name in here if name != first.name and first.name in here)]


def _refuse_elsewhere(slurm: Slurm, node: Node) -> None:
    """Raise MethodError where the node is another VM's: it would be drained in place of this VM's, which would be called drained."""
    here, host = slurm.on_this_host(), slurm.host_name()
    # What a configuration with other words than host names says nothing of is taken as it is set.
    says = here or (node.host != node.name and not ADDRESS.fullmatch(node.host) and node.host.partition(".")[0].lower() != host.lower())
    if says and node.name not in here:
        words = f"node {node.name} of Slurm is on {printable(node.host, LONGEST_REASON)} (NodeHostName)"
        raise MethodError(f"{words}, and this VM, {host}, has {', '.join(here) or 'none'}: correct option node, or leave it out"[:LONGEST_MESSAGE])


def _node(machine: Machine, task: Task) -> Node:
    """Return the VM's node as it is now. Raise MethodError where the settings mean another node than the one that was drained."""
    slurm = Slurm(machine.commands)
    name = str(task.options["node"] or "") or next(iter(slurm.on_this_host()), "") or slurm.host_name()
    if not NODE_NAME.fullmatch(name):
        raise MethodError(f"option node must be the name of one node, and is {printable(name, LONGEST_REASON)!r}")
    before = str(task.known.get("node", name))
    # A copy that a record was restored from may be made up: the other node itself has to say that it is drained by us.
    if before != name and NODE_NAME.fullmatch(before) and _is_ours(slurm, before, task):
        raise MethodError(f"the record says node {before}, and the settings node {name}: set the option node to the one that was meant")
    return slurm.node(name)


def _is_ours(slurm: Slurm, name: str, task: Task) -> bool:
    try:
        return slurm.node(name).reason == task.reason
    except MethodError:
        return False


def _is_requeue_due(machine: Machine, task: Task) -> bool:
    if task.options["jobs"] != "requeue":
        return False
    left = seconds_between(machine.now(), task.deadline) if task.deadline else None
    return left is None or left <= int(task.options["requeue_seconds"])


def _requeue(slurm: Slurm, nodes: t.Sequence[Node]) -> None:
    """Requeue what runs on nodes. Raise MethodError with those that Slurm refuses, or would hold for good, once all others are."""
    refused: dict[str, str] = {}
    for job in dict.fromkeys(job for node in nodes for job in slurm.jobs(node.name) if job.runs):
        why = SUSPENDED if job.is_suspended else slurm.requeue(job.id)
        if why:
            refused[job.id] = why
    if refused:
        why = next(iter(refused.values()))
        raise MethodError(f"jobs on node {nodes[0].name} that cannot be requeued: {_listed(list(refused))}: {why}"[:LONGEST_MESSAGE])


def _ids(jobs: t.Sequence[Job]) -> str:
    return _listed(list(dict.fromkeys(f"{job.id} (suspended)" if job.is_suspended else job.id for job in jobs)))


def _listed(ids: t.Sequence[str]) -> str:
    more = len(ids) - MOST_JOBS
    return ", ".join(ids[:MOST_JOBS]) + (f" and {more} more" if more > 0 else "")
