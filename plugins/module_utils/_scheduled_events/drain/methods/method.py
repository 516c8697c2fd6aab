# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""What a drain method is: its options, and begin, check and undo, none of which waits."""

from __future__ import annotations

import abc
import typing as t

from ...host.machine.machine import Machine

Values = t.Mapping[str, t.Any]
LONGEST_MESSAGE = 400
# States of a method in a record that has nothing to undo.
BEFORE_ANYTHING = ("new", "undone")
# States in which a method's answer may be.
DRAINED, DRAINING, LOST, FAILED, UNDONE, UNDOING = "drained", "draining", "lost", "failed", "undone", "undoing"


class MethodError(Exception):
    """A method cannot do what it should; the message says why."""


class Option(t.NamedTuple):
    """One option of a method, as drain_methods has it."""

    kind: str
    """text, texts, whole, wholes, truth, mode, command, mapping or task_file; see plugin_utils/_drain/settings/validation.py."""
    description: str
    required: bool = False
    default: t.Any = None
    choices: t.Sequence[str] = ()
    hosts: bool = False
    """Whether its items, or the values of a mapping, are hosts of the inventory."""


class Task(t.NamedTuple):
    """One method of one drain: what it works with."""

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
    """For handover() and begin() only: what find() has returned right before. The finding is that of the first time."""
    resources: t.Sequence[str] = ()
    """The VMs that the event names."""
    peers: t.Mapping[str, str] = {}
    """The names in Azure of other hosts of the inventory, by their names there. From the controller."""

    @property
    def known(self) -> Values:
        """What this drain has found. Before it has begun, the record may have the finding of an earlier one."""
        return {} if self.state in BEFORE_ANYTHING else self.finding

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


class Method(abc.ABC):
    """One way to take a VM out of service. Each function does one short thing and returns; any error, such as those of the machine, means that it failed."""

    name = ""
    options: t.ClassVar[t.Mapping[str, Option]] = {}

    def find(self, machine: Machine, task: Task) -> dict[str, t.Any]:
        """Return what undo() will need to know. It is in the record before begin() acts."""
        return {}

    def handover(self, machine: Machine, task: Task) -> t.Mapping[str, str]:
        """Return what another host has to do before begin() can act, or {}. The controller does it where its variables name that host."""
        return {}

    @abc.abstractmethod
    def begin(self, machine: Machine, task: Task) -> None:
        """Start to take the VM out of service. It may be called again after a crash."""

    @abc.abstractmethod
    def check(self, machine: Machine, task: Task) -> Answer:
        """Return drained, draining or lost."""

    @abc.abstractmethod
    def undo(self, machine: Machine, task: Task) -> Answer:
        """Put back what was changed, or go on with it. Return undone, undoing or failed."""
