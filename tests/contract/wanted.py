# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The expected results, whole: one file for each file of cases. CONTRACT_WRITE=1 writes them anew, for a person to read the difference."""

from __future__ import annotations

import functools
import json
import os
import pathlib
import typing as t

if t.TYPE_CHECKING:
    from ansible_collections.maintenance.azure.tests.contract.stage import Case, Played

FOLDER = pathlib.Path(__file__).resolve().parent / "expected"
WRITES = os.environ.get("CONTRACT_WRITE") == "1"


@functools.cache
def _read(file: str) -> dict[str, t.Any]:
    path = FOLDER / f"{file}.json"
    found: dict[str, t.Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return found


def expected(case: Case) -> dict[str, t.Any]:
    """Results, requests and files of a case; a name that is not there is a case without expectation."""
    found: dict[str, t.Any] = _read(case.file)[case.name]
    return found


def keep(case: Case, played: Played) -> None:
    """Write down what came, where that was asked for."""
    if not WRITES:
        return
    FOLDER.mkdir(exist_ok=True)
    kept = _read(case.file)
    kept[case.name] = json.loads(json.dumps(played._asdict()))
    lines = [f"{json.dumps(name)}: {json.dumps(kept[name])}" for name in kept]
    (FOLDER / f"{case.file}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
