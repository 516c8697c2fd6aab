# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The real ansible-rulebook as a process of its own, and every start of ansible-playbook that comes of it."""

from __future__ import annotations

import contextlib
import http.client
import json
import math
import os
import pathlib
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
import typing as t
import uuid

from lab.lab import Lab

from eda.messages import message

TOKEN = "a-token-of-the-test"
STARTED_SECONDS = 90
# How long a machine that does much else may take for what takes seconds.
PATIENCE_SECONDS = 120.0
# Stands in front of ansible-playbook on PATH: writes down when it was started and with what, and runs the real one, or just waits.
SHIM = """#!{python}
import json, os, subprocess, sys, time
files = [word[1:] for word in sys.argv if word.startswith("@")]
extra = {{name: open(name).read() for name in files}}
entry = {{"began": time.time(), "ended": None, "arguments": sys.argv[1:], "extra": extra}}


def write():
    part = {log!r} + "." + str(os.getpid())
    with open(part, "w") as file:
        json.dump(entry, file)
    os.rename(part, {log!r} + "-" + str(os.getpid()) + ".json")


write()
seconds = open({log!r} + "-seconds").read()
code = 0
if seconds:
    time.sleep(float(seconds))
    while os.path.exists({log!r} + "-held"):
        time.sleep(0.05)
else:
    code = subprocess.call([{real!r}, *sys.argv[1:]])
entry["ended"] = time.time()
write()
sys.exit(code)
"""
VMS = re.compile(r"respond_only_vms['\"]?: ['\"]?([A-Za-z0-9._,-]*)")
EVENT_ID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")


class Run(t.NamedTuple):
    """One start of ansible-playbook; ``ended`` is infinite while it is at work."""

    event_id: str
    began: float
    ended: float
    arguments: list[str]
    extra: str

    @property
    def vms(self) -> list[str]:
        """The names of the VMs that it is to look at; empty for all."""
        found = VMS.search(self.extra)
        assert found, self.extra
        return sorted(filter(None, found[1].split(",")))


class Rulebook:
    """ansible-rulebook with one of the collection's rulebooks. ``seconds``: how long a run takes that only waits; None for the real playbook."""

    def __init__(self, lab: Lab, rulebook: str = "maintenance.azure.respond", seconds: float | None = None, **variables: t.Any) -> None:
        self.lab = lab
        self.rulebook = rulebook
        self.folder = lab.folder / "rulebook"
        self.folder.mkdir(exist_ok=True)
        self.port = free_port()
        self.variables = {"maintenance_host": "127.0.0.1", "maintenance_port": self.port, "maintenance_token": TOKEN, **self._certificate(), **variables}
        self.output = self.folder / "output"
        self._shim()
        self.last(seconds)
        self.options: list[str] = []
        # A command from the documentation instead of ours, with files that lie in this folder.
        self.typed: list[str] = []
        self.process: subprocess.Popen[bytes] | None = None
        self._marks: set[str] = set()

    def last(self, seconds: float | None) -> None:
        """From now on a run only waits so many seconds; None for the real playbook."""
        (self.folder / "run-seconds").write_text("" if seconds is None else str(seconds))

    def start(self, listens: bool = True) -> float:
        """Start it, and return how many seconds it took until it listened."""
        began = time.monotonic()
        variables = self.folder / "variables.json"
        variables.write_text(json.dumps(self.variables))
        ours = ["ansible-rulebook", "--rulebook", self.rulebook, "--inventory", str(self.lab.inventory()), "--vars", str(variables)]
        command = [*(self.typed or ours), *self.options, "--verbose"]
        with self.output.open("ab") as output:
            self.process = subprocess.Popen(
                command, cwd=self.folder, env=self._environment(), stdout=output, stderr=subprocess.STDOUT, start_new_session=True
            )  # fmt: skip
        while listens and not self._listens():
            if self.process.poll() is not None or time.monotonic() - began > STARTED_SECONDS:
                raise AssertionError(f"ansible-rulebook does not listen:\n{self.text()[-6000:]}")
            time.sleep(0.1)
        return time.monotonic() - began

    def kill(self) -> None:
        """SIGKILL to ansible-rulebook and all that it started."""
        if self.process is not None and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(10)

    def text(self) -> str:
        return self.output.read_text(errors="replace")

    @contextlib.contextmanager
    def hold(self) -> t.Iterator[None]:
        """Runs that only wait do not end inside this, however slow the machine is, nor before every message sent inside has been handled."""
        held = self.folder / "run-held"
        held.touch()
        try:
            yield
            self._until_all_are_handled()
        finally:
            held.unlink()

    def _until_all_are_handled(self) -> None:
        """Send the first news of one more event, and wait for its run: messages are handled in the order in which they came."""
        mark = str(uuid.uuid4())
        self._marks.add(mark)
        # Of a sender of its own: one tells of few new events.
        assert self.send(message(mark, f"mark{len(self._marks)}")) == 200
        end = time.monotonic() + PATIENCE_SECONDS
        while not any(run.event_id == mark for run in self._all()):
            assert time.monotonic() < end, self.text()[-6000:]
            time.sleep(0.05)

    def begun(self) -> list[Run]:
        """The runs that have begun, in the order of their beginning."""
        return [run for run in self._all() if run.event_id not in self._marks]

    def _all(self) -> list[Run]:
        found = []
        for path in self.folder.glob("run-*.json"):
            entry = json.loads(path.read_text())
            extra = "\n".join(entry["extra"].values())
            ids = EVENT_ID.findall(extra.partition("respond_only_events")[2])
            found.append(Run(ids[0] if ids else "", entry["began"], entry["ended"] or math.inf, entry["arguments"], extra))
        return sorted(found, key=lambda run: run.began)

    def runs(self) -> list[Run]:
        """The runs that have ended, in the order of their beginning."""
        return [run for run in self.begun() if run.ended < math.inf]

    def until_runs(self, number: int, seconds: float) -> list[Run]:
        """Wait until so many runs have ended."""
        end = time.monotonic() + seconds
        while len(self.runs()) < number:
            assert time.monotonic() < end, f"{len(self.runs())} runs, not {number}:\n{self.text()[-6000:]}"
            time.sleep(0.2)
        return self.runs()

    def send(self, body: t.Any, token: str | None = TOKEN, connection: http.client.HTTPSConnection | None = None) -> int:
        """Send a message as a watcher does; the status of the answer."""
        own = connection or self.connect()
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"Content-Type": "application/cloudevents+json", **({"Authorization": f"Bearer {token}"} if token else {})}
        try:
            own.request("POST", "/", body=data, headers=headers)
            answer = own.getresponse()
            answer.read()
            return answer.status
        finally:
            if connection is None:
                own.close()

    def connect(self) -> http.client.HTTPSConnection:
        context = ssl.create_default_context(cafile=str(self.folder / "certificate.pem"))
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=20, context=context)

    def _listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def _certificate(self) -> dict[str, str]:
        certificate, key = self.folder / "certificate.pem", self.folder / "key.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
             "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)],
            check=True, capture_output=True,
        )  # fmt: skip
        return {"maintenance_certfile": str(certificate), "maintenance_keyfile": str(key)}

    def _shim(self) -> None:
        self.bin = self.folder / "bin"
        self.bin.mkdir(exist_ok=True)
        shim = self.bin / "ansible-playbook"
        real = shutil.which("ansible-playbook")
        shim.write_text(SHIM.format(python=sys.executable, real=real, log=str(self.folder / "run")))
        shim.chmod(0o755)

    def _environment(self) -> dict[str, str]:
        java = shutil.which("java")
        assert java, "Java is missing: install a JDK, version 17 or newer"
        home = str(pathlib.Path(java).resolve().parents[1])
        return self.lab.environment(PATH=f"{self.bin}{os.pathsep}{os.environ['PATH']}", JAVA_HOME=home, TMPDIR=str(self._temporary()))

    def _temporary(self) -> pathlib.Path:
        folder = self.folder / "tmp"
        folder.mkdir(exist_ok=True)
        return folder


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
