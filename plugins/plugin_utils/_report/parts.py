# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""One event on one VM, read from an entry of the VM's history. All its texts are printable and short, and what is unknown is None, never zero."""

from __future__ import annotations

from typing import Any, TypedDict

from ...module_utils._scheduled_events.core.printable_text import LONGEST_NAME, printable
from .._core import plain_values
from .._maintenance.core import timestamps
from .._maintenance.observe.reading import read_record
from .._maintenance.report.times import Times, between, times_of

LONGEST_REASON = 200
# Of one VM: methods, the last reasons, and names of resources, as an entry has them.
MOST_METHODS, MOST_REASONS, MOST_NAMES = 10, 5, 50
STATES = ("begun", "drained", "undoing", "undone")


class Span(TypedDict):
    """A drain method: when it began, was drained, began to be undone, and was undone."""

    id: str
    method: str
    outside: bool
    """Whether it acts outside the VM, as on a load balancer."""
    error: str | None
    times: dict[str, str | None]


class Reason(TypedDict):
    """Why a VM was held or failed, and when that began."""

    phase: str
    at: str
    why: str


class Part(TypedDict):
    """One event on one VM. Times are ISO 8601 in UTC by the clock of the VM, durations are seconds."""

    vm: str
    event_id: str
    event_type: str
    event_source: str | None
    description: str | None
    resources: list[str]
    resources_count: int
    not_before: str | None
    duration_in_seconds: int | None
    phase: str
    times: Times
    reasons: list[Reason]
    methods: list[Span]
    rule: str | None
    approved_by: str | None
    """Who approved: an operator, or a rule; None where no record of this VM has an approval."""
    begun_by_watcher: bool
    archived: bool
    """Whether only the archive has it: the VM did not answer, or has lost it."""
    notice_given_seconds: float | None
    """From when the VM noticed the event until its NotBefore."""
    notice_used_seconds: float | None
    """From then until it was approved, or, where it was not, until it started."""


def name(value: Any) -> str | None:
    """Return a short printable text, or None for what is none."""
    return _text(value, LONGEST_NAME)


def _text(value: Any, limit: int) -> str | None:
    found = plain_values.text(value)
    return printable(found, limit) if found else None


def read_part(vm: str, entry: Any, archived: bool) -> Part | None:
    """Return the part of a VM from an entry of its history, which is a smaller record, or None for what is none. The name of the VM is the controller's."""
    given, record = plain_values.mapping(entry), read_record(entry)
    if record is None:
        return None
    event, times = record.event.values, times_of(record)
    resources = [printable(one, LONGEST_NAME) for one in record.event.resources[:MOST_NAMES]]
    noticed = record.history[0][1] if record.history else None
    answer = timestamps.parse(times["phases"]["approved"] or times["phases"]["started"])
    first = plain_values.mapping(next(iter(plain_values.items(given.get("history"))), None))
    not_before = timestamps.parse(plain_values.text(first.get("not_before"))) or record.event.not_before
    return {
        "vm": vm,
        "event_id": printable(record.event.event_id, LONGEST_NAME),
        "event_type": printable(record.event.event_type, LONGEST_NAME),
        "event_source": name(event.get("event_source")),
        "description": _text(event.get("description"), LONGEST_REASON),
        "resources": resources,
        "resources_count": max(plain_values.whole(given.get("resources_count")) or 0, len(resources)),
        "not_before": None if not_before is None else timestamps.form(not_before),
        "duration_in_seconds": plain_values.whole(event.get("duration_in_seconds")),
        "phase": record.phase,
        "times": {**times, "outcome": name(times["outcome"])},
        "reasons": [found for item in plain_values.items(given.get("history")) if (found := _reason(item))][-MOST_REASONS:],
        "methods": [_span(method) for method in plain_values.items(given.get("methods"))[:MOST_METHODS]],
        "rule": name(record.rule.get("name")),
        "approved_by": _approved_by(given, times),
        "begun_by_watcher": record.watched,
        "archived": archived,
        "notice_given_seconds": between(noticed, not_before),
        "notice_used_seconds": between(noticed, answer),
    }


def _reason(item: Any) -> Reason | None:
    given = plain_values.mapping(item)
    why, at = _text(given.get("why"), LONGEST_REASON), time(given.get("at"))
    return {"phase": name(given.get("phase")) or "?", "at": at, "why": why} if why and at else None


def _approved_by(entry: Any, times: Times) -> str | None:
    decision, rule = plain_values.mapping(entry.get("decision")), name(plain_values.mapping(entry.get("rule")).get("name"))
    if times["phases"]["approved"] is None:
        return None
    if decision.get("action") == "approve":
        return f"{name(decision.get('who')) or 'an operator'} (override)"
    return f"rule {rule}" if rule else "rule not known"


def _span(method: Any) -> Span:
    given = plain_values.mapping(method)
    times = plain_values.mapping(given.get("times"))
    return {
        "id": name(given.get("id")) or "?",
        "method": name(given.get("method")) or "?",
        "outside": given.get("outside") is True,
        "error": _text(given.get("error"), LONGEST_REASON),
        "times": {state: time(times.get(state)) for state in STATES},
    }


def time(value: Any) -> str | None:
    """Return a time in the form of the records, or None for what is none."""
    found = timestamps.parse(plain_values.text(value))
    return None if found is None else timestamps.form(found)
