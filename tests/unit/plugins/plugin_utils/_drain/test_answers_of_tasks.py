# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Method tasks: what its files say at their end, and what is no answer."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.filter.drain import FilterModule

FILTERS = FilterModule().filters()


@pytest.mark.parametrize(("said", "recorded", "state", "error"), [
    ("drained", "begun", "drained", None),
    ("drained", "drained", "drained", None),
    ("draining", "begun", "draining", "c.yml says that it is still draining"),
    ("draining", "drained", "lost", "c.yml says that it is still draining"),
    ("failed", "drained", "failed", "c.yml says that the drain failed"),
    ("", "drained", "failed", "c.yml must end by setting the fact drain_tasks_state to drained, draining or failed; it is empty"),
    ("undone", "begun", "failed", "c.yml must end by setting the fact drain_tasks_state to drained, draining or failed; it is undone"),
    ("lost", "begun", "failed", "c.yml must end by setting the fact drain_tasks_state to drained, draining or failed; it is lost"),
    (True, "begun", "failed", "c.yml must end by setting the fact drain_tasks_state to drained, draining or failed; it is True"),
])  # fmt: skip
def test_a_check(said: Any, recorded: str, state: str, error: str | None) -> None:
    assert FILTERS["drain_tasks_checked"](said, "c.yml", recorded) == {"state": state, "error": error}


@pytest.mark.parametrize(("said", "state", "error"), [
    ("undone", "undone", None),
    ("undoing", "undoing", "u.yml says that it is still undoing"),
    ("failed", "failed", "u.yml says that it failed"),
    ("drained", "failed", "u.yml must end by setting the fact drain_tasks_state to undone, undoing or failed; it is drained"),
    ("", "failed", "u.yml must end by setting the fact drain_tasks_state to undone, undoing or failed; it is empty"),
])  # fmt: skip
def test_an_undo(said: str, state: str, error: str | None) -> None:
    assert FILTERS["drain_tasks_undone"](said, "u.yml") == {"state": state, "error": error}
