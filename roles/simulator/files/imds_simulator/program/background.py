# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Run without a service manager: start in the background, find the process by its pid file, stop it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import List, Optional

_PATIENCE = 15.0


def start(arguments: List[str], pid_file: str, log_file: str) -> int:
    """Start a process and return its exit status once it listens. Leave a running one alone."""
    pid = running(pid_file)
    if pid is not None:
        print("already running with process id %d" % pid)
        return 0
    with open(log_file, "ab") as log:
        process = subprocess.Popen(
            [sys.executable, os.path.abspath(sys.argv[0])] + arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, start_new_session=True
        )
    line = process.stdout.readline() if process.stdout is not None else b""
    if not line:
        status = process.wait()
        sys.stderr.write("imds_simulator: it ended with status %d: %s\n" % (status, _log_end(log_file)))
        return 1
    print(line.decode("utf-8").strip())
    return 0


def _log_end(log_file: str) -> str:
    """Return the end of the log, for an error message."""
    with open(log_file, "rb") as log:
        text = log.read()[-2000:].decode("utf-8", "replace").strip()
    if log_file == os.devnull:
        return "its log is not kept. One of its addresses may be in use; run it without --background, or with --log-file, to see why"
    return text or "it said nothing in %s" % log_file


def stop(pid_file: str) -> int:
    """Stop the process and wait until it has ended. Return an exit status."""
    pid = running(pid_file)
    if pid is None:
        print("not running")
        return 0
    os.kill(pid, signal.SIGTERM)
    end = time.monotonic() + _PATIENCE
    while running(pid_file) == pid:
        if time.monotonic() > end:
            sys.stderr.write("imds_simulator: process %d did not end within %d s\n" % (pid, _PATIENCE))
            return 1
        time.sleep(0.05)
    print("stopped")
    return 0


def running(pid_file: str) -> Optional[int]:
    """Return the process id of the simulator that wrote this file; None if it has ended, even if another process has its id now."""
    try:
        with open(pid_file, encoding="utf-8") as stream:
            pid = int(stream.read().strip() or "0")
        os.kill(pid, 0)
    except (OSError, ValueError):
        return None
    try:
        with open("/proc/%d/cmdline" % pid, "rb") as command_line:
            arguments = command_line.read().split(b"\0")
    except OSError:
        return pid
    return pid if any(b"imds_simulator" in argument for argument in arguments) else None
