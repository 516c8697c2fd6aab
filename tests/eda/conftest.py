# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pathlib
import sys
import typing as t

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from lab.lab import Lab  # noqa: E402  the folder of tests is no package

from eda.rulebook import Rulebook  # noqa: E402


@pytest.fixture
def make_rulebook(tmp_path: pathlib.Path) -> t.Iterator[t.Callable[..., Rulebook]]:
    """Rulebooks that end with the test, however it ends."""
    made: list[Rulebook] = []

    def make(lab: Lab, *arguments: t.Any, **options: t.Any) -> Rulebook:
        made.append(Rulebook(lab, *arguments, **options))
        return made[-1]

    yield make
    for rulebook in made:
        rulebook.kill()
        rulebook.lab.close()
