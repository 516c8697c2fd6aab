# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Playbook awx against the stand-in for awx.awx."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import typing as t

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from lab import warm  # noqa: E402  the folder of tests is no package

from ansible_collections.maintenance.azure.tests.awx.stand_in.generate import generate, new_store

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECAP = re.compile(r"localhost +: ok=\d+ +changed=(\d+) +unreachable=0 +failed=(\d+)")
GIVEN = {"awx_image": "registry.example.com/azure-maintenance:1", "awx_credentials": ["VM login"], "awx_azure_credential": "Azure reader"}


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What a run said."""

    code: int
    output: str

    @property
    def changed(self) -> int:
        return int(RECAP.findall(self.output)[-1][0])

    @property
    def lines(self) -> list[str]:
        """What it told of changes."""
        told = re.search(r'"msg": (\[.*?\n    \])', self.output, re.DOTALL)
        return list(json.loads(told[1])) if told else []

    @property
    def refusal(self) -> str:
        """The one message that it ended with."""
        found = re.findall(r'^fatal: .*?"msg": "(.*?)"[,}]', self.output, re.MULTILINE)
        # Core's own errors, as for a filter, stand on a line before.
        return found[-1] if found else self.output


class Awx:
    """One AWX that is none, and the playbook for it."""

    def __init__(self, folder: pathlib.Path, collections: pathlib.Path | None) -> None:
        self.folder, self.collections, self.path = folder, collections, folder / "awx.json"
        self.environment = {"CONTROLLER_HOST": "https://awx.example.com", "CONTROLLER_OAUTH_TOKEN": "good"}
        new_store(self.path)

    def run(self, *arguments: str, playbook: str | pathlib.Path = ROOT / "playbooks" / "awx.yml", **given: t.Any) -> Outcome:
        paths = [str(self.collections)] if self.collections else []
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("CONTROLLER_", "TOWER_", "AAP_"))}
        environment = {
            **kept,
            **self.environment,
            "HOME": str(self.folder),
            "AWX_STAND_IN_STORE": str(self.path),
            "ANSIBLE_COLLECTIONS_PATH": os.pathsep.join([*paths, os.environ.get("ANSIBLE_COLLECTIONS_PATH", "")]),
            "ANSIBLE_NOCOLOR": "1",
            "ANSIBLE_HOME": str(self.folder / ".ansible"),
        }
        variables = {**GIVEN, "ansible_python_interpreter": warm.python(), **given}
        command = ["ansible-playbook", "-i", "localhost,", str(playbook), "-e", json.dumps(variables), *arguments]
        done = subprocess.run(command, cwd=self.folder, env=warm.playbooks(environment), capture_output=True, text=True, timeout=240, check=False)
        return Outcome(done.returncode, done.stdout + done.stderr)

    def applied(self, *arguments: str, **given: t.Any) -> Outcome:
        outcome = self.run(*arguments, **given)
        assert outcome.code == 0, outcome.output
        return outcome

    def refused(self, *arguments: str, **given: t.Any) -> str:
        outcome = self.run(*arguments, **given)
        assert outcome.code != 0, outcome.output
        assert "Traceback" not in outcome.output and outcome.output.count("fatal: [localhost]: ") <= 2, outcome.output
        return outcome.refusal

    def rendered(self, **given: t.Any) -> dict[str, t.Any]:
        """The data set as Ansible templates it: the objects, the job templates, and the variables of infra.aap_configuration. Needs no awx.awx."""
        (self.folder / "render.yml").write_text(RENDER)
        self.applied(playbook=self.folder / "render.yml", dest=str(self.folder / "rendered.json"), **given)
        return dict(json.loads((self.folder / "rendered.json").read_text()))

    # The file

    @property
    def known(self) -> dict[str, t.Any]:
        return dict(json.loads(self.path.read_text()))

    @property
    def objects(self) -> dict[str, t.Any]:
        return {endpoint: items for endpoint, items in self.known["objects"].items() if items}

    @property
    def log(self) -> list[str]:
        return list(self.known["log"])

    def edit(self, change: t.Callable[[dict[str, t.Any]], t.Any]) -> None:
        """By hand, past everybody."""
        known = self.known
        change(known)
        self.path.write_text(json.dumps(known))

    def one(self, endpoint: str, name: str) -> dict[str, t.Any]:
        return dict(next(item for item in self.objects[endpoint] if name in (item.get("name"), item.get("identifier"))))


def item(known: dict[str, t.Any], endpoint: str, name: str) -> dict[str, t.Any]:
    """To edit."""
    return next(each for each in known["objects"][endpoint] if name in (each.get("name"), each.get("identifier")))  # type: ignore[no-any-return]


@pytest.fixture(scope="session")
def collections(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return generate(tmp_path_factory.mktemp("collections"))


@pytest.fixture
def awx(tmp_path: pathlib.Path, collections: pathlib.Path) -> Awx:
    return Awx(tmp_path, collections)


@pytest.fixture(scope="session")
def once_applied(tmp_path_factory: pytest.TempPathFactory, collections: pathlib.Path) -> pathlib.Path:
    """The file of an AWX that has the objects of the defaults."""
    awx = Awx(tmp_path_factory.mktemp("applied"), collections)
    awx.applied()
    return awx.path


@pytest.fixture
def applied(awx: Awx, once_applied: pathlib.Path) -> Awx:
    """An AWX that has them, as if the playbook had just run."""
    shutil.copy(once_applied, awx.path)
    return awx


RENDER = """
- hosts: localhost
  connection: local
  gather_facts: false
  vars:
    ansible_python_interpreter: "{{ ansible_playbook_python }}"
  tasks:
    - ansible.builtin.include_role:
        name: maintenance.azure.awx
        tasks_from: aap_configuration.yml
        public: true
    - ansible.builtin.copy:
        content: "{{ {'objects': __awx_wanted, 'templates': awx_job_templates, 'aap': aap} | to_json }}"
        dest: "{{ dest }}"
        mode: "0600"
      vars:
        aap: "{{ dict(names | zip(names | map('extract', hostvars[inventory_hostname]))) }}"
        names: "{{ hostvars[inventory_hostname] | select('match', '(aap|controller)_') | list }}"
"""


@pytest.fixture(scope="session")
def render(tmp_path_factory: pytest.TempPathFactory) -> t.Callable[..., dict[str, t.Any]]:
    """The data set for these variables, as Awx.rendered returns it."""
    return lambda **given: Awx(tmp_path_factory.mktemp("rendered"), None).rendered(**given)


@pytest.fixture(scope="session")
def default(render: t.Callable[..., dict[str, t.Any]]) -> dict[str, t.Any]:
    return render()
