# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A real Galera cluster: three nodes of MariaDB on one kernel, and writers. In the namespaces of tests/state/inside.sh, whose root it writes to.

There is no systemd in there: a script stands in for systemctl, whose units mariadb@N.service are the nodes.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import typing as t

# Debian's python3-pymysql is plain Python, and needs nothing else.
sys.path.append("/usr/lib/python3/dist-packages")
import pymysql  # type: ignore[import-not-found, import-untyped, unused-ignore]  # noqa: E402

sys.path.remove("/usr/lib/python3/dist-packages")

NODES = ("n1", "n2", "n3")
PASSWORD = "of-the-lab"
CONFIGURATION = """[mysqld]
datadir=/var/lib/mysql-{name}
socket=/run/mysqld/{name}.sock
pid-file=/run/mysqld/{name}.pid
bind-address={address}
user=mysql
log-error=/var/log/mysql/{name}.log
binlog_format=ROW
innodb_autoinc_lock_mode=2
innodb_flush_log_at_trx_commit=2
innodb_buffer_pool_size=32M
wsrep_on=ON
wsrep_provider=/usr/lib/galera/libgalera_smm.so
wsrep_cluster_name=orders
wsrep_cluster_address=gcomm://127.0.0.11,127.0.0.12,127.0.0.13
wsrep_node_name={name}
wsrep_node_address={address}
wsrep_sst_method=rsync
wsrep_provider_options="gmcast.listen_addr=tcp://{address}:4567;ist.recv_addr={address}:4568;gcache.size=64M"
"""
# As systemctl answers for a service of Type=notify: it is active when the server answers.
SYSTEMCTL = """#!/bin/bash
verb=$1
while [ "$1" != -- ]; do shift; done
shift
runs() { pid=$(cat "/run/units/$1" 2> /dev/null) && grep -q '^State:.[^ZX]' "/proc/$pid/status" 2> /dev/null; }
first=yes
for unit; do
  name=${unit#mariadb@} name=${name%.service}
  case $verb in
    start)
      runs "$name" && continue
      first_of_all=$(cat "/run/units/$name.new" 2> /dev/null)
      rm -f "/run/units/$name.stopping" "/run/units/$name.new"
      setsid mariadbd --defaults-file="/etc/mysql/$name.cnf" $first_of_all > /dev/null 2>&1 < /dev/null &
      echo $! > "/run/units/$name"
      ;;
    stop) runs "$name" && { touch "/run/units/$name.stopping"; kill -TERM "$pid"; kill -CONT "$pid"; } ;;
    show)
      state=inactive
      if runs "$name"; then
        state=active
        mariadb-admin --no-defaults --socket="/run/mysqld/$name.sock" --connect-timeout=2 ping > /dev/null 2>&1 || state=activating
        [ -e "/run/units/$name.stopping" ] && state=deactivating
      fi
      [ $first = yes ] || echo
      load=loaded
      [ -e "/etc/mysql/$name.cnf" ] || load=not-found
      printf 'Id=%s\\nLoadState=%s\\nActiveState=%s\\nJob=0\\n' "$unit" $load $state
      first=no
      ;;
  esac
done
exit 0
"""


def run(*words: str, code: int | None = 0, seconds: float = 120) -> str:
    done = subprocess.run(words, capture_output=True, text=True, timeout=seconds, check=False)
    assert code is None or done.returncode == code, f"{words} ended with {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout


def until(holds: t.Callable[[], t.Any], what: str, seconds: float = 90) -> t.Any:
    end = time.monotonic() + seconds
    while True:
        found = holds()
        if found:
            return found
        assert time.monotonic() < end, f"not within {seconds} s: {what}"
        time.sleep(0.1)


def socket(node: str) -> str:
    return f"/run/mysqld/{node}.sock"


def unit(node: str) -> str:
    return f"mariadb@{node}.service"


class Cluster:
    """Three nodes, each the VM of its number."""

    def __init__(self) -> None:
        for folder in ("/run/mysqld", "/run/units", "/var/log/mysql", "/etc/mysql"):
            pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        path = pathlib.Path("/usr/bin/systemctl")
        path.unlink(missing_ok=True)
        path.write_text(SYSTEMCTL)
        path.chmod(0o755)
        run("mariadb-install-db", "--no-defaults", "--user=mysql", "--datadir=/var/lib/mysql-n1", "--auth-root-authentication-method=socket", "--skip-test-db")
        for number, node in enumerate(NODES, 11):
            if node != "n1":
                shutil.copytree("/var/lib/mysql-n1", f"/var/lib/mysql-{node}")
            pathlib.Path(f"/etc/mysql/{node}.cnf").write_text(CONFIGURATION.format(name=node, address=f"127.0.0.{number}"))
            run("chown", "-R", "mysql:mysql", f"/var/lib/mysql-{node}", "/run/mysqld", "/var/log/mysql")
        pathlib.Path("/run/units/n1.new").write_text("--wsrep-new-cluster")
        for node in NODES:
            self.start(node)
            until(lambda: self.in_step(node), f"{node} is in step")  # noqa: B023  it is called right here
        self.ask("n1", f"CREATE DATABASE shop; CREATE USER writer IDENTIFIED BY '{PASSWORD}'; GRANT ALL ON shop.* TO writer")

    def start(self, node: str) -> None:
        run("systemctl", "start", "--no-block", "--", unit(node))

    def stop(self, node: str) -> None:
        run("systemctl", "stop", "--no-block", "--", unit(node))
        until(lambda: not self.processes_of(node), f"{node} has stopped")

    @staticmethod
    def processes_of(node: str) -> list[int]:
        """The server, if it runs: as the unit of the stand-in, or as one that it has left."""
        found = []
        for place in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if f"--defaults-file=/etc/mysql/{node}.cnf".encode() in (place / "cmdline").read_bytes().split(b"\0"):
                    found.append(int(place.name))
        return found

    def kill(self, node: str) -> None:
        """End a VM at once."""
        for process in self.processes_of(node):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        until(lambda: not self.processes_of(node), f"{node} is gone")

    @staticmethod
    def ask(node: str, statements: str, code: int | None = 0) -> str:
        return run("mariadb", "--no-defaults", f"--socket={socket(node)}", "--batch", "--skip-column-names", f"--execute={statements}", code=code, seconds=60)

    def status(self, node: str) -> dict[str, str]:
        answer = self.ask(node, "SHOW GLOBAL STATUS LIKE 'wsrep%'; SHOW GLOBAL VARIABLES LIKE 'wsrep_reject_queries'", code=None)
        return dict(line.partition("\t")[::2] for line in answer.splitlines())

    def in_step(self, node: str) -> bool:
        about = self.status(node)
        return (about.get("wsrep_local_state_comment"), about.get("wsrep_cluster_status"), about.get("wsrep_ready")) == ("Synced", "Primary", "ON")

    def size(self, node: str) -> int:
        return int(self.status(node).get("wsrep_cluster_size", 0))

    def settle(self) -> None:
        """All nodes in step, and empty tables."""
        for node in NODES:
            self.start(node)
        until(lambda: all(self.in_step(node) and self.size(node) == 3 for node in NODES), "all are in step")
        for node in NODES:
            self.ask(node, "SET GLOBAL wsrep_reject_queries=NONE")
        for node in NODES:
            self.ask("n1", f"CREATE OR REPLACE TABLE shop.{node} (number INT PRIMARY KEY)")

    def present(self, table: str, node: str = "n3") -> list[int]:
        return [int(line) for line in self.ask(node, f"SET SESSION wsrep_sync_wait=1; SELECT number FROM shop.{table}").split()]

    def close(self) -> None:
        for node in NODES:
            self.kill(node)


class Arbitrator:
    """garbd, which votes and has no rows: the VM of its address. It leaves as a VM does that is gone at once."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def __enter__(self) -> Arbitrator:
        size = self._cluster.size("n1")
        words = ["garbd", "--group=orders", "--address=gcomm://127.0.0.11,127.0.0.12", "--options=gmcast.listen_addr=tcp://127.0.0.14:4567"]
        nowhere = subprocess.DEVNULL
        # It writes a file of its own to the folder that it is started in.
        self._process = subprocess.Popen(words, stdin=nowhere, stdout=nowhere, stderr=nowhere, start_new_session=True, cwd="/tmp")
        until(lambda: self._cluster.size("n1") == size + 1, "the arbitrator votes")
        return self

    def __exit__(self, *error: object) -> None:
        self._process.kill()
        self._process.wait(30)


class Client:
    """Writes on one node, each row a transaction of its own, and goes to the next after an error, if it may."""

    def __init__(self, table: str, nodes: t.Sequence[str]) -> None:
        self.table, self._nodes, self._place = table, nodes, 0
        self._connection: t.Any = None

    def __call__(self, number: int) -> None:
        try:
            if self._connection is None:
                address = f"127.0.0.{11 + NODES.index(self._nodes[self._place % len(self._nodes)])}"
                self._connection = pymysql.connect(
                    host=address, user="writer", password=PASSWORD, database="shop", autocommit=True, connect_timeout=2, read_timeout=60
                )
            with self._connection.cursor() as cursor:
                cursor.execute(f"INSERT INTO {self.table} VALUES (%s)", (number,))
        except Exception:
            self._place += 1
            self._connection = None
            raise
