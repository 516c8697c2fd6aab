# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The three modules of scheduled events, whole, over real HTTP on loopback."""

from __future__ import annotations

import json
import typing as t

import pytest
import yaml

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core import argument_specs
from ansible_collections.maintenance.azure.plugins.modules import (
    scheduled_events_approve,
    scheduled_events_info,
    wait_for_scheduled_event,
)
from ansible_collections.maintenance.azure.tests.unit.plugins.modules.module_runner import documentation, run_module
from ansible_collections.maintenance.azure.tests.unit.plugins.support import (
    EVENT_ID,
    Server,
    document,
    http,
    payload,
    raw_event,
    reset,
    started,
)

LISTED = http(body=document(2, raw_event(), raw_event(EventId="other", Resources=["vm_1"])))


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> t.Callable[..., dict[str, t.Any]]:
    def call(module: t.Any, server: Server, **options: t.Any) -> dict[str, t.Any]:
        return run_module(monkeypatch, module, endpoint=server.url, **options)

    return call


# scheduled_events_info


def test_info_returns_the_document_in_few_requests(run: t.Any) -> None:
    with Server(LISTED) as server:
        result = run(scheduled_events_info, server, affecting="this_vm")
    assert [event["event_id"] for event in result["events"]] == [EVENT_ID]
    assert result["events"][0]["raw"] == raw_event()
    told = {key: result[key] for key in ("changed", "document_incarnation", "vm_name", "api_version")}
    assert told == {"changed": False, "document_incarnation": 2, "vm_name": "vm_0", "api_version": argument_specs.API_VERSIONS[0]}
    assert (len(server.requests), server.connections) == (2, 1)


def test_info_does_the_same_in_check_mode(run: t.Any) -> None:
    with Server(LISTED) as server:
        assert run(scheduled_events_info, server) == run(scheduled_events_info, server, check=True)


def test_info_selects(run: t.Any) -> None:
    with Server(LISTED) as server:
        result = run(scheduled_events_info, server, event_ids=["OTHER"], vm_name="vm_1")
    assert [(event["event_id"], event["affects_this_vm"]) for event in result["events"]] == [("other", True)]


@pytest.mark.parametrize("body", [payload("no_document_empty.txt"), payload("no_document_prefix.txt"), b"{}"])
def test_info_fails_clearly_on_what_is_no_document(run: t.Any, body: bytes) -> None:
    with Server(http(body=body)) as server:
        result = run(scheduled_events_info, server)
        assert server.url in result["msg"]
    assert (result["failed"], result["error_kind"]) == (True, "bad_document")
    assert "events" not in result


def test_info_fails_clearly_where_nobody_answers(run: t.Any) -> None:
    with Server() as server:
        pass
    result = run(scheduled_events_info, server, connect_timeout=0.5)
    assert (result["failed"], result["error_kind"]) == (True, "no_answer")


@pytest.mark.parametrize(("option", "value"), [("endpoint", "https://a"), ("request_timeout", 0), ("connect_timeout", "nan"), ("retries", -1)])
def test_info_refuses_options_that_make_no_sense(monkeypatch: pytest.MonkeyPatch, option: str, value: t.Any) -> None:
    result = run_module(monkeypatch, scheduled_events_info, **{option: value})
    assert result["failed"] is True
    assert option in result["msg"]


# scheduled_events_approve


def test_approve_posts_and_changes(run: t.Any) -> None:
    with Server(LISTED, http()) as server:
        result = run(scheduled_events_approve, server, event_ids=[EVENT_ID.lower(), "none"])
    assert (result["changed"], result["approved"], result["not_found"], result["already_started"]) == (True, [EVENT_ID], ["none"], [])
    assert json.loads(server.requests[-1].body) == {"StartRequests": [{"EventId": EVENT_ID}]}
    assert (server.requests[-1].method, server.requests[-1].headers["metadata"]) == ("POST", "true")


def test_approve_sends_nothing_in_check_mode(run: t.Any) -> None:
    with Server(LISTED) as server:
        result = run(scheduled_events_approve, server, check=True, event_ids=[EVENT_ID])
    assert (result["changed"], result["approved"]) == (True, [EVENT_ID])
    assert {request.method for request in server.requests} == {"GET"}


def test_approve_refuses_what_hits_others_with_the_same_keys(run: t.Any) -> None:
    with Server(LISTED) as server:
        result = run(scheduled_events_approve, server, event_ids=["other"])
    assert (result["failed"], result["error_kind"], result["approved"], result["changed"]) == (True, "refused", [], False)
    assert "vm_1" in result["msg"]
    assert {request.method for request in server.requests} == {"GET"}


def test_approve_for_others_and_without_change(run: t.Any) -> None:
    with Server(LISTED, http()) as server:
        assert run(scheduled_events_approve, server, event_ids=["other"], approve_for=["VM_1"])["changed"] is True
    with Server(http(body=document(3, started()))) as server:
        result = run(scheduled_events_approve, server, event_ids=[EVENT_ID])
        assert (result["changed"], result["already_started"]) == (False, [EVENT_ID])
        assert run(scheduled_events_approve, server, event_ids=[EVENT_ID], fail_on_missing=True)["failed"] is True


def test_approve_observations_after_a_reset_and_finds_it_started(run: t.Any) -> None:
    with Server(LISTED, reset, http(body=document(3, started()))) as server:
        result = run(scheduled_events_approve, server, event_ids=[EVENT_ID])
    assert result["approved"] == [EVENT_ID]
    assert [request.method for request in server.requests if "instance" not in request.path] == ["GET", "POST", "GET"]


# wait_for_scheduled_event


def test_wait_follows_an_event_to_its_end_over_one_connection(run: t.Any) -> None:
    bodies = [document(2, raw_event()), document(3, started()), document(4)]
    with Server(*[http(body=body) for body in bodies]) as server:
        result = run(wait_for_scheduled_event, server, state="gone", poll_interval=0.05)
    assert (result["outcome"], result["polls"], result["last_status"]) == ("completed", 4, "Started")
    assert 0.15 <= result["elapsed"] < 3
    assert server.connections == 1


def test_wait_fails_on_timeout_with_the_same_keys(run: t.Any) -> None:
    with Server(LISTED) as server:
        met = run(wait_for_scheduled_event, server, state="scheduled")
        late = run(wait_for_scheduled_event, server, state="gone", timeout=0.2, poll_interval=0.05)
    assert set(late) - {"failed", "msg", "error_kind"} == set(met) - {"failed"}
    assert (late["failed"], late["outcome"], late["error_kind"]) == (True, "timeout", "timeout")


def test_wait_warns_and_goes_on_after_a_reset(run: t.Any) -> None:
    with Server(reset, LISTED) as server:
        result = run(wait_for_scheduled_event, server, state="scheduled", poll_interval=0.05)
    assert (result["outcome"], result["failed_polls"], len(result["warnings"])) == ("matched", 1, 1)


# Documentation and argument specification are written twice; they must say the same.

SPECS = {
    scheduled_events_info: [argument_specs.shared_arguments, argument_specs.selection_arguments],
    scheduled_events_approve: [argument_specs.shared_arguments, argument_specs.approve_arguments],
    wait_for_scheduled_event: [argument_specs.shared_arguments, argument_specs.selection_arguments, argument_specs.wait_arguments],
}


@pytest.mark.parametrize("module", SPECS, ids=lambda module: module.__name__.rpartition(".")[2])
def test_documentation_says_what_the_module_takes(module: t.Any) -> None:
    documented = documentation(module)["options"]
    spec = {option: value for function in SPECS[module] for option, value in function().items()}
    assert set(documented) == set(spec)
    for option, value in spec.items():
        for key, missing in (("type", "str"), ("default", None), ("choices", None), ("elements", None), ("required", False)):
            assert documented[option].get(key, missing) == value.get(key, missing), (option, key)


def test_documentation_says_what_the_modules_return(run: t.Any) -> None:
    with Server(LISTED) as server:
        results = {
            scheduled_events_info: run(scheduled_events_info, server),
            scheduled_events_approve: run(scheduled_events_approve, server, check=True, event_ids=[EVENT_ID]),
            wait_for_scheduled_event: run(wait_for_scheduled_event, server, state="scheduled"),
        }
    for module, result in results.items():
        documented = yaml.safe_load(module.RETURN)
        assert set(result) - {"changed", "warnings", "invocation"} == set(documented) - {"error_kind"}, module
        if "events" in documented:
            # What an event has stands once.
            assert set(yaml.safe_load(scheduled_events_info.RETURN)["events"]["contains"]) == set(result["events"][0])
            assert "contains" in documented["events"] or "M(maintenance.azure.scheduled_events_info)" in documented["events"]["description"]


def test_each_call_gives_fresh_specifications() -> None:
    for function in (argument_specs.shared_arguments, argument_specs.selection_arguments, argument_specs.wait_arguments, argument_specs.approve_arguments):
        function().clear()
        next(iter(function().values()))["type"] = "broken"
        assert next(iter(function().values()))["type"] != "broken"
