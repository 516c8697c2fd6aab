# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Three VMs on loopback addresses, each with a Redis (or Valkey) and a Sentinel, and a client that asks a Sentinel after each error."""

from __future__ import annotations

import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import time
import typing as t

REDIS, SENTINEL = 6379, 26379
MASTER = "mymaster"
# The least that the documentation says that the method needs.
USER = "maintenance"
MAY = "+info +config|get +config|set +config|rewrite +client|pause +client|unpause +client|kill +replicaof +failover"
SECONDS = 3.0


class Refused(Exception):
    """A server has answered with an error."""


class Connection:
    """A client's connection; nothing of the collection is used."""

    def __init__(self, host: str, port: int, seconds: float = SECONDS) -> None:
        self._socket = socket.create_connection((host, port), seconds)
        self._stream = self._socket.makefile("rb")

    def __call__(self, *words: str) -> t.Any:
        self._socket.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word.encode()), word.encode()) for word in words))
        return self._reply()

    def _reply(self) -> t.Any:
        line = self._stream.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the connection has ended")
        kind, rest = line[:1], line[1:-2]
        if kind == b"-":
            raise Refused(rest.decode())
        if kind in b"+:":
            return rest.decode()
        size = int(rest)
        if size < 0:
            return None
        return self._stream.read(size + 2)[:-2].decode() if kind == b"$" else [self._reply() for _item in range(size)]

    def close(self) -> None:
        self._stream.close()
        self._socket.close()


class Vm:
    """One VM: all processes that it has are a Redis and a Sentinel."""

    def __init__(self, folder: pathlib.Path, name: str, number: int, binary: str) -> None:
        self.name, self.host, self.home, self._binary = name, f"127.0.1.{number}", folder / name, binary
        self.address, self.sentinel = f"{self.host}:{REDIS}", f"{self.host}:{SENTINEL}"
        self.running: list[subprocess.Popen[bytes]] = []

    def configure(self, master: str, password: str) -> None:
        self.home.mkdir(parents=True)
        about = f"bind {self.host}\nprotected-mode no\ndir {self.home}\n"
        account = f"user {USER} on >{password} resetkeys"
        replica = "" if master == self.host else f"replicaof {master} {REDIS}\n"
        self._file("redis").write_text(f"{about}port {REDIS}\nappendonly yes\nreplica-announce-ip {self.host}\n{replica}{account} {MAY}\n")
        watched = f"sentinel monitor {MASTER} {master} {REDIS} 2\nsentinel down-after-milliseconds {MASTER} 5000\nsentinel failover-timeout {MASTER} 60000\n"
        self._file("sentinel").write_text(f"{about}port {SENTINEL}\nsentinel announce-ip {self.host}\n{watched}{account} +info +sentinel\n")

    def _file(self, kind: str) -> pathlib.Path:
        return self.home / f"{kind}.conf"

    def configuration(self) -> str:
        """What Redis would read at its next start."""
        return self._file("redis").read_text()

    def start(self) -> None:
        for kind, more in (("redis", ()), ("sentinel", ("--sentinel",))):
            with (self.home / f"{kind}.log").open("ab") as log:
                self.running.append(subprocess.Popen([self._binary, str(self._file(kind)), *more], stdout=log, stderr=log))

    def processes(self) -> list[int]:
        return [one.pid for one in self.running]

    def signal(self, sign: int) -> None:
        for one in self.running:
            one.send_signal(sign)

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        for one in self.running:
            one.wait(10)
        self.running = []

    def ask(self, *words: str, port: int = REDIS) -> t.Any:
        connection = Connection(self.host, port)
        try:
            return connection(*words)
        finally:
            connection.close()

    def of_sentinel(self, command: str) -> t.Any:
        return self.ask("SENTINEL", command, MASTER, port=SENTINEL)

    def setting(self, name: str) -> str:
        return str(self.ask("CONFIG", "GET", name)[1])

    def state(self) -> dict[str, str]:
        return dict(line.partition(":")[::2] for line in self.ask("INFO", "replication").splitlines())


class Cluster:
    """The VMs, with the first as master."""

    def __init__(self, folder: pathlib.Path, names: t.Sequence[str], binary: str = "/usr/bin/redis-server") -> None:
        self.vms = {name: Vm(folder, name, number, binary) for number, name in enumerate(names, 1)}
        self.password_file = folder / "password"
        folder.mkdir()
        self.password_file.touch(mode=0o600)
        self.password_file.write_text("s3cret-of-maintenance\n")
        first = next(iter(self.vms.values()))
        for vm in self.vms.values():
            vm.configure(first.host, self.password_file.read_text().strip())
            vm.start()
        self.settle()

    def method(self, name: str) -> dict[str, t.Any]:
        """The entry of drain_methods of one VM."""
        return {
            "method": "redis_sentinel",
            "address": self.vms[name].address,
            "sentinels": [vm.sentinel for vm in self.vms.values()],
            "members": {vm.host: vm.name for vm in self.vms.values()},
            **{f"{of}{key}": value for of in ("", "sentinel_") for key, value in (("username", USER), ("password_file", str(self.password_file)))},
        }

    def master(self) -> str:
        """The VM that the Sentinels that answer name; empty where they do not agree."""
        named = set()
        for vm in self.vms.values():
            try:
                named.add(vm.of_sentinel("GET-MASTER-ADDR-BY-NAME")[0])
            except OSError:
                continue
        return next((vm.name for vm in self.vms.values() if named == {vm.host}), "")

    def replicas(self) -> list[str]:
        return [name for name in self.vms if name != self.master()]

    def priorities(self, names: t.Iterable[str]) -> set[str]:
        """What the Sentinels of these VMs have as replica-priority of the replicas."""
        return {copy[copy.index("slave-priority") + 1] for name in names for copy in self.vms[name].of_sentinel("REPLICAS")}

    def tilted(self, names: t.Iterable[str] = ()) -> list[str]:
        """Whose Sentinels do not act for half a minute, because they stood still."""
        return [name for name in names or self.vms if "sentinel_tilt:1" in str(self.vms[name].ask("INFO", "sentinel", port=SENTINEL))]

    def settled(self) -> str:
        """What is not yet as it is when nothing has happened for a while; empty where all is."""
        try:
            master = self.master()
            if not master:
                return "the Sentinels do not agree"
            roles = {name: vm.state() for name, vm in self.vms.items()}
            if roles[master]["role"] != "master" or roles[master].get("connected_slaves") != str(len(self.vms) - 1):
                return f"{master} is no master with all replicas"
            if any(roles[name].get("master_link_status") != "up" for name in self.vms if name != master):
                return "a replica is not in step"
            if tilted := self.tilted():
                return f"the Sentinels of {', '.join(tilted)} do not act"
            for vm in self.vms.values():
                about, copies = vm.of_sentinel("MASTER"), vm.of_sentinel("REPLICAS")
                known = dict(zip(about[::2], about[1::2]))
                flags = [(one[one.index("flags") + 1], one[one.index("slave-priority") + 1], one[one.index("master-link-status") + 1]) for one in copies]
                if (known["flags"], known["num-other-sentinels"]) != ("master", "2") or flags != [("slave", "100", "ok")] * 2:
                    return f"the Sentinel of {vm.name} has {known['flags']}, {known['num-other-sentinels']}, {flags}"
                if not vm.of_sentinel("CKQUORUM").startswith("OK 3"):
                    return "not all Sentinels are usable"
        except (OSError, Refused, KeyError) as error:
            return repr(error)
        return ""

    def settle(self, seconds: float = 90) -> None:
        until(lambda: not self.settled(), seconds, "a cluster that has settled", self.settled)

    def set_all(self, name: str, value: str) -> None:
        for vm in self.vms.values():
            vm.ask("CONFIG", "SET", name, value)

    def be_patient(self, milliseconds: str) -> None:
        """Let the Sentinels call a server down after so long without an answer."""
        for vm in self.vms.values():
            vm.ask("SENTINEL", "SET", MASTER, "down-after-milliseconds", milliseconds, port=SENTINEL)

    @contextlib.contextmanager
    def away(self, name: str) -> t.Iterator[None]:
        """One VM stands still, and the Sentinels of the others know it."""
        others = [vm for vm in self.vms.values() if vm.name != name]
        self.vms[name].signal(signal.SIGSTOP)
        try:
            until(lambda: all("s_down" in str(vm.of_sentinel("REPLICAS")) for vm in others), 30, "Sentinels that know that a replica is down")
            yield
        finally:
            self.vms[name].signal(signal.SIGCONT)

    def clear(self) -> None:
        """Forget what an earlier writer wrote: its numbers are those of the next one, too."""
        self.vms[self.master()].ask("FLUSHALL")

    def present(self) -> set[int]:
        """The numbers that the master has."""
        master = self.vms[self.master()]
        return {int(number) for number in master.ask("LRANGE", "list", "0", "-1")} | {int(key[4:]) for key in master.ask("KEYS", "key:*")}

    def close(self) -> None:
        for vm in self.vms.values():
            vm.signal(signal.SIGCONT)
            vm.kill()


class Client:
    """Writes to the master that a Sentinel names, which is empty at first, and asks again after each error."""

    def __init__(self, cluster: Cluster, seconds: float = SECONDS) -> None:
        cluster.clear()
        self._cluster, self._seconds = cluster, seconds
        self._connection: Connection | None = None

    def write(self, number: int) -> None:
        try:
            if self._connection is None:
                self._connection = self._connect()
            self._connection(*(("SET", f"key:{number}", str(number)) if number % 2 else ("RPUSH", "list", str(number))))
        except (OSError, Refused):
            self.close()
            raise

    def _connect(self) -> Connection:
        for vm in self._cluster.vms.values():
            try:
                asked = Connection(vm.host, SENTINEL, 0.3)
                host, port = asked("SENTINEL", "GET-MASTER-ADDR-BY-NAME", MASTER)
                asked.close()
            except OSError:
                continue
            found = Connection(host, int(port), self._seconds)
            if found("ROLE")[0] == "master":
                return found
            found.close()
        raise ConnectionError("no Sentinel names a master")

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def until(true: t.Callable[[], bool], seconds: float, what: str, shown: t.Callable[[], str] = str) -> float:
    """Wait until something is so; return how long it took."""
    began = time.monotonic()
    while not true():
        if time.monotonic() - began > seconds:
            raise AssertionError(f"not after {seconds} s: {what}: {shown()}")
        time.sleep(0.1)
    return time.monotonic() - began


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
