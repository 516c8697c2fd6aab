# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What tasks register, for tests of the loop."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

ITERATION = "run1 iteration 3"
KEPT = ("action", "event_id", "event_ids", "iteration")
WORDS = (
    "events",
    "records",
    "leases",
    "event",
    "event_id",
    "action",
    "asked",
    "results",
    "approved",
    "failed",
    "unreachable",
    "identity",
    "msg",
    "vm_settings",
)
# Whatever a VM may make of an answer.
JUNK: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS) | st.text(max_size=5), inner, max_size=4),
    max_leaves=8,
)


def action(act: str, event_id: str = "E1", iteration: str = ITERATION, **more: Any) -> dict[str, Any]:
    """Return an action as maintenance_act takes it."""
    return {"action": act, "event_id": event_id, "iteration": iteration, **more}


def answered(*pairs: tuple[dict[str, Any], dict[str, Any]], **keys: Any) -> dict[str, Any]:
    """Return what a task with maintenance_act registers: what it was asked for, and the results beside it."""
    asked = [{key: action.get(key) for key in KEPT} for action, _result in pairs]
    return {
        "asked": asked,
        "results": [{"action": action["action"], "event_id": "", "failed": False, **result} for action, result in pairs],
        "changed": True,
        **keys,
    }
