# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The batches of an upgrade: a number of VMs at a time, or one fault domain, update domain or zone at a time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypedDict

from ....module_utils._scheduled_events.core.printable_text import LONGEST_NAME, printable
from ....module_utils._scheduled_events.core.types import Values
from ..._core import plain_values
from ..._core.wrong_input import WrongInput

KINDS = ("serial", "fault_domain", "update_domain", "zone")


def make_batches(hosts: Any, by: Any = "serial", serial: Any = None, places: Any = None, first: Any = ()) -> list[list[str]]:
    """Return batches of all hosts, each host once. No batch has VMs of two domains, and a domain ends before the next one begins.

    Hosts in ``first`` (already begun) come first, in batches of their own: they may be unavailable and use up the disruption budget.
    """
    names = plain_values.texts(hosts)
    if len(names) != len(plain_values.items(hosts)):
        raise WrongInput(f"hosts must be a list of inventory hosts, not {hosts!r}")
    names = list(dict.fromkeys(names))
    kind = plain_values.text(by)
    if kind not in KINDS:
        raise WrongInput(f"by must be one of {', '.join(KINDS)}, not {by!r}")
    begun = set(plain_values.texts(first))
    if kind == "serial":
        domains = [(names, _sizes(serial if serial is not None else 1, len(names)))]
    else:
        domains = [(domain, _sizes(serial or "100%", len(domain))) for domain in _domains(names, kind, plain_values.mapping(places))]
    ahead = [batch for domain, sizes in domains for batch in _cut([name for name in domain if name in begun], sizes)]
    return ahead + [batch for domain, sizes in domains for batch in _cut([name for name in domain if name not in begun], sizes)]


def _domains(names: Sequence[str], kind: str, places: Values) -> list[list[str]]:
    """Return the VMs of each domain, sorted by its number. A VM without a known domain is a batch of its own: it may be in any."""
    found: dict[str, list[str]] = {}
    alone = []
    for name in names:
        place = plain_values.text(plain_values.mapping(places.get(name)).get(kind))
        if place is None:
            alone.append([name])
        else:
            found.setdefault(place, []).append(name)
    if names and not found:
        raise WrongInput(f"no VM says in which {kind.replace('_', ' ')} it is; VMs that stand alone, and those in zones, have none. Take serial instead")
    return [found[place] for place in sorted(found, key=_order)] + alone


def _order(place: str) -> tuple[int, str]:
    # Azure has no longer numbers, and Python refuses to parse very long ones.
    return (int(place), place) if place.isdecimal() and len(place) < 10 else (2**31, place)


def _cut(names: Sequence[str], sizes: Sequence[int]) -> list[list[str]]:
    """Repeat the last size, as Ansible's own serial does."""
    batches, at, place = [], 0, 0
    while at < len(names):
        size = sizes[min(place, len(sizes) - 1)]
        batches.append(list(names[at : at + size]))
        at, place = at + size, place + 1
    return batches


def _sizes(given: Any, total: int) -> list[int]:
    """Parse sizes as Ansible's serial does: a number, a percentage, or a list of them. At least one VM each."""
    items = list(plain_values.items(given)) or [given]
    return [_size(item, total) for item in items]


def _size(given: Any, total: int) -> int:
    text = "" if isinstance(given, bool) else str(given).strip()
    number = plain_values.number(text.removesuffix("%"))
    if number is None or number <= 0 or (text.endswith("%") and number > 100) or (not text.endswith("%") and number != int(number)):
        raise WrongInput(f"serial must be a number of VMs, a percentage such as '25%', or a list of such, not {given!r}")
    return max(1, math.floor(total * number / 100)) if text.endswith("%") else int(number)


# --- The plan of a rolling upgrade ---------------------------------------------------------------------------------------


# The tasks have run in these states of a progress mark; in the others of it the VM may be out of service.
UPGRADED, BEGUN = ("done", "upgraded"), ("begun", "upgraded", "left")


class UpgradeRequest(NamedTuple):
    """What an operator asks for."""

    name: str
    tasks: str
    """The tasks file, for messages."""
    digest: str
    """Of the tasks file, SHA-256. Empty: not compared with that of VMs that are upgraded."""
    by: str
    serial: Any


class UpgradePlan(TypedDict):
    """The plan, as the playbook keeps it."""

    batches: list[list[str]]
    done: list[str]
    """VMs that an earlier run has upgraded."""
    keepers: list[str]
    """VMs that keep replicas of other VMs' records: the gate searches there for records that a VM has lost."""
    lines: list[str]
    """The batches, for people."""


def plan_upgrade(asked: UpgradeRequest, observed: Values) -> UpgradePlan:
    """Return the plan from the observations of all hosts. Raise WrongInput.

    VMs that were begun come first: they may be out of service, which leaves no room for others.
    """
    observations = {host: plain_values.mapping(one) for host, one in observed.items()}
    marks = {host: _mark(asked.name, one) for host, one in observations.items()}
    # Each VM by its own mark: those of a scale set may have been upgraded with different files, one after the other.
    upgraded = {host: mark.get("digest") for host, mark in marks.items() if mark.get("state") in UPGRADED}
    if others := [host for host, digest in upgraded.items() if asked.digest and digest not in ("", None, asked.digest)]:
        raise WrongInput(
            f"{', '.join(others)}: upgrade '{asked.name}' was done here with another tasks file than {asked.tasks} is now. Give the new one a name of its own "
            "(upgrade_name). Or set upgrade_allow_changed_tasks to true: then the upgrade goes on with the VMs that are not done."
        )
    done = [host for host, mark in marks.items() if mark.get("state") == "done"]
    begun = [host for host, mark in marks.items() if mark.get("state") in BEGUN]
    places = {host: plain_values.mapping(one.get("identity")) for host, one in observations.items()}
    batches = make_batches([host for host in observed if host not in done], asked.by, asked.serial, places, begun)
    keepers = [host for host, one in observations.items() if plain_values.items(one.get("replicas"))]
    lines = [*_batch_lines(asked.by, batches, places), *([f"Done before: {', '.join(done)}"] if done else [])]
    return {"batches": batches, "done": done, "keepers": keepers, "lines": lines}


def _mark(upgrade: str, observation: Values) -> Values:
    """Return the progress mark of the upgrade on a VM, or an empty one."""
    marks = map(plain_values.mapping, plain_values.items(observation.get("upgrades")))
    return next((mark for mark in marks if mark.get("name") == upgrade.strip()), {})


def _batch_lines(by: str, batches: Sequence[Sequence[str]], places: Mapping[str, Values]) -> list[str]:
    def place(batch: Sequence[str]) -> str:
        # As its first VM says, which may say anything.
        said = printable(plain_values.text(places[batch[0]].get(by)) or "not known", LONGEST_NAME)
        return "" if by == "serial" else f", {by.replace('_', ' ')} {said}"

    return [f"Batch {number} of {len(batches)}{place(batch)}: {', '.join(batch)}" for number, batch in enumerate(batches, 1)]


class Approval(TypedDict):
    """What one VM approves for all."""

    event_ids: list[str]
    approve_for: list[str]
    """The names of the VMs that these events may hit."""


def approvals(restarts: Iterable[Values], recorded: Mapping[str, Sequence[str]]) -> dict[str, Approval]:
    """Return for each VM the upgrade's own restarts that it approves: those that every VM of the event has recorded.

    C(restarts) are as filter C(own_restarts) returns them, C(recorded) the events that each host has recorded.
    """
    found: dict[str, Approval] = {}
    for one in restarts:
        if one["approve"] and all(one["event_id"] in recorded.get(host, ()) for host in one["hosts"]):
            mine = found.setdefault(one["host"], {"event_ids": [], "approve_for": []})
            mine["event_ids"].append(one["event_id"])
            mine["approve_for"] += [name for name in one["approve_for"] if name not in mine["approve_for"]]
    return found
