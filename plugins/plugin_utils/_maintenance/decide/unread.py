# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Decide whether a run fails for the VMs that could not be read, and group these by cause."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ....module_utils._scheduled_events.core.printable_text import printable
from ..._core.short_forms import some
from ..config.settings import Settings
from ..core.model import Host

# Causes in one sentence, VMs in one line, and characters of a cause.
SHOWN_CAUSES, SHOWN_HOSTS, LONGEST_CAUSE = 3, 6, 300
STATES = {"unreachable": "Unreachable", "failed": "Could not be read"}
NO_CAUSE = "no reason given"


def causes(hosts: Sequence[Host]) -> list[dict[str, Any]]:
    """Return the VMs that could not be read: C(state), C(hosts) and C(error) for each cause, that of most VMs first."""
    found: dict[tuple[str, str], list[str]] = {}
    for host in hosts:
        if host.state in STATES:
            cause = printable(host.error or "", LONGEST_CAUSE).strip().rstrip(".") or NO_CAUSE
            found.setdefault((host.state, cause), []).append(host.name)
    grouped = [{"state": state, "hosts": names, "error": error} for (state, error), names in found.items()]
    return sorted(grouped, key=lambda cause: -len(cause["hosts"]))


def lines(unread: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a line for each cause, with the names of its VMs."""
    found = [f"{STATES[cause['state']]}: {some(cause['hosts'], SHOWN_HOSTS)}: {cause['error']}." for cause in unread]
    return [*found, "Nothing is concluded about VMs that could not be read."] if found else []


def none_read(hosts: Sequence[Host]) -> str | None:
    """Return a sentence that no VM could be read in this run, with the causes, or None if one was, or the run has no VM."""
    asked = _asked(hosts)
    if hosts and not asked:
        return f"No VM was observed: all {len(hosts)} are left alone (respond_exclude) or retired (respond_retired)"
    if not asked or any(host.last_known for host in asked):
        return None
    found = causes(asked)
    shown = [f"{cause['error']} ({len(cause['hosts'])})" for cause in found[:SHOWN_CAUSES]]
    if len(found) > SHOWN_CAUSES:
        shown.append(f"{len(found) - SHOWN_CAUSES} other causes")
    if len(asked) == 1:
        return f"Could not read {asked[0].name}: {found[0]['error']}"
    return f"Could not read any of {len(asked)} VMs: {'; '.join(shown)}"


def unusable(hosts: Sequence[Host]) -> list[str]:
    """Return why the run fails for VMs that did answer. A reboot or a lost connection is no reason for such an answer, so a person must look at them."""
    names = [host.name for host in hosts if host.unusable]
    return [f"What {some(names, SHOWN_HOSTS)} answered is not usable, as no intact VM answers; nothing was done there: look at it"] if names else []


def failure(hosts: Sequence[Host], settings: Settings) -> str | None:
    """Return why the run fails for VMs that did not answer, or None. With C(allow_empty) all VMs may be switched off or left alone."""
    asked = _asked(hosts)
    read = [host for host in asked if host.last_known]
    all_off = all(host.state == "unreachable" for host in asked)
    if not read:
        return None if all_off and settings.allow_empty else none_read(hosts)
    wanted = math.ceil(len(asked) * settings.min_answered)
    if len(read) >= wanted:
        return None
    return f"Only {len(read)} of {len(asked)} VMs answered, and respond_min_answered ({settings.min_answered:g}) asks for {wanted}"


def _asked(hosts: Sequence[Host]) -> list[Host]:
    return [host for host in hosts if host.state not in ("excluded", "retired")]
