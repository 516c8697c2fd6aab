# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""A report as one HTML file that needs no network. Everything in it passes through Jinja's escaping: nothing that a VM or an event says becomes markup."""

from __future__ import annotations

import functools
import pathlib
from collections.abc import Callable, Sequence
from typing import Any

import jinja2

from .._core.shares import in_turn, places
from .._core.short_forms import ending
from .lanes import draw
from .parts import Part
from .report import Event, Report, Total, count_answered, month, newest_of_each, vms_of
from .tables import known, notice, out_of_service

TEMPLATE = pathlib.Path(__file__).with_name("page.html.j2")
# Lanes that are drawn at once of an event, and in the whole page, and rows of its tables of times: the page stays below 5 MB.
AT_ONCE, MOST_LANES, MOST_ROWS = 12, 1000, 2000
# Events of the page, and of one VM where the report has more than one; and rows of sums.
MOST_EVENTS, OF_ONE_VM, MOST_SUMS = 600, 50, 20


def page(report: Report) -> str:
    """Return the page."""
    lanes, rows, events = MOST_LANES, MOST_ROWS, report["events"]
    kept = in_turn(newest_of_each(events, OF_ONE_VM if len(report["vms"]) > 1 else MOST_EVENTS), vms_of, MOST_EVENTS)
    drawn: dict[str, tuple[Event, Any, Any]] = {}
    # First what comes first of each VM: one that has made up hundreds of events leaves lanes and rows for the others.
    for _place, event in sorted(zip(places(kept, vms_of), kept), key=lambda one: one[0]):
        shown, listed = event["vms"][:lanes], event["vms"][:rows]
        lanes, rows = lanes - len(shown), rows - len(listed)
        drawn[event["event_id"]] = (event, draw(event, shown) if shown else None, listed)
    values = {"report": report, "drawings": [drawn[event["event_id"]] for event in kept], "left": len(events) - len(kept), "at_once": AT_ONCE + 3}
    parts = [part for event in events for part in event["vms"]]
    values["types"] = _few(report["totals"]["type"], parts, lambda part: part["event_type"])
    values["months"] = _few(report["totals"]["month"], parts, month)
    return _template().render({**values, "answered": count_answered(report)})


def _few(totals: Sequence[Total], parts: Sequence[Part], key: Callable[[Part], str]) -> list[Total]:
    """Return some of the sums: a VM may make up hundreds of types and months."""
    vms: dict[str, set[str]] = {}
    for part in parts:
        vms.setdefault(key(part), set()).add(part["vm"])
    return in_turn(totals, lambda total: vms[total["name"]], MOST_SUMS)


@functools.cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters.update(known=known, notice=notice, out=out_of_service, ending=ending, clock=_clock)
    return environment.from_string(TEMPLATE.read_text(encoding="utf-8"))


def _clock(at: str | None) -> str:
    """Return a time without its date and its parts of a second."""
    return "unknown" if at is None else at[11:19]
