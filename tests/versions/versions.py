# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Releases of 1.x out of this repository's history, and their playbooks run in the labs of this version's tests."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import typing as t

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from lab.lab import Lab  # noqa: E402  the folder of tests is no package

# The last commit of each: 1.4.0 was worked on until the components of 2.0 began. 2.4.0 and later are for benchmarks.
COMMITS = {"1.3.1": "558fee5", "1.4.0": "dd12161", "2.4.0": "5032c54", "2.5.0": "07ad0b15", "2.6.0": "2a3d73b7", "2.7.0": "10f80056", "2.8.0": "23cec818"}
PARTS = ("galaxy.yml", "meta", "playbooks", "plugins", "roles")
# Names of settings before version 2.
TIMING = {"lease_seconds": "claim_seconds"}


def unpack(version: str) -> pathlib.Path:
    """Return the collections path of a release, which is unpacked from git once."""
    tree = ROOT / ".build" / "versions" / version
    home = tree / "ansible_collections" / "maintenance" / "azure"
    if not (home / "galaxy.yml").exists():
        home.mkdir(parents=True, exist_ok=True)
        archive = subprocess.run(["git", "archive", COMMITS[version], *PARTS], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout
        subprocess.run(["tar", "-x", "-C", str(home)], input=archive, check=True)
    assert f"version: {version}\n" in (home / "galaxy.yml").read_text()
    return tree


class Controller:
    """One version's ansible-playbook against the hosts of a lab. "new" is the version that these tests belong to."""

    def __init__(self, lab: Lab, version: str = "new") -> None:
        self.lab = lab
        self.version = version

    def _inventory(self) -> str:
        if self.version == "new":
            return str(self.lab.inventory())
        given = dict(self.lab.all)
        if self.version.startswith("1."):
            timing = self.lab.all["respond_timing"].items()
            given["respond_timing"] = {TIMING.get(key, key): value for key, value in timing if key != "rehearsal"}
        path = self.lab.folder / f"inventory-{self.version}.json"
        path.write_text(json.dumps({"all": {"vars": given, "hosts": self.lab.hosts}}))
        return str(path)

    def _environment(self, **more: str) -> dict[str, str]:
        if self.version == "new":
            return self.lab.environment(**more)
        # Neither this version's collection nor what is compiled of it may be found.
        cache = ROOT / ".build" / "versions" / self.version / "code_cache"
        kept = [part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part and not (pathlib.Path(part) / "ansible_collections").exists()]
        own = {"ANSIBLE_COLLECTIONS_PATH": str(unpack(self.version)), "PYTHONPATH": os.pathsep.join(kept), "CODE_CACHE_FOLDER": str(cache)}
        return self.lab.environment(**{**own, **more})

    def start(self, playbook: str = "respond", environment: t.Mapping[str, str] | None = None, **variables: t.Any) -> Run:
        """Start a playbook in a process group of its own, with variables of the environment if any are given."""
        command = ["ansible-playbook", "-i", self._inventory(), f"maintenance.azure.{playbook}", "-e", json.dumps(variables)]
        output = (self.lab.folder / f"output-{self.version}-{time.monotonic_ns()}").open("w+")
        return Run(
            subprocess.Popen(command, env=self._environment(**(environment or {})), cwd=self.lab.folder, stdout=output, stderr=output, start_new_session=True),
            output,
        )

    def play(self, playbook: str = "respond", code: int = 0, **variables: t.Any) -> str:
        """Run a playbook to its end; its output."""
        return self.start(playbook, **variables).ended(code)


class Run:
    """A playbook at work."""

    def __init__(self, process: subprocess.Popen[t.Any], output: t.TextIO) -> None:
        self.process = process
        self._output = output

    def output(self) -> str:
        self._output.seek(0)
        return self._output.read()

    def ended(self, code: int = 0, seconds: float = 280) -> str:
        """Wait for its end; its output."""
        try:
            found = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"not over after {seconds} s: {self.output()[-4000:]}") from None
        assert found == code, f"exit code {found}, not {code}: {self.output()[-4000:]}"
        return self.output()

    def until(self, true: t.Callable[[], bool], what: str, seconds: float = 120) -> None:
        """Wait for what it is about to bring about."""
        end = time.monotonic() + seconds
        while not true():
            assert self.process.poll() is None, f"ended before {what}: {self.output()[-4000:]}"
            if time.monotonic() > end:
                self.kill()
                raise AssertionError(f"not within {seconds} s: {what}: {self.output()[-4000:]}")
            time.sleep(0.02)

    def kill(self) -> None:
        """End it and what it started, as a power cut does."""
        os.killpg(self.process.pid, signal.SIGKILL)  # a frozen one, too
        self.process.wait(10)


def phase(lab: Lab, vm: str) -> str:
    """The phase of the newest record on a VM, empty without one. A revision that goes while it is read is read again."""
    while True:
        try:
            return "".join(record["phase"] for record in lab.records(vm))
        except FileNotFoundError:
            continue
