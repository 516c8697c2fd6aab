# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The overview of many events: numbers, shared reasons, and the next ones; and where it is not asked for, a line for each."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.report import event_lines
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.report.status import ended, lease_lines, status, would_lines
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import at, event, plan, record, vm

NUMBERED = re.compile(r"[0-9]+\. ")


def fleet(number: int, **more: Any) -> list[dict[str, Any]]:
    """VMs with an event each, the last one first."""
    return [vm(f"vm{one}", [event(f"E{one:03d}", (f"vm{one}",), due=900 + 60 * (number - one), **more)]) for one in range(number)]


def test_up_to_twenty_events_have_a_line_each() -> None:
    found = plan(*fleet(20))
    assert status(found, all_events=False) == status(found, all_events=True) == status(found)
    many = plan(*fleet(21))
    assert len([line for line in status(many) if NUMBERED.match(line)]) == 21
    assert len([line for line in status(many, all_events=False) if NUMBERED.match(line)]) == 10
    assert status(many, "json", all_events=False) == status(many, "json")


def test_an_overview_has_numbers_then_reasons_then_the_next_events() -> None:
    reboots, pauses = fleet(18), [vm(f"db{one}", [event(f"F{one}", (f"db{one}",), event_type="Freeze", due=60)], methods=()) for one in range(3)]
    started = [vm("app1", [event("S1", ("app1",), "Started")]), vm("app2", [event("S2", ("app2",), "Started", event_type="")])]
    lines = status(plan(*reboots, *pauses, *started), all_events=False)
    assert lines[0] == "23 events: 18 noticed, 3 held, 2 started; 19 Reboot, 3 Freeze, 1 unknown type."
    none = "no drain method is configured; set drain_methods, or the method none where nothing has to be drained."
    # What may need a person first. The names stand in the reason itself.
    assert lines[1] == f"3 events held: db0, db1, db2: {none}"
    assert lines[2] == "18 events noticed: waits for vm17, vm16, vm15, vm14, vm13, vm12 and 12 more to drain."
    assert lines[3] == "The next 10 by time:"
    shown = [line.split(": ")[2].split(";")[0] for line in lines if NUMBERED.match(line)]
    assert shown == ["db0", "db1", "db2", "vm17", "vm16", "vm15", "vm14", "vm13", "vm12", "vm11"]
    shows_all = "playbook status shows all with -e status_all_events=true, and explains one with -e status_event_id=ID."
    assert lines[-2:] == [
        f"13 more events: {shows_all}",
        "23 of 23 VMs answered; 23 events.",
    ]
    every = [line.split(": ")[2].split(";")[0] for line in status(plan(*reboots, *pauses, *started), all_events=True) if NUMBERED.match(line)]
    assert every == ["db0", "db1", "db2", *[f"vm{one}" for one in range(17, -1, -1)], "app1", "app2"]


def test_a_reason_of_one_event_stands_with_it() -> None:
    alone = vm("db1", [event("A1", ("db1", "db9"), due=300)])
    lines = " ".join(status(plan(*fleet(20), alone), all_events=False))
    assert "db1; starts in 5 min; held: it also names db9, which is not managed here; approving would" in lines
    assert lines.count("not managed here") == 1


@pytest.mark.parametrize("number", [7, 20, 21, 500])
def test_of_many_failures_and_actions_each_reason_has_one_line(number: int) -> None:
    listed = [event(f"E{one:03d}", (f"vm{one:03d}",)) for one in range(number)]
    failed = plan(*[vm(one["resources"][0], [one], [record("failed", one, attempts=4, reason="x ended with 1")]) for one in listed])
    whole = " ".join(status(failed, all_events=False))
    sentence = "the drain failed; its record says: x ended with 1"
    assert whole.count("FAILED") == len(failed["fails"]) == 1
    if number > 12:
        assert f"FAILED: vm000, vm001, vm002, vm003, vm004, vm005 and {number - 6} more: {sentence}." in whole
        assert failed["fails"][0].startswith("vm000, vm001, ") and failed["fails"][0].endswith(f" and {number - 12} more: {sentence}")
    assert len(failed["failed"]) == number
    actions = len(plan(*fleet(number))["actions"])
    would = would_lines(plan(*fleet(number)), True)
    assert len(would) < 5 and would[0].endswith(f" and {number - 6} more: Would write: noticed") if actions > 20 else len(would) == actions
    assert len(would_lines(plan(*fleet(number)))) == actions


def test_a_reason_that_many_actions_share_has_its_words_and_no_event_id() -> None:
    names = [f"vm{one:03d}" for one in range(21)]
    actions = [{"action": "prune", "host": name, "reason": "ended a day ago"} for name in names]
    assert would_lines({"actions": actions}, True)[0].endswith(" and 15 more: Would prune: ended a day ago")
    actions = [{"action": "drain", "host": name, "event_id": f"E{name}", "reason": f"drain E{name} now"} for name in names]
    assert would_lines({"actions": actions}, True)[0].endswith(" and 15 more: Would drain: drain now")


def test_of_many_events_that_are_over_the_next_are_not_told_and_the_tables_have_an_end() -> None:
    over = [vm(f"vm{one:03d}", [], [record("recovered", event(f"E{one:03d}", (f"vm{one:03d}",)), outcome="completed")]) for one in range(25)]
    found = {**plan(*over), "ended": [f"E{one:03d}" for one in range(25)]}
    lines = status(found, all_events=False)
    assert lines[0] == "25 events: 25 recovered; 25 Reboot." and not [line for line in lines if NUMBERED.match(line) or "by time" in line]
    assert len([line for line in lines if "times in UTC" in line]) == 20
    assert lines[-1] == "5 more events are over: playbook maintenance.azure.report has their times."
    assert len([line for line in status(found, all_events=True) if NUMBERED.match(line)]) == 25


@pytest.mark.parametrize("behind", [0, 5 * 3600])
def test_what_has_just_ended_is_shown_whatever_the_clock_of_its_vm_is(behind: float) -> None:
    over = record("recovered", event("E1"), ago=20 + behind, outcome="completed")
    found = plan({**vm("vm1", [], [over], now=at(-behind)), "answered_at": at(0)})
    (entry,) = found["events"]
    assert entry["ended_ago"] == 20 and any(NUMBERED.match(line) for line in status(found))
    long_ago = record("recovered", event("E1"), ago=7200 + behind, outcome="completed")
    assert not any(NUMBERED.match(line) for line in status(plan({**vm("vm1", [], [long_ago], now=at(-behind)), "answered_at": at(0)})))


def test_what_is_over_comes_last() -> None:
    over = vm("old", [], [record("recovered", event("O1", ("old",)), outcome="completed", missing_since="2027-01-15T07:59:00Z")])
    lines = [line for line in status(plan(over, *fleet(20)), all_events=True) if NUMBERED.match(line)]
    assert "old; no longer listed; recovered" in lines[-1]


def test_long_lines_go_on_below_and_commands_stay_whole() -> None:
    long = "x" * 140
    assert event_lines.wrapped([f"{long} {long}", "short", "a" * 200, "", f"do this: chown root: {long} && chmod 700 {long}"]) == [
        *(long, f"    {long}", "short", "a" * 200),
        f"do this: chown root: {long} && chmod 700 {long}",
    ]


@pytest.mark.parametrize("name", ["a", "vm1", "web.eu-1", "events", ".*", "waits"])
def test_a_name_is_taken_out_of_a_reason_only_where_it_stands_alone(name: str) -> None:
    def entry(number: int) -> dict[str, Any]:
        own = f"{name}{number}" if number else name
        detail = f"waits for {own} to drain, a{own}b"
        blocker = {"kind": "draining", "subjects": [own], "detail": detail, "way_out": ""}
        base = {"number": number, "select": f"e{number}", "event_type": "Reboot", "event_source": "Platform", "event_status": "Scheduled"}
        more = {"hosts": [own], "parts": [], "resources": [own], "listed": True, "starts_in": 60.0, "phase": "noticed", "next": "drain", "decision": None}
        return {**base, **more, "reason": detail, "blockers": [blocker]}

    one, two = entry(0), entry(0)
    (line,) = [line for line in event_lines.overview([one, two]) if "2 events" in line and "noticed:" in line and "waits" in line]
    assert f"waits for {name} to drain, a{name}b." in line


@settings(max_examples=60, deadline=None)
@given(some.lists(some.tuples(*(some.integers(0, 3) for _each in range(4))), min_size=21, max_size=40), some.booleans())
def test_any_overview_fits_and_counts_every_event_once(kinds: list[tuple[int, ...]], all_events: bool) -> None:
    seen = []
    for number, (kind, methods, source, due) in enumerate(kinds):
        name = f"vm{number}"
        resources = (name, "db9") if kind == 3 else (name,)
        of_vm = event(f"{number:04d}", resources, "Started" if due == 3 else "Scheduled", due=300.0 * (due + 1), event_type=("Reboot", "Freeze", "", "X")[kind])
        of_vm["event_source"] = ("User", "Platform", None, "x")[source]
        seen.append(vm(name, [of_vm], methods=("service",) if methods else ()))
    lines = status(plan(*seen), all_events=all_events)
    assert all(len(line) <= event_lines.WIDTH for line in lines)
    phases, types = lines[0].split(": ", 1)[1].split("; ")
    for counted in (phases, types):
        assert sum(int(number) for number in re.findall(r"(?:^|, )([0-9]+) ", counted)) == len(kinds)
    told = [line for line in lines if NUMBERED.match(line)]
    assert len(told) == (len(kinds) if all_events else 10)
    reasons = [line.split(": ", 1) for line in lines if re.match(r"[0-9]+ events [a-z]+[:,]", line)]
    assert len({tuple(one) for one in reasons}) == len(reasons)


def crowded(**more: Any) -> dict[str, Any]:
    """Events of the last VM, and before them hundreds that the first VM has made up, of which it has given up some."""
    made_up = [event(f"A{one}", ("liar",), due=300 + one, event_type=f"Kind{one // 3}") for one in range(300)]
    records = [record("failed", made_up[one], reason=f"x{one // 2} " * 600, told=[]) for one in range(100)]
    true = event("T1", ("web1",), due=3000)
    return plan(vm("liar", made_up, records), vm("web1", [true], [record("failed", true)]), on_drain_failure="hold", **more)


def test_a_vm_with_hundreds_of_events_hides_no_other_vm() -> None:
    found = crowded()
    for all_events, most in ((None, 40), (False, 120)):
        lines = status(found, all_events=all_events)
        assert len(lines) <= most, len(lines)
        assert any("t1: Reboot" in line and "by Azure: web1" in line and NUMBERED.match(line) for line in lines), "its event"
        assert any(line.startswith("FAILED T1: web1:") for line in lines), "its failure"
        assert any("more of liar" in line for line in lines)
    overview = status(found, all_events=False)
    assert "1 Reboot" in overview[0] and len(" ".join(overview[:2])) < 300


def test_a_vm_with_many_leases_or_ended_events_hides_no_other() -> None:
    leases = [
        {"run": f"run{one}", "who": "x", "event_id": f"E{one}", "kind": "events", "expired": False, "ours": False, "made_at": None, "limit": None}
        for one in range(200)
    ]
    lines = lease_lines([{**one, "host": "liar"} for one in leases] + [{**leases[0], "run": "true", "host": "web1"}])
    assert len(lines) < 20 and any("run true" in line for line in lines)
    done = [{"event_id": f"E{one}", "hosts": ["liar"], "parts": []} for one in range(100)] + [{"event_id": "T1", "hosts": ["web1"], "parts": []}]
    shown = ended({"ended": [one["event_id"] for one in done]}, done)
    assert len(shown) == 20 and done[-1] in shown


def test_no_vm_takes_another_out_of_an_event_that_it_lists_with_other_names() -> None:
    """The events of web1 are over, and it has yet to be put back: its own records name it."""
    mine = [event(f"T{number:02}", ("web1",)) for number in range(12)]
    over = {"told": [], "outcome": "completed"}
    web1 = vm("web1", [], [record("gone", its, **over) for its in mine])
    for count in (1, 12):
        liar = vm("liar", [event(its["event_id"], names) for its, names in zip(mine[:count], ((), ("stranger",), ("liar",)) * 4)], [])
        lines = [line for line in status(plan(web1, liar)) if NUMBERED.match(line)]
        assert len([line for line in lines if "web1" in line.partition("Next:")[0]]) == len(lines) >= 10
    found = [event(f"A{number:02}", ("stranger",)) for number in range(30)]
    many = status(plan(vm("liar", [*found, event("T00", ("stranger",))], []), vm("web1", [], [record("gone", mine[0], **over)])), all_events=False)
    assert [line for line in many if "web1" in line.partition("Next:")[0]], many
