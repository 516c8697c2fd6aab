# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""The store that Patroni stands on (etcd, Consul, ZooKeeper), and whether its majority is left when the VMs of an event are gone.

Its members are asked at the addresses of the entry alone. What they answer is compared, and shown in a printable form.
"""

from __future__ import annotations

import typing as t

from ....core.printable_text import LONGEST_NAME, printable
from ....core.types import Values
from ....host.machine.daemons import Daemon, DaemonError, Daemons, host_and_port
from ..method import LONGEST_MESSAGE, MethodError, NotYet, Option, Task

# Of one question. A member that stands still takes a connection and never answers.
SECONDS = 3.0
# Where they listen for clients.
PORTS = {2379: "etcd", 8500: "Consul", 2181: "ZooKeeper"}
PARTS = {
    "kind": Option("text", required=True, choices=("etcd", "consul", "zookeeper")),
    "urls": Option("texts", required=True, address=True),
    "members": Option("mapping", hosts=True),
}
OPTION = Option("options", default={}, hosts=True, parts=PARTS)


class Voter(t.NamedTuple):
    """One member of the store that votes."""

    key: str
    name: str
    """As C(store.members) has it."""
    is_up: bool
    """Whether it answers, and knows a leader."""


def refuse_lost_majority(daemons: Daemons, daemon: Daemon, task: Task) -> None:
    """Raise NotYet where the store would have no majority without the VMs of the event, and MethodError where it could never have one.

    C(daemon) has the files of TLS.
    """
    store = task.options["store"]
    if not store:
        return
    kind, urls = store["kind"], store["urls"]
    asked = _Asked(daemons, daemon._replace(seconds=SECONDS), urls, [])
    voters = ASK[kind](asked)
    if not 0 < len(voters) <= len(urls):
        raise MethodError(f"option store.urls has {len(urls)} addresses, and {kind} has {len(voters)} members: name one of each")
    gone = _gone(voters, store.get("members") or {}, task)
    stay = [one for one in voters if one.key not in gone]
    left, needed = sum(one.is_up for one in stay), len(voters) // 2 + 1
    if left < needed:
        why = [f"{printable(one.name, LONGEST_NAME)} {gone.get(one.key, 'is down')}" for one in voters if one.key in gone or not one.is_up]
        said = f" ({asked.failed[-1]})" if asked.failed else ""
        words = f"{needed} of {len(voters)} members of {kind} are needed, {left} would be left: {'; '.join(why)}{said}"[:LONGEST_MESSAGE]
        raise NotYet(words) if len(stay) >= needed else MethodError(words)


def _gone(voters: t.Sequence[Voter], hosts: Values, task: Task) -> dict[str, str]:
    """Return in words what becomes of each member that the event takes, or may take: one whose VM is not known may be on a VM of the event."""
    names = [one.name for one in voters]
    # A member chooses its name: one that two have says of neither where it is.
    vms = {one: task.members.get(hosts.get(one.name, ""), "").lower() if names.count(one.name) == 1 else "" for one in voters}
    hit = {name.lower() for name in task.resources}
    gone = {one.key: "goes with the event" for one in voters if vms[one] in hit}
    unknown = [one.key for one in sorted(voters, key=lambda one: not one.is_up) if not vms[one]]
    if len(hit) == 1:
        # One VM has one member at most: the worst that it may be.
        unknown = [] if gone else unknown[:1]
    return {**gone, **dict.fromkeys(unknown, "may go with the event (see store.members)")}


class _Asked(t.NamedTuple):
    """The store at its addresses."""

    daemons: Daemons
    daemon: Daemon
    urls: t.Sequence[str]
    failed: list[str]
    """Why addresses did not answer: they may be wrong, and their members up."""

    def all(self, method: str, of_each: str, of_all: str) -> tuple[dict[str, t.Any], list[t.Any]]:
        """Return what each member answers to one question, by its address, and what they answer to another. Raise NotYet."""
        found: dict[str, t.Any] = {}
        listed: list[t.Any] = []
        for url in self.urls:
            try:
                found[url] = self._json(url, method, of_each)
                listed.append(self._json(url, method, of_all))
            except (DaemonError, ValueError) as error:
                self.failed.append(str(error))
        if not any(listed):
            raise NotYet(f"no address of option store answers: {(self.failed or ['no members are listed'])[-1]}")
        return found, listed

    def _json(self, url: str, method: str, path: str) -> t.Any:
        daemon = self.daemon._replace(url=url if "://" in url else f"http://{url}")
        reply = self.daemons.request(daemon, method, path, b"{}" if method == "POST" else None)
        if reply.status != 200:
            raise ValueError(f"{url}{path} answers {reply.status}")
        return reply.json()

    def words(self, url: str) -> str:
        """Return what a member answers to a word of four letters, until it ends the connection; nothing where it does not answer."""
        try:
            return self.daemons.exchange(self.daemon._replace(url=url), b"srvr", lambda answer: False).decode("utf-8", "replace")
        except DaemonError as error:
            self.failed.append(str(error))
            return ""


def _etcd(asked: _Asked) -> list[Voter]:
    found, listed = asked.all("POST", "/v3/maintenance/status", "/v3/cluster/member/list")
    # Without a leader it is 0, or left out.
    up = {str(_mapping(one.get("header")).get("member_id")) for one in map(_mapping, found.values()) if one.get("leader") not in (None, "0")}
    return [Voter(key, name, key in up) for key, name in _agreed([_named(_mapping(one).get("members")) for one in listed])]


def _named(members: t.Any) -> list[tuple[str, str]]:
    voters = [one for one in map(_mapping, members if isinstance(members, list) else ()) if one.get("isLearner") is not True]
    return [(str(one.get("ID")), str(one.get("name"))) for one in voters]


def _consul(asked: _Asked) -> list[Voter]:
    found, listed = asked.all("GET", "/v1/status/leader", "/v1/status/peers")
    up = {host_and_port(url)[0] for url, leader in found.items() if leader}
    hosts = [host_and_port(one)[0] for one in _agreed([list(map(str, one)) if isinstance(one, list) else [] for one in listed])]
    return [Voter(host, host, host in up) for host in hosts]


def _zookeeper(asked: _Asked) -> list[Voter]:
    """It tells of itself alone: the addresses are its members. One without a majority says that it serves nothing."""
    if wrong := [url for url in asked.urls if url.startswith(("http://", "https://"))]:
        raise MethodError(f"option store.urls: zookeeper is asked at HOST:PORT, and not at {wrong[0]}")
    said = {url: asked.words(url) for url in asked.urls}
    return [Voter(url, host_and_port(url)[0], "Mode: " in words) for url, words in said.items() if "Mode: observer" not in words]


ASK: t.Mapping[str, t.Callable[[_Asked], list[Voter]]] = {"etcd": _etcd, "consul": _consul, "zookeeper": _zookeeper}


def _agreed(lists: t.Sequence[list[t.Any]]) -> list[t.Any]:
    """Return the list that most members give: one of them may say anything of the others. Raise NotYet where there is none."""
    lists = [sorted(one) for one in lists]
    found = max(lists, key=lists.count)
    if 2 * lists.count(found) <= len(lists):
        raise NotYet("the addresses of option store do not agree on the members of the store")
    return found


def _mapping(value: t.Any) -> Values:
    return value if isinstance(value, t.Mapping) else {}


def listens_here(daemons: Daemons, hosts: t.Iterable[str]) -> str:
    """Return what listens on the VM's own addresses where a store does. Nothing is sent, and an address of another machine is refused below."""
    for port, host in ((port, host) for port in PORTS for host in hosts):
        try:
            daemons.exchange(Daemon(f"tcp://{host}:{port}", 1.0), b"", lambda answer: True)
        except DaemonError:
            continue
        return f"{PORTS[port]} (port {port})"
    return ""
