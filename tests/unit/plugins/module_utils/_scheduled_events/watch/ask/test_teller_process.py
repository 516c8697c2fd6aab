# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""When the asker starts the teller: while messages wait, one at a time, and not at once after one that failed."""

from __future__ import annotations

import pathlib

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.ask.teller_process import PAUSE_SECONDS, TellerProcess, start_quietly
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.shared_folder import SharedFolder
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.spool import Spool
from ansible_collections.maintenance.azure.tests.unit.plugins.support import FakeClock

MESSAGE = {"id": "0" * 32, "type": "x", "subject": "e"}


class Child:
    def __init__(self) -> None:
        self.code: int | None = None

    def poll(self) -> int | None:
        return self.code


class Case:
    def __init__(self, folder: pathlib.Path) -> None:
        self.clock, self.spool = FakeClock(), Spool(SharedFolder(str(folder)))
        self.started: list[Child] = []
        self.lines: list[str] = []
        self.error: OSError | None = None
        self.teller = TellerProcess(self.spool, ["python"], self.clock, self.lines.append, self.start)

    def start(self, _command: object) -> Child:
        if self.error:
            raise self.error
        self.started.append(Child())
        return self.started[-1]

    def serve(self, seconds: float = 0.0) -> int:
        self.clock.passed += seconds
        self.teller.serve()
        return len(self.started)


@pytest.fixture
def case(tmp_path: pathlib.Path) -> Case:
    return Case(tmp_path)


def test_nothing_waits_and_nothing_starts(case: Case) -> None:
    assert case.serve(100) == 0


def test_one_at_a_time_while_messages_wait(case: Case) -> None:
    case.spool.add([MESSAGE])
    assert (case.serve(), case.serve(100)) == (1, 1)
    case.started[0].code = 0
    assert case.serve() == 2
    case.started[1].code = 0
    case.spool.remove(case.spool.entries()[0])
    assert case.serve(100) == 2 and case.lines == []


def test_after_a_failure_it_rests_and_says_so_once(case: Case) -> None:
    case.spool.add([MESSAGE])
    case.serve()
    for number in range(1, 4):
        case.started[-1].code = 1
        assert (case.serve(), case.serve(PAUSE_SECONDS - 1), case.serve(1)) == (number, number, number + 1)
    assert case.lines == ["the teller ended with 1; its own log says why"]
    case.started[-1].code = 0
    case.serve()
    case.started[-1].code = 78
    case.serve()
    assert len(case.lines) == 2


def test_a_python_that_cannot_be_started_does_not_end_the_asking(case: Case) -> None:
    case.spool.add([MESSAGE])
    case.error = OSError("no such file")
    assert (case.serve(), case.serve(1), case.serve(PAUSE_SECONDS)) == (0, 0, 0)
    assert case.lines == ["the teller cannot be started: no such file"]
    case.error = None
    assert case.serve(PAUSE_SECONDS) == 1


def test_a_spool_that_cannot_be_read_does_not_end_it_either(case: Case, tmp_path: pathlib.Path) -> None:
    tmp_path.rename(tmp_path.with_name("gone"))
    assert case.serve() == 0 and "cannot be started" in case.lines[0]


def test_the_process_inherits_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    process = start_quietly(["/bin/sh", "-c", "echo out; echo err >&2; cat"])
    while process.poll() is None:
        pass
    assert process.poll() == 0 and capfd.readouterr() == ("", "")
