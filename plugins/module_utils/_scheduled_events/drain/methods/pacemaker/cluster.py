# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""A Pacemaker cluster as this VM's node sees it and changes it, by Pacemaker's own commands."""

from __future__ import annotations

import typing as t
import xml.etree.ElementTree

from ....core.printable_text import printable
from ....host.machine.commands import NOT_FOUND, TIMED_OUT, CommandResult
from ....host.machine.machine import Machine
from ..method import MethodError, NoAnswer
from .votes import Votes, decider, parse_votes

SECONDS = 10.0
# Exit codes of Pacemaker: not connected to the cluster; a daemon that is not there (yet).
NOT_CONNECTED = (102, 69)
LONGEST_NAME, LONGEST_REASON = 100, 200
# The node attribute that says whose standby it is.
MARK = "maintenance-azure"
STATUS = ["crm_mon", "-1", "--output-as=xml", "--inactive", "--include=none,summary,options,nodes,resources,attributes"]
# Without names, which it may ask a name server for.
VOTES = ["corosync-quorumtool", "-si"]
TIE_BREAKER = ["corosync-cmapctl", "-g", "quorum.auto_tie_breaker_node"]
SETTLED = ("Started", "Promoted", "Master", "Unpromoted", "Slave")
PROMOTED = ("Promoted", "Master")
AZURE_AGENTS = (":azure-events-az", ":azure-events")
FENCING = "stonith:"
IDLE = "S_IDLE"


class NotRunning(NoAnswer):
    """Pacemaker does not run on this VM, or not yet."""


class Node(t.NamedTuple):
    """One node of the cluster."""

    name: str
    states: t.Sequence[str]
    """What keeps it from running resources, in Pacemaker's words; empty for a node that may run them."""
    mark: str
    """The reason of the drain that has put it into standby; empty for none."""
    id: str
    """Its number, by which Corosync has its votes; empty for a node of Pacemaker Remote, which runs no Corosync and has none."""

    @property
    def is_standby(self) -> bool:
        return "standby" in self.states


class Resource(t.NamedTuple):
    """What runs: a resource, the instances of a clone together, the promoted role of a clone, or a bundle."""

    places: t.AbstractSet[str]
    """The nodes on which it is, also while it starts."""
    settled: t.AbstractSet[str]
    """Those on which it has started."""
    is_blocked: bool
    """Whether it could not be stopped, and the cluster has given up."""
    is_wanted: bool
    """Whether it is to run at all."""


class Status(t.NamedTuple):
    """The cluster at one moment."""

    nodes: t.Mapping[str, Node]
    resources: t.Mapping[str, Resource]
    """By id. Without fencing devices: the cluster uses those wherever they run."""
    controller: str
    """The node that decides (DC); empty while there is none."""
    has_quorum: bool
    policy: str
    """What it does without quorum (no-quorum-policy)."""
    is_maintained: bool
    """Whether the whole cluster is in maintenance mode."""
    azure_agent: str
    """The id of the resource that handles Azure's events itself; empty for none."""

    def on(self, node: str) -> list[str]:
        """Return what is on a node."""
        return [name for name, one in self.resources.items() if node in one.places]


class Pacemaker:
    """The commands of one VM."""

    def __init__(self, machine: Machine) -> None:
        self._commands = machine.commands

    def status(self, file: str = "") -> Status:
        """Return the cluster as it is, or as a file has it."""
        return parse_status(self._run(STATUS, file).output)

    def own_node(self) -> str:
        """Return the name of this VM's node."""
        return self._run(["crm_node", "--name"]).output.strip()

    def state_of(self, controller: str) -> str:
        """Return what the cluster is doing: S_IDLE once it has nothing left to do."""
        if not controller:
            return "no node is elected to decide (DC)"
        # For a node that has just gone it waits for ever.
        result = self._result(["crmadmin", f"--status={controller}"], "", 5.0)
        words = result.output.split() if result.code == 0 else []
        return next((word.rstrip(":") for word in words if word.startswith("S_")), f"its controller on {controller} does not answer")

    def votes(self) -> Votes:
        """Return the votes as Corosync counts them now. Raise MethodError where it does not say."""
        result = self._result(VOTES)
        # It ends with 2 where there is no quorum, and that of Corosync 2 with 1 where there is: the words count.
        found = parse_votes(result.output)
        if found is None:
            raise _unread(VOTES, result)
        return found

    def tie_breaker(self, members: t.Collection[str]) -> str:
        """Return the id of the member whose half goes on where Corosync breaks a tie; empty for none of them."""
        result = self._result(TIE_BREAKER)
        # It ends with 1 where the key is not set.
        if result.code > 1:
            raise _unread(TIE_BREAKER, result)
        return decider(result.output, members)

    def set_standby(self, node: str, lifetime: str, reason: str) -> None:
        """Mark a node and put it into standby. The mark comes first: a standby without it is never taken for ours."""
        self._run(["crm_attribute", f"--node={node}", f"--name={MARK}", f"--lifetime={lifetime}", f"--update={reason}"])
        self._run(["crm_standby", f"--node={node}", f"--lifetime={lifetime}", "--update=on"])

    def end_standby(self, node: str, lifetime: str) -> None:
        """Take back what set_standby() has set, the mark last."""
        self._run(["crm_standby", f"--node={node}", f"--lifetime={lifetime}", "--delete"])
        self._run(["crm_attribute", f"--node={node}", f"--name={MARK}", f"--lifetime={lifetime}", "--delete"])

    def without(self, nodes: t.Sequence[str]) -> Status:
        """Return how the cluster would end up with these nodes in standby. Nothing is changed: it is reckoned in a private file."""
        folder = self._run(["mktemp", "--directory", "--tmpdir", "pacemaker.XXXXXXXXXX"]).output.strip()
        # The cluster's configuration may hold passwords of fencing devices: the folder is root's alone, and goes.
        try:
            present, future = f"{folder}/present.xml", f"{folder}/future.xml"
            self._run(["crm_simulate", "--live-check", f"--save-input={present}"])
            for node in nodes:
                self._run(["crm_standby", f"--node={node}", "--lifetime=forever", "--update=on"], present)
            self._run(["crm_simulate", "--simulate", f"--xml-file={present}", f"--save-output={future}"])
            return self.status(future)
        finally:
            self._result(["rm", "-r", "--", folder])

    def _run(self, words: t.Sequence[str], file: str = "") -> CommandResult:
        """Run a command of Pacemaker on the cluster, or on a file in its place. Raise MethodError where it fails."""
        result = self._result(words, file)
        if result.code == 0:
            return result
        why = _words_of(result)
        if result.code in NOT_CONNECTED:
            raise NotRunning(f"Pacemaker does not run on this VM, or is not reached: {words[0]}: {why}")
        hint = ": is Pacemaker with its command-line tools installed on this VM?" if result.code == NOT_FOUND else ""
        raise (NoAnswer if result.code == TIMED_OUT else MethodError)(f"{words[0]} ended with exit code {result.code}: {why}{hint}")

    def _result(self, words: t.Sequence[str], file: str = "", seconds: float = SECONDS) -> CommandResult:
        environment = {"LC_ALL": "C", **({"CIB_file": file} if file else {})}
        return self._commands.run(words, environment, seconds)


def parse_status(text: str) -> Status:
    """Parse what crm_mon says. Raise MethodError for what is no answer of a Pacemaker that has XML."""
    root = _parsed(text)
    summary, options = root.find("summary/current_dc"), root.find("summary/cluster_options")
    if summary is None or options is None or root.find("nodes") is None:
        raise MethodError("crm_mon says nothing of the cluster's state; Pacemaker 2.0.3 or newer is needed")
    marks = {str(node.get("name")): _mark_of(node) for node in root.iterfind("node_attributes/node")}
    # A guest node is a resource itself: it leaves with the node that it is on.
    nodes = [_node(node, marks) for node in root.iterfind("nodes/node") if node.get("id_as_resource") is None]
    agents = [str(one.get("id")) for one in root.iter("resource") if str(one.get("resource_agent")).endswith(AZURE_AGENTS)]
    return Status(
        {node.name: node for node in nodes},
        _resources(root),
        summary.get("name") or "" if _is(summary, "present") else "",
        _is(summary, "with_quorum"),
        options.get("no-quorum-policy") or "stop",
        _is(options, "maintenance-mode"),
        agents[0] if agents else "",
    )


def _parsed(text: str) -> xml.etree.ElementTree.Element:
    text = text.strip()
    # Pacemaker writes neither of the two; and only the end of a very long output is kept.
    if not text.startswith("<") or "<!" in text:
        raise MethodError(f"crm_mon answers no XML, or too much of it: {printable(text, LONGEST_NAME)}")
    try:
        return xml.etree.ElementTree.fromstring(text)
    except xml.etree.ElementTree.ParseError as error:
        raise MethodError(f"crm_mon answers no XML: {error}") from None


def _node(node: xml.etree.ElementTree.Element, marks: t.Mapping[str, str]) -> Node:
    states = [] if _is(node, "online") else ["offline"]
    states += ["standby"] if _is(node, "standby") or _is(node, "standby_onfail") else []
    states += [state for state in ("maintenance", "pending", "unclean", "shutdown") if _is(node, state)]
    name = str(node.get("name"))
    return Node(name, states, marks.get(name, ""), "" if node.get("type") == "remote" else str(node.get("id")))


def _mark_of(node: xml.etree.ElementTree.Element) -> str:
    return next((str(one.get("value")) for one in node.iterfind("attribute") if one.get("name") == MARK), "")


def _resources(root: xml.etree.ElementTree.Element) -> dict[str, Resource]:
    found: dict[str, Resource] = {}
    for bundle in root.iterfind("resources//bundle"):
        for one in bundle.iter("resource"):
            _add(found, str(bundle.get("id")), one)
    inside = {one for bundle in root.iterfind("resources//bundle") for one in bundle.iter("resource")}
    for one in root.iterfind("resources//resource"):
        if one in inside or str(one.get("resource_agent")).startswith(FENCING):
            continue
        # The instances of a clone may have a number behind their id.
        name = str(one.get("id")).partition(":")[0]
        _add(found, name, one)
        if one.get("role") in PROMOTED:
            _add(found, f"{name}:promoted", one)
    return found


def _add(found: dict[str, Resource], name: str, one: xml.etree.ElementTree.Element) -> None:
    """Take in one resource, or one more instance of it."""
    before = found.get(name, Resource(frozenset(), frozenset(), False, False))
    places = frozenset(str(node.get("name")) for node in one.iterfind("node"))
    found[name] = Resource(
        before.places | places,
        before.settled | (places if one.get("role") in SETTLED else frozenset()),
        before.is_blocked or _is(one, "blocked"),
        before.is_wanted or one.get("target_role") != "Stopped",
    )


def _is(element: xml.etree.ElementTree.Element, name: str) -> bool:
    return element.get(name) == "true"


def _unread(words: t.Sequence[str], result: CommandResult) -> MethodError:
    return MethodError(f"the votes are not known: {' '.join(words)} ended with exit code {result.code}: {_words_of(result)}")


def _words_of(result: CommandResult) -> str:
    """Return why a command has failed. With XML it says it in its output."""
    text = result.errors.strip()
    if not text and result.output.lstrip().startswith("<"):
        try:
            text = " ".join(one.text or "" for one in _parsed(result.output).iter("error"))
        except MethodError:
            pass
    return printable(text or result.output.strip(), LONGEST_REASON) or "no reason given"
