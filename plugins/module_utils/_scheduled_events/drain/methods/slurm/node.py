# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""A node of Slurm and its jobs, by Slurm's own commands: scontrol and squeue of the VM, which ask slurmctld."""

from __future__ import annotations

import re
import typing as t

from ....core.printable_text import printable
from ....host.machine.commands import NOT_EXECUTABLE, NOT_FOUND, TIMED_OUT, CommandResult, Commands
from ..method import MethodError, NotYet

# A controller that is away is told after 9 seconds, one that hangs after 10 (MessageTimeout).
COMMAND_SECONDS = 12.0
LONGEST_WORDS = 200
# One name: scontrol takes ALL, lists and ranges, and would drain every node of them.
NODE_NAME = re.compile(r"(?!(?i:all|default)$)[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
# 12, a task of an array 12_3, or a part of a heterogeneous job 12+1.
JOB = re.compile(r"([0-9]{1,10}(?:_[0-9]{1,10})?)(?:\+[0-9]{1,10})?")
STATE = re.compile(r"^ +State=(\S+)", re.MULTILINE)
# A reason of several lines goes on in lines of ten blanks.
REASON = re.compile(r"^ +Reason=(.*(?:\n {10}.*)*)", re.MULTILINE)
HOST = re.compile(r"^ +NodeAddr=.* NodeHostName=(\S+)", re.MULTILINE)
# In place of a host name, as some clouds have it.
ADDRESS = re.compile(r"[0-9.]+|.*:.*")
BY_WHOM = re.compile(r" \[[^\[\]\n]*@[^@\[\]\n]*\]")
# slurmctld cannot be asked, and may be later.
AWAY = (
    "Unable to contact slurm controller",
    "Socket timed out",
    "Zero Bytes were transmitted",
    "Slurm backup controller in standby mode",
    "Unexpected message received",
)
# What a command says, and what an operator reads of it.
KNOWN = (
    ("Munge encode failed", "munge does not work on this VM: see systemctl status munge"),
    ("Protocol authentication error", "Slurm does not believe this VM: munge needs the key of the cluster, and a clock that is right"),
    ("Invalid user id", "Slurm does not let root of this VM change nodes"),
    ("permission denied", "Slurm does not let root of this VM change nodes"),
)
NO_NODE = ("not found", "Invalid node name")
NOT_TO_RESUME = "Invalid node state specified"
# Of a job that has ended by itself, or was requeued by somebody else.
ENDED = ("already completing or completed", "Invalid job id", "Job is pending execution", "Job has already finished")


class Node(t.NamedTuple):
    """One node, as slurmctld has it."""

    name: str
    flags: frozenset[str]
    """Its state in capitals, such as IDLE and DRAIN."""
    is_silent: bool
    """Whether its slurmd does not answer, or the controller does not know yet."""
    reason: str
    """Why it is out, or an empty text."""
    host: str
    """The VM that it is on (NodeHostName), which is the name of the node unless it is configured otherwise."""

    @property
    def is_out(self) -> bool:
        """Return whether no job is started on it."""
        return bool(self.flags & {"DRAIN", "DOWN", "FAIL"})

    @property
    def is_busy(self) -> bool:
        """Return whether jobs have parts of it. DRAIN alone says only that there will be no more."""
        return bool(self.flags & {"ALLOCATED", "MIXED", "COMPLETING"})

    @property
    def state(self) -> str:
        """Return its state in words."""
        return "+".join(sorted(self.flags))


class Job(t.NamedTuple):
    """One job on a node."""

    id: str
    """As scontrol takes it: a heterogeneous job has one for all its parts."""
    state: str

    @property
    def is_suspended(self) -> bool:
        """Return whether it stands still. Slurm would requeue it and hold it for good (JobHeldAdmin)."""
        return self.state == "SUSPENDED"

    @property
    def runs(self) -> bool:
        """Return whether it could be requeued. Others are about to leave the node."""
        return self.state in ("CONFIGURING", "RESIZING", "RUNNING", "SIGNALING", "STOPPED", "SUSPENDED")


class Slurm:
    """Slurm, as this VM reaches it. Raise NotYet where slurmctld does not answer, else MethodError."""

    def __init__(self, commands: Commands) -> None:
        self._commands = commands

    def host_name(self) -> str:
        """Return the short name of this VM, which is what slurmd takes for its node's."""
        return self._ask(["uname", "-n"]).output.strip().partition(".")[0]

    def on_this_host(self) -> list[str]:
        """Return the nodes whose NodeHostName is this VM, by its slurm.conf: each has a slurmd of its own. Nodes of a cloud may not be known by it."""
        return [name for name in self._ask(["scontrol", "show", "aliases"]).output.split() if NODE_NAME.fullmatch(name)]

    def node(self, name: str) -> Node:
        """Return how a node is."""
        result = self._run(["scontrol", "show", "node", name])
        if result.code and _says(result, NO_NODE):
            raise MethodError(f"Slurm has no node {name}; set the option node")
        text = _checked("scontrol show node", result).output
        # The first of each: a comment comes after them, and may have several lines, too.
        state = STATE.search(text)
        if not state or not text.startswith(f"NodeName={name} "):
            raise MethodError(f"scontrol does not say how node {name} is: {_words(text)}")
        reason, host = REASON.search(text), HOST.search(text)
        # Before 21.08 a star says that it does not answer; other signs are about power.
        flags = frozenset(re.sub("[^A-Z_]", "", flag) for flag in state.group(1).upper().split("+"))
        silent = "*" in state.group(1) or bool(flags & {"NOT_RESPONDING", "UNKNOWN"})
        return Node(name, flags - {"NOT_RESPONDING", ""}, silent, BY_WHOM.sub("", reason.group(1), 1) if reason else "", host.group(1) if host else name)

    def drain(self, name: str, reason: str) -> None:
        """Have no more jobs started on a node. It takes any reason that the node had before away."""
        self._ask(["scontrol", "update", f"nodename={name}", "state=drain", f"reason={reason}"])

    def resume(self, name: str) -> None:
        """Have jobs started on a node again. One that is not out any more stays as it is."""
        result = self._run(["scontrol", "update", f"nodename={name}", "state=resume"])
        if not _says(result, (NOT_TO_RESUME,)):
            _checked("scontrol update", result)

    def jobs(self, name: str) -> list[Job]:
        """Return the jobs that have a part of a node, those of hidden partitions, too."""
        lines = self._ask(["squeue", "-h", "-a", "-w", name, "-o", "%i %T"]).output.splitlines()
        return [_job(line) for line in lines if line.strip()]

    def requeue(self, job: str) -> str:
        """End a job and have it wait for another node, unless it has ended. Return why Slurm refuses that, or an empty text."""
        result = self._run(["scontrol", "requeue", "incomplete", job])
        return "" if result.code == 0 or _says(result, ENDED) else _words(result.errors or result.output)

    def _ask(self, line: t.Sequence[str]) -> CommandResult:
        return _checked(" ".join(line[:2]), self._run(line))

    def _run(self, line: t.Sequence[str]) -> CommandResult:
        """Return the answer to a command, whatever its exit code. Raise where nobody has answered."""
        result = self._commands.run(line, {"LC_ALL": "C"}, COMMAND_SECONDS)
        if result.code in (NOT_FOUND, NOT_EXECUTABLE):
            raise MethodError(f"{line[0]} cannot be run on this VM: {_words(result.errors)}")
        if result.code == TIMED_OUT:
            raise NotYet(f"slurmctld does not answer {line[0]} in time")
        if result.code and _says(result, AWAY):
            raise NotYet(f"slurmctld does not answer: {_words(result.errors)}")
        known = next((words for said, words in KNOWN if result.code and _says(result, (said,))), None)
        if known:
            raise MethodError(f"{known}: {_words(result.errors or result.output)}")
        return result


def _checked(command: str, result: CommandResult) -> CommandResult:
    if result.code:
        raise MethodError(f"{command} ended with exit code {result.code}: {_words(result.errors or result.output)}")
    return result


def _job(line: str) -> Job:
    name, _blank, state = line.strip().partition(" ")
    form = JOB.fullmatch(name)
    if not form or not state:
        raise MethodError(f"squeue does not say which job this is: {_words(line)}")
    return Job(form.group(1), state.strip())


def _says(result: CommandResult, texts: t.Iterable[str]) -> bool:
    said = (result.errors + result.output).lower()
    return any(text.lower() in said for text in texts)


def _words(text: str) -> str:
    return printable(text, LONGEST_WORDS)
