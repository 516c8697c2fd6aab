# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The spool: in order, each once, bounded, and whole after a kill."""

from __future__ import annotations

import errno
import os
import pathlib
import typing as t
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.limits import FILE_BYTES
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.shared_folder import TEMPORARY, SharedFolder
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.spool import ACCEPTED, WAITING, Spool


def message(number: int, **more: t.Any) -> dict[str, t.Any]:
    return {"id": f"{number:032x}", "type": "listed", "subject": f"event-{number}", **more}


def spool(folder: pathlib.Path, **limits: int) -> Spool:
    return Spool(SharedFolder(str(folder)), **limits)


def test_messages_come_back_in_order_each_once(tmp_path: pathlib.Path) -> None:
    kept = spool(tmp_path)
    for number in (7, 3, 5, 3, 7):
        assert kept.add([message(number)]) == 0
    assert [kept.read(entry) for entry in kept.entries()] == [message(7), message(3), message(5)]
    # Another process, another boot.
    assert [entry.id for entry in spool(tmp_path).entries()] == [f"{number:032x}" for number in (7, 3, 5)]


def test_an_accepted_message_stays_until_it_is_removed(tmp_path: pathlib.Path) -> None:
    kept = spool(tmp_path)
    kept.add([message(1)])
    accepted = kept.accept(kept.entries()[0])
    assert [entry.state for entry in kept.entries()] == [ACCEPTED]
    assert kept.read(accepted) == message(1)
    kept.add([message(1)])
    assert len(kept.entries()) == 1
    kept.remove(accepted)
    kept.remove(accepted)
    assert kept.entries() == []


def test_the_oldest_make_room(tmp_path: pathlib.Path) -> None:
    kept = spool(tmp_path, most_messages=3)
    assert sum(kept.add([message(number)]) for number in range(5)) == 2
    assert [entry.id for entry in kept.entries()] == [f"{number:032x}" for number in (2, 3, 4)]


def test_of_too_many_at_once_the_last_are_kept(tmp_path: pathlib.Path) -> None:
    kept = spool(tmp_path, most_messages=3)
    kept.add([message(9)])
    assert kept.add([message(number) for number in range(5)]) == 3
    assert [entry.id for entry in kept.entries()] == [f"{number:032x}" for number in (2, 3, 4)]


def test_bytes_are_bounded_too(tmp_path: pathlib.Path) -> None:
    kept = spool(tmp_path, most_bytes=3000)
    for number in range(20):
        kept.add([message(number, text="x" * 900)])
    sizes = [path.stat().st_size for path in tmp_path.iterdir()]
    assert len(sizes) == 3 and sum(sizes) <= 3000


def test_what_others_left_there_is_no_message(tmp_path: pathlib.Path) -> None:
    kept = spool(tmp_path)
    kept.add([message(1)])
    (tmp_path / "known.json").write_text("{}")
    (tmp_path / (TEMPORARY + "half")).write_text("half")
    (tmp_path / f"000000000002-{2:032x}.waiting.json").write_text("{}")
    assert [entry.id for entry in kept.entries()] == [f"{1:032x}"]
    SharedFolder(str(tmp_path)).remove_leftovers()
    assert not (tmp_path / (TEMPORARY + "half")).exists()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b'{"id": "other"}', b'{"id": "' + b"0" * 31 + b'1"}', b"[" * 3000])
def test_a_damaged_file_is_no_message(tmp_path: pathlib.Path, content: bytes) -> None:
    (tmp_path / f"000000000001-{1:032x}.waiting").write_bytes(content)
    kept = spool(tmp_path)
    assert [kept.read(entry) for entry in kept.entries()] == [None]


def test_no_link_no_pipe_and_no_folder_is_a_message(tmp_path: pathlib.Path) -> None:
    (tmp_path / "secret").write_text('{"id": "' + f"{1:032x}" + '"}')
    (tmp_path / f"000000000001-{1:032x}.waiting").symlink_to(tmp_path / "secret")
    os.mkfifo(tmp_path / f"000000000002-{2:032x}.waiting")
    (tmp_path / f"000000000003-{3:032x}.waiting").mkdir()
    kept = spool(tmp_path)
    kept.add([message(4)])
    assert [entry.id for entry in kept.entries()] == [f"{4:032x}"]


def test_a_link_that_takes_the_place_of_a_message_is_not_followed(tmp_path: pathlib.Path) -> None:
    kept = spool(tmp_path)
    kept.add([message(1)])
    (entry,) = kept.entries()
    os.rename(tmp_path / entry.name, tmp_path / "elsewhere")
    (tmp_path / entry.name).symlink_to(tmp_path / "elsewhere")
    assert kept.read(entry) is None


def test_what_is_too_large_or_has_the_last_number_keeps_no_message_from_being_told(tmp_path: pathlib.Path) -> None:
    (tmp_path / f"000000000001-{1:032x}.waiting").write_bytes(b" " * (FILE_BYTES + 1))
    (tmp_path / f"999999999999-{9:032x}.waiting").write_text("{}")
    kept = spool(tmp_path)
    kept.add([message(2)])
    large, good = kept.entries()
    assert kept.read(large) is None and kept.read(good) is not None and good.number == 2
    kept.remove(large)
    assert [entry.id for entry in kept.entries()] == [f"{2:032x}"]


def test_a_full_disk_is_an_error_and_leaves_nothing(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        spool(tmp_path).add([message(1)])
    assert list(tmp_path.iterdir()) == []


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.sampled_from(["add", "accept", "remove"]), st.integers(0, 6))))
def test_any_sequence_keeps_order_and_limits(tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]]) -> None:
    kept = spool(tmp_path_factory.mktemp("spool"), most_messages=4)
    expected: list[str] = []
    for step, number in steps:
        entries = kept.entries()
        if step == "add":
            name = message(number)["id"]
            kept.add([message(number)])
            if name not in expected:
                expected = [*expected, name][-4:]
        elif entries:
            entry = entries[number % len(entries)]
            if step == "accept" and entry.state == WAITING:
                kept.accept(entry)
            elif step == "remove":
                kept.remove(entry)
                expected.remove(entry.id)
        assert [entry.id for entry in kept.entries()] == expected


@pytest.mark.parametrize("number", [errno.EIO, errno.EMFILE, errno.EACCES, errno.ENOENT])
def test_a_message_that_cannot_be_read_now_is_not_given_up(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    kept = spool(tmp_path)
    kept.add([message(1)])
    (entry,) = kept.entries()
    with monkeypatch.context() as patched:
        patched.setattr(SharedFolder, "read", mock.Mock(side_effect=OSError(number, "not now")))
        with pytest.raises(OSError, match="not now"):
            kept.read(entry)
    assert kept.read(entry) is not None
