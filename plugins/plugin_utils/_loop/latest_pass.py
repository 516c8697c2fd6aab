# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The latest pass among those that hosts have registered, for plays that take over from the play that began it. A pure function of their variables."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, cast

from ...module_utils._scheduled_events.core.types import Data, Values
from . import pass_loop

# A pattern that matches no host. An empty list would match all of them.
NO_HOSTS = ["all", "!all"]
CUT_OFF = "the pass ended before its plan was carried out; run it again"
# Options of the command line that leave out tasks, and their values that leave out none.
LEAVE_OUT = {"tags": ("all",), "skip_tags": (), "start_at_task": None, "step": False, "subset": None}
# With these a playbook is only looked at, which needs no inventory.
LOOK_ONLY = ("syntax", "listhosts", "listtasks", "listtags")


def latest(registered: Values, refused: Collection[str] = ()) -> pass_loop.State | None:
    """Return the last state of the pass that began last, from what each host has registered; None where no host has a state.

    A host that left an earlier play still has the state of that time, or of an earlier pass of the same run of Ansible. C(refused) are hosts whose
    facts have settings, which could stand for a pass that began later: they do not say which is the latest, unless no other host has one.
    """
    states = _states(registered)
    trusted = [state for host, state in states.items() if host not in refused]
    newest = max(trusted or states.values(), key=lambda state: state["began"], default=None)
    return None if newest is None else last_of(newest, registered)


def last_of(known: pass_loop.State, registered: Values) -> pass_loop.State:
    """Return the last state of the same pass. No host has the secret of a pass, so no fact stands for its states."""
    same = (state for state in _states(registered).values() if _is_same(state, known))
    return max((known, *same), key=lambda state: state["number"])


def plan_of(state: pass_loop.State) -> Data:
    """Return the plan of the last state of a pass. One whose actions were not taken to the end fails the run."""
    plan = state["plan"]
    return plan if state["do"] == "end" else {**plan, "fails": [*plan["fails"], CUT_OFF]}


def looks_only(arguments: Values) -> bool:
    """Return whether the command line asks to show a playbook, and to run none of it."""
    return any(arguments.get(option) for option in LOOK_ONLY)


def left_out(arguments: Values) -> str:
    """Return the options of the command line, or of the configuration, that leave out tasks; empty without any."""
    given = {name.replace("subset", "limit"): arguments[name] for name, none in LEAVE_OUT.items() if arguments.get(name) not in (None, none)}
    shown = {name.replace("_", "-"): ",".join(value) if isinstance(value, (list, tuple)) else value for name, value in given.items()}
    words = [f"--{name}" if value is True else f"--{name} {value}" for name, value in shown.items()]
    return f" ({', '.join(words)})" if words else ""


def acting_hosts(registered: Values, refused: Collection[str] = ()) -> list[str]:
    """Return the pattern of the hosts that take part in the iterations of the latest pass."""
    state = latest(registered, refused)
    acting = [host for host in state["staying"] if host in registered] if state is not None and state["do"] != "end" else []
    return acting or NO_HOSTS


def all_hosts(registered: Values, refused: Collection[str] = ()) -> list[str]:
    """Return the pattern of the hosts of the latest pass, which may report for all. Those that are refused do only if there is no other."""
    state = latest(registered, refused)
    hosts = [host for host, one in _states(registered).items() if _is_same(one, state)] if state is not None else []
    return [host for host in hosts if host not in refused] or hosts or NO_HOSTS


def _states(registered: Values) -> dict[str, pass_loop.State]:
    return {host: cast("pass_loop.State", value) for host, value in registered.items() if _is_state(value)}


def _is_state(value: Any) -> bool:
    """Return whether a value has what is read of a state here. It may be a fact of a VM that takes no part, which must not stop the others."""
    if not isinstance(value, Mapping) or not value.keys() >= pass_loop.KEYS:
        return False
    numbers = all(isinstance(value[key], (int, float)) for key in ("began", "number"))
    hosts = isinstance(value["staying"], list) and all(isinstance(host, str) for host in value["staying"])
    return numbers and hosts and isinstance(value["request"], Mapping) and isinstance(value["request"].get("secret"), str)


def _is_same(state: pass_loop.State, other: pass_loop.State) -> bool:
    return state["request"]["secret"] == other["request"]["secret"]
