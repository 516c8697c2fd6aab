# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults: their VMs, counts and durations, and the effect of each on an answer."""

from __future__ import annotations

import json

import pytest
from imds_simulator.endpoint.faults import KINDS, FaultError
from imds_simulator.wire import Answer
from simulator_bench import METADATA, NEWEST, Bench


def _fault(bench: Bench, **options: object) -> None:
    bench.simulator.faults.add(dict(options), bench.clock.now())


@pytest.mark.parametrize("status", ["404", "410", "429", "500", "503", "504"])
def test_statuses(bench: Bench, status: str) -> None:
    _fault(bench, kind=status, count=1)
    answer = bench.send()
    assert answer.status == int(status)
    assert "error" in json.loads(answer.body)
    assert bench.send().status == 200


def test_gone_for_seventy_seconds(bench: Bench) -> None:
    _fault(bench, kind="410", seconds=70)
    bench.advance(69)
    assert bench.send().status == 410
    bench.advance(1)
    assert bench.send().status == 200


def test_for_one_vm_one_method_one_path(bench: Bench) -> None:
    event_id = bench.create().event_id
    _fault(bench, kind="500", vm="WEB2", method="POST")
    assert bench.send(vm="web2").status == 200
    assert bench.approve(event_id) == 200
    assert bench.approve(event_id, vm="web2") == 500
    _fault(bench, kind="503", path="instance")
    assert bench.send().status == 200
    assert bench.send(target="/metadata/instance?api-version=2021-02-01").status == 503


@pytest.mark.parametrize(
    ("kind", "status", "starts"),
    [
        ("empty_body", 200, b""),
        ("html", 504, b"<html>"),
        ("html_ok", 200, b"<html>"),
        ("no_events", 200, b'{"DocumentIncarnation":1}'),
        ("redirect", 302, b""),
        ("garbage", 200, b'!!!{"Doc'),
    ],
)
def test_wrong_bodies(bench: Bench, kind: str, status: int, starts: bytes) -> None:
    _fault(bench, kind=kind)
    answer = bench.send()
    assert answer.status == status
    assert answer.body.startswith(starts) and (starts or not answer.body)


def test_cut_json_and_wrong_lengths(bench: Bench) -> None:
    whole = len(bench.send().body)
    _fault(bench, kind="cut_json", count=1)
    assert len(bench.send().body) == whole // 2
    for kind, length in (("long_length", whole + 10), ("short_length", whole // 2)):
        _fault(bench, kind=kind, count=1)
        answer = bench.send()
        assert (answer.headers["Content-Length"], answer.close) == (str(length), True)


def test_more_than_a_mebibyte(bench: Bench) -> None:
    _fault(bench, kind="too_large")
    assert len(bench.send().body) > 1024 * 1024


def test_a_lost_answer_was_carried_out_and_a_reset_was_not(bench: Bench) -> None:
    event = bench.create()
    body = json.dumps({"StartRequests": [{"EventId": event.event_id}]}).encode()
    _fault(bench, kind="reset", count=1)
    assert bench.send("POST", body=body).reset
    assert event.approved_by == []
    _fault(bench, kind="lost_answer", count=1)
    assert bench.send("POST", body=body).reset
    assert event.approved_by == ["web1"]
    assert [entry["status"] for entry in bench.simulator.recorder.requests()] == [None, None]


def test_silent_is_recorded_and_never_answered(bench: Bench) -> None:
    _fault(bench, kind="silent")
    assert bench.ask("GET", NEWEST, METADATA) == []
    assert [entry["status"] for entry in bench.simulator.recorder.requests()] == [None]


def test_slow_is_the_right_answer_later(bench: Bench) -> None:
    _fault(bench, kind="slow", seconds=0.05, count=1)
    answers: list[Answer] = bench.ask("GET", NEWEST, METADATA)
    assert answers == []
    bench.loop.call_later(0.2, bench.loop.stop)
    bench.loop.run_forever()
    assert [answer.status for answer in answers] == [200]


@pytest.mark.parametrize("options", [{"kind": "hiccup"}, {}, {"kind": "status", "status": 99}, {"kind": "reset", "often": 3}])
def test_an_unknown_fault_is_refused(bench: Bench, options: dict[str, object]) -> None:
    with pytest.raises(FaultError):
        _fault(bench, **options)
    assert bench.send().status == 200


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_a_fault(bench: Bench, kind: str) -> None:
    """No fault may pass a correct answer through."""
    sound = bench.send()
    _fault(bench, kind=kind, seconds=0.01 if kind == "slow" else None)
    answers = bench.ask("GET", NEWEST, METADATA)
    if answers:
        wrong = answers[0]
        same = (wrong.status, wrong.body, wrong.headers.get("Content-Length")) == (sound.status, sound.body, None)
        assert not same or wrong.reset or wrong.raw is not None
