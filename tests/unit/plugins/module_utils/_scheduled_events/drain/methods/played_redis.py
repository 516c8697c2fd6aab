# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Three Redis and three Sentinels, played. Every answer is word for word one of Redis 7.0.15 or Valkey 9.1.2, with other names and numbers."""

from __future__ import annotations

import datetime
import typing as t

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.methods.redis.resp import parse
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine.daemons import DaemonError

OK = b"+OK\r\n"
QUORUM = b"+OK 3 usable Sentinels. Quorum and failover authorization can be reached\r\n"
NO_QUORUM = (
    b"-NOQUORUM 1 usable Sentinels. Not enough available Sentinels to reach the specified quorum for this master. "
    b"Not enough available Sentinels to reach the majority and authorize a failover\r\n"
)
NO_MASTER = b"-ERR No such master with that name\r\n"
NO_GOOD = b"-NOGOODSLAVE No suitable replica to promote\r\n"
IN_PROGRESS = b"-INPROG Failover already in progress\r\n"
UNKNOWN_WORD = b"-ERR wrong number of arguments for 'sentinel|failover' command\r\n"
REDIS_7 = "redis_version:7.0.15\r\nredis_mode:standalone\r\n"
VALKEY_9 = "redis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:9.1.2\r\nserver_mode:standalone\r\n"
ADDRESSES = {"A": "10.0.0.4:6379", "B": "10.0.0.5:6379", "C": "10.0.0.6:6379"}
SENTINELS = ["10.0.0.4:26379", "10.0.0.5:26379", "10.0.0.6:26379"]


def bulk(text: str | None) -> bytes:
    data = None if text is None else text.encode()
    return b"$-1\r\n" if data is None else b"$%d\r\n%s\r\n" % (len(data), data)


def array(*items: bytes) -> bytes:
    return b"*%d\r\n%s" % (len(items), b"".join(items))


def pairs(**values: str) -> bytes:
    return array(*(bulk(text) for pair in values.items() for text in (pair[0].replace("_", "-"), pair[1])))


def run_id(letter: str) -> str:
    return letter.lower() * 40


class PlayedRedis:
    """The Redis of the VM."""

    def __init__(self, letter: str = "A", role: str = "master") -> None:
        self.run_id, self.role, self.about = run_id(letter), role, REDIS_7
        self.master, self.link = ADDRESSES["A"], "up"
        self.offset, self.copies = 1243, {"B": ("online", 1243), "C": ("online", 1243)}
        self.settings = {"replica-priority": "100", "min-replicas-to-write": "0"}
        self.max_lag, self.lags = "10", {}
        self.failover = "no-failover"
        self.paused, self.pauses, self.counted = False, [], 0
        self.refuses: dict[str, bytes] = {}
        self.on: dict[str, t.Callable[[], t.Any]] = {}

    def replication(self) -> str:
        if self.role == "master":
            copies = "".join(
                "slave{}:ip={},port={},state={},offset={},lag={}\r\n".format(number, *ADDRESSES[letter].split(":"), *about, self.lags.get(letter, 0))
                for number, (letter, about) in enumerate(self.copies.items())
            )
            return (
                f"# Replication\r\nrole:master\r\nconnected_slaves:{len(self.copies)}\r\n{copies}master_failover_state:{self.failover}\r\n"
                f"master_replid:16dc63142f050a7dc7d05b5c7f982b3a993a53d4\r\nmaster_repl_offset:{self.offset}\r\nsecond_repl_offset:-1\r\n"
            )
        host, port = self.master.split(":")
        return (
            f"# Replication\r\nrole:slave\r\nmaster_host:{host}\r\nmaster_port:{port}\r\nmaster_link_status:{self.link}\r\nmaster_last_io_seconds_ago:0\r\n"
            f"master_sync_in_progress:0\r\nslave_repl_offset:1243\r\nslave_priority:{self.settings['replica-priority']}\r\nconnected_slaves:0\r\n"
            f"master_failover_state:{self.failover}\r\nmaster_repl_offset:1243\r\n"
        )

    def answer(self, words: list[str]) -> bytes:
        line = " ".join(words)
        for begin, refusal in self.refuses.items():
            if line.startswith(begin):
                return refusal
        for begin, act in self.on.items():
            if line.startswith(begin):
                act()
        if words[0] == "INFO":
            return bulk(self._info(words[1]))
        return self._config(words) if words[0] == "CONFIG" else self._changed(line, words)

    def _info(self, section: str) -> str:
        if section == "commandstats":
            calls = f"cmdstat_client|pause:calls={self.counted},usec=17,usec_per_call=17.00,rejected_calls=0,failed_calls=0\r\n" if self.counted else ""
            return f"# Commandstats\r\ncmdstat_info:calls=7,usec=500,usec_per_call=71.43,rejected_calls=0,failed_calls=0\r\n{calls}"
        return self.replication() if section == "replication" else f"# Server\r\n{self.about}run_id:{self.run_id}\r\ntcp_port:6379\r\n"

    def _config(self, words: list[str]) -> bytes:
        if words[1] == "GET":
            return array(bulk(words[2]), bulk(self.max_lag if words[2] == "min-replicas-max-lag" else self.settings[words[2]]))
        if words[1] == "SET":
            self.settings[words[2]] = words[3]
        return OK

    def _changed(self, line: str, words: list[str]) -> bytes:
        if line.startswith("CLIENT PAUSE"):
            self.paused, self.pauses, self.counted = True, [*self.pauses, int(words[2])], self.counted + 1
        elif line == "CLIENT UNPAUSE":
            self.paused = False
        elif line.startswith("REPLICAOF"):
            self.role, self.master = "slave", ":".join(words[1:])
        else:
            return {"FAILOVER ABORT": b"-ERR No failover in progress.\r\n", "CLIENT KILL TYPE normal": b":7\r\n"}[line]
        return OK


class PlayedSentinel:
    """One Sentinel: whom it calls master, and what it knows of the replicas."""

    def __init__(self, own: str) -> None:
        self.master, self.flags, self.quorum, self.down_after = "A", "master", QUORUM, "30000"
        # The other Sentinels, with the flags that they have here.
        self.others = {address: "sentinel" for address in SENTINELS if address != own}
        self.about = REDIS_7
        self.copies = {"B": ("100", "slave"), "C": ("100", "slave")}
        self.failover: bytes = OK
        self.coordinated: bytes = UNKNOWN_WORD
        self.on_failover: t.Callable[[], t.Any] = lambda: None
        self.address: str | None = None
        self.unknown = self.tilted = False

    def answer(self, words: list[str]) -> bytes:
        if words == ["INFO", "server"]:
            return bulk(f"# Server\r\n{self.about}run_id:{'e' * 40}\r\n")
        if words == ["INFO", "sentinel"]:
            return bulk(f"# Sentinel\r\nsentinel_masters:1\r\nsentinel_tilt:{int(self.tilted)}\r\nsentinel_tilt_since_seconds:{28 if self.tilted else -1}\r\n")
        assert words[0] == "SENTINEL" and words[2] == "mymaster", words
        if self.unknown:
            return b"*-1\r\n" if words[1].startswith("GET") else NO_MASTER
        host, port = (self.address or ADDRESSES[self.master]).split(":")
        if words[1] == "MASTER":
            return pairs(name="mymaster", ip=host, port=port, runid=run_id(self.master), flags=self.flags, **self._more())
        if words[1] == "REPLICAS":
            return array(*(self._copy(letter, *about) for letter, about in self.copies.items()))
        if words[1] == "SENTINELS":
            return array(*(self._other(*address.split(":"), flags) for address, flags in self.others.items()))
        if words[1] == "CKQUORUM":
            return self.quorum
        if words[1] == "GET-MASTER-ADDR-BY-NAME":
            return array(bulk(host), bulk(port))
        assert words[1] == "FAILOVER", words
        reply = self.coordinated if words[3:] == ["COORDINATED"] else self.failover
        if reply == OK:
            self.on_failover()
        return reply

    def _more(self) -> dict[str, str]:
        return {"num_other_sentinels": str(len(self.others)), "quorum": "2", **({"down_after_milliseconds": self.down_after} if self.down_after else {})}

    @staticmethod
    def _other(host: str, port: str, flags: str) -> bytes:
        return pairs(name="f" * 40, ip=host, port=port, flags=flags)

    @staticmethod
    def _copy(letter: str, priority: str, flags: str) -> bytes:
        host, port = ADDRESSES[letter].split(":")
        about = {"name": ADDRESSES[letter], "ip": host, "port": port, "runid": run_id(letter), "flags": flags}
        return pairs(**about, slave_priority=priority, slave_repl_offset="1243", replica_announced="1")


class Played:
    """All servers, and a clock that runs while somebody sleeps."""

    def __init__(self, role: str = "master") -> None:
        self.redis = PlayedRedis("A" if role == "master" else "B", role)
        self.sentinels = {address: PlayedSentinel(address) for address in SENTINELS}
        self.sent: list[tuple[str, str]] = []
        self.daemons: list[t.Any] = []
        self.away: set[str] = set()
        self.time = datetime.datetime(2026, 11, 27, 20, 0, 0)
        self.passing: t.Callable[[], t.Any] = lambda: None
        self.password: str | None = None
        self.secrets: dict[str, str] = {}

    def sleep(self, seconds: float) -> None:
        self.time += datetime.timedelta(seconds=seconds)
        self.passing()

    def now(self) -> str:
        return self.time.strftime("%Y-%m-%dT%H:%M:%S.%fZ")

    def all_name(self, letter: str) -> None:
        """Let all Sentinels have another master, and the old one among its replicas."""
        for one in self.sentinels.values():
            one.master = letter
            one.copies = {other: ("100", "slave") for other in ADDRESSES if other != letter}

    def noticed(self) -> None:
        """Let all Sentinels see the replica-priority that the VM's Redis has now."""
        for one in self.sentinels.values():
            letter = self.redis.run_id[0].upper()
            if letter in one.copies:
                one.copies[letter] = (self.redis.settings["replica-priority"], "slave")

    # As Daemons have it.

    def secret(self, path: str) -> str:
        return self.secrets[path]

    def exchange(self, daemon: t.Any, data: bytes, is_complete: t.Callable[[bytes], bool]) -> bytes:
        self.daemons.append(daemon)
        address = daemon.url.partition("://")[2]
        if address in self.away:
            raise DaemonError(f"{daemon.url}: Connection refused")
        server = self.sentinels.get(address) or self.redis
        answer = b""
        for words in self._commands(data):
            if words[0] == "AUTH":
                answer += OK if words[-1] == self.password else b"-WRONGPASS invalid username-password pair or user is disabled.\r\n"
                continue
            self.sent.append((address, " ".join(words)))
            answer += server.answer(words)
        assert not is_complete(answer[:-1]) and is_complete(answer)
        return answer

    @staticmethod
    def _commands(data: bytes) -> list[list[str]]:
        for wanted in range(1, 20):
            try:
                return t.cast("list[list[str]]", parse(data, wanted))
            except ValueError:
                continue
        raise AssertionError("more than 20 commands")

    def orders(self) -> list[str]:
        """What was sent that changes something, in order."""
        reads = ("INFO", "CONFIG GET", "SENTINEL MASTER", "SENTINEL REPLICAS", "SENTINEL SENTINELS", "SENTINEL GET", "SENTINEL CKQUORUM")
        return [f"{'sentinel: ' if address in self.sentinels else ''}{line}" for address, line in self.sent if not line.startswith(reads)]
