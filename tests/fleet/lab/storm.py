# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Several maintenances at once under load, and what users had of them."""

from __future__ import annotations

import dataclasses
import time
import typing as t

from .commands import until
from .lab import Lab
from .load import Request

# Seconds of a simulated platform in a hurry; what is real is what happens to the guests.
EVENTS: dict[str, dict[str, t.Any]] = {
    "live migration": {"event_type": "Freeze", "resources": ["web1", "web2"], "duration_in_seconds": 8, "started_seconds": 14},
    "reboot": {"event_type": "Reboot", "resources": ["web3"], "event_source": "User", "impact_seconds": 4, "started_seconds": 14},
    "redeploy": {"event_type": "Redeploy", "resources": ["web4"], "impact_seconds": 8, "started_seconds": 14},
}
# Listed as started from the first moment, and the machine is off by then.
FAILURE = {
    "event_type": "Reboot", "resources": ["web5"], "status": "Started", "impact_after": 0, "impact_seconds": 8, "started_seconds": 20,
    "description": "Host server is undergoing an emergency repair.",
}  # fmt: skip
# Approved events start earlier. Without anybody who approves, nobody gains by waiting longer.
NOTICE, NOTICE_OF_NOBODY = 3000, 10


@dataclasses.dataclass
class Outcome:
    """What came of one event."""

    name: str
    vms: list[str]
    failed: int = 0
    longest: float = 0.0
    out_at_impact: list[bool] = dataclasses.field(default_factory=list)
    seen_at_impact: list[str] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Result:
    name: str
    outcomes: dict[str, Outcome]
    requests: int
    failed: int
    unattributed: list[Request]
    exit_code: int | None
    seconds: float
    hit_at_once: int
    output: str
    event_ids: list[str]

    def table(self) -> str:
        lines = [f"{self.name}: {self.requests} requests, {self.failed} failed, {self.seconds:.0f} s, up to {self.hit_at_once} VMs hit at once"]
        for outcome in self.outcomes.values():
            lines.append(f"| {self.name} | {outcome.name} | {', '.join(outcome.vms)} | {'; '.join(outcome.seen_at_impact)} | {outcome.failed} |")
        return "\n".join([*lines, *(f"  of nobody: {request}" for request in self.unattributed[:5])])


def storm(lab: Lab, name: str, policy: t.Any) -> Result:
    """All events at once; with ``respond`` and this policy, or with nobody when it is None."""
    began = time.time()
    load = lab.load(name)
    time.sleep(2)
    first = len(lab.platform.happened)
    notice = NOTICE_OF_NOBODY if policy is None else NOTICE
    ids = {lab.simulator.ask("POST", "/events", {**event, "notice": notice})["event_id"]: kind for kind, event in EVENTS.items()}
    run, log = None, lab.logs / f"{name}.log"
    if policy is not None:
        run = lab.controller.start("maintenance.azure.respond", log, respond_policy=policy, respond_wait=True, respond_wait_timeout=600)
    until(lambda: len(lab.platform.happened) > first or (run and run.poll() is not None), 600, "something is hit")
    ids[lab.simulator.ask("POST", "/events", FAILURE)["event_id"]] = "host failure"
    exit_code = run.wait(700) if run else None
    until(lambda: not lab.simulator.ask("GET", "/state").get("listed", 0) and all_over(lab, list(ids)), 120, "every event is over")
    lab.wait_until_all_serve(60)
    requests = load.stop()
    happened = lab.platform.happened[first:]
    outcomes = count(ids, happened, requests)
    return Result(
        name=name,
        outcomes=outcomes,
        requests=len(requests),
        failed=sum(request.failed for request in requests),
        unattributed=[request for request in requests if request.failed and not owner(request, outcomes)],
        exit_code=exit_code,
        seconds=time.time() - began,
        hit_at_once=most_at_once(happened),
        output=log.read_text()[-6000:] if run else "",
        event_ids=list(ids),
    )


def all_over(lab: Lab, ids: list[str]) -> bool:
    over = {event["event_id"] for event in lab.simulator.ask("GET", "/events") if event["state"] == "gone"}
    return over.issuperset(ids) and all(one["ended"] for one in lab.platform.happened)


def owner(request: Request, outcomes: dict[str, Outcome]) -> Outcome | None:
    """Whose maintenance a failed request belongs to: its server's, at whatever time in the storm it failed."""
    return next((outcome for outcome in outcomes.values() if request.server in outcome.vms), None)


def count(ids: dict[str, str], happened: list[dict[str, t.Any]], requests: list[Request]) -> dict[str, Outcome]:
    outcomes = {kind: Outcome(kind, (EVENTS.get(kind) or FAILURE)["resources"]) for kind in ids.values()}
    for one in happened:
        outcome = outcomes[ids[one["event_id"]]]
        outcome.out_at_impact.append(one["out"])
        outcome.seen_at_impact.append(f"{one['vm']} {one['status']}, {one['sessions']} sessions")
    for request in requests:
        whose = owner(request, outcomes)
        if whose and request.failed:
            whose.failed += 1
            whose.longest = max(whose.longest, request.seconds)
    return outcomes


def most_at_once(happened: list[dict[str, t.Any]]) -> int:
    return max((sum(1 for other in happened if other["began"] <= one["began"] < other["ended"]) for one in happened), default=0)
