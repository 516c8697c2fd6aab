# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run all tests once on the unchanged source, and note which test runs which line. "selection.py RESULT [TESTS]": in the copy of the checkout.

From that the tests of each mutant follow: those that run the statement that it changes. No file is named anywhere.
"""

from __future__ import annotations

import ast
import json
import os
import pathlib
import sys
import typing as t

import tomllib

CONFIG = pathlib.Path("tests/mutation/cosmic-ray.toml")
AT_IMPORT = ""
"""What coverage calls the lines that run outside of any test."""


def settings() -> dict[str, t.Any]:
    return dict(tomllib.loads(CONFIG.read_text(encoding="utf-8"))["cosmic-ray"])


class Baseline(t.NamedTuple):
    """What was found with the unchanged source."""

    lines: dict[str, dict[str, list[str]]]  # file, line, tests
    seconds: dict[str, float]  # test, processor time
    imports: list[str]  # modules that are none of ours


def statement_lines(source: str, line: int) -> range:
    """Return the lines of the innermost statement around a line. Of one with a body: its head."""
    found = range(line, line + 1)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.stmt | ast.ExceptHandler):
            body = getattr(node, "body", None)
            last = max(node.lineno, body[0].lineno - 1) if body else (node.end_lineno or node.lineno)
            if node.lineno <= line <= last:
                found = range(node.lineno, last + 1)
    return found


def tests_of(baseline: Baseline, path: str, source: str, line: int) -> list[str]:
    """Return the tests that run the statement. Of one that runs when its file is imported: all that run any line of the package."""
    file_lines = baseline.lines.get(path, {})
    found = {test for number in statement_lines(source, line) for test in file_lines.get(str(number), [])}
    if AT_IMPORT in found or not found:
        folder = next((package for package in settings()["module-path"] if path.startswith(package + "/")), path.rpartition("/")[0]) + "/"
        found |= {test for name, lines in baseline.lines.items() if name.startswith(folder) for tests in lines.values() for test in tests}
    return sorted((test for test in found if test in baseline.seconds), key=lambda test: baseline.seconds[test])


def runs_at_import(baseline: Baseline, path: str, source: str, line: int) -> bool:
    """Tell whether anything of a statement runs when its file is imported."""
    file_lines = baseline.lines.get(path, {})
    return any(AT_IMPORT in file_lines.get(str(number), []) for number in statement_lines(source, line))


def processor_seconds() -> float:
    """Return the processor time of this process and of those that it started and that have ended: the same however busy the machine is."""
    return sum(os.times()[:4])


def measure(tests: list[str], folders: list[str], slowest: float) -> Baseline:
    """Run the tests under coverage; end this process when one of them fails."""
    import coverage
    import pytest

    seconds: dict[str, float] = {}

    class Contexts:
        """Tell coverage which test runs."""

        @pytest.hookimpl(wrapper=True)
        def pytest_runtest_protocol(self, item: t.Any) -> t.Any:
            measured.switch_context(item.nodeid)
            before = processor_seconds()
            try:
                return (yield)
            finally:
                seconds[item.nodeid] = processor_seconds() - before
                measured.switch_context(AT_IMPORT)

    measured = coverage.Coverage(data_file=None, include=[f"{folder}/*" for folder in folders])
    measured.start()
    code = pytest.main(["-q", "-x", "-p", "no:cacheprovider", *tests], plugins=[Contexts()])
    measured.stop()
    if code:
        sys.exit(f"The tests fail with the unchanged source ({code!r}).")
    quick = {test: duration for test, duration in seconds.items() if duration <= slowest}
    data = measured.get_data()
    here = pathlib.Path.cwd()
    lines = {
        str(pathlib.Path(file).relative_to(here)): {
            str(line): [test for test in contexts if test in quick or test == AT_IMPORT] for line, contexts in data.contexts_by_lineno(file).items()
        }
        for file in data.measured_files()
    }
    return Baseline(lines, quick, sorted(name for name, module in sys.modules.items() if is_foreign(module, here)))


def is_foreign(module: t.Any, here: pathlib.Path) -> bool:
    """Tell whether no mutant can change a module: it lies outside of the checkout."""
    file = getattr(module, "__file__", None)
    return bool(file) and not pathlib.Path(file).is_relative_to(here)


def joined(known: Baseline, new: Baseline) -> Baseline:
    """Return what is known of the test files that were not measured anew, with what was found of the others."""
    measured = {test.split("::")[0] for test in new.seconds}
    kept = {test: seconds for test, seconds in known.seconds.items() if test.split("::")[0] not in measured}
    lines: dict[str, dict[str, list[str]]] = {}
    for baseline, tests in ((known, kept), (new, new.seconds)):
        for file, its_lines in baseline.lines.items():
            for line, contexts in its_lines.items():
                found = lines.setdefault(file, {}).setdefault(line, [])
                found += [test for test in contexts if (test in tests or test == AT_IMPORT) and test not in found]
    return Baseline(lines, {**kept, **new.seconds}, sorted({*known.imports, *new.imports}))


def main(result: pathlib.Path, tests: list[str]) -> None:
    its = settings()
    found = measure(tests or its["maintenance"]["tests"], its["module-path"], its["maintenance"]["slowest-test"])
    if tests and result.exists():
        found = joined(Baseline(**json.loads(result.read_text(encoding="utf-8"))), found)
    result.write_text(json.dumps(found._asdict()), encoding="utf-8")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), sys.argv[2:])
