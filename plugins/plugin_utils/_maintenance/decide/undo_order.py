# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Several events on one VM: nothing is put back while another event needs it drained, then the newest drain first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config.settings import Settings
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.state.event_state import Case, Part

SHOWN = 5


def arrange(cases: Iterable[Case], settings: Settings) -> None:
    """Let undo and recovery wait where they must."""
    by_host: dict[str, list[tuple[Case, Part]]] = defaultdict(list)
    for case in cases:
        for part in case.parts:
            if part.intent != "none":
                by_host[part.host.name].append((case, part))
    for found in by_host.values():
        _one_host(found)
        _held_out(found)
        _overdue(found, settings)


def _keeps(part: Part) -> bool:
    if part.intent in ("drain", "verify"):
        return True
    # A part whose recovery waits for its retry needs nothing; it only has not been put back yet.
    return part.intent == "stay" and part.holds_changes and not part.over


def _one_host(found: list[tuple[Case, Part]]) -> None:
    going_back = [(case, part) for case, part in found if part.intent in ("undo", "recover")]
    if not going_back:
        return
    keepers = [case.event.event_id for case, part in found if _keeps(part)]
    if keepers:
        words = ", ".join(keepers[:SHOWN]) + (f" and {len(keepers) - SHOWN} more" if len(keepers) > SHOWN else "")
        for _case, part in going_back:
            part.reason = f"kept drained for {words}"
            part.intent = "kept"
        return
    # What a later drain found and would put back is what the earlier one left: only newest first ends where it began.
    changed = sorted((part for _case, part in found if part.holds_changes), key=_order, reverse=True)
    blocking = next((part for part in changed if not (part.asleep and part.intent == "stay")), None)
    for case, part in going_back:
        if part is not blocking:
            part.intent = "kept"
            part.reason = f"{case.event.event_id} is put back after what was drained later"


def _order(part: Part) -> int:
    return part.record.order if part.record else 0


def _held_out(found: list[tuple[Case, Part]]) -> None:
    """While a VM is out for one event, its health says nothing about the recovery from another."""
    if not any(part.intent == "finish" for _case, part in found):
        return
    out_for = [case for case, part in found if part.holds_changes or part.intent == "drain"]
    for case, part in found:
        other = next((other for other in out_for if other is not case), None)
        if part.intent == "finish" and other is not None:
            part.held_out = True
            if part.reason:
                part.reason = f"not in service yet: it is out for {other.event.event_id}"


def _overdue(found: list[tuple[Case, Part]], settings: Settings) -> None:
    """An undo that does not come to its end is reported; it is tried again all the same."""
    for _case, part in found:
        since = part.record.last("failed", "held") if part.record else None
        if part.intent == "undo" and since is not None and part.look_now - since > settings.undo_seconds + settings.retry_pause:
            words = "; ".join(f"{method.method}: {method.error}" for method in part.record.methods if method.error) if part.record else ""
            part.failed = f"what a failed drain changed could not be put back ({words or 'no reason given'})"
