# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A part of the cases in one true play of ansible-playbook: nothing of core is replaced, each module is a process. It says the same."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import typing as t

import pytest
import yaml
from lab import warm

from ansible_collections.maintenance.azure.tests.contract import table
from ansible_collections.maintenance.azure.tests.contract.compare import differences
from ansible_collections.maintenance.azure.tests.contract.stage import Case, Played, Stage, load
from ansible_collections.maintenance.azure.tests.contract.wanted import expected
from ansible_collections.maintenance.azure.tests.contract.ways import COLLECTION, WINDOWS, Linux, Way, Windows

CASES = [case for case in load() if case.play]
WAYS: tuple[type[Way], ...] = (Linux, Windows)


class Literal(str):
    """Text that no play may take for a template."""


yaml.SafeDumper.add_representer(Literal, lambda dumper, text: dumper.represent_scalar("!unsafe", str(text), style='"'))


def literal(value: t.Any) -> t.Any:
    if isinstance(value, dict):
        return {key: literal(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [literal(entry) for entry in value]
    return Literal(value) if isinstance(value, str) else value


class Play:
    """All cases on both ways; each host has its own tasks and writes its own results."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.stages = {(way.name, case.id): Stage(case, way(self._home(way, number))) for way in WAYS for number, case in enumerate(CASES)}

    def _home(self, way: type[Way], number: int) -> pathlib.Path:
        return self.folder / f"{way.name}-{number}"

    def run(self) -> dict[tuple[str, str], Played]:
        for stage in self.stages.values():
            stage.make_files()
        plays = [self._play(stage) for stage in self.stages.values()]
        (self.folder / "play.yml").write_text(yaml.safe_dump([*plays, self._keep()]))
        done = subprocess.run(
            ["ansible-playbook", "-i", self._inventory(), "play.yml"],
            cwd=self.folder, env=warm.playbooks(self._environment()), capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
        results = json.loads((self.folder / "results.json").read_text())
        return {name: stage.played(results[stage.way.home.name]) for name, stage in self.stages.items()}

    def close(self) -> None:
        for stage in self.stages.values():
            stage.close()

    def _inventory(self) -> str:
        hosts: dict[str, dict[str, t.Any]] = {}
        for (way, _case), stage in self.stages.items():
            home = stage.way.home
            mine: dict[str, t.Any] = {"ansible_connection": "local", "ansible_python_interpreter": warm.python()}
            if way == Windows.name:
                mine = {"ansible_connection": "windows_stand_in", "windows_stand_in_home": str(home), "ansible_python_interpreter": warm.python()}
            hosts[home.name] = mine
        path = self.folder / "inventory.json"
        path.write_text(json.dumps({"all": {"hosts": hosts}}))
        return str(path)

    def _play(self, stage: Stage) -> dict[str, t.Any]:
        tasks: list[dict[str, t.Any]] = []
        for number, step in enumerate(stage.case.steps):
            check_mode, diff = stage.modes(step)
            task = {COLLECTION + step["module"]: literal(stage.options(step)), "check_mode": check_mode, "diff": diff}
            tasks.append({**task, "register": f"step_{number}", "ignore_errors": True})
        return {"hosts": stage.way.home.name, "gather_facts": False, "tasks": tasks}

    def _keep(self) -> dict[str, t.Any]:
        """What every host has registered, into one file at the end."""
        lists = [f"'{stage.way.home.name}': [{_registered(stage)}]" for stage in self.stages.values()]
        output = {"dest": str(self.folder / "results.json"), "content": "{{ {" + ", ".join(lists) + "} | to_json }}", "mode": "0600"}
        return {"hosts": "localhost", "gather_facts": False, "tasks": [{"ansible.builtin.copy": output}]}

    def _environment(self) -> dict[str, str]:
        tree = next(entry for entry in sys.path if (pathlib.Path(entry) / "ansible_collections" / "maintenance" / "azure" / "galaxy.yml").is_file())
        more = {
            "ANSIBLE_COLLECTIONS_PATH": f"{WINDOWS / 'collections'}{os.pathsep}{tree}",
            "ANSIBLE_CONNECTION_PLUGINS": str(WINDOWS / "connection_plugins"),
            "ANSIBLE_SHELL_PLUGINS": str(WINDOWS / "shell_plugins"),
            "ANSIBLE_HOME": str(self.folder / "ansible"),
            "ANSIBLE_PIPELINING": "1",
            "ANSIBLE_NOCOLOR": "1",
        }
        return {**os.environ, **more}


def _registered(stage: Stage) -> str:
    return ", ".join(f"hostvars['{stage.way.home.name}'].step_{number}" for number in range(len(stage.case.steps)))


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[dict[tuple[str, str], Played]]:
    play = Play(tmp_path_factory.mktemp("play"))
    try:
        yield play.run()
    finally:
        play.close()


def test_every_module_is_in_the_play() -> None:
    assert len({step["module"] for case in CASES for step in case.steps}) == 5


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_the_play_says_the_same(case: Case, played: dict[tuple[str, str], Played]) -> None:
    linux, windows = (table.RULES.general(played[way.name, case.id]._asdict()) for way in WAYS)
    assert [*differences(case.id, expected(case), linux)] == []
    assert table.unjustified(differences(case.id, linux, windows)) == []
