# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A run that is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import time
import typing as t

from lab.lab import Lab


def kill_when(lab: Lab, seen: t.Callable[[], bool]) -> bool:
    """Run respond, and kill it with all that it has started as soon as something is so. Return whether it was still at work."""
    process = subprocess.Popen(
        # Not a warm one, which is no child of the process that is killed.
        lab.command("maintenance.azure.respond", respond_wait=True), env=lab.environment(), cwd=lab.folder,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    while process.poll() is None:
        if seen():
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(30)
            return True
        time.sleep(0.02)
    return False


def drained(lab: Lab, vm: str) -> bool:
    """Whether the record of a VM, if it has one, says so."""
    return any(record["phase"] == "drained" for record in lab.records(vm))
