# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Capacity groups: VMs of which only a limited number may be unavailable at once, and conditions on those that stay in service: the last replica, one in each
zone. budget/allocation.py counts the unavailable ones.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ....module_utils._scheduled_events.core.types import Data, Values
from ..._core import plain_values
from ..._core.short_forms import some
from ..._core.wrong_input import WrongInput, refuse_unknown
from ..core.expression import ExpressionError, compiled, load_condition, root_fields, search
from ..core.model import Host

PLACES = ("zone", "fault_domain", "update_domain", "location", "scale_set")
FIELDS = ("name", "vm_name", "labels", *PLACES)
# Each expression is tried on these when it is loaded: on no member, and on one with a text in each field.
MEMBER_PROBE: Data = {**dict.fromkeys(FIELDS, "text"), "labels": {}}
PROJECTIONS = ("projection", "filter_projection")


class Keep:
    """A condition on the list of members in service."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._compiled = compiled(source)
        self._check_fields(self._compiled.parsed)
        for members in ([], [MEMBER_PROBE]):
            found = search(self._compiled, members)
            if found is not None and not isinstance(found, bool):
                raise ExpressionError(f"must be true or false, such as length([?zone=='1']) >= `1`; on {len(members)} members it is {found!r}")

    def _check_fields(self, parsed: Values) -> None:
        if outside := root_fields(parsed):
            raise ExpressionError(f"names {outside[0]!r} outside of [...], and what is asked is a list of members", self._place(outside[0]))
        for name in _member_fields(parsed):
            if name not in FIELDS:
                raise ExpressionError(f"names {name!r}, which members do not have; they have {', '.join(FIELDS)}", self._place(name))

    def _place(self, name: str) -> int | None:
        return self.source.find(name) + 1 or None

    def holds(self, members: list[Data]) -> bool:
        """Return whether the condition is true. An expression that cannot be evaluated on these members is not."""
        try:
            return search(self._compiled, members) is True
        except ExpressionError:
            return False


def broken(conditions: Iterable[Keep], hosts: Iterable[Host]) -> str | None:
    """Return the first condition that is not true of the VMs in service, or None. Retired VMs are not in service."""
    members = [_member_of(host) for host in hosts if host.state != "retired"]
    return next((condition.source for condition in conditions if not condition.holds(members)), None)


def _member_of(host: Host) -> Data:
    about = host.observation.about if host.observation else {}
    places = {key: plain_values.text(about.get(key)) for key in PLACES}
    return {"name": host.name, "vm_name": host.observation.vm_name if host.observation else None, "labels": host.labels, **places}


def _is_the_list(node: Values) -> bool:
    if node.get("type") == "flatten":
        return all(_is_the_list(child) for child in node.get("children") or [])
    return node.get("type") in ("identity", "current")


def _member_fields(node: Values) -> list[str]:
    """Return the names that are looked up in a member: those after the list itself, in its filter and after it."""
    children = [child for child in node.get("children") or [] if isinstance(child, Mapping)]
    if node.get("type") in PROJECTIONS and children and _is_the_list(children[0]):
        return [name for child in children[1:] for name in root_fields(child)]
    return [name for child in children for name in _member_fields(child)]


KEYS = ("name", "members", "size", "max_unavailable", "keep")
# A template or a command line may turn a number into text (core 2.18).
LIMIT = re.compile(r"\s*([0-9]{1,9})\s*(%?)\s*")


@dataclass(frozen=True, eq=False)
class Group:
    """A declared list of inventory hosts, and how many of them may be unavailable."""

    name: str
    members: tuple[str, ...]
    limit: int
    configured: str
    """The limit as configured; empty without max_unavailable, where only C(keep) limits."""
    keep: tuple[Keep, ...] = ()
    """Conditions on the members that stay in service."""
    size: int | None = None
    """The number of members, if configured: a part of an inventory names fewer."""
    alike: str = ""
    """Of a derived group, in words what is the same for all of its members (alike_groups.py); empty for any other."""

    @property
    def hash(self) -> str:
        """Return a hash of the members. Every lease carries it: runs that declare other members must not rely on each other's leases."""
        return hashlib.sha256("\n".join(sorted(self.members)).encode("utf-8", "surrogatepass")).hexdigest()[:16]

    @property
    def rule(self) -> str:
        """Return the limit as text."""
        percent = f" ({self.configured})" if self.configured.endswith("%") else ""
        return f"{self.limit or 'none'} of its {len(self.members)} members{percent}"


def load(value: Any) -> tuple[Group, ...]:
    """Load all groups in order. Raise WrongInput."""
    if value is None:
        return ()
    if not isinstance(value, Sequence) or isinstance(value, (str, bytes)):
        raise WrongInput(f"capacity is a list of groups, not {plain_values.kind(value)}")
    groups = tuple(_group(item, place) for place, item in enumerate(value, start=1))
    names: dict[str, int] = {}
    for place, group in enumerate(groups, start=1):
        first = names.setdefault(group.name, place)
        if first != place:
            raise WrongInput(f"group {place} of the capacity ({group.name!r}): group {first} has the same name")
    return groups


def _group(given: Any, place: int) -> Group:
    label = f"group {place} of the capacity"
    if not isinstance(given, Mapping):
        raise WrongInput(f"{label}: must be a dictionary with {', '.join(KEYS)}, not {given!r}")
    source = plain_values.plain(given)
    name = plain_values.text(source.get("name"))
    if name is None or not name.strip():
        raise WrongInput(f"{label}: needs a name")
    label += f" ({name!r})"
    refuse_unknown(source, KEYS, label)
    members = _members(source.get("members"), label)
    size = _size(source.get("size"), label)
    kept = _keep(source.get("keep"), label)
    if kept and source.get("max_unavailable") is None:
        return Group(name, members, len(members), "", kept, size)
    limit, configured = _limit(source.get("max_unavailable"), len(members), label)
    return Group(name, members, limit, configured, kept, size)


def _size(given: Any, label: str) -> int | None:
    if given is None:
        return None
    found = None if isinstance(given, bool) else re.fullmatch(r"\s*([0-9]{1,9})\s*", str(given))
    if found is None or int(found[1]) == 0:
        raise WrongInput(f"{label}: size must be the number of its members, such as 12, not {given!r}")
    return int(found[1])


def _keep(given: Any, label: str) -> tuple[Keep, ...]:
    if given is None:
        return ()
    sources = [given] if isinstance(given, str) else given
    if not isinstance(sources, list) or not sources or not all(isinstance(source, str) and source.strip() for source in sources):
        raise WrongInput(f"{label}: keep must be a JMESPath expression or a list of such, not {given!r}")
    return tuple(load_condition(Keep, source, f"{label}: keep {place}") for place, source in enumerate(sources, start=1))


def _members(given: Any, label: str) -> tuple[str, ...]:
    if not isinstance(given, list) or not given:
        raise WrongInput(f"{label}: members must be a list of inventory hosts, such as groups['web'], not {given!r}")
    for place, member in enumerate(given, start=1):
        if not isinstance(member, str) or not member.strip():
            raise WrongInput(f"{label}: member {place} must be the name of an inventory host, not {member!r}")
    # Several inventory groups together may name a host twice; it is one VM.
    return tuple(dict.fromkeys(given))


def _limit(given: Any, members: int, label: str) -> tuple[int, str]:
    """Round a percentage down, to none if it is less than one VM: a limit must never allow more than it says."""
    configured = "" if given is None or isinstance(given, bool) else str(given).strip()
    found = LIMIT.fullmatch(configured)
    if not found or (found[2] and int(found[1]) > 100):
        expected = "must be a number of VMs such as 1, or a percentage of the members such as '25%'"
        raise WrongInput(f"{label}: max_unavailable {expected}, not {given!r}")
    amount = int(found[1])
    return (members * amount // 100 if found[2] else amount), configured.replace(" ", "")


# --- Clusters ------------------------------------------------------------------------------------------------------------
# VMs whose drain methods name the same cluster drain one after the other. Each cluster is a capacity group of its own, of which one VM may be unavailable,
# so leases, several runs and the deadline go by the same rules. Its members are all hosts of the inventory that name it: a part of them says too little.


CLUSTER = "cluster "
SHOWN = 6


def is_cluster(group: Group) -> bool:
    """Return whether a group is that of a cluster. No declared group has such a name then."""
    return group.name.startswith(CLUSTER)


def clusters_of(drain_methods: Any) -> list[str]:
    """Return the clusters that the drain methods of a host name."""
    found = (plain_values.text(plain_values.mapping(entry).get("cluster")) for entry in plain_values.items(drain_methods))
    return list(dict.fromkeys(name for name in found if name))


def cluster_members(drain_methods: Values) -> dict[str, list[str]]:
    """Return by cluster the hosts that name it, from the drain methods of every host."""
    found: dict[str, list[str]] = {}
    for host, methods in drain_methods.items():
        for name in clusters_of(methods):
            found.setdefault(name, []).append(host)
    return found


def cluster_warnings(found: Any) -> list[str]:
    """Return what operators are told of the hosts of each cluster: where one alone names it, the name is probably misspelt, and none waits for another."""
    alone = [f"{name} ({hosts[0]})" for name, hosts in plain_values.mapping(found).items() if len(hosts) == 1]
    return [f"Only one host names these clusters in drain_methods, so it waits for no other: {some(alone, SHOWN)}. Check their names."] if alone else []


def load_clusters(value: Any, declared: Iterable[Group]) -> tuple[Group, ...]:
    """Return the groups of the setting C(clusters), beside those that are declared. Raise WrongInput."""
    taken = {group.name for group in declared}
    groups = tuple(Group(CLUSTER + name, tuple(plain_values.texts(hosts)), 1, "1") for name, hosts in plain_values.mapping(value).items())
    if clash := next((group.name for group in groups if group.name in taken), None):
        raise WrongInput(f"capacity group {clash!r} has the name of the group of a cluster in drain_methods; give it another")
    return groups
