# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""What a drain method is: its options, and begin, check and undo, none of which waits."""

from __future__ import annotations

import abc
import typing as t

from ...core.types import Data, Doubt, Values
from ...host.machine.machine import Machine
from ...journal.record_schema import PLAIN_ID
from ...journal.recorded import BEFORE_ANYTHING

if t.TYPE_CHECKING:
    from ...host.machine.daemons import Daemons

LONGEST_MESSAGE = 400
# How the reason begins that a drain leaves in a cluster's own log or state.
PREFIX = "maintenance.azure "
# States in which a method's answer may be.
DRAINED, DRAINING, LOST, FAILED, UNDONE, UNDOING = "drained", "draining", "lost", "failed", "undone", "undoing"


class MethodError(Exception):
    """A method cannot do what it should; the message says why."""


class NoAnswer(MethodError):
    """What a method asks does not answer now, such as one that restarts or is frozen. In a check the drain goes on: nothing is put back for it."""


class NotYet(Exception):
    """Raised by find() or begin(): the method may begin later. The drain goes on, and no attempt is used.

    The engine begins the method, or fails it by name, when only the seconds that the method needs are left before the deadline.
    """

    def __init__(self, reason: str, needs_seconds: float | None = None) -> None:
        super().__init__(reason)
        self.needs_seconds = needs_seconds
        """Overrides the attribute of the method."""


class Option(t.NamedTuple):
    """One option of a method, as drain_methods has it."""

    kind: str
    """text, path, address, texts, whole, wholes, seconds, label, pattern, truth, mode, command, counts, mapping, options (a mapping
    of C(parts)) or task_file; see plugin_utils/_drain/settings/validation.py."""
    required: bool = False
    default: t.Any = None
    choices: t.Sequence[str] = ()
    description: str = ""
    """What it must be, where role drain's meta/argument_specs.yml does not say it: what that says is for people, and for messages."""
    hosts: bool = False
    """Whether its items, or the values of a mapping, are hosts of the inventory: members, whose names in Azure the task has."""
    takeover: bool = False
    """Whether its items are what another host may have to take over. Of those in a record, the ones that the settings name, too."""
    address: bool = False
    """Whether it is a URL, a HOST:PORT, or a list of such, of a daemon that the method may talk to beside those of its own VM."""
    parts: t.Mapping[str, t.Any] = {}
    """The options that a mapping consists of, each an Option; empty where its keys are an operator's own."""


class Event(t.NamedTuple):
    """The event that a VM drains for. None: not known."""

    id: str = ""
    type: str | None = None
    status: str | None = None
    not_before: str | None = None
    """UTC, ISO 8601, or as Azure wrote it."""
    duration: int | None = None
    """Seconds. None, and not Azure's -1, where it is not known how long it lasts; it may be long."""
    source: str | None = None


class Task(t.NamedTuple):
    """One method of one drain or undo: what it works with."""

    options: Values
    finding: Values
    """What it found before it acted, as the record has it."""
    state: str
    """Of the method in the record: new, found, begun, drained, failed, undoing or undone."""
    since: str | None
    """Since when it is in that state, by the VM's clock."""
    environment: t.Mapping[str, str]
    """The event, for commands."""
    present: Values = {}
    """What find() has returned right before; for would(), handover() and begin(), and for undo() of a method that finds_for_undo. The finding is that of the
    first time."""
    resources: t.Sequence[str] = ()
    """The VMs that the event names."""
    members: t.Mapping[str, str] = {}
    """The names in Azure of hosts of the inventory, by their names there. From the controller; one that is not known is missing."""
    seconds_left: float | None = None
    """Until NotBefore, by the VM's clock: 0 once it has passed, None where it is not known."""
    deadline: str | None = None
    """When the drain must be done. UTC, ISO 8601."""
    event: Event = Event()
    must_begin: bool = False
    """Whether only the time that the method needs is left before the deadline: NotYet fails from now on."""

    @property
    def known(self) -> Values:
        """What this drain has found. Before it has begun, the record may have the finding of an earlier one."""
        return {} if self.state in BEFORE_ANYTHING else self.finding

    @property
    def reason(self) -> str:
        """Return the reason that a method gives to its cluster: "maintenance.azure" and the EventId. Raise ValueError for an id of an unusual form."""
        return reason_of(self.event.id)

    def why_not(self, host: str) -> str:
        """Return why nothing may be moved to a host of the inventory, or an empty text. A member whose VM is not known may be hit by the event, too."""
        vm = self.members.get(host, "")
        if not vm:
            return f"the name of {host} in Azure is not known"
        return f"its VM {vm} is hit by the same event" if vm.lower() in {name.lower() for name in self.resources} else ""

    def listed(self, name: str) -> list[t.Any]:
        """Return an option that is a list. Raise MethodError where the record has something else: a text would be taken letter by letter."""
        value = self.options.get(name)
        if not isinstance(value, (list, tuple)):
            raise MethodError(f"option {name} must be a list, and is {value!r}"[:LONGEST_MESSAGE])
        return list(value)


class Answer(t.NamedTuple):
    """How far a method is. lost: it is not drained any more, and nothing is under way, so that it has to begin again."""

    state: str
    error: str | None = None
    note: str | None = None
    """What an operator has to know all the same."""
    hold: str | None = None
    """Of one that is drained or draining: why the VM must not go now, as when a majority would be gone with it. Nothing is approved as long as check() says so,
    and the VM is put back where there is time."""


class Method(abc.ABC):
    """One way to take a VM out of service. Each function does one short thing and returns; any error, such as those of the machine, means that it failed."""

    name = ""
    options: t.ClassVar[t.Mapping[str, Option]] = {}
    needs_seconds: t.ClassVar[float] = 30.0
    """How long the method takes at most from its begin until it is drained: NotYet is an answer until so much is left before the deadline."""
    finds_for_undo: t.ClassVar[bool] = False
    """Whether find() is called before undo(), too, for the task's C(present)."""
    one_at_a_time: t.ClassVar[bool] = False
    """Whether an entry must name its cluster, because two of its nodes that ask at the same moment would both be let go."""

    def daemons(self, machine: Machine) -> Daemons:
        """Return the access to daemons. Raise MethodError where the system has none."""
        if machine.daemons is None:
            raise MethodError(f"method {self.name} talks to a daemon of its VM, which is not supported on Windows hosts")
        return machine.daemons()

    def find(self, machine: Machine, task: Task) -> Data:
        """Return what undo() will need to know. It is in the record before begin() acts."""
        return {}

    def handover(self, machine: Machine, task: Task) -> t.Mapping[str, str]:
        """Return what another host has to do before begin() can act, or {}. The controller does it where its variables name that host."""
        return {}

    def would(self, machine: Machine, task: Task) -> str:
        """Return what begin() would do, and what would move where, for check mode. It changes nothing."""
        return f"would drain: {self.shown(task.present)}" if task.present else "would drain"

    @abc.abstractmethod
    def begin(self, machine: Machine, task: Task) -> None:
        """Start to take the VM out of service. It may be called again after a crash."""

    @abc.abstractmethod
    def check(self, machine: Machine, task: Task) -> Answer:
        """Return drained, draining or lost."""

    @abc.abstractmethod
    def undo(self, machine: Machine, task: Task) -> Answer:
        """Put back what was changed, or go on with it. Return undone, undoing or failed."""

    # What the controller asks of a kind, and its reports: it stands here and nowhere else. Pure.

    outside = False
    """Whether it changes something outside the VM: its record is copied before it acts, and the settings rule its undo."""
    hands_over = False
    """Whether it gives a role that others ask for, such as a database's leader, to another VM: then no load balancer has to have another server for it yet."""
    safe_at_once = False
    """Whether a VM may begin it by itself although it is outside, when no controller can copy its record first."""
    short_pause_hurts = False
    """Whether others wait for the VM even in a pause of seconds, or take it for dead: the default policy drains for a short Freeze, too."""
    units: t.ClassVar[t.Sequence[str]] = ()
    """The systemd units of what it drains: where one runs and the method is not set, status says that there is this method."""
    option_units: t.ClassVar[t.Mapping[str, str]] = {}
    """Options by the systemd units that they are for: where one runs and the method is set without that option, status says so."""
    windows_modules: t.ClassVar[t.Sequence[str]] = ()
    """The modules of other collections than ansible.windows that it needs for a Windows host."""
    own_name = ""
    """The option that names this VM in its cluster: two VMs of the same name are probably a copied setting."""
    undo_option = ""
    """The option that is its undo in the operator's own words, if it has one."""
    can_tell = True
    """Whether a drain by it says that the VM is out: one that runs the operator's own programs, or takes nothing out, cannot tell."""

    def doubt(self, finding: Values, options: Values) -> Doubt:
        """Return why what it found does not prove, once it is drained, that the VM is out, with what to look at; an empty text where it does.

        None where it cannot tell, or where its entry says that it is meant.
        """
        return "" if self.can_tell else None

    def by_hand(self, finding: Values, options: Values) -> str:
        """Return how a person undoes it: a command to paste, or words; empty if nothing is to be done. A VM may have made up both: see pasted.py."""
        return f"put back what method {self.name} changed: the record has its finding (before)"

    def shown(self, finding: Values) -> str:
        """Return in words what it found."""
        return in_words(finding)


def in_words(finding: t.Any) -> str:
    """Return a finding, or a value in it, for a line that people read."""
    if isinstance(finding, t.Mapping):
        return ", ".join(f"{key} {in_words(value)}" for key, value in finding.items())
    return " and ".join(map(in_words, finding)) or "none" if isinstance(finding, (list, tuple)) else str(finding)


def is_true(value: t.Any) -> bool:
    """Return whether an option, or a setting of a cluster, is true. Templates of ansible-core 2.18, and records, may have it as text."""
    return str(value).lower() in ("true", "yes", "on", "1")


def reason_of(event_id: str) -> str:
    """Return the reason of a drain for this event. Raise ValueError for an id of an unusual form: clusters take reasons as parts of command lines."""
    if not PLAIN_ID.fullmatch(event_id):
        raise ValueError(f"the EventId {event_id[:100]!r} has an unusual form")
    return PREFIX + event_id


def event_id_in(reason: str) -> str | None:
    """Return the EventId in a reason that begins with one of reason_of(), or None for a reason that no drain of this collection has left."""
    if not reason.startswith(PREFIX):
        return None
    event_id = reason[len(PREFIX) :].partition(" ")[0]
    return event_id if PLAIN_ID.fullmatch(event_id) else None
