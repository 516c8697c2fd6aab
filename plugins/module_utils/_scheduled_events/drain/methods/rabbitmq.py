# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""Method rabbitmq: put the VM's RabbitMQ node into maintenance mode, unless a queue would lose its quorum.

A node that is restarted is not in maintenance mode any more. The mode has no reason text: ours is what the record's finding says was not there before.
"""

from __future__ import annotations

import json
import re
import typing as t

from ...core.printable_text import LONGEST_NAME, printable
from ...core.types import Data, Values
from ...host.machine.commands import TIMED_OUT, CommandResult
from ...host.machine.machine import Machine
from .method import DRAINED, DRAINING, LONGEST_MESSAGE, LOST, UNDOING, UNDONE, Answer, Method, MethodError, NoAnswer, NotYet, Option, Task

# Each command starts an Erlang VM: two seconds on an idle machine, many on a busy one.
SECONDS = 30.0
# Debian's wrapper hands the arguments to a shell in double quotes, so nothing that a shell reads.
NODE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,99}(@[A-Za-z0-9_][A-Za-z0-9_.-]{0,199})?")
# Of sysexits.h, as RabbitMQ's commands end.
APPLICATION_STOPPED, UNAVAILABLE = 64, 69
# What the commands say of a node whose Erlang VM has ended; a wrong cookie has the same exit code.
NOT_RUNNING = re.compile(r"epmd reports: node '[^']*' not running at all|unable to connect to epmd")
QUEUE = re.compile(r'"readable_name":"((?:[^"\\]|\\.){1,500})"')
SHOWN_QUEUES = 3
# Asked of the VM's node alone, which answers from its own tables: list_queues waits for two minutes for a node that stands still, and
# check_if_node_is_quorum_critical of 3.10 knows no streams, and no queue once its node is in maintenance mode. A node is left where it is connected, not in
# maintenance mode, and of a stream where its replica runs. Names are sent as numbers, because they may be no text; up to 20, because the answer is cut
# off somewhere. No word of it may be one that a shell reads in double quotes.
LEFT = (
    "Rest = [N || N <- nodes(), not rabbit_maintenance:is_being_drained_local_read(N)], All = rabbit_amqqueue:list(), "
    "Nodes = fun(Q) -> case amqqueue:get_type_state(Q) of #{nodes := L} when is_list(L) -> L; #{nodes := M} when is_map(M) -> maps:keys(M); _ -> [] end end, "
    "Up = fun(rabbit_stream_queue, Q) -> case catch rabbit_stream_coordinator:members(maps:get(name, amqqueue:get_type_state(Q))) of "
    "{ok, M} -> [N || {N, {P, _}} <- maps:to_list(M), is_pid(P)]; _ -> [] end; (_, Q) -> Nodes(Q) end, "
    "Classic = [amqqueue:is_durable(Q) || Q <- All, amqqueue:get_type(Q) =:= rabbit_classic_queue, amqqueue:get_exclusive_owner(Q) =:= none, "
    "P <- [amqqueue:get_pid(Q)], is_pid(P), node(P) =:= node()], "
    "Few = [[T, binary:decode_unsigned(V), binary:decode_unsigned(N), length(Left), length(Voters) | Voters -- [node() | Left]] || Q <- All, "
    "T <- [amqqueue:get_type(Q)], lists:member(T, [rabbit_quorum_queue, rabbit_stream_queue]), Voters <- [Nodes(Q)], lists:member(node(), Voters), "
    "Left <- [[X || X <- Up(T, Q), lists:member(X, Rest), lists:member(X, Voters)]], 2 * length(Left) =< length(Voters), "
    "{resource, V, queue, N} <- [amqqueue:get_name(Q)]], "
    "Stopped = [Q || Q <- All, amqqueue:get_type(Q) =:= rabbit_quorum_queue, lists:member(node(), Nodes(Q)), {Name, _} <- [amqqueue:get_pid(Q)], "
    "whereis(Name) =:= undefined], "
    "#{classic => length(Classic), durable => length([D || D <- Classic, D]), few => lists:sublist(Few, 20), stopped => length(Stopped)}."
)
STREAM = "rabbit_stream_queue"


class _Down(MethodError):
    """The node does not run, or its application does not."""

    def __init__(self, why: str, ended: bool) -> None:
        super().__init__(why)
        self.ended = ended
        """Whether its Erlang VM has ended, so that it serves no client. Else it may be starting."""


class _Node(t.NamedTuple):
    """The VM's node, as it describes itself."""

    name: str
    maintenance: bool
    connections: int


class _Few(t.NamedTuple):
    """A replicated queue of the node that would have no majority without it."""

    kind: str
    shown: str
    missing: list[str]
    """The nodes whose replicas do not count, the VM's own left out."""


class _Left(t.NamedTuple):
    """What would be left without the node."""

    classic: int
    """How many classic queues are on the node, those of one connection left out: they stand still."""
    durable: int
    few: list[_Few]
    stopped: int
    """How many replicas of quorum queues on the node do not run."""


class RabbitMQMethod(Method):
    """Put a node into maintenance mode. One that was in it before stays there."""

    name = "rabbitmq"
    one_at_a_time = True
    units: t.ClassVar[t.Sequence[str]] = ("rabbitmq-server.service",)
    options: t.ClassVar[t.Mapping[str, Option]] = {
        "node": Option("text", default=""),
        "quorum_critical": Option("text", default="refuse", choices=("refuse", "ignore")),
    }

    def find(self, machine: Machine, task: Task) -> Data:
        node = _status(machine, task)
        _refuse_other_vm(node.name, machine, task)
        left = _left(machine, task)
        if not (node.maintenance or _ignores(task)):
            _refuse_if_needed(node, left, machine, task)
        about = {"classic_queues": left.classic, "durable_classic_queues": left.durable, "stopped_replicas": left.stopped}
        return {"node": node.name, "maintenance": node.maintenance, **about}

    def would(self, machine: Machine, task: Task) -> str:
        node, still = task.present["node"], _stands_still(task.present)
        if task.present["maintenance"]:
            return f"would leave {node} in maintenance mode, as it is{still and f'. {still}'}"
        closed = _status(machine, task).connections
        moves = f"{closed} client connection(s) are closed, and leaders of queues move to other nodes"
        return f"would put {node} into maintenance mode: {moves}{still and f'. {still}'}"

    def begin(self, machine: Machine, task: Task) -> None:
        # What a person put into maintenance mode is not drained again. Ours is: an attempt before may have been killed half-way.
        if not task.present["maintenance"] or task.finding.get("maintenance") is False:
            _do(machine, task, "rabbitmq-upgrade", "drain")

    def check(self, machine: Machine, task: Task) -> Answer:
        try:
            node = _status(machine, task)
            few = _left(machine, task).few if node.maintenance and not _ignores(task) else []
        except _Down as down:
            # Found running, and stopped since: by a method that follows, or by a person.
            return Answer(DRAINED, note=str(down)) if down.ended else Answer(DRAINING, str(down))
        if not node.maintenance:
            return Answer(LOST, f"{node.name} is not in maintenance mode")
        hold = f"{_would_lose([one.shown for one in few], node)}: {_not_up(few)}"[:LONGEST_MESSAGE] if few else None
        if node.connections:
            return Answer(DRAINING, f"{node.connections} client connection(s) of {node.name} not closed yet", hold=hold)
        return Answer(DRAINED, note=_stands_still(task.finding) or None, hold=hold)

    def undo(self, machine: Machine, task: Task) -> Answer:
        before = task.finding.get("maintenance")
        if not isinstance(before, bool):
            raise MethodError("the record does not say whether the RabbitMQ node was in maintenance mode before")
        if before:
            return Answer(UNDONE)
        try:
            node = _status(machine, task)
            if node.maintenance:
                _do(machine, task, "rabbitmq-upgrade", "revive")
            missing = _missing(node.name, _cluster(machine, task)) or _stopped(node, machine, task)
        except _Down as down:
            return Answer(UNDOING, str(down))
        return Answer(UNDOING, missing) if missing else Answer(UNDONE)

    def by_hand(self, finding: Values, options: Values) -> str:
        if finding.get("maintenance") is True:
            return ""
        # The option stands in a record that the VM has written: another node could be meant.
        return f"rabbitmq-upgrade{' -n NODE' if options.get('node') else ''} revive"


def _refuse_other_vm(name: str, machine: Machine, task: Task) -> None:
    """An option that names the node of another VM would drain that one, and call this one drained."""
    host = machine.commands.run(["uname", "-n"], {"LC_ALL": "C"}, SECONDS).output.strip().partition(".")[0]
    ours = [one for one in _names(_cluster(machine, task), "disk_nodes") if one.partition("@")[2].partition(".")[0] == host] if task.options["node"] else []
    if ours and name not in ours:
        raise MethodError(f"option node is {name}, and the node of this VM is {ours[0]}: correct the option, or leave it out")


def _ignores(task: Task) -> bool:
    return bool(task.options["quorum_critical"] == "ignore")


def _left(machine: Machine, task: Task) -> _Left:
    try:
        return _read_left(_asked(machine, task, "rabbitmqctl", "eval", LEFT))
    except MethodError:
        # A version that answers otherwise must not keep a person from what the option says.
        if _ignores(task):
            return _Left(0, 0, [], 0)
        raise


def _read_left(answer: Values) -> _Left:
    try:
        value = answer.get("value", answer)
        return _Left(int(value["classic"]), int(value["durable"]), [_few(*one) for one in value["few"]], int(value["stopped"]))
    except (LookupError, TypeError, ValueError, OverflowError, AttributeError):
        raise MethodError(f"RabbitMQ does not say what would be left without its node: {printable(answer, LONGEST_NAME)}")


def _few(kind: str, vhost: int, name: int, left: int, voters: int, *missing: str) -> _Few:
    names = " in vhost ".join(f"'{printable(_text(number), LONGEST_NAME)}'" for number in (name, vhost))
    shown = f"{'stream' if kind == STREAM else 'queue'} {names} ({left} of {voters} replicas left)"
    return _Few(kind, shown, [printable(one, LONGEST_NAME) for one in missing])


def _text(number: int) -> str:
    return number.to_bytes((number.bit_length() + 7) // 8, "big").decode("utf-8", "replace")


def _not_up(few: list[_Few]) -> str:
    names = sorted({name for one in few for name in one.missing})
    return f"no replica that counts on {', '.join(names)}, which is down or in maintenance mode" if names else "it has too few replicas"


def _stands_still(finding: Values) -> str:
    """Return what becomes of classic queues without their node, or an empty text."""
    classic, durable = finding.get("classic_queues"), finding.get("durable_classic_queues")
    lost = f"; what is published to the {durable} durable one(s) without mandatory is confirmed and dropped" if durable else ""
    return f"{classic} classic queue(s) of {finding.get('node')} stand still until it is back{lost}" if classic else ""


def _would_lose(queues: list[str], node: _Node) -> str:
    more = f" and {len(queues) - SHOWN_QUEUES} more" if len(queues) > SHOWN_QUEUES else ""
    return f"{', '.join(queues[:SHOWN_QUEUES])}{more} would lose quorum without {node.name}"


def _refuse_if_needed(node: _Node, left: _Left, machine: Machine, task: Task) -> None:
    """Raise MethodError where clients or queues need the node, or NotYet where that is because of other nodes, which may come back."""
    streams = [one for one in left.few if one.kind == STREAM]
    queues = _critical_queues(machine, task) + [one.shown for one in streams]
    cluster = _cluster(machine, task)
    running = [name for name in _names(cluster, "running_nodes") if name != node.name]
    out = [f"{name} does not run" for name in _names(cluster, "disk_nodes") + _names(cluster, "ram_nodes") if name != node.name and name not in running]
    resting = [name for name in running if _in_maintenance(cluster, name)]
    out += [f"{name} is in maintenance mode" for name in resting]
    if cut := _cut_off(node.name, cluster):
        raise NotYet(cut)
    # Of a node that runs, a replica that does not.
    out += [] if out or not any(one.missing for one in streams) else [_not_up(streams)]
    # A queue with enough nodes: right after the start of one, its replica there is not up yet.
    out += ["not all of its replicas are up"] if queues and not (out or left.few) else []
    if queues:
        words = _would_lose(queues, node)
    elif len(running) == len(resting):
        words = f"no other node of the cluster of {node.name} is in service, so its clients have nowhere to go"
    else:
        return
    if out:
        raise NotYet(f"{words}: {', '.join(out)}"[:LONGEST_MESSAGE])
    raise MethodError(f"{words}. Add replicas or nodes, or set quorum_critical to ignore"[:LONGEST_MESSAGE])


def _critical_queues(machine: Machine, task: Task) -> list[str]:
    """Return in RabbitMQ's words the queues that would lose their quorum without the node."""
    result = _run(machine, task, "rabbitmq-diagnostics", "check_if_node_is_quorum_critical", "--formatter", "json")
    # The answer is on stderr, with the exit code that a node which cannot be asked has, too. Of a long one, the end is known.
    queues = [printable(name.replace("\\", ""), LONGEST_NAME) for name in QUEUE.findall(result.output + result.errors)]
    if result.code == 0 or (result.code == UNAVAILABLE and queues):
        return queues
    raise _failure(result, "check_if_node_is_quorum_critical")


def _missing(name: str, cluster: Values) -> str:
    """Return in words what keeps the node from being a member as before, or an empty text."""
    if name not in _names(cluster, "running_nodes"):
        return f"{name} does not run yet"
    return f"{name} is still in maintenance mode" if _in_maintenance(cluster, name) else _cut_off(name, cluster)


def _cut_off(name: str, cluster: Values) -> str:
    partitions = cluster.get("partitions")
    if not partitions:
        return ""
    others = partitions.get(name) if isinstance(partitions, dict) else None
    shown = ", ".join(map(str, others)) if isinstance(others, list) else str(partitions)
    return f"the cluster of {name} has a partition: {printable(shown, LONGEST_NAME)}"


def _in_maintenance(cluster: Values, name: str) -> bool:
    states = cluster.get("maintenance_status")
    # The words have colours around them, also in JSON and without a terminal.
    return isinstance(states, dict) and "marked for maintenance" in str(states.get(name))


def _status(machine: Machine, task: Task) -> _Node:
    about = _asked(machine, task, "rabbitmq-diagnostics", "status")
    maintenance, totals, listeners = about.get("is_under_maintenance"), about.get("totals"), about.get("listeners")
    if not isinstance(maintenance, bool):
        raise MethodError("RabbitMQ does not say whether its node is in maintenance mode, which needs version 3.8.8 or later")
    names = [one.get("node") for one in listeners if isinstance(one, dict)] if isinstance(listeners, list) else []
    if not names or not NODE.fullmatch(str(names[0])):
        raise MethodError("the answer of rabbitmq-diagnostics status names no node")
    connections = totals.get("connection_count") if isinstance(totals, dict) else None
    return _Node(str(names[0]), maintenance, connections if isinstance(connections, int) else 0)


def _cluster(machine: Machine, task: Task) -> Values:
    return _asked(machine, task, "rabbitmqctl", "cluster_status")


def _names(cluster: Values, key: str) -> list[str]:
    """Return a list of nodes. What is no name of a node is none."""
    given = cluster.get(key)
    return [name for name in given if isinstance(name, str) and NODE.fullmatch(name)] if isinstance(given, list) else []


def _asked(machine: Machine, task: Task, program: str, question: str, *words: str) -> Values:
    """Return the answer of a command that answers in JSON."""
    result = _run(machine, task, program, question, *words, "--formatter", "json")
    if result.code != 0:
        raise _failure(result, question)
    try:
        answer = json.loads(result.output[result.output.find("{") :])
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        raise MethodError(f"the answer of {program} {question} is not understood: {printable(result.output, LONGEST_NAME)}")
    return answer


def _do(machine: Machine, task: Task, program: str, step: str) -> None:
    result = _run(machine, task, program, step)
    if result.code != 0:
        raise _failure(result, step)


def _run(machine: Machine, task: Task, program: str, *words: str) -> CommandResult:
    node = str(task.options["node"] or "")
    if node and not NODE.fullmatch(node):
        raise MethodError(f"option node is no name of a RabbitMQ node: {printable(node, LONGEST_NAME)}")
    return machine.commands.run([program, *(["-n", node] if node else []), *words], {"LC_ALL": "C"}, SECONDS)


def _failure(result: CommandResult, what: str) -> MethodError:
    """Return the error of a command, in its own words: its "Error" and what it found out about the connection, without the advice between them."""
    if result.code == TIMED_OUT:
        # Its own words are those of the wrapper's su, which was ended.
        return NoAnswer(f"RabbitMQ: {what} was ended after {int(SECONDS)} s, or less where the lease of the run ends")
    lines = [line.rstrip() for line in result.errors.splitlines()]
    begins = next((number for number, line in enumerate(lines) if line.startswith("Error")), None)
    told = lines[begins : begins + 2] if begins is not None else [line for line in lines if line.strip()][:2]
    told += [line for line in lines if line.startswith("  * ") and "suggestion" not in line]
    why = printable(" ".join(told), LONGEST_MESSAGE - 60) or "no reason given"
    words = f"RabbitMQ: {what} ended with exit code {result.code}: {why}"
    if result.code == APPLICATION_STOPPED and "'rabbit' app" in result.errors:
        return _Down(words, ended=False)
    if result.code == UNAVAILABLE and NOT_RUNNING.search(result.errors):
        return _Down(words, ended=True)
    return MethodError(words)


def _stopped(node: _Node, machine: Machine, task: Task) -> str:
    """Return in words that replicas of quorum queues do not run that did before, or an empty text. A revive in between starts them.

    Where a queue has no majority while its node is revived, 3.10.8 calls the restart of local replicas complete, and leaves them stopped.
    """
    stopped, before = _left(machine, task).stopped, task.finding.get("stopped_replicas")
    if stopped <= (before if isinstance(before, int) else 0):
        return ""
    _do(machine, task, "rabbitmq-upgrade", "revive")
    return f"{stopped} replica(s) of quorum queues on {node.name} do not run yet"
