# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Switches for undocumented behaviour: each default, each other value, and refused values."""

from __future__ import annotations

import json

import pytest
from imds_simulator.switches import SWITCHES, SwitchError, Switches, parse_assignment
from simulator_bench import METADATA, NEWEST, Bench


def test_every_default_is_allowed_by_its_own_check() -> None:
    Switches(**{name: entry[0] for name, entry in SWITCHES.items()})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"colour": "red"}, "there is no switch 'colour'"),
        ({"approve_body": "page"}, "'empty' or 'object' or 'document'"),
        ({"rate_limit": "5"}, "it takes int or float"),
        ({"rate_limit": True}, "it takes int or float"),
        ({"etag": 1}, "it takes bool"),
    ],
)
def test_a_wrong_change_changes_nothing(changes: dict[str, object], message: str) -> None:
    switches = Switches()
    with pytest.raises(SwitchError, match=message):
        switches.change({"retry_after": 7, **changes})
    assert switches.retry_after == 0


def test_assignments_of_the_command_line() -> None:
    assert parse_assignment("rate_limit=0") == ("rate_limit", 0)
    assert parse_assignment("etag=false") == ("etag", False)
    assert parse_assignment("approve_body=object") == ("approve_body", "object")
    with pytest.raises(SwitchError):
        parse_assignment("rate_limit")


def test_body_of_an_approval(bench: Bench) -> None:
    event_id = bench.create().event_id
    body = json.dumps({"StartRequests": [{"EventId": event_id}]}).encode()
    bodies = {}
    for choice in ("empty", "object", "document"):
        bench.simulator.switches.change({"approve_body": choice})
        answer = bench.send("POST", body=body)
        assert answer.status == 200
        bodies[choice] = answer.body
    assert bodies["empty"] == b""
    assert bodies["object"] == b"{}"
    assert json.loads(bodies["document"])["Events"][0]["EventId"] == event_id


@pytest.mark.parametrize("status", [400, 404, 200])
def test_status_of_an_unknown_id(bench: Bench, status: int) -> None:
    bench.simulator.switches.change({"unknown_event_status": status})
    assert bench.approve("unknown") == status


def test_the_known_ids_of_a_mixed_request(bench: Bench) -> None:
    event = bench.create()
    bench.simulator.switches.change({"approve_known_of_mixed": True})
    assert bench.approve("unknown", event.event_id) == 400
    assert event.approved_by == ["web1"]


def test_text_of_a_malformed_approval(bench: Bench) -> None:
    bench.simulator.switches.change({"malformed_text": "Nope"})
    answer = bench.send("POST", body=b"[]")
    assert (answer.status, json.loads(answer.body)) == (400, {"error": "Nope"})


def test_an_approval_can_change_the_incarnation(bench: Bench) -> None:
    event = bench.create()
    bench.simulator.switches.change({"approval_changes_incarnation": True})
    bench.approve(event.event_id)
    assert bench.document()["DocumentIncarnation"] == 3


def test_etag_can_be_left_out_or_looked_at_by_post(bench: Bench) -> None:
    tag = bench.send().headers["ETag"]
    bench.simulator.switches.change({"etag_on_post": True})
    assert bench.send("POST", headers={**METADATA, "If-None-Match": tag}, body=b"{}").status == 412
    bench.simulator.switches.change({"etag": False})
    answer = bench.send(headers={**METADATA, "If-None-Match": tag})
    assert answer.status == 200
    assert "ETag" not in answer.headers


def test_other_small_ones() -> None:
    bench = Bench("web1", first_incarnation=0, incarnation_form="text", newest_versions=["x"], terminate_coupling=False)
    assert bench.document()["DocumentIncarnation"] == "0"
    assert json.loads(bench.send(target=NEWEST + "x").body)["newest-versions"] == ["x"]
    bench.create("Terminate", notice=300)
    second = bench.create("Terminate", notice=600, start_delay=0)
    bench.approve(second.event_id)
    bench.advance(0)
    assert second.state == "started"
    bench.close()


def test_a_poll_can_move_the_time() -> None:
    bench = Bench("web1", seconds_per_poll=300)
    bench.create()
    statuses = [[status for _kind, status in bench.shown()] for _poll in range(6)]
    assert statuses == [["Scheduled"]] * 3 + [["Started"]] * 2 + [[]]
    bench.close()
