# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a controller's run has seen, by the records."""

from __future__ import annotations

import os
import pathlib
import typing as t

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.files import LocalFiles
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.system import LocalHost
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_changes import RecordChange
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_store import RecordStore
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.message import TYPE_PREFIX
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.seen import NAME, is_seen, publish, read_seen
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.settings import Settings
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.shared_folder import SharedFolder

EVENT = "C7061BAC-AFDC-4513-B24B-AA5F13A16123"


def message(kind: str, subject: str = EVENT) -> dict[str, t.Any]:
    return {"type": TYPE_PREFIX + kind, "subject": subject}


@pytest.mark.parametrize("kind", ["listed", "changed"])
def test_news_is_seen_when_there_is_a_record(kind: str) -> None:
    assert is_seen(message(kind), {EVENT.lower(): "noticed"})
    assert not is_seen(message(kind), {})
    assert not is_seen(message(kind), {"another": "drained"})


@pytest.mark.parametrize(
    ("phase", "over"),
    [("noticed", False), ("draining", False), ("drained", False), ("approved", False), ("started", False), ("failed", False), ("held", False)]
    + [("gone", True), ("recovering", True), ("recovered", True)],
)
def test_an_end_is_seen_when_the_record_knows_it(phase: str, over: bool) -> None:
    assert is_seen(message("gone"), {EVENT.lower(): phase}) is over


def test_an_end_without_a_record_needs_nobody() -> None:
    assert is_seen(message("gone"), {})


def test_a_record_is_published_for_others_to_read(tmp_path: pathlib.Path) -> None:
    (tmp_path / "seen").mkdir()
    store = RecordStore(LocalFiles(str(tmp_path / "records")), LocalHost())
    store.write(EVENT, RecordChange(event={"event_id": EVENT}, changes={"phase": "noticed"}))
    publish(Settings(records_path=str(tmp_path / "records"), seen_folder=str(tmp_path / "seen")))
    assert read_seen(SharedFolder(str(tmp_path / "seen"))) == {EVENT.lower(): "noticed"}
    assert os.stat(tmp_path / "seen" / NAME).st_mode & 0o777 == 0o644


@pytest.mark.parametrize("kind", ["listed", "changed", "gone"])
def test_what_only_the_vm_itself_recorded_is_told_again(tmp_path: pathlib.Path, kind: str) -> None:
    store = RecordStore(LocalFiles(str(tmp_path / "records")), LocalHost())
    settings = Settings(records_path=str(tmp_path / "records"), seen_folder=str(tmp_path))
    store.write(EVENT, RecordChange(event={"event_id": EVENT}, changes={"phase": "noticed", "watcher": "unseen"}))
    store.write(EVENT, RecordChange(changes={"phase": "gone", "outcome": "unknown"}))
    publish(settings)
    assert not is_seen(message(kind), read_seen(SharedFolder(str(tmp_path))))
    store.write(EVENT, RecordChange(changes={"watcher": "seen"}))
    publish(settings)
    assert is_seen(message(kind), read_seen(SharedFolder(str(tmp_path))))


def test_no_records_are_an_empty_list(tmp_path: pathlib.Path) -> None:
    publish(Settings(records_path=str(tmp_path / "records"), seen_folder=str(tmp_path)))
    assert read_seen(SharedFolder(str(tmp_path))) == {}
    assert not (tmp_path / "records").exists()


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b'{"a": 1}', b"[" * 3000])
def test_a_damaged_list_shows_nothing(tmp_path: pathlib.Path, content: bytes) -> None:
    (tmp_path / NAME).write_bytes(content)
    assert read_seen(SharedFolder(str(tmp_path))) == {}
