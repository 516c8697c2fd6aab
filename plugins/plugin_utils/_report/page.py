# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""A report as one HTML file that needs no network. Everything in it passes through Jinja's escaping: nothing that a VM or an event says becomes markup."""

from __future__ import annotations

import functools
import pathlib
from typing import Any

import jinja2

from .._core.short_forms import ending
from .lanes import draw
from .report import Event, Report
from .tables import known, notice, out_of_service

TEMPLATE = pathlib.Path(__file__).with_name("page.html.j2")
# Lanes that are drawn at once of an event, and in the whole page, and rows of its tables of times: the page stays below 5 MB.
AT_ONCE, MOST_LANES, MOST_ROWS = 12, 1000, 2000


def page(report: Report) -> str:
    """Return the page."""
    lanes, rows = MOST_LANES, MOST_ROWS
    drawings: list[tuple[Event, Any, Any]] = []
    for event in report["events"]:
        shown, listed = event["vms"][:lanes], event["vms"][:rows]
        lanes, rows = lanes - len(shown), rows - len(listed)
        drawings.append((event, draw(event, shown) if shown else None, listed))
    values = {"report": report, "drawings": drawings, "at_once": AT_ONCE + 3, "answered": sum(vm["answered"] for vm in report["vms"].values())}
    return _template().render(values)


@functools.cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters.update(known=known, notice=notice, out=out_of_service, ending=ending, clock=_clock)
    return environment.from_string(TEMPLATE.read_text(encoding="utf-8"))


def _clock(at: str | None) -> str:
    """Return a time without its date and its parts of a second."""
    return "unknown" if at is None else at[11:19]
