# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Entries of histories, as VMs answer with them."""

from __future__ import annotations

import random
from typing import Any

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.history import entry_of
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_schema import empty_record
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core import timestamps
from ansible_collections.maintenance.azure.plugins.plugin_utils._report.report import Answers

# 2026-03-03, 14:00 UTC.
START = 1772546400.0
NOW = START + 86400
COURSE = (
    ("noticed", 0),
    ("held", 5),
    ("draining", 60),
    ("drained", 100),
    ("approved", 110),
    ("started", 130),
    ("gone", 260),
    ("recovering", 270),
    ("recovered", 300),
)


def at(seconds: float) -> str:
    return timestamps.form(START + seconds)


def entry(event_id: str = "E1", course: Any = COURSE, begin: float = 0, **more: Any) -> dict[str, Any]:
    """Return the entry of an event; C(event) in C(more) replaces keys of the event."""
    record = empty_record(event_id)
    record["event"].update(
        {"event_type": "Reboot", "event_source": "Platform", "resources": ["web1"], "description": "Host maintenance", **more.pop("event", {})}
    )
    history = [{"phase": phase, "at": at(begin + seconds)} for phase, seconds in course]
    history[0]["not_before"] = at(begin + 900)
    for item in history:
        if item["phase"] == "held":
            item["why"] = "capacity group web is full"
    times = {"begun": at(begin + 61), "drained": at(begin + 100), "undoing": at(begin + 271), "undone": at(begin + 290)}
    methods = [
        {"id": "1-probe_file", "method": "probe_file", "state": "undone", "outside": False, "times": times},
        {"id": "2-haproxy", "method": "haproxy", "state": "undone", "outside": True, "times": times},
    ]
    record.update(phase=course[-1][0], history=history, methods=methods, outcome="completed", rule={"name": "everything else"}, **more)
    return entry_of(record)


def answer(*entries: dict[str, Any], offset: float = 0.0, problems: Any = ()) -> dict[str, Any]:
    return {"entries": list(entries), "problems": list(problems), "now": timestamps.form(NOW + offset), "answered_at": timestamps.form(NOW)}


def month(vms: int = 500, events_each: int = 2, together: int = 4) -> dict[str, Answers]:
    """Return a month of many VMs, in events that hit some of them together."""
    dice = random.Random(7)
    found: dict[str, list[dict[str, Any]]] = {f"web{number:03}": [] for number in range(1, vms + 1)}
    hosts = list(found)
    for number in range(vms * events_each // together):
        names = [hosts[(number * together + place) % vms] for place in range(together)]
        begin, kind = dice.random() * 27 * 86400, dice.choice(("Reboot", "Freeze", "Redeploy"))
        for host in names:
            course = tuple((phase, seconds * dice.uniform(0.8, 1.2) if seconds else 0) for phase, seconds in COURSE)
            course = tuple(zip((phase for phase, _seconds in COURSE), sorted(seconds for _phase, seconds in course)))
            about = {"event_type": kind, "resources": names}
            found[host].append(entry(f"{number:08X}-50BB-45BF-ADB3-D78B08F259B7", course, begin, event=about))
    return {host: Answers(answer(*entries, offset=dice.uniform(-1, 1)), None) for host, entries in found.items()}


def storm() -> dict[str, Answers]:
    """Return the storm of docs/fleet.md on six VMs: a live migration, a reboot and a redeploy within a quarter of an hour, and a seventh VM that is down."""
    found: dict[str, list[dict[str, Any]]] = {f"web{number}": [] for number in range(1, 7)}
    storm_of = (("Freeze", ["web1", "web2"], 0, 9), ("Reboot", ["web3"], 240, -1), ("Redeploy", ["web4"], 420, -1))
    for number, (kind, names, begin, seconds) in enumerate(storm_of):
        for place, host in enumerate(names):
            course = tuple((phase, second + 7 * place if second else 0) for phase, second in COURSE)
            about = {"event_type": kind, "resources": names, "duration_in_seconds": seconds}
            found[host].append(entry(f"{number:08X}-7A51-4C0E-9D0B-1E5B33F6A2C4", course, begin, event=about))
    answers = {host: Answers(answer(*entries), None) for host, entries in found.items()}
    return {**answers, "web7": Answers({"failed": True, "msg": "Connection timed out"}, None)}
