# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the watcher's asking process costs: memory and processor time at one request a second, beside a loop as in Microsoft's own Python sample.

Both run at the same time against one simulator on loopback, as the machine's own Python, and are read from /proc. Prints; nothing here fails for being slow.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from lab.simulator import Simulator  # noqa: E402  the folder of tests is no package

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The sample asks with the library requests, looks at the incarnation, and sleeps (seed document, "Python sample"). It approves; this one must not.
SAMPLE = """
import json, sys, time
import requests
last = -1
while True:
    document = requests.get(sys.argv[1] + "/metadata/scheduledevents", headers={"Metadata": "true"}, params={"api-version": "2020-07-01"}).json()
    if document["DocumentIncarnation"] != last:
        last = document["DocumentIncarnation"]
        print(json.dumps(document, indent=2))
    time.sleep(1)
"""


class Measured:
    """A process under observation."""

    def __init__(self, name: str, process_id: int) -> None:
        self.name = name
        self.process_id = process_id
        self.private: list[int] = []
        self.proportional: list[int] = []
        self.descriptors: list[int] = []
        self._began = 0.0

    def start(self) -> None:
        """Processor time counts from here on."""
        self._began = self.processor_seconds()

    def processor_seconds(self) -> float:
        fields = pathlib.Path(f"/proc/{self.process_id}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def look(self) -> None:
        rollup = dict(line.split()[:2] for line in pathlib.Path(f"/proc/{self.process_id}/smaps_rollup").read_text().splitlines()[1:])
        self.private.append(int(rollup["Private_Clean:"]) + int(rollup["Private_Dirty:"]))
        self.proportional.append(int(rollup["Pss:"]))
        self.descriptors.append(len(list(pathlib.Path(f"/proc/{self.process_id}/fd").iterdir())))

    def show(self, seconds: float) -> None:
        used = self.processor_seconds() - self._began
        print(
            f"{self.name:10} private {statistics.median(self.private) / 1024:5.1f} MiB "
            f"(first {self.private[0] / 1024:.1f}, last {self.private[-1] / 1024:.1f}), "
            f"proportional {statistics.median(self.proportional) / 1024:5.1f} MiB, {used / seconds * 100:.2f} % of a core, "
            f"descriptors {self.descriptors[0]} to {self.descriptors[-1]}",
            flush=True,
        )


def watcher(folder: pathlib.Path, endpoint: str, python: str) -> list[str]:
    archive, settings = folder / "watch.pyz", folder / "watch.json"
    pack = ROOT / "plugins" / "plugin_utils" / "_controller" / "pack.py"
    package = ROOT / "plugins" / "module_utils" / "_scheduled_events"
    subprocess.run([sys.executable, str(pack), str(package), str(archive), "_scheduled_events.watch.main"], check=True)
    folders = {f"{name}_folder": str(folder / name) for name in ("runtime", "state", "seen")}
    for path in folders.values():
        pathlib.Path(path).mkdir()
    settings.write_text(json.dumps({"endpoint": endpoint, "tell_folder": str(folder), **folders}))
    return [python, "-I", str(archive), "ask", str(settings)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--python", default=shutil.which("python3", path="/usr/bin:/bin") or sys.executable, help="as on a VM: the system's own")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        simulator = Simulator(["web1", "web2"], 1)
        sample = folder / "sample.py"
        sample.write_text(SAMPLE)
        commands = {
            "watcher": watcher(folder, simulator.endpoints["web1"], options.python),
            "sample": [sys.executable, str(sample), simulator.endpoints["web2"]],
        }
        started = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for command in commands.values()]
        processes = [Measured(name, process.pid) for name, process in zip(commands, started)]
        try:
            time.sleep(5)
            for process in processes:
                process.start()
            end = time.monotonic() + options.seconds
            while time.monotonic() < end:
                for process in processes:
                    process.look()
                time.sleep(min(10, options.seconds / 5))
            for process in processes:
                process.show(options.seconds)
        finally:
            for running in started:
                running.kill()
                running.wait(10)
            simulator.close()


if __name__ == "__main__":
    main()
