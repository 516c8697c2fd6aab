# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Each setting of Ansible makes no difference to what is done, or is refused by its name before anything is done; see matrix/*.yml."""

from __future__ import annotations

import pathlib
import typing as t

import listed
import pytest
import runs
import scenes

_references: dict[str, scenes.Done] = {}


@pytest.fixture(scope="session")
def configuration() -> dict[str, dict[str, t.Any]]:
    return listed.configuration()


def reference(scene: scenes.Scene, folder: pathlib.Path) -> scenes.Done:
    """The run without any setting, once for each scene. The matrix is about nothing if this one does not serve the VMs that answer."""
    if scene.name not in _references:
        done = scene.play(folder / "reference", scenes.Setting())
        assert done.did and done.tells, done.output[-5000:]
        _references[scene.name] = done
    return _references[scene.name]


@pytest.mark.parametrize("run", runs.runs(), ids=lambda run: run.name)
def test_a_setting_has_the_outcome_of_its_row(run: runs.Run, tmp_path: pathlib.Path, configuration: dict[str, dict[str, t.Any]]) -> None:
    expected = reference(run.scene, tmp_path)
    done = run.scene.play(tmp_path / "lab", run.setting(configuration))
    assert run.judge(done, expected) == run.rows[0].outcome, done.output[-6000:]


def test_the_reference_serves_the_vms_that_answer(tmp_path: pathlib.Path) -> None:
    served = ("approved: 200", "the event is Started", "web1 is out of service", "web1 recorded started", "web2 has left", "web2 recorded started")
    for scene in scenes.SCENES:
        if scene.playbook == "respond":
            assert reference(scene, tmp_path / scene.name).same() == (0, served)
