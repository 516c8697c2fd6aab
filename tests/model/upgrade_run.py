# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One run of an upgrade: look at the batch and at those who share its groups, ask the real gate, lease, look afresh, and go."""

from __future__ import annotations

from typing import Any

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.upgrade import gate
from ansible_collections.maintenance.azure.tests.model import upgrade_acts
from ansible_collections.maintenance.azure.tests.model.acts import FAILED
from ansible_collections.maintenance.azure.tests.model.fleet import Case, Contents, Step
from ansible_collections.maintenance.azure.tests.model.run import Carry, Node, Run

# gate_lease_seconds: longer than a lease of respond, and shorter than the model's jump.
STEP_SECONDS = 300
# The batch's tasks, each on all its VMs before the next begins.
BATCH = ("drain", "renew", "tasks", "upgraded", "recover", "done", "give_back")
# What is left out where the mark says that the tasks are done.
WORK = ("drain", "renew", "tasks", "upgraded")
END: Node = ("end", None)


class UpgradeRun(Run):
    """One controller that upgrades one batch, and everything it may ever do."""

    def __init__(self, case: Case, contents: Contents, identifier: str, upgrade: str, batch: tuple[int, ...]) -> None:
        super().__init__(case, contents, identifier)
        self.upgrade, self.batch = upgrade, batch
        self.key = f"upgrade:{upgrade}"
        # The batch looks at itself first, and then at the others.
        self.order = [*batch, *(vm for vm in range(case.machines) if vm not in batch)]
        self.settings = {**self.settings, "lease_seconds": STEP_SECONDS, "run": {"id": identifier, "who": "model", "kind": "upgrade"}}
        self.ask = {"upgrade": upgrade, "batch": [f"vm{vm + 1}" for vm in batch], "quiet_seconds": 0, "marks": True}

    def steps(self, number: int) -> tuple[Step, ...]:
        """None once it has ended."""
        return () if self.nodes[number][0] == "end" else super().steps(number)

    def ended(self, number: int) -> bool:
        """Whether the play is over, done or failed."""
        return self.nodes[number][0] == "end"

    def _make_plan(self, observations: list[dict[str, Any] | None], carry: Carry) -> int:
        now = max(observation["now"] for observation in observations if observation)
        found = gate.make_gate(self._observations(observations, carry), self.ask, policy=self.case.policy, settings=self.settings, now=now)
        acts = [self._needed(step, observations) for step in found["actions"] if step["action"] in ("acquire", "release")]
        if found["go"]:
            acts += [self._needed(step, observations) for step in found["actions"] if step["action"] == "mark_progress"]
            acts += [self._batch_act(kind, host, observations) for kind in BATCH for host in found["batch"] if not (kind in WORK and host in found["upgraded"])]
        if found["go"] or found["nothing_to_do"]:
            acts.append({"action": "end", "vm": 0, "step": {}, "record": None, "clock": 0})
        return self._list(acts)

    def _batch_act(self, kind: str, host: str, observations: list[dict[str, Any] | None]) -> dict[str, Any]:
        """roles/upgrade/vars: what the VM is drained for, in place of an event."""
        step = {
            "action": kind,
            "host": host,
            "event_id": self.key,
            "event": {"event_id": self.key, "event_type": "Upgrade", "event_status": "Scheduled", "event_source": "User", "resources": [host]},
            "deadline": None,
            "rule": {"name": "rolling upgrade", "drain": True, "approve": "never", "order": 1},
            "upgrade": self.upgrade,
            "state": kind,
            "lease": {"run": self.identifier, "seconds": 30 if kind == "done" else STEP_SECONDS, "who": "model", "kind": "upgrade"},
        }
        return self._needed(step, observations)

    def _call(self, node: Node) -> tuple[Any, ...]:
        _kind, _carry, number, place, said, _results = node
        given = self._lists[number][place]
        act = upgrade_acts.calls(given, self.numbers, lambda seen: self._record(given["vm"], seen))
        call = next(act)
        for answer in said:
            call = act.send(answer)
        return call

    def _record(self, vm: int, seen: Any) -> dict[str, Any]:
        records = self._whole(vm, seen)["records"]
        return next((one for one in records if one["event"]["event_id"] == self.key), {})

    def _next(self, carry: Any, number: int, place: int) -> Node:
        acts = self._lists[number]
        if place < len(acts) and acts[place]["action"] == "end":
            return END
        if carry is None:
            return END
        return super()._next(carry, number, place)

    def _learned(self, carry: Any, given: dict[str, Any], outcome: str | None) -> Any:
        """What was given back is acknowledged no more. A task that fails ends the play; a lease that cannot be made does not."""
        carry = super()._learned(carry, given, outcome)
        if given["action"] == "release":
            carry = carry._replace(acknowledged=frozenset(one for one in carry.acknowledged if one[0] != given["vm"]))
        elif given["action"] != "acquire" and outcome == FAILED:
            return None
        return carry
