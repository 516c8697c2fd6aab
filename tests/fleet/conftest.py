# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One lab for all tests: its guests are booted once. Every test begins and ends with all of them in service."""

from __future__ import annotations

import os
import typing as t

import pytest

from .lab.lab import Lab


@pytest.fixture(scope="session")
def fleet() -> t.Iterator[Lab]:
    if "FLEET_WORK" not in os.environ:
        raise RuntimeError("run tests/fleet/run.sh as root: it makes the namespaces that the lab lives in")
    lab = Lab(int(os.environ.get("FLEET_GUESTS", "6")))
    yield lab
    lab.close()


@pytest.fixture
def lab(fleet: Lab) -> t.Iterator[Lab]:
    fleet.wait_until_all_serve(60)
    yield fleet
    fleet.controller.end_runs()
    fleet.keep_logs()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "long: only with FLEET_LONG=1")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselected, not skipped: a test that was skipped counts as failed."""
    long = [item for item in items if item.get_closest_marker("long") and os.environ.get("FLEET_LONG") != "1"]
    if long:
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if item not in long]
