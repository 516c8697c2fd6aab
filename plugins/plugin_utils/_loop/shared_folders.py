# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Find hosts that share one records folder: each would take the records and leases of the others for its own, or set them aside.

Hosts on the controller's own machine are found by their variables. Other hosts share a folder where each returns the mark that the other has left in it. A
mark is a secret between the controller and one host, so a host that does not share the folder can neither return it nor bring another host to return its own.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ...module_utils._scheduled_events.core.printable_text import LONGEST_LINE, printable
from ...module_utils._scheduled_events.core.types import Values
from .._core import plain_values
from .vm_settings import VMSettings

# Hosts and paths that a message names.
SHOWN, SHOWN_PATHS = 10, 3


class Sharing(NamedTuple):
    """What the marks of an iteration show."""

    errors: dict[str, str]
    """By host that shares its folder: which hosts share it, and what to do."""
    doubtful: list[str]
    """Hosts of which one has returned the mark of the other, which may have been observed before: one more observation tells."""


def by_variables(vms: Mapping[str, VMSettings]) -> str | None:
    """Return which hosts on the controller's own machine have one folder, or None."""
    found: dict[str, list[str]] = {}
    for host, vm in vms.items():
        if vm["local_records"] and not vm["excluded"]:
            found.setdefault(vm["local_records"], []).append(host)
    return "; ".join(_text(hosts, [folder]) for folder, hosts in found.items() if len(hosts) > 1) or None


def marks(secret: str, vms: Mapping[str, VMSettings]) -> dict[str, str]:
    """Return a mark for each host. Windows hosts have none: their folder is on a drive of their own."""
    return {
        host: hmac.new(secret.encode(), host.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:32]
        for host, vm in vms.items()
        if vm["system"] == "linux"
    }


def by_marks(given: Mapping[str, str], observations: Iterable[Values], vms: Mapping[str, VMSettings]) -> Sharing:
    """Return which hosts share a folder, by the marks that each was given and those that each has returned."""
    owners = {mark: host for host, mark in given.items()}
    seen: dict[str, set[str]] = {}
    for one in observations:
        returned = plain_values.texts(plain_values.mapping(one.get("observation")).get("host_marks"))
        seen[str(one["host"])] = {owners[mark] for mark in returned if mark in owners} - {str(one["host"])}
    mutual = {host: [other for other in others if host in seen.get(other, ())] for host, others in seen.items()}
    errors = {host: _text(hosts, [vms[one]["records_path"] for one in hosts]) for hosts in _groups(mutual) for host in hosts}
    doubtful = {name for host, others in seen.items() for other in others if host not in seen.get(other, ()) for name in (host, other)}
    return Sharing(errors, [host for host in seen if host in doubtful])


def _groups(mutual: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Return the groups of hosts that are connected, in the order of the hosts."""
    groups: list[list[str]] = []
    done: set[str] = set()
    for host in mutual:
        group, left = set(), [host] if mutual[host] and host not in done else []
        while left:
            one = left.pop()
            group.add(one)
            left += [other for other in mutual[one] if other not in group]
        done |= group
        groups += [[one for one in mutual if one in group]] if group else []
    return groups


def _text(hosts: Sequence[str], folders: Iterable[str]) -> str:
    names = ", ".join(hosts[:SHOWN]) + (f" and {len(hosts) - SHOWN} others" if len(hosts) > SHOWN else "")
    paths = list(dict.fromkeys(folders))
    shown = ", ".join(paths[:SHOWN_PATHS]) + (", ..." if len(paths) > SHOWN_PATHS else "")
    where = f"the records folder {shown}" if len(paths) == 1 else f"one records folder ({shown})"
    return printable(f"{names} share {where}: give each host its own respond_records_path", LONGEST_LINE)
