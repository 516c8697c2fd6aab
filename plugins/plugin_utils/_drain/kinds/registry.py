# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""All kinds of drain methods: those of the engine from its registry, and those that are tasks of role drain from here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ....module_utils._scheduled_events.core.printable_text import LONGEST_TEXT
from ....module_utils._scheduled_events.core.types import Doubt, Values
from ....module_utils._scheduled_events.drain.methods.method import Method, Option
from ....module_utils._scheduled_events.drain.registry import METHODS, WINDOWS_METHODS
from ..._core import plain_values
from .haproxy.haproxy import HAProxy
from .kind import NOT_ALLOWED, NOTHING, Claim, Kind
from .kubernetes.kubernetes import Kubernetes
from .tasks import Tasks


class KindOnVM(Kind):
    """A kind of method that the engine runs: the controller asks its class, of Linux or of Windows or both."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._classes: list[Method] = [methods[name] for methods in (METHODS, WINDOWS_METHODS) if name in methods]
        said = self._classes[0]
        self.outside, self.undo_option, self.short_pause_hurts, self.any_copy = said.outside, said.undo_option, said.short_pause_hurts, said.safe_at_once
        self.hands_over = said.hands_over
        self.windows_modules = self._classes[-1].windows_modules
        self.has_finding = type(said).find is not Method.find

    def runs_on_vm(self, system: str) -> bool:
        return self.name in (WINDOWS_METHODS if system == "windows" else METHODS)

    @property
    def asked_of_hosts(self) -> Mapping[str, Option]:
        return {name: option for name, option in self._classes[-1].options.items() if option.hosts or option.takeover}

    def claims(self, given: Values, host: str) -> Sequence[Claim]:
        # Several clusters may each have a node of this name, and then entries say which one they mean.
        option = self._classes[0].own_name
        return [Claim(name, option, parts=plain_values.texts([given.get("cluster")]), warns=True) for name in plain_values.texts([given.get(option)]) if name]

    def by_hand(self, before: Values, options: Values, targets: Sequence[Values]) -> str:
        if self.outside and not targets:
            return NOT_ALLOWED
        # Findings of the two systems differ, so that only one of the classes has something to say.
        found = next(filter(None, (one.by_hand(before, options) for one in self._classes)), NOTHING)
        # Half a command is worse than none.
        return found if len(found) <= LONGEST_TEXT else "the command is too long to show: the options and the finding (before) are in the record"

    def doubt(self, before: Any, options: Values) -> Doubt:
        # Both classes read the findings of both systems.
        return self._classes[0].doubt(before, options) if isinstance(before, Mapping) else None

    def shown(self, before: Any) -> str:
        return self._classes[0].shown(before) if isinstance(before, Mapping) else str(before)


# By the folder's name in roles/drain/tasks/methods, in the order in which messages name them.
TASKS: dict[str, Kind] = {kind.name: kind for kind in (HAProxy(), Kubernetes(), Tasks())}


def kind_of(name: str) -> Kind:
    """Return the kind of this name. What this collection does not have is an operator's own, or was made up."""
    if name in TASKS:
        return TASKS[name]
    return KindOnVM(name) if name in METHODS or name in WINDOWS_METHODS else Kind(name)
