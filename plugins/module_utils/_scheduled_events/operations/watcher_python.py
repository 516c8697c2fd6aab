# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""Find the Python of the watcher on a Linux VM. Root runs it, so it is looked at before it is run here for the first time."""

from __future__ import annotations

import shutil
import typing as t

from ..core.types import Data
from ..host.access import Failed
from ..host.ownership import NotTrusted, check_program

# The program as its units will call it, and where its standard library is.
ASK = (
    "import os, sys; print(sys.executable); print(os.path.dirname(os.__file__)); sys.exit(0 if sys.version_info >= (3, 8) else 'Python 3.8 or newer is needed')"
)
OTHERWISE = "Next: install Python 3.8 or newer there and set watch_python to it, or leave the VM out (watch_hosts); the schedule serves it."
WAY_OUT = "set watch_python to a Python that only root may change, such as /usr/bin/python3"

RunCommand = t.Callable[[t.List[str]], t.Tuple[int, str, str]]


def watcher_python_arguments() -> dict[str, Data]:
    """Return the argument spec of watcher_python."""
    return {"python": {"type": "str", "required": True}}


def find_python(python: str, run_command: RunCommand) -> Data:
    """Return the path of a Python that only root and this user can change, by name or path. Raise Failed."""
    path = shutil.which(python)
    if path is None:
        raise Failed(_unusable(python, "it does not run on this VM"))
    _check(python, path)
    try:
        # As its units do without site-packages (-S): a file there would be run as root, too, and no check looks at it.
        code, output, errors = run_command([path, "-I", "-S", "-c", ASK])
    except OSError as error:
        raise Failed(_unusable(python, f"it does not run on this VM ({error})")) from error
    lines = output.splitlines()
    if code != 0 or len(lines) != 2:
        raise Failed(_unusable(python, errors.strip() or "it does not run on this VM"))
    for place in lines:
        _check(python, place)
    return {"executable": lines[0]}


def _check(python: str, path: str) -> None:
    try:
        check_program(path, WAY_OUT)
    except (NotTrusted, OSError) as error:
        raise Failed(f"watch_python is {python}, and another user could change what root runs there: {error}.") from error


def _unusable(python: str, why: str) -> str:
    return f"watch_python is {python}: {why}. {OTHERWISE}"
