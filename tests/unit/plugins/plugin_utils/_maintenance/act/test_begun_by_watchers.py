# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records that the VM's own watcher began: a run writes once that it has seen them, trusts them, and says whose they are."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.report.status import status
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.report.timeline import timeline
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import at, event, plan, record, vm

PREEMPT = event(event_type="Preempt", due=20)
DOCUMENTS: dict[str, list[dict[str, Any]]] = {
    "scheduled": [PREEMPT],
    "started": [event(event_type="Preempt", status="Started", due=-5)],
    "gone": [],
}


def watcher_writes(found: dict[str, Any]) -> list[str]:
    """What the plan writes under the key watcher."""
    return [step["changes"]["watcher"] for step in found["actions"] if step["action"] == "write" and "watcher" in step["changes"]]


@pytest.mark.parametrize("document", sorted(DOCUMENTS))
@pytest.mark.parametrize("phase", ["noticed", "draining", "drained", "approved", "failed", "gone"])
def test_a_run_writes_that_it_has_seen_the_event_and_only_once(document: str, phase: str) -> None:
    more = {"outcome": "unknown"} if phase == "gone" else {}
    unseen = record(phase, PREEMPT, watcher="unseen", **more)
    assert watcher_writes(plan(vm(events=DOCUMENTS[document], records=[unseen]))) == ["seen"]
    for other in ("seen", None, "something else"):
        assert watcher_writes(plan(vm(events=DOCUMENTS[document], records=[{**unseen, "watcher": other}]))) == []


def test_a_vm_that_cannot_be_read_is_written_nothing() -> None:
    assert watcher_writes(plan(vm(state="unreachable", events=[PREEMPT], records=[record("drained", PREEMPT, watcher="unseen")]))) == []


def test_after_its_notice_a_missing_event_is_believed_although_events_were_enabled_just_now() -> None:
    """The first run ever on this VM: without the notice it would wait five minutes to believe the empty list."""
    enabled = {"enabled_at": at(-30), "enabled_recently": True}
    missing = record("drained", PREEMPT, watcher="seen", missing_since=at(-20))
    believed = plan(vm(records=[missing], **enabled))
    assert [step["changes"].get("phase") for step in believed["actions"] if step["action"] == "write"] == ["gone"]
    without = {**missing, "history": missing["history"][1:]}
    assert not [step for step in plan(vm(records=[without], **enabled))["actions"] if step["action"] == "write"]


def test_status_and_the_timeline_say_who_began_it() -> None:
    begun = record("drained", PREEMPT, watcher="seen")
    line = status(plan(vm(events=[PREEMPT], records=[begun])))[0]
    assert "(begun by the watcher of vm1 itself)" in line
    assert "by its own watcher" in "\n".join(timeline({"vm1": [begun]}))
    by_a_run = record("drained", PREEMPT)
    assert "watcher" not in status(plan(vm(events=[PREEMPT], records=[by_a_run])))[0]
    assert "watcher" not in "\n".join(timeline({"vm1": [by_a_run]}))
