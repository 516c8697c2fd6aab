# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Try mutants one after the other in a copy of the checkout. "lane.py SESSION BASELINE JOBS": the jobs are a file of one id a line.

This process imports pytest, ansible and whatever else no mutant changes, and forks for each mutant: starting Python and importing took longer
than the tests. What cosmic-ray offers for programs is used: its session, and "use_mutation", which changes a file and puts it back.
"""

from __future__ import annotations

import contextlib
import difflib
import gc
import importlib
import json
import os
import pathlib
import select
import shutil
import signal
import sys
import tempfile
import typing as t
import warnings
from collections import Counter

import pytest
import selection
from cosmic_ray.mutating import use_mutation
from cosmic_ray.plugins import get_operator
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import MutationSpec, TestOutcome, WorkerOutcome, WorkResult
from nothing_runs import what_runs

FIRST_FILES = 3
"""So many test files are collected first; the others only where these find nothing."""
KILLED_BY = "FAILED "


class Lane:
    """A copy of the checkout, and what killed earlier mutants of each file there."""

    def __init__(self, baseline: selection.Baseline) -> None:
        self.baseline = baseline
        self.killers: dict[str, Counter[str]] = {}
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="mutation-"))

    def result(self, mutation: MutationSpec) -> WorkResult:
        """Return what becomes of one mutant."""
        operator = get_operator(mutation.operator_name)(**mutation.operator_args)
        with _old_time(mutation.module_path), use_mutation(mutation.module_path, operator, mutation.occurrence) as (source, mutant):
            if mutant is None:
                return WorkResult(WorkerOutcome.NO_TEST)
            if what_runs(mutant) is None:
                return WorkResult(WorkerOutcome.SKIPPED, output="no Python")
            path = str(mutation.module_path)
            tests = selection.tests_of(self.baseline, path, source, mutation.start_pos[0])
            outcome, output = self._try(path, tests)
        diff = "\n".join(difflib.unified_diff(source.split("\n"), mutant.split("\n"), path, path, n=0, lineterm=""))
        return WorkResult(WorkerOutcome.NORMAL, output, outcome, diff)

    def _try(self, path: str, tests: list[str]) -> tuple[TestOutcome, str]:
        killers = self.killers.setdefault(path, Counter())
        counts = Counter(map(_file, tests))
        files = sorted(counts, key=lambda file: (-killers[file], -_closeness(path, file), -counts[file]))
        for part in (files[:FIRST_FILES], files[FIRST_FILES:]):
            chosen = [test for test in tests if _file(test) in part]
            if chosen:
                code, output = self._run(part, chosen)
                if code not in (0, 1, 2):
                    return TestOutcome.INCOMPETENT, f"pytest ended with {code}: {output[-2000:]}"
                if code:
                    killers.update(line.removeprefix(KILLED_BY).split("::")[0] for line in output.splitlines() if line.startswith(KILLED_BY))
                    return TestOutcome.KILLED, output[-2000:]
        return TestOutcome.SURVIVED, f"{len(tests)} tests"

    def _run(self, files: list[str], tests: list[str]) -> tuple[int, str]:
        """Run the tests in a forked process. A time limit that passes is a kill: the mutant never ends, or is far slower."""
        limit = 30 + 5 * sum(self.baseline.seconds[test] for test in tests)
        log = self.folder / "log"
        child = os.fork()
        if not child:
            _test(files, tests, log, self.folder / "tmp")
        ended = os.pidfd_open(child)
        in_time = bool(select.select([ended], [], [], limit)[0])
        os.close(ended)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        status = os.waitpid(child, 0)[1]
        if not in_time:
            return 1, "time limit"
        return os.waitstatus_to_exitcode(status), log.read_text(encoding="utf-8", errors="replace")

    def close(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


class Chosen:
    """Keep of the collected tests those that are wanted, in their order."""

    def __init__(self, tests: list[str]) -> None:
        self.places = {test: place for place, test in enumerate(tests)}

    def pytest_collection_modifyitems(self, items: list[t.Any]) -> None:
        items[:] = sorted((item for item in items if item.nodeid in self.places), key=lambda item: self.places[item.nodeid])


def _test(files: list[str], tests: list[str], log: pathlib.Path, temporary: pathlib.Path) -> t.NoReturn:
    """Run tests and end this process."""
    code = 3
    try:
        os.setsid()
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(output, 1)
        os.dup2(output, 2)
        options = ["-x", "-q", "--tb=line", "-rf", "--no-header", "-p", "no:cacheprovider", f"--basetemp={temporary}"]
        code = int(pytest.main([*options, *files], plugins=[Chosen(tests)]))
        sys.stdout.flush()
    finally:
        os._exit(code)


@contextlib.contextmanager
def _old_time(path: pathlib.Path) -> t.Iterator[None]:
    """Give a file that is put back its time back, so that its bytecode still fits."""
    before = path.stat()
    try:
        yield
    finally:
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _file(test: str) -> str:
    return test.split("::")[0]


def _closeness(path: str, test_file: str) -> int:
    """Return how many names of folders a file and its test share: tests lie as what they test."""
    return len(set(pathlib.PurePath(path).parts) & set(pathlib.PurePath(test_file).parts))


def prepare(baseline: selection.Baseline) -> None:
    """Import what no mutant changes, and have generated examples be the same each time, without a limit for one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in baseline.imports:
            with contextlib.suppress(Exception):
                importlib.import_module(name)
    import hypothesis

    phases = [phase for phase in hypothesis.Phase if phase is not hypothesis.Phase.shrink]
    hypothesis.settings.register_profile("mutation", deadline=None, database=None, derandomize=True, phases=phases)
    hypothesis.settings.load_profile("mutation")
    sys.dont_write_bytecode = True
    gc.collect()
    gc.freeze()


def main(session: str, baseline_file: str, jobs_file: str) -> None:
    baseline = selection.Baseline(**json.loads(pathlib.Path(baseline_file).read_text(encoding="utf-8")))
    prepare(baseline)
    jobs = pathlib.Path(jobs_file).read_text(encoding="utf-8").split()
    lane = Lane(baseline)
    with use_db(session, WorkDB.Mode.open) as database:
        items = {item.job_id: item for item in database.work_items}
        for job in jobs:
            database.set_result(job, lane.result(items[job].mutations[0]))
    lane.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
