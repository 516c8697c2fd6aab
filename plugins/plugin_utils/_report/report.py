# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The report of a time: its events, its VMs and its totals, from what the VMs and the archive have answered. Pure functions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any, NamedTuple, TypedDict

from ...module_utils._scheduled_events.core.limits import HISTORY_ENTRIES
from ...module_utils._scheduled_events.core.names import folded
from ...module_utils._scheduled_events.core.printable_text import LONGEST_TEXT, printable
from .._core import plain_values
from .._core.wrong_input import WrongInput
from .._maintenance.core import timestamps
from .parts import Part, read_part

DEFAULT_DAYS = 31
MONTH = re.compile(r"([0-9]{4})-([0-9]{2})")
# Problems that are told of one VM.
MOST_PROBLEMS = 5


class Window(NamedTuple):
    """The time that a report is about, in seconds since 1970: from one (included) until the other."""

    since: float
    until: float
    is_open: bool = False
    """Whether it has no end but now: a VM whose clock is ahead has events after that."""


class Vm(TypedDict):
    """One host of the report."""

    answered: bool
    error: str | None
    clock_offset_seconds: float | None
    """How far its clock is ahead of the controller's, when it answered; None where it did not."""
    archived_events: int
    problems: list[str]


class Event(TypedDict):
    """One event, with its parts by VM. What VMs tell otherwise is what most of them say, and C(differing) names it."""

    event_id: str
    event_type: str
    event_source: str | None
    description: str | None
    not_before: str | None
    duration_in_seconds: int | None
    resources_count: int
    outcome: str | None
    begins: str | None
    differing: list[str]
    vms: list[Part]


class Total(TypedDict):
    """A sum over parts: what is not known is counted, and never added as zero."""

    name: str
    events: int
    parts: int
    drained: int
    out_of_service_seconds: float | None
    """Of the VMs that were drained, as far as it is known; None where nothing is."""
    out_of_service_unknown: int
    failed: int


class Report(TypedDict):
    """All of a report; as JSON this is what programs get."""

    made_at: str
    since: str
    until: str
    vms: dict[str, Vm]
    events: list[Event]
    totals: dict[str, list[Total]]
    """By C(month), C(vm), C(type), and C(all)."""


class Answers(NamedTuple):
    """What one host has answered, and what the archive has of it; each the result of a task, or None."""

    own: Any
    archived: Any


def window(since: Any, until: Any, month: Any, now: float) -> Window:
    """Return the time of the report: a month, or from one time until another, the last 31 days when neither is given. Raise WrongInput."""
    if plain_values.text(month):
        return _month(str(plain_values.text(month)))
    end = _moment("report_until", until, now)
    begin = _moment("report_from", since, end - DEFAULT_DAYS * 86400)
    if begin >= end:
        raise WrongInput(f"report_from ({timestamps.to_the_second(begin)}) must be before report_until ({timestamps.to_the_second(end)})")
    return Window(begin, end, is_open=until in (None, ""))


def _month(given: str) -> Window:
    found = MONTH.fullmatch(given)
    if not found or not 1 <= int(found[2]) <= 12 or int(found[1]) < 2000:
        raise WrongInput(f"report_month must be a month such as 2026-03, not {printable(given, 50)}")
    begin = datetime(int(found[1]), int(found[2]), 1, tzinfo=timezone.utc)
    return Window(begin.timestamp(), (begin + timedelta(days=32)).replace(day=1).timestamp())


def _moment(option: str, given: Any, default: float) -> float:
    # YAML makes dates of dates.
    text = given.isoformat() if hasattr(given, "isoformat") else plain_values.text(given)
    if not text:
        return default
    found = timestamps.parse(text)
    if found is None:
        raise WrongInput(f"{option} must be a date or a time in UTC, such as 2026-03-01, not {printable(given, 50)}")
    return found


def make(answers: Mapping[str, Answers], chosen: Window, now: float, event_id: str = "") -> Report:
    """Return the report of these hosts. C(event_id) is the beginning of an event's id, or empty for all."""
    vms: dict[str, Vm] = {}
    parts: list[Part] = []
    for host, given in answers.items():
        shown = printable(host, 120)
        found = [one for one in _parts(shown, given) if _is_within(one, chosen) and folded(one["event_id"]).startswith(folded(event_id))]
        parts += found
        vms[shown] = _vm(given, sum(one["archived"] for one in found))
    events = _events(parts)
    return {
        "made_at": timestamps.to_the_second(now),
        "since": timestamps.to_the_second(chosen.since),
        "until": timestamps.to_the_second(chosen.until),
        "vms": vms,
        "events": events,
        "totals": {
            "all": totals(parts, lambda part: "all"),
            "month": totals(parts, month),
            "vm": totals(parts, lambda part: part["vm"]),
            "type": totals(parts, lambda part: part["event_type"]),
        },
    }


def _parts(host: str, given: Answers) -> Iterable[Part]:
    """Return the parts of a host, each event once: its own word counts where it still has one."""
    found: dict[str, Part] = {}
    for answer, archived in ((given.archived, True), (given.own, False)):
        for entry in plain_values.items(plain_values.mapping(answer).get("entries"))[-HISTORY_ENTRIES:]:
            if part := read_part(host, entry, archived):
                found[folded(part["event_id"])] = part
    return found.values()


def _is_within(part: Part, chosen: Window) -> bool:
    """Return whether any of it lies in the time. One without times is of no time that could leave it out."""
    at = [moment for item in part["times"]["history"] if (moment := timestamps.parse(item["at"])) is not None]
    return not at or (max(at) >= chosen.since and (chosen.is_open or min(at) < chosen.until))


def is_answer(result: Any) -> bool:
    """Return whether a host, or its share of an archive, was read: a host that cannot be reached has a result, too."""
    found = plain_values.mapping(result)
    return "entries" in found and not found.get("failed")


def _vm(given: Answers, archived: int) -> Vm:
    own = plain_values.mapping(given.own)
    answered = is_answer(own)
    there, here = timestamps.parse(own.get("now")), timestamps.parse(own.get("answered_at"))
    told = plain_values.texts(own.get("problems"))
    archive = plain_values.mapping(given.archived)
    lost = [f"archive: {archive['msg']}"] if archive.get("msg") and not is_answer(archive) else []
    return {
        "answered": answered,
        "error": None if answered else printable(own.get("msg") or "no answer", LONGEST_TEXT),
        "clock_offset_seconds": round(there - here, 1) if answered and there is not None and here is not None else None,
        "archived_events": archived,
        "problems": [printable(one, LONGEST_TEXT) for one in [*told, *plain_values.texts(archive.get("problems")), *lost][:MOST_PROBLEMS]],
    }


def count_answered(report: Report) -> int:
    """Return how many VMs have answered."""
    return sum(vm["answered"] for vm in report["vms"].values())


def vms_of(event: Event) -> list[str]:
    """Return the VMs that have told of an event, each by the name that the controller has for it."""
    return [part["vm"] for part in event["vms"]]


def begins(part: Part) -> str | None:
    """Return when a VM knew of an event."""
    return part["times"]["history"][0]["at"] if part["times"]["history"] else None


def newest_of_each(events: Sequence[Event], most: int) -> list[Event]:
    """Return, in their order, the events that are among the newest of any VM by its own times: no VM makes another's old events newer than its last ones."""
    own: dict[str, list[tuple[str, int]]] = {}
    for number, event in enumerate(events):
        for part in event["vms"]:
            own.setdefault(part["vm"], []).append((begins(part) or "", -number))
    kept = {-number for of_vm in own.values() for _at, number in sorted(of_vm, reverse=True)[:most]}
    return [event for number, event in enumerate(events) if number in kept]


def month(part: Part) -> str:
    """Return the month in which a VM knew of an event."""
    return (begins(part) or "unknown")[:7]


def _events(parts: Sequence[Part]) -> list[Event]:
    """Return the events, the newest first. Each VM speaks for its own part alone."""
    of_event: dict[str, list[Part]] = {}
    for part in parts:
        of_event.setdefault(folded(part["event_id"]), []).append(part)
    return sorted(map(_event, of_event.values()), key=lambda event: (event["begins"] or "", event["event_id"]), reverse=True)


TOLD = ("event_id", "event_type", "event_source", "description", "not_before", "duration_in_seconds", "resources_count")


def _event(parts: list[Part]) -> Event:
    told = {key: Counter(part[key] for part in parts).most_common() for key in TOLD}  # type: ignore[literal-required]
    outcomes = Counter(part["times"]["outcome"] for part in parts if part["times"]["outcome"]).most_common(1)
    event: Any = {key: found[0][0] for key, found in told.items()}
    event["outcome"] = outcomes[0][0] if outcomes else None
    # In the middle of what they tell: the first or the last could be anything that one of them has made up.
    found_begins = sorted(at for part in parts if (at := begins(part)))
    event["begins"] = found_begins[len(found_begins) // 2] if found_begins else None
    event["differing"] = [key for key, found in told.items() if len(found) > 1]
    event["vms"] = sorted(parts, key=lambda part: part["vm"])
    found: Event = event
    return found


def totals(parts: Sequence[Part], key: Any) -> list[Total]:
    """Return a sum for each value of the key."""
    groups: dict[str, list[Part]] = {}
    for part in parts:
        groups.setdefault(key(part), []).append(part)
    return [_total(name, of_name) for name, of_name in sorted(groups.items())]


def _total(name: str, parts: Sequence[Part]) -> Total:
    drained = [part["times"]["out_of_service_seconds"] for part in parts if part["times"]["phases"]["draining"]]
    known = [seconds for seconds in drained if seconds is not None]
    return {
        "name": name,
        "events": len({folded(part["event_id"]) for part in parts}),
        "parts": len(parts),
        "drained": len(drained),
        "out_of_service_seconds": round(sum(known), 3) if known else None,
        "out_of_service_unknown": len(drained) - len(known),
        "failed": sum(part["phase"] == "failed" for part in parts),
    }
