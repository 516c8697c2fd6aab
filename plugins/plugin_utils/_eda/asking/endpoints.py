# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The options of event source scheduled_events, checked before anything is asked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from ....module_utils._scheduled_events.core.argument_specs import API_VERSIONS
from ....module_utils._scheduled_events.core.types import Values
from ....module_utils._scheduled_events.imds.transport import split_endpoint

# Each of them has a thread while it is asked.
MOST_ENDPOINTS = 500
# What Azure's guide allows at most is one request a second.
SHORTEST_INTERVAL = 1.0
KEYS = ("endpoints", "interval", "repeat_seconds", "api_version", "connect_timeout", "request_timeout")
# A queue that ansible-rulebook adds to the options of a source, if the rulebook asks for it.
FOREIGN_KEYS = ("eda_feedback_queue",)


class Endpoint(NamedTuple):
    """One VM's endpoint, and who the VM is by the controller's word."""

    endpoint: str
    vm: Mapping[str, str | None]


class Options(NamedTuple):
    """The checked options."""

    endpoints: tuple[Endpoint, ...]
    interval: float
    repeat_seconds: float
    api_version: str
    connect_timeout: float
    request_timeout: float


def read_options(arguments: Values) -> Options:
    """Return the options of the source. Raise ValueError with what is wrong."""
    wrong = [str(key) for key in arguments if key not in KEYS + FOREIGN_KEYS]
    if wrong:
        raise ValueError(f"there is no option {', '.join(sorted(wrong))}; the options are {', '.join(KEYS)}")
    listed = arguments.get("endpoints")
    if not isinstance(listed, list) or not listed:
        raise ValueError("endpoints must be a list of entries with name and endpoint")
    if len(listed) > MOST_ENDPOINTS:
        raise ValueError(f"endpoints has {len(listed)} entries; the most are {MOST_ENDPOINTS}")
    endpoints = tuple(_endpoint(entry) for entry in listed)
    names = [endpoint.vm["name"] for endpoint in endpoints]
    twice = sorted({str(name) for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"endpoints names {', '.join(twice)} more than once")
    version = str(arguments.get("api_version", "auto"))
    if version not in ("auto", *API_VERSIONS):
        raise ValueError(f"api_version is {version}; it must be auto or one of {', '.join(API_VERSIONS)}")
    return Options(
        endpoints,
        _seconds(arguments, "interval", 5.0, SHORTEST_INTERVAL),
        _seconds(arguments, "repeat_seconds", 300.0, SHORTEST_INTERVAL),
        version,
        _seconds(arguments, "connect_timeout", 5.0, 0.1),
        _seconds(arguments, "request_timeout", 125.0, 0.1),
    )


def _endpoint(entry: Any) -> Endpoint:
    if not isinstance(entry, Mapping) or not set(entry) <= {"name", "endpoint", "resource_id"}:
        raise ValueError("each entry of endpoints must have name and endpoint, and may have resource_id")
    name, endpoint, resource_id = entry.get("name"), entry.get("endpoint"), entry.get("resource_id")
    if not isinstance(name, str) or not name.strip() or not isinstance(endpoint, str):
        raise ValueError("each entry of endpoints must have a name and an endpoint, both texts")
    # A wrong address is reported at once, not by each request.
    return Endpoint(split_endpoint(endpoint)[0], {"name": name, "vm_id": None, "resource_id": None if resource_id is None else str(resource_id)})


def _seconds(arguments: Values, key: str, default: float, least: float) -> float:
    try:
        seconds = float(arguments.get(key, default))
    except (TypeError, ValueError):
        seconds = math.nan
    # True for "not a number" as well.
    if not least <= seconds <= 86400:
        raise ValueError(f"{key} must be a number of seconds from {least:g} to 86400")
    return seconds
