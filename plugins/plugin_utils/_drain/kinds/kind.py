# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""What the controller knows of a kind of drain method, whatever kind it is. Planner, reports and messages ask a Kind and name none."""

from __future__ import annotations

import abc
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from ....module_utils._scheduled_events.core.types import Data, Doubt, Values
from ....module_utils._scheduled_events.drain.methods.method import Option, in_words
from ....module_utils._scheduled_events.drain.methods.pasted import word
from .. import answers
from . import findings

NOTHING = "nothing to do: it stood so before the drain"
NOT_ALLOWED = "the record names what the host's variables do not give it: compare it with drain_methods"
# What copies of a record agree on, and in words what they do not.
Agreed = tuple[Data | None, list[str]]
Part = TypeVar("Part", bound=Hashable)


class Claim(NamedTuple):
    """Something outside a VM that an entry takes for the VM's own."""

    name: str
    option: str
    """The option that names it."""
    place: str = ""
    """Where it is, in words such as C(on balancer lb1): the same name elsewhere is something else."""
    parts: Sequence[str] = ()
    """The parts of the place that the entry is limited to, such as backends; all of it if there are none."""
    warns: bool = False
    """Whether another VM may have the same all the same."""


class Kind:
    """A kind of method. This one is an operator's own: tasks in a folder, of which nothing more is known."""

    name = ""
    options: ClassVar[Mapping[str, Option]] = {}
    """Of one that is tasks of this collection. An operator's own describes them in its options.yml."""
    outside = False
    """Whether it changes something outside its VM, where its entry does not say it."""
    short_pause_hurts = False
    """Whether a short pause hurts what it drains, so that the default policy drains for it, too."""
    hands_over = False
    """Whether it gives a role that others ask for, such as a database's leader, to another VM."""
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
    known_by: Sequence[str] = ("cluster", "names", "path")
    """The options by which people recognise an entry, the first that is set."""
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

    def target(self, given: Values, host: str, by_hand: bool) -> Data:
        """Return what an entry allows outside the VM, as observations carry it. C(by_hand) says that nothing of it is left to do."""
        return {}

    def claims(self, given: Values, host: str) -> Sequence[Claim]:
        """Return what an entry takes for this VM's own there."""
        return ()

    def used(self, before: Any, given: Values, host: str) -> Data:
        """Return what of a finding its stages may use, by an entry of the settings."""
        return findings.data(before) if isinstance(before, Mapping) else {}

    def for_replica(self, before: Any) -> Data | None:
        """Return the part of a finding that another VM may keep, or None where there is none."""
        return findings.read_words(before if self.has_finding or before is None else {})

    def agreed(self, copies: Iterable[Any], targets: Sequence[Values]) -> Agreed:
        """Return the finding that a VM gets back from the copies of its record, and in words what they do not agree on."""
        found = [finding for before in copies if (finding := self.for_replica(before)) is not None]
        if any(finding != found[0] for finding in found) and not self.any_copy:
            return None, ["copies differ on what it found; none of them is used, put it back by hand"]
        return (found[0] if found else None), []

    def asked_at(self, target: Values) -> Sequence[str]:
        """Return what is asked whether others serve, of a target: of VMs that ask at the same place one begins at a time."""
        return ()

    # What people read.

    def by_hand(self, before: Values, options: Values, targets: Sequence[Values]) -> str:
        """Return how a person undoes it. C(targets) are those of the settings that may be meant."""
        return f"do what the undo.yml of method {word(self.name, 'METHOD')} does" if targets else NOT_ALLOWED

    def doubt(self, before: Any, options: Values) -> Doubt:
        """Return why what it found does not prove that a drained VM is out, as Method.doubt. Of an operator's own nothing is known."""
        return "" if self.outside else None

    def shown(self, before: Any) -> str:
        """Return in words what it found."""
        return in_words(before)

    def would(self, before: Any) -> str:
        """Return in words what a drain would do that has found this, where its stage has not said it."""
        return f"would drain: {self.shown(before)}"

    # Its stages, where it is tasks.

    def stage_options(self, stage: str, options: Data, places: Sequence[str]) -> Data:
        """Return the options for one stage. Raise FileNotFoundError for a file of the operator's that is in none of the places."""
        return options

    def prepared(self, stage: str, method: Values) -> Data:
        """Return what the tasks of a stage need beside C(method), which they get as C(__drain_step.method)."""
        return {}

    def away(self, targets: Sequence[Values], given: Values, host: str) -> Any:
        """Return what an entry has to know of the targets of VMs that are taken out at the same time, as C(target) makes them."""
        return [target for target in targets if target.get("method") == self.name]

    def judge(self, said: Any, stage: str, method: Values) -> answers.Answer | answers.StageAnswer:
        """Return what a stage has answered. C(method) is that of C(__drain_step): its C(state) is the one in the record."""
        return answers.of_stage(said, stage, self.name)

    def view(self, observed: Sequence[Values], before: Any, options: Any) -> Values:
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
    def narrowed(self, given: Values, parts: Sequence[Part], host: str) -> Data:
        """Return the options of an entry, for these parts only."""

    @abc.abstractmethod
    def is_to_undo(self, part: Part) -> bool:
        """Return whether something of a part has to come back."""

    @abc.abstractmethod
    def unnamed(self, parts: Sequence[Part], host: str) -> str:
        """Return in words that the settings do not name these parts. C(parts) is not empty."""
