# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""The names of VMs in all messages about an event. They are only added, so that no sender can take the VMs of others away from the run that is started."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable

# Names of VMs and of instances of scale sets: 64 characters at most, without blanks and commas.
LONGEST_NAME = 80
NAME = re.compile(rf"[A-Za-z0-9._-]{{1,{LONGEST_NAME}}}")
# Role awx has surveys that take so many of the longest names as one answer.
MOST_NAMES = 200
MOST_EVENTS = 10_000


class NamedVms:
    """The names, by event. The events whose news are the oldest are forgotten."""

    def __init__(self) -> None:
        self._names: OrderedDict[str, frozenset[str] | None] = OrderedDict()

    def add(self, event_id: str, names: Iterable[str]) -> list[str]:
        """Add the names of a message, and return those of all, sorted; an empty list where they do not suffice.

        That is where a message names none, or one that is no name of a VM, and where there are too many.
        """
        given = frozenset(names)
        before = self._names.get(event_id, frozenset())
        found = None if before is None or not given or not all(map(NAME.fullmatch, given)) else before | given
        self._names[event_id] = None if found is None or len(found) > MOST_NAMES else found
        self._names.move_to_end(event_id)
        while len(self._names) > MOST_EVENTS:
            self._names.popitem(last=False)
        return sorted(self._names[event_id] or ())
