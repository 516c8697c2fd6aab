# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The folder between the asker and root: whatever lies there, only a GUID is an event, and nothing is followed or read."""

from __future__ import annotations

import os
import pathlib
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.drain.triggers import MOST, Triggers

EVENT = "c7061bac-afdc-4513-b24b-aa5f13a16123"


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    where = tmp_path / "triggers"
    where.mkdir(mode=0o700)
    return where


def test_marked_taken_and_removed(folder: pathlib.Path) -> None:
    triggers = Triggers(str(folder))
    assert triggers.add(EVENT.upper()) and triggers.add(EVENT)
    assert triggers.take() == [EVENT] and triggers.take() == [EVENT]
    triggers.remove(EVENT)
    triggers.remove(EVENT)
    assert triggers.take() == [] and not list(folder.iterdir())


@given(st.text(max_size=60))
def test_no_other_id_becomes_a_file(text: str) -> None:
    # A folder that does not exist: an attempt to write would raise.
    assert Triggers("/nonexistent").add(text) is False


@pytest.mark.parametrize("name", ["../../etc/cron.d/x", f"{EVENT}/x", f"../{EVENT}", f"{EVENT} {EVENT}", f"{EVENT}.json", "", f"x{EVENT}"])
def test_a_name_that_leads_elsewhere_is_no_id(folder: pathlib.Path, name: str) -> None:
    assert Triggers(str(folder)).add(name) is False
    assert not list(folder.iterdir())


def test_what_is_no_event_is_removed_and_nothing_is_followed(folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
    kept = tmp_path / "kept"
    kept.write_text("of root")
    (folder / "link").symlink_to(kept)
    (folder / EVENT).symlink_to(kept)
    os.mkfifo(folder / "pipe")
    (folder / ("x" * 200)).touch()
    (folder / "empty").mkdir()
    triggers = Triggers(str(folder))
    assert triggers.take() == [EVENT]
    triggers.remove(EVENT)
    assert not list(folder.iterdir()) and kept.read_text() == "of root"


def test_a_link_in_place_of_the_folder_is_refused(folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (tmp_path / "link").symlink_to(folder)
    (folder / EVENT).touch()
    with pytest.raises(OSError):
        Triggers(str(tmp_path / "link")).take()


def test_a_folder_named_as_an_event_starts_the_unit_once_only(folder: pathlib.Path) -> None:
    (folder / EVENT / "in").mkdir(parents=True)
    triggers = Triggers(str(folder))
    assert triggers.take() == [EVENT]
    triggers.remove(EVENT)
    assert triggers.take() == []
    assert [path.name[0] for path in folder.iterdir()] == ["."]


def test_a_folder_that_only_looks_like_an_event_starts_the_unit_once_only(folder: pathlib.Path) -> None:
    (folder / "gggggggg-gggg-gggg-gggg-gggggggggggg" / "in").mkdir(parents=True)
    triggers = Triggers(str(folder))
    assert triggers.take() == [] and triggers.take() == []
    assert [path.name[0] for path in folder.iterdir()] == ["."]


def test_a_full_folder_is_served_in_parts(folder: pathlib.Path) -> None:
    for unused in range(3000):
        (folder / str(uuid.uuid4())).touch()
    triggers = Triggers(str(folder))
    seen = 0
    while found := triggers.take():
        assert len(found) <= MOST
        seen += len(found)
        for name in found:
            triggers.remove(name)
    assert 0 < seen <= 3000 and not list(folder.iterdir())
