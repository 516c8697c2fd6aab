# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What role drain takes one after the other: the methods of a drain, and in reverse those of an undo. Pure; the tasks only do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from ..._core import plain_values
from ..records import reports
from ..records.findings import Place, data, read_haproxy
from ..records.matching import (
    Recorded,
    acts_elsewhere,
    covered,
    match,
    read_recorded,
    server_of,
)
from ..settings.configured import HAPROXY, WSFC, Configured, is_local, read_configured

# Phases in which a drain is kept as it is recorded, whatever the settings say by now.
SETTLED = ("drained", "approved", "started")


class MethodOrder(TypedDict):
    """One method, as role drain takes it."""

    id: str
    kind: str
    where: str
    """own: by the VM's own record, there alone. controller: by the variables."""
    given: dict[str, Any]
    """Its options in the variables, without defaults."""
    options: dict[str, Any]
    """Its options in the record; empty where the variables rule."""
    override: dict[str, Any]
    """Options that come from the variables in any case."""
    outside: bool
    runs: bool
    """Whether there is anything to run."""
    ends: bool
    """Whether the method is undone when this order is."""
    report: str | None
    """What cannot be done here, and how a person does it."""


def drain_orders(record: Any, methods: Any, former: Any, host: str, system: str) -> list[MethodOrder]:
    """The methods of a drain in order: as recorded where the VM is drained already, else as configured."""
    recorded = read_recorded(record)
    present = [one for one in recorded if one.state != "undone"]
    entries = tuple(entry for entry in read_configured(methods, former) if not entry.former)
    if plain_values.mapping(record).get("phase") in SETTLED and present:
        return [_settled(one, recorded, entries, host, system) for one in present]
    known = {one.identifier: one for one in recorded}
    return [_configured(entry, known.get(entry.name), host, system) for entry in entries]


def _settled(one: Recorded, recorded: Sequence[Recorded], entries: Sequence[Configured], host: str, system: str) -> MethodOrder:
    if not one.well_named:
        return _step(one, report=reports.malformed(one, host))
    entry = match(one, recorded, entries, host)
    if not acts_elsewhere(one, system):
        return _step(one, where="own", options=one.options, override=_replicas(one, entry), given=entry.given if entry else {})
    if entry is None:
        return _step(one, report=reports.not_checked(one, host))
    return _step(one, given=entry.given, outside=entry.outside, report=_another_target(one, entry, host))


def _configured(entry: Configured, present: Recorded | None, host: str, system: str) -> MethodOrder:
    one = Recorded(entry.name, entry.kind, "new", entry.outside, {}, None)
    if present is None or (present.state == "undone" and present.kind == entry.kind):
        return _step(one, where=_where(entry, system), given=entry.given, override=_replicas(one, entry))
    if present.kind != entry.kind:
        return _step(one, report=reports.another_kind(present, entry))
    if is_local(entry.kind, system) and not entry.outside and not present.outside:
        # It goes on with the options that its undo will have.
        options = {} if present.untouched else present.options
        return _step(one, where="own", given=entry.given, options=options, override=_replicas(present if options else one, entry))
    return _step(one, where=_where(entry, system), given=entry.given, report=None if present.untouched else _another_target(present, entry, host))


def _where(entry: Configured, system: str) -> str:
    return "own" if is_local(entry.kind, system) and not entry.outside else "controller"


def _another_target(one: Recorded, entry: Configured, host: str) -> str | None:
    finding = read_haproxy(one.before) if one.kind == HAPROXY and not one.untouched else None
    if one.kind != HAPROXY or one.untouched or (finding and (not finding.places or covered(finding, entry, host))):
        return None
    return reports.not_checked(one, host)


def _replicas(one: Recorded, entry: Configured | None) -> dict[str, Any]:
    """For wsfc, what is asked of other hosts: which they are, and which availability groups, the variables say."""
    if one.kind != WSFC:
        return {}
    given = entry.given if entry else {}
    groups = plain_values.texts(given.get("availability_groups"))
    recorded = plain_values.texts(one.options.get("availability_groups")) if one.options else groups
    return {"replicas": dict(plain_values.mapping(given.get("replicas"))), "availability_groups": [group for group in recorded if group in groups]}


def undo_orders(record: Any, methods: Any, former: Any, host: str, system: str, wrong: Mapping[int, str] | None = None) -> list[MethodOrder]:
    """What undoes a drain, the last method first. C(wrong) has what is wrong with former entries (former.py): they are reported and not run."""
    recorded = read_recorded(record)
    entries = read_configured(methods, former, wrong)
    orders: list[MethodOrder] = []
    for one in reversed([one for one in recorded if one.state != "undone"]):
        orders += [_with_reason(order, wrong or {}) for order in _undo(one, recorded, entries, host, system)]
    return orders


def _with_reason(order: MethodOrder, wrong: Mapping[int, str]) -> MethodOrder:
    """A report with what is wrong in drain_methods_former: mostly it is why the method was not found there."""
    if order["report"] is None or order["where"] == "own" or any(words in order["report"] for words in wrong.values()):
        return order
    return {**order, "report": " ".join((order["report"], *wrong.values()))}


def _undo(one: Recorded, recorded: Sequence[Recorded], entries: Sequence[Configured], host: str, system: str) -> list[MethodOrder]:
    if not one.well_named:
        return [_step(one, report=reports.malformed(one, host))]
    if one.untouched:
        return [_step(one, where="own", runs=False)]
    if not acts_elsewhere(one, system):
        return [_step(one, where="own", options=one.options, override={"replicas": {}} if one.kind == WSFC else {})]
    entry = match(one, recorded, entries, host)
    if entry is not None and entry.problem is not None:
        return [_step(one, report=reports.wrong_entry(one, entry, host))]
    if one.kind == HAPROXY:
        return _undo_haproxy(one, entry, entries, host)
    if entry is None:
        return [_step(one, report=reports.not_configured(one, host))]
    return [_step(one, given=entry.given, runs=not entry.by_hand, outside=entry.outside)]


def _undo_haproxy(one: Recorded, entry: Configured | None, entries: Sequence[Configured], host: str) -> list[MethodOrder]:
    """One step for each entry that names a part of what was found; what none of them names is reported."""
    finding = read_haproxy(one.before)
    if entry is not None and entry.by_hand and not plain_values.texts(entry.given.get("balancers")):
        return [_step(one, runs=False)]
    if finding is None:
        return [_step(one, report=reports.malformed(one, host))]
    more = [other for other in entries if other is not entry and _may_be_part(one, other)]
    left = set(finding.places)
    orders: list[MethodOrder] = []
    for other in [*([entry] if entry else []), *more]:
        places = [place for place in covered(finding, other, host) if place in left]
        left.difference_update(places)
        if places and not other.by_hand:
            orders.append(_step(one, given=_narrowed(other, places, host), outside=other.outside, ends=False))
    # What was in maintenance before stays so: nothing of it has to come back.
    missing = [place for place in finding.places if place in left and place.state != "maint"]
    report = reports.unnamed_places(finding.server, missing, host) if missing else None
    if not orders:
        return [_step(one, runs=False, report=report)]
    orders[-1]["ends"], orders[-1]["report"] = report is None, report
    return orders


def _may_be_part(one: Recorded, other: Configured) -> bool:
    """Whether an entry may stand for a part of what was found: a former one, or, where names say nothing, any."""
    if other.kind != HAPROXY:
        return False
    if other.named:
        return other.former and other.name == one.identifier
    return other.former or one.has_default_name


def _narrowed(entry: Configured, places: Sequence[Place], host: str) -> dict[str, Any]:
    """The options of an entry, for these places only."""
    return {
        **entry.given,
        "server": server_of(entry, host),
        "balancers": list(dict.fromkeys(place.balancer for place in places)),
        "backends": list(dict.fromkeys(place.backend for place in places)),
    }


def _step(
    one: Recorded,
    *,
    where: str = "controller",
    given: Mapping[str, Any] | None = None,
    options: Mapping[str, Any] | None = None,
    override: Mapping[str, Any] | None = None,
    outside: bool | None = None,
    runs: bool = True,
    ends: bool = True,
    report: str | None = None,
) -> MethodOrder:
    return {
        "id": one.identifier,
        "kind": one.kind if one.well_named else "none",
        "where": where,
        "given": dict(given or {}),
        "options": dict(options or {}),
        "override": dict(override or {}),
        "outside": one.outside if outside is None else outside,
        # A report alone means that nothing is run; one beside something that is run says so by ends.
        "runs": runs and not (report is not None and ends),
        "ends": ends and report is None,
        "report": report,
    }


def finding_of(before: Any, order: Mapping[str, Any], host: str) -> Any:
    """What a record says that was found, as far as a step may use it; read again after each write, because the VM answers it."""
    if order.get("where") == "own":
        return data(before) if isinstance(before, Mapping) else {}
    if order.get("kind") != HAPROXY:
        return data(before) if isinstance(before, Mapping) else {}
    finding = read_haproxy(before)
    entry = next(iter(read_configured([{"method": HAPROXY, **plain_values.mapping(order.get("given"))}], [])), None)
    if finding is None or entry is None:
        return {}
    return {"server": server_of(entry, host), "balancers": type(finding)(finding.server, covered(finding, entry, host)).values()["balancers"]}
