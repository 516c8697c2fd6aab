# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "versions")]
# For run.sh by itself: run_suites.py has set these. What lab.py gives to ansible-playbook, and where the modules' Python finds the collection.
for variable in ("ANSIBLE_COLLECTIONS_PATH", "PYTHONPATH"):
    os.environ.setdefault(variable, str(HERE.parents[1] / ".build" / "tree"))


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "full: a comparison, or one of many kills: only with STATE_FULL, before a release")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect, and not skip: a skipped test counts as failed."""
    if os.environ.get("STATE_FULL"):
        return
    left_out = [item for item in items if item.get_closest_marker("full")]
    items[:] = [item for item in items if not item.get_closest_marker("full")]
    config.hook.pytest_deselected(items=left_out)
