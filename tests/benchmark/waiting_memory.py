# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Memory of a run that waits: a drain that never ends, looked at as often as possible, the controller's memory every few seconds.

An hour of waiting is some 120 iterations, because an iteration without news takes up to 30 s and longer; here they follow at once.
"""

from __future__ import annotations

import argparse
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from lab.lab import Lab  # noqa: E402  the folder of tests is no package


def memory(pid: int) -> float:
    """Resident memory of a process in MB."""
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=90)
    seconds = parser.parse_args().seconds
    with tempfile.TemporaryDirectory() as folder:
        lab = Lab(pathlib.Path(folder) / "lab", ["web1"], 1)
        lab.hosts["web1"]["drain_methods"] = [{"method": "command", "begin": "true", "check": "sh -c 'exit 75'", "undo": "true"}]
        lab.all["respond_timing"]["check_interval"] = 0
        lab.simulator.event("Reboot", ["web1"], notice=3000)
        output = pathlib.Path(folder) / "output"
        with output.open("w") as file:
            command = lab.command("maintenance.azure.respond", respond_wait=True, respond_wait_timeout=seconds)
            process = subprocess.Popen(command, env=lab.environment(), cwd=folder, stdout=file)
            try:
                while process.poll() is None:
                    iterations = output.read_text().count("Plan | What each VM does next")
                    print(f"{iterations:4d} plans  {memory(process.pid):6.1f} MB", flush=True)
                    time.sleep(10)
            finally:
                process.kill()
                process.wait()
                lab.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
