# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the workflow of .github calls is there: it is not run where it is developed."""

from __future__ import annotations

import pathlib
import re
import sys

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "tools"))
from suites import find  # noqa: E402

JOBS = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())["jobs"]


def test_its_make_targets_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(JOBS["test"]["strategy"]["matrix"]["target"]) <= targets


def test_each_core_that_is_supported_has_its_suites_and_its_python() -> None:
    rows = JOBS["cores"]["strategy"]["matrix"]["include"]
    assert [row["core"] for row in rows] == sorted(path.stem.removeprefix("core-") for path in (ROOT / "tests" / "requirements").glob("core-*.txt"))
    for row in rows:
        # Ends with an error for a suite that is not there.
        found = {suite.name: suite.command for suite in find(row["suites"])}
        assert found[f"environment-core-{row['core']}"][-1] == row["python"]
