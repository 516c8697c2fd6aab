# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a fleet costs. Prints; nothing here fails for being slow.

1. Fleets of several sizes, one event on three VMs of a capacity group of ten: how long the first observation over all takes, and everything
   after it. Two runs of respond for each fleet, one that drains and approves, one that puts back when the event is over, because runs
   that wait would measure their pauses.
2. Looking at idle VMs against one bare GET by ansible.builtin.uri on the same VMs, in turns.

All VMs are this machine, so processor times hold both the controller's and the VMs' part.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import typing as t

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from lab.lab import Lab  # noqa: E402  the folder of tests is no package

HERE = pathlib.Path(__file__).resolve().parent
GROUP, HIT = 10, 3


@dataclasses.dataclass
class Cost:
    """Seconds on the clock and of the processor, and how many (task, VM) results there were."""

    wall: float = 0.0
    cpu: float = 0.0
    results: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.wall + other.wall, self.cpu + other.cpu, self.results + other.results)


def tasks(path: pathlib.Path) -> list[tuple[str, Cost]]:
    """The tasks of a run in order, each with what it cost until the next one began."""
    entries = [json.loads(line) for line in path.read_text().splitlines()]
    pairs = zip(entries, entries[1:])
    return [(first["task"], Cost(after["at"] - first["at"], after["cpu"] - first["cpu"], len(first["hosts"]))) for first, after in pairs]


def total(found: t.Iterable[tuple[str, Cost]]) -> Cost:
    return sum((cost for _task, cost in found), Cost())


class Fleet:
    """A lab of idle VMs; the first ten are a capacity group, and an availability set: only they hear of each other's events."""

    def __init__(self, folder: pathlib.Path, size: int, forks: int) -> None:
        folder.mkdir()
        names = [f"vm{number:03d}" for number in range(size)]
        members, others = names[:GROUP], names[GROUP:]
        (folder / "others.json").write_text(json.dumps([{"name": name, "group": f"set{place // GROUP}"} for place, name in enumerate(others)]))
        self.lab = Lab(folder / "lab", members, 60, "--switch", "rate_limit=0", "--vm-file", str(folder / "others.json"))
        self.lab.add(others)
        # Modules cost here what they cost a user: a Python that starts for each, not the tests' warm one.
        for host in self.lab.hosts.values():
            host["ansible_python_interpreter"] = sys.executable
        self.forks = forks
        self.lab.all["respond_capacity"] = [{"name": "web", "members": members, "max_unavailable": HIT}]
        self.times = folder / "times"

    def close(self) -> None:
        self.lab.close()

    def run(self, playbook: str, **variables: t.Any) -> list[tuple[str, Cost]]:
        environment = self.lab.environment(
            TASK_TIMES=str(self.times),
            ANSIBLE_CALLBACK_PLUGINS=str(HERE / "callback_plugins"),
            ANSIBLE_CALLBACKS_ENABLED="task_times",
            ANSIBLE_FORKS=str(self.forks),
        )
        command = self.lab.command(playbook, **variables)
        done = subprocess.run(command, env=environment, cwd=self.lab.folder, capture_output=True, text=True, check=False, timeout=1800)
        if done.returncode:
            raise SystemExit(done.stdout[-4000:] + done.stderr[-2000:])
        return tasks(self.times)

    def respond(self) -> tuple[Cost, Cost, list[tuple[str, Cost]]]:
        """One pass: the first observation over all, everything after it, and the tasks of that."""
        found = self.run("maintenance.azure.respond")
        decided = next(place for place, (task, _cost) in enumerate(found) if task.endswith("Plan | What each VM does next"))
        return total(found[:decided]), total(found[decided:]), found[decided:]


def maintenance(folder: pathlib.Path, size: int, forks: int, show: int) -> tuple[Cost, Cost]:
    """An event on three VMs, drained and approved in one pass, put back in another: observing, and the rest of both."""
    fleet = Fleet(folder, size, forks)
    try:
        simulator = fleet.lab.simulator
        event = simulator.event("Freeze", fleet.lab.vms[:HIT], notice=36000, duration_in_seconds=60, approvals="one", started_seconds=36000)
        observations, rest, drain_tasks = fleet.respond()
        if len(simulator.approvals()) != 1:
            raise SystemExit("the event was not approved in one pass")
        simulator.ask("POST", f"/events/{event}/finish")
        back, put_back_tasks = Cost(), []
        while {fleet.lab.phases(vm)[-1] for vm in fleet.lab.vms[:HIT]} != {"recovered"}:
            time.sleep(fleet.lab.all["respond_timing"]["gone_seconds"] + 0.5)
            observations, back, put_back_tasks = fleet.respond()
    finally:
        fleet.close()
    for task, cost in sorted(drain_tasks + put_back_tasks, key=lambda found: -found[1].cpu)[:show]:
        print(f"    {cost.wall:6.2f} s {cost.cpu:6.2f} s cpu {cost.results:4d} results  {task}")
    return observations, rest + back


def fleets(folder: pathlib.Path, sizes: list[int], forks: int, show: int) -> None:
    print(f"One event on {HIT} VMs of a capacity group of {GROUP}, drained, approved and put back, {forks} forks:")
    print("  VMs   observe     cpu     rest     cpu  results   rest against the first (clock, cpu)")
    first: Cost | None = None
    for size in sizes:
        observe, rest = maintenance(folder / f"fleet{size}", size, forks, show)
        first = first or rest
        ratios = f"{rest.wall / first.wall:.2f}, {rest.cpu / first.cpu:.2f}"
        print(f"{size:5d}  {observe.wall:6.1f} s {observe.cpu:5.1f} s {rest.wall:6.1f} s {rest.cpu:5.1f} s  {rest.results:7d}   {ratios}", flush=True)


def observing(folder: pathlib.Path, size: int, forks: int, rounds: int) -> None:
    """Role observe as respond uses it, in turns with a bare GET."""
    fleet = Fleet(folder / "idle", size, forks)
    try:
        found = fleet.run(str(HERE / "observe.yml"), rounds=rounds + 1)
    finally:
        fleet.close()
    bares, observations = [], []
    for task, cost in found:
        if task == "A bare GET":
            bares.append(cost)
            observations.append(Cost())
        elif observations and task not in ("Between", "Iteration ends", "end"):
            observations[-1] += cost
    # The first iteration fills caches on both sides.
    for name, words in (("wall", "on the clock"), ("cpu", "processor time")):
        bare, observation = (statistics.median(getattr(cost, name) for cost in costs[1:]) for costs in (bares, observations))
        print(f"{size} idle VMs, {words}, median of {rounds}: uri {bare:.1f} s, an observation {observation:.1f} s, ratio {observation / bare:.2f}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="*", default=[10, 100, 500])
    parser.add_argument("--idle", type=int, default=100, help="VMs for the second measurement, 0 for none")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--forks", type=int, default=20)
    parser.add_argument("--show", type=int, default=0, help="show so many of the most expensive tasks after the first observation")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if chosen.sizes:
            fleets(folder, chosen.sizes, chosen.forks, chosen.show)
        if chosen.idle:
            observing(folder, chosen.idle, chosen.forks, chosen.rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
