# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The order in which a request may be refused (facts, part e3)."""

from __future__ import annotations

import json

import pytest
from simulator_bench import EVENTS, METADATA, NEWEST, Bench

NO_HEADER = {"error": "Bad request. Required metadata header not specified"}

# Each entry breaks one more rule than the next; the answer must be that of the first broken rule.
GATES = [
    ("PUT", "/nowhere?api-version=x&api-version=y", {"X-Forwarded-For": "10.0.0.1"}, 418, "X-Forwarded-For"),
    ("PUT", "/nowhere?api-version=x&api-version=y", {}, 405, "Method"),
    ("GET", "/nowhere?api-version=x&api-version=y", {}, 404, "Not found"),
    ("GET", EVENTS + "?api-version=x&api-version=y", {}, 400, "metadata header"),
    ("GET", EVENTS + "?api-version=x&api-version=y", METADATA, 409, "more than once"),
    ("GET", EVENTS + "?api-version=x", METADATA, 400, "api-version is invalid"),
    ("GET", NEWEST, METADATA, 429, "Too many"),
]


@pytest.mark.parametrize(("method", "target", "headers", "status", "message"), GATES)
def test_the_first_rule_broken_answers(method: str, target: str, headers: dict[str, str], status: int, message: str) -> None:
    # Unusual statuses where the real one is unknown, so that no two checks can be confused.
    bench = Bench("web1", rate_limit=0.5, forwarded_status=418, duplicate_status=409)
    bench.simulator.faults.add({"kind": "503"}, 0)
    bench.send()  # The limit is reached; a request that passes all checks meets the fault.
    answer = bench.send(method, target, headers)
    assert answer.status == status
    assert message in json.loads(answer.body)["error"]
    bench.close()


def test_a_fault_comes_after_all_gates(bench: Bench) -> None:
    bench.simulator.faults.add({"kind": "503"}, 0)
    assert bench.send(headers={}).status == 400
    assert bench.send().status == 503


def test_texts_of_the_captures(bench: Bench) -> None:
    assert json.loads(bench.send(headers={}).body) == NO_HEADER
    assert json.loads(bench.send(target=EVENTS).body) == {
        "error": "Bad request. api-version is invalid or was not specified in the request. For more information refer to aka.ms/azureimds",
        "newest-versions": ["2025-04-07", "2024-07-17", "2024-03-15"],
    }


@pytest.mark.parametrize("value", ["true", "True", "TRUE"])
def test_the_header_counts_in_any_case(bench: Bench, value: str) -> None:
    assert bench.send(headers={"metadata": value}).status == 200


@pytest.mark.parametrize("value", ["false", "", "1"])
def test_another_value_of_the_header_does_not_count(bench: Bench, value: str) -> None:
    assert bench.send(headers={"Metadata": value}).status == 400


def test_only_the_preview_needs_no_header(bench: Bench) -> None:
    assert bench.send(target=EVENTS + "?api-version=2017-03-01", headers={}).status == 200
    assert bench.send(target=EVENTS + "?api-version=2017-08-01", headers={}).status == 400
    assert bench.send(target="/metadata/instance?api-version=2017-03-01", headers={}).status == 400


def test_the_path_in_any_case_unless_switched_off(bench: Bench) -> None:
    other_case = "/metadata/scheduledEvents?api-version=2020-07-01"
    assert bench.send(target=other_case).status == 200
    bench.simulator.switches.change({"path_case": "lower"})
    assert bench.send(target=other_case).status == 404


def test_the_rate_limit_is_counted_for_each_vm() -> None:
    bench = Bench("web1", "web2", rate_limit=5, retry_after=2)
    assert [bench.send().status for _attempt in range(6)] == [200] * 5 + [429]
    assert bench.send().headers["Retry-After"] == "2"
    assert bench.send(vm="web2").status == 200
    bench.close()


def test_headers_of_an_answer(bench: Bench) -> None:
    headers = bench.send().headers
    assert headers["Content-Type"] == "application/json; charset=utf-8"
    assert headers["Server"].startswith("IMDS/")
    assert {"x-ms-request-id", "Date", "ETag"} <= set(headers)


def test_an_unchanged_document_is_answered_with_304(bench: Bench) -> None:
    tag = bench.send().headers["ETag"]
    unchanged = bench.send(headers={**METADATA, "If-None-Match": tag})
    assert (unchanged.status, unchanged.body) == (304, b"")
    bench.create()
    assert bench.send(headers={**METADATA, "If-None-Match": tag}).status == 200


def test_everything_is_recorded_including_refusals(bench: Bench) -> None:
    bench.send(headers={})
    bench.send("POST", body=b"{")
    requests = bench.simulator.recorder.requests()
    assert [(entry["method"], entry["status"], entry["body"]) for entry in requests] == [("GET", 400, ""), ("POST", 400, "{")]
    assert {entry["vm"] for entry in requests} == {"web1"}


@pytest.mark.parametrize("path,allowed", [("/metadata/scheduledevents", "GET, POST"), ("/metadata/instance", "GET"), ("/metadata/versions", "GET")])
def test_a_method_that_is_refused_is_told_which_are_allowed(bench: Bench, path: str, allowed: str) -> None:
    answer = bench.send(method="HEAD", target=f"{path}?api-version=2020-07-01")
    assert (answer.status, answer.headers["Allow"]) == (405, allowed)
