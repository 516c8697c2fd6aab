# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a VM drains by itself, and what it does about an event: the last moment is its own, everything before is a run's."""

from __future__ import annotations

import typing as t

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.drain.decision import (
    APPROVE,
    DRAIN,
    LEAVE,
    MOST_ATTEMPTS,
    Decision,
    Situation,
    decide,
)
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.drain.due import due_ids, is_due
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.drain.rules import Rule
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.settings import Settings
from ansible_collections.maintenance.azure.tests.unit.plugins import builders

EVENT = "c7061bac-afdc-4513-b24b-aa5f13a16123"
NOW = "2026-11-25T12:00:00.000000Z"
DRAINS, NEVER = Rule("all", True, "after_drain", None), Rule("let", False, "never", None)
APPROVES = Rule("at once", False, "now", None)


def event(**more: t.Any) -> dict[str, t.Any]:
    return builders.event(EVENT, **{"event_type": "Preempt", "not_before": "2026-11-25T12:00:30Z", "resources": ["vm_0"], **more})


def record(phase: str, *methods: tuple[str, str, str], **more: t.Any) -> dict[str, t.Any]:
    entries = [builders.method("service", state, id=one, boot_id=boot) for one, state, boot in methods]
    return builders.record(phase, *entries, event_id=EVENT, **more)


def decided(**more: t.Any) -> Decision:
    known: dict[str, t.Any] = {"event": event(), "record": None, "rule": DRAINS, "method_ids": ["1-service"], "boot_id": "b1", "now": NOW, "at_work": None}
    return decide(Situation(**{**known, **more}))


@pytest.mark.parametrize(
    ("about", "more", "due"),
    [
        ({}, {}, True),
        ({"event_status": "Started"}, {}, True),
        ({"not_before": None}, {}, True),
        ({"event_type": "Reboot"}, {}, False),
        ({"event_type": "preempt"}, {}, False),
        ({"event_type": None}, {}, False),
        ({}, {"drain_types": []}, False),
        ({"event_type": "Reboot"}, {"drain_types": ["Reboot"]}, True),
        ({"event_type": "Reboot", "not_before": "2026-11-25T12:01:00Z"}, {"drain_types": ["Reboot"]}, True),
        ({"event_type": "Reboot", "not_before": "2026-11-25T12:01:01Z"}, {"drain_types": ["Reboot"]}, False),
        ({"event_type": "Reboot", "not_before": "2026-11-25T12:14:00Z"}, {"drain_types": ["Reboot"]}, False),
        ({"event_type": "Reboot", "not_before": "2026-11-25T12:14:00Z"}, {"drain_types": ["Reboot"], "drain_before": 900}, True),
        ({"event_type": "Reboot", "not_before": "soon"}, {"drain_types": ["Reboot"]}, False),
        ({"event_type": "Reboot", "event_status": "Started"}, {"drain_types": ["Reboot"]}, False),
        ({"event_type": "Reboot", "event_status": "Started"}, {"drain_types": ["Reboot"], "drain_started": True}, True),
        ({"event_type": "Reboot", "event_status": "Odd", "not_before": None}, {"drain_types": ["Reboot"], "drain_started": True}, False),
    ],
)
def test_due(about: dict[str, t.Any], more: dict[str, t.Any], due: bool) -> None:
    assert is_due(event(**about), Settings(**{"drain_types": ["Preempt"], **more}), NOW) is due


def test_another_vms_event_is_not_due_here() -> None:
    events = [event(affects_this_vm=False), event(event_id="other", affects_this_vm=None)]
    assert due_ids(events, Settings(drain_types=["Preempt"]), NOW) == ["other"]


@pytest.mark.parametrize(
    ("more", "action", "why"),
    [
        ({}, DRAIN, "drains it"),
        ({"rule": None}, DRAIN, "no rule matches"),
        ({"rule": NEVER}, LEAVE, "does not drain"),
        ({"rule": NEVER._replace(approve="after_drain")}, LEAVE, "does not drain"),
        ({"rule": APPROVES}, APPROVE, "without a drain"),
        ({"rule": APPROVES, "event": event(resources=["vm_0", "vm_1"])}, LEAVE, "other VMs"),
        ({"rule": APPROVES, "event": event(resources=[])}, LEAVE, "other VMs"),
        ({"rule": APPROVES, "event": event(event_status="Started")}, LEAVE, "does not drain"),
        ({"rule": APPROVES, "record": record("approved")}, LEAVE, "does not drain"),
        ({"method_ids": []}, LEAVE, "no drain method"),
        ({"record": record("noticed")}, DRAIN, ""),
        ({"record": record("held")}, DRAIN, ""),
        ({"record": record("draining", ("1-service", "begun", "b1"))}, DRAIN, ""),
        ({"record": record("drained", ("1-service", "drained", "b1"))}, LEAVE, "drained"),
        ({"record": record("draining", ("1-service", "drained", "b1"))}, LEAVE, "drained"),
        # A drain holds for one boot.
        ({"record": record("drained", ("1-service", "drained", "b0"))}, DRAIN, ""),
        ({"record": record("drained", ("2-other", "drained", "b1"))}, DRAIN, ""),
        ({"record": record("started", ("1-service", "drained", "b0"))}, DRAIN, ""),
        # A second boot does not drain again for what has ended.
        ({"record": record("gone", ("1-service", "drained", "b0"))}, LEAVE, "over"),
        ({"record": record("recovering", ("1-service", "undoing", "b1"))}, LEAVE, "over"),
        ({"record": record("recovered", ("1-service", "undone", "b0"))}, LEAVE, "over"),
        ({"record": record("failed", outcome="completed")}, LEAVE, "over"),
        ({"record": record("failed", attempts=MOST_ATTEMPTS - 1)}, DRAIN, ""),
        ({"record": record("failed", attempts=MOST_ATTEMPTS, reason="x")}, LEAVE, "failed 3 times: x"),
        ({"at_work": "run 13v8"}, DRAIN, ""),
        ({"at_work": "run 13v8", "event": event(event_type="Reboot")}, LEAVE, "run 13v8 is at work"),
        ({"rule": DRAINS._replace(late=True)}, DRAIN, ""),
        ({"rule": DRAINS._replace(late=True), "event": event(event_type="Reboot")}, LEAVE, "only a run can follow"),
    ],
)
def test_decided(more: dict[str, t.Any], action: str, why: str) -> None:
    found = decided(**more)
    assert found.action == action and why in found.why


def override(action: str, until: str | None = "2026-11-25T13:00:00Z", beside: t.Sequence[t.Any] = ()) -> dict[str, t.Any]:
    return {"action": action, "who": "alice", "why": "x", "at": NOW, "until": until, "vm": None, "beside": list(beside)}


@pytest.mark.parametrize(
    ("decision", "action"),
    [
        (override("let_it_come"), LEAVE),
        (override("let_it_come", "2026-11-25T11:00:00Z"), DRAIN),
        (override("hold", beside=[override("let_it_come")]), LEAVE),
        (override("hold"), DRAIN),
        (override("release", None, beside=[override("let_it_come")]), DRAIN),
    ],
)
def test_what_a_person_decided_before(decision: dict[str, t.Any], action: str) -> None:
    assert decided(record=record("held", decision=decision)).action == action


@given(
    phase=st.sampled_from(["noticed", "draining", "drained", "approved", "started", "gone", "recovering", "recovered", "failed", "held"]),
    state=st.sampled_from(["found", "begun", "drained", "failed", "undoing", "undone"]),
    boot=st.sampled_from(["b0", "b1"]),
    attempts=st.integers(0, 5),
    outcome=st.sampled_from([None, "completed"]),
    rule=st.sampled_from([None, DRAINS, NEVER, APPROVES]),
    resources=st.lists(st.sampled_from(["vm_0", "vm_1"]), max_size=3),
)
def test_only_what_the_policy_says_and_never_for_what_is_over(
    phase: str, state: str, boot: str, attempts: int, outcome: str | None, rule: Rule | None, resources: list[str]
) -> None:
    present = record(phase, ("1-service", state, boot), attempts=attempts, outcome=outcome)
    found = decided(record=present, rule=rule, event=event(resources=resources))
    if found.action == DRAIN:
        assert rule in (DRAINS, None) and outcome is None and phase not in ("gone", "recovering", "recovered")
    if found.action == APPROVE:
        assert rule is APPROVES and len(resources) == 1 and outcome is None
    assert found.why
