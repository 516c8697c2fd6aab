# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the collection's modules: as the process that Ansible would start, or inside this one when it has to be fast."""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from simulator_process import COLLECTION

PREFIX = "ansible_collections.maintenance.azure.plugins.modules"


def make_importable(folder: Path) -> None:
    """``ansible_collections.maintenance.azure`` from PYTHONPATH, else from a link to this collection in ``folder``."""
    if any((Path(entry) / "ansible_collections/maintenance/azure/plugins").is_dir() for entry in sys.path if entry):
        return
    parent = folder / "ansible_collections" / "maintenance"
    parent.mkdir(parents=True)
    (parent / "azure").symlink_to(COLLECTION)
    sys.path.append(str(folder))


def run_process(module: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """A true module process, as on a managed host: options on its standard input, one line of JSON back."""
    # A proxy that nobody can reach: the modules must never ask one.
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(entry for entry in sys.path if entry))
    environment.update(http_proxy="http://127.0.0.1:9", HTTP_PROXY="http://127.0.0.1:9")
    done = subprocess.run(
        # By its full name, as Ansible runs it: its imports are relative.
        [sys.executable, "-m", f"{PREFIX}.{module}"],
        input=json.dumps({"ANSIBLE_MODULE_ARGS": arguments}),
        capture_output=True,
        text=True,
        env=environment,
        timeout=60,
        check=False,
    )
    return _result(done.stdout, done.stderr)


def run_inside(module: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The module's main() in this process: the same code, without the start of a Python."""
    from ansible.module_utils import basic

    main = importlib.import_module(f"{PREFIX}.{module}").main
    saved = basic._ANSIBLE_ARGS, getattr(basic, "_ANSIBLE_PROFILE", None)
    basic._ANSIBLE_ARGS = json.dumps({"ANSIBLE_MODULE_ARGS": arguments}).encode()
    basic._ANSIBLE_PROFILE = "legacy"
    output = io.StringIO()
    try:
        with contextlib.redirect_stdout(output), contextlib.suppress(SystemExit):
            main()
    finally:
        basic._ANSIBLE_ARGS, basic._ANSIBLE_PROFILE = saved
        _forget_warnings()
    return _result(output.getvalue(), "")


def _forget_warnings() -> None:
    """ansible-core keeps warnings for the life of a process, which here outlives the module's run."""
    from ansible.module_utils.common import warnings

    for name in ("_global_warnings", "_global_deprecations"):
        kept = getattr(warnings, name, None)
        if hasattr(kept, "clear"):
            kept.clear()


def _result(output: str, errors: str) -> dict[str, Any]:
    lines = [line for line in output.splitlines() if line.startswith("{")]
    assert lines, f"the module printed no result but {output!r} and {errors!r}"
    result: dict[str, Any] = json.loads(lines[-1])
    return result
