# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the looks at all VMs found, in the form that the plan takes."""

from __future__ import annotations

import typing as t
from collections.abc import Iterable, Mapping

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.observe import expected_identity
from ansible_collections.maintenance.azure.plugins.plugin_utils._settings.facts import why_refused

# What maintenance_act returns beside an observation.
ACT_KEYS = ("asked", "results")
# Asked for by a task that does not say what it asked for.
EVERYTHING: Mapping[str, t.Any] = {"act": "everything"}
NO_LOOK = "it was not looked at"


def _observation(host: str, variables: Mapping[str, t.Any], before: Mapping[str, t.Any]) -> dict[str, t.Any]:
    about = variables.get("__respond_host") or {}
    look = variables.get("observe_look")
    refused = why_refused(variables.get("ansible_facts"))
    if refused:
        # Neither its settings nor what was seen with them count; what it is in capacity groups says the inventory.
        return _refused(host, refused, before)
    acts = _acts(variables, before)
    approved, could_not_approve = _approvals(acts, before)
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
        "could_not_approve": could_not_approve,
        "approved": approved,
        "acknowledged": _acknowledged(acts, before),
        "answered": _answered(variables, before),
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
        found.update(state="ok", error=None, look={key: value for key, value in look.items() if key not in ACT_KEYS})
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


def _acts(variables: Mapping[str, t.Any], before: Mapping[str, t.Any]) -> list[tuple[Mapping[str, t.Any], Mapping[str, t.Any] | None]]:
    """Return what was asked of a VM since the last observation, each with its answer; None where none came that fits.

    What was asked says the controller's own list of the turn, so that a VM that hangs or lies is known not to have answered.
    """
    taken = variables.get("__respond_split")
    if not isinstance(taken, Mapping):
        # Role gate asks for leases only, and by one register.
        acted = variables.get("__respond_acted")
        return _answers(acted) if isinstance(acted, Mapping) else [] if acted is None else [(EVERYTHING, None)]
    asked = taken.get("on_vm") or []
    if not asked or taken.get("turn") in (before.get("answered") or []):
        return []
    for acted in (variables.get("observe_look"), variables.get("__respond_acted")):
        pairs = _answers(acted) if isinstance(acted, Mapping) and not acted.get("skipped") else []
        if len(pairs) == len(asked) and all(want.get("turn") == taken.get("turn") for want, _got in pairs):
            return pairs
    return [(want, None) for want in asked]


def _answers(acted: Mapping[str, t.Any]) -> list[tuple[Mapping[str, t.Any], Mapping[str, t.Any] | None]]:
    """Return what one run of maintenance_act was asked for, each with its answer; EVERYTHING without one where none fits."""
    if acted.get("skipped"):
        return []  # nothing was asked
    asked, results = acted.get("asked"), acted.get("results") or []
    # A task that was given up, at its time limit, does not say what it asked.
    if acted.get("unreachable") or not isinstance(asked, list) or not isinstance(results, list) or len(asked) != len(results):
        return [(EVERYTHING, None)]
    pairs = list(zip(asked, results))
    if not all(isinstance(got, Mapping) and want["act"] == got.get("act") for want, got in pairs):
        return [(EVERYTHING, None)]
    return pairs


def _approvals(acts: Iterable[tuple[Mapping[str, t.Any], Mapping[str, t.Any] | None]], before: Mapping[str, t.Any]) -> tuple[list[str], list[str]]:
    """Return the events that this VM was asked to approve in this run and says that it has, and those that it could not.

    What it was not asked for it cannot answer, and without an answer it could not: the next VM is asked.
    """
    approved, failed, asked_any = [], [], False
    for asked, result in acts:
        if asked["act"] != "approve":
            continue
        asked_any = True
        said = {str(event_id).strip().lower() for event_id in (result or {}).get("approved") or []}
        for event_id in map(str, asked.get("event_ids") or []):
            if result is None or result.get("failed"):
                failed.append(event_id)
            elif event_id.strip().lower() in said:
                approved.append(event_id)
    if asked_any:
        return approved, failed
    return [str(one) for one in before.get("approved") or []], [str(one) for one in before.get("could_not_approve") or []]


def _acknowledged(acts: Iterable[tuple[Mapping[str, t.Any], Mapping[str, t.Any] | None]], before: Mapping[str, t.Any]) -> list[str]:
    """Return the events for which this VM has said in this run, before the last look at it, that it is claimed.

    What was given back, or was asked for again without an answer, is acknowledged no more: a claim may be made long after its answer was
    given up, between the looks at two VMs, and a look that came before it proves nothing.
    """
    found = {str(event_id) for event_id in before.get("acknowledged") or []}
    for asked, result in acts:
        if asked is EVERYTHING:
            return []
        event_id = str(asked.get("event_id")).lower()
        if asked["act"] in ("claim", "release"):
            found.discard(event_id)
        if asked["act"] == "claim" and result is not None and not result.get("failed") and "claims" in result:
            found.add(event_id)
    return sorted(found)


def _answered(variables: Mapping[str, t.Any], before: Mapping[str, t.Any]) -> list[str]:
    """Return the turns whose answers were read: those of this run and a few before."""
    taken = variables.get("__respond_split")
    turn = taken.get("turn") if isinstance(taken, Mapping) else None
    read = [str(one) for one in before.get("answered") or []]
    return read if not turn or turn in read else [*read, str(turn)][-4:]


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
