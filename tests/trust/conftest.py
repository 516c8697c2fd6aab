# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pathlib
import sys
import typing as t

import pytest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]

import tree  # noqa: E402  the folder of tests is no package

tree.attack_in_process()

from lab import simulator as lab_simulator  # noqa: E402
from victims import Victims  # noqa: E402

lab_simulator.PACKAGE = tree.COLLECTION / "roles" / "simulator" / "files" / "imds_simulator"


@pytest.fixture
def make_victims(tmp_path: pathlib.Path) -> t.Iterator[t.Callable[..., Victims]]:
    """Labs that are closed when the test ends, however it ends."""
    made: list[Victims] = []

    def make(*arguments: t.Any, **options: t.Any) -> Victims:
        made.append(Victims(tmp_path / f"lab{len(made)}", *arguments, **options))
        return made[-1]

    yield make
    for lab in made:
        lab.close()
