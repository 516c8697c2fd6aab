# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""No plan asks for a transition of phases that the VM's store refuses: a note that is refused would come again with every pass."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.transitions import PHASES, may_follow
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import at, event, plan, record, vm

DOCUMENTS = {
    "scheduled": [event()],
    "started": [event(status="Started", due=-5)],
    "gone": [],
    "short pause": [event(event_type="Freeze", duration_in_seconds=5)],
}
MORE: list[dict[str, Any]] = [
    {},
    {"methods": []},
    {"approved_at": at(-10)},
    {"approved_at": at(-10), "methods": []},
    {"started_at": at(-10)},
    {"missing_since": at(-60)},
    {"missing_since": at(-60), "methods": []},
    {"decision": {"action": "hold", "who": "alice", "why": "because", "at": at(-10), "until": at(600), "vm": None, "beside": []}},
]
HEALTH = (True, False, None)


def asked_for(found: dict[str, Any]) -> list[str]:
    """The phases that a plan writes."""
    return [step["changes"]["phase"] for step in found["actions"] if step["action"] == "write" and "phase" in step["changes"]]


@pytest.mark.parametrize("outcome", [None, "unknown"])
@pytest.mark.parametrize("phase", PHASES)
def test_the_store_takes_every_note_of_the_planner(phase: str, outcome: str | None) -> None:
    written = set()
    for document, more, healthy, ago in itertools.product(DOCUMENTS.values(), MORE, HEALTH, (20, 4000)):
        kept = record(phase, outcome=outcome, ago=ago, **more)
        for after in asked_for(plan(vm("vm1", document, [kept], in_service=healthy))):
            assert may_follow(phase, after, outcome is not None), (phase, after, document, more)
            written.add(after)
    assert written, "nothing was asked for: the scenes say nothing"
