# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rules on a VM: what is wrong with them is named, and the first that matches is found."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.drain.rules import Rule, RuleError, first_match, parse_rules

FREEZE = {"field": "event_type", "is": "==", "value": "Freeze", "negated": False}
REST = {"name": "rest", "drain": True, "approve": "after_drain", "when": None}


def rule(*alternatives: t.Any, **values: t.Any) -> dict[str, t.Any]:
    return {"name": "n", "drain": False, "approve": "now", "when": [list(every) for every in alternatives], "late": False, **values}


def compare(field: str, sign: str, value: t.Any, negated: bool = False) -> dict[str, t.Any]:
    return {"field": field, "is": sign, "value": value, "negated": negated}


def without(key: str, given: dict[str, t.Any]) -> dict[str, t.Any]:
    return {name: value for name, value in given.items() if name != key}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (None, "the rules must be a list, not None"),
        ({"rules": []}, "the rules must be a list, not {'rules': []}"),
        ([], "the rules must have at least one entry"),
        ([REST] * 65, "the rules must have at most 64 entries, not 65"),
        ([REST, "x"], "rule 2 must be a dictionary, not 'x'"),
        ([without("when", REST)], "rule 1: when is missing"),
        ([{**REST, "window": 1}], "rule 1: there is no key 'window'"),
        ([{**REST, 7: 1}], "rule 1: there is no key 7"),
        ([{**REST, "name": ""}], "rule 1: name must be a text that is not empty, not ''"),
        ([{**REST, "name": 7}], "rule 1: name must be"),
        ([{**REST, "drain": "yes"}], "rule 1: drain must be true or false, not 'yes'"),
        ([{**REST, "late": 1}], "rule 1: late must be true or false, not 1"),
        ([{**REST, "approve": "later"}], "rule 1: approve must be one of never, after_drain, now, not 'later'"),
        ([{**REST, "approve": ["now"]}], "rule 1: approve must be one of"),
        ([{**REST, "when": "event_type == 'Freeze'"}], "rule 1: when must be a list, not"),
        ([rule(*[[FREEZE]] * 65)], "rule 1: when must have at most 64 entries, not 65"),
        ([rule([FREEZE] * 65)], "rule 1, alternative 1 must have at most 64 entries, not 65"),
        ([{**REST, "when": [FREEZE]}], "rule 1, alternative 1 must be a list, not"),
        ([rule([FREEZE], ["x"])], "rule 1, alternative 2, comparison 1 must be a dictionary, not 'x'"),
        ([rule([without("negated", FREEZE)])], "rule 1, alternative 1, comparison 1: negated is missing"),
        ([rule([{**FREEZE, "or": 1}])], "rule 1, alternative 1, comparison 1: there is no key 'or'"),
        (
            [rule([{**FREEZE, "field": "resources"}])],
            "comparison 1: field must be one of event_type, event_source, event_status, duration_in_seconds, not 'resources'",
        ),
        ([rule([{**FREEZE, "field": []}])], "comparison 1: field must be one of"),
        ([rule([FREEZE, {**FREEZE, "is": "="}])], "comparison 2: is must be one of ==, !=, <, <=, >, >=, not '='"),
        ([rule([{**FREEZE, "value": ["Freeze"]}])], "comparison 1: value must be null, true, false, a number or a text, not ['Freeze']"),
        ([rule([{**FREEZE, "negated": None}])], "comparison 1: negated must be true or false, not None"),
    ],
    ids=str,
)
def test_what_is_wrong_is_named_with_its_place(data: t.Any, words: str) -> None:
    with pytest.raises(RuleError) as caught:
        parse_rules(data)
    assert words in str(caught.value) and len(str(caught.value)) < 250


def test_a_rule_that_fails_on_an_event_drains_and_never_approves() -> None:
    rules = parse_rules([rule([FREEZE]), rule([compare("duration_in_seconds", "<", 9)], late=True), REST])
    assert first_match(rules, {"duration_in_seconds": "5"}) == rules[1]._replace(drain=True, approve="never", late=False)
    assert first_match(rules, {"event_type": "Freeze", "duration_in_seconds": "5"}) == rules[0]


def test_without_a_rule_that_matches_there_is_none() -> None:
    assert first_match(parse_rules([rule([FREEZE]), rule()]), {"event_type": "Preempt"}) is None


def test_the_first_rule_that_matches_is_found() -> None:
    rules = parse_rules([rule([FREEZE, compare("duration_in_seconds", "<", 9)], [compare("event_source", "==", "User")]), {**REST, "late": True}])
    assert first_match(rules, {"event_type": "Freeze", "duration_in_seconds": 5}) == rules[0]
    assert first_match(rules, {"event_type": "Preempt", "event_source": "User"}) == rules[0]
    assert first_match(rules, {"event_type": "Freeze", "duration_in_seconds": 9}) == Rule("rest", True, "after_drain", None, True)


@pytest.mark.parametrize(
    ("value", "sign", "other", "matches"),
    [
        (None, "<", 9, False),
        (True, "<", 9, False),
        ([1], "<", 9, False),
        (5, "<", None, False),
        (5, "<", True, False),
        (5, "<", 9, True),
        (8.9, "<", 9, True),
        (9, ">=", 9.0, True),
        (-1, ">", 0, False),
        (1, "==", True, False),
        (True, "==", 1, False),
        (0, "==", False, False),
        (0, "!=", False, True),
        (True, "==", True, True),
        (1, "==", 1.0, True),
        (None, "==", None, True),
        (None, "!=", 0, True),
        ({}, "==", None, False),
        ("5", "==", 5, False),
    ],
    ids=str,
)
def test_values_are_compared_as_jmespath_does(value: t.Any, sign: str, other: t.Any, matches: bool) -> None:
    for negated in (False, True):
        (one,) = parse_rules([rule([compare("duration_in_seconds", sign, other, negated)])])
        assert one.matches({"duration_in_seconds": value}) is (matches is not negated)
        if value is None:
            assert one.matches({}) is (matches is not negated)
