# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""Method galera: refuse queries on the VM's node and stop its service, so that the others never wait for it; back when it is in step.

A node of Galera that stands still stalls the writes of all nodes until they have given it up, also if it was desynchronised before.
"""

from __future__ import annotations

import re
import typing as t

from ...core.printable_text import LONGEST_NAME, printable
from ...core.types import Data, Values
from ...host.machine.commands import NOT_FOUND, TIMED_OUT
from ...host.machine.machine import Machine
from .method import DRAINED, LONGEST_MESSAGE, LOST, UNDOING, UNDONE, Answer, Method, MethodError, NoAnswer, NotYet, Option, Task, is_true
from .pasted import word
from .service import RAN, ServiceMethod

SECONDS = 15.0
SERVICE = ServiceMethod()
CLIENTS = ("mariadb", "mysql")
SEEN = (
    "SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_cluster_size', 'wsrep_cluster_status', 'wsrep_local_state_comment'); "
    "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('wsrep_on', 'wsrep_node_name', 'wsrep_reject_queries')"
)
# A node that has stood still says for seconds that it is Synced in a Primary component of the old size. This one makes it ask the others: it waits
# until all that they have committed is here, and fails where they do not know the node any more.
IN_STEP = "SET SESSION wsrep_sync_wait=1; START TRANSACTION; ROLLBACK"
# Every voter: an arbitrator (garbd), too, which is called "garb" where its own settings do not say otherwise.
MEMBERS = "SELECT node_name FROM mysql.wsrep_cluster_members"
SHOWN_NODES = 3
SET_REJECT = {value: f"SET GLOBAL wsrep_reject_queries={value}" for value in ("NONE", "ALL", "ALL_KILL")}
# No such file, or no server behind it. Another number may be a socket that the user may not use.
NOTHING_LISTENS = re.compile(r"ERROR 2002 .*\((2|111)\)")
# It is shut down just now, or the connection was lost: one that is frozen, as one that restarts.
NO_ANSWER = re.compile(r"ERROR (1053|2006|2013) ")


class _NotReached(MethodError):
    """No server listens on the socket."""


class _Node(t.NamedTuple):
    """The VM's node at one moment, by its own words."""

    name: str
    is_node: bool
    """Whether the server is a node of a cluster at all."""
    size: int
    status: str
    state: str
    reject: str

    @property
    def missing(self) -> str:
        """Return in words what keeps it from being in step, or an empty text."""
        if self.status != "Primary":
            return f"{self.name} is in a {self.status} component"
        return "" if self.state == "Synced" else f"{self.name} is {self.state}, not Synced"


class GaleraMethod(Method):
    """Refuse queries and stop the service. What was stopped or refused before stays so."""

    name = "galera"
    one_at_a_time = True
    needs_seconds = 60.0
    short_pause_hurts = True
    options: t.ClassVar[t.Mapping[str, Option]] = {
        "socket": Option("path", default=""),
        "defaults_file": Option("path", default=""),
        "reject_queries": Option("truth", default=True),
        "stop": Option("truth", default=True),
        "units": Option("texts", default=["mariadb.service"]),
        "minimum_nodes": Option("whole", default=0),
        "members": Option("mapping", default={}, hosts=True),
    }

    def find(self, machine: Machine, task: Task) -> Data:
        if not is_true(task.options["reject_queries"]) and not is_true(task.options["stop"]):
            raise MethodError("options stop and reject_queries are both false, so that nothing would be done")
        if is_true(task.options["stop"]) and not task.listed("units"):
            raise MethodError("option units is empty, so that nothing would be stopped: name the units, or set stop to false")
        units = SERVICE.find(machine, _of_units(task)) if is_true(task.options["stop"]) else {}
        try:
            node = _seen(machine, task)
        except _NotReached:
            if not units or (_ran(units) and not task.known):
                raise
            # Started by a reboot and not ready, or stopped before: it serves no client, and may be stopped again.
            return {"node": "", "size": 0, "reject": "", "units": units}
        if units and not _ran(units):
            raise MethodError(f"{node.name} answers, and {', '.join(units)} does not run; set option units to what runs it")
        node = _refuse_if_needed(node, machine, task)
        return {"node": node.name, "size": node.size, "reject": node.reject, "units": units}

    def would(self, machine: Machine, task: Task) -> str:
        name, size = task.present["node"], task.present["size"]
        does = [f"refuse queries on {name}"] if is_true(task.options["reject_queries"]) and task.present["reject"] == "NONE" else []
        does += [f"stop {', '.join(task.listed('units'))}"] if _ran(task.present["units"]) else []
        return f"would {' and '.join(does)}; {size - 1} of {size} nodes would stay" if does else "would leave it as it is"

    def begin(self, machine: Machine, task: Task) -> None:
        # Others that have stood still since they answered need this node to form a majority again: without it they wait for it, however long its event is.
        if task.present["reject"] == "NONE" and (missing := _sync(machine, task)):
            raise NoAnswer(missing)
        if is_true(task.options["reject_queries"]) and task.present["reject"] == "NONE":
            _ask(machine, task, SET_REJECT["ALL"])
        if _ran(task.present["units"]):
            SERVICE.begin(machine, _of_units(task))

    def check(self, machine: Machine, task: Task) -> Answer:
        if is_true(task.options["stop"]):
            return SERVICE.check(machine, _of_units(task))
        try:
            node = _seen(machine, task)
        except _NotReached as error:
            # Found running, and stopped since: by another method, or by a person.
            return Answer(DRAINED, note=str(error))
        if node.reject == "NONE":
            return Answer(LOST, f"{node.name} takes queries")
        # It runs, and votes until its VM goes. One that is stopped has left the cluster, and cannot say what became of the others' majority.
        return Answer(DRAINED, hold=_no_majority(node) or _needed(node, machine, task).words or None)

    def undo(self, machine: Machine, task: Task) -> Answer:
        units, reject = task.finding.get("units"), task.finding.get("reject")
        if not isinstance(units, dict) or (reject != "" and reject not in SET_REJECT):
            raise MethodError("the record does not say how the node of Galera was before")
        if units and not _ran(units):
            return Answer(UNDONE)
        answer = SERVICE.undo(machine, _of_units(task)._replace(finding=units)) if units else Answer(UNDONE)
        return _back(machine, task, str(reject)) if answer.state == UNDONE else answer

    def by_hand(self, finding: Values, options: Values) -> str:
        units = finding.get("units")
        if isinstance(units, dict) and units:
            names = [word(name, "UNIT") for name in units if units[name] in RAN]
            return f"systemctl start {' '.join(names)}" if names else ""
        login = f" --defaults-extra-file={word(options['defaults_file'], 'FILE')}" if options.get("defaults_file") else ""
        return f'mariadb{login} --execute="{SET_REJECT["NONE"]}"' if finding.get("reject") == "NONE" else ""


def _of_units(task: Task) -> Task:
    """Return the task as method service works with it."""
    units = task.finding.get("units")
    return task._replace(options={"names": task.listed("units")}, finding=units if isinstance(units, dict) else {})


def _ran(units: Values) -> bool:
    return any(state in RAN for state in units.values())


class _Needed(t.NamedTuple):
    """Why the others could not go on without the node: empty words where they could."""

    words: str = ""
    may_change: bool = False
    """Whether a member that is not in the cluster now may come back to it."""


def _refuse_if_needed(node: _Node, machine: Machine, task: Task) -> _Node:
    """Return the node as it is once it is in step. Raise MethodError where the others could not go on without it, or NotYet while it is not in step."""
    if not node.is_node:
        raise MethodError("the server is no node of a Galera cluster; drain it with method service")
    if words := _no_majority(node):
        raise (NoAnswer if task.known else MethodError)(words)
    # One of ours that a reboot has started, or that refuses queries already, need not be in step to leave again.
    if not task.known and (missing := node.missing or (_sync(machine, task) if node.reject == "NONE" else "")):
        raise NotYet(missing)
    if not task.known and node.reject == "NONE":
        # To be in step it may have waited until the cluster gave up one that stands still: the size from before the wait has that one, too.
        node = _seen(machine, task)
        if node.missing:
            raise NotYet(node.missing)
    needed = _needed(node, machine, task)
    if needed.words:
        raise (NotYet if needed.may_change else MethodError)(needed.words)
    return node


def _no_majority(node: _Node) -> str:
    return "" if node.status == "Primary" else f"{node.missing}: the cluster has no majority here"


def _needed(node: _Node, machine: Machine, task: Task) -> _Needed:
    hit, unnamed = _gone_too(node, machine, task)
    left = node.size - 1 - len(hit) - len(unnamed)
    minimum = int(str(task.options["minimum_nodes"]))
    if left >= minimum if minimum else left * 2 > node.size:
        return _Needed()
    too = f" and {', '.join(hit)}, which the event hits, too" if hit else ""
    if unnamed:
        more = f" and {len(unnamed) - SHOWN_NODES} more" if len(unnamed) > SHOWN_NODES else ""
        too += f" and {', '.join(unnamed[:SHOWN_NODES])}{more}, which option members does not name"
    needed = f"option minimum_nodes is {minimum}" if minimum else "which is no majority"
    words = f"without {node.name}{too}, {max(left, 0)} of {node.size} nodes would be left, {needed}"
    if unnamed:
        return _Needed(f"{words}. The event names several VMs: name each node and arbitrator in members, once"[:LONGEST_MESSAGE])
    words += "" if minimum else "; add a node or garbd, or set minimum_nodes"
    if len(_members(task)) > node.size:
        return _Needed(f"{words}. Of its {len(_members(task))} members only {node.size} are in the cluster now"[:LONGEST_MESSAGE], may_change=True)
    return _Needed(words[:LONGEST_MESSAGE])


def _members(task: Task) -> Values:
    members = task.options["members"]
    return members if isinstance(members, t.Mapping) else {}


def _gone_too(node: _Node, machine: Machine, task: Task) -> tuple[list[str], list[str]]:
    """Return the other voters of the cluster that the event hits, and those that it may hit: it names other VMs, and their VM is not known.

    What a voter calls itself can only take it away from those that stay: a name stands for one member, once.
    """
    if len(task.resources) < 2:
        return [], []
    hosts = {str(member): str(host) for member, host in _members(task).items()}
    voters = _voters(node, machine, task, list(hosts))
    if node.name in voters:
        voters.remove(node.name)
    hosts.pop(node.name, None)
    hit, unnamed = [], []
    for name in voters:
        host = hosts.pop(name, None)
        if host is None:
            unnamed.append(f"another {name}" if name in _members(task) else name)
        elif task.why_not(host):
            hit.append(name)
    return hit, unnamed


def _voters(node: _Node, machine: Machine, task: Task, members: list[str]) -> list[str]:
    """Return the names of all voters. Where the node takes no queries: as many as there are, with all that the settings name among them."""
    if node.reject == "NONE" and not node.missing:
        return [printable(name, LONGEST_NAME) for name in _ask(machine, task, MEMBERS).split("\n")[:-1]]
    return [*members, *["another one"] * (node.size - len(members))]


def _back(machine: Machine, task: Task, reject: str) -> Answer:
    """Let the node take queries as before, and return undone once it is in step."""
    try:
        node = _seen(machine, task)
        # Ours ends here. A restart has ended a person's, who gets it back last: in step is only seen by a query.
        if reject == "NONE" and node.reject != reject:
            _ask(machine, task, SET_REJECT[reject])
        missing = node.missing
        if not missing and (reject == "NONE" or node.reject == "NONE"):
            missing = _sync(machine, task)
        if missing:
            return Answer(UNDOING, missing)
        if reject and node.reject != reject != "NONE":
            _ask(machine, task, SET_REJECT[reject])
    except _NotReached as error:
        return Answer(UNDOING, str(error))
    return Answer(UNDONE)


def _sync(machine: Machine, task: Task) -> str:
    """Return in the server's words why the node is not in step with the others, or an empty text."""
    try:
        _ask(machine, task, IN_STEP)
    except MethodError as error:
        return f"not in step with the others: {error}"[:LONGEST_MESSAGE]
    return ""


def _seen(machine: Machine, task: Task) -> _Node:
    rows = dict(line.partition("\t")[::2] for line in _ask(machine, task, SEEN).splitlines())
    size = rows.get("wsrep_cluster_size", "")
    if not (size.isascii() and size.isdecimal()):
        raise MethodError("the server does not say how large its cluster is (wsrep_cluster_size): it has no Galera")
    name, status, state = (printable(rows.get(key, ""), LONGEST_NAME) for key in ("wsrep_node_name", "wsrep_cluster_status", "wsrep_local_state_comment"))
    is_node = rows.get("wsrep_on") == "ON" and status != "Disconnected"
    return _Node(name or "the node", is_node, int(size[:6]), status, state, rows.get("wsrep_reject_queries", ""))


def _ask(machine: Machine, task: Task, statements: str) -> str:
    """Return what the client prints for statements of this file: nothing of an option or an answer is ever part of them."""
    words = [*_access(machine, task), "--batch", "--skip-column-names", "--connect-timeout=5", f"--execute={statements}"]
    result = machine.commands.run([CLIENTS[0], *words], {"LC_ALL": "C"}, SECONDS)
    if result.code == NOT_FOUND:
        result = machine.commands.run([CLIENTS[1], *words], {"LC_ALL": "C"}, SECONDS)
    if result.code == 0:
        return result.output
    if result.code == TIMED_OUT:
        raise NoAnswer(f"the client of MariaDB was ended after {int(SECONDS)} s, or less where the lease of the run ends")
    # The client repeats the statement between two lines before the error.
    lines = [line for line in result.errors.splitlines() if line.strip()]
    said = next((line for line in lines if line.startswith("ERROR")), lines[-1] if lines else "no reason given")
    kind = _NotReached if NOTHING_LISTENS.match(said) else NoAnswer if NO_ANSWER.match(said) else MethodError
    raise kind(f"the client of MariaDB ended with exit code {result.code}: {printable(said, LONGEST_MESSAGE - 60)}")


def _access(machine: Machine, task: Task) -> list[str]:
    """Return the arguments that say how the client logs in. The first must be that of the file."""
    path, socket = str(task.options["defaults_file"] or ""), str(task.options["socket"] or "")
    if path:
        about = machine.flag_files.describe(path)
        if about["kind"] != "file" or about["owner"] != "0" or int(about["mode"], 8) & 0o077:
            raise MethodError(f"defaults_file {path} is not used: it must be a file of root that no other user may read or write (mode 0600)")
    return [*([f"--defaults-extra-file={path}"] if path else []), *([f"--socket={socket}"] if socket else [])]
