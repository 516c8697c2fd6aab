# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One run of respond whose VMs are servers of one balancer.

A drain that has said "not yet" is asked again after ten seconds. Here no clock goes on while all orders are searched: in the plan right after
such an answer these seconds are not over, and in the next one they are.
"""

from __future__ import annotations

import json
from typing import Any

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_schema import NOT_YET
from ansible_collections.maintenance.azure.tests.model import balancer_acts
from ansible_collections.maintenance.azure.tests.model.fleet import START, Case, Contents, Step
from ansible_collections.maintenance.azure.tests.model.run import Carry, Node, Run, event_id

AGAIN = 10


class BalancerRun(Run):
    """One controller."""

    def __init__(self, case: Case, contents: Contents, identifier: str, **more: Any) -> None:
        super().__init__(case, contents, identifier, **more)
        if case.own:
            self.settings = {**self.settings, "only_events": [event_id(int(identifier[3:]) - 1)]}

    patient = False
    """Whether a clock goes on, by which a drain is asked again."""

    def _observations(self, observations: list[dict[str, Any] | None], carry: Carry) -> list[dict[str, Any]]:
        asked = dict(carry.asked)
        found = super()._observations(observations, carry)
        for vm, one in enumerate(found):
            target = {"name": "", "method": "haproxy", "server": one["host"], "balancers": ["lb1"], "backends": ["web"]}
            one.update(methods=["haproxy"], targets=[target], drain_asked_at=START + asked[vm] if vm in asked else None)
        return found

    def _planned_with(self, carry: Carry, observations: tuple[Any, ...]) -> Carry:
        if not self.patient:
            return carry._replace(asked=frozenset())
        clock = max(one[1][-1] for one in observations if one[0] == "whole")
        return carry._replace(asked=frozenset((vm, at) for vm, at in carry.asked if clock < at + AGAIN))

    def _list(self, acts: list[dict[str, Any]]) -> int:
        drains = [act for act in acts if act["action"] == "drain"]
        others = [act for act in acts if act["action"] != "drain"]
        return super()._list([*others, {"action": "together", "parts": drains}] if len(drains) > 1 else acts)

    def _call(self, node: Node) -> tuple[Any, ...]:
        _kind, _carry, number, place, said, _results = node
        act = balancer_acts.calls(self._lists[number][place], self.numbers, self.case.servers_left)
        call = next(act)
        for answer in said:
            call = act.send(answer)
        return call

    def _at(self, node: Node) -> tuple[dict[str, Any], tuple[Any, ...]]:
        given, call = super()._at(node)
        return (given["parts"][call[1]], call[2:]) if call[0] == "part" else (given, call)

    def _act(self, node: Node) -> Step:
        given, call = self._at(node)
        if call[0] == "write":
            return "call", given["vm"], self._seed(node), json.dumps({"step": given["step"], "options": call[1]}, sort_keys=True)
        return call[0], given["vm"], *call[1:]

    def _acted(self, node: Node, result: Any) -> Node:
        _kind, carry, number, place, said, _results = node
        after: Node = ("action", carry, number, place, (*said, result[1]), ())
        try:
            self._call(after)
        except StopIteration as end:
            return self._next(self._learned(carry, self._lists[number][place], end.value), number, place + 1)
        return after

    def _learned(self, carry: Carry, given: dict[str, Any], outcome: Any) -> Any:
        if given["action"] == "together":
            for part, one in zip(given["parts"], outcome, strict=True):
                carry = self._learned(carry, part, one)
            return carry
        carry = super()._learned(carry, given, outcome)
        if given["action"] == "drain" and outcome == NOT_YET:
            carry = carry._replace(asked=carry.asked | {(given["vm"], given["clock"])})
        return carry
