# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A job as AWX runs it: a private data directory, ansible-runner, and what AWX reads of it.

The layout and the variables are those of awx/main/tasks/jobs.py; AWX itself is not run. The inventory is a script that prints one JSON
text, survey answers are strings that are not templated, and the playbook is a file of the project.
"""

from __future__ import annotations

import copy
import json
import os
import pathlib
import re
import shutil
import subprocess
import typing as t

import yaml

Inventory = dict[str, t.Any]
# As the image has it (ENV of the execution environment).
PROGRESS = {"ORIGINAL_STDOUT_CALLBACK": "maintenance.azure.maintenance_progress"}
# Only so that sources are compiled once for all jobs (tests/tools/code_cache); nothing can be imported by it that is not in the image.
KEPT = os.environ.get("CODE_CACHE_FOLDER", "")
CODE_CACHE = {"PYTHONPATH": str(pathlib.Path(__file__).parents[1] / "tools" / "code_cache"), "CODE_CACHE_FOLDER": KEPT} if KEPT else {}
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class Unsafe(str):
    """A text that AWX did not write itself: survey answers, and what was asked on launch."""


class _Dumper(yaml.SafeDumper):
    """AWX marks such texts, so that nobody gives a job a template by a survey."""


_Dumper.add_representer(Unsafe, lambda dumper, text: dumper.represent_scalar("!unsafe", str(text)))


def answers(value: t.Any) -> t.Any:
    """The same with each text marked."""
    if isinstance(value, dict):
        return {key: answers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [answers(item) for item in value]
    return Unsafe(value) if isinstance(value, str) else value


class Place(t.NamedTuple):
    """Where jobs run: a Python environment, the collections, this collection in them, and the repository that is the project of AWX."""

    bare: pathlib.Path
    collections: pathlib.Path
    installed: pathlib.Path
    repository: pathlib.Path


def script_data(hosts: dict[str, dict[str, t.Any]], variables: dict[str, t.Any], groups: dict[str, list[str]]) -> Inventory:
    """An inventory as AWX gives it to its script."""
    grouped = {name for members in groups.values() for name in members}
    found: Inventory = {name: {"hosts": list(members)} for name, members in groups.items()}
    found["all"] = {"vars": variables, "hosts": [name for name in hosts if name not in grouped], "children": list(groups)}
    found["_meta"] = {"hostvars": {name: {**values, "remote_tower_enabled": "true", "remote_tower_id": n} for n, (name, values) in enumerate(hosts.items())}}
    return found


def sliced(inventory: Inventory, number: int, count: int) -> Inventory:
    """The part of slice ``number`` of ``count``: every count-th host, and groups without all others (Inventory.get_script_data of AWX)."""
    cut = copy.deepcopy(inventory)
    kept = list(cut["_meta"]["hostvars"])[number - 1 :: count]
    cut["_meta"]["hostvars"] = {name: cut["_meta"]["hostvars"][name] for name in kept}
    for name, group in cut.items():
        if name != "_meta":
            group["hosts"] = [host for host in group["hosts"] if host in kept]
    return cut


class Job:
    """One run of one playbook, and what AWX reads of it."""

    number = 0

    def __init__(self, place: Place, folder: pathlib.Path, playbook: str, inventory: Inventory) -> None:
        Job.number += 1
        self.ident = str(Job.number)
        self.place = place
        self.playbook = playbook
        self.folder = folder / f"awx_{self.ident}"
        for name in ("inventory", "env", "cp"):
            (self.folder / name).mkdir(parents=True)
        self._write("inventory/hosts", f"#! /usr/bin/env python3\n# -*- coding: utf-8 -*-\nprint({json.dumps(inventory)!r})\n", mode=0o700)
        shutil.copytree(place.repository, self.folder / "project", ignore=shutil.ignore_patterns(".git", "tests", "docs"))
        self.environment: dict[str, str] = {}
        self._process: subprocess.Popen[str] | None = None
        self.said = ""

    def _write(self, name: str, text: str, mode: int = 0o600) -> None:
        path = self.folder / name
        path.write_text(text)
        path.chmod(mode)

    def start(self, survey: dict[str, t.Any] | None = None, extra_vars: dict[str, t.Any] | None = None, cmdline: str = "-u root", **image: str) -> Job:
        """``survey``: the answers. ``extra_vars``: those of the job template. ``image``: variables that the image has (ENV)."""
        from_awx = {"awx_job_id": int(self.ident), "awx_job_template_name": self.playbook, "awx_user_name": "admin", "awx_job_launch_type": "scheduled"}
        variables = {**from_awx, **(extra_vars or {}), **answers(survey or {})}
        self._write("env/extravars", yaml.dump(variables, Dumper=_Dumper))
        self._write("env/settings", json.dumps({"idle_timeout": 300, "job_timeout": 300, "suppress_ansible_output": True}))
        self._write("env/cmdline", cmdline)
        self._write("env/envvars", json.dumps({
            "JOB_ID": self.ident, "INVENTORY_ID": "1", "MAX_EVENT_RES": "700000", "ANSIBLE_FORCE_COLOR": "True", "ANSIBLE_HOST_KEY_CHECKING": "False",
            "ANSIBLE_INVENTORY_UNPARSED_FAILED": "True", "ANSIBLE_RETRY_FILES_ENABLED": "False", "ANSIBLE_SSH_CONTROL_PATH_DIR": str(self.folder / "cp"),
            "ANSIBLE_COLLECTIONS_PATH": str(self.place.collections), **self.environment,
        }))  # fmt: skip
        surroundings = {"PATH": f"{self.place.bare}/bin:/usr/bin:/bin", "HOME": str(self.folder), "LC_ALL": "C.UTF-8", **CODE_CACHE, **image}
        command = [str(self.place.bare / "bin" / "ansible-runner"), "run", str(self.folder), "-p", self.playbook, "--ident", self.ident]
        self._process = subprocess.Popen(command, env=surroundings, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return self

    def wait(self) -> Job:
        assert self._process is not None
        self.said, _nothing = self._process.communicate(timeout=400)
        return self

    def run(self, *arguments: t.Any, **options: t.Any) -> Job:
        return self.start(*arguments, **options).wait()

    @property
    def _artifacts(self) -> pathlib.Path:
        return self.folder / "artifacts" / self.ident

    @property
    def status(self) -> str:
        return (self._artifacts / "status").read_text().strip()

    @property
    def code(self) -> int:
        return int((self._artifacts / "rc").read_text())

    @property
    def output(self) -> str:
        return (self._artifacts / "stdout").read_text()

    @property
    def lines(self) -> list[str]:
        """What AWX shows: the lines of all events, without what says nothing."""
        return [COLOURS.sub("", line).rstrip() for event in self.events() for line in event["stdout"].splitlines()]

    def events(self, kind: str = "") -> list[dict[str, t.Any]]:
        found = sorted((json.loads(path.read_text()) for path in (self._artifacts / "job_events").glob("[0-9]*.json")), key=lambda one: one["counter"])
        return [one for one in found if kind in ("", one["event"])]

    @property
    def stats(self) -> dict[str, t.Any]:
        """What AWX makes the host summaries and the artifacts of the job of."""
        (event,) = self.events("playbook_on_stats")
        return t.cast("dict[str, t.Any]", event["event_data"])

    @property
    def artifacts(self) -> dict[str, t.Any]:
        return t.cast("dict[str, t.Any]", self.stats["artifact_data"])

    def good(self) -> Job:
        """That AWX would call it successful."""
        assert (self.status, self.code) == ("successful", 0), self.output[-6000:] + self.said
        return self
