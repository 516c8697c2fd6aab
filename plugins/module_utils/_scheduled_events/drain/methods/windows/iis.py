# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""Method iis: stop sites of IIS, wait until their connections are gone, then stop application pools. It puts back what ran."""

from __future__ import annotations

import typing as t

from ....core.types import Data, Values
from ....host.machine.machine import Machine
from ....host.machine.web_server import States, WebServer
from ..method import DRAINED, DRAINING, LOST, UNDOING, UNDONE, Answer, Method, MethodError, Option, Task
from ..pasted import quoted

UP = ("Started", "Starting", "Unknown")
STOPPED, STARTED = "Stopped", "Started"


class _Observed(t.NamedTuple):
    """What IIS has, of the sites and pools of one method."""

    sites: States
    pools: States


class IISMethod(Method):
    """Stop sites, and with their connections gone the application pools."""

    name = "iis"
    windows_modules: t.ClassVar[t.Sequence[str]] = tuple(f"microsoft.iis.{name}" for name in ("website", "website_info", "web_app_pool", "web_app_pool_info"))
    options: t.ClassVar[t.Mapping[str, Option]] = {
        "sites": Option("texts", required=True),
        "pools": Option("texts", default=[]),
        "connections": Option("whole", default=0),
    }

    def find(self, machine: Machine, task: Task) -> Data:
        seen = _observe(machine, task)
        # Asked for a state, the modules create what is not there.
        unknown = [f"site {name}" for name in task.listed("sites") if name not in seen.sites]
        unknown += [f"application pool {name}" for name in task.listed("pools") if name not in seen.pools]
        if unknown:
            raise MethodError(f"IIS on this VM has no {', '.join(unknown)}.")
        return {"sites": seen.sites, "pools": seen.pools}

    def begin(self, machine: Machine, task: Task) -> None:
        _server(machine).set_sites(_up(task.present["sites"]), "stopped")

    def check(self, machine: Machine, task: Task) -> Answer:
        seen = _observe(machine, task)
        back = _up(seen.sites)
        if back:
            return Answer(LOST, f"started again: {', '.join(back)}")
        left = _busy(_server(machine).connections(), seen.sites, int(task.options["connections"]))
        if not left:
            # Now, and not in the beginning: a pool that stops ends what its sites are still answering.
            pools = _up(seen.pools)
            if pools:
                _server(machine).set_pools(pools, "stopped")
                seen = _observe(machine, task)
            left = [f"still stopping: {name}" for name in _other_than(STOPPED, seen)]
        return Answer(DRAINING, ", ".join(left)) if left else Answer(DRAINED)

    def undo(self, machine: Machine, task: Task) -> Answer:
        ran = _Observed(_finding(task, "sites"), _finding(task, "pools"))
        if not ran.sites and not ran.pools:
            return Answer(UNDONE)
        seen = _ran_before(_observe(machine, task), ran)
        pools, sites = _stopped(seen.pools), _stopped(seen.sites)
        _server(machine).set_pools(pools, "started")
        _server(machine).set_sites(sites, "started")
        if pools or sites:
            seen = _ran_before(_observe(machine, task), ran)
        missing = _other_than(STARTED, seen)
        return Answer(UNDOING, f"not yet running: {', '.join(missing)}") if missing else Answer(UNDONE)

    def by_hand(self, finding: Values, options: Values) -> str:
        calls = [f"Start-WebAppPool -Name {name}" for name in _names(finding.get("pools"))]
        return "; ".join(calls + [f"Start-Website -Name {name}" for name in _names(finding.get("sites"))])


def _observe(machine: Machine, task: Task) -> _Observed:
    sites, pools = task.listed("sites"), task.listed("pools")
    return _Observed(_server(machine).sites(sites), _server(machine).pools(pools))


def _server(machine: Machine) -> WebServer:
    if machine.web_server is None:
        raise MethodError("there is no IIS on this system")
    return machine.web_server


def _up(states: t.Mapping[str, str]) -> list[str]:
    return [name for name, state in states.items() if state in UP]


def _names(states: t.Any) -> list[str]:
    """Return those that ran, as an operator may paste them."""
    given = states if isinstance(states, t.Mapping) else {}
    return [quoted(name, "NAME") for name, state in given.items() if str(state).capitalize() in UP]


def _stopped(states: t.Mapping[str, str]) -> list[str]:
    return [name for name, state in states.items() if state == STOPPED]


def _other_than(state: str, seen: _Observed) -> list[str]:
    sites = [f"site {name}" for name, present in seen.sites.items() if present != state]
    return sites + [f"application pool {name}" for name, present in seen.pools.items() if present != state]


def _busy(counts: t.Mapping[str, int] | None, sites: t.Iterable[str], allowed: int) -> list[str]:
    """Return what keeps the drain waiting, in words."""
    if counts is None:
        return ["Windows does not say how many connections there are (performance counters of W3SVC)"]
    busy = [(counts.get(site.lower(), 0), site) for site in sites]
    return [f"{count} connection(s) on site {site}" for count, site in busy if count > allowed]


def _finding(task: Task, key: str) -> States:
    """Return the recorded states of those that ran."""
    found = task.finding.get(key)
    if not isinstance(found, t.Mapping):
        raise MethodError(f"the record does not say which {key} ran before")
    return {name: state for name, state in found.items() if state in UP}


def _ran_before(seen: _Observed, ran: _Observed) -> _Observed:
    """Return those that ran before; a site or a pool that was deleted meanwhile is not created anew."""
    return _Observed(
        {name: state for name, state in seen.sites.items() if name in ran.sites}, {name: state for name, state in seen.pools.items() if name in ran.pools}
    )
