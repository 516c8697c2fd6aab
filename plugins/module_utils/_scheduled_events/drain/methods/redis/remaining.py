# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""What remains of a Redis under Sentinel when the VMs of an event are gone, and what is down stays down: replicas to write to, and Sentinels. Pure."""

from __future__ import annotations

import typing as t

from ..method import Task, is_true
from .servers import LOOPBACK, Copy, Redis, Watch

# More is said behind them, in one message.
LONGEST_WORDS = 300


class Remaining(t.NamedTuple):
    """The other servers of a Redis, and what the event takes."""

    wanted: int
    """How many replicas a master must have to take writes; 0 where writes may stop."""
    replicas: int
    """How many of them are replicas then. One of the servers is the master."""
    others: int
    down: t.Sequence[str]
    """Why others do not remain, each: they are down, and may come back."""
    hit: t.Sequence[str]
    """The event hits them, too."""
    hosts: t.Collection[str]
    """The addresses of the VMs that the event hits, by which their Sentinels are known."""

    @property
    def lacks(self) -> str:
        """Return in words that a master refuses writes, because it wants more replicas; an empty text where it has them."""
        if self.replicas >= self.wanted:
            return ""
        why = "; ".join([*self.down, *self.hit]) or "there are no others"
        return f"min-replicas-to-write is {self.wanted}, and {self.replicas} of {self.others} replicas would be left: {why}"[:LONGEST_WORDS]


def remaining(own: Redis, watches: t.Sequence[Watch], task: Task) -> Remaining:
    """Return which other servers remain. What most of the Sentinels do not know to be up is down: one of them may have made it up."""
    known: dict[str, list[str]] = {}
    hosts, down, hit = set(), [], []
    for watch in watches:
        for copy in (Copy(watch.master, watch.run_id, "", watch.down), *watch.copies):
            if copy.run_id == own.run_id:
                hosts.add(host_of(copy.address))
            else:
                known.setdefault(copy.address, []).append(copy.down)
    for address, says in sorted(known.items()):
        why = why_not(address, task)
        if why:
            hit.append(f"{address}: {why}")
            hosts.add(host_of(address))
        elif 2 * says.count("") <= len(watches):
            down.append(f"{address} is down ({max(says) or 'most Sentinels do not know it'})")
    wanted = 0 if is_true(task.options["allow_no_writes"]) else own.wanted
    return Remaining(wanted, max(len(known) - len(down) - len(hit) - 1, 0), len(known), down, hit, hosts)


def too_few_sentinels(hosts: t.Collection[str], first: Watch) -> str:
    """Return in words that the Sentinels that remain, by what the first one knows, would not replace a master that dies meanwhile, or an empty text."""
    known = {**first.peers, first.sentinel: not LOOPBACK.fullmatch(host_of(first.sentinel))}
    left = sum(up and host_of(address) not in hosts for address, up in known.items())
    needed = max(first.quorum, len(known) // 2 + 1)
    if left >= needed:
        return ""
    return f"{left} of {len(known)} Sentinels would be left, and a failover needs {needed}: no replica takes over from a master that dies meanwhile"


def why_not(address: str, task: Task) -> str:
    """Return why a replica must not take over: its VM is hit by the same event. Its own drain excludes it."""
    if len(task.resources) < 2:
        return ""
    members = task.options["members"]
    host = str(members.get(address) or members.get(host_of(address)) or "") if isinstance(members, t.Mapping) else ""
    if task.members.get(host):
        return task.why_not(host)
    # The watcher knows no names, nor does an inventory without members. A VM that is hit has had its time to exclude itself.
    if task.must_begin:
        return ""
    return task.why_not(host) if host else "option members does not say which host it is on, and the event hits several VMs"


def host_of(address: str) -> str:
    """Return the host of HOST:PORT."""
    return address.rpartition(":")[0]
