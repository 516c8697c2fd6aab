# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A Python for the modules of hosts on this machine that need not start for each of them, and an ansible-playbook like it (tests/tools/warm)."""

from __future__ import annotations

import atexit
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import typing as t

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "tools" / "warm"
_pythons: dict[str, str] = {}
_playbooks: dict[tuple[tuple[str, str], ...], str] = {}
# Each has ansible-core in memory: settings that one run has are not worth one.
MOST_PLAYBOOKS = 4
_seen: set[tuple[tuple[str, str], ...]] = set()
# Labs are made in two threads at a time.
_lock = threading.Lock()


def python(first_on_path: str = "") -> str:
    """The path of such a Python, with a folder that comes first in PYTHONPATH. Its server ends with this process."""
    if not hasattr(os, "pidfd_open"):
        # Not Linux: slower, and the same.
        return sys.executable if not first_on_path else _script(pathlib.Path(tempfile.mkdtemp()) / "python", _change(first_on_path), sys.executable)
    with _lock:
        if first_on_path not in _pythons:
            _pythons[first_on_path] = _start(first_on_path)
        return _pythons[first_on_path]


def playbooks(environment: t.Mapping[str, str]) -> dict[str, str]:
    """The environment of a run, in which ansible-playbook is one that need not start. Not for a run that is measured: it is no child.

    The first run with its settings starts as ever, so that nothing waits for a server that is asked once.
    """
    kept = dict(environment)
    real = shutil.which("ansible-playbook", path=kept.get("PATH"))
    # The programs of another ansible-core are what they are.
    if hasattr(os, "pidfd_open") and real and pathlib.Path(real).parent == pathlib.Path(sys.executable).parent:
        own = ("ANSIBLE_HOME", "ANSIBLE_REMOTE_TMP")
        key = tuple(sorted(item for item in kept.items() if item[0].startswith(("ANSIBLE_", "PYTHON", "CODE_CACHE")) and item[0] not in own))
        with _lock:
            again = key in _seen
            _seen.add(key)
            if again and key not in _playbooks and len(_playbooks) < MOST_PLAYBOOKS:
                _playbooks[key] = str(pathlib.Path(_server("playbook.py", "ansible-playbook", kept, real)).parent)
        if key in _playbooks:
            kept["PATH"] = os.pathsep.join([_playbooks[key], kept["PATH"]])
    return kept


def run_playbook(command: t.Sequence[str], environment: t.Mapping[str, str], folder: pathlib.Path, timeout: float) -> subprocess.CompletedProcess[str]:
    """Run such an ansible-playbook to its end, in a session of its own: a test may kill its whole group."""
    surroundings = playbooks(environment)
    return subprocess.run(command, env=surroundings, cwd=folder, capture_output=True, text=True, timeout=timeout, check=False, start_new_session=True)


def _start(first_on_path: str) -> str:
    path = os.pathsep.join(part for part in (first_on_path, os.environ.get("PYTHONPATH", "")) if part)
    return _server("server.py", "python", {**os.environ, "PYTHONPATH": path}, change=_change(first_on_path))


def _change(first_on_path: str) -> str:
    return f'PYTHONPATH="{first_on_path}${{PYTHONPATH:+:$PYTHONPATH}}" ' if first_on_path else ""


def _server(program: str, name: str, environment: t.Mapping[str, str], *arguments: str, change: str = "") -> str:
    """Start a server, and return the path of the program of this name that asks it."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="warm-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    # It reads the end of its input when this process is no more, however that came.
    server = subprocess.Popen(
        [sys.executable, str(FOLDER / program), str(folder / "socket")], env=environment, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )  # fmt: skip
    assert server.stdout
    if server.stdout.readline() != b"ready\n":
        raise RuntimeError("the server of warm processes did not start")
    atexit.register(server.wait, 10)
    assert server.stdin
    atexit.register(server.stdin.close)
    client = [sys.executable, "-I", "-S", str(FOLDER / "client.py"), sys.executable, str(folder / "socket")]
    return _script(folder / name, change, *client, *arguments)


def _script(path: pathlib.Path, change: str, *command: str) -> str:
    words = " ".join(f'"{word}"' for word in command)
    path.write_text(f'#!/bin/sh\n{change}exec {words} "$@"\n')
    path.chmod(0o755)
    return str(path)
