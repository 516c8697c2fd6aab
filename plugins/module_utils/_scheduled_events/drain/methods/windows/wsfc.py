# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""Method wsfc: pause a node of a failover cluster, so that its roles move away, after the availability groups of its SQL Server have."""

from __future__ import annotations

import typing as t

from ....core.types import Data, Values
from ....host.machine.failover_cluster import ClusterState, FailoverCluster, Node, Replica
from ....host.machine.machine import Machine
from ... import availability_groups
from ...availability_groups import Surroundings
from ..method import DRAINED, DRAINING, FAILED, LOST, UNDOING, UNDONE, Answer, Method, MethodError, Option, Task, is_true

UP, PAUSED = "Up", "Paused"
FAILBACKS = {"immediate": "Immediate", "policy": "Policy", "none": "NoFailback"}
# Values 3 and 4 of DetectManagedEvents say that the cluster itself pauses and drains a node that Azure announces an event for. See
# https://techcommunity.microsoft.com/t5/failover-clustering/failover-clustering-in-azure/ba-p/2554341
FIRST_MANAGED = 3
MANAGED = "Nothing was done about failover cluster {cluster} of node {node}: it handles Azure's events itself (DetectManagedEvents {value})."


class _Seen(t.NamedTuple):
    """The cluster and the availability groups at one moment, as they concern one method."""

    cluster: ClusterState
    replicas: t.Sequence[Replica]
    here: t.Sequence[str]
    """The availability groups of the method whose primary is on this VM."""
    wanted: str
    """The name of the VM's node, in small letters."""

    @property
    def node(self) -> Node | None:
        """The VM's node."""
        return next((one for one in self.cluster.nodes if one.name.lower() == self.wanted), None)

    @property
    def state(self) -> str:
        """The state of the VM's node."""
        return self.node.state if self.node else "missing"

    @property
    def owned(self) -> list[str]:
        """The roles that are on the VM. Those that are offline carry nothing for anybody."""
        return [one.name for one in self.cluster.roles if one.owner.lower() == self.wanted and one.state != "Offline"]


class WSFCMethod(Method):
    """Take a node out of a failover cluster. A node that was paused before stays so."""

    name = "wsfc"
    hands_over = True
    options: t.ClassVar[t.Mapping[str, Option]] = {
        "node": Option("text", default=""),
        "failback": Option("text", default="immediate", choices=("immediate", "policy", "none")),
        "managed_events": Option("text", default="step_aside", choices=("step_aside", "ignore")),
        "availability_groups": Option("texts", default=[], takeover=True),
        "instance": Option("text", default="localhost"),
        "replicas": Option("mapping", default={}, hosts=True),
        "return_primary": Option("truth", default=False),
    }

    def find(self, machine: Machine, task: Task) -> Data:
        seen = _observe(machine, task)
        node = seen.node
        if node is None:
            nodes = ", ".join(one.name for one in seen.cluster.nodes)
            raise MethodError(f"Failover cluster {seen.cluster.name} has no node {seen.wanted} but {nodes}; set the option node")
        aside = _steps_aside(seen, task)
        refusals = [] if aside else _refusals(node, seen, task)
        if refusals:
            raise MethodError("; ".join(refusals))
        return {
            "cluster": seen.cluster.name,
            "node": node.name,
            "state": node.state,
            "aside": aside,
            "groups": seen.owned,
            "moved": {} if aside else availability_groups.targets(seen.here, seen.replicas, _surroundings(task)),
        }

    def handover(self, machine: Machine, task: Task) -> t.Mapping[str, str]:
        """Return by availability group the replica that takes over: SQL Server wants a failover to be asked for there."""
        moved = _moved(task.finding)
        return {} if _is_aside(task.finding) else {group: moved[group] for group in task.present["moved"] if group in moved}

    def begin(self, machine: Machine, task: Task) -> None:
        # Where a group is still here, the next observation pauses the node, once another replica is primary.
        if not _is_aside(task.finding) and not task.present["moved"] and _may_pause(machine, task):
            _cluster(machine).pause(task.present["node"])

    def check(self, machine: Machine, task: Task) -> Answer:
        seen = _observe(machine, task)
        if _steps_aside(seen, task):
            node = seen.node.name if seen.node else seen.wanted
            return Answer(DRAINED, note=MANAGED.format(node=node, cluster=seen.cluster.name, value=seen.cluster.managed_events))
        if seen.node is None:
            return Answer(FAILED, f"the cluster has no node {seen.wanted} any more")
        # Right after begin() it is on its way; later it has to begin again.
        under_way = DRAINING if task.state == "found" else LOST
        if seen.here:
            return Answer(under_way, f"still primary of {', '.join(seen.here)}")
        if seen.state != PAUSED:
            return Answer(under_way, f"{seen.node.name} is not paused") if seen.state == UP else Answer(DRAINING, f"{seen.node.name} is {seen.state}")
        return _paused(seen.node, seen.owned, task, under_way) if seen.owned else Answer(DRAINED)

    def undo(self, machine: Machine, task: Task) -> Answer:
        if _is_aside(task.finding):
            return Answer(UNDONE)
        before = _node_before(task)
        seen = _observe(machine, task)
        acted = False
        # What was paused before stays paused.
        if task.finding.get("state") == UP and seen.state == PAUSED:
            _cluster(machine).resume(before, str(task.options["failback"]))
            acted = True
        for group in _to_take_back(seen, task):
            _cluster(machine).take_over(str(task.options["instance"]), group)
            acted = True
        missing = _missing(before, _observe(machine, task) if acted else seen, task)
        return Answer(UNDOING, "; ".join(missing)) if missing else Answer(UNDONE)

    def by_hand(self, finding: Values, options: Values) -> str:
        if _is_aside(finding) or str(finding.get("state")) != UP:
            return ""
        call = f"Resume-ClusterNode -Name $env:COMPUTERNAME -Failback {FAILBACKS.get(str(options.get('failback')), 'Immediate')}"
        return f"{call}; then fail back those of its availability_groups in drain_methods that the drain moved" if finding.get("moved") else call


def _observe(machine: Machine, task: Task) -> _Seen:
    groups = task.listed("availability_groups")
    cluster = _cluster(machine).describe()
    replicas = _cluster(machine).replicas(str(task.options["instance"])) if groups else []
    wanted = str(task.known.get("node") or task.options["node"] or cluster.computer).lower()
    return _Seen(cluster, replicas, availability_groups.primary_here(groups, replicas), wanted)


def _cluster(machine: Machine) -> FailoverCluster:
    if machine.failover_cluster is None:
        raise MethodError("there is no failover cluster on this system")
    return machine.failover_cluster


def _is_managed(seen: _Seen, task: Task) -> bool:
    return seen.cluster.managed_events >= FIRST_MANAGED and task.options["managed_events"] == "step_aside"


def _steps_aside(seen: _Seen, task: Task) -> bool:
    """Return whether nothing is done. What a drain has begun with stays."""
    return _is_aside(task.known) if "aside" in task.known else _is_managed(seen, task)


def _is_aside(finding: Values) -> bool:
    return finding.get("aside") is True


def _moved(finding: Values) -> dict[str, str]:
    """Return by availability group the replica that took over, as recorded."""
    moved = finding.get("moved")
    return {str(group): str(replica) for group, replica in moved.items()} if isinstance(moved, t.Mapping) else {}


def _surroundings(task: Task) -> Surroundings:
    replicas = task.options["replicas"]
    hosts = {str(name): str(host) for name, host in replicas.items()} if isinstance(replicas, t.Mapping) else {}
    return Surroundings(hosts, task.why_not)


def _refusals(node: Node, seen: _Seen, task: Task) -> list[str]:
    """Return in words what a drain would take away from the users."""
    found = []
    others = [one for one in seen.cluster.nodes if one.state == UP and one.name.lower() != seen.wanted]
    if node.state == UP and not others:
        found.append(f"{node.name} is the last node of failover cluster {seen.cluster.name} that is up; its roles have nowhere to go")
    elif node.state not in (UP, PAUSED):
        found.append(f"{node.name} is {node.state} in failover cluster {seen.cluster.name}")
    unknown = availability_groups.unknown(task.listed("availability_groups"), seen.replicas)
    found += [f"SQL Server instance {task.options['instance']} has no availability group {group}" for group in unknown]
    return found + _refused_groups(seen, task)


def _refused_groups(seen: _Seen, task: Task) -> list[str]:
    surroundings = _surroundings(task)
    # Once recorded, it is the recorded replica that must be able to.
    chosen = {**availability_groups.targets(seen.here, seen.replicas, surroundings), **_moved(task.known)}
    found = []
    for group in seen.here:
        reasons = availability_groups.candidates(group, seen.replicas, surroundings)
        refusal = availability_groups.refusal(group, chosen.get(group, ""), reasons)
        found += [refusal] if refusal else []
    return found


def _may_pause(machine: Machine, task: Task) -> bool:
    if task.present["state"] == UP:
        return True
    if task.finding.get("state") != UP or not task.present["groups"]:
        return False
    # Paused by us, and roles came back: again, unless they are still leaving.
    node = _observe(machine, task).node
    return node is not None and node.drain != "InProgress"


def _paused(node: Node, owned: t.Sequence[str], task: Task, under_way: str) -> Answer:
    """Return how far a node is that is paused and still owns roles."""
    left = f"roles still on {node.name}: {', '.join(owned)}"
    if node.drain == "InProgress":
        return Answer(DRAINING, left)
    if task.known.get("state") != UP:
        return Answer(FAILED, f"{node.name} was paused by an operator, who left {left}. Move them, or resume the node")
    if node.drain == "Failed" and under_way == LOST:
        return Answer(FAILED, f"the cluster could not move all, {left}")
    return Answer(under_way, left)


def _node_before(task: Task) -> str:
    node = task.finding.get("node")
    if not isinstance(node, str) or not node:
        raise MethodError("the record does not say which node of the failover cluster this VM is")
    return node


def _to_take_back(seen: _Seen, task: Task) -> list[str]:
    """Return the availability groups that come back now: the node is up, and all of them are in step here again."""
    moved = _moved(task.finding)
    if not is_true(task.options["return_primary"]) or seen.state != UP or availability_groups.out_of_step(moved, seen.replicas):
        return []
    return [group for group in moved if group not in seen.here]


def _missing(before: str, seen: _Seen, task: Task) -> list[str]:
    """Return in words what is not yet as it was."""
    moved, found = _moved(task.finding), []
    if task.finding.get("state") == UP and seen.state != UP:
        found.append(f"{before} is {seen.state}")
    elif task.finding.get("state") == UP and task.options["failback"] == "immediate":
        found += _roles_elsewhere(seen, task, moved)
    found += availability_groups.out_of_step(moved, seen.replicas)
    if is_true(task.options["return_primary"]):
        found += [f"availability group {group} is not back" for group in moved if group not in seen.here]
    return found


def _roles_elsewhere(seen: _Seen, task: Task, moved: t.Container[str]) -> list[str]:
    """Return in words which roles are waited for.

    A role that has settled elsewhere is waited for in one observation and left where it is in the next: an operator, or its failback policy, wants it there.
    """
    groups = task.finding.get("groups")
    ours = [str(group) for group in groups if group not in moved] if isinstance(groups, (list, tuple)) else []
    return [
        f"role {one.name} is on {one.owner}"
        for one in seen.cluster.roles
        if one.name in ours and one.name not in seen.owned and (one.state == "Pending" or task.state != UNDOING)
    ]
