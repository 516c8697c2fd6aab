# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How long writes stand, with a drain and without one, for each product that holds state: suite state, one product at a time. As root, on Debian."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINE = re.compile(r"^state: (\w+): (.*): (.*)$")
# What prints a pause or a loss, of all that STATE_FULL runs.
MEASURING = "with_and_without or freeze or without_a_drain or hit or reboot or nobody_guards or coordinates or hands_over or preempt or one_event or requeues"


def main() -> int:
    if os.geteuid() != 0:
        print("not measured: suite state needs root (tests/state/run.sh)")
        return 0
    command = ["bash", str(ROOT / "tests" / "state" / "run.sh"), *sys.argv[1:], "--", "-k", MEASURING]
    done = subprocess.run(command, env={**os.environ, "STATE_FULL": "1", "STATE_AT_ONCE": "1"}, stdout=subprocess.PIPE, text=True, check=False)
    rows = [match.groups() for line in done.stdout.splitlines() if (match := LINE.match(line))]
    for product, what, figure in [("product", "event", "longest pause, or what was lost"), *rows]:
        print(f"{product:12} | {what:75} | {figure}")
    print(done.stdout.splitlines()[-1])
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
