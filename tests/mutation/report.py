# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What became of the mutants: a row for each package, and the survivors that no entry of equivalent.toml explains."""

from __future__ import annotations

import pathlib
import typing as t
from collections import Counter, defaultdict

import selection
import tomllib
from cosmic_ray.work_db import WorkDB
from cosmic_ray.work_item import TestOutcome, WorkerOutcome, WorkItem, WorkResult

EQUIVALENT = pathlib.Path(__file__).with_name("equivalent.toml")
GOAL = 95.0


class Row(t.NamedTuple):
    """The figures of a package."""

    package: str
    tried: int
    killed: int
    equivalent: int

    @property
    def score(self) -> float:
        return 100 * self.killed / max(1, self.tried)

    @property
    def score_without_equivalent(self) -> float:
        return 100 * self.killed / max(1, self.tried - self.equivalent)


def package(item: WorkItem) -> str:
    """Return the folder of the configuration that a mutant lies in."""
    path = item.mutations[0].module_path
    return next(folder for folder in selection.settings()["module-path"] if path.is_relative_to(folder))


def change(result: WorkResult) -> tuple[str, str]:
    """Return the lines that a mutant replaces, and those that stand there instead, as one text each."""
    lines = (result.diff or "").splitlines()[2:]
    return tuple(" ".join(line[1:].strip() for line in lines if line.startswith(sign)) for sign in "-+")  # type: ignore[return-value]


def explained() -> dict[tuple[str, str, str], str]:
    """Return the reasons of the mutants that behave as the source does. Known by function and text: files may be renamed."""
    entries = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))["mutant"] if EQUIVALENT.exists() else []
    return {(entry["function"], entry["line"], mutated): entry["reason"] for entry in entries for mutated in entry["becomes"]}


def show(database: WorkDB, *, survivors: bool, only: t.Collection[str] | None = None) -> int:
    """Print the figures, of these mutants only if any are named; return the exit code: 1 where a package misses the goal."""
    reasons = explained()
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    used = set()
    for item, result in sorted(database.completed_work_items, key=lambda one: (str(one[0].mutations[0].module_path), one[0].mutations[0].start_pos)):
        if result.worker_outcome == WorkerOutcome.SKIPPED or (only is not None and item.job_id not in only):
            continue
        (mutation,) = item.mutations
        key = (mutation.definition_name or "", *change(result))
        outcome = str(result.test_outcome.value) if result.test_outcome else result.worker_outcome.value
        if outcome == TestOutcome.SURVIVED.value and key in reasons:
            outcome = "equivalent"
            used.add(key)
        counts[package(item)][outcome] += 1
        if survivors and outcome not in ("killed", "equivalent"):
            print(f"{outcome} {mutation.module_path}:{mutation.start_pos[0]} {key[0]} {mutation.operator_name} ({(result.output or '')[:200]})")
            print(f"  - {key[1]}\n  + {key[2]}")
    rows = [Row(name, count.total(), count["killed"], count["equivalent"]) for name, count in sorted(counts.items())]
    print(f"{'package':52} tried killed  score  same  score without those that behave the same")
    for row in rows:
        print(f"{row.package:52} {row.tried:5} {row.killed:6} {row.score:5.1f}% {row.equivalent:5}  {row.score_without_equivalent:5.1f}%")
    unused = set(reasons) - used
    if unused:
        print(f"{len(unused)} entries of {EQUIVALENT.name} fit no survivor of this session.")
    return int(any(row.score_without_equivalent < GOAL for row in rows))
