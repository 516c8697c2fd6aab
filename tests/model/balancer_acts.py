# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What role drain does with method haproxy, call by call: find, record, ask again and set, ask again and set back, check, record.

As in plugin_utils/_drain/steps.py and kinds/haproxy/view.py, with the records of drain/engine.py. Sessions are gone at once. C(ask) is one answer of the
balancer (balancer_fleet.py). All VMs that drain in an iteration take each of these steps together, as the tasks of a play do.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.system import utc_seconds
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_schema import NEEDED, NOT_YET
from ansible_collections.maintenance.azure.tests.model import acts
from ansible_collections.maintenance.azure.tests.model.acts import FAILED, Calls
from ansible_collections.maintenance.azure.tests.model.fleet import START

METHOD = "1-haproxy"
WAITS = {"reason": "it is the last server", "blocker": {"kind": NEEDED, "subjects": []}}
ABOUT = {"id": METHOD, "method": "haproxy", "boot_id": "boot", "error": None}


def calls(given: dict[str, Any], numbers: dict[str, int], left: int) -> Calls:
    """The calls of one act. C(left): how many other servers must take sessions."""
    if given["action"] == "together":
        return _together([calls(part, numbers, left) for part in given["parts"]])
    if given["action"] == "drain":
        return Drain(given, numbers, left).run()
    if given["action"] in ("undo", "recover"):
        return _undo(given["step"], given["record"] or {}, numbers)
    return acts.calls(given, numbers)


def _together(parts: list[Calls]) -> Calls:
    """One call of each, then the next one of each."""
    wanted = dict(enumerate(map(next, parts)))
    outcomes: dict[int, Any] = {}
    while wanted:
        for place in list(wanted):
            answer = yield ("part", place, *wanted[place])
            try:
                wanted[place] = parts[place].send(answer)
            except StopIteration as end:
                outcomes[place] = end.value
                del wanted[place]
    return tuple(outcomes[place] for place in range(len(parts)))  # type: ignore[return-value]


class Drain:
    """One observation of one drain."""

    def __init__(self, given: dict[str, Any], numbers: dict[str, int], left: int) -> None:
        self.step = given["step"]
        self.event = numbers[self.step["event_id"]]
        record = given["record"] or {}
        self.phase, self.waits = record.get("phase"), (record.get("blocker") or {}).get("kind") == NEEDED
        entry = next((one for one in record.get("methods", ()) if one["id"] == METHOD), {})
        self.state = entry.get("state") or "new"
        self.finding = entry.get("before") or {}
        # Something may be set since an earlier iteration, or by a run that was killed.
        self.acted = self.state not in ("new", "undone")
        self.away = tuple(sorted(int(target["server"][2:]) - 1 for target in self.step.get("away") or ()))
        self.left = 0 if self.step.get("must") else left
        self.late = (utc_seconds(self.step["deadline"]) or 0.0) - START < given["clock"] and self.phase not in ("approved", "started")

    def run(self) -> Calls:
        """Begin where it has not begun, and check."""
        answer = None if self.state in ("begun", "drained") else (yield from self.begin())
        if answer is not None:
            return answer
        answer, hold = yield from self.check()
        if answer == "lost":
            answer = yield from self.begin()
            if answer is not None:
                return answer
            answer, hold = yield from self.check()
        return (yield from self._checked(answer, hold))

    def begin(self) -> Generator[tuple[Any, ...], Any, Any]:
        """Ask, record what was found, and ask again when setting it. Return what came of it if it has not begun."""
        ready, up, others = yield "ask", "find", self.away
        if self.is_short(ready and up, others):
            return (yield from self._not_yet())
        answer = yield from self._found({"state": "ready" if ready else "drain", "up": up})
        if answer == FAILED:
            return FAILED
        if not (yield from self.set()):
            return (yield from self._not_yet())
        return None

    def set(self) -> Generator[tuple[Any, ...], Any, bool]:
        """As module haproxy_server does it. Return whether it is set."""
        ready, up, others = yield "ask", "begin", self.away
        if self.is_short(ready and up, others):
            return False
        if ready:
            yield "stop", self.event
            _ready, _up, left = yield "ask", "after", self.away
            if self.is_short(up, left):
                yield "start", self.event
                return False
        return True

    def is_short(self, takes: bool, others: tuple[int, ...]) -> bool:
        """Whether too few others would take sessions."""
        return takes and len(others) < self.left

    def check(self) -> Generator[tuple[Any, ...], Any, tuple[str, bool]]:
        """Return how it is, and whether the VM should serve again."""
        ready, _up, others = yield "ask", "check", self.away
        took = self.finding.get("state") == "ready" and self.finding.get("up") is True
        return ("lost" if ready else "drained"), self.is_short(took, others)

    def _found(self, finding: dict[str, Any]) -> Calls:
        changes = {"deadline": self.step["deadline"], "rule": self.step["rule"], "attempts": 1, "verified_at": None}
        if self.state in ("new", "undone"):
            self.finding = finding
        self.state, self.waits = "found", False
        method = {**ABOUT, "options": {}, "before": finding, "state": "found", "error_kind": None}
        self.phase = yield "write", {"event": self.step["event"], "changes": {**changes, **self._enters("draining")}, "method": method, "boot_id": "boot"}
        return self.phase

    def _not_yet(self) -> Calls:
        if self.acted:
            return (yield from self._checked("draining", True))
        if self.late:
            return (yield from self._failed())
        method = {"id": METHOD, "state": "undone", "error": None} if self.state == "found" else {}
        known = self.phase in ("approved", "started") or (self.phase == "draining" and self.waits)
        about = {"deadline": self.step["deadline"], "rule": self.step["rule"], "phase": "draining", **WAITS}
        if not known or method:
            yield "write", {"event": {} if known else self.step["event"], "changes": {} if known else about, "method": method}
        return NOT_YET

    def _checked(self, answer: str, hold: bool) -> Calls:
        if answer in ("lost", "draining") and self.late:
            return (yield from self._failed())
        hold = hold and self.phase not in ("approved", "started")
        drained = answer == "drained"
        changes = {**self._enters("drained" if drained else "draining"), **(WAITS if hold else {})}
        if not hold and not changes and self.waits:
            changes = {"reason": None}
        method = {**ABOUT, "state": "drained" if drained else "begun", "error_kind": "hold" if hold else None}
        found = yield "write", {"changes": changes, "method": method, "stamp": ["verified_at"] if drained else [], "boot_id": "boot"}
        return FAILED if found == FAILED else answer

    def _failed(self) -> Calls:
        yield "late", self.event
        return (yield "write", {"changes": {"phase": "failed", "reason": "it failed"}, "method": {**ABOUT, "state": "failed"}, "boot_id": "boot"})

    def _enters(self, phase: str) -> dict[str, Any]:
        return {} if self.phase in ("approved", "started") else {"phase": phase, "reason": None}


def _undo(step: dict[str, Any], record: dict[str, Any], numbers: dict[str, int]) -> Calls:
    left = [one for one in record.get("methods", ()) if one["state"] != "undone"]
    changes: dict[str, Any] = {"undone": True} if step["action"] == "undo" else {"phase": "recovering", "reason": None, "undone": True}
    if not left:
        return (yield "write", {"changes": changes})
    # Go on only while the VM is leased.
    if (yield "write", {}) == FAILED:
        return FAILED
    if (left[-1]["before"] or {}).get("state") == "ready" and not (yield ("check",)):
        yield "start", numbers[step["event_id"]]
    return (yield "write", {"changes": changes, "method": {"id": METHOD, "state": "undone", "error": None}})
