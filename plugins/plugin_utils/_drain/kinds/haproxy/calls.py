# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""What method haproxy asks of its load balancers and has them set, by the stage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .....module_utils._haproxy_left import ANY
from .....module_utils._scheduled_events.core.types import Data, Values
from ...._core import plain_values

READY, DRAIN, MAINT = STATES = ("ready", "drain", "maint")


def calls(stage: str, method: Values) -> dict[str, Data]:
    """Return by balancer what module haproxy_server is given beside socket and server.

    Once recorded, the balancers and the backends are those of the record that the settings name, too: undo puts back there what was changed there.
    """
    options, finding = method["options"], method["finding"].get("balancers") or {}
    asked = {} if stage == "undo" or (stage != "find" and method.get("hands_over")) else asked_of(method, stage)
    return {balancer: _call(stage, method, asked, finding.get(balancer, {})) for balancer in finding or plain_values.texts(options.get("balancers"))}


def _call(stage: str, method: Values, asked: Mapping[str, int], known: Mapping[str, Values]) -> Data:
    options = method["options"]
    # HAProxy calls a server up as its maintenance ends, also one that it had called down: a standby in the backend of those that lead. So a check comes
    # first, unless it was up and the VM has gone on all the time.
    proven = [backend for backend, one in known.items() if stage == "undo" and not (method.get("untouched") and was_up(one))]
    return {
        "backends": list(known) or plain_values.texts(options.get("backends")),
        "states": dict(_states(stage, options, known)),
        "check_first": proven,
        "direction": "in" if stage == "undo" else "out",
        "sessions": plain_values.whole(options.get("sessions")) or 0,
        "keep": _concerned(asked, known) if stage == "check" else asked,
        "backups": plain_values.flag(options.get("backups_serve")) is True,
    }


def asked_of(method: Values, stage: str) -> dict[str, int]:
    """Return by backend how many other servers must take sessions. Where no time is left to wait for them, only a check asks: what it says is not approved."""
    given = plain_values.mapping(method.get("options")).get("servers_left", 1)
    by_backend = {str(backend): plain_values.whole(count) for backend, count in plain_values.mapping(given).items()}
    every = 1 if by_backend else plain_values.whole(given)
    found = {ANY: 1 if every is None else every, **{backend: count for backend, count in by_backend.items() if count is not None}}
    return found if any(found.values()) and (stage == "check" or not method.get("must")) else {}


def away(targets: Iterable[Values]) -> dict[str, dict[str, list[str]]]:
    """Return by balancer and backend, or ANY, the servers of VMs that are taken out at the same time."""
    found: dict[str, dict[str, list[str]]] = {}
    for target in targets:
        for balancer in plain_values.texts(target.get("balancers")):
            for backend in plain_values.texts(target.get("backends")) or (ANY,):
                found.setdefault(balancer, {}).setdefault(backend, []).append(plain_values.text(target.get("server")) or "")
    return found


def _states(stage: str, options: Values, known: Mapping[str, Values]) -> Iterable[tuple[str, str]]:
    for backend, one in known.items():
        # What was in maintenance before is not ours.
        if one.get("state") in (READY, DRAIN):
            if stage == "begin":
                yield backend, DRAIN
            elif stage == "undo":
                yield backend, str(one["state"])
        if stage == "check" and plain_values.flag(options.get("maintenance")):
            yield backend, MAINT


def _concerned(asked: Mapping[str, int], known: Mapping[str, Values]) -> dict[str, int]:
    """Return what is asked of a balancer that has had sessions for the server; what it had out before costs nothing."""
    unused = {backend: 0 for backend, one in known.items() if one.get("state") != READY or not was_up(one)}
    return {} if len(unused) == len(known) else {**asked, **unused}


def was_up(one: Values) -> bool:
    """Return whether HAProxy called a server up before the drain, by its part of the finding."""
    return plain_values.flag(one.get("up")) is True
