# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""HAProxy in front of the guests: Debian's package, from the guests' root, as a process of the lab's own."""

from __future__ import annotations

import csv
import io
import pathlib
import socket
import subprocess
import typing as t

from .commands import run, until
from .network import CONTROLLER

FILES = pathlib.Path(__file__).resolve().parents[1] / "guest"
PORT = 80
BACKEND = "web"


class Balancer:
    def __init__(self, work: pathlib.Path, base: pathlib.Path, servers: dict[str, str]) -> None:
        self.url = f"http://{CONTROLLER}:{PORT}/"
        self._work, self._base = work / "balancer", base
        self.root = self._work / "root"
        self.log = self._work / "log"
        self._servers = servers
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def socket_path(self) -> str:
        return str(self.root / "run/haproxy/admin.sock")

    def start(self) -> None:
        for folder in ("written", "overlay", "root"):
            (self._work / folder).mkdir(parents=True)
        options = f"lowerdir={self._base},upperdir={self._work / 'written'},workdir={self._work / 'overlay'}"
        run("mount", "-t", "overlay", "balancer", "-o", options, str(self.root))
        (self.root / "run/haproxy").mkdir(parents=True, exist_ok=True)
        lines = [f"  server {name} {address}:8080" for name, address in self._servers.items()]
        text = (FILES / "haproxy.cfg").read_text().replace("BIND", f"{CONTROLLER}:{PORT}")
        (self.root / "etc/haproxy/lab.cfg").write_text(text + "\n".join(lines) + "\n")
        command = ["nice", "-n", "-5", "chroot", str(self.root), "haproxy", "-db", "-f", "/etc/haproxy/lab.cfg"]
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        until(lambda: pathlib.Path(self.socket_path).exists(), 10, f"HAProxy listens; it says: {self.log.read_text()[-1000:]}")

    def ask(self, command: str) -> str:
        """A command to the runtime socket; the answer."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(5)
            connection.connect(self.socket_path)
            connection.sendall(command.encode() + b"\n")
            answer = b""
            while part := connection.recv(65536):
                answer += part
        return answer.decode()

    def servers(self) -> dict[str, dict[str, t.Any]]:
        """Each server's line of the statistics."""
        rows = csv.DictReader(io.StringIO(self.ask("show stat").removeprefix("# ")))
        return {row["svname"]: row for row in rows if row["pxname"] == BACKEND and row["svname"] in self._servers}

    def up(self) -> list[str]:
        return [name for name, row in self.servers().items() if row["status"] == "UP"]

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(10)
