# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A real RabbitMQ: three nodes on one kernel, and a publisher with confirms. In the namespaces of tests/state/inside.sh, whose root it writes to."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import typing as t

# Debian's python3-pika is plain Python, and needs nothing else.
sys.path.append("/usr/lib/python3/dist-packages")
import pika  # type: ignore[import-not-found, unused-ignore]  # noqa: E402

sys.path.remove("/usr/lib/python3/dist-packages")

NODES = ("r1@host", "r2@host", "r3@host")
QUEUE = "orders"
# What a test may declare beside it.
OTHERS = ("log", "post")


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
        time.sleep(0.2)


class Cluster:
    """Three nodes. Each is one process of a VM of its own, as far as RabbitMQ is concerned."""

    def __init__(self) -> None:
        home = pathlib.Path("/var/lib/rabbitmq")
        home.mkdir(parents=True, exist_ok=True)
        (home / ".erlang.cookie").write_text("abcdefghijklmnop")
        (home / ".erlang.cookie").chmod(0o400)
        pathlib.Path("/var/log/rabbitmq").mkdir(exist_ok=True)
        run("chown", "-R", "rabbitmq:rabbitmq", str(home), "/var/log/rabbitmq")
        # Else the first node starts it, and has it among its processes.
        run("epmd", "-daemon")
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        for node in NODES:
            self.start(node)
        for node in NODES:
            self.await_start(node)
        for node in NODES[1:]:
            for words in (["stop_app"], ["join_cluster", NODES[0]], ["start_app"]):
                run("rabbitmqctl", "-n", node, *words)

    def start(self, node: str) -> None:
        number = 1 + NODES.index(node)
        environment = {
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": "/var/lib/rabbitmq",
            "RABBITMQ_NODENAME": node,
            "RABBITMQ_NODE_PORT": str(5670 + number),
            "RABBITMQ_DIST_PORT": str(25670 + number),
            # Idle schedulers that spin take the processor from the other nodes.
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+S 1:1 +sbwt none",
        }
        words = ["setpriv", "--reuid=rabbitmq", "--regid=rabbitmq", "--clear-groups", "/usr/lib/rabbitmq/bin/rabbitmq-server"]
        with open(f"/var/log/rabbitmq/{node}.out", "ab") as output:
            self.processes[node] = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment, cwd="/var/lib/rabbitmq", start_new_session=True
            )

    def await_start(self, node: str) -> None:
        # Right after its start the node is not known to epmd yet.
        until(lambda: subprocess.run(["rabbitmqctl", "-n", node, "await_startup", "--timeout", "60"], capture_output=True, check=False).returncode == 0, node)

    def processes_of(self, node: str) -> list[int]:
        found, mark = [], f"RABBITMQ_NODENAME={node}".encode()
        for place in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if mark in (place / "environ").read_bytes().split(b"\0") and (place / "comm").read_text().strip() != "epmd":
                    found.append(int(place.name))
        return found

    def kill(self, node: str) -> None:
        """End a VM at once."""
        for process in self.processes_of(node):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        self.processes.pop(node).wait(30)

    def settle(self) -> None:
        """All nodes in service, and an empty queue whose leader is on the first."""
        for node in NODES:
            if node not in self.processes:
                self.start(node)
        for node in NODES:
            self.await_start(node)
        for node in self.in_maintenance():
            self.revive(node)
        until(self._declared, "a queue is declared anew")
        until(lambda: self.leader() == NODES[0] and len(self.online()) == 3, "the queue has its leader on the first node and three replicas")

    def declare(self, queue: str, kind: str, node: str = NODES[0]) -> None:
        """Declare an empty durable queue of a type beside the others, or end one that is there."""
        with self.connected(node) as connection:
            channel = connection.channel()
            channel.queue_delete(queue)
            channel.queue_declare(queue, durable=True, arguments={"x-queue-type": kind})

    def delete(self, queue: str, node: str = NODES[0]) -> None:
        with self.connected(node) as connection:
            connection.channel().queue_delete(queue)

    def replicas(self, stream: str, node: str = NODES[0]) -> int:
        """How many replicas of a stream run."""
        answer = json.loads(run("rabbitmqctl", "-n", node, "list_queues", "name", "online", "--formatter", "json"))
        return next(len(one["online"]) for one in answer if one["name"] == stream)

    def _declared(self) -> bool:
        """Declare the queue anew. Return whether RabbitMQ did: right after a start it may say INTERNAL_ERROR."""
        try:
            with self.connected(NODES[0]) as connection:
                channel = connection.channel()
                for queue in (QUEUE, *OTHERS):
                    channel.queue_delete(queue)
                channel.queue_declare(QUEUE, durable=True, arguments={"x-queue-type": "quorum"})
        except pika.exceptions.AMQPError:
            return False
        return True

    @staticmethod
    def connected(node: str) -> t.Any:
        port = 5671 + NODES.index(node)
        return pika.BlockingConnection(
            pika.ConnectionParameters("127.0.0.1", port, heartbeat=4, socket_timeout=2, stack_timeout=4, blocked_connection_timeout=4, connection_attempts=1)
        )

    # What a person does, and what RabbitMQ says.

    def drain(self, node: str) -> None:
        run("rabbitmq-upgrade", "-n", node, "drain")

    def revive(self, node: str) -> None:
        run("rabbitmq-upgrade", "-n", node, "revive")

    def _status(self) -> dict[str, t.Any]:
        node = next(node for node in NODES if node in self.processes)
        return dict(json.loads(run("rabbitmqctl", "-n", node, "cluster_status", "--formatter", "json")))

    def in_maintenance(self) -> set[str]:
        return {node for node, state in self._status()["maintenance_status"].items() if "marked for maintenance" in state}

    def _queue(self) -> dict[str, t.Any]:
        node = next(node for node in NODES if node in self.processes)
        answer = json.loads(run("rabbitmqctl", "-n", node, "list_queues", "name", "leader", "online", "--formatter", "json"))
        return dict(next(one for one in answer if one["name"] == QUEUE))

    def leader(self) -> str:
        return str(self._queue()["leader"])

    def online(self) -> list[str]:
        return list(self._queue()["online"])

    def messages(self, node: str = NODES[2]) -> list[int]:
        """Everything in the queue."""
        found = []
        with self.connected(node) as connection:
            channel = connection.channel()
            while (message := channel.basic_get(QUEUE, auto_ack=True))[0] is not None:
                found.append(int(message[2]))
        return found

    def close(self) -> None:
        for node in list(self.processes):
            self.kill(node)


class Publisher:
    """Publishes on one node with confirms, and goes to the next after an error."""

    def __init__(self, cluster: Cluster, queue: str = QUEUE) -> None:
        self._cluster, self._place, self._queue = cluster, 0, queue
        self._connection: t.Any = None

    def __call__(self, number: int) -> None:
        try:
            if self._connection is None:
                self._connection = self._cluster.connected(NODES[self._place % 3])
                self._channel = self._connection.channel()
                self._channel.confirm_delivery()
            # Returns when a majority of the replicas has it, and raises an exception otherwise.
            self._channel.basic_publish("", self._queue, str(number).encode(), pika.BasicProperties(delivery_mode=2), mandatory=True)
        except Exception:
            self._place += 1
            self._connection = None
            raise
