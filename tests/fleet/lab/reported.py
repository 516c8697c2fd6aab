# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Playbook report of a storm, and each of its times beside the simulator's own log of requests and transitions. No record is read here."""

from __future__ import annotations

import dataclasses
import json
import re
import typing as t
from datetime import datetime

from .lab import Lab

# Seconds from what happens until a VM's record has it: one iteration of a busy fleet, or the boot of a guest that was off.
SLACK = 20.0
# Clocks are the same; the log of a request and the record of its answer are written by two processes.
EARLY = 0.5
# The default of role respond.
GONE_SECONDS = 10.0
# A VM that has lost the mark of its first request with its host is believed only so much later that its list is empty; respond says so.
ENABLING_SECONDS, ENABLED = 300.0, "Scheduled Events were enabled just now"
# What a VM was told so shortly before it was hit it may not have written down.
LOST_SECONDS = 10.0
PHASES = ("noticed", "approved", "started", "gone")


@dataclasses.dataclass
class Truth:
    """What the platform knows of one event on one VM, in seconds since 1970. None where it did not happen, or where the VM was never told."""

    noticed: float | None
    noticed_at_the_earliest: float | None
    """The same of whichever VM was told first: then its record begins with held."""
    approved: float | None
    started: float
    """When it was first told that it has started: a VM that was off learns of it after its boot."""
    started_at_the_earliest: float
    """The same with what it was told right before it was hit, or while it booted, and may have written down."""
    gone: float
    """From when on a document without the event proves that it is over: the second one."""
    impact: float
    """How long the event was listed as started."""
    may_know: bool
    """Whether the VM was ever told that it has started."""
    must_know: bool
    """Whether it was told so at a time at which it could write that down: not right before it was hit."""
    must_be_there: bool
    """The same of the event itself."""


def seconds(text: str) -> float:
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def truths(lab: Lab, event_id: str) -> dict[str, Truth]:
    """What happened to each VM of an event."""
    log = {one["transition"]: one for one in reversed(lab.simulator.log()) if one["event_id"] == event_id}
    at = {name: seconds(one["time"]) for name, one in log.items()}
    asked = [one for one in lab.simulator.requests() if "/scheduledevents" in one["path"] and one["status"] == 200 and seconds(one["time"]) >= at["created"]]
    approvals = [seconds(one["time"]) for one in asked if one["method"] == "POST" and event_id.lower() in one["body"].lower()]
    off = {one["vm"]: (one["began"], one["ended"]) for one in lab.platform.happened if one["event_id"] == event_id}
    found = {}
    first_told = min((seconds(one["time"]) for one in asked if one["method"] == "GET" and _status(one, event_id) is not None), default=None)
    for vm in log["created"]["resources"]:
        answers = [(seconds(one["time"]), _status(one, event_id)) for one in asked if one["vm"] == vm and one["method"] == "GET"]
        written = [(when, status) for when, status in answers if when < off[vm][0] - LOST_SECONDS or when > off[vm][1]]
        without = [when for when, status in answers if status is None and when > at["started"]]
        found[vm] = Truth(
            noticed=min((when for when, status in answers if status is not None), default=None),
            noticed_at_the_earliest=first_told,
            approved=min(approvals, default=None),
            started=min((when for when, status in written if status == "Started"), default=at["started"]),
            started_at_the_earliest=min((when for when, status in answers if status == "Started"), default=at["started"]),
            gone=min((when for when in without if when - without[0] > GONE_SECONDS), default=at["finished"]),
            impact=at["finished"] - at["started"],
            may_know="Started" in [status for _when, status in answers],
            # One answer may be that of a module that only listens: the observation after it writes it down, if the event is listed until then.
            must_know=[status for _when, status in written].count("Started") > 1,
            must_be_there=any(status is not None for _when, status in written),
        )
    return found


def _status(request: dict[str, t.Any], event_id: str) -> str | None:
    """The status that an answer lists an event with, or None."""
    try:
        events = json.loads(request["answer"]).get("Events", [])
    except ValueError:
        return None
    return next((str(one["EventStatus"]) for one in events if one["EventId"].lower() == event_id.lower()), None)


def report(lab: Lab, name: str) -> tuple[dict[str, t.Any], str]:
    """Run the playbook over ssh against all guests; its JSON and its page, which both stay in the logs."""
    files = [lab.logs / f"{name}.report.{form}" for form in ("json", "html")]
    log = lab.logs / f"{name}.report.log"
    code = lab.controller.start("maintenance.azure.report", log, report_file=[str(file) for file in files]).wait(120)
    assert code == 0, log.read_text()[-4000:]
    return json.loads(files[0].read_text()), files[1].read_text()


def check(lab: Lab, name: str, event_ids: t.Iterable[str]) -> list[str]:
    """Compare each time of a report. Return a line for each VM of each event."""
    data, page = report(lab, name)
    assert sorted(vm for vm, about in data["vms"].items() if about["answered"] and abs(about["clock_offset_seconds"]) < SLACK) == sorted(lab.guests)
    by_id = {event["event_id"].lower(): event for event in data["events"]}
    believed_after = ENABLING_SECONDS if ENABLED in (lab.logs / f"{name}.log").read_text() else 0.0
    lines = []
    for event_id in event_ids:
        known = truths(lab, event_id)
        parts = {part["vm"]: part for part in by_id.get(event_id.lower(), {"vms": []})["vms"]}
        # A host that fails without notice may be back when its event is over: then its VM was never told of it.
        told = {vm for vm, truth in known.items() if truth.noticed is not None}
        assert {vm for vm, truth in known.items() if truth.must_be_there} <= set(parts) <= told, known
        for vm, part in parts.items():
            lines.append(_compared(part, known[vm], believed_after))
            assert _shown_as_started(page, event_id, vm) == (part["times"]["phases"]["started"] is not None)
        # Of an approval at least the VM that approved has it.
        has_approval = any(part["times"]["phases"]["approved"] for part in parts.values())
        assert has_approval == any(truth.approved is not None for truth in known.values()), parts
    return lines


def _compared(part: dict[str, t.Any], truth: Truth, believed_after: float) -> str:
    times = part["times"]
    at = {phase: seconds(moment) if moment else None for phase, moment in times["phases"].items()}
    known = [(phase, at[phase], getattr(truth, phase)) for phase in PHASES]
    lags = {phase: None if said is None or true is None else said - true for phase, said, true in known}
    line = f"{part['vm']} {part['event_type']}: " + ", ".join(f"{phase} {_told(lag)}" for phase, lag in lags.items())
    for phase, said, true in known:
        since = getattr(truth, f"{phase}_at_the_earliest", true)
        until = SLACK + (believed_after if phase == "gone" else 0.0)
        assert said is None or true is None or since is None or since - EARLY < said < true + until, f"{line}: {phase}"
    # Of a VM that was off when its event started that is unknown, and called so. An approval by another VM is none of this VM's record.
    started, approved = at["started"] is not None, at["approved"] is not None
    assert at["noticed"] is not None and at["gone"] is not None, line
    assert truth.must_know <= started <= truth.may_know, f"{line}: {truth}"
    assert truth.approved is not None or not approved, line
    assert (times["impact_seconds"] is not None) == started, line
    longer = None if times["impact_seconds"] is None else times["impact_seconds"] - truth.impact
    assert longer is None or -SLACK - GONE_SECONDS < longer < SLACK + GONE_SECONDS + believed_after, line
    answered, used = (truth.approved if approved else truth.started), part["notice_used_seconds"]
    assert (used is not None) == (approved or started), line
    if used is not None and truth.noticed is not None and answered is not None:
        assert abs(used - max(answered - truth.noticed, 0)) < SLACK, line
    return f"{line}; notice used {used}, impact {times['impact_seconds']}"


def _told(lag: float | None) -> str:
    return "unknown" if lag is None else f"{lag:+.1f} s"


def _shown_as_started(page: str, event_id: str, vm: str) -> bool:
    """Whether the page has a time in column Started, rather than the word unknown."""
    section = next(one for one in page.split("<section") if event_id in one)
    head = re.findall(r'<th scope="col">([^<]*)</th>', section)
    row = re.search(rf'<tr><th scope="row">{vm}</th>(.*?)</tr>', section, re.DOTALL)
    assert row is not None, section
    cell = re.findall(r"<td>(.*?)</td>", row[1], re.DOTALL)[head.index("Started") - 1]
    assert cell == "unknown" or re.fullmatch(r"\d\d:\d\d:\d\d", cell), cell
    return cell != "unknown"
