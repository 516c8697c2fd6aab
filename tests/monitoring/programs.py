# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Debian's Prometheus, promtool and node_exporter, unpacked and never installed, and processes of them on loopback."""

from __future__ import annotations

import functools
import json
import pathlib
import socket
import subprocess
import time
import typing as t
import urllib.error
import urllib.parse
import urllib.request

from lab.debian_packages import unpacked

WAIT = 60.0
# Nothing of the machine's proxies: everything here is on loopback.
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@functools.lru_cache(maxsize=None)
def program(name: str) -> str:
    packages = ("prometheus", "prometheus-node-exporter")
    root = unpacked("prometheus", packages, needed=tuple(f"{package}_" for package in packages), without=("./usr/share/*",))
    return str(root / "usr" / "bin" / name)


def promtool(*words: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([program("promtool"), *words], input=given, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120, check=False)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    return port


def get(address: str) -> str:
    with OPENER.open(address, timeout=10) as answer:
        text: str = answer.read().decode()
    return text


def until(condition: t.Callable[[], t.Any], words: str, seconds: float = WAIT) -> t.Any:
    end = time.monotonic() + seconds
    while True:
        try:
            found = condition()
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            found = None
        if found:
            return found
        assert time.monotonic() < end, f"after {seconds:g} s: {words}"
        time.sleep(0.2)


class Process:
    """A program that serves HTTP on loopback until the test ends it."""

    def __init__(self, folder: pathlib.Path, name: str, *words: str) -> None:
        self.port = free_port()
        self.log = folder / f"{name}.log"
        with self.log.open("ab") as log:
            command = [program(name), f"--web.listen-address=127.0.0.1:{self.port}", *words]
            self.process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def close(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class NodeExporter(Process):
    """node_exporter with its textfile collector alone."""

    def __init__(self, folder: pathlib.Path, metrics: str) -> None:
        words = ("--collector.disable-defaults", "--collector.textfile", f"--collector.textfile.directory={metrics}")
        super().__init__(folder, "prometheus-node-exporter", *words)
        until(self.text, f"node_exporter does not answer: {self.log.read_text()}")

    def text(self) -> str:
        return get(f"{self.address}/metrics")


class Prometheus(Process):
    """Prometheus that scrapes one target twice a second."""

    def __init__(self, folder: pathlib.Path, target: str, rules: str) -> None:
        (folder / "alerts.yml").write_text(rules)
        scrape = {"job_name": "node", "static_configs": [{"targets": [target], "labels": {"instance": "web1"}}]}
        content = {"global": {"scrape_interval": "500ms", "scrape_timeout": "500ms", "evaluation_interval": "500ms"}}
        # JSON is YAML.
        (folder / "prometheus.yml").write_text(json.dumps({**content, "rule_files": ["alerts.yml"], "scrape_configs": [scrape]}))
        super().__init__(folder, "prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=data")
        until(lambda: get(f"{self.address}/-/ready"), "Prometheus is not ready")

    def query(self, expression: str) -> list[dict[str, t.Any]]:
        answer = json.loads(get(f"{self.address}/api/v1/query?{urllib.parse.urlencode({'query': expression})}"))
        assert answer["status"] == "success", answer
        found: list[dict[str, t.Any]] = answer["data"]["result"]
        return found

    def firing(self) -> dict[str, dict[str, str]]:
        """The annotations of each alert that fires."""
        alerts = json.loads(get(f"{self.address}/api/v1/alerts"))["data"]["alerts"]
        return {alert["labels"]["alertname"]: alert["annotations"] for alert in alerts if alert["state"] == "firing"}
