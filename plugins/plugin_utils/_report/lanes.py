# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The drawing of an event: a lane for Azure, for respond, for what is outside the VMs, and for each VM, on one axis of time. Numbers and words, no markup."""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .._maintenance.core import timestamps
from .._maintenance.core.timestamps import duration
from .parts import Part, Span
from .report import Event
from .tables import known

WIDTH = 1000.0
LANE, METHOD = 18.0, 5.0
# Of a lane, so that its drawing stays small.
MOST_BARS, MOST_METHODS, MOST_TICKS = 40, 6, 6
NARROWEST = 2.0
OPEN = ("recovered",)
# Seconds from when most of its VMs knew of an event to the times that its axis has. Azure announces nothing earlier.
FAR = 35 * 86400.0
# Seconds from which on the axis has dates.
LONG = 72000.0
# Reasons that a lane tells in words.
TOLD = 2


class Bar(NamedTuple):
    """One bar of a lane; its kind is a class of the style sheet, its text what a pointer shows."""

    kind: str
    x: float
    width: float
    y: float
    height: float
    text: str


class Lane(NamedTuple):
    """One lane, and in words what it shows."""

    name: str
    bars: list[Bar]
    height: float
    text: str


class Drawing(NamedTuple):
    """The lanes of one event, and what stands at the axis: places in per cent, and times."""

    lanes: list[Lane]
    ticks: list[tuple[float, str]]
    even: bool
    """Whether the axis is even; else long spans of time are drawn shorter than they are."""


class Axis:
    """Places of times. Where one span is far longer than the others together, or what a VM tells far shorter than the axis, each span has the logarithm
    of its length, so that the short ones are seen."""

    def __init__(self, of_vms: Iterable[Iterable[float]], near: float | None) -> None:
        # What a VM tells of another year makes the lanes of the others no narrower.
        told = [[at for at in times if near is None or abs(at - near) <= FAR] for times in of_vms]
        self.times = sorted({at for times in told for at in times}) or [0.0]
        spans = [later - earlier for earlier, later in zip(self.times, self.times[1:])]
        shortest = min((max(times) - min(times) for times in told if len(set(times)) > 1), default=0.0)
        self.even = not spans or (max(spans) <= 0.6 * sum(spans) and shortest >= sum(spans) / 20)
        widths = spans if self.even else [math.log1p(span) for span in spans]
        total = sum(widths) or 1.0
        self._places = [0.0]
        for width in widths:
            self._places.append(self._places[-1] + width / total * WIDTH)

    def place(self, at: float) -> float:
        """Return the place of one of its times; of a time far away that of the one beside it."""
        return round(self._places[min(bisect.bisect_left(self.times, at), len(self.times) - 1)], 1)

    def ticks(self) -> list[tuple[float, str]]:
        """Return some of the times, no two of them close to each other, as places in per cent."""
        found: list[tuple[float, str]] = []
        form = "%H:%M:%S" if self.times[-1] - self.times[0] < LONG else "%m-%d %H:%M"
        for at in self.times:
            place = round(self.place(at) / WIDTH * 100, 1)
            if not found or place - found[-1][0] >= 100 / MOST_TICKS:
                found.append((place, f"{timestamps.as_datetime(at):{form}}"))
        return found


def draw(event: Event, shown: Sequence[Part]) -> Drawing:
    """Return the drawing of an event with these of its VMs."""
    not_before = timestamps.parse(event["not_before"])
    axis = Axis([*map(_moments, event["vms"]), [] if not_before is None else [not_before]], timestamps.parse(event["begins"]))
    lanes = [_azure(event, axis, not_before), _respond(event["vms"], axis), *_outside(event["vms"], axis), *(_vm(part, axis) for part in shown)]
    return Drawing(lanes, axis.ticks(), axis.even)


def _moments(part: Part) -> list[float]:
    texts = [item["at"] for item in part["times"]["history"]] + [part["times"]["approving"], *part["times"]["phases"].values()]
    texts += [at for method in part["methods"] for at in method["times"].values()]
    return [at for text in texts if (at := timestamps.parse(text)) is not None]


def _times(parts: Sequence[Part], phase: str) -> list[float]:
    return sorted(at for part in parts if (at := timestamps.parse(part["times"]["phases"].get(phase))) is not None)


def _first(parts: Sequence[Part], phase: str) -> float | None:
    return next(iter(_times(parts, phase)), None)


def _last(parts: Sequence[Part], phase: str) -> float | None:
    return next(reversed(_times(parts, phase)), None)


def _middle(parts: Sequence[Part], phase: str) -> float | None:
    """Return when it was for most VMs: the first or the last time could be anything that one of them has made up."""
    found = _times(parts, phase)
    return found[len(found) // 2] if found else None


def clock(at: float | None) -> str:
    """Return a time of day, or that it is not known."""
    return "unknown" if at is None else f"{timestamps.as_datetime(at):%H:%M:%S}"


def _bar(axis: Axis, kind: str, begin: float | None, end: float | None, text: str, y: float = 0.0, height: float = LANE) -> list[Bar]:
    """Return a bar from one time to another; without the first there is none, and without the second it goes on to the end of the axis."""
    if begin is None:
        return []
    x, until = axis.place(begin), WIDTH if end is None else axis.place(end)
    width = max(round(until - x, 1), NARROWEST)
    return [Bar(kind, min(x, WIDTH - NARROWEST), width, y, height, f"{text}, {clock(begin)} to {clock(end)}" if end != begin else f"{text}, {clock(begin)}")]


def _azure(event: Event, axis: Axis, not_before: float | None) -> Lane:
    parts = event["vms"]
    noticed, started, gone = timestamps.parse(event["begins"]), _middle(parts, "started"), _middle(parts, "gone")
    begun = started if started is not None else _middle(parts, "approved")
    bars = _bar(axis, "notice", noticed, begun if begun is not None else gone, "announced")
    bars += _bar(axis, "impact", started, gone if gone is None or started is None or gone >= started else started, "started")
    bars += _bar(axis, "mark", not_before, not_before, "NotBefore")
    text = f"noticed {clock(noticed)}, NotBefore {clock(not_before)}, started {clock(started)}, gone {clock(gone)}"
    return Lane("Azure", bars, LANE, text)


def _respond(parts: Sequence[Part], axis: Axis) -> Lane:
    draining, drained, approved = _first(parts, "draining"), _last(parts, "drained"), _first(parts, "approved")
    recovering, recovered = _first(parts, "recovering"), _last(parts, "recovered")
    bars = _bar(axis, "draining", draining, drained, "drains") if drained is None or draining is None or drained >= draining else []
    bars += _bar(axis, "mark", approved, approved, "approved")
    bars += _bar(axis, "recovering", recovering, recovered, "recovers") if recovering is None or recovered is None or recovered >= recovering else []
    # One VM approves for all: its word, as such.
    by = next((f" by {part['approved_by']}, says {part['vm']}" for part in parts if part["approved_by"]), "")
    approval = f"approved {clock(approved)}{by}"
    return Lane("respond", bars, LANE, f"first drain {clock(draining)}, last drained {clock(drained)}, {approval}, last VM back {clock(recovered)}")


def _outside(parts: Sequence[Part], axis: Axis) -> list[Lane]:
    """Return the lane of what methods change outside the VMs, such as a balancer, where there is any."""
    found = [(part, method) for part in parts for method in part["methods"] if method["outside"]]
    if not found:
        return []
    bars = [one for part, method in found for one in _method(axis, method, 0.0, LANE, f"{part['vm']}: ")]
    return [Lane("balancer", bars[:MOST_BARS], LANE, "; ".join(dict.fromkeys(f"{part['vm']} by {method['id']}" for part, method in found[:MOST_METHODS])))]


def _vm(part: Part, axis: Axis) -> Lane:
    bars: list[Bar] = []
    history = part["times"]["history"][:MOST_BARS]
    why = {(reason["phase"], reason["at"]): reason["why"] for reason in part["reasons"]}
    for item, following in zip(history, [*history[1:], None]):
        begin, end = timestamps.parse(item["at"]), timestamps.parse(following["at"]) if following else None
        # What is over ends where it ended. What is not goes on.
        last = begin if following is None and item["phase"] in OPEN else end
        held = f": {reason}" if (reason := why.get((item["phase"], item["at"]))) else ""
        if begin is not None and (last is None or last >= begin):
            bars += _bar(axis, item["phase"], begin, last, f"{item['phase']}{held}")
    methods = part["methods"][:MOST_METHODS]
    for number, method in enumerate(methods):
        bars += _method(axis, method, LANE + 2 + number * METHOD, METHOD - 1, "")
    times = part["times"]
    reasons = "".join(f"; {reason['phase']}: {reason['why']}" for reason in part["reasons"][-TOLD:])
    text = f"{part['phase']}{reasons}; drain took {known(times['drain_seconds'])}, hit for {known(times['impact_seconds'])}"
    return Lane(part["vm"], bars, LANE + (2 + len(methods) * METHOD if methods else 0), f"{text}, out of service for {known(times['out_of_service_seconds'])}")


def _method(axis: Axis, method: Span, y: float, height: float, before: str) -> list[Bar]:
    """Return how long a method drained, stayed drained, and was undone."""
    begun, drained, undoing, undone = (timestamps.parse(method["times"][state]) for state in ("begun", "drained", "undoing", "undone"))
    steps = (
        ("draining", "drains", begun, drained),
        ("drained", "drained", drained, undoing if undoing is not None else undone),
        ("recovering", "undone", undoing, undone),
    )
    took = duration(drained - begun) if begun is not None and drained is not None and drained >= begun else "unknown"
    found: list[Bar] = []
    for kind, words, begin, end in steps:
        if begin is not None and (end is None or end >= begin):
            found += _bar(axis, kind, begin, end, f"{before}{method['id']} {words} (drain took {took})", y, height)
    return found
