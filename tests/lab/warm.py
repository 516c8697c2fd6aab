# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A Python for the modules of hosts on this machine that need not start for each of them (tests/tools/warm)."""

from __future__ import annotations

import atexit
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "tools" / "warm"
_pythons: dict[str, str] = {}
# Labs are made in two threads at a time.
_lock = threading.Lock()


def python(first_on_path: str = "") -> str:
    """The path of such a Python, with a folder that comes first in PYTHONPATH. Its server ends with this process."""
    if not hasattr(os, "pidfd_open"):
        # Not Linux: slower, and the same.
        return sys.executable if not first_on_path else _script(pathlib.Path(tempfile.mkdtemp()), first_on_path, sys.executable)
    with _lock:
        if first_on_path not in _pythons:
            _pythons[first_on_path] = _start(first_on_path)
        return _pythons[first_on_path]


def _start(first_on_path: str) -> str:
    folder = pathlib.Path(tempfile.mkdtemp(prefix="warm-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = os.pathsep.join(part for part in (first_on_path, os.environ.get("PYTHONPATH", "")) if part)
    # It reads the end of its input when this process is no more, however that came.
    server = subprocess.Popen(
        [sys.executable, str(FOLDER / "server.py"), str(folder / "socket")],
        env={**os.environ, "PYTHONPATH": path}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert server.stdout
    if server.stdout.readline() != b"ready\n":
        raise RuntimeError("the server of warm processes did not start")
    atexit.register(server.wait, 10)
    assert server.stdin
    atexit.register(server.stdin.close)
    return _script(folder, first_on_path, sys.executable, "-I", "-S", str(FOLDER / "client.py"), sys.executable, str(folder / "socket"))


def _script(folder: pathlib.Path, first_on_path: str, *command: str) -> str:
    script = folder / "python"
    words = " ".join(f'"{word}"' for word in command)
    change = f'PYTHONPATH="{first_on_path}${{PYTHONPATH:+:$PYTHONPATH}}" ' if first_on_path else ""
    script.write_text(f'#!/bin/sh\n{change}exec {words} "$@"\n')
    script.chmod(0o755)
    return str(script)
