# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Mutation testing with cosmic-ray: change one thing at a time in the packages that cosmic-ray.toml names, and see which test notices.

A session (.build/mutation/session.sqlite, cosmic-ray's own format) keeps the results. What has a result is not tried again, so a run that was
ended goes on where it was, and a sample grows to the whole. Needs the environment "mutation" (make mutation).
"""

from __future__ import annotations

import argparse
import hashlib
import os
import pathlib
import random
import shutil
import subprocess
import sys
from collections import defaultdict

import report
import selection
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import TestOutcome, WorkerOutcome, WorkItem, WorkResult
from nothing_runs import why_skipped

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORK = ROOT / ".build" / "mutation"
SESSION = WORK / "session.sqlite"
BASELINE = WORK / "baseline.json"
LOOKED_AT = (
    *(f"core/ReplaceBinaryOperator_{name}_" for name in ("BitOr", "Mul", "Pow", "Div")),
    *(f"core/ReplaceComparisonOperator_{name}_" for name in ("Eq", "NotEq")),
)
"""Operators that may stand in type hints and signatures, or compare words; none of the others make a mutant that is skipped."""


def main() -> int:
    options = arguments()
    WORK.mkdir(parents=True, exist_ok=True)
    os.chdir(ROOT)
    jobs = None
    if not options.report:
        copies = [copy(number) for number in range(options.lanes)]
        if options.fresh or not SESSION.exists():
            begin(copies[0])
        measure(copies[0], options.tests)
        with use_db(SESSION, WorkDB.Mode.open) as database:
            jobs = wanted(database, options)
        run(copies, jobs)
    with use_db(SESSION, WorkDB.Mode.open) as database:
        return report.show(database, survivors=options.show, only=jobs if options.unseen else None)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, help="so many mutants of each package, drawn with --seed; all without it")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--unseen", action="store_true", help="draw a sample of mutants that none before has tried, and report that sample alone")
    parser.add_argument("--packages", nargs="*", default=[], help="only these of the packages, such as drain")
    parser.add_argument("--lanes", type=int, default=2, help="so many mutants at a time, each in a copy of the checkout")
    parser.add_argument("--fresh", action="store_true", help="forget the results; needed when the packages have changed")
    parser.add_argument("--survivors", action="store_true", help="try what survived once more, with the tests as they are now")
    parser.add_argument("--tests", nargs="*", default=[], help="test files that have changed: only these are measured anew")
    parser.add_argument("--report", action="store_true", help="run nothing, print the results")
    parser.add_argument("--show", action="store_true", help="print each survivor")
    return parser.parse_args()


def copy(number: int) -> pathlib.Path:
    """Copy the checkout; return the collection's new folder. Mutants are never made in the checkout itself."""
    root = WORK / f"lane-{number}"
    shutil.rmtree(root, ignore_errors=True)
    made = subprocess.run(["tests/tools/copy_tree.sh", str(root)], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    return pathlib.Path(made)


def surroundings(folder: pathlib.Path) -> dict[str, str]:
    """Return the environment of a process in a copy: imports come from there, and no test reaches the metadata address."""
    tree = str(folder.parents[2])
    kept = {key: value for key, value in os.environ.items() if not key.startswith("ANSIBLE_") and key not in ("CODE_CACHE_FOLDER", "PYTHONDONTWRITEBYTECODE")}
    return kept | {
        "PATH": os.pathsep.join((str(pathlib.Path(sys.executable).parent), os.environ["PATH"])),
        "PYTHONPATH": os.pathsep.join((tree, str(folder / "tests" / "tools" / "code_cache"))),
        "ANSIBLE_COLLECTIONS_PATH": tree,
        "ANSIBLE_HOME": str(WORK / "ansible"),
        "ANSIBLE_NOCOLOR": "1",
        "REFUSE_METADATA_ADDRESS": "1",
        "PYTHONHASHSEED": "0",
        "LC_ALL": "C.UTF-8",
    }


def call(folder: pathlib.Path, *command: str) -> None:
    subprocess.run(command, cwd=folder, env=surroundings(folder), check=True)


def begin(folder: pathlib.Path) -> None:
    """Make a new session of all mutants."""
    SESSION.unlink(missing_ok=True)
    tools = pathlib.Path(sys.executable).parent
    call(folder, str(tools / "cosmic-ray"), "init", str(selection.CONFIG), str(SESSION))
    call(folder, str(tools / "cr-filter-operators"), str(SESSION), str(selection.CONFIG))


def measure(folder: pathlib.Path, tests: list[str]) -> None:
    """Find out which test runs which line, unless that is known for these very files."""
    seal = hashlib.sha256()
    for path in sorted(path for part in ("plugins", "tests/unit") for path in (folder / part).rglob("*") if path.is_file() and path.suffix != ".pyc"):
        seal.update(str(path.relative_to(folder)).encode() + path.read_bytes())
    known = BASELINE.with_suffix(".seal")
    if known.exists() and known.read_text(encoding="utf-8") == seal.hexdigest():
        return
    known.unlink(missing_ok=True)
    if not tests:
        BASELINE.unlink(missing_ok=True)
    call(folder, sys.executable, "tests/mutation/selection.py", str(BASELINE), *tests)
    known.write_text(seal.hexdigest(), encoding="utf-8")


def skip_reason(item: WorkItem) -> str | None:
    """Return why a mutant says nothing about the tests, or None."""
    (mutation,) = item.mutations
    if not mutation.operator_name.startswith(LOOKED_AT):
        return None
    source = mutation.module_path.read_text(encoding="utf-8")
    mutant = mutate_code(source, get_operator(mutation.operator_name)(**mutation.operator_args), mutation.occurrence)
    return "no mutant" if mutant is None else why_skipped(source, mutant)


def wanted(database: WorkDB, options: argparse.Namespace) -> list[str]:
    """Return the ids of the mutants to try. Of those that say nothing about the tests, the session notes why."""
    results = dict(database.results)
    if options.survivors:
        return sorted(job for job, result in results.items() if result.test_outcome == TestOutcome.SURVIVED)
    packages = defaultdict(list)
    for item in sorted(database.work_items, key=place):
        if not options.packages or report.package(item).rpartition("/")[2] in options.packages:
            packages[report.package(item)].append(item)
    dice = random.Random(options.seed)
    drawn, skipped = [], defaultdict(list)
    for items in packages.values():
        dice.shuffle(items)
        chosen: list[str] = []
        for item in items:
            if options.sample and len(chosen) == options.sample:
                break
            if item.job_id in results:
                known = results[item.job_id].worker_outcome != WorkerOutcome.SKIPPED
                # Beside a sample that was tried, a new one has other mutants only.
                chosen += [item.job_id] if known and not options.unseen else []
            elif reason := skip_reason(item):
                skipped[reason].append(item.job_id)
            else:
                chosen.append(item.job_id)
        drawn += chosen
    for reason, jobs in skipped.items():
        database.set_multiple_results(jobs, WorkResult(WorkerOutcome.SKIPPED, output=reason))
    dice.shuffle(drawn)
    return [job for job in drawn if job not in results]


def place(item: WorkItem) -> tuple[str, tuple[int, int], str, int]:
    (mutation,) = item.mutations
    return str(mutation.module_path), mutation.start_pos, mutation.operator_name, mutation.occurrence


def run(copies: list[pathlib.Path], jobs: list[str]) -> None:
    """Try the mutants, each copy its part of them."""
    print(f"{len(jobs)} mutants to try", flush=True)
    lanes = []
    for number, folder in enumerate(copies):
        part = WORK / f"jobs-{number}"
        part.write_text("\n".join(jobs[number :: len(copies)]), encoding="utf-8")
        command = [sys.executable, "tests/mutation/lane.py", str(SESSION), str(BASELINE), str(part)]
        lanes.append(subprocess.Popen(command, cwd=folder, env=surroundings(folder)))
    codes = [lane.wait() for lane in lanes]
    if any(codes):
        sys.exit(f"A lane failed: {codes}")


if __name__ == "__main__":
    sys.exit(main())
