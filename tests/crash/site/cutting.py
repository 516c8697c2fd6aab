# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Kills a run at a numbered point, or writes down the points and what a kill there would leave behind.

Used in two places: by the callback plugin in the controller (after each task) and by the modules' Python (around each record
write and each POST). A point is known by its place and by what lies there at that moment, not by a number: two runs may look once
more or less often, and a number would then be another place. A kill is asked for by one of the three names of a point (names_of).
"""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import signal
import typing as t

# When something happened differs between two runs; that it happened does not.
TIMES = ("_at", "_since", "at", "times", "seconds", "deadline", "not_before", "lineage", "revision")
# Nor is a run called as the one before; that it is written down does not differ.
RUNS = ("run", "who")


def folder() -> pathlib.Path:
    return pathlib.Path(os.environ["CUT_FOLDER"])


def _timeless(value: t.Any) -> t.Any:
    if isinstance(value, dict):
        return {key: bool(inner) if key.endswith(TIMES) or key in RUNS else _timeless(inner) for key, inner in value.items()}
    return [_timeless(inner) for inner in value] if isinstance(value, list) else value


def _files(vm: str) -> dict[str, pathlib.Path]:
    """As a reader sees them: the newest revision of each record, and no temporary file."""
    newest: dict[str, tuple[int, pathlib.Path]] = {}
    for path in sorted((folder() / vm).rglob("*")):
        if path.name.startswith((".", "temporary-")) or not path.is_file() or path.name == "asked":
            continue
        if path.name.startswith(("claim-", "host-")):
            # The name holds the run or a mark, and the time; that there is one is what matters.
            newest["lease" if path.name.startswith("claim-") else "host mark"] = (1, path)
            continue
        name, _dot, revision = path.name.removesuffix(".json").rpartition(".")
        number = int(revision) if path.suffix == ".json" and revision.isdigit() else 0
        key = name if number else path.name
        newest[key] = max(newest.get(key, (0, path)), (number, path))
    return {f"{vm}/{key}": path for key, (_number, path) in newest.items()}


def state() -> str:
    """What lies on the VMs: records, leases, marks, flag files, what the commands did. And what was sent to Azure."""
    found: dict[str, t.Any] = {}
    for name, path in [pair for vm in os.environ["CUT_VMS"].split() for pair in _files(vm).items()]:
        text = path.read_text()
        try:
            found[name] = _timeless(json.loads(text))
        except ValueError:
            found[name] = text
    # Not how often: on a busy machine a run may ask Azure a second time, and other runs then do not.
    found["posted"] = (folder() / "posted").exists()
    return json.dumps(found, sort_keys=True).replace(str(folder()), "LAB")


def names_of(kind: str, name: str, present: str) -> dict[str, str]:
    """What a kill at a point is asked for by: its place alone, what lies there alone, or both.

    Which task or module leaves a state behind depends on the moment at which Azure's answer changed, so a state is looked for wherever it comes.
    """
    digest = {key: hashlib.sha256(text.encode()).hexdigest() for key, text in (("state", present), ("point", f"{kind} {name} {present}"))}
    return {"place": f"place {kind} {name}", **{key: f"{key} {text}" for key, text in digest.items()}}


def point(kind: str, name: str) -> None:
    """Write a point down, and end everything if it is the one."""
    present = state()
    names = names_of(kind, name, present)
    with open(folder() / "points", "a") as file:
        file.write(json.dumps({"names": names, "kind": kind, "name": name, "state": present}) + "\n")
    if os.environ.get("CUT_AT") in names.values():
        controller = int((folder() / "controller").read_text())
        if _first(name):
            # What this kill really left behind: a state may be looked for by its place.
            (folder() / "left").write_text(present)
            os.kill(controller, signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)


def _first(name: str) -> bool:
    """Whether nothing was killed yet. A worker outlives its controller and goes on with its loop: by then the controller is the next run's."""
    try:
        with open(folder() / "cut", "x") as file:
            file.write(name)
    except FileExistsError:
        return False
    return True
