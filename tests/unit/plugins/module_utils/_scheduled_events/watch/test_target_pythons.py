# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The watcher's archive with each Python of a VM that this machine has: it asks, tells and drains. Suite integration fails where one is missing."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
import time
from collections.abc import Callable

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[6]
sys.path.insert(0, str(ROOT / "tests"))

from lab.simulator import Simulator  # noqa: E402  the folder of tests is no package

VERSIONS = ("3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14")


def present() -> list[str]:
    """The Pythons of this machine, by their paths; the one that runs the tests is among them."""
    runs = [subprocess.run([str(ROOT / "tests" / "tools" / "python.sh"), version], capture_output=True, text=True, check=False) for version in VERSIONS]
    return [run.stdout.strip() for run in runs if run.returncode == 0]


def until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def written(folder: pathlib.Path, endpoint: str) -> pathlib.Path:
    """The settings of a VM that drains by a command and tells a folder."""
    for name in ("runtime", "state", "seen", "drain", "told"):
        (folder / name).mkdir()
    given = {key: ["/bin/sh", "-c", line.format(folder)] for key, line in {"begin": "rm {}/app", "check": "! test -e {}/app", "undo": "touch {}/app"}.items()}
    method = {"id": "1-command", "kind": "command", "where": "own", "given": given, "outside": False, "runs": True, "ends": True, "report": None}
    rule = {"name": "all", "drain": True, "approve": "never", "when": None}
    (folder / "drain.json").write_text(json.dumps({"rules": [rule], "methods": [method], "elsewhere": []}))
    (folder / "drain.json").chmod(0o600)
    (folder / "app").touch()
    folders = {f"{name}_folder": str(folder / name) for name in ("runtime", "state", "seen", "drain")}
    more = {"tell_folder": str(folder / "told"), "records_path": str(folder / "records"), "drain_types": ["Preempt"], "drain_file": str(folder / "drain.json")}
    path = folder / "watch.json"
    path.write_text(json.dumps({"endpoint": endpoint, **folders, **more}))
    return path


@pytest.mark.parametrize("python", present())
def test_it_asks_tells_and_drains(python: str, tmp_path: pathlib.Path) -> None:
    archive = tmp_path / "watch.pyz"
    pack = [sys.executable, str(ROOT / "plugins" / "plugin_utils" / "_controller" / "pack.py"), str(ROOT / "plugins/module_utils/_scheduled_events")]
    subprocess.run([*pack, str(archive), "_scheduled_events.watch.main"], check=True)
    simulator = Simulator(["web1"], 1)
    settings = written(tmp_path, simulator.endpoints["web1"])

    def run(command: str) -> None:
        done = subprocess.run([python, "-I", "-S", str(archive), command, str(settings)], capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr

    run("check")
    asker = subprocess.Popen([python, "-I", "-S", str(archive), "ask", str(settings)])
    try:
        until((tmp_path / "runtime" / "state.json").exists)
        event_id = simulator.event("Preempt", ["web1"])
        until(lambda: [path.name.lower() for path in (tmp_path / "drain").iterdir()] == [event_id.lower()])
        run("drain")
        until(lambda: list((tmp_path / "state").glob("*.waiting")))
        for command in ("alive", "seen", "tell"):
            run(command)
    finally:
        asker.kill()
        asker.wait(10)
        simulator.close()
    assert not (tmp_path / "app").exists()
    assert [json.loads(path.read_text())["subject"] for path in (tmp_path / "told").iterdir()] == [event_id]
