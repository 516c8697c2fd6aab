# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the roles do for each step of the plan, call by call, with one drain method that stops a service.

An act is a generator of calls. C(write) is one call of the module maintenance_record, with its options, and answers with the
phase that the record has then, or C(failed). The others are one command on the VM (C(stop), C(start), C(check)) or one
request to its metadata service (C(document), C(post)). What an act does next depends on these answers only.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_schema import RecordsError, stem
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.operations import maintenance_record
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.act import stages
from ansible_collections.maintenance.azure.tests.model.machine import ModelFiles, ModelHost, Replay

METHOD = "1-service"
FAILED = "failed"
# One stage after the other, each on all VMs (roles/respond/tasks/by_tasks.yml). What comes after the drains is no part of the model.
ORDER = {act: number for act, number in stages.ORDER.items() if number <= stages.ORDER["drain"]}

Calls = Generator[tuple[Any, ...], Any, "str | None"]


def calls(given: dict[str, Any], numbers: dict[str, int]) -> Calls:
    """The calls of one act."""
    return ACTS[given["action"]](given["step"], given["record"] or {}, numbers)


def write(replay: Replay, vm: int, step: dict[str, Any], options: dict[str, Any]) -> str | None:
    """One call of maintenance_record. It goes by the files of its event, and by the leases of its own run, nothing else."""
    given = {"state": "present", "event_id": step["event_id"], "expected_revision": None, "lease": step.get("lease")}
    given.update(vm_id=f"vm-{vm}", vm_name=f"vm{vm + 1}", **options)
    own = (given["lease"] or {}).get("run")
    only = (f"{stem(given['event_id'] or '')}.", *([f"claim-{own}-"] if own else []))
    try:
        found = maintenance_record.change_records(ModelFiles(replay, vm, only), ModelHost(replay, vm), given, False, _nobody)
    except RecordsError:
        return FAILED  # the role's rescue: nothing more is done here in this iteration
    return found["record"]["phase"] if found["record"] else None


def _nobody(line: str) -> None:
    """The journal of the VM is no part of the model."""


def _note(step: dict[str, Any], record: dict[str, Any], numbers: dict[str, int]) -> Calls:
    given = {key: step[key] for key in ("event", "changes", "stamp", "expected_revision") if key in step}
    return (yield "write", given)


def _lease(step: dict[str, Any], record: dict[str, Any], numbers: dict[str, int]) -> Calls:
    return (yield "write", {"state": "leased", "expired": step.get("expired") or []})


def _release(step: dict[str, Any], record: dict[str, Any], numbers: dict[str, int]) -> Calls:
    return (yield "write", {"state": "released", "expired": step.get("expired") or []})


def _approve(step: dict[str, Any], record: dict[str, Any], numbers: dict[str, int]) -> Calls:
    """roles/approve: the intention under the lease, the document once more, one POST for what is still scheduled."""
    intended = []
    for event_id in step["event_ids"]:
        intended.append((yield "write", {"event_id": event_id, "stamp": ["approving_at"]}))
    if FAILED in intended:
        return FAILED
    statuses = yield ("document",)
    left = [event_id for event_id in step["event_ids"] if statuses[numbers[event_id]] == "scheduled"]
    if left:
        yield "post", tuple(numbers[event_id] for event_id in left)
    written = []
    for event_id in left:
        written.append((yield "write", {"event_id": event_id, "changes": {"phase": "approved"}, "stamp": ["approved_at"], "lease": None}))
    return FAILED if FAILED in written else None


def _drain(step: dict[str, Any], record: dict[str, Any], numbers: dict[str, int]) -> Calls:
    """roles/drain: begin where it has not begun, check, and record what came of it."""
    entry = next((one for one in record.get("methods", ()) if one["id"] == METHOD), {})
    phase = record.get("phase")
    serves, begun = True, (entry.get("state") or "new") in ("begun", "drained")
    if begun:
        serves = yield ("check",)
    if serves:
        # New, or lost: somebody has started it again.
        phase = yield from _begin(step, phase, numbers)
        if phase != FAILED:
            serves = yield ("check",)
    boot = {"id": METHOD, "method": "service", "boot_id": "boot", "error": None}
    if phase == FAILED:
        return (yield "write", {"changes": {"phase": "failed", "reason": "it failed"}, "method": {**boot, "state": "failed"}, "boot_id": "boot"})
    changes: dict[str, Any] = {} if phase in ("approved", "started") else {"phase": "draining" if serves else "drained", "reason": None}
    stamp = [] if serves else ["verified_at"]
    method = {**boot, "state": "begun" if serves else "drained"}
    return (yield "write", {"changes": changes, "method": method, "stamp": stamp, "boot_id": "boot"})


def _begin(step: dict[str, Any], phase: str | None, numbers: dict[str, int]) -> Generator[tuple[Any, ...], Any, Any]:
    before = {"web.service": "active" if (yield ("check",)) else "inactive"}
    changes = {"deadline": step["deadline"], "rule": step["rule"], "attempts": 1, "verified_at": None}
    if phase not in ("approved", "started"):
        changes.update(phase="draining", reason=None)
    method = {"id": METHOD, "method": "service", "options": {}, "before": before, "state": "found", "boot_id": "boot", "error": None}
    answer = yield "write", {"event": step["event"], "changes": changes, "method": method, "boot_id": "boot"}
    if answer != FAILED:
        yield "stop", numbers[step["event_id"]]
    return answer


def _undo(step: dict[str, Any], record: dict[str, Any], numbers: dict[str, int]) -> Calls:
    """roles/recover: go on only while the VM is leased, put back what the record says was there before, then write that."""
    left = [one for one in record.get("methods", ()) if one["state"] != "undone"]
    changes: dict[str, Any] = {"undone": True} if step["action"] == "undo" else {"phase": "recovering", "reason": None, "undone": True}
    if not left:
        return (yield "write", {"changes": changes})
    if (yield "write", {}) == FAILED:
        return FAILED
    method = left[-1]
    if method["before"].get("web.service") == "active" and not (yield ("check",)):
        yield "start", numbers[step["event_id"]]
    return (yield "write", {"changes": changes, "method": {"id": method["id"], "state": "undone", "error": None}})


ACTS: dict[str, Callable[[dict[str, Any], dict[str, Any], dict[str, int]], Calls]] = {
    "write": _note,
    "acquire": _lease,
    "release": _release,
    "approve": _approve,
    "drain": _drain,
    "undo": _undo,
    "recover": _undo,
}
