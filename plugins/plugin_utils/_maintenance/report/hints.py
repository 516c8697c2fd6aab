# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""What status tells an operator who did not ask: there is a drain method for a service that runs. It decides nothing."""

from __future__ import annotations

from collections.abc import Iterable

from ....module_utils._scheduled_events.drain.registry import method_of_unit
from ..._core.short_forms import some
from ..core.model import Host

SHOWN_HOSTS = 6


def undrained_services(hosts: Iterable[Host]) -> list[str]:
    """Return a line for each service that runs on hosts whose settings do not have the drain method that is for it."""
    found: dict[str, list[str]] = {}
    for host in hosts:
        for unit in host.observation.services if host.observation else ():
            if method_of_unit(unit) not in host.methods:
                found.setdefault(unit, []).append(host.name)
    return [
        f"{unit} runs on {some(names, SHOWN_HOSTS)} without drain method {method_of_unit(unit)}, which is for it (docs/stateful.md). "
        "status_hints: false ends this hint."
        for unit, names in sorted(found.items())
    ]
