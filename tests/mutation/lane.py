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
from collected import Server, limit_processor_time
from cosmic_ray.mutating import use_mutation
from cosmic_ray.plugins import get_operator
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import MutationSpec, TestOutcome, WorkerOutcome, WorkResult
from nothing_runs import what_runs

FIRST_FILES = 3
"""So many test files are collected first; the others only where these find nothing."""
KILLED_BY = "FAILED "
TIME_LIMIT = 124
CLOCK = 20
"""Seconds on the clock for one of processor time, before a mutant that does nothing is ended."""


OPTIONS = ["-x", "-q", "--tb=line", "-rf", "--no-header", "-p", "no:cacheprovider"]


class Mutant(t.NamedTuple):
    """A mutant, and the tests that run what it changes."""

    path: str
    code: str
    tests: list[str]
    fresh: bool
    """Whether its file must be imported anew: something of it runs when that happens."""


class Lane:
    """A copy of the checkout, and what killed earlier mutants of each file there."""

    def __init__(self, baseline: selection.Baseline) -> None:
        self.baseline = baseline
        self.killers: dict[str, Counter[str]] = {}
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="mutation-"))
        self.log = self.folder / "log"
        self.server = Collected(self.folder, sorted(set(map(_file, baseline.seconds))))

    def result(self, mutation: MutationSpec) -> WorkResult:
        """Return what becomes of one mutant."""
        operator = get_operator(mutation.operator_name)(**mutation.operator_args)
        with _old_time(mutation.module_path), use_mutation(mutation.module_path, operator, mutation.occurrence) as (source, mutant):
            if mutant is None:
                return WorkResult(WorkerOutcome.NO_TEST)
            if what_runs(mutant) is None:
                return WorkResult(WorkerOutcome.SKIPPED, output="no Python")
            path, line = str(mutation.module_path), mutation.start_pos[0]
            tests = selection.tests_of(self.baseline, path, source, line)
            outcome, output = self._try(Mutant(path, mutant, tests, selection.runs_at_import(self.baseline, path, source, line)))
        diff = "\n".join(difflib.unified_diff(source.split("\n"), mutant.split("\n"), path, path, n=0, lineterm=""))
        return WorkResult(WorkerOutcome.NORMAL, output, outcome, diff)

    def _try(self, mutant: Mutant) -> tuple[TestOutcome, str]:
        """Try the tests of the likeliest files first."""
        killers = self.killers.setdefault(mutant.path, Counter())
        counts = Counter(map(_file, mutant.tests))
        files = sorted(counts, key=lambda file: (-killers[file], -_closeness(mutant.path, file), -counts[file]))
        for part in (files[:FIRST_FILES], files[FIRST_FILES:]):
            chosen = [test for test in mutant.tests if _file(test) in part]
            if chosen:
                code = self._run(mutant, part, chosen)
                output = self.log.read_text(encoding="utf-8", errors="replace")[-2000:] if code != TIME_LIMIT else "time limit"
                if code not in (0, 1, 2, TIME_LIMIT):
                    return TestOutcome.INCOMPETENT, f"pytest ended with {code}: {output}"
                if code:
                    killers.update(line.removeprefix(KILLED_BY).split("::")[0] for line in output.splitlines() if line.startswith(KILLED_BY))
                    return TestOutcome.KILLED, output
        return TestOutcome.SURVIVED, f"{len(mutant.tests)} tests"

    def _run(self, mutant: Mutant, files: list[str], tests: list[str]) -> int:
        """Run the tests in a forked process. A limit of processor time that passes is a kill: the mutant never ends, or is far slower."""
        limit = 15 + 5 * sum(self.baseline.seconds[test] for test in tests)
        if not mutant.fresh:
            return self.server.ask(mutant, tests, limit)
        child = os.fork()
        if not child:
            os.setsid()
            limit_processor_time(limit)
            _run_pytest(self.log, self.folder, files, Chosen(tests))
        ended = os.pidfd_open(child)
        in_time = bool(select.select([ended], [], [], limit * CLOCK)[0])
        os.close(ended)
        _end(child)
        status = os.waitpid(child, 0)[1]
        return _code(os.waitstatus_to_exitcode(status)) if in_time else TIME_LIMIT

    def close(self) -> None:
        self.server.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class Collected:
    """The process of collected.py, seen from here."""

    def __init__(self, folder: pathlib.Path, files: list[str]) -> None:
        requests, self._requests = os.pipe()
        self._answers, answers = os.pipe()
        self.process = os.fork()
        if not self.process:
            os.close(self._requests)
            with open(requests) as stream:
                # What is forked there writes to the same file, which it empties first.
                _run_pytest(folder / "log", folder, files, Server(stream, answers, folder / "log"))
        os.close(requests)
        os.close(answers)

    def ask(self, mutant: Mutant, tests: list[str], limit: float) -> int:
        _write(self._requests, json.dumps({"path": mutant.path, "mutant": mutant.code, "tests": tests, "seconds": limit}) + "\n")
        child = int(self._line(None))
        code = self._line(limit * CLOCK)
        if code:
            _end(child)
            return _code(int(code))
        _end(child)
        self._line(None)
        return TIME_LIMIT

    def _line(self, limit: float | None) -> str:
        """Return the next line that the process says; nothing where it says none in time."""
        found = b""
        while not found.endswith(b"\n"):
            if not select.select([self._answers], [], [], limit)[0]:
                return ""
            byte = os.read(self._answers, 1)
            if not byte:
                raise RuntimeError("the process with the collected tests has ended")
            found += byte
        return found.decode()

    def close(self) -> None:
        os.close(self._requests)
        os.waitpid(self.process, 0)


class Chosen:
    """Keep of the collected tests those that are wanted, in their order."""

    def __init__(self, tests: list[str]) -> None:
        self.places = {test: place for place, test in enumerate(tests)}

    def pytest_collection_modifyitems(self, items: list[t.Any]) -> None:
        items[:] = sorted((item for item in items if item.nodeid in self.places), key=lambda item: self.places[item.nodeid])


def _run_pytest(log: pathlib.Path, folder: pathlib.Path, files: list[str], plugin: t.Any) -> t.NoReturn:
    """Run tests and end this process."""
    code = 3
    try:
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
        os.dup2(output, 1)
        os.dup2(output, 2)
        code = int(pytest.main([*OPTIONS, f"--basetemp={folder / 'tmp'}", *files], plugins=[plugin]))
        sys.stdout.flush()
    finally:
        os._exit(code)


def _write(pipe: int, text: str) -> None:
    left = text.encode()
    while left:
        left = left[os.write(pipe, left) :]


def _end(child: int) -> None:
    """End a process and all that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)


@contextlib.contextmanager
def _old_time(path: pathlib.Path) -> t.Iterator[None]:
    """Give a file that is put back its time back, so that its bytecode still fits."""
    before = path.stat()
    try:
        yield
    finally:
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _code(code: int) -> int:
    return TIME_LIMIT if code == -signal.SIGXCPU else code


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
