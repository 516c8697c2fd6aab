# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A real HAProxy on loopback, and servers behind it that count and hold their connections."""

from __future__ import annotations

import contextlib
import csv
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import threading
import time
import typing as t

from lab.debian_packages import unpacked

WAIT = 30.0


def find_haproxy() -> tuple[str, dict[str, str]]:
    """The program and its environment."""
    installed = shutil.which("haproxy", path=os.environ.get("PATH", "") + ":/usr/sbin")
    if installed:
        return installed, {}
    root = unpacked("haproxy", ("haproxy",))
    libraries = [str(place) for place in sorted((root / "usr" / "lib").glob("*-linux-gnu*"))] + [str(root / "usr" / "lib")]
    return str(root / "usr" / "sbin" / "haproxy"), {"LD_LIBRARY_PATH": ":".join(libraries)}


class Backend:
    """A TCP server that greets and keeps each connection until the client ends it. It can be taken down and brought back."""

    def __init__(self) -> None:
        self.port = 0
        self._listener: socket.socket | None = None
        self.start()

    def start(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", self.port), reuse_port=True)
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                connection, _address = listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            try:
                connection.sendall(b"%d\n" % self.port)
                while connection.recv(1024):
                    pass
            except OSError:
                return

    def stop(self) -> None:
        if self._listener is not None:
            # A thread that waits in accept keeps a closed socket listening.
            try:
                self._listener.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            self._listener.close()
            self._listener = None


def free_ports(count: int) -> list[int]:
    """Ports that no process listens on."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _number in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


class HAProxy:
    """One HAProxy process; backends are {name: {server: (port, options)}}. The first backend has a frontend, in mode http each.

    C(more) are further lines by backend, C(defaults) those of all. master: with a master process, which reload() asks for a new worker.
    """

    def __init__(
        self, folder: pathlib.Path, backends: dict[str, dict[str, tuple[int, str]]], more: t.Mapping[str, str] | None = None,
        mode: str = "tcp", defaults: t.Sequence[str] = (), master: bool = False,
    ) -> None:  # fmt: skip
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._master = master
        # Paths of sockets are short; those of pytest's folders are not.
        self.socket = f"/tmp/haproxy-{os.getpid()}-{id(self):x}.sock"
        fronts = list(backends) if mode == "http" else list(backends)[:1]
        self.admin_port, *ports = free_ports(1 + len(fronts))
        self.ports = dict(zip(fronts, ports))
        self.port = ports[0]
        lines = [
            "global",
            # A new worker takes the listeners over: no connection is refused at a reload.
            f"  stats socket {self.socket} mode 600 level admin expose-fd listeners",
            f"  stats socket ipv4@127.0.0.1:{self.admin_port} level user",
            "defaults",
            f"  mode {mode}",
            "  timeout connect 2s",
            "  timeout client 10m",
            "  timeout server 10m",
            "  timeout queue 2s",
            *(f"  {line}" for line in defaults),
        ]
        for name, port in self.ports.items():
            lines += [f"frontend front-{name}", f"  bind 127.0.0.1:{port}", f"  default_backend {name}"]
        for name, servers in backends.items():
            lines += [f"backend {name}", *([f"  {more[name]}"] if more and name in more else [])]
            lines += [f"  server {server} 127.0.0.1:{port} {options}" for server, (port, options) in servers.items()]
        (folder / "haproxy.cfg").write_text("\n".join(lines) + "\n")
        self.process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        program, more = find_haproxy()
        command = [program, *(["-W"] if self._master else []), "-db", "-f", str(self.folder / "haproxy.cfg")]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ, **more})
        self.wait_for(self._answers, "it does not answer")

    def _answers(self) -> bool:
        assert self.process is not None
        if self.process.poll() is not None:
            raise AssertionError((self.folder / "log").read_text())
        try:
            return "Name: HAProxy" in self.ask("show info")
        except OSError:
            return False

    def reload(self) -> None:
        """Ask the master for a new worker, and wait until that one answers."""
        assert self.process is not None and self._master
        before = self._worker()
        self.process.send_signal(signal.SIGUSR2)
        self.wait_for(lambda: self._answers() and self._worker() != before, "there is no new worker")

    def _worker(self) -> str:
        return next(line for line in self.ask("show info").splitlines() if line.startswith("Pid:"))

    def ask(self, command: str) -> str:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(10)
            connection.connect(self.socket)
            connection.sendall(command.encode() + b"\n")
            parts = []
            while part := connection.recv(65536):
                parts.append(part)
        return b"".join(parts).decode()

    def admin_state(self, backend: str, server: str) -> str:
        """Read without any code of the collection."""
        for line in self.ask(f"show servers state {backend}").splitlines():
            words = line.split()
            if len(words) > 6 and words[3] == server:
                flags = int(words[6])
                return "maint" if flags & 1 else "drain" if flags & 8 else "ready"
        raise AssertionError(f"no server {server} in {backend}")

    def row(self, backend: str, server: str) -> dict[str, str]:
        for one in csv.DictReader(self.ask("show stat -1 4 -1").removeprefix("# ").splitlines()):
            if (one["pxname"], one["svname"]) == (backend, server):
                return one
        raise AssertionError(f"no server {server} in {backend}")

    def status(self, backend: str, server: str) -> str:
        return self.row(backend, server)["status"]

    def connect(self) -> tuple[socket.socket, int]:
        """A session through the frontend: the connection, and the port of the server that it reached (0: none)."""
        connection = socket.create_connection(("127.0.0.1", self.port), 10)
        greeting = connection.recv(100)
        return connection, int(greeting or 0)

    @staticmethod
    def wait_for(condition: t.Callable[[], bool], words: str) -> None:
        until = time.monotonic() + WAIT
        while not condition():
            if time.monotonic() > until:
                raise AssertionError(f"after {WAIT} s {words}")
            time.sleep(0.02)

    def stop(self) -> None:
        if self.process is not None:
            # A master that is killed leaves its workers.
            (self.process.terminate if self._master else self.process.kill)()
            self.process.wait()
            self.process = None
        pathlib.Path(self.socket).unlink(missing_ok=True)
