# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What ends an asker that hangs on Windows, in a process of its own: it ends this process."""

from __future__ import annotations

import pathlib
import subprocess
import sys

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch import service_manager

HANGS = """
import sys, time
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch import service_manager
service_manager.WINDING_SECONDS = 0.0
with open(sys.argv[1], "wb") as log:
    timer = service_manager.Timer(log, 1.0)
    timer.ready()
    for _time in range(8):
        time.sleep(0.25)
        timer.alive("asking")
    print("alive", flush=True)
    time.sleep(60)
"""


def test_a_process_that_hangs_ends_and_one_that_works_does_not(tmp_path: pathlib.Path) -> None:
    done = subprocess.run([sys.executable, "-c", HANGS, str(tmp_path / "hang.log")], capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stdout) == (1, "alive\n")
    assert "Timeout" in (tmp_path / "hang.log").read_text() and "in <module>" in (tmp_path / "hang.log").read_text()


def test_the_limit_is_that_of_the_unit() -> None:
    unit = pathlib.Path(__file__).resolve().parents[6] / "roles" / "watch" / "templates" / "azure-maintenance-ask.service.j2"
    assert f"WatchdogSec={service_manager.HANGING_SECONDS:.0f}\n" in unit.read_text()
