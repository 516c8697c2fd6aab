# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A real etcd cluster on loopback, of Debian's package, unpacked and not installed; and a client that tries each member in turn."""

from __future__ import annotations

import base64
import http.client
import json
import os
import pathlib
import shutil
import signal
import subprocess
import typing as t

from lab.debian_packages import unpacked
from lab.haproxy import HAProxy, free_ports

# After it a client asks the next member: what stands still takes connections and answers none.
PATIENCE = 0.5


def find_etcd() -> str:
    return shutil.which("etcd") or str(unpacked("etcd", ("etcd-server",), needed=("etcd-server",)) / "usr" / "bin" / "etcd")


class Cluster:
    """One member for each name, with the times that etcd has by itself."""

    def __init__(self, folder: pathlib.Path, names: t.Sequence[str]) -> None:
        folder.mkdir(parents=True)
        ports = free_ports(2 * len(names))
        self._clients = dict(zip(names, ports))
        peers = dict(zip(names, ports[len(names) :]))
        everyone = ",".join(f"{name}=http://127.0.0.1:{port}" for name, port in peers.items())
        self._members: dict[str, subprocess.Popen[bytes]] = {}
        for name in names:
            client, peer = f"http://127.0.0.1:{self._clients[name]}", f"http://127.0.0.1:{peers[name]}"
            command = [find_etcd(), "--name", name, "--data-dir", str(folder / name), "--log-level", "error", "--initial-cluster", everyone]
            command += ["--listen-client-urls", client, "--advertise-client-urls", client]
            command += ["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer]
            with (folder / f"{name}.log").open("ab") as log:
                self._members[name] = subprocess.Popen(command, stdout=log, stderr=log)
        self._asked = 0
        HAProxy.wait_for(self._answers, "etcd takes no writes")

    def _answers(self) -> bool:
        try:
            self.write(0)
        except OSError:
            return False
        return True

    def write(self, number: int) -> None:
        """Write a number under a key of its own; raise OSError unless it was acknowledged."""
        self._ask("/v3/kv/put", {"key": _coded(f"number/{number:08}"), "value": _coded("written")})

    def numbers(self) -> set[int]:
        """All numbers that the cluster has, as its majority says."""
        found = self._ask("/v3/kv/range", {"key": _coded("number/"), "range_end": _coded("number0"), "keys_only": True})
        return {int(base64.b64decode(one["key"]).split(b"/")[1]) for one in found.get("kvs", [])}

    def _ask(self, path: str, body: dict[str, t.Any]) -> dict[str, t.Any]:
        """Ask the member that answered last; the next call asks the next one if it does not."""
        names = list(self._members)
        connection = http.client.HTTPConnection("127.0.0.1", self._clients[names[self._asked % len(names)]], timeout=PATIENCE)
        try:
            connection.request("POST", path, json.dumps(body))
            answer = connection.getresponse()
            text = answer.read()
            if answer.status != 200:
                raise ConnectionError(f"{answer.status} {text[:80]!r}")
            return dict(json.loads(text))
        except (OSError, http.client.HTTPException) as error:
            self._asked += 1
            raise ConnectionError(f"{type(error).__name__}: {error}")
        finally:
            connection.close()

    def freeze(self, name: str) -> None:
        """As a Freeze does to a VM."""
        os.kill(self._members[name].pid, signal.SIGSTOP)

    def thaw(self, name: str) -> None:
        os.kill(self._members[name].pid, signal.SIGCONT)

    def stop(self) -> None:
        for member in self._members.values():
            member.kill()
            member.wait()


def _coded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
