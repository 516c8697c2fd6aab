# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""A report as lines for a terminal, and as CSV."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

from ...module_utils._scheduled_events.core.printable_text import printable_line
from ...module_utils._scheduled_events.core.types import Data
from .._core.shares import in_turn
from .._core.short_forms import ending, grouped, some
from .._maintenance.config.settings import CLOCK_TOLERANCE
from .._maintenance.core.timestamps import duration
from .._maintenance.report.times import vm_table
from .parts import Part
from .report import Report, Total, Vm, count_answered, newest_of_each

MOST_EVENTS, OF_ONE_VM, MOST_TOTALS, SHOWN_VMS = 10, 4, 10, 6
UNKNOWN = "unknown"
# A spreadsheet takes a cell that begins so for a formula, and in some countries begins a cell at a semicolon, too.
FORMULA = re.compile(r"(^|[;,|\t\r\n\"'])([\s\"']*)(?=[=+@\uff1d\uff0b\uff0d\uff20-])")
PHASES = ("noticed", "held", "draining", "drained", "approved", "started", "gone", "recovering", "recovered", "failed")
COLUMNS = (
    *("event_id", "event_type", "event_source", "vm", "phase", "outcome", "rule", "approved_by", "not_before", *PHASES),
    *("drain_seconds", "impact_seconds", "out_of_service_seconds", "notice_given_seconds", "notice_used_seconds", "reasons", "methods", "archived"),
)


def known(seconds: float | None) -> str:
    """Return a duration as text. What is not known is called so."""
    return UNKNOWN if seconds is None else duration(seconds)


def out_of_service(total: Total) -> str:
    """Return how long the VMs of a sum were out of service, with how many of them that is not known."""
    if not total["drained"]:
        return "none drained"
    more = f", and {total['out_of_service_unknown']} times unknown" if total["out_of_service_unknown"] else ""
    return UNKNOWN if total["out_of_service_seconds"] is None else f"{duration(total['out_of_service_seconds'])}{more}"


def lines(report: Report, left_alone: list[str], written: list[str]) -> list[str]:
    """Return the short form: what there was, the newest events with their times, the totals by VM, and where all of it lies."""
    asked, answered = len(report["vms"]), count_answered(report)
    events = report["events"]
    found = [f"{report['since']} to {report['until']}: {_events(len(events))}; {answered} of {asked} VMs answered."]
    for event in newest_of_each(events, OF_ONE_VM if asked > 1 else MOST_EVENTS)[:MOST_EVENTS]:
        outcome = ending(event["outcome"]) if event["outcome"] else "not over"
        begins = f"{event['begins'][:19]}Z" if event["begins"] else "at an unknown time"
        differing = f"; its VMs tell different things of it ({', '.join(event['differing'])})" if event["differing"] else ""
        found.append(f"{begins}: {event['event_type']} ({outcome}), notice {notice(event['vms'])}{differing}")
        found += vm_table({**event}, [(part["vm"], part["times"]) for part in event["vms"]])
    if len(events) > MOST_EVENTS:
        found.append(f"{len(events) - MOST_EVENTS} events more: report_file writes all of them.")
    of_vms = sorted(report["totals"]["vm"], key=lambda total: total["out_of_service_seconds"] or 0.0, reverse=True)
    found += [f"{total['name']}: {_events(total['events'])}, out of service {out_of_service(total)}." for total in of_vms[:MOST_TOTALS]]
    silent = [host for host, vm in report["vms"].items() if not vm["answered"]]
    found += [f"Not read, so known from the archive alone, if at all: {some(silent, SHOWN_VMS)}."] if silent else []
    found += grouped(map(_clock, report["vms"], report["vms"].values()), SHOWN_VMS)
    found += [f"Left alone (respond_exclude): {some(left_alone, SHOWN_VMS)}."] if left_alone else []
    problems: dict[str, list[str]] = {}
    for host, vm in report["vms"].items():
        for problem in vm["problems"]:
            problems.setdefault(problem, []).append(host)
    found += [f"{some(hosts, SHOWN_VMS)}: {problem}" for problem, hosts in in_turn(list(problems.items()), lambda one: one[1], MOST_TOTALS)]
    return [printable_line(line) for line in [*found, *written]]


def _clock(host: str, vm: Vm) -> tuple[str, list[str]]:
    """Return a host with how far its clock differs, if that is more than runs take."""
    offset = vm["clock_offset_seconds"] or 0.0
    text = f"the clock is {duration(abs(offset))} {'ahead of' if offset > 0 else 'behind'} this machine's, and the times above are by that clock."
    return host, [text] if abs(offset) > CLOCK_TOLERANCE else []


def _events(number: int) -> str:
    return f"{number or 'no'} event{'' if number == 1 else 's'}"


def notice(parts: list[Part]) -> str:
    """Return how much notice an event gave, and how much of it was used, at most."""
    given = [part["notice_given_seconds"] for part in parts if part["notice_given_seconds"] is not None]
    used = [part["notice_used_seconds"] for part in parts if part["notice_used_seconds"] is not None]
    return f"given {known(max(given, default=None))}, used {known(max(used, default=None))}"


def as_csv(report: Report) -> str:
    """Return a row for each VM of each event. An empty cell is not known."""
    stream = io.StringIO()
    rows = csv.writer(stream, lineterminator="\n")
    rows.writerow(COLUMNS)
    for event in report["events"]:
        for part in event["vms"]:
            values: Data = {**part, **part["times"], **part["times"]["phases"]}
            values["reasons"] = "; ".join(f"{one['phase']}: {one['why']}" for one in part["reasons"])
            values["methods"] = "; ".join(one["id"] for one in part["methods"])
            rows.writerow([_cell(values.get(column)) for column in COLUMNS])
    return stream.getvalue()


def _cell(value: Any) -> Any:
    return FORMULA.sub(r"\1\2'", value) if isinstance(value, str) else value
