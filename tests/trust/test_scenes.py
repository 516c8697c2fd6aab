# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What must still work although a VM speaks for itself alone: the scenes in the folder of that name, all in one lab."""

from __future__ import annotations

import os
import typing as t

import pytest
import scene_data
from scene_data import Lease
from scene_player import Player

# SCENES=image_cloned,reimaged plays these alone.
ONLY = [name for name in os.environ.get("SCENES", "").split(",") if name]
SCENES = {scene.name: scene for scene in scene_data.read_all() if not ONLY or scene.name in ONLY}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[Player]:
    player = Player(tmp_path_factory.mktemp("scenes") / "all", list(SCENES.values()))
    try:
        player.play()
        yield player
    finally:
        player.close()


def test_no_run_fails(played: Player) -> None:
    for name, run in played.runs.items():
        assert run.code == 0, "\n".join([f"the {name} run:", *run.lines[-60:]])


def test_the_last_run_reports_nothing_as_open(played: Player) -> None:
    """It is for some VMs only. What had ended on the others of its VMs before is over in its report, too."""
    lines = [line for line in list(played.runs.values())[-1].lines if "Next:" in line and '"msg"' not in line]
    assert [line for line in lines if "Next: nothing." not in line] == []


@pytest.mark.parametrize("lease", [lease for scene in SCENES.values() for lease in scene.leases()], ids=str)
def test_scene(played: Player, lease: Lease) -> None:
    scene = SCENES[lease.scene]
    lines = played.about(lease.run, scene)
    assert scene.name not in played.troubles, "\n".join([played.troubles[scene.name], scene.about, *lines])
    if lease.subject != "output":
        assert played.runs[lease.run].facts[lease.subject][lease.key] == lease.expected, "\n".join([scene.about, *lines])
        return
    for words in lease.expected:
        said = any(words in line for line in lines)
        assert said == (lease.key == "said"), "\n".join([f"{lease.key}: {words}", scene.about, *lines])
