# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How long an event is listed until the watcher has noticed it: one asker, one request a second, many notices at random moments. Prints; nothing fails here."""

from __future__ import annotations

import argparse
import datetime
import json
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from benchmark.watcher_cost import watcher  # noqa: E402  the folder of tests is no package
from lab.simulator import Simulator  # noqa: E402

# So many are listed at a time, as an honest document may have them.
LISTED = 5


def noticed_at(folder: pathlib.Path) -> dict[str, float]:
    """When each event was noticed, by the messages that wait in the spool."""
    found = {}
    for path in folder.glob("*-*.*"):
        body = json.loads(path.read_text()) if path.suffix in (".waiting", ".accepted") else {}
        if body.get("type", "").endswith(".listed"):
            found[body["subject"].lower()] = datetime.datetime.fromisoformat(body["data"]["noticed_at"].replace("Z", "+00:00")).timestamp()
    return found


def measure(count: int, folder: pathlib.Path, simulator: Simulator) -> list[float]:
    listed: dict[str, float] = {}
    seen: dict[str, float] = {}
    for number in range(count):
        time.sleep(random.uniform(0.2, 0.8))
        began = time.time()
        listed[simulator.event("Preempt", ["web1"], notice=3600)] = began
        # The spool keeps 1000 messages, and an event that ends is told of as well.
        seen.update(noticed_at(folder))
        if number >= LISTED:
            simulator.ask("POST", f"/events/{list(listed)[number - LISTED]}/cancel")
    time.sleep(5)
    seen.update(noticed_at(folder))
    return [seen[event_id.lower()] - at for event_id, at in listed.items() if event_id.lower() in seen]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--python", default=shutil.which("python3", path="/usr/bin:/bin") or sys.executable, help="as on a VM: the system's own")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder, simulator = pathlib.Path(name), Simulator(["web1"], 1)
        asker = subprocess.Popen(watcher(folder, simulator.endpoints["web1"], options.python), stdout=subprocess.DEVNULL)
        try:
            time.sleep(3)
            seconds = sorted(measure(options.count, folder / "state", simulator))
            most = seconds[min(int(len(seconds) * 0.99), len(seconds) - 1)]
            print(f"{len(seconds)} of {options.count} notices: median {statistics.median(seconds):.2f} s, ", end="")
            print(f"99th percentile {most:.2f} s, longest {seconds[-1]:.2f} s")
        finally:
            asker.kill()
            asker.wait(10)
            simulator.close()


if __name__ == "__main__":
    main()
