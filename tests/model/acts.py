# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the roles do for each step of the plan, call by call, with one drain method that stops a service.

Every write goes through C(change_records), as in the module. Beside it there are only the commands on the VM (C(stop),
C(start), C(check)) and the requests to its metadata service (C(document), C(post)).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.record_format import RecordsError
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events import recording
from ansible_collections.maintenance.azure.tests.model.machine import ModelFiles, ModelHost, Replay

METHOD = "1-service"
# The order of roles/respond/tasks/act.yml: one task after the other, each on all VMs.
ORDER = {"release": 0, "claim": 0, "note": 0, "approve": 1, "undo": 2, "recover": 2, "drain": 3}


class Act:
    """One step of a plan on one VM, with what the run knew of it when it planned."""

    def __init__(self, replay: Replay, vm: int, step: dict[str, Any], record: dict[str, Any] | None, numbers: dict[str, int]) -> None:
        self.replay = replay
        self.vm = vm
        self.step = step
        self.record = record or {}
        self.numbers = numbers
        # One call of the module goes by the files of its event, and by the claims of its own run.
        own = (step.get("claim") or {}).get("run")
        self.files = ModelFiles(replay, vm, (f"event-{step['event_id'].lower()}.", *([f"claim-{own}-"] if own else [])))
        self.host = ModelHost(replay, vm)

    def run(self) -> str | None:
        """Do it. Returns C(failed) for an approval that failed; everything else is seen by the next look."""
        try:
            return ACTS[self.step["act"]](self)
        except RecordsError:
            return "failed"  # the role's rescue: nothing more is done here in this turn

    def write(self, **options: Any) -> dict[str, Any] | None:
        """One call of maintenance_record."""
        given = {"state": "present", "event_id": self.step["event_id"], "expected_revision": None, "vm_id": f"vm-{self.vm}", "vm_name": f"vm{self.vm + 1}"}
        if "claim" in self.step:
            given["claim"] = self.step["claim"]
        return recording.change_records(self.files, self.host, {**given, **options}, False, _nobody)["record"]

    def serves(self) -> bool:
        """What systemctl show says."""
        return bool(self.replay.perform(("check", self.vm)))

    def event(self, event_id: str) -> int:
        """The event's place in the case."""
        return self.numbers[event_id]


def _nobody(line: str) -> None:
    """The journal of the VM is no part of the model."""


def _note(act: Act) -> None:
    step = act.step
    boot = {} if step.get("expected_revision") is not None else {"boot_id": act.host.boot_id()}
    act.write(event=step.get("event"), changes=step["changes"], stamp=step["stamp"], expected_revision=step.get("expected_revision"), **boot)


def _claim(act: Act) -> None:
    act.write(state="claimed", expired=act.step.get("expired") or [])


def _release(act: Act) -> None:
    act.write(state="released", expired=act.step.get("expired") or [])


def _approve(act: Act) -> str | None:
    """roles/approve: the intention under the claim, the document once more, one POST for what is still scheduled."""
    step = act.step
    for event_id in step["event_ids"]:
        act.write(event_id=event_id, stamp=["approving_at"])
    events = act.replay.perform(("document", act.vm))
    numbers = tuple(act.event(event_id) for event_id in step["event_ids"] if events[act.event(event_id)] == "scheduled")
    if numbers:
        act.replay.perform(("post", act.vm, numbers))
    for event_id in step["event_ids"]:
        if act.event(event_id) in numbers:
            act.write(event_id=event_id, changes={"phase": "approved"}, stamp=["approved_at"], claim=None)
    return None


def _drain(act: Act) -> None:
    """roles/drain: begin where it has not begun, check, and record what came of it."""
    step, record = act.step, act.record
    entry = next((one for one in record.get("methods", ()) if one["id"] == METHOD), {})
    state = entry.get("state") or "new"
    stays = record.get("phase") in ("approved", "started")
    began = False
    if state not in ("begun", "drained"):
        record = _begin(act, stays)
        began = True
    serves = act.serves()
    if serves and not began:
        record = _begin(act, stays)  # lost: somebody has started it again
        serves = act.serves()
    stays = record.get("phase") in ("approved", "started")
    phase: dict[str, Any] = {} if stays else {"phase": "draining" if serves else "drained", "reason": None}
    act.write(
        changes=phase,
        method={"id": METHOD, "method": "service", "state": "begun" if serves else "drained", "boot_id": act.host.boot_id(), "error": None},
        stamp=[] if serves else ["verified_at"],
        boot_id=act.host.boot_id(),
    )


def _begin(act: Act, stays: bool) -> dict[str, Any]:
    step = act.step
    before = {"web.service": "active" if act.serves() else "inactive"}
    changes = {"deadline": step["deadline"], "rule": step["rule"], "attempts": 1, "verified_at": None}
    record = act.write(
        event=step["event"],
        changes={**changes, **({} if stays else {"phase": "draining", "reason": None})},
        method={"id": METHOD, "method": "service", "options": {}, "before": before, "state": "found", "boot_id": act.host.boot_id(), "error": None},
        boot_id=act.host.boot_id(),
    )
    act.replay.perform(("stop", act.vm, act.event(step["event_id"])))
    return record or {}


def _undo(act: Act) -> None:
    """roles/recover: put back what the record says was there before, then write that it is undone."""
    left = [one for one in act.record.get("methods", ()) if one["state"] != "undone"]
    phase: dict[str, Any] = {} if act.step["act"] == "undo" else {"phase": "recovering", "reason": None}
    if not left:
        act.write(changes={**phase, "undone": True})
        return
    method = left[-1]
    act.write()  # go on only while the VM is claimed for this run
    if method["before"].get("web.service") == "active" and not act.serves():
        act.replay.perform(("start", act.vm, act.event(act.step["event_id"])))
    act.write(changes={**phase, "undone": True}, method={"id": method["id"], "state": "undone", "error": None})


ACTS: dict[str, Callable[[Act], str | None]] = {
    "note": _note,
    "claim": _claim,
    "release": _release,
    "approve": _approve,
    "drain": _drain,
    "undo": _undo,
    "recover": _undo,
}
