# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""The store that Patroni stands on (etcd, Consul, ZooKeeper), and whether its majority is left when the VMs of an event are gone.

Its members are asked at the addresses of the entry alone. What they answer is compared, and shown in a printable form.
"""

from __future__ import annotations

import typing as t

from ....core.printable_text import LONGEST_NAME, printable
from ....core.types import Values
from ....host.machine.daemons import Daemon, DaemonError, Daemons, Reply, host_and_port
from ..method import LONGEST_MESSAGE, MethodError, NotYet, Option, Task

# Of one question. A member that stands still takes a connection and never answers.
SECONDS = 3.0
# Where they listen for clients.
PORTS = {2379: "etcd", 8500: "Consul", 2181: "ZooKeeper"}
OPTION = Option(
    "options",
    default={},
    hosts=True,
    parts={
        "kind": Option("text", required=True, choices=("etcd", "consul", "zookeeper")),
        "urls": Option("texts", required=True, address=True),
        "members": Option("mapping", hosts=True),
        "ca_file": Option("path"),
        "certificate_file": Option("path"),
        "key_file": Option("path"),
    },
)


class Voter(t.NamedTuple):
    """One member of the store that votes."""

    key: str
    name: str
    """As option C(store.members) has it."""
    is_up: bool
    """Whether it answers, and knows a leader."""

    @property
    def shown(self) -> str:
        return printable(self.name, LONGEST_NAME)


class _NoAnswer(Exception):
    """One member says nothing that helps."""


def refuse_lost_majority(daemons: Daemons, task: Task) -> None:
    """Raise NotYet where the store would have no majority without the VMs of the event, and MethodError where it could never have one."""
    store = task.options["store"]
    if not isinstance(store, t.Mapping) or not store:
        return
    kind, members = str(store.get("kind")), store.get("members")
    voters = ASK[kind](_Asked(daemons, store)) if kind in ASK else []
    if not voters:
        raise MethodError(f"option store has no kind that is known: {', '.join(ASK)}")
    gone = _gone(voters, members if isinstance(members, t.Mapping) else {}, task)
    stay = [one for one in voters if one.key not in gone]
    left, needed = sum(one.is_up for one in stay), len(voters) // 2 + 1
    if left >= needed:
        return
    why = [f"{one.shown} is down" for one in stay if not one.is_up] + [f"{one.shown} {gone[one.key]}" for one in voters if one.key in gone]
    words = f"{needed} of {len(voters)} members of {kind} are needed, {left} would be left: {'; '.join(why)}"[:LONGEST_MESSAGE]
    raise NotYet(words) if len(stay) >= needed else MethodError(words)


def _gone(voters: t.Sequence[Voter], hosts: Values, task: Task) -> dict[str, str]:
    """Return in words what becomes of each member that the event takes, or may take. A VM that is not named by the settings may be one of the event's."""
    vms = {one.key: task.members.get(str(hosts.get(one.name)), "") for one in voters}
    hit = {name.lower() for name in task.resources}
    gone = {key: "goes with the event" for key, vm in vms.items() if vm.lower() in hit}
    may = {key: "may go with the event: the VM of its host in store.members is not known" for key, vm in vms.items() if not vm}
    if len(task.resources) > 1 or not may:
        return {**gone, **may}
    # One VM, which has one member at most: the worst of those that it may be.
    worst = next((one.key for one in voters if one.key in may and one.is_up), next(iter(may)))
    return gone or {worst: may[worst]}


class _Asked:
    """The store at its addresses."""

    def __init__(self, daemons: Daemons, store: Values) -> None:
        self._daemons, self._store = daemons, store
        given = store.get("urls")
        self.urls = [str(url) for url in given] if isinstance(given, (list, tuple)) else []
        self._failed = "it has no address"

    def json(self, url: str, method: str, path: str) -> t.Any:
        """Return what a member answers. Raise _NoAnswer."""
        daemon = self._daemon(url if "://" in url else f"http://{url}")
        try:
            reply = self._daemons.request(daemon, method, path, b"{}" if method == "POST" else None, {"Content-Type": "application/json"})
            _refuse_closed(url, path, reply)
            return reply.json()
        except (DaemonError, ValueError) as error:
            self._failed = str(error)
            raise _NoAnswer

    def words(self, url: str, word: bytes) -> str:
        """Return what a member answers to a four-letter word, until it ends the connection; nothing where it does not answer."""
        try:
            return self._daemons.exchange(self._daemon(url), word, lambda answer: False).decode("utf-8", "replace")
        except DaemonError:
            return ""

    def unanswered(self) -> NotYet:
        return NotYet(f"no address of option store answers: {printable(self._failed, LONGEST_MESSAGE - 60)}")

    def _daemon(self, url: str) -> Daemon:
        ca, certificate, key = (str(self._store.get(name) or "") for name in ("ca_file", "certificate_file", "key_file"))
        return Daemon(url, SECONDS, ca_file=ca, certificate_file=certificate, key_file=key)


def _refuse_closed(url: str, path: str, reply: Reply) -> None:
    """Raise MethodError where the settings of the member let no one ask, and ValueError for what is no answer."""
    said = f"{url}{path} answers {reply.status}"
    if reply.status in (401, 403, 404):
        raise MethodError(f"{said}: the store must answer it without a login (etcd: 3.4 or newer, enable-grpc-gateway: true)")
    if reply.status != 200:
        raise ValueError(said)


def _etcd(asked: _Asked) -> list[Voter]:
    listed, up = None, set()
    for url in asked.urls:
        try:
            status = _mapping(asked.json(url, "POST", "/v3/maintenance/status"))
            listed = listed or _mapping(asked.json(url, "POST", "/v3/cluster/member/list")).get("members")
        except _NoAnswer:
            continue
        # Without a leader it is 0, or left out.
        if str(status.get("leader") or 0) != "0":
            up.add(str(_mapping(status.get("header")).get("member_id")))
    if not isinstance(listed, list):
        raise asked.unanswered()
    found = [(str(one.get("ID")), str(one.get("name") or one.get("ID"))) for one in map(_mapping, listed) if one.get("isLearner") is not True]
    if len(asked.urls) < len(found):
        raise MethodError(f"option store.urls has {len(asked.urls)} addresses, and etcd has {len(found)} members: name one of each")
    return [Voter(key, name, key in up) for key, name in found]


def _consul(asked: _Asked) -> list[Voter]:
    listed, up = None, set()
    for url in asked.urls:
        try:
            leader = asked.json(url, "GET", "/v1/status/leader")
            listed = listed or asked.json(url, "GET", "/v1/status/peers")
        except _NoAnswer:
            continue
        if leader:
            up.add(_host(url))
    if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
        raise asked.unanswered()
    hosts, known = [_host(one) for one in listed], set(map(_host, asked.urls))
    if unnamed := [printable(host, LONGEST_NAME) for host in hosts if host not in known]:
        raise MethodError(f"option store.urls has no address of {', '.join(unnamed)}: name each server as Consul does in /v1/status/peers"[:LONGEST_MESSAGE])
    return [Voter(host, host, host in up) for host in hosts]


def _zookeeper(asked: _Asked) -> list[Voter]:
    """It tells of itself alone: the addresses are its members. One that has no majority says that it serves nothing."""
    modes = {url: asked.words(url, b"srvr") for url in asked.urls}
    if closed := [url for url, said in modes.items() if "whitelist" in said]:
        raise MethodError(f"{', '.join(closed)}: ZooKeeper does not answer srvr; add it to 4lw.commands.whitelist")
    return [Voter(url, _host(url), "Mode: " in said) for url, said in modes.items() if "Mode: observer" not in said]


ASK: t.Mapping[str, t.Callable[[_Asked], list[Voter]]] = {"etcd": _etcd, "consul": _consul, "zookeeper": _zookeeper}


def _host(address: str) -> str:
    try:
        return host_and_port(address)[0]
    except DaemonError:
        return address


def _mapping(value: t.Any) -> Values:
    return value if isinstance(value, t.Mapping) else {}


def listens_here(daemons: Daemons, hosts: t.Iterable[str]) -> str:
    """Return what listens on the VM's own addresses where a store does. Nothing is sent, and an address of another machine is refused below."""
    for port, kind in PORTS.items():
        for host in hosts:
            try:
                daemons.exchange(Daemon(f"tcp://{host}:{port}", 1.0), b"", lambda answer: True)
            except DaemonError:
                continue
            return f"{kind} (port {port})"
    return ""
