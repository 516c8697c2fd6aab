# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""What remains of a Redis under Sentinel when the VMs of an event are gone, and what is down stays down: replicas to write to, and Sentinels. Pure."""

from __future__ import annotations

import typing as t

from ..method import LONGEST_MESSAGE, Task
from .servers import LOOPBACK, MASTER, Redis, Watch


class Remaining(t.NamedTuple):
    """The other servers of a Redis."""

    others: int
    """How many there are in all."""
    down: t.Sequence[str]
    """Why others do not remain: they are down, and may come back."""
    hit: t.Mapping[str, str]
    """Why others do not remain, by their addresses: the event hits them, too."""

    @property
    def replicas(self) -> int:
        """Return how many replicas the master has then. One of the servers is the master."""
        return max(self.others - len(self.down) - len(self.hit) - 1, 0)

    def lacks(self, wanted: int) -> str:
        """Return in words that a master refuses writes, because it wants so many replicas; an empty text where it has them."""
        if self.replicas >= wanted:
            return ""
        why = [*self.down, *(f"{address}: {one}" for address, one in self.hit.items())]
        words = f"min-replicas-to-write is {wanted}, and {self.replicas} of {self.others} replicas would be left"
        return ": ".join(filter(None, (words, "; ".join(why))))[: LONGEST_MESSAGE - 100]


def remaining(own: Redis, watches: t.Sequence[Watch], task: Task) -> Remaining:
    """Return which other servers remain. One that most of the Sentinels that know it call down is down."""
    known: dict[str, list[str]] = {}
    excluded = set()
    for watch in watches:
        for copy in watch.copies:
            if copy.run_id != own.run_id:
                known.setdefault(copy.address, []).append(copy.down)
                excluded |= {copy.address} if copy.priority == "0" else set()
        if own.role != MASTER:
            known.setdefault(watch.master, []).append(watch.down)
    hit = {address: why for address in sorted(known) if (why := _hit(address, address in excluded, task))}
    down = [f"{address} is down ({max(says)})" for address, says in sorted(known.items()) if address not in hit and 2 * sum(map(bool, says)) > len(says)]
    return Remaining(len(known), down, hit)


def too_few_sentinels(own: Redis, watches: t.Sequence[Watch], task: Task) -> str:
    """Return in words that the Sentinels that remain would not replace a master that dies meanwhile, or an empty text. By what the first one knows."""
    first = watches[0]
    copies = [copy.address for copy in first.copies if copy.run_id == own.run_id]
    gone = {_host(address) for address in (*remaining(own, watches, task).hit, *(copies or [first.master]))}
    known = {**first.peers, first.sentinel: not LOOPBACK.fullmatch(_host(first.sentinel))}
    left = sum(up and _host(address) not in gone for address, up in known.items())
    needed = max(first.quorum, len(known) // 2 + 1)
    if left >= needed:
        return ""
    return f"{left} of {len(known)} Sentinels would be left, and a failover needs {needed}: no replica takes over from a master that dies meanwhile"


def member_of(address: str, task: Task) -> str:
    """Return the host of the inventory that a Redis is on, or an empty text."""
    members = task.options["members"]
    return str(members.get(address) or members.get(_host(address)) or "") if isinstance(members, t.Mapping) else ""


def _hit(address: str, is_excluded: bool, task: Task) -> str:
    """Return why the event hits a server, too, or an empty text. Of one on an unknown VM this shows when it excludes itself from the choice."""
    host = member_of(address, task)
    if len(task.resources) < 2:
        return ""
    if task.members.get(host):
        return task.why_not(host)
    return "its replica-priority is 0, its VM is not known, and the event hits several VMs" if is_excluded else ""


def _host(address: str) -> str:
    return address.rpartition(":")[0]
