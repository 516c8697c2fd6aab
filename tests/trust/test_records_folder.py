# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Items 9 and 11: whose records folder it is, and records that could never change again. By the real modules, in this process."""

from __future__ import annotations

import os
import pathlib
import typing as t

import pytest
import records
from lab.simulator import Simulator
from planning import Scene, run_module

NOBODY = 65534


@pytest.fixture
def scene(tmp_path: pathlib.Path) -> t.Iterator[Scene]:
    simulator = Simulator(("web1",), 1)
    try:
        yield Scene(tmp_path, simulator, ("web1",))
    finally:
        simulator.close()


def plant(scene: Scene) -> None:
    """What a local user of the VM would like root to run."""
    record = records.record(records.event(1, "web1"), records.method("command", {"begin": "true", "check": "true", "undo": "id"}))
    scene.plant("web1", records.record_name(record), record)


def group_writable(folder: pathlib.Path) -> None:
    folder.chmod(0o770)


def world_writable(folder: pathlib.Path) -> None:
    folder.chmod(0o777)


def of_another(folder: pathlib.Path) -> None:
    """As root it is given to somebody else; anybody else uses a folder that is not theirs."""
    if os.geteuid() == 0:
        os.chown(folder, NOBODY, NOBODY)
    else:
        folder.chmod(0o772)


def linked(folder: pathlib.Path) -> None:
    """A link to a folder that somebody else may write."""
    real = folder.with_name("elsewhere")
    folder.rename(real)
    real.chmod(0o777)
    folder.symlink_to(real)


@pytest.mark.parametrize("change", [group_writable, world_writable, of_another, linked])
def test_a_folder_of_others_is_no_records_folder(scene: Scene, change: t.Callable[[pathlib.Path], None]) -> None:
    plant(scene)
    change(scene.records("web1"))
    observation = scene.observation("web1")
    used = [record["event"]["event_id"] for record in observation.get("records") or []]
    assert used == [], "the record that somebody else may have planted is used"
    words = " ".join([str(observation.get("msg") or ""), *(observation.get("records_problems") or [])])
    assert str(scene.records("web1")) in words and ("chmod" in words or "chown" in words or "0700" in words), f"it is not said how to mend it: {words}"
    assert observation.get("failed") or observation.get("records_readable") is False, "its records count as read"


@pytest.mark.parametrize("change", [group_writable, world_writable, of_another])
def test_nothing_is_written_into_a_folder_of_others(scene: Scene, change: t.Callable[[pathlib.Path], None]) -> None:
    folder = scene.records("web1")
    change(folder)
    result = run_module("maintenance_record", records_path=str(folder), event_id="E-1", vm_name="web1", changes={"phase": "noticed"})
    assert [path.name for path in folder.glob("event-*")] == [], "a record was written where others may write"
    assert result.get("failed"), result


def test_a_folder_of_ones_own_is_used(scene: Scene) -> None:
    """Or the refusals above prove nothing."""
    plant(scene)
    observation = scene.observation("web1")
    assert [record["phase"] for record in observation["records"]] == ["drained"], observation


STUCK: dict[str, dict[str, t.Any]] = {
    "no lineage": {"lineage": None},
    "an empty lineage": {"lineage": []},
    "a lineage of objects": {"lineage": [{"a": 1}]},
    "revision 999999999": {"revision": 999_999_999},
    "methods without keys": {"methods": [{"id": "1-command"}]},
    "an attempts of 4,000 digits": {"attempts": 10**4000},
}


@pytest.mark.parametrize("what", list(STUCK))
def test_a_record_can_change_again(scene: Scene, what: str) -> None:
    event = records.event(1, "web1")
    record = {**records.record(event, records.method("command", {"undo": "id"})), **STUCK[what]}
    if record["lineage"] is None:
        del record["lineage"]
    scene.plant("web1", records.record_name(record), record)
    for phase in ("recovering", "recovered"):
        result = run_module("maintenance_record", records_path=str(scene.records("web1")), event_id=event["event_id"], changes={"phase": phase}, vm_name="web1")
        assert not result.get("failed"), f"it cannot be written any more: {result.get('msg')}"
    observation = scene.observation("web1")
    (found,) = observation["records"]
    assert found["phase"] == "recovered", "the VM never comes back"
    assert found["revision"] < 1_000_000, "the next hundred writes have no number left"
