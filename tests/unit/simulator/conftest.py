# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make the simulator's package, its process helper and the bench importable, and leave no compiled files in the role."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

_HERE = Path(__file__).resolve().parent
_COLLECTION = _HERE.parents[2]
for _folder in (_COLLECTION / "roles" / "simulator" / "files", _COLLECTION / "tests" / "scenarios", _HERE):
    if str(_folder) not in sys.path:
        sys.path.insert(0, str(_folder))
sys.dont_write_bytecode = True

from simulator_bench import Bench  # noqa: E402


@pytest.fixture
def bench() -> Iterator[Bench]:
    """Two VMs of one group on a virtual clock."""
    made = Bench("web1", "web2")
    yield made
    made.close()
