# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""For any text in VMs' answers and events, every line of a report is one line of visible text, and data stays as received."""

from __future__ import annotations

import copy
import json
import time
from typing import Any

import pytest
from ansible.errors import AnsibleFilterError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from ansible_collections.maintenance.azure.plugins.filter.maintenance import FilterModule
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.printable_text import INVISIBLE, LONGEST_LINE
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.report.timeline import timeline
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.upgrade import gate
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import SETTINGS, at, event, method, plan, record, vm

override, own_restarts, printable, status_lines = (FilterModule().filters()[name] for name in ("override", "own_restarts", "printable", "status_lines"))
CLEAR = "\x1b[2J\x1b[1;1H"
FORGED = "x\nweb2: approved"
BIDI = "\u202egnihton\u2066\u200b"
ANY_LETTER = some.characters(min_codepoint=0, max_codepoint=0x10FFFF, categories=None)
TEXTS = some.text(ANY_LETTER, max_size=12) | some.sampled_from([CLEAR, FORGED, BIDI, "\x9b31m", "\ud800", "\u2028", "\ufeff", "x" * 5000, "\x7f", " ", "%s{}"])
LIMITS = settings(max_examples=300, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
SAID = ("approve", "hold", "let_it_come", "release", "retire_vm")


def assert_visible(line: Any) -> None:
    assert isinstance(line, str)
    assert line.isprintable(), ascii(line)
    assert not INVISIBLE.search(line), ascii(line)
    assert len(line) <= LONGEST_LINE


def texts(value: Any) -> list[str]:
    """Return every text in the value, keys included."""
    if isinstance(value, dict):
        return [text for key, item in value.items() for text in [*texts(key), *texts(item)]]
    if isinstance(value, list):
        return [text for item in value for text in texts(item)]
    return [value] if isinstance(value, str) else []


def sentences(found: dict[str, Any]) -> list[str]:
    """Return the sentences of a plan, without the status lines."""
    said = [text for entry in found["events"] for text in (entry["reason"], entry["next"]) if text is not None]
    said += [entry["decision"]["text"] for entry in found["events"] if entry["decision"]]
    said += [part["reason"] for entry in found["events"] for part in entry["parts"] if part["reason"]]
    said += [change["error"] for entry in found["events"] for part in entry["parts"] for change in part["changed"] if change["error"]]
    said += [step["reason"] for step in found["actions"]] + [found["requeue"]["why"]] + [failed["reason"] for failed in found["failed"]]
    said += [about["error"] for about in found["hosts"].values() if about["error"]] + found["summary"]["problems"] + found["summary"]["retired"]
    return said + [why for group in found["capacity"] for why in [*group["out"].values(), group["held"] or ""]]


@some.composite
def fleets(draw: Any) -> list[dict[str, Any]]:
    """Three VMs with arbitrary text in every field."""

    def text() -> str:
        return draw(TEXTS)

    identity = text() + "E"
    one = event(identity, ("vm1", "vm2", text()), event_type=text(), description=text(), event_source=draw(TEXTS | some.just("User")))
    one["event_status"] = draw(some.sampled_from(["Scheduled", "Scheduled", "Started"]) | TEXTS)
    word = {"action": draw(some.sampled_from(SAID)), "who": text() + "w", "why": text() + "w", "vm": text() + "v", "at": at(-9), "until": at(900)}
    methods = [{"id": text(), "method": text(), "state": draw(some.sampled_from(["drained", "failed", "undone"])), "error": text(), "before": {text(): text()}}]
    phase = draw(some.sampled_from(["noticed", "held", "draining", "drained", "failed", "gone", "recovering", "recovered"]))
    its = record(phase, one, reason=text(), outcome=draw(some.none() | TEXTS), methods=methods, decision=draw(some.none() | some.just(word)))
    kind = draw(some.sampled_from(["events", "upgrade"]))
    lease = {"name": text() + "c", "run": text() + "r", "who": text(), "event_id": text(), "kind": kind, "limit": at(60)}
    listed = [one] if draw(some.booleans()) else []
    first = vm("vm1", listed, [its], leases=[lease], records_problems=[text()], identity={"name": text(), "resource_group": text()})
    third = vm("vm3", state=draw(some.sampled_from(["failed", "unreachable"])), error=text(), reached_before=True, last_observation=first["observation"])
    return [first, vm("vm2", [one], methods=draw(some.sampled_from([(), ("service",)]))), third]


@LIMITS
@given(fleets())
def test_every_line_of_a_plan_and_its_status_is_visible(fleet: list[dict[str, Any]]) -> None:
    before = copy.deepcopy(fleet)
    found = plan(*fleet, capacity=[{"name": "web", "members": ["vm1", "vm2", "vm3"], "max_unavailable": 1}], run={"id": "run0", "who": "us"})
    for said in sentences(found):
        assert_visible(said)
    lines = status_lines(found)
    for line in [*lines, *timeline({one["host"]: one["observation"] for one in fleet})]:
        assert_visible(line)
    for text in texts(status_lines(found, format="json")):
        assert_visible(text)
    for number, entry in enumerate(status_lines(found, format="json")["events"], start=1):
        assert lines[number - 1].startswith(f"{number}. {entry['select']}: ")
        assert entry["number"] == number
        for line in status_lines(found, event_id=entry["select"]):
            assert_visible(line)
    # Data that is sent to Azure or written to records is unchanged.
    ids = {one["event_id"].strip().lower() for seen in before for one in (seen["observation"] or {"events": []})["events"]}
    for step in found["actions"]:
        if step["action"] == "approve":
            assert {event_id.strip().lower() for event_id in step["event_ids"]} <= ids
        if step.get("event"):
            assert step["event"]["description"] in [
                one["description"] or None for seen in before if seen["observation"] for one in seen["observation"]["events"]
            ] + [None]
    assert fleet == before


@LIMITS
@given(fleets(), TEXTS, some.sampled_from(SAID))
def test_every_text_of_an_override_is_visible(fleet: list[dict[str, Any]], text: str, action: str) -> None:
    typed = fleet[1]["observation"]["events"][0]["event_id"]
    said = {"event_id": typed, "action": action, "who": f"a{text}", "why": f"b{text}", **({"vm": text + "vm1"} if action == "retire_vm" else {})}
    for given_id in (typed, text):
        try:
            found = override(fleet, {**said, "event_id": given_id}, settings=SETTINGS, now=at(0))
        except AnsibleFilterError as error:
            assert_visible(str(error))
        else:
            assert_visible(found["text"])
            assert found["event_id"] == typed


@LIMITS
@given(fleets())
def test_every_obstacle_of_a_gate_is_visible(fleet: list[dict[str, Any]]) -> None:
    ask = {"upgrade": "Kernel", "batch": ["vm1", "vm2", "vm3"], "marks": True}
    chosen = {**SETTINGS, "run": {"id": "run0", "who": "us"}, "capacity": [{"name": "web", "members": ["vm1", "vm2"], "max_unavailable": 1}]}
    found = gate.make_gate(fleet, ask, settings=chosen, now=at(0))
    again = gate.make_gate(fleet, ask, settings=chosen, now=at(5), seen=found["seen"])
    for said in [*found["why"], *again["why"], *(one["text"] for one in found["blockers"]), found["requeue"]["why"]]:
        assert_visible(said)
    for one in own_restarts(fleet, ask, settings=chosen, now=at(0)):
        assert_visible(one["why"] or "")


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_hostile_event_cannot_pass_for_another(form: str) -> None:
    real = event("C7061BAC-AFDC-4513-B24B-AA5F13A16123", ("vm1",))
    liar = event(f"C7061BAC-{FORGED}{CLEAR}", ("vm2",), event_type=f"Reboot{BIDI}", description=f"fine.\n2. c706: {CLEAR}all is well")
    found = plan(vm("vm1", [real]), vm("vm2", [liar]))
    shown = status_lines(found, format=form)
    if form == "json":
        assert [entry["number"] for entry in shown["events"]] == [1, 2]
        assert {entry["select"] for entry in shown["events"]} == {"c7061bac-a", handle(liar["event_id"])}
        assert "web2: approved\\\\x1b[2J" in json.dumps(shown)
        return
    assert len(shown) == 3, "two events and a summary"
    assert any(line.startswith(("1. c7061bac-a: Reboot C7061BAC-AFDC-4513-B24B-AA5F13A16123 by Azure: vm1", "2. c7061bac-a: Reboot")) for line in shown)
    assert "Reboot\\u202egnihton\\u2066\\u200b C7061BAC-x web2: approved\\x1b[2J\\x1b[1;1H by Azure" in "\n".join(shown)
    with pytest.raises(AnsibleFilterError, match="c706 may be any of 2 events; type more of it; known are: .*, type c7061bac-a"):
        status_lines(found, event_id="c706")
    explained = status_lines(found, event_id=handle(liar["event_id"]))
    assert "Description: fine. 2. c706: \\x1b[2J\\x1b[1;1Hall is well. Names: vm2." in explained
    (write,) = override([vm("vm1", [real]), vm("vm2", [liar])], {"event_id": "C7061bac-a", "action": "hold", "who": "alice"}, now=at(0))["writes"]
    assert (write["host"], write["event_id"]) == ("vm1", real["event_id"])


def handle(event_id: str) -> str:
    (entry,) = status_lines(plan(vm("vm1", [event(event_id)])), format="json")["events"]
    return str(entry["select"])


@pytest.mark.parametrize("odd", ["E1;reboot", "$(reboot)", "`reboot`", "a b", "--yes", "x'y", "x\ny", "E&calc"])
def test_a_command_that_is_shown_holds_no_odd_id(odd: str) -> None:
    """An operator pastes it."""
    one = event(odd, ("vm1",))
    said = {"action": "approve", "who": "alice", "why": "now", "at": at(-5), "until": at(900)}
    seen = vm("vm1", [one], [record("noticed", one, decision=said)], state="ok", identity={"name": "vm1", "resource_group": odd})
    silent = {**seen, "state": "unreachable", "observation": None, "last_observation": seen["observation"], "identity": {"name": "vm1", "resource_group": odd}}
    other = vm("vm2", [one])
    (entry,) = plan(silent, other)["events"]
    command = entry["reason"][entry["reason"].index("az maintenance") :]
    assert command == (
        "az maintenance scheduledevents acknowledge --resource-group GROUP --resource-type virtualMachines --resource-name vm1 --scheduled-events-id EVENT_ID"
    )


def test_a_run_with_an_odd_id_gives_no_hint_to_paste() -> None:
    lease = {"name": "c", "run": "x' gate_closed=go_on", "event_id": "upgrade:Other", "kind": "upgrade", "limit": at(60)}
    found = gate.make_gate([vm("vm1", leases=[lease])], {"upgrade": "Kernel", "batch": ["vm1"]}, settings=SETTINGS, now=at(0))
    assert found["why"][0].endswith("set gate_dead_run to its id")


def test_numbers_of_thousands_of_digits_are_replaced_by_text() -> None:
    its = record("drained", methods=[method("drained", before={"port": 10**5000})])
    assert any("a number of more than 40 digits" in line for line in status_lines(plan(vm("vm1", [event()], [its])), event_id="E1"))


def test_an_event_of_thousands_of_vms_is_still_one_line() -> None:
    found = plan(vm("vm1", [event("E1", ("vm1", *(f"other{number}" for number in range(5000))))]))
    assert max(len(line) for line in status_lines(found, event_id="E1")) == LONGEST_LINE


def test_many_events_take_no_time() -> None:
    # As many as five VMs may list.
    events = [event(f"{number:08x}-AFDC-4513-B24B-AA5F13A16123", ("vm1", "vm2")) for number in range(5000)]
    found = plan(*(vm(f"vm{part}", events[part * 1000 : part * 1000 + 1000]) for part in range(5)))
    began = time.process_time()
    # They name none of the managed VMs: a line each for a few of them.
    assert len(status_lines(found)) < 50 < len(found["events"])
    assert time.process_time() - began < 3


def test_the_filter_for_playbooks() -> None:
    assert printable(f"{CLEAR}{FORGED}") == "\\x1b[2J\\x1b[1;1Hx web2: approved"
    assert printable({"a": [FORGED]}, data=True) == {"a": ["x web2: approved"]}
    assert printable({"a": 1}) == "{'a': 1}"
    assert len(printable("x" * 99, limit="20")) == 20
    with pytest.raises(AnsibleFilterError, match="limit must be a number of characters, 1 or more, not zero"):
        printable("x", limit="zero")
