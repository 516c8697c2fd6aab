# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which mutants are left out of the score, and which tests are run for one (tests/mutation)."""

from __future__ import annotations

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "mutation"))

import nothing_runs  # noqa: E402  the folder of tests is no package
import selection  # noqa: E402

SOURCE = """
from __future__ import annotations
LIMIT: int | None = 3
def small(value: int | None, *, phase: str = "held") -> bool | None:
    if (
        value is not None
        and phase == "held"
    ):
        return value < 3
    return None
"""


@pytest.mark.parametrize(
    ("was", "becomes", "why"),
    [
        ("value: int | None", "value: int & None", "the same program"),
        ("-> bool | None", "-> bool + None", "the same program"),
        ("LIMIT: int | None", "LIMIT: int ** None", "the same program"),
        ("*, phase", "+, phase", "no Python"),
        ('phase == "held"', 'phase < "held"', "the order of words"),
        ('phase == "held"', 'phase != "held"', None),
        ("value < 3", "value <= 3", None),
        ("= 3", "= 4", None),
    ],
)
def test_only_what_no_test_could_notice_is_left_out(was: str, becomes: str, why: str | None) -> None:
    assert SOURCE.count(was) == 1
    assert nothing_runs.why_skipped(SOURCE, SOURCE.replace(was, becomes)) == why


BASELINE = selection.Baseline(
    lines={
        "a/one.py": {"3": [""], "4": [""], "5": ["t.py::slow"], "9": ["t.py::slow", "t.py::quick"], "10": ["t.py::other"]},
        "a/two.py": {"1": ["", "u.py::far"]},
        "b/three.py": {"1": ["v.py::elsewhere"]},
    },
    seconds={"t.py::slow": 2.0, "t.py::quick": 0.1, "t.py::other": 0.2, "u.py::far": 0.3, "v.py::elsewhere": 0.1},
    imports=[],
)


@pytest.mark.parametrize(
    ("line", "tests", "at_import"),
    [
        (9, ["t.py::quick", "t.py::slow"], False),
        (10, ["t.py::other"], False),
        # The head of a statement is one, on however many lines.
        (7, ["t.py::slow"], False),
        # What runs when the file is imported is every test's business that runs anything of the package.
        (3, ["t.py::quick", "t.py::other", "u.py::far", "t.py::slow"], True),
    ],
)
def test_a_mutant_is_tried_with_the_tests_that_run_its_statement_the_quickest_first(line: int, tests: list[str], at_import: bool) -> None:
    assert selection.tests_of(BASELINE, "a/one.py", SOURCE, line) == tests
    assert selection.runs_at_import(BASELINE, "a/one.py", SOURCE, line) is at_import


def test_test_files_that_are_measured_anew_replace_what_was_known_of_them() -> None:
    new = selection.Baseline({"a/one.py": {"9": ["t.py::quick", ""]}}, {"t.py::quick": 0.5}, ["json"])
    found = selection.joined(BASELINE, new)
    assert found.seconds == {"t.py::quick": 0.5, "u.py::far": 0.3, "v.py::elsewhere": 0.1}
    assert found.lines["a/one.py"]["9"] == ["t.py::quick", ""] and found.lines["a/one.py"]["5"] == []
    assert found.imports == ["json"]
