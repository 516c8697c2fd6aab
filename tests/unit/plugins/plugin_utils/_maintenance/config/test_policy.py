# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The policy: named policies, keys of a rule, and errors that name the rule and the position."""

from __future__ import annotations

import itertools
from typing import Any

import jmespath
import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._core.wrong_input import WrongInput
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config import windows
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config.capacity_groups import load as load_groups
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config.policy import NAMED, Decision, load, strictest
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core import expression, timestamps
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import event

DRAIN = {"drain": True, "approve": "after_drain"}


def decide(policy: Any, **values: Any) -> tuple[str, bool, str]:
    found = load(policy).decide(event(**values))
    return found.name, found.drain, found.approve


@pytest.mark.parametrize(
    ("values", "default", "documentation"),
    [
        ({"event_type": "Freeze", "duration_in_seconds": 0}, "short pause", "short pause"),
        ({"event_type": "Freeze", "duration_in_seconds": 8}, "short pause", "short pause"),
        ({"event_type": "Freeze", "duration_in_seconds": 9}, "everything else", "everything else"),
        ({"event_type": "Freeze", "duration_in_seconds": -1}, "everything else", "everything else"),
        ({"event_type": "Freeze", "duration_in_seconds": None}, "everything else", "everything else"),
        ({"event_type": "Reboot", "duration_in_seconds": 5}, "everything else", "everything else"),
        ({"event_source": "User"}, "everything else", "asked for by user"),
        ({"status": "Started"}, "everything else", "already running"),
        ({"status": "Started", "event_source": "User"}, "everything else", "already running"),
    ],
    ids=str,
)
def test_named_policies(values: dict[str, Any], default: str, documentation: str) -> None:
    assert decide("default", **values)[0] == default
    assert decide(None, **values)[0] == default
    assert decide("documentation", **values)[0] == documentation
    assert decide(NAMED["documentation"], **values)[0] == documentation


@pytest.mark.parametrize(
    ("policy", "values", "expected"),
    [
        ("default", {"event_type": "Freeze", "duration_in_seconds": 5}, ("short pause that hurts", True, "after_drain")),
        ("default", {"event_type": "Freeze", "duration_in_seconds": 9}, ("everything else", True, "after_drain")),
        ("default", {"event_type": "Reboot", "duration_in_seconds": 5}, ("everything else", True, "after_drain")),
        # Who chooses another policy has decided about short pauses.
        ("documentation", {"event_type": "Freeze", "duration_in_seconds": 5}, ("short pause", False, "now")),
        ([{"name": "any", "drain": False, "approve": "now"}], {"event_type": "Freeze", "duration_in_seconds": 5}, ("any", False, "now")),
    ],
    ids=str,
)
def test_a_short_pause_drains_first_where_it_hurts(policy: Any, values: dict[str, Any], expected: tuple[str, bool, str]) -> None:
    found = load(policy).decide(event(**values), short_pause_hurts=True)
    assert (found.name, found.drain, found.approve) == expected


def test_no_event_says_whether_a_short_pause_hurts() -> None:
    lie = {**event(event_type="Freeze", duration_in_seconds=5), "short_pause_hurts": True}
    assert load("default").decide(lie).name == "short pause"
    rules = [{"name": "mine", "when": "short_pause_hurts", **DRAIN}, {"name": "rest", "drain": False, "approve": "now"}]
    assert [load(rules).decide(event(), short_pause_hurts=hurts).name for hurts in (True, False)] == ["mine", "rest"]


ODD = (None, True, False, -1, 0, 8, 8.9, 9, 5.5)


@pytest.mark.parametrize("source", expression.BUILT_IN)
def test_conditions_of_the_named_policies_mean_without_jmespath_what_they_say(source: str) -> None:
    compiled = jmespath.compile(source)
    kinds = ("Freeze", "freeze", "Reboot", None), ("Scheduled", "Started", None), ("User", "Platform", None), ODD, (True, False)
    for event_type, status, by, seconds, hurts in itertools.product(*kinds):
        one = {"event_type": event_type, "event_status": status, "event_source": by, "duration_in_seconds": seconds, "short_pause_hurts": hurts}
        assert expression.Expression(source).matches(one) is bool(compiled.search(one)), one
    assert expression.Expression(source).matches({}) is False


def test_every_condition_of_the_named_policies_is_among_them() -> None:
    assert {rule["when"] for rules in NAMED.values() for rule in rules if "when" in rule} == set(expression.BUILT_IN)


def test_without_jmespath_named_policies_work_and_others_say_in_one_sentence_what_they_need(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expression, "HAS_JMESPATH", False)
    assert decide("default", event_type="Freeze", duration_in_seconds=5)[0] == "short pause"
    assert decide(NAMED["documentation"], event_source="User")[0] == "asked for by user"
    needs = "is a JMESPath expression ({}), and the Python package jmespath is missing on the controller: pip install jmespath"
    with pytest.raises(WrongInput) as caught:
        load([{"name": "mine", "when": "raw.x", "drain": True, "approve": "never"}])
    assert str(caught.value) == "rule 1 of the policy ('mine'): when " + needs.format("raw.x")
    with pytest.raises(WrongInput) as refused:
        load_groups([{"name": "db", "members": ["db1"], "keep": "length(@) > `0`"}])
    assert str(refused.value) == "group 1 of the capacity ('db'): keep 1 " + needs.format("length(@) > `0`")


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ("none", "no policy named 'none'"),
        (7, "a name or a list of rules, not a number"),
        ('[{"drain": true, "approve": "never"}]', "respond_policy: a policy is a name or a list of rules, not text (JSON?)"),
        ({"drain": True}, "respond_policy: a policy is a name or a list of rules, not a dictionary"),
        ([], "no rules"),
        (["x"], "rule 1"),
        ([DRAIN, {"approve": "now"}], "rule 2 of the policy: drain must be"),
        ([{"name": "n", "drain": "perhaps", "approve": "now"}], "rule 1 of the policy ('n'): drain must be"),
        ([{"drain": True}], "approve must be one of"),
        ([{"drain": True, "approve": "later"}], "approve must be one of"),
        ([{"drain": True, "approve": "now"}], "does not wait for a drain"),
        ([{"drain": False, "approve": "after_drain"}], "needs drain: true"),
        (
            [{**DRAIN, "wen": "x", "aprove": "now"}],
            "unknown keys aprove (did you mean approve?), wen (did you mean when?); there are name, when, drain, approve, drain_at, window, unreachable, on_",
        ),
        ([{**DRAIN, "when": ""}], "when must be"),
        ([{**DRAIN, "when": True}], "when must be"),
        ([DRAIN, {**DRAIN, "name": "n", "when": "event_type = 'Freeze'"}], "rule 2 of the policy ('n'): when at character 12 is not JMESPath"),
        ([{**DRAIN, "when": "event_type == 'Freeze"}], "is not JMESPath"),
        ([{**DRAIN, "when": "event_typ == 'Freeze'"}], "at character 1 names 'event_typ'"),
        ([{**DRAIN, "when": "event_id && (raw.x || !dur)"}], "at character 24 names 'dur'"),
        ([{**DRAIN, "when": "contain(description, 'x')"}], "cannot be evaluated"),
        ([{**DRAIN, "when": "starts_with(description)"}], "cannot be evaluated"),
        ([{**DRAIN, "drain_at": "later"}], "drain_at must be"),
        ([{**DRAIN, "drain_at": -1}], "drain_at must be"),
        ([{**DRAIN, "window": {"days": ["someday"]}}], "window days must be"),
        (
            [{**DRAIN, "when": "duration_in_seconds < '9'"}],
            "when at character 1 compares duration_in_seconds, a number, with a text; compare with a number in backt",
        ),
        ([{**DRAIN, "when": "event_type == 'Reboot' && '9' == duration_in_seconds"}], "at character 34 compares duration_in_seconds"),
        (
            [{**DRAIN, "window": {"from": 22, "to": 4}}],
            "window from must be a time in quotes, such as '22:00'; without them YAML makes a number of it, here 22",
        ),
        ([{**DRAIN, "window": {"to": 0o500}}], "window to must be a time in quotes, such as '22:00'; without them YAML makes a number of it, here 320"),
        ([{**DRAIN, "window": {"from": True}}], "window from must be a time in quotes"),
        ([{**DRAIN, "window": {"from": "25:00"}}], "window from must be"),
        ([{**DRAIN, "window": {"from": "1:00", "to": "1:00"}}], "same time"),
        ([{**DRAIN, "window": {"at": 1}}], "unknown keys at"),
        ([{**DRAIN, "window": []}], "window must be"),
        ([{**DRAIN, "unreachable": "ignore"}], "unreachable must be one of"),
        ([{**DRAIN, "hold_at_deadline": "x"}], "hold_at_deadline must be one of"),
    ],
    ids=str,
)
def test_errors_name_rule_and_position(policy: Any, message: str) -> None:
    with pytest.raises(WrongInput) as caught:
        load(policy)
    assert message in str(caught.value)


def test_text_from_templates_is_understood() -> None:
    assert decide([{"drain": "false", "approve": "now"}]) == ("rule 1", False, "now")
    assert load([{**DRAIN, "drain_at": "900"}]).rules[0].decision.drain_at == 900.0


def test_conditions_may_look_into_the_event_as_received() -> None:
    policy = [{"when": "raw.Fresh[0].level == 'high'", "drain": False, "approve": "never"}, DRAIN]
    assert decide(policy, raw={"Fresh": [{"level": "high"}]})[2] == "never"
    assert decide(policy, raw=None)[2] == "after_drain"
    assert decide([{**DRAIN, "when": "contains(resources, 'vm1')", "name": "n"}, DRAIN])[0] == "n"
    assert decide([{**DRAIN, "when": "resources[?starts_with(@, 'vm')]", "name": "n"}, DRAIN])[0] == "n"
    assert decide([{**DRAIN, "when": "length(resources)", "name": "n"}, DRAIN])[0] == "n"


def test_an_event_without_a_rule_needs_an_operator() -> None:
    found = load([{**DRAIN, "when": "event_type == 'Freeze'"}]).decide(event())
    assert (found.drain, found.approve) == (True, "never")
    assert found.problem


def test_the_strictest_wins() -> None:
    now, after, never, let = Decision("a", False, "now"), Decision("b", True, "after_drain"), Decision("c", True, "never"), Decision("d", False, "never")
    assert strictest([now, after]) is after
    assert strictest([never, after, now]) is never
    assert strictest([now, let]) is let
    # Each is the strictest in one way: a rule that drains does not weaken one that never approves.
    both = strictest([let, after])
    assert (both.drain, both.approve) == (True, "never")
    loose = Decision("e", True, "after_drain", unreachable="drained")
    assert strictest([loose, now]).unreachable == "wait"


@pytest.mark.parametrize(
    ("given", "time", "inside"),
    [
        ({"days": ["sat", "Sunday"]}, "2026-11-21T00:00:00Z", True),
        ({"days": ["sat", "sun"]}, "2026-11-20T23:59:59Z", False),
        ({"days": ["sat"], "from": "22:00", "to": "04:00"}, "2026-11-21T21:59:00Z", False),
        ({"days": ["sat"], "from": "22:00", "to": "04:00"}, "2026-11-21T22:00:00Z", True),
        ({"days": ["sat"], "from": "22:00", "to": "04:00"}, "2026-11-22T03:59:00Z", True),
        ({"days": ["sat"], "from": "22:00", "to": "04:00"}, "2026-11-22T04:00:00Z", False),
        ({"days": ["sat"], "from": "22:00", "to": "04:00"}, "2026-11-21T03:00:00Z", False),
        ({"from": "22:00", "to": "24:00"}, "2026-11-21T22:30:00Z", True),
    ],
)
def test_windows(given: dict[str, Any], time: str, inside: bool) -> None:
    (one,) = windows.load_windows(given)
    assert one.contains(timestamps.parse(time) or 0.0) is inside


@pytest.mark.parametrize(
    ("window", "closed"),
    [
        ({"days": ["sat"], "from": "22:00", "to": "04:00"}, False),
        ({"only_dates": ["2026-11-20"]}, True),
        ({"only_dates": ["2026-11-23"], "days": ["sat"]}, True),
        ([{"only_dates": ["2026-11-20"]}, {"only_dates": ["2027-01-01"]}], False),
        ({"days": ["sun"], "nth": [5]}, False),
    ],
    ids=str,
)
def test_a_window_that_has_closed_for_good_is_named(window: Any, closed: bool) -> None:
    found = load([{**DRAIN, "name": "late"}, {**DRAIN, "name": "mine", "window": window}]).closed_for_good(timestamps.parse("2026-11-21T22:30:00Z") or 0.0)
    assert found == ["respond_policy: the window of 'mine' does not open in the next 400 days; correct its days and dates, or remove it"] * closed


@pytest.mark.parametrize(
    ("when", "remarks"),
    [
        ("event_type == 'Reboot' || event_type != 'Live migration' || event_id == 'reboot'", []),
        ("raw.List[?event_type == 'reboot' && duration_in_seconds < '9']", []),
        ("'reboot' == event_type", ["'reboot'; Azure writes 'Reboot'"]),
        (
            "event_status == 'STARTED' && (event_source != 'user' || resources[?@ == 'Freeze'])",
            ["'STARTED'; Azure writes 'Started'", "'user'; Azure writes 'User'"],
        ),
    ],
    ids=str,
)
def test_a_word_that_differs_from_azures_by_case_is_named(when: str, remarks: list[str]) -> None:
    assert [text.partition(" is never ")[2] for text in load([{**DRAIN, "when": when}]).remarks] == remarks
