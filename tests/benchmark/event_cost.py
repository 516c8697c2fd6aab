# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What one event costs, beside the last release's, in turns. Prints; nothing here fails for being slow.

VMs on this machine with a drain that is done at once (a ``command``), one event on all of them, in two passes of respond: one that drains and
approves, one that recovers; and a pass that finds nothing to do. Seconds to approval begin with the event, just before the first pass, so they
hold the start of ansible-playbook.
Processor time holds the controller's and the VMs' part. The release is unpacked from this repository's git history.
"""

from __future__ import annotations

import argparse
import collections
import json
import pathlib
import statistics
import sys
import tempfile
import time
import typing as t

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "versions")]

from lab.haproxy import Backend, HAProxy  # noqa: E402  the folder of tests is no package
from versions import Controller, Lab  # noqa: E402  the folder of tests is no package

COMMAND = {"method": "command", "begin": "true", "check": "true", "undo": "true"}
# The simulator's seconds in one of ours.
SPEED = 20
MEASURES = ("results", "module runs", "processor s", "clock s", "s to approval")


def new_lab(folder: pathlib.Path, size: int) -> Lab:
    lab = Lab(folder, [f"web{number}" for number in range(1, size + 1)], SPEED)
    for host in lab.hosts.values():
        host["ansible_python_interpreter"] = str(counting_python(lab.folder))
        host["drain_methods"] = [COMMAND]
    return lab


def idle_pass(folder: pathlib.Path, version: str, size: int) -> dict[str, float]:
    """Return what a pass costs that finds no event."""
    lab = new_lab(folder, size)
    try:
        found = one_pass(lab, version)
        found["module runs"] = module_runs(lab)
    finally:
        lab.close()
    return found


def one_event(folder: pathlib.Path, version: str, size: int) -> dict[str, float]:
    """Return what an event on all VMs costs from its notice to their recovery."""
    lab = new_lab(folder, size)
    found: collections.Counter[str] = collections.Counter(dict.fromkeys(MEASURES, 0))
    try:
        event = lab.simulator.event("Freeze", lab.vms, notice=36000, duration_in_seconds=60, approvals="one", started_seconds=36000)
        found.update(one_pass(lab, version))
        approvals = lab.simulator.approvals()
        if len(approvals) != 1:
            raise SystemExit(f"{version}: {len(approvals)} approvals in one pass")
        found["s to approval"] = (approvals[0]["at"] - lab.simulator.log()[0]["at"]) / SPEED
        lab.simulator.ask("POST", f"/events/{event}/finish")
        while {lab.phases(vm)[-1] for vm in lab.vms} != {"recovered"}:
            time.sleep(lab.all["respond_timing"]["gone_seconds"] + 0.5)
            found.update(one_pass(lab, version))
        found["module runs"] = module_runs(lab)
    finally:
        lab.close()
    return dict(found)


def event_in_haproxy(folder: pathlib.Path, version: str, size: int) -> dict[str, float]:
    """Return what an event on half of the VMs costs that drain in a real HAProxy, by method haproxy alone."""
    lab = new_lab(folder, size)
    servers = {vm: Backend() for vm in lab.vms}
    balancer = HAProxy(folder / "lb1", {"web": {vm: (server.port, "check inter 200 fall 1 rise 1") for vm, server in servers.items()}})
    for host in lab.hosts.values():
        host["drain_methods"] = [{"method": "haproxy", "balancers": ["lb1"]}]
    plain = {key: value for key, value in next(iter(lab.hosts.values())).items() if key.startswith("ansible_")}
    lab.hosts["lb1"] = {**plain, "respond_exclude": True, "drain_haproxy_socket": balancer.socket}
    found: collections.Counter[str] = collections.Counter(dict.fromkeys(MEASURES, 0))
    try:
        for vm in servers:
            balancer.wait_for(lambda vm=vm: balancer.status("web", vm) == "UP", f"{vm} is not up")
        event = lab.simulator.event("Reboot", lab.vms[: size // 2], notice=36000, approvals="one", started_seconds=36000)
        while not lab.simulator.approvals():
            found.update(one_pass(lab, version))
        found["s to approval"] = (lab.simulator.approvals()[0]["at"] - lab.simulator.log()[0]["at"]) / SPEED
        lab.simulator.ask("POST", f"/events/{event}/finish")
        while {lab.phases(vm)[-1] for vm in lab.vms[: size // 2]} != {"recovered"}:
            time.sleep(lab.all["respond_timing"]["gone_seconds"] + 0.5)
            found.update(one_pass(lab, version))
        found["module runs"] = module_runs(lab)
    finally:
        balancer.stop()
        for server in servers.values():
            server.stop()
        lab.close()
    return dict(found)


def counting_python(folder: pathlib.Path) -> pathlib.Path:
    """Write a Python that notes each start. Modules cost here what they cost a user: a Python that starts for each, not the tests' warm one."""
    python = folder / "python"
    python.write_text(f'#!/bin/sh\necho >> "{folder}/starts"\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    return python


def module_runs(lab: Lab) -> int:
    return len((lab.folder / "starts").read_text().splitlines())


def one_pass(lab: Lab, version: str) -> dict[str, float]:
    """Run respond once; its cost."""
    times = lab.folder / "times"
    watched = {
        "TASK_TIMES": str(times),
        "ANSIBLE_CALLBACK_PLUGINS": str(HERE / "callback_plugins"),
        "ANSIBLE_CALLBACKS_ENABLED": "task_times",
        # What tests save, a user does not.
        "CODE_CACHE_FOLDER": "",
    }
    Controller(lab, version).start("respond", watched).ended()
    entries = [json.loads(line) for line in times.read_text().splitlines()]
    first, last = entries[0], entries[-1]
    return {
        "results": sum(len(entry["hosts"]) for entry in entries),
        "processor s": last["cpu"] - first["cpu"],
        "clock s": last["at"] - first["at"],
    }


ON_VMS = ((one_event, "One event on {} VMs, drained, approved, recovered"), (idle_pass, "A pass over {} VMs without an event"))
IN_HAPROXY = ((event_in_haproxy, "One event on half of {} VMs, drained in HAProxy, approved, recovered"),)


def table(kinds: t.Sequence[t.Any], sizes: t.Sequence[int], versions: t.Sequence[str], rounds: int) -> None:
    """Print the medians of the versions beside each other."""
    for size in sizes:
        for measured, title in kinds:
            costs: dict[str, list[dict[str, float]]] = {version: [] for version in versions}
            for _round in range(rounds):
                for version in versions:
                    with tempfile.TemporaryDirectory() as name:
                        costs[version].append(measured(pathlib.Path(name) / "lab", version, size))
            print(f"{title.format(size)}; median of {rounds}, in turns:")
            measures = [measure for measure in MEASURES if measure in costs[versions[0]][0]]
            print(f"{'':10}" + "".join(f"{measure:>15}" for measure in measures))
            for version in versions:
                medians = [statistics.median(cost[measure] for cost in costs[version]) for measure in measures]
                print(f"{version:10}" + "".join(f"{value:15.1f}" for value in medians), flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="*", default=[2, 3])
    parser.add_argument("--haproxy", type=int, nargs="*", default=[4], help="the sizes of fleets that drain in HAProxy")
    parser.add_argument("--versions", nargs="*", default=["2.5.0", "new"])
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    table(ON_VMS, chosen.sizes, chosen.versions, chosen.rounds)
    table(IN_HAPROXY, chosen.haproxy, chosen.versions, chosen.rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
