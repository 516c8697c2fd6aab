# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recognise repeated messages: a waiting run reports its reason in each iteration."""

from __future__ import annotations

import re
from collections.abc import Hashable

WAITED = re.compile(r"\bWaited \d+ s so far\b")
# Separate numbers count up while nothing changes. Numbers in names, ids and addresses do not.
COUNT = re.compile(r"(?<![\w.:-])\d+(?![\w:-]|\.\d)")


class Repeats:
    """The last message about each subject."""

    def __init__(self) -> None:
        self._last: dict[Hashable, str] = {}

    def is_new(self, subject: Hashable, text: str) -> bool:
        """Return whether the text differs from the last one about the subject; of a wait, whether its reason does."""
        present = COUNT.sub("#", text) if WAITED.search(text) else text
        is_new = self._last.get(subject) != present
        self._last[subject] = present
        return is_new

    def forget(self, subject: Hashable) -> None:
        """Let the next message about the subject be new."""
        self._last.pop(subject, None)

    def clear(self) -> None:
        """Let the next message about every subject be new."""
        self._last.clear()
