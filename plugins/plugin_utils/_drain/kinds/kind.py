# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""What the controller knows of a kind of drain method, whatever kind it is. Planner, reports and messages ask a Kind and name none."""

from __future__ import annotations

import abc
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from ....module_utils._scheduled_events.drain.methods.method import Option, in_words
from ....module_utils._scheduled_events.drain.methods.pasted import word
from .. import answers
from . import findings

NOTHING = "nothing to do: it stood so before the drain"
NOT_ALLOWED = "the record names what the host's variables do not give it: compare it with drain_methods"
Values = Mapping[str, Any]
# What copies of a record agree on, and in words what they do not.
Agreed = tuple[dict[str, Any] | None, list[str]]
Part = TypeVar("Part", bound=Hashable)


class Kind:
    """A kind of method. This one is an operator's own: tasks in a folder, of which nothing more is known."""

    name = ""
    options: ClassVar[Mapping[str, Option]] = {}
    """Of one that is tasks of this collection. An operator's own describes them in its options.yml."""
    outside = False
    """Whether it changes something outside its VM, where its entry does not say it."""
    short_pause_hurts = False
    """Whether a short pause hurts what it drains, so that the default policy drains for it, too."""
    any_copy = False
    """Whether what it drains says itself whose drain it is, so that copies of a record that differ do no harm."""
    has_finding = True
    undo_option = ""
    """The option that is its undo in an operator's own words."""
    windows_modules: Sequence[str] = ()
    controller_modules: Sequence[str] = ()
    """Modules of other collections that its tasks use on the controller, whatever system the VM has."""
    controller_packages: Sequence[str] = ()
    """Python packages that they need there."""
    finds_in_check_mode = False
    """Whether its find.yml only reads, also in check mode: what it would do is shown there."""
    answer_fact = "method_answer"
    """The fact that its tasks set at their end."""
    names_tasks = True
    """Whether the name of a task that fails says something to an operator: it is one of the operator's own."""

    def __init__(self, name: str = "") -> None:
        self.name = name or self.name

    def runs_on_vm(self, system: str) -> bool:
        """Return whether the engine runs it on a system; otherwise it is tasks of the controller."""
        return False

    def is_local(self, system: str) -> bool:
        """Return whether it changes nothing but its own VM, whose record may say how it is undone there."""
        return self.runs_on_vm(system) and not self.outside

    @property
    def asked_of_hosts(self) -> Mapping[str, Option]:
        """Return the options that say what other hosts are asked, and which: they come from the settings, whatever the record says."""
        return {}

    # Its settings and its finding.

    def target(self, given: Values, host: str, by_hand: bool) -> dict[str, Any]:
        """Return what an entry allows outside the VM, as observations carry it. C(by_hand) says that nothing of it is left to do."""
        return {}

    def used(self, before: Any, given: Values, host: str) -> dict[str, Any]:
        """Return what of a finding its stages may use, by an entry of the settings."""
        return findings.data(before) if isinstance(before, Mapping) else {}

    def for_replica(self, before: Any) -> dict[str, Any] | None:
        """Return the part of a finding that another VM may keep, or None where there is none."""
        return findings.read_words(before if self.has_finding or before is None else {})

    def agreed(self, copies: Iterable[Any], targets: Sequence[Values]) -> Agreed:
        """Return the finding that a VM gets back from the copies of its record, and in words what they do not agree on."""
        found = [finding for before in copies if (finding := self.for_replica(before)) is not None]
        if any(finding != found[0] for finding in found) and not self.any_copy:
            return None, ["copies differ on what it found; none of them is used, put it back by hand"]
        return (found[0] if found else None), []

    # What people read.

    def by_hand(self, before: Values, options: Values, targets: Sequence[Values]) -> str:
        """Return how a person undoes it. C(targets) are those of the settings that may be meant."""
        return f"do what the undo.yml of method {word(self.name, 'METHOD')} does" if targets else NOT_ALLOWED

    def shown(self, before: Any) -> str:
        """Return in words what it found."""
        return in_words(before)

    def would(self, before: Any) -> str:
        """Return in words what a drain would do that has found this, where its stage has not said it."""
        return f"would drain: {self.shown(before)}"

    # Its stages, where it is tasks.

    def stage_options(self, stage: str, options: dict[str, Any], places: Sequence[str]) -> dict[str, Any]:
        """Return the options for one stage. Raise FileNotFoundError for a file of the operator's that is in none of the places."""
        return options

    def judge(self, said: Any, stage: str, options: Values, recorded: str) -> answers.Answer | answers.StageAnswer:
        """Return what a stage has answered. C(recorded) is the method's state in the record."""
        return answers.of_stage(said, stage, self.name)

    def view(self, observed: Sequence[Values], before: Any, options: Any) -> Mapping[str, Any]:
        """Return what follows from what its tasks have observed."""
        raise ValueError(f"the tasks of method {self.name} observe nothing")


class KindInParts(Kind, abc.ABC, Generic[Part]):
    """A kind whose finding has parts outside the VM, each of which an entry of the settings gives to the host, or does not."""

    @abc.abstractmethod
    def parts(self, before: Any) -> tuple[Part, ...] | None:
        """Return the parts of a finding, or None for what is no finding of this kind."""

    @abc.abstractmethod
    def named(self, parts: Iterable[Part], given: Values, host: str) -> tuple[Part, ...]:
        """Return those of the parts that an entry of the settings names."""

    @abc.abstractmethod
    def names_parts(self, given: Values) -> bool:
        """Return whether an entry names parts, and not only the kind."""

    @abc.abstractmethod
    def narrowed(self, given: Values, parts: Sequence[Part], host: str) -> dict[str, Any]:
        """Return the options of an entry, for these parts only."""

    @abc.abstractmethod
    def is_to_undo(self, part: Part) -> bool:
        """Return whether something of a part has to come back."""

    @abc.abstractmethod
    def unnamed(self, parts: Sequence[Part], host: str) -> str:
        """Return in words that the settings do not name these parts. C(parts) is not empty."""
