# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pathlib
import sys
import typing as t

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
# The writer and the impact of suite state.
sys.path.append(str(HERE.parents[1] / "state"))

from lab.lab import Lab  # noqa: E402  the folder of tests is no package
from scene import Scene  # noqa: E402


@pytest.fixture
def make_scene(make_lab: t.Callable[..., Lab]) -> t.Iterator[t.Callable[..., Scene]]:
    """Scenes of so many web servers that are closed when the test ends, however it ends."""
    scenes: list[Scene] = []

    def make(count: int = 2, **options: t.Any) -> Scene:
        vms = [*(f"web{number}" for number in range(1, count + 1)), *options.get("others", ())]
        clock = ("--clock", "virtual") if options.get("schedule") else ()
        scenes.append(Scene(make_lab(vms, 60, *clock), **options))
        return scenes[-1]

    yield make
    for scene in scenes:
        scene.close()
