# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A cluster of Patroni on loopback addresses: members with a configuration folder each, an etcd beside each, and PostgreSQL as Debian packages it."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time
import typing as t
import urllib.error
import urllib.request

BINARIES = "/usr/lib/postgresql/15/bin"
USER = "postgres"


class Member:
    """One member: its VM is all processes that it has."""

    def __init__(self, folder: pathlib.Path, name: str, number: int) -> None:
        self.name = name
        self.host = f"127.0.1.{number}"
        self.url = f"http://{self.host}:8008"
        self.etcd = f"http://{self.host}:2379"
        self.home = folder / name
        self.config = self.home / "patroni"
        self.data = self.home / "data"
        self.process: subprocess.Popen[bytes] | None = None

    def configure(self, etcds: str, **more: t.Any) -> None:
        self.config.mkdir(parents=True)
        (self.home / "socket").mkdir()
        access = {"username": "postgres", "password": "secret"}
        config = {
            "scope": "orders",
            "name": self.name,
            "restapi": {"listen": f"{self.host}:8008", "connect_address": f"{self.host}:8008"},
            "etcd3": {"hosts": etcds},
            "bootstrap": {
                "dcs": {
                    "ttl": 30,
                    "loop_wait": 10,
                    "retry_timeout": 10,
                    "synchronous_mode": True,
                    "postgresql": {"use_pg_rewind": True, "parameters": {"max_connections": 40, "shared_buffers": "16MB"}},
                },
                "initdb": [{"encoding": "UTF8"}, "data-checksums"],
            },
            "postgresql": {
                "listen": f"{self.host}:5432",
                "connect_address": f"{self.host}:5432",
                "data_dir": str(self.data),
                "bin_dir": BINARIES,
                "pgpass": str(self.home / "pgpass"),
                "authentication": {"superuser": access, "replication": {"username": "replicator", "password": "secret"}},
                "pg_hba": ["local all all trust", "host all all 127.0.0.0/8 trust", "host replication all 127.0.0.0/8 trust"],
                "parameters": {"unix_socket_directories": str(self.home / "socket")},
            },
            "tags": {"clonefrom": True},
            **more,
        }
        # Written as JSON, which is YAML.
        (self.config / "10-member.yml").write_text(json.dumps(config, indent=1))
        for path in (self.home, *self.home.rglob("*")):
            shutil.chown(path, USER, USER)

    def start(self, config: str = "") -> None:
        as_user = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--init-groups", "--"]
        with (self.home / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [*as_user, "/usr/bin/patroni", config or str(self.config)], cwd=self.home, stdout=log, stderr=log, env={**os.environ, "HOME": str(self.home)}
            )

    def processes(self) -> list[int]:
        """Patroni, the postmaster and its children."""
        parents: dict[int, int] = {}
        for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                text = path.read_text()
                parents[int(path.parent.name)] = int(text.rpartition(")")[2].split()[1])
        roots = [self.process.pid] if self.process and self.process.poll() is None else []
        with contextlib.suppress(OSError, ValueError, IndexError):
            roots.append(int((self.data / "postmaster.pid").read_text().split()[0]))
        found = [one for one in roots if one in parents]
        for one in found:
            found += [child for child, parent in parents.items() if parent == one and child not in found]
        return found

    def signal(self, sign: int) -> None:
        for one in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(one, sign)

    def ask(self, path: str, body: t.Any = None, method: str = "") -> tuple[int, str]:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data, method=method or ("GET" if body is None else "POST"))
        try:
            with urllib.request.urlopen(request, timeout=30) as reply:
                return reply.status, reply.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def sql(self, statement: str, database: str = "postgres") -> str:
        done = subprocess.run(
            [f"{BINARIES}/psql", "-X", "-A", "-t", "-h", self.host, "-U", "postgres", "-d", database, "-c", statement],
            capture_output=True, text=True, timeout=60, check=True,
        )  # fmt: skip
        return done.stdout.strip()


class Cluster:
    """The members and the etcd of each."""

    def __init__(self, folder: pathlib.Path, names: t.Sequence[str], **more: t.Any) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)
        # The servers run as a user of their own.
        for path in (folder, *folder.parents):
            path.chmod(path.stat().st_mode | 0o055)
        self.members = {name: Member(folder, name, number) for number, name in enumerate(names, 1)}
        self.etcds = {name: self._etcd(member) for name, member in self.members.items()}
        first, *others = self.members.values()
        for member in self.members.values():
            member.configure(",".join(f"{one.host}:2379" for one in self.members.values()), **more)
        first.start()
        until(lambda: self.leader() == first.name, 60, "a leader")
        for member in others:
            member.start()
        self.settle()

    def _etcd(self, member: Member) -> subprocess.Popen[bytes]:
        peers = {one.name: f"http://{one.host}:2380" for one in self.members.values()}
        own, every = peers[member.name], ",".join(f"{name}={peer}" for name, peer in peers.items())
        command = ["etcd", "--name", member.name, "--data-dir", str(self.folder / f"etcd-{member.name}"), "--log-level", "error"]
        command += ["--listen-client-urls", member.etcd, "--advertise-client-urls", member.etcd, "--listen-peer-urls", own]
        command += ["--initial-advertise-peer-urls", own, "--initial-cluster", every, "--initial-cluster-state", "new"]
        with (self.folder / f"etcd-{member.name}.log").open("ab") as log:
            return subprocess.Popen(command, stdout=log, stderr=log)

    def voters(self) -> set[str]:
        """The members whose etcd answers and has a leader."""
        found = set()
        for name, member in self.members.items():
            request = urllib.request.Request(f"{member.etcd}/v3/maintenance/status", data=b"{}")
            with contextlib.suppress(OSError, ValueError), urllib.request.urlopen(request, timeout=1) as reply:
                if json.load(reply).get("leader", "0") != "0":
                    found.add(name)
        return found

    def seen(self) -> dict[str, t.Any]:
        """What the first member that answers says of the cluster."""
        for member in self.members.values():
            with contextlib.suppress(OSError, ValueError):
                status, text = member.ask("/cluster")
                if status == 200:
                    return dict(json.loads(text))
        return {"members": []}

    def roles(self) -> dict[str, str]:
        return {one["name"]: one["role"] for one in self.seen()["members"]}

    def sql(self, statement: str) -> str:
        """Run by the leader, as soon as there is one."""
        until(lambda: self.leader() in self.members, 60, "a leader")
        return self.members[self.leader()].sql(statement)

    def of_role(self, role: str) -> str:
        return next((name for name, one in self.roles().items() if one == role), "")

    def leader(self) -> str:
        return self.of_role("leader")

    def settled(self) -> bool:
        """A leader, a synchronous standby, and all run in step."""
        members = self.seen()["members"]
        roles = sorted(one["role"] for one in members)
        fine = all(one["state"] in ("running", "streaming") and one.get("lag", 0) == 0 for one in members)
        return len(members) == len(self.members) and roles[0] == "leader" and roles[-1] == "sync_standby" and fine

    def settle(self, seconds: float = 120) -> None:
        until(self.settled, seconds, "a cluster that has settled", lambda: json.dumps(self.seen()))

    def close(self) -> None:
        for member in self.members.values():
            member.signal(signal.SIGCONT)
            member.signal(signal.SIGKILL)
        for etcd in self.etcds.values():
            etcd.kill()
            etcd.wait(10)


def until(true: t.Callable[[], bool], seconds: float, what: str, shown: t.Callable[[], str] = str) -> float:
    """Wait until something is so; return how long it took."""
    began = time.monotonic()
    while not true():
        if time.monotonic() - began > seconds:
            raise AssertionError(f"not after {seconds} s: {what} {shown()}")
        time.sleep(0.1)
    return time.monotonic() - began
