# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the looks at all VMs found, in the form that the plan takes."""

from __future__ import annotations

import typing as t
from collections.abc import Iterable, Mapping

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.observe import expected_identity
from ansible_collections.maintenance.azure.plugins.plugin_utils._settings.facts import why_refused

NO_LOOK = "it was not looked at"


def _observation(host: str, variables: Mapping[str, t.Any], before: Mapping[str, t.Any]) -> dict[str, t.Any]:
    about = variables.get("__respond_host") or {}
    look = variables.get("observe_look")
    refused = why_refused(variables.get("ansible_facts"))
    if refused:
        # Neither its settings nor what was seen with them count; what it is in capacity groups says the inventory.
        return _refused(host, refused, before)
    found: dict[str, t.Any] = {
        "host": host,
        "state": "failed",
        "error": NO_LOOK,
        "look": None,
        "methods": list(about.get("methods") or []),
        "labels": dict(about.get("labels") or {}),
        "outside": bool(about.get("outside")),
        "targets": list(about.get("targets") or []),
        "expected_identity": expected_identity.of_variables(variables),
        "listed_before": _listed(before),
        "could_not_approve": _not_approved(variables.get("approve_result")),
        "approved": _approved(variables.get("approve_result")),
        "acknowledged": _acknowledged(variables.get("__respond_notes"), before),
        # What this run saw of the VM earlier: one that falls silent may come back, and what its records said still holds.
        "reached_before": before.get("state") == "ok" or bool(before.get("reached_before")),
        "last_look": before.get("look") or before.get("last_look"),
    }
    if about.get("excluded"):
        found.update(state="excluded", error=None)
    elif not isinstance(look, Mapping):
        pass
    elif look.get("unreachable"):
        found.update(state="unreachable", error=str(look.get("msg") or "no reason given"))
    elif look.get("failed") or "events" not in look:
        found.update(error=str(look.get("msg") or NO_LOOK))
    else:
        found.update(state="ok", error=None, look=look)
    return found


def _refused(host: str, why: str, before: Mapping[str, t.Any]) -> dict[str, t.Any]:
    return {
        "host": host,
        "state": "failed",
        "error": why,
        "look": None,
        "methods": [],
        "labels": {},
        "outside": False,
        "could_not_approve": [],
        "approved": [],
        "acknowledged": [],
        "reached_before": before.get("state") == "ok" or bool(before.get("reached_before")),
        "last_look": before.get("look") or before.get("last_look"),
        "refused": True,
    }


def _listed(before: Mapping[str, t.Any]) -> list[t.Any] | None:
    """What its document listed in the look before, in the same run: documents that differ are read once more."""
    look = before.get("look") if before.get("state") == "ok" else None
    return list(look["events"]) if isinstance(look, Mapping) and "events" in look else None


def _not_approved(result: t.Any) -> list[str]:
    """Events that this VM was asked to approve in this run, and could not."""
    if not isinstance(result, Mapping) or result.get("state") == "approved":
        return []
    return [str(event_id) for event_id in result.get("event_ids") or []]


def _approved(result: t.Any) -> list[str]:
    """Events that this VM was asked to approve in this run, and says that it has. What it was not asked for it cannot answer."""
    if not isinstance(result, Mapping) or result.get("state") != "approved":
        return []
    said = {str(event_id).strip().lower() for event_id in result.get("approved") or []}
    return [str(event_id) for event_id in result.get("event_ids") or [] if str(event_id).strip().lower() in said]


def _acknowledged(notes: t.Any, before: Mapping[str, t.Any]) -> list[str]:
    """Events for which this VM has said in this run, before the last look at it, that it is claimed.

    What was given back, or was asked for again without an answer, is acknowledged no more: a claim may be made long after its answer was
    given up, between the looks at two VMs, and a look that came before it proves nothing.
    """
    found = {str(event_id) for event_id in before.get("acknowledged") or []}
    results = notes.get("results") if isinstance(notes, Mapping) else None
    for result in results or []:
        step = result.get("__respond_each") or {}
        if step.get("act") in ("claim", "release"):
            found.discard(str(step.get("event_id")).lower())
        if step.get("act") == "claim" and not result.get("failed") and not result.get("unreachable") and "claims" in result:
            found.add(str(step.get("event_id")).lower())
    return sorted(found)


def observations(
    hosts: Iterable[str],
    hostvars: Mapping[str, Mapping[str, t.Any]],
    before: Iterable[Mapping[str, t.Any]] = (),
    looked_at: Iterable[str] | None = None,
) -> list[dict[str, t.Any]]:
    """One observation for each host, in the order given. Hosts that take no part any more are shown as they were seen before."""
    earlier = {str(one["host"]): one for one in before}
    names = [str(host) for host in hosts]
    # Reading a host's variables is what costs: a fleet has many more hosts than take part.
    anew = set(names) if looked_at is None else {str(host) for host in looked_at} | (set(names) - set(earlier))
    return [_observation(name, hostvars[name], earlier.get(name, {})) if name in anew else _resting(earlier[name]) for name in names]


def _resting(before: Mapping[str, t.Any]) -> dict[str, t.Any]:
    """What was seen earlier is not what is: it shows who the VM is and what was done on it, and no event that is listed now."""
    if before.get("state") != "ok":
        return dict(before)
    return {**before, "state": "resting", "look": None, "last_look": {**before["look"], "events": []}, "reached_before": True}


class FilterModule:
    """Filters for role respond."""

    def filters(self) -> dict[str, t.Callable[..., t.Any]]:
        return {"observations": observations}
