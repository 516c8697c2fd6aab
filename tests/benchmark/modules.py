# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Measure the modules against what Ansible has without them. Prints, and fails only if something does not work at all.

1. scheduled_events_info on many hosts against one bare GET by ansible.builtin.uri on the same hosts in the same run, and against
   itself under a name that has no action plugin.
2. wait_for_scheduled_event against ansible.builtin.uri with until: reaction time, and processor time for a minute of waiting.
All hosts are this machine, so processor times hold both the controller's and the host's part.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "tests" / "benchmark"
SIMULATOR = ROOT / "roles" / "simulator" / "files" / "imds_simulator"


def plain_collection(folder: pathlib.Path) -> str:
    """A collection that has the module and no action plugin; the paths on which collections are found then."""
    modules = folder / "plain" / "ansible_collections" / "maintenance" / "plain" / "plugins" / "modules"
    modules.mkdir(parents=True)
    # In another collection its relative imports would mean that one's module_utils.
    text = (ROOT / "plugins" / "modules" / "scheduled_events_info.py").read_text()
    text = text.replace("from ..module_utils", "from ansible_collections.maintenance.azure.plugins.module_utils")
    (modules / "scheduled_events_info.py").write_text(text)
    known = os.environ.get("ANSIBLE_COLLECTIONS_PATH") or str(ROOT / ".build" / "tree")
    return os.pathsep.join([str(folder / "plain"), known])


class Stage:
    """A simulator with hosts, and a folder."""

    def __init__(self, folder: pathlib.Path, hosts: int) -> None:
        self.folder = folder
        self.environment: dict[str, str] = {}
        names = [f"vm{number}" for number in range(hosts)]
        command = [sys.executable, str(SIMULATOR), "--control", "127.0.0.1:0", "--parent", str(os.getpid()), "--switch", "rate_limit=0"]
        for name in names:
            command += ["--vm", name]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.addresses = json.loads(self.process.stdout.readline())
        self.inventory = folder / "inventory.json"
        shared = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
        known = {name: {"endpoint": self.addresses["vms"][name], **shared} for name in names}
        self.inventory.write_text(json.dumps({"all": {"hosts": known}}))

    def __enter__(self) -> Stage:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait(10)

    def plan_event(self) -> None:
        body = json.dumps({"event_type": "Freeze", "resources": ["vm0"], "notice": 900}).encode()
        request = urllib.request.Request(f"{self.addresses['control']}/events", body, {"Content-Type": "application/json"})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        opener.open(request, timeout=10).close()

    def play(self, playbook: str, **variables: object) -> tuple[str, float]:
        """What the playbook handed over, and the processor time that it took."""
        results = self.folder / "results"
        results.unlink(missing_ok=True)
        variables["results_file"] = str(results)
        command = ["ansible-playbook", "-i", str(self.inventory), str(HERE / playbook), "-e", json.dumps(variables)]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        environment = dict(os.environ, **self.environment)
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=900)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode:
            raise SystemExit(done.stdout[-4000:] + done.stderr[-2000:])
        return results.read_text(), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def observations(folder: pathlib.Path, hosts: int, rounds: int) -> None:
    with Stage(folder, hosts) as stage:
        stage.environment["ANSIBLE_COLLECTIONS_PATH"] = plain_collection(folder)
        measured = json.loads(stage.play("observation.yml", rounds=rounds)[0])
    bare = statistics.median(iteration["uri"] for iteration in measured)
    observation = statistics.median(iteration["observation"] for iteration in measured)
    plain = statistics.median(iteration["plain"] for iteration in measured)
    print(
        f"{hosts} hosts, median of {rounds} rounds: ansible.builtin.uri {bare:.1f} s, scheduled_events_info {observation:.1f} s, ratio {observation / bare:.2f}"
    )
    print(
        f"  without the action plugin {plain:.1f} s, ratio {observation / plain:.2f}; each iteration: "
        + ", ".join(f"{iteration['observation'] / iteration['plain']:.2f}" for iteration in measured)
    )


def wait_once(folder: pathlib.Path, way: str, seconds: float) -> tuple[float, float]:
    """Seconds from the event to the end of the task, and processor time, when the event comes after some seconds."""
    came: list[float] = []
    with Stage(folder, 1) as stage:

        def come() -> None:
            time.sleep(seconds)
            stage.plan_event()
            came.append(time.time())

        thread = threading.Thread(target=come)
        thread.start()
        noticed, processor = stage.play("wait.yml", way=way)
        thread.join()
    return float(noticed) - came[0], processor


def waits(folder: pathlib.Path, times: int) -> None:
    short, long = 4.0, 24.0
    for way in ("module", "loop"):
        early = [wait_once(folder, way, short + number / times) for number in range(times)]
        late = wait_once(folder, way, long)
        # What starting and ending take cancels out.
        minute = (late[1] - statistics.mean(processor for reacted, processor in early)) / (long - short) * 60
        reaction = statistics.mean([reacted for reacted, processor in [*early, late]])
        name = "wait_for_scheduled_event" if way == "module" else "uri with until, delay 1"
        print(f"{name}: noticed after {reaction:.2f} s, {minute:.1f} s of processor time for a minute of waiting")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--times", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        observations(pathlib.Path(name), arguments.hosts, arguments.rounds)
        waits(pathlib.Path(name), arguments.times)
    return 0


if __name__ == "__main__":
    sys.exit(main())
