# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import collections.abc
import os
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "playbooks" / "drain"), str(HERE.parent)]
for variable in ("ANSIBLE_COLLECTIONS_PATH", "PYTHONPATH"):
    os.environ.setdefault(variable, str(HERE.parents[1] / ".build" / "tree"))

import build  # noqa: E402  the folders of tests are no packages
from lab.control_plane import ControlPlane  # noqa: E402


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "full: only with KUBERNETES_FULL, before a release")
    if not build.built():
        pytest.exit("the programs are not there; python tests/kubernetes/build.py makes them, and says what it needs", returncode=1)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if os.environ.get("KUBERNETES_FULL"):
        return
    later = [item for item in items if item.get_closest_marker("full")]
    config.hook.pytest_deselected(items=later)
    items[:] = [item for item in items if item not in later]


@pytest.fixture(scope="session")
def plane(tmp_path_factory: pytest.TempPathFactory) -> collections.abc.Iterator[ControlPlane]:
    """The cluster of all scenes; each has a namespace and nodes of its own."""
    found = ControlPlane(tmp_path_factory.mktemp("cluster") / "plane")
    yield found
    found.close()
