# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Playbook respond killed (SIGKILL) at every point that leaves something else behind, and run again: the same end every time.

One run without a kill writes down every point: the end of each task, and before and after each record write and each POST in the
modules. Points that leave the same behind (records, flag file, what the commands did, what was sent) are the same to the run that
comes after, which knows nothing else; so one kill for each such state is enough. CRASH_POINTS=all kills at every single point.
"""

from __future__ import annotations

import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import typing as t

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from lab.lab import Lab  # noqa: E402  the folder of tests is no package

# A service that notes each change of its state, so that the tests see whether something was done that was not undone.
SERVICE = """#!/bin/sh
case $1 in
  stop) test -e {home}/running && echo stopped >> {home}/changes; rm -f {home}/running ;;
  start) test -e {home}/running || echo started >> {home}/changes; touch {home}/running ;;
  drained) test ! -e {home}/running ;;
esac
exit $?
"""


def make_lab(folder: pathlib.Path) -> Lab:
    lab = Lab(folder, ["web1"], 60)
    home = folder / "web1"
    service = home / "service"
    service.write_text(SERVICE.format(home=home))
    service.chmod(0o755)
    (home / "running").touch()
    python = folder / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{HERE / "site"}" exec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    lab.hosts["web1"]["ansible_python_interpreter"] = str(python)
    lab.hosts["web1"]["drain_methods"].append(
        {"method": "command", "begin": f"{service} stop", "check": f"{service} drained", "undo": f"{service} start"}
    )
    # Long enough before its time that a drain may be begun twice, and long enough after its start that every run sees it started.
    lab.simulator.event("Reboot", ["web1"], notice=9000, started_seconds=540, event_id="C7061BAC-AFDC-4513-B24B-AA5F13A16123")
    return lab


def run(lab: Lab, cut_at: str = "") -> subprocess.CompletedProcess[str]:
    environment = lab.environment(
        ANSIBLE_CALLBACK_PLUGINS=str(HERE / "callback_plugins"), ANSIBLE_CALLBACKS_ENABLED="cut", CUT_FOLDER=str(lab.folder), CUT_AT=cut_at
    )
    return subprocess.run(
        lab.command("maintenance.azure.respond", respond_wait=True),
        env=environment, cwd=lab.folder, capture_output=True, text=True, timeout=400, check=False,
    )  # fmt: skip


def points(lab: Lab) -> list[dict[str, str]]:
    return [json.loads(line) for line in (lab.folder / "points").read_text().splitlines()]


def chosen(every: list[dict[str, str]]) -> list[dict[str, str]]:
    """The points to kill at: the first that leaves a certain state behind and the first in each place of a module, or all."""
    first: dict[str, dict[str, str]] = {}
    for point in every:
        if os.environ.get("CRASH_POINTS") == "all":
            first[point["point"]] = point
        elif point["kind"] == "module":
            # Leftovers of a write that a reader never sees are in nobody's state; one kill in each place leaves each kind.
            first.setdefault(point["name"], point)
        first.setdefault(point["state"], point)
    return list({point["point"]: point for point in first.values()}.values())


def faults(lab: Lab) -> list[str]:
    """What is not as it should be at the end."""
    home = lab.folder / "web1"
    found = []
    if not (home / "running").exists():
        found.append("the service was not started again")
    if not lab.flag("web1").exists() or lab.flag("web1").read_text() != "yes\n":
        found.append("the flag file is not as it was")
    changes = (home / "changes").read_text().split() if (home / "changes").exists() else []
    if changes != ["stopped", "started"]:
        found.append(f"the service was changed otherwise than once each way: {changes}")
    if not lab.simulator.approvals():
        found.append("the event was never approved")
    records = lab.records("web1")
    if [record["phase"] for record in records] != ["recovered"]:
        found.append(f"records: {[record['phase'] for record in records]}")
    return found


def kill_and_run_again(folder: pathlib.Path, point: dict[str, str]) -> list[str]:
    """On a busy machine a run may pass by the point, because it looked at another moment; then once more, and a third time."""
    passed_by = ""
    for attempt in range(3):
        lab = make_lab(folder / f"lab{attempt}")
        try:
            killed = run(lab, point["point"])
            if not (lab.folder / "cut").exists():
                passed_by = killed.stdout[-1500:]
                continue
            again = run(lab)
            found = faults(lab) + ([f"exit code {again.returncode}: {again.stdout[-3000:]}"] if again.returncode else [])
            return [f"killed at {point['kind']} {point['name']}: {fault}" for fault in found]
        finally:
            lab.close()
    return [f"{point['kind']} {point['name']}: never came in three runs: {passed_by}; looked for {point['state']}"]


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[tuple[Lab, subprocess.CompletedProcess[str]]]:
    lab = make_lab(tmp_path_factory.mktemp("whole") / "lab")
    yield lab, run(lab)
    lab.close()


def test_a_run_that_nobody_kills_ends_well(uninterrupted: tuple[Lab, subprocess.CompletedProcess[str]]) -> None:
    lab, done = uninterrupted
    assert done.returncode == 0, done.stdout[-5000:]
    assert faults(lab) == []
    names = {point["name"] for point in points(lab)}
    assert {"before a record is written", "after a record is written", "before a POST", "after a POST"} <= names


def test_killed_anywhere_and_run_again_ends_the_same(
    uninterrupted: tuple[Lab, subprocess.CompletedProcess[str]], tmp_path: pathlib.Path
) -> None:
    every = points(uninterrupted[0])
    cuts = chosen(every)
    assert len(every) > 60
    assert len(cuts) > 10, "the points leave too little behind to prove anything"
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda pair: kill_and_run_again(tmp_path / f"cut{pair[0]}", pair[1]), enumerate(cuts)))
    print(f"{len(every)} points, {len(cuts)} kills")
    assert [fault for one in found for fault in one] == []
