# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""Method none: an operator says that nothing has to be done before a maintenance."""

from __future__ import annotations

from ...core.types import Values
from ...host.machine.machine import Machine
from .method import DRAINED, UNDONE, Answer, Method, Task


class NoMethod(Method):
    """Change nothing."""

    name = "none"
    can_tell = False

    def would(self, machine: Machine, task: Task) -> str:
        return "nothing to do"

    def begin(self, machine: Machine, task: Task) -> None:
        pass

    def check(self, machine: Machine, task: Task) -> Answer:
        return Answer(DRAINED)

    def undo(self, machine: Machine, task: Task) -> Answer:
        return Answer(UNDONE)

    def by_hand(self, finding: Values, options: Values) -> str:
        return ""
