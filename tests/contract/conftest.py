# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Core's importer of collections, before anything of the collection is imported; and the table of differences at the end."""

from __future__ import annotations

import pathlib
import sys

import pytest
from ansible.plugins.loader import init_plugin_loader

HERE = pathlib.Path(__file__).resolve().parent
STAND_INS = HERE.parent / "lab" / "windows" / "collections"


def _tree() -> str:
    """Where ansible_collections.maintenance.azure is this collection; pytest.ini and the suites put it on Python's path."""
    for entry in sys.path:
        link = pathlib.Path(entry or ".") / "ansible_collections" / "maintenance" / "azure"
        if link.is_dir() and link.resolve() == HERE.parents[1]:
            return str(pathlib.Path(entry or ".").absolute())
    raise RuntimeError("This collection is not on Python's path as ansible_collections.maintenance.azure; run make environment.")


# The stand-ins for ansible.windows come first, so that nothing installed is taken for them.
init_plugin_loader([str(STAND_INS), _tree()])
sys.path[:0] = [str(HERE.parent / "scenarios"), str(HERE.parent)]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    from ansible_collections.maintenance.azure.tests.contract import table

    for line in table.lines():
        terminalreporter.write_line(line)
