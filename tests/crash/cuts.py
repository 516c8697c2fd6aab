# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A playbook killed (SIGKILL) at every point that leaves something else behind, and run again.

One run without a kill writes down every point: the end of each task, and before and after each write and each POST in the modules.
Points that leave the same behind (records, leases, marks, flag files, what the commands did, what was sent) are the same to the run that
comes after, which knows nothing else; so one kill for each such state is enough. CI has time for each place in the
modules and every third state; CRASH_POINTS=each kills at each of these, and CRASH_POINTS=all at every single point.
"""

from __future__ import annotations

import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import typing as t

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from lab import warm  # noqa: E402  the folder of tests is no package
from lab.lab import Lab  # noqa: E402


class Job(t.Protocol):
    """A playbook that is killed, and how it should end nevertheless."""

    def make_lab(self, folder: pathlib.Path) -> Lab:
        """The machines, and what is to happen to them."""

    def command(self, lab: Lab) -> list[str]:
        """What a person says to begin, and again after a kill."""

    def faults(self, lab: Lab, point: t.Mapping[str, str]) -> list[str]:
        """What is not as it should be at the end of the run that came after the kill."""


def modules_python() -> str:
    """A Python for the modules in which their writes and POSTs are points."""
    return warm.python(str(HERE / "site"))


def started_anew(lab: Lab) -> str:
    """The same, started for each module: as it is on a VM."""
    python = lab.folder / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{HERE / "site"}${{PYTHONPATH:+:$PYTHONPATH}}" exec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    return str(python)


def run(job: Job, lab: Lab, cut_at: str = "") -> subprocess.CompletedProcess[str]:
    environment = lab.environment(
        ANSIBLE_CALLBACK_PLUGINS=str(HERE / "callback_plugins"),
        ANSIBLE_CALLBACKS_ENABLED="cut",
        CUT_FOLDER=str(lab.folder),
        CUT_VMS=" ".join(lab.vms),
        CUT_AT=cut_at,
    )
    return warm.run_playbook(job.command(lab), environment, lab.folder, 400)


def points(lab: Lab) -> list[dict[str, t.Any]]:
    return [json.loads(line) for line in (lab.folder / "points").read_text().splitlines()]


class Cut(t.NamedTuple):
    """A kill: the name of the point it is asked for by (cutting.names_of), and the point of the run that nobody killed."""

    at: str
    point: dict[str, t.Any]


def chosen(every: list[dict[str, t.Any]]) -> list[Cut]:
    """The points to kill at: the first in each place of a module, and the first that leaves a certain state behind; or all."""
    wanted = os.environ.get("CRASH_POINTS", "")
    if wanted == "all":
        return list({point["names"]["point"]: Cut(point["names"]["point"], point) for point in every}.values())
    places: dict[str, Cut] = {}
    states: dict[str, Cut] = {}
    for point in every:
        if point["kind"] == "module":
            # Leftovers of a write that a reader never sees are in no state; one kill in each place leaves each kind.
            places.setdefault(point["name"], Cut(point["names"]["place"], point))
        states.setdefault(point["state"], Cut(point["names"]["state"], point))
    met = {cut.point["state"] for cut in places.values()}
    found = list(states.values()) if wanted == "each" else list(states.values())[::3]
    return [*places.values(), *(cut for cut in found if cut.point["state"] not in met)]


def kill_and_run_again(job: Job, folder: pathlib.Path, cut: Cut) -> list[str]:
    """On a busy machine a run may pass by the point, because it looked at another moment; then once more, and a third time."""
    passed_by = ""
    for attempt in range(3):
        lab = job.make_lab(folder / f"lab{attempt}")
        try:
            killed = run(job, lab, cut.at)
            if not (lab.folder / "cut").exists():
                passed_by = killed.stdout[-1500:]
                continue
            again = run(job, lab)
            left = {**cut.point, "state": (lab.folder / "left").read_text()}
            found = job.faults(lab, left) + ([f"exit code {again.returncode}: {again.stdout[-3000:]}"] if again.returncode else [])
            return [f"killed at {cut.point['kind']} {cut.point['name']}: {fault}" for fault in found]
        finally:
            lab.close()
    return [f"{cut.point['kind']} {cut.point['name']}: never came in three runs: {passed_by}; looked for {cut.point['state']}"]


def kill_everywhere(job: Job, every: list[dict[str, str]], folder: pathlib.Path) -> list[str]:
    """All faults of a job that is killed at each chosen point of a run that nobody killed, four at a time: mostly they wait for the event."""
    cuts = chosen(every)
    assert len(cuts) > 10, "the points leave too little behind to prove anything"
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda pair: kill_and_run_again(job, folder / f"cut{pair[0]}", pair[1]), enumerate(cuts)))
    print(f"{len(every)} points, {len(cuts)} kills")
    return [fault for one in found for fault in one]
