# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which runs the rulebook starts, of playbooks that only wait: one at once, one more after it, and nothing that a message says."""

from __future__ import annotations

import json
import pathlib
import threading
import time
import typing as t

import pytest
from lab.lab import Lab

from eda.messages import EVENTS, message
from eda.rulebook import Rulebook, Run

RUN_SECONDS = 3.0
LONG_SECONDS = 14.0
PATTERNS = ("all:!web1", "all", "*", "~web.*", "{{ lookup('pipe','touch ' + 'forged') }}", "web1,web2", "@/etc/passwd", "-e x=1")


@pytest.fixture(scope="module")
def rulebook(tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[Rulebook]:
    """One for all tests here: its start is what costs. Each test has events of its own."""
    lab = Lab(tmp_path_factory.mktemp("lab"), ["web1", "web2"])
    made = Rulebook(lab, seconds=RUN_SECONDS)
    try:
        print(f"ansible-rulebook listens after {made.start():.1f} s")
        yield made
    finally:
        made.kill()
        lab.close()


def runs_of(rulebook: Rulebook, event_id: str) -> list[Run]:
    return [run for run in rulebook.runs() if run.event_id == event_id]


def wait(seconds: float) -> None:
    time.sleep(seconds)


def until(rulebook: Rulebook, event_id: str, number: int, seconds: float = 40) -> list[Run]:
    """Wait for so many runs of an event, and as long again as a run takes: then there are no more."""
    end = time.monotonic() + seconds
    while len(runs_of(rulebook, event_id)) < number:
        assert time.monotonic() < end, f"{len(runs_of(rulebook, event_id))} runs, not {number}:\n{rulebook.text()[-6000:]}"
        wait(0.1)
    wait(RUN_SECONDS + 3)
    found = runs_of(rulebook, event_id)
    assert len(found) == number, f"{len(found)} runs, not {number}"
    return found


def test_one_message_starts_one_run_at_once(rulebook: Rulebook) -> None:
    sent = time.time()
    assert rulebook.send(message(EVENTS[0])) == 200
    (run,) = until(rulebook, EVENTS[0], 1)
    print(f"notice to playbook: {run.began - sent:.2f} s")
    assert run.began - sent < 5
    # All that it gets is the EventId, and every host of the inventory.
    assert run.arguments[run.arguments.index("--limit") + 1] == "all" if "--limit" in run.arguments else True
    assert "web1" not in run.extra and "Reboot" not in run.extra and "a test" not in run.extra


def test_what_comes_during_a_run_starts_one_more_after_it(rulebook: Rulebook) -> None:
    sent = time.time()
    rulebook.send(message(EVENTS[1], "web1"))
    wait(1.5)
    for number in range(20):
        rulebook.send(message(EVENTS[1], f"vm{number}", "changed", "Started"))
    # Another event does not wait for it.
    other = time.time()
    rulebook.send(message(EVENTS[2], "web2"))
    first, second = until(rulebook, EVENTS[1], 2)
    (beside,) = runs_of(rulebook, EVENTS[2])
    print(f"first run {first.began - sent:.2f} s after its notice, the second {second.began - first.ended:.2f} s after its end")
    print(f"beside it the run of another event {beside.began - other:.2f} s after its notice")
    assert first.ended <= second.began < first.ended + 3
    assert beside.began < first.ended
    # Idle again: the next news starts a run at once.
    again = time.time()
    rulebook.send(message(EVENTS[1], "web1", "gone", "Started"))
    third = until(rulebook, EVENTS[1], 3)[-1]
    assert third.began - again < 5


def test_a_message_twice_is_one_run(rulebook: Rulebook) -> None:
    for unused in range(3):
        assert rulebook.send(message(EVENTS[3])) == 200
        wait(0.5)
    until(rulebook, EVENTS[3], 1)


def test_a_burst_of_500_notices_for_5_events(rulebook: Rulebook) -> None:
    # As long as the burst at least, as runs of respond are: they wait for the end of their event.
    rulebook.last(LONG_SECONDS)
    events = EVENTS[4:9]
    began, last = time.time(), dict.fromkeys(events, 0.0)
    connection = rulebook.connect()
    for number in range(500):
        event_id = events[number % 5]
        last[event_id] = time.time()
        assert rulebook.send(message(event_id, f"vm{number}"), connection=connection) == 200
        wait(max(0.0, began + (number + 1) * 0.02 - time.time()))
    connection.close()
    print(f"500 notices in {time.time() - began:.1f} s")
    for event_id in events:
        first, second = until(rulebook, event_id, 2, 60)
        assert first.began - began < 5
        assert second.began >= last[event_id], "the last run began before the last notice"
        assert first.ended <= second.began
    rulebook.last(RUN_SECONDS)
    print(f"runs: {[len(runs_of(rulebook, event_id)) for event_id in events]}")


def test_forged_messages_do_nothing_elsewhere(rulebook: Rulebook, tmp_path: pathlib.Path) -> None:
    before = len(rulebook.runs())
    assert rulebook.send(message(EVENTS[9]), token="wrong") == 401
    assert rulebook.send(message(EVENTS[9]), token=None) == 401
    assert rulebook.send(b"no JSON") == 400
    assert rulebook.send(b'"' + b"x" * (1024 * 1024) + b'"') == 413
    assert rulebook.send({"payload": "x" * 1_000_000}) == 200
    for number, pattern in enumerate(PATTERNS):
        assert rulebook.send(message(pattern, "web1")) == 200, "the pattern as an EventId"
        forged = message(EVENTS[10], "web1", event_type=pattern, description=pattern, resources=[pattern])
        assert rulebook.send({**forged, "id": f"{number}{pattern}", "source": pattern, "subject": pattern, "meta": {"hosts": pattern}}) == 200
    assert rulebook.send({"meta": {"hosts": "web2"}, "type": "x", "specversion": "1.0"}) == 200
    until(rulebook, EVENTS[10], 2)
    runs = rulebook.runs()[before:]
    assert {run.event_id for run in runs} == {EVENTS[10]}
    for run in runs:
        text = run.extra + " ".join(run.arguments)
        assert not any(pattern in text for pattern in PATTERNS if pattern != "all")
        assert "--limit" not in run.arguments or run.arguments[run.arguments.index("--limit") + 1] == "all"
    assert not list(tmp_path.parent.rglob("forged")) and not (rulebook.folder / "forged").exists()


def test_a_flood_of_one_sender_is_dropped_and_others_are_served(rulebook: Rulebook) -> None:
    before, began = len(rulebook.runs()), time.time()

    def flood(part: int) -> None:
        connection = rulebook.connect()
        for number in range(250):
            rulebook.send({**message(EVENTS[11], "liar", "changed"), "id": f"{part}-{number}"}, connection=connection)
        connection.close()

    threads = [threading.Thread(target=flood, args=(part,)) for part in range(4)]
    for thread in threads:
        thread.start()
    wait(0.3)
    sent = time.time()
    assert rulebook.send(message(EVENTS[12], "web2")) == 200
    for thread in threads:
        thread.join()
    print(f"1000 messages of one sender in {time.time() - began:.1f} s; the other one was answered in {time.time() - sent:.2f} s")
    (other,) = until(rulebook, EVENTS[12], 1)
    print(f"the other sender's run began after {other.began - sent:.2f} s")
    assert other.began - sent < 8
    assert len(runs_of(rulebook, EVENTS[11])) <= 3
    assert len(rulebook.runs()) - before <= 4
    assert "dropped" in rulebook.text() and rulebook.text().count("more than 30 in a minute") < 10


def test_killed_and_started_again_it_serves_what_is_repeated(rulebook: Rulebook) -> None:
    rulebook.send(message(EVENTS[13]))
    wait(1.5)
    rulebook.kill()
    print(f"started again in {rulebook.start():.1f} s")
    restarted = time.time()
    # The same message, with the same id: a watcher repeats what no run has seen.
    assert rulebook.send(message(EVENTS[13])) == 200
    wait(2 * RUN_SECONDS + 6)
    # The run of the killed one may have gone on to its end.
    (run,) = [run for run in runs_of(rulebook, EVENTS[13]) if run.began > restarted]
    assert run.began - restarted < 5


def test_the_variables_hold_no_credential_for_runs(rulebook: Rulebook) -> None:
    assert rulebook.runs()
    assert not any("a-token-of-the-test" in json.dumps(run._asdict()) for run in rulebook.runs())
