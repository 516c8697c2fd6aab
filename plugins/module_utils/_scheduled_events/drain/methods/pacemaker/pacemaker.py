# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""Method pacemaker: put this VM's node into standby, and wait until what ran on it runs elsewhere."""

from __future__ import annotations

import typing as t

from ....core.printable_text import printable
from ....core.types import Data, Values
from ....host.machine.machine import Machine
from ..method import DRAINED, DRAINING, FAILED, LONGEST_MESSAGE, LOST, UNDOING, UNDONE, Answer, Method, MethodError, NoAnswer, NotYet, Option, Task
from .cluster import IDLE, MARK, Node, NotRunning, Pacemaker, Status

LIFETIMES = ("reboot", "forever")
# No boot follows these while the event is listed, or none of this machine.
WITHOUT_REBOOT = ("Freeze", "Preempt", "Terminate")
ASIDE = "Nothing was done about node {node}: the cluster handles Azure's events itself (resource {agent})."
# What the cluster does without a majority, by no-quorum-policy. With "ignore" it goes on.
WITHOUT_QUORUM = {
    "freeze": "start nothing any more",
    "demote": "demote what is promoted, and stop all else",
    "suicide": "fence the nodes that are left",
    "fence": "fence the nodes that are left",
}
# A copy of a record takes 64 words of this length. No id has a colon; one stands before "promoted".
LONGEST_WORD, BETWEEN = 100, "::"


class PacemakerMethod(Method):
    """Take a node out of a Pacemaker cluster. A standby that a person or another program has set is left as it is.

    Which standby is ours, the cluster says: a node attribute beside it holds the reason with the EventId. So a VM may act without a copy of its record.
    """

    name = "pacemaker"
    hands_over = True
    outside = True
    safe_at_once = True
    units = ("pacemaker.service",)
    own_name = "node"
    needs_seconds = 120.0
    options: t.ClassVar[t.Mapping[str, Option]] = {
        "node": Option("text", default=""),
        "lifetime": Option("text", default="auto", choices=("auto", *LIFETIMES)),
        "members": Option("mapping", default={}, hosts=True),
        "azure_agent": Option("text", default="refuse", choices=("refuse", "step_aside", "ignore")),
        "unmovable": Option("text", default="refuse", choices=("refuse", "stop")),
    }

    def find(self, machine: Machine, task: Task) -> Data:
        pacemaker = Pacemaker(machine)
        seen, node = _look(pacemaker, task)
        aside = bool(seen.azure_agent) and task.options["azure_agent"] == "step_aside"
        expected = [] if aside else _expected(pacemaker, seen, node, task)
        return {
            "node": node.name,
            "standby": node.is_standby and node.mark != task.reason,
            "lifetime": _lifetime(task),
            "aside": seen.azure_agent if aside else "",
            **_packed(expected),
        }

    def would(self, machine: Machine, task: Task) -> str:
        name, aside = task.present["node"], task.present["aside"]
        if aside or task.present["standby"]:
            return f"would leave {name} to {aside}" if aside else f"would leave {name} in standby, as it is"
        pacemaker = Pacemaker(machine)
        seen = pacemaker.status()
        future = _future(pacemaker, seen, seen.nodes[name], task).resources
        moves = [f"{one} to {', '.join(sorted(future[one].settled - {name}))}" for one in _unpacked(task.present) if one in future]
        return f"would put {name} into standby, and move {'; '.join(moves) or 'nothing'}"

    def begin(self, machine: Machine, task: Task) -> None:
        present = task.present
        if not present["aside"] and not present["standby"]:
            Pacemaker(machine).set_standby(present["node"], _lifetime(task), task.reason)

    def check(self, machine: Machine, task: Task) -> Answer:
        pacemaker = Pacemaker(machine)
        # After a boot it may not be up yet: no answer.
        seen, node = _look(pacemaker, task)
        # By the cluster and the settings, too: another VM may have made up the copy that a record was restored from.
        if task.known.get("aside") and seen.azure_agent and task.options["azure_agent"] == "step_aside":
            return Answer(DRAINED, note=ASIDE.format(node=printable(node.name), agent=printable(seen.azure_agent)))
        answer = _checked(pacemaker, seen, node, task)
        if answer.state == DRAINED:
            try:
                _refuse_if_needed(pacemaker, seen, node, task)
            except NoAnswer:
                raise
            except (MethodError, NotYet) as error:
                return answer._replace(hold=str(error))
        return answer

    def undo(self, machine: Machine, task: Task) -> Answer:
        pacemaker = Pacemaker(machine)
        try:
            seen, node = _look(pacemaker, task)
        except NotRunning as error:
            return Answer(UNDOING, str(error))
        if task.finding.get("aside") and node.mark != task.reason:
            return Answer(UNDONE)
        # What another drain, or a person, has put there stays, and so does a reason that was changed since.
        for lifetime in (_lifetime(task), *LIFETIMES):
            if node.mark == task.reason:
                pacemaker.end_standby(node.name, lifetime)
                seen, node = _look(pacemaker, task)
        missing = [state for state in node.states if state in ("offline", "pending", "unclean")]
        if missing:
            return Answer(UNDOING, f"node {node.name} is {', '.join(missing)}")
        state = pacemaker.state_of(seen.controller)
        return Answer(UNDONE) if state == IDLE else Answer(UNDOING, f"resources may be moving: {state}")

    def by_hand(self, finding: Values, options: Values) -> str:
        if finding.get("standby") or finding.get("aside"):
            return ""
        lifetime = finding.get("lifetime") if finding.get("lifetime") in LIFETIMES else "forever"
        # The record may name another node, which would leave its own standby.
        about = f'--node="$(crm_node -n)" --lifetime={lifetime} --delete'
        return f"crm_standby {about}; crm_attribute --name={MARK} {about}"


def _look(pacemaker: Pacemaker, task: Task) -> tuple[Status, Node]:
    """Return the cluster, and this VM's node. The settings say which it is, or the VM's own daemon; a record never."""
    seen, name, here = pacemaker.status(), str(task.options["node"]), pacemaker.own_node()
    if (name or here) not in seen.nodes:
        raise MethodError(f"The cluster has no node {printable(name or here, 100)} but {_listed(seen.nodes)}; set the option node")
    if here in seen.nodes and name not in ("", here):
        raise MethodError(f"option node is {printable(name, 100)}, and this VM's node is {printable(here, 100)} (crm_node --name)")
    return seen, seen.nodes[name or here]


def _lifetime(task: Task) -> str:
    """Return the lifetime of the standby of this drain: as recorded, else as the options say."""
    wanted = task.known.get("lifetime") or task.options["lifetime"]
    if wanted not in LIFETIMES:
        wanted = "reboot" if task.event.type in WITHOUT_REBOOT else "forever"
    return str(wanted)


def _expected(pacemaker: Pacemaker, seen: Status, node: Node, task: Task) -> list[str]:
    """Return what must run elsewhere before the node has drained. Raise MethodError or NotYet where that cannot be."""
    refusals = [] if node.is_standby else _refusals(seen, node, task)
    if refusals:
        raise MethodError("; ".join(refusals)[:LONGEST_MESSAGE])
    # A standby of this drain is there after a boot: check() asks.
    if not node.is_standby or node.mark != task.reason:
        _refuse_if_needed(pacemaker, seen, node, task)
    if node.is_standby:
        return []
    state = pacemaker.state_of(seen.controller)
    if state != IDLE and not task.must_begin:
        raise NotYet(f"the cluster is still at work: {state}")
    here, future = seen.on(node.name), _future(pacemaker, seen, node, task)
    stuck = [name for name in here if name not in future.resources or not future.resources[name].settled - {node.name}]
    if stuck and task.options["unmovable"] == "refuse":
        raise MethodError(f"{_listed(stuck)} can run on no other node (constraints, capacity, or not managed); {node.name} was left in service")
    if fixed := future.on(node.name):
        raise MethodError(f"{_listed(fixed)} would stay on {node.name}, because the cluster does not stop it (not managed, or blocked); nothing was moved")
    return [name for name in here if name not in stuck]


def _refuse_if_needed(pacemaker: Pacemaker, seen: Status, node: Node, task: Task) -> None:
    """Raise NotYet or MethodError where the nodes that stay would have no majority: a node in standby still votes, until its VM is gone.

    What is down now stays down. A node without a vote takes none away; nothing is lost where nothing runs, or where there is no majority, or none is needed.
    """
    if seen.policy == "ignore" or not node.id or not any(one.places for one in seen.resources.values()):
        return
    votes = pacemaker.votes()
    voters = [one for one in seen.nodes.values() if one.id and one.name != node.name]
    down = [one.name for one in voters if one.id not in votes.members]
    hit = {one.id: f"{one.name}: {why}" for one in voters if one.name not in down and (why := _hit(one, task))}
    left = {member: count for member, count in votes.members.items() if member not in (node.id, *hit)}
    if "Quorate" not in votes.flags or sum(left.values()) >= votes.quorum or (votes.is_tie(left) and pacemaker.tie_breaker(votes.members) in left):
        return
    reasons = [*(f"{name} is down" for name in down), *hit.values()]
    if "LastManStanding" in votes.flags:
        reasons.append("last_man_standing does not help before it has counted again")
    about = f": {'; '.join(reasons)}" if reasons else f" without {node.name}"
    then = WITHOUT_QUORUM.get(seen.policy, "stop all resources")
    words = f"{votes.quorum} of {votes.expected} votes are needed, and {sum(left.values())} would be left{about}. The cluster would {then} (no-quorum-policy)"
    kind = NotYet if down or sum(votes.members.values()) < votes.expected else MethodError
    raise kind(printable(words, LONGEST_MESSAGE))


def _future(pacemaker: Pacemaker, seen: Status, node: Node, task: Task) -> Status:
    """Return how the cluster would end up without the node, and without those that the event hits, too."""
    hit = [one.name for one in seen.nodes.values() if one.name != node.name and not one.states and _hit(one, task)]
    return pacemaker.without([node.name, *hit])


def _refusals(seen: Status, node: Node, task: Task) -> list[str]:
    """Return in words what a standby would take away from the users, which the cluster does not refuse by itself."""
    found = []
    if seen.azure_agent and task.options["azure_agent"] == "refuse":
        found.append(f"the cluster handles Azure's events itself (resource {printable(seen.azure_agent, 100)}); see option azure_agent")
    if seen.is_maintained or "maintenance" in node.states:
        found.append("the cluster, or the node, is in maintenance mode, in which no resource moves")
    if not seen.has_quorum:
        found.append("this part of the cluster has no quorum")
    others = {one.name: (", ".join(one.states) or _hit(one, task)) for one in seen.nodes.values() if one.name != node.name}
    if not others or all(others.values()):
        reasons = "; ".join(f"{name}: {why}" for name, why in others.items()) or "there is none"
        found.append(f"no other node may take over from {node.name}: {printable(reasons)}")
    return found


def _hit(one: Node, task: Task) -> str:
    """Return why a node may be hit by the event, or an empty text."""
    # An event that names one VM names this one.
    if len({name.lower() for name in task.resources}) == 1:
        return ""
    members = task.options["members"]
    host = members.get(one.name) if isinstance(members, t.Mapping) else None
    return task.why_not(str(host)) if host else "the event names several VMs, and option members does not name the host of this node"


def _checked(pacemaker: Pacemaker, seen: Status, node: Node, task: Task) -> Answer:
    """Return how far a node is: drained once it is in standby, the cluster has come to rest, and what ran here has started elsewhere."""
    if not node.is_standby:
        # Right after begin() it is on its way; later it has to begin again.
        return Answer(DRAINING if task.state == "found" else LOST, f"node {node.name} is not in standby")
    here = seen.on(node.name)
    blocked = [name for name in here if seen.resources[name].is_blocked]
    if blocked:
        return Answer(FAILED, f"could not be stopped on {node.name}, and the cluster has given up: {_listed(blocked)}. See crm_resource --cleanup")
    if here:
        return Answer(DRAINING, f"still on {node.name}: {_listed(here)}")
    state = pacemaker.state_of(seen.controller)
    nowhere = _not_elsewhere(seen, node, task)
    if state != IDLE:
        return Answer(DRAINING, f"resources are moving: {state}")
    if nowhere and task.state != "found" and _is_at_rest_without(pacemaker, node, task):
        return Answer(FAILED, f"not started on another node, and the cluster does not try any more: {_listed(nowhere)}. See crm_mon")
    return Answer(DRAINING, f"not yet on another node that stays: {_listed(nowhere)}") if nowhere else Answer(DRAINED)


def _not_elsewhere(seen: Status, node: Node, task: Task) -> list[str]:
    """Return what ran here and has not started on a node that stays. What somebody has stopped or removed since is not waited for."""
    staying = {one.name for one in seen.nodes.values() if one.name != node.name and not _hit(one, task)}
    wanted = [name for name in _unpacked(task.known) if name in seen.resources and seen.resources[name].is_wanted]
    return [name for name in wanted if not seen.resources[name].settled & staying]


def _is_at_rest_without(pacemaker: Pacemaker, node: Node, task: Task) -> bool:
    """Return whether nothing moves and something that ran here runs nowhere: looked at once more, between two looks at the cluster's state."""
    seen = pacemaker.status()
    return any(not seen.resources[name].places for name in _not_elsewhere(seen, node, task)) and pacemaker.state_of(seen.controller) == IDLE


def _packed(names: t.Sequence[str]) -> dict[str, str]:
    """Return names as few long words: those are what a copy of a record keeps."""
    found: list[str] = []
    for name in names:
        if found and len(found[-1]) + len(BETWEEN) + len(name) <= LONGEST_WORD:
            found[-1] += BETWEEN + name
        else:
            found.append(name)
    return {f"ran{number}": text for number, text in enumerate(found)}


def _unpacked(finding: Values) -> list[str]:
    return [name for key, text in finding.items() if key.startswith("ran") for name in str(text).split(BETWEEN)]


def _listed(names: t.Iterable[str]) -> str:
    return printable(", ".join(names), LONGEST_MESSAGE // 2)
