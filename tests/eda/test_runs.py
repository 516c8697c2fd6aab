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
from eda.rulebook import PATIENCE_SECONDS, Rulebook, Run

RUN_SECONDS = 3.0
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


def begun(rulebook: Rulebook, event_id: str, number: int) -> list[Run]:
    """Wait until so many runs of an event have begun."""
    end = time.monotonic() + PATIENCE_SECONDS
    while len(found := [run for run in rulebook.begun() if run.event_id == event_id]) < number:
        assert time.monotonic() < end, f"{len(found)} runs, not {number}:\n{rulebook.text()[-6000:]}"
        time.sleep(0.05)
    return found


def ended(rulebook: Rulebook, event_id: str, number: int) -> list[Run]:
    """Wait until so many runs of an event have ended, and as long again as a run takes: then there are no more."""
    begun(rulebook, event_id, number)
    end = time.monotonic() + PATIENCE_SECONDS
    while max(run.ended for run in begun(rulebook, event_id, number)) > time.time():
        assert time.monotonic() < end, rulebook.text()[-6000:]
        time.sleep(0.05)
    time.sleep(RUN_SECONDS + 3)
    found = begun(rulebook, event_id, number)
    assert len(found) == number, f"{len(found)} runs, not {number}"
    return found


def test_one_message_starts_one_run_at_once(rulebook: Rulebook) -> None:
    sent = time.time()
    assert rulebook.send(message(EVENTS[0])) == 200
    (run,) = ended(rulebook, EVENTS[0], 1)
    print(f"notice to playbook: {run.began - sent:.2f} s")
    # All that it gets is the EventId, every host of the inventory, and the name of the VM to look at.
    assert run.arguments[run.arguments.index("--limit") + 1] == "all" if "--limit" in run.arguments else True
    assert run.vms == ["web1"] and "Reboot" not in run.extra and "a test" not in run.extra


def test_what_comes_during_a_run_starts_one_more_after_it(rulebook: Rulebook) -> None:
    with rulebook.hold():
        sent = time.time()
        rulebook.send(message(EVENTS[1], "web1"))
        begun(rulebook, EVENTS[1], 1)
        for number in range(20):
            rulebook.send(message(EVENTS[1], f"vm{number}", "changed", "Started"))
        # Another event does not wait for it: its run begins while the first cannot end.
        other = time.time()
        rulebook.send(message(EVENTS[2], "web2"))
        (beside,) = begun(rulebook, EVENTS[2], 1)
    first, second = ended(rulebook, EVENTS[1], 2)
    print(f"first run {first.began - sent:.2f} s after its notice, the second {second.began - first.ended:.2f} s after its end")
    print(f"beside it the run of another event {beside.began - other:.2f} s after its notice")
    assert first.ended <= second.began
    # The run that began last looks at the VMs of every message.
    assert first.vms == ["web1"] and set(second.vms) == {"web1", *(f"vm{number}" for number in range(20))}
    # Idle again: the next news starts a run.
    again = time.time()
    rulebook.send(message(EVENTS[1], "web1", "gone", "Started"))
    third = ended(rulebook, EVENTS[1], 3)[-1]
    print(f"the next run {third.began - again:.2f} s after its notice")


def test_a_vm_that_tells_first_and_names_itself_alone_does_not_hold_up_the_others(rulebook: Rulebook) -> None:
    """VMs of one availability set see each other's events. The run for the names that came first may last for as long as its VM wants it to."""
    event_id = EVENTS[14]
    with rulebook.hold():
        rulebook.send(message(event_id, "liar"))
        begun(rulebook, event_id, 1)
        rulebook.send(message(event_id, "web1"))
        time.sleep(61)
        # The same again, as a watcher repeats it.
        sent = time.time()
        rulebook.send(message(event_id, "web1"))
        first, beside = begun(rulebook, event_id, 2)
        assert (first.vms, beside.vms) == (["liar"], ["liar", "web1"])
        print(f"the run beside it began {beside.began - sent:.2f} s after the message")
    # What had waited for the end of the first run starts one more.
    ended(rulebook, event_id, 3)


def test_a_message_twice_is_one_run(rulebook: Rulebook) -> None:
    with rulebook.hold():
        for unused in range(3):
            assert rulebook.send(message(EVENTS[3])) == 200
            begun(rulebook, EVENTS[3], 1)
    ended(rulebook, EVENTS[3], 1)


def test_a_burst_of_500_notices_for_5_events(rulebook: Rulebook) -> None:
    # No run ends before the burst is over, as runs of respond do not: they wait for the end of their event.
    events = EVENTS[4:9]
    with rulebook.hold():
        burst, last = time.time(), dict.fromkeys(events, 0.0)
        connection = rulebook.connect()
        for number in range(500):
            event_id = events[number % 5]
            last[event_id] = time.time()
            assert rulebook.send(message(event_id, f"vm{number}"), connection=connection) == 200
            time.sleep(max(0.0, burst + (number + 1) * 0.02 - time.time()))
        connection.close()
        print(f"500 notices in {time.time() - burst:.1f} s")
        for event_id in events:
            begun(rulebook, event_id, 1)
    for event_id in events:
        first, second = ended(rulebook, event_id, 2)
        print(f"first run {first.began - burst:.1f} s after the burst's beginning")
        assert second.began >= last[event_id], "the last run began before the last notice"
        assert first.ended <= second.began


def test_forged_messages_do_nothing_elsewhere(rulebook: Rulebook, tmp_path: pathlib.Path) -> None:
    before = len(rulebook.begun())
    assert rulebook.send(message(EVENTS[9]), token="wrong") == 401
    assert rulebook.send(message(EVENTS[9]), token=None) == 401
    assert rulebook.send(b"no JSON") == 400
    assert rulebook.send(b'"' + b"x" * (1024 * 1024) + b'"') == 413
    assert rulebook.send({"payload": "x" * 1_000_000}) == 200
    with rulebook.hold():
        for number, pattern in enumerate(PATTERNS):
            assert rulebook.send(message(pattern, "web1")) == 200, "the pattern as an EventId"
            forged = message(EVENTS[10], "web1", event_type=pattern, description=pattern, resources=[pattern])
            assert rulebook.send({**forged, "id": f"{number}{pattern}", "source": pattern, "subject": pattern, "meta": {"hosts": pattern}}) == 200
            begun(rulebook, EVENTS[10], 1)
        assert rulebook.send({"meta": {"hosts": "web2"}, "type": "x", "specversion": "1.0"}) == 200
    ended(rulebook, EVENTS[10], 2)
    runs = rulebook.begun()[before:]
    assert {run.event_id for run in runs} == {EVENTS[10]}
    for run in runs:
        text = run.extra + " ".join(run.arguments)
        assert not any(pattern in text for pattern in PATTERNS if pattern != "all")
        assert "--limit" not in run.arguments or run.arguments[run.arguments.index("--limit") + 1] == "all"
    assert not list(tmp_path.parent.rglob("forged")) and not (rulebook.folder / "forged").exists()


def test_a_flood_of_one_sender_is_dropped_and_others_are_served(rulebook: Rulebook) -> None:
    before, began = len(rulebook.begun()), time.time()

    def flood(part: int) -> None:
        connection = rulebook.connect()
        for number in range(250):
            rulebook.send({**message(EVENTS[11], "liar", "changed"), "id": f"{part}-{number}"}, connection=connection)
        connection.close()

    with rulebook.hold():
        threads = [threading.Thread(target=flood, args=(part,)) for part in range(4)]
        for thread in threads:
            thread.start()
        begun(rulebook, EVENTS[11], 1)
        sent = time.time()
        assert rulebook.send(message(EVENTS[12], "web2")) == 200
        for thread in threads:
            thread.join()
        print(f"1000 messages of one sender in {time.time() - began:.1f} s; the other one was answered in {time.time() - sent:.2f} s")
        # While the run of the sender that floods goes on.
        (other,) = begun(rulebook, EVENTS[12], 1)
    print(f"the other sender's run began after {other.began - sent:.2f} s")
    ended(rulebook, EVENTS[12], 1)
    ended(rulebook, EVENTS[11], 2)
    assert len(rulebook.begun()) - before == 3
    assert "dropped" in rulebook.text() and rulebook.text().count("more than 30 in a minute") < 10


def test_killed_and_started_again_it_serves_what_is_repeated(rulebook: Rulebook) -> None:
    rulebook.send(message(EVENTS[13], "web3"))
    begun(rulebook, EVENTS[13], 1)
    rulebook.kill()
    print(f"started again in {rulebook.start():.1f} s")
    restarted = time.time()
    # The same message, with the same id: a watcher repeats what no run has seen.
    assert rulebook.send(message(EVENTS[13], "web3")) == 200
    end = restarted + PATIENCE_SECONDS
    while not (runs := [run for run in rulebook.begun() if run.event_id == EVENTS[13] and run.began > restarted]):
        assert time.time() < end, rulebook.text()[-6000:]
        time.sleep(0.05)
    (run,) = runs
    print(f"its run began {run.began - restarted:.2f} s after the message")


def test_the_variables_hold_no_credential_for_runs(rulebook: Rulebook) -> None:
    assert rulebook.runs()
    assert not any("a-token-of-the-test" in json.dumps(run._asdict()) for run in rulebook.runs())
