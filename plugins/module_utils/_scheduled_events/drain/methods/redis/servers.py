# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""The Redis of a VM and the Sentinels that watch it, as a drain method sees them: one connection for what is asked at a time."""

from __future__ import annotations

import re
import typing as t

from ....core.printable_text import printable
from ....core.types import Values
from ....host.machine.daemons import Daemon, DaemonError, Daemons
from ..method import MethodError
from .resp import ErrorReply, Reply, encode, parse

LONGEST_SAID = 200
NUMBER = re.compile(r"[0-9]{1,10}")
# In a command to paste: a record may have the address of another VM's Redis.
LOOPBACK = re.compile(r"127(\.[0-9]{1,3}){3}|localhost")
HOST = re.compile(r"[A-Za-z0-9_.:-]{1,255}")
# Of any cluster. Their addresses get into the record.
MOST_SERVERS = 64
MASTER, COPY = "master", "slave"
# The default of min-replicas-max-lag, in seconds.
USUAL_LAG = 10
# Calls of CLIENT PAUSE have a line of their own in INFO commandstats.
COUNTS = (7,)
# What Sentinel calls a replica that it does not choose.
DOWN = {"s_down", "o_down", "disconnected"}


class Server:
    """One Redis, Valkey or Sentinel."""

    def __init__(self, daemons: Daemons, daemon: Daemon) -> None:
        self._daemons = daemons
        # An exchange sends nothing by itself: user and password go with each connection, as bulk strings.
        self._daemon = daemon._replace(username="", password_file="")
        self._user, self._password_file = daemon.username, daemon.password_file
        self.address = daemon.url.partition("://")[2]

    def ask(self, *commands: t.Sequence[str]) -> list[Reply]:
        """Return one answer for each command. Raise DaemonError where there is none, or where the password is not accepted."""
        secret = self._daemons.secret(self._password_file) if self._password_file else ""
        login = [["AUTH", *([self._user] if self._user else []), secret]] if secret else []
        wanted = len(login) + len(commands)
        answer = self._daemons.exchange(self._daemon, encode([*login, *commands]), lambda data: len(parse(data, wanted)) == wanted)
        replies = [_without(secret, reply) for reply in parse(answer, wanted)]
        if login and replies and replies[0] != "OK":
            raise DaemonError(f"{self.address} does not accept the user or the password in {self._password_file}")
        if len(replies) < wanted:
            # Redis in protected mode, or with too many clients, says so and ends the connection.
            why = f": {said(replies[-1])}" if replies and isinstance(replies[-1], ErrorReply) else ""
            raise DaemonError(f"{self.address} has ended the connection{why}")
        return replies[len(login) :]

    def order(self, *words: str) -> None:
        """Have a command carried out. Raise MethodError with what the server says if it does not answer OK."""
        (reply,) = self.ask(words)
        if reply != "OK":
            # The words are those of this collection and of the settings: none is secret.
            raise MethodError(f"{self.address} refuses {' '.join(words[:3])}: {said(reply)}")


class Redis(t.NamedTuple):
    """The Redis of the VM at one moment."""

    run_id: str
    version: tuple[int, ...]
    coordinates: bool
    """Whether it is a Valkey that lets a Sentinel coordinate a failover."""
    role: str
    """master or slave."""
    master: str
    """Of a replica: the address of its master."""
    link_up: bool
    """Of a replica: whether it gets all that its master writes."""
    offset: int
    copies: t.Mapping[str, int]
    """Of a master: the offset that each connected replica has acknowledged, by its address. One that hangs, so that the master does not count it, is none."""
    failing_over: bool
    priority: str
    min_replicas: str
    wanted: int
    """How many replicas a master must have to take writes: min-replicas-max-lag 0 switches that off."""
    paused: int
    """How often its clients were paused since it has started; -1 where it does not count that, as before 7.0."""


class Copy(t.NamedTuple):
    """One replica, as a Sentinel knows it."""

    address: str
    run_id: str
    priority: str
    down: str
    """How it is down for this Sentinel; empty where it is not."""

    @property
    def excluded(self) -> str:
        """Return why Sentinel does not choose it, or an empty text."""
        return "its replica-priority is 0" if self.priority == "0" else self.down

    @property
    def eligible(self) -> bool:
        """Return whether Sentinel may choose it."""
        return not self.excluded


class Watch(t.NamedTuple):
    """What one Sentinel knows of a master."""

    sentinel: str
    master: str
    run_id: str
    down: str
    """How the master is down for it; empty where it is not."""
    fails_over: bool
    """Whether it is about a failover."""
    peers: t.Mapping[str, bool]
    """Whether it can reach each of the other Sentinels, by their addresses."""
    quorum: int
    down_after: int
    """After how many milliseconds without an answer it calls a server down; -1 where it does not say so."""
    copies: t.Sequence[Copy]
    tilted: bool
    """Whether it does not act for half a minute, as after it stood still: it takes an order for a failover, and begins it later."""
    no_quorum: str
    """What it says of the quorum, where that is not reached."""
    coordinates: bool


def observe_redis(server: Server) -> Redis:
    """Return the state of the VM's own Redis. Raise DaemonError or MethodError."""
    replies = server.ask(
        ("INFO", "server"),
        ("INFO", "replication"),
        ("INFO", "commandstats"),
        ("CONFIG", "GET", "replica-priority"),
        ("CONFIG", "GET", "min-replicas-to-write"),
        ("CONFIG", "GET", "min-replicas-max-lag"),
    )
    about, state, calls = (_info(server, reply) for reply in replies[:3])
    priority, min_replicas, max_lag = (_setting(server, reply) for reply in replies[3:])
    version = _version(about.get("redis_version", ""))
    return Redis(
        run_id=about.get("run_id", ""),
        version=version,
        coordinates=_coordinates(about),
        role=state.get("role", ""),
        master=_of(server, {"ip": state.get("master_host"), "port": state.get("master_port")}) if "master_host" in state else "",
        link_up=state.get("master_link_status") == "up" and state.get("master_sync_in_progress") == "0",
        offset=_whole(state.get("master_repl_offset")),
        copies=dict(_connected(server, state, int(max_lag) or USUAL_LAG)),
        failing_over=state.get("master_failover_state", "no-failover") != "no-failover",
        priority=priority,
        min_replicas=min_replicas,
        wanted=int(min_replicas) if int(max_lag) else 0,
        paused=max(_whole(calls.get("cmdstat_client|pause", "").partition("calls=")[2].partition(",")[0]), 0) if version >= COUNTS else -1,
    )


def observe_sentinel(server: Server, name: str) -> Watch:
    """Return what a Sentinel knows of a master. Raise DaemonError, or MethodError where it does not know the master."""
    master, copies, others, address, quorum, info, state = server.ask(
        ("SENTINEL", "MASTER", name),
        ("SENTINEL", "REPLICAS", name),
        ("SENTINEL", "SENTINELS", name),
        ("SENTINEL", "GET-MASTER-ADDR-BY-NAME", name),
        ("SENTINEL", "CKQUORUM", name),
        ("INFO", "server"),
        ("INFO", "sentinel"),
    )
    about = _pairs(server, master)
    return Watch(
        sentinel=server.address,
        master=_address(server, address),
        run_id=about.get("runid", ""),
        down=_down(about),
        fails_over="failover_in_progress" in about.get("flags", ""),
        peers={_of(server, one): not _down(one) for one in _listed(server, others)},
        quorum=_whole(about.get("quorum")),
        down_after=_whole(about.get("down-after-milliseconds")),
        copies=[Copy(_of(server, one), one.get("runid", ""), one.get("slave-priority", ""), _down(one)) for one in _listed(server, copies)],
        tilted=_info(server, state).get("sentinel_tilt") == "1",
        no_quorum="" if isinstance(quorum, str) and quorum.startswith("OK") else said(quorum),
        coordinates=_coordinates(_info(server, info)),
    )


def master_address(server: Server, name: str) -> str:
    """Return the address that a Sentinel gives to clients. Raise DaemonError or MethodError."""
    return _address(server, server.ask(("SENTINEL", "GET-MASTER-ADDR-BY-NAME", name))[0])


def said(reply: Reply) -> str:
    """Return in words what a server has answered. Only of an error is known that it has no password, see _without()."""
    return printable(reply.text, LONGEST_SAID) if isinstance(reply, ErrorReply) else f"an unexpected {type(reply).__name__}"


def _without(secret: str, reply: Reply) -> Reply:
    """Return an error without the password, which a server might repeat: errors get into records and reports."""
    return ErrorReply(reply.text.replace(secret, "***")) if secret and isinstance(reply, ErrorReply) else reply


def _info(server: Server, reply: Reply) -> dict[str, str]:
    if not isinstance(reply, str):
        raise MethodError(f"{server.address} refuses INFO: {said(reply)}")
    parts = (line.partition(":") for line in reply.splitlines())
    return {key: value for key, colon, value in parts if colon}


def _setting(server: Server, reply: Reply) -> str:
    if isinstance(reply, list) and len(reply) >= 2 and isinstance(reply[1], str) and NUMBER.fullmatch(reply[1]):
        return reply[1]
    raise MethodError(f"{server.address} refuses CONFIG GET: {said(reply)}")


def _pairs(server: Server, reply: Reply) -> dict[str, str]:
    if not isinstance(reply, list):
        raise MethodError(f"Sentinel {server.address}: {said(reply)}")
    texts = [one if isinstance(one, str) else "" for one in reply]
    return dict(zip(texts[::2], texts[1::2]))


def _listed(server: Server, reply: Reply) -> list[dict[str, str]]:
    if not isinstance(reply, list) or len(reply) > MOST_SERVERS:
        raise MethodError(f"Sentinel {server.address}: {said(reply)}")
    return [_pairs(server, one) for one in reply]


def _address(server: Server, reply: Reply) -> str:
    if isinstance(reply, list) and len(reply) == 2:
        return _of(server, {"ip": reply[0], "port": reply[1]})
    raise MethodError(f"Sentinel {server.address} names no master: {said(reply)}")


def _of(server: Server, about: Values) -> str:
    """Return the address of a Redis. Raise MethodError where it has the form of none: it gets into messages and records."""
    host, port = str(about.get("ip")), str(about.get("port"))
    if HOST.fullmatch(host) and NUMBER.fullmatch(port):
        return f"{host}:{port}"
    raise MethodError(f"{server.address} names a Redis without a usable address: {printable(host, 80)}")


def _down(about: t.Mapping[str, str]) -> str:
    return ", ".join(sorted(DOWN.intersection(about.get("flags", "").split(","))))


def _connected(server: Server, state: t.Mapping[str, str], max_lag: int) -> t.Iterator[tuple[str, int]]:
    """Return the replicas that are connected to a master, stream what it writes, and have said so within as many seconds as the master takes them for good."""
    for key, value in state.items():
        if key.startswith(COPY) and key[len(COPY) :].isdigit():
            about = dict(part.partition("=")[::2] for part in value.split(","))
            if about.get("state") == "online" and _whole(about.get("lag")) <= max_lag:
                yield _of(server, about), _whole(about.get("offset"))


def _whole(text: str | None) -> int:
    return int(text) if text and len(text) < 20 and text.isdecimal() else -1


def _version(text: str) -> tuple[int, ...]:
    return tuple(max(_whole(part), 0) for part in text.split(".")[:3])


def _coordinates(about: t.Mapping[str, str]) -> bool:
    """Return whether a Valkey knows SENTINEL FAILOVER ... COORDINATED. Sentinels of 9.1.0 could crash at it: valkey#4066."""
    version = _version(about.get("valkey_version", ""))
    return version >= (9,) and version != (9, 1, 0)
