# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The teller: in order, with pauses that double, and repeated until a record shows that a run has seen the event."""

from __future__ import annotations

import os
import pathlib
import typing as t

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.message import TYPE_PREFIX
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.settings import changed_at
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.shared_folder import SharedFolder
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.spool import ACCEPTED, Spool
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.tell.attempts import (
    LONGEST_PAUSE,
    LONGEST_REPEAT,
    NAME,
    RECEIVER,
    Attempts,
)
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.tell.delivery import NotDelivered
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.tell.teller import LONGEST_REST, SHORTEST_RUN, Teller
from ansible_collections.maintenance.azure.tests.unit.plugins.support import FakeClock


def message(number: int, kind: str = "listed", subject: str = "") -> dict[str, t.Any]:
    return {"id": f"{number:032x}", "type": TYPE_PREFIX + kind, "subject": subject or f"E{number}"}


class Receiver:
    """Takes messages, or fails as the script says; its last step repeats."""

    def __init__(self, *script: NotDelivered | None, repeats: bool = True) -> None:
        self.script = list(script) or [None]
        self.repeats = repeats
        self.got: list[str] = []

    def deliver(self, message: t.Mapping[str, t.Any]) -> None:
        step = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if step is not None:
            raise step
        self.got.append(str(message["subject"]))


class Case:
    def __init__(self, folder: pathlib.Path, receiver: Receiver | None = None) -> None:
        self.folder = SharedFolder(str(folder))
        self.spool = Spool(self.folder)
        self.receiver = receiver or Receiver()
        self.clock = FakeClock()
        self.seen: dict[str, str] = {}
        self.lines: list[str] = []
        self.boot = "boot-1"
        self.destination = "https://one"

    def teller(self) -> Teller:
        attempts = Attempts(self.folder, [self.boot, self.destination], lambda: 1.0, self.clock.monotonic())
        return Teller(self.spool, self.receiver, attempts, self.seen, self.clock, self.lines.append)

    def states(self) -> list[str]:
        return [entry.state for entry in self.spool.entries()]


DOWN = NotDelivered("connection refused")


def test_delivered_in_order_and_kept_until_a_record_shows_them(tmp_path: pathlib.Path) -> None:
    case = Case(tmp_path)
    case.spool.add([message(1), message(2)])
    case.teller().deliver_due()
    assert case.receiver.got == ["E1", "E2"] and case.states() == [ACCEPTED] * 2
    case.teller().deliver_due()
    assert case.receiver.got == ["E1", "E2"]
    case.seen["e1"] = "noticed"
    case.teller().deliver_due()
    assert [entry.id for entry in case.spool.entries()] == [message(2)["id"]]


def test_an_accepted_message_is_repeated_after_a_minute_later_less_often(tmp_path: pathlib.Path) -> None:
    case = Case(tmp_path)
    case.spool.add([message(1)])
    for _observation in range(360):
        case.teller().deliver_due()
        case.clock.passed += 10
    # At 0, 60, 180, 420, 900 seconds, then each quarter of an hour.
    assert len(case.receiver.got) == 7
    case.seen["e1"] = "drained"
    case.teller().deliver_due()
    assert case.spool.entries() == []


def test_a_receiver_that_is_down_is_asked_less_and_less_often_and_order_stays(tmp_path: pathlib.Path) -> None:
    case = Case(tmp_path, Receiver(*[DOWN] * 5, None))
    case.spool.add([message(1), message(2)])
    tried = []
    for second in range(120):
        before = len(case.lines) + len(case.receiver.got)
        case.teller().deliver_due()
        if len(case.lines) + len(case.receiver.got) > before:
            tried.append(second)
        case.clock.passed += 1
    assert tried[:6] == [0, 1, 3, 7, 15, 31]
    assert case.receiver.got[:2] == ["E1", "E2"]
    assert "was not delivered: connection refused" in case.lines[0]


def test_no_pause_grows_without_end(tmp_path: pathlib.Path) -> None:
    attempts = Attempts(SharedFolder(str(tmp_path)), ["boot", "https://one"], lambda: 1.0, 0.0)
    for _attempt in range(2000):
        attempts.failed(0.0)
        attempts.accepted("x", 0.0)
        attempts.failed(0.0)
    assert attempts.due(RECEIVER) <= LONGEST_PAUSE and attempts.due("x") <= LONGEST_REPEAT


@settings(max_examples=20)
@given(st.floats(0, 1))
def test_jitter_takes_at_most_half(jitter: float) -> None:
    attempts = Attempts(SharedFolder("/nonexistent"), ["boot", "https://one"], lambda: jitter, 0.0)
    attempts.failed(100.0)
    assert 100.5 <= attempts.due(RECEIVER) <= 101.0


def test_a_refused_message_does_not_block_the_others(tmp_path: pathlib.Path) -> None:
    case = Case(tmp_path, Receiver(NotDelivered("400 not JSON", refused=True), None))
    case.spool.add([message(1), message(2)])
    case.teller().deliver_due()
    assert case.receiver.got == ["E2"] and len(case.spool.entries()) == 1
    assert "E1 was not delivered: 400 not JSON" in case.lines[0]


def test_later_news_of_an_event_replaces_what_was_accepted(tmp_path: pathlib.Path) -> None:
    case = Case(tmp_path)
    case.spool.add([message(1, subject="A"), message(2, subject="B")])
    case.teller().deliver_due()
    case.spool.add([message(3, "changed", subject="A")])
    case.teller().deliver_due()
    assert [entry.id for entry in case.spool.entries()] == [message(2)["id"], message(3)["id"]]
    assert case.receiver.got == ["A", "B", "A"]


def test_an_end_that_no_run_recorded_is_told_once(tmp_path: pathlib.Path) -> None:
    case = Case(tmp_path)
    case.spool.add([message(1, subject="A"), message(2, subject="B")])
    case.teller().deliver_due()
    case.spool.add([message(3, "gone", subject="A")])
    case.teller().deliver_due()
    # No record will ever confirm that the event was listed: a receiver must not hear of it again after its end.
    assert [entry.id for entry in case.spool.entries()] == [message(2)["id"]]
    case.clock.passed += 3600
    case.teller().deliver_due()
    assert case.receiver.got == ["A", "B", "A", "B"]


def test_a_folder_has_each_message_once(tmp_path: pathlib.Path) -> None:
    case = Case(tmp_path, Receiver(repeats=False))
    case.spool.add([message(1), message(2)])
    case.teller().run()
    assert case.receiver.got == ["E1", "E2"] and case.spool.entries() == []


def test_a_run_stays_a_while_for_the_next_message(tmp_path: pathlib.Path) -> None:
    """Else one message a second would be more starts than systemd allows a unit."""
    case = Case(tmp_path, Receiver(repeats=False))
    real = case.clock.sleep

    def sleep(seconds: float) -> None:
        real(seconds)
        if case.clock.passed <= 3.0:
            case.spool.add([message(int(case.clock.passed * 10))])

    case.clock.sleep = sleep  # type: ignore[method-assign]
    case.spool.add([message(1)])
    case.teller().run()
    assert len(case.receiver.got) == 7
    assert SHORTEST_RUN <= case.clock.passed <= SHORTEST_RUN + 1


def test_a_message_that_was_cut_off_is_removed_and_reported(tmp_path: pathlib.Path) -> None:
    (tmp_path / f"000000000001-{1:032x}.waiting").write_text('{"id"')
    case = Case(tmp_path)
    case.spool.add([message(2)])
    case.teller().deliver_due()
    assert case.receiver.got == ["E2"] and "holds no message" in case.lines[0]


def test_killed_after_the_delivery_it_is_told_twice_and_never_not_at_all(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case(tmp_path)
    case.spool.add([message(1)])
    monkeypatch.setattr(Spool, "accept", lambda self, entry: (unused for unused in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        case.teller().deliver_due()
    monkeypatch.undo()
    case.teller().deliver_due()
    assert case.receiver.got == ["E1", "E1"] and case.states() == [ACCEPTED]


def test_another_destination_does_not_wait_for_the_pause_of_the_one_before(tmp_path: pathlib.Path) -> None:
    case = Case(tmp_path, Receiver(DOWN))
    case.spool.add([message(1)])
    for _attempt in range(9):
        case.teller().deliver_due()
        case.clock.passed += 300
    case.clock.passed -= 299
    case.teller().deliver_due()
    case.receiver = Receiver()
    assert case.receiver.got == []
    case.destination = "https://two"
    case.teller().deliver_due()
    assert case.receiver.got == ["E1"]


def test_another_boot_begins_at_once(tmp_path: pathlib.Path) -> None:
    case = Case(tmp_path, Receiver(DOWN))
    case.spool.add([message(1)])
    for _attempt in range(9):
        case.teller().deliver_due()
        case.clock.passed += 300
    case.clock.passed = -999.0
    case.boot = "boot-2"
    lines = len(case.lines)
    case.teller().deliver_due()
    assert len(case.lines) == lines + 1


def test_without_a_boot_id_no_pause_of_an_earlier_boot_lasts_longer_than_a_pause(tmp_path: pathlib.Path) -> None:
    """The clock of a boot begins at zero, and Windows has no boot id that would tell."""
    folder = SharedFolder(str(tmp_path))
    before = Attempts(folder, [None, "https://one"], lambda: 1.0, 90_000.0)
    before.failed(90_000.0)
    before.accepted("m", 90_000.0)
    before.failed(90_000.0)
    before.write()
    after = Attempts(folder, [None, "https://one"], lambda: 1.0, 5.0)
    assert (after.due(RECEIVER), after.due("m")) == (0.0, 0.0)
    again = Attempts(folder, [None, "https://one"], lambda: 1.0, 90_000.5)
    assert again.due(RECEIVER) > 90_000.0 and again.due("m") > 90_000.0


def test_a_corrected_secret_is_used_at_once(tmp_path: pathlib.Path) -> None:
    folder, own, secret = SharedFolder(str(tmp_path)), tmp_path / "watch.json", tmp_path / "credential"
    own.touch()
    secret.touch()

    def attempts() -> Attempts:
        return Attempts(folder, ["boot-1", "https://one", changed_at(str(own), str(secret))], lambda: 1.0, 5.0)

    before = attempts()
    before.failed(5.0)
    before.write()
    assert attempts().due(RECEIVER) > 5.0
    for path in (own, secret):
        os.utime(path, ns=(1, 1))
        assert attempts().due(RECEIVER) == 0.0


def test_when_settings_were_changed_says_nothing_of_a_file_that_is_not_there(tmp_path: pathlib.Path) -> None:
    missing = str(tmp_path / "missing")
    assert changed_at(missing, None) == "missing"
    (tmp_path / "missing").touch()
    assert changed_at(missing, None) == str(os.stat(missing).st_mtime_ns)


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"{}", b'{"valid_for": ["boot-1", "https://one"], "attempts": {"receiver": 7}}', b'{"valid_for": ["boot-1", "https://one"], "attempts": [1]}'],
)
def test_damaged_attempts_are_none(tmp_path: pathlib.Path, content: bytes) -> None:
    (tmp_path / NAME).write_bytes(content)
    assert Attempts(SharedFolder(str(tmp_path)), ["boot-1", "https://one"], lambda: 1.0, 0.0).due(RECEIVER) == 0.0


def test_while_it_rests_a_new_message_goes_out_at_once(tmp_path: pathlib.Path) -> None:
    case = Case(tmp_path)
    case.spool.add([message(1)])
    real = case.clock.sleep

    def sleep(seconds: float) -> None:
        real(seconds)
        if case.clock.passed == 5.0:
            case.spool.add([message(2)])

    case.clock.sleep = sleep  # type: ignore[method-assign]
    case.teller().run()
    assert case.receiver.got[:2] == ["E1", "E2"]
    # It ends all the same, so that the next run reads anew what the records show.
    assert case.clock.passed <= LONGEST_REST + 1
