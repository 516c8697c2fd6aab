# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""What role drain takes one after the other: the methods of a drain, and in reverse those of an undo. Pure; the tasks only do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypedDict

from ....module_utils._scheduled_events.core.types import Data, Values
from ....module_utils._scheduled_events.drain.methods.none import NoMethod
from ....module_utils._scheduled_events.drain.registry import METHODS, WINDOWS_METHODS
from ....module_utils._scheduled_events.journal.recorded import Recorded
from ..._core import plain_values
from ..kinds.findings import data
from ..kinds.kind import KindInParts
from ..kinds.registry import kind_of
from ..records import reports
from ..records.matching import acts_elsewhere, is_well_named, match, read_recorded
from ..settings import catalogue
from ..settings.configured import Configured, read_configured
from ..settings.validation import texts_of


class Reach(TypedDict, total=False):
    """What a method may know and reach beside its VM, as keys of an order; one that reaches nothing has none of them. The settings alone say it."""

    hosts: list[str]
    """Hosts of the inventory that are members of its cluster."""
    addresses: list[str]
    """Daemons that it may talk to beside those of its VM."""


def reach_of(name: str, kind: str, entries: Sequence[Configured]) -> Reach:
    """Return what the first entry of this name lets its method reach; nothing where it is of another kind."""
    entry = next((entry for entry in entries if entry.name == name), None)
    method = METHODS.get(kind) or WINDOWS_METHODS.get(kind)
    if entry is None or entry.kind != kind or method is None:
        return {}
    given, options = catalogue.flat(entry.given, catalogue.of_class(method.options))
    reached = [(about, value) for name, about in options.items() for value in texts_of(given.get(name, about.get("default")) or ())]
    hosts = [value for about, value in reached if about.get("hosts")]
    addresses = [value for about, value in reached if about.get("address")]
    found: Reach = {}
    if hosts:
        found["hosts"] = list(dict.fromkeys(hosts))
    if addresses:
        found["addresses"] = list(dict.fromkeys(addresses))
    return found


def members_of_orders(methods: Any, name_of: Callable[[str], str | None]) -> dict[str, str]:
    """Return the names in Azure of the hosts that the orders name; one that is not known is missing. C(name_of) tells it by the variables of a host."""
    hosts = [host for order in map(plain_values.mapping, plain_values.items(methods)) for host in plain_values.texts(order.get("hosts"))]
    names = {host: name_of(host) for host in dict.fromkeys(hosts)}
    return {host: name for host, name in names.items() if name is not None}


# Phases in which a drain is kept as it is recorded, whatever the settings say by now.
SETTLED = ("drained", "approved", "started")
# An option that names no host, by its type.
NOTHING: Values = {"mapping": {}, "options": {}, "texts": [], "text": ""}


class MethodOrder(Reach):
    """One method, as role drain takes it."""

    id: str
    kind: str
    where: str
    """own: by the VM's own record, there alone. controller: by the variables."""
    given: Data
    """Its options in the variables, without defaults."""
    override: Data
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
        return _with_reach([_settled(one, recorded, entries, host, system) for one in present], entries)
    known = {one.identifier: one for one in recorded}
    return _with_reach([_configured(entry, known.get(entry.name), host, system) for entry in entries], entries)


def _with_reach(orders: Iterable[MethodOrder], entries: Sequence[Configured]) -> list[MethodOrder]:
    return [{**order, **reach_of(order["id"], order["kind"], entries)} for order in orders]


def _settled(one: Recorded, recorded: Sequence[Recorded], entries: Sequence[Configured], host: str, system: str) -> MethodOrder:
    if not is_well_named(one):
        return _step(one, report=reports.malformed(one, host))
    entry = match(one, recorded, entries, host)
    if not acts_elsewhere(one, system):
        return _step(one, where="own", override=_asked(one, entry), given=entry.given if entry else {})
    if entry is None:
        return _step(one, report=reports.not_checked(one, host))
    return _step(one, given=entry.given, outside=entry.outside, report=_another_target(one, entry, host))


def _configured(entry: Configured, present: Recorded | None, host: str, system: str) -> MethodOrder:
    one = Recorded(entry.name, entry.kind, outside=entry.outside)
    if present is None or (present.state == "undone" and present.kind == entry.kind):
        return _step(one, where=_where(entry, system), given=entry.given, override=_asked(one, entry))
    if present.kind != entry.kind:
        return _step(one, report=reports.another_kind(present, entry))
    if _where(entry, system) == "own" and not present.outside:
        # It goes on with the options that its undo will have.
        recorded = bool(present.options) and not present.found_nothing
        return _step(one, where="own", given=entry.given, override=_asked(present if recorded else one, entry))
    return _step(one, where=_where(entry, system), given=entry.given, report=None if present.found_nothing else _another_target(present, entry, host))


def _where(entry: Configured, system: str) -> str:
    return "own" if kind_of(entry.kind).is_local(system) and not entry.outside else "controller"


def _another_target(one: Recorded, entry: Configured, host: str) -> str | None:
    kind = kind_of(one.kind)
    if not isinstance(kind, KindInParts) or one.found_nothing:
        return None
    parts = kind.parts(one.before)
    same = parts is not None and (not parts or kind.named(parts, entry.given, host))
    return None if same else reports.not_checked(one, host)


def _asked(one: Recorded, entry: Configured | None) -> Data:
    """What is asked of other hosts: which they are, the variables say, and of what they take over the record what the variables name, too."""
    given = entry.given if entry else {}
    found: Data = {}
    for name, option in kind_of(one.kind).asked_of_hosts.items():
        if option.takeover:
            named = plain_values.texts(given.get(name))
            recorded = plain_values.texts(one.options.get(name)) if one.options else named
            found[name] = [item for item in recorded if item in named]
        else:
            found[name] = given.get(name, NOTHING[option.kind])
    return found


def undo_orders(record: Any, methods: Any, former: Any, host: str, system: str, wrong: Mapping[int, str] | None = None) -> list[MethodOrder]:
    """What undoes a drain, the last method first. C(wrong) has what is wrong with former entries (validation.py): they are reported and not run."""
    recorded = read_recorded(record)
    entries = read_configured(methods, former, wrong)
    orders: list[MethodOrder] = []
    for one in reversed([one for one in recorded if one.state != "undone"]):
        orders += _undo(one, recorded, entries, host, system, tuple((wrong or {}).values()))
    return _with_reach(orders, entries)


def _undo(one: Recorded, recorded: Sequence[Recorded], entries: Sequence[Configured], host: str, system: str, wrong: Sequence[str]) -> list[MethodOrder]:
    if not is_well_named(one):
        return [_step(one, report=_with_reason(reports.malformed(one, host), wrong))]
    if one.found_nothing:
        return [_step(one, where="own", runs=False)]
    entry = match(one, recorded, entries, host)
    if not acts_elsewhere(one, system):
        return [_step(one, where="own", override=_asked_by_undo(one, entry))]
    if entry is not None and entry.problem is not None:
        return [_step(one, report=reports.wrong_entry(one, entry, host))]
    kind = kind_of(one.kind)
    if isinstance(kind, KindInParts):
        return _undo_parts(one, kind, entry, entries, host, wrong)
    if entry is None:
        return [_step(one, report=_with_reason(reports.not_configured(one, host), wrong))]
    return [_step(one, given=entry.given, runs=not entry.by_hand, outside=entry.outside)]


def _asked_by_undo(one: Recorded, entry: Configured | None) -> Data:
    """What other hosts are, the variables say. An undo has none of them take over anything."""
    asked = kind_of(one.kind).asked_of_hosts
    given = entry.given if entry and not any(option.takeover for option in asked.values()) else {}
    return {name: given.get(name, NOTHING[option.kind]) for name, option in asked.items() if option.hosts}


def _with_reason(report: str, wrong: Sequence[str]) -> str:
    """Add what is wrong in drain_methods_former: mostly it is why a method was not found there."""
    return " ".join((report, *wrong))


def _undo_parts(
    one: Recorded, kind: KindInParts[Any], entry: Configured | None, entries: Sequence[Configured], host: str, wrong: Sequence[str]
) -> list[MethodOrder]:
    """One step for each entry that names a part of what was found; what none of them names is reported."""
    parts = kind.parts(one.before)
    if entry is not None and entry.by_hand and not kind.names_parts(entry.given):
        return [_step(one, runs=False)]
    if parts is None:
        return [_step(one, report=_with_reason(reports.malformed(one, host), wrong))]
    more = [other for other in entries if other is not entry and _may_be_part(one, other)]
    left = set(parts)
    orders: list[MethodOrder] = []
    for other in [*([entry] if entry else []), *more]:
        mine = [part for part in kind.named(parts, other.given, host) if part in left]
        left.difference_update(mine)
        if mine and not other.by_hand:
            orders.append(_step(one, given=kind.narrowed(other.given, mine, host), outside=other.outside, ends=False))
    missing = [part for part in parts if part in left and kind.is_to_undo(part)]
    report = _with_reason(kind.unnamed(missing, host), wrong) if missing else None
    if not orders:
        return [_step(one, runs=False, report=report)]
    orders[-1]["ends"], orders[-1]["report"] = report is None, report
    return orders


def _may_be_part(one: Recorded, other: Configured) -> bool:
    """Whether an entry may stand for a part of what was found: a former one, or, where names say nothing, any."""
    if other.kind != one.kind:
        return False
    if other.named:
        return other.former and other.name == one.identifier
    return other.former or one.has_default_name


def _step(
    one: Recorded,
    *,
    where: str = "controller",
    given: Values | None = None,
    override: Values | None = None,
    outside: bool | None = None,
    runs: bool = True,
    ends: bool = True,
    report: str | None = None,
) -> MethodOrder:
    return {
        "id": one.identifier,
        "kind": one.kind if is_well_named(one) else NoMethod.name,
        "where": where,
        "given": dict(given or {}),
        "override": dict(override or {}),
        "outside": one.outside if outside is None else outside,
        # A report alone means that nothing is run; one beside something that is run says so by ends.
        "runs": runs and not (report is not None and ends),
        "ends": ends and report is None,
        "report": report,
    }


def finding_of(before: Any, order: Values, host: str) -> Any:
    """What a record says that was found, as far as a step may use it; read again after each write, because the VM answers it."""
    if order.get("where") == "own":
        return data(before) if isinstance(before, Mapping) else {}
    return kind_of(str(order.get("kind"))).used(before, plain_values.mapping(order.get("given")), host)
