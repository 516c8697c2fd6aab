# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The compiled policy: what only JMESPath can check is refused by name, and all else decides as the policy itself does."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as some

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.drain.rules import first_match, parse_rules
from ansible_collections.maintenance.azure.plugins.plugin_utils._core.wrong_input import WrongInput
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config.policy import NAMED, load
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core import expression
from ansible_collections.maintenance.azure.plugins.plugin_utils._watcher import conditions
from ansible_collections.maintenance.azure.plugins.plugin_utils._watcher.drain_content import compile_rules

REST = {"name": "rest", "drain": True, "approve": "after_drain"}
INSTEAD = (
    "use event_type, event_source, event_status, duration_in_seconds and short_pause_hurts "
    "with ==, !=, <, <=, >, >=, &&, ||, ! and contains, or set watch_drain: []. It is: {}"
)


def when(source: str, **more: Any) -> dict[str, Any]:
    return {"name": "mine", "when": source, "drain": False, "approve": "never", **more}


def alternatives(*sides: str) -> str:
    return " || ".join(f"event_type == '{side}'" for side in sides)


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("starts_with(event_type || '', 'Re')", "it calls starts_with()"),
        ("length(resources) > `1`", "it calls length()"),
        ("event_type", "event_type stands without a comparison"),
        ("event_type == 'Freeze' && affects_this_vm", "affects_this_vm stands without a comparison"),
        ("resource_type == 'VirtualMachine'", "it uses resource_type"),
        ("raw.EventType == 'Freeze'", "it compares what is no field of an event"),
        ("'a' == 'a'", "it compares what is no field of an event"),
        ("event_type == event_source", "it compares event_type with another field"),
        ("event_type == raw.EventType", "it compares event_type with what is no literal"),
        ('event_type == `["Freeze"]`', "it compares event_type with a list or a dictionary"),
        ("event_type == 'a\tb'", "it compares event_type with a text that is not printable, or longer than 4096 letters"),
        (f"event_type == '{'a' * 4097}'", "it compares event_type with a text that is not printable, or longer than 4096 letters"),
        (f"duration_in_seconds < `1{'0' * 40}`", "it compares duration_in_seconds with a number of more than 40 digits"),
        ("duration_in_seconds < `1e999`", "it compares duration_in_seconds with a number of more than 40 digits"),
        ("event_type == 'Reboot' && event_type < `5`", "it compares event_type by < with a number"),
        ("`true`", "it has a value without a comparison"),
        ("event_type == 'a' | @", "it has a part of kind pipe"),
        ("resources[0]", "it has a part of kind index_expression"),
        ("contains(resources, 'vm1')", "contains() does not have a list of texts and then a field"),
        ("contains('Reboot', event_type)", "contains() does not have a list of texts and then a field"),
        ("contains(`[1]`, duration_in_seconds)", "contains() does not have a list of texts and then a field"),
        ("contains(['a', event_source], event_type)", "contains() does not have a list of texts and then a field"),
        ("event_type == 'Reboot' && contains(`[]`)", "contains() does not have a list of texts and then a field"),
        ('contains(`["a"]`, description)', "it uses description"),
        (alternatives(*map(str, range(65))), "it has more than 64 alternatives"),
        (" && ".join(["(event_type == 'a' || event_type == 'b')"] * 7), "it has more than 64 alternatives"),
        (f"!({alternatives(*map(str, range(65)))})", "it has more than 64 comparisons that must all be true"),
        (f"!contains(`{json.dumps(list(map(str, range(65))))}`, event_type)", "it has more than 64 comparisons that must all be true"),
        (f"contains(`{json.dumps(list(map(str, range(65))))}`, event_type)", "it has more than 64 alternatives"),
    ],
    ids=lambda value: value[:60],
)
def test_a_condition_that_only_jmespath_can_check_is_refused_by_its_place(source: str, why: str) -> None:
    with pytest.raises(WrongInput) as caught:
        compile_rules([when("event_type == 'Freeze'"), when(source), REST])
    assert str(caught.value) == f"rule 2 of the policy ('mine'): when cannot be checked by the watcher, because {why}: {INSTEAD.format(source)}"


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ("none", "there is no policy named 'none'"),
        ([{**REST, "window": {"timezone": "UTC"}}], "rule 1 of the policy ('rest'): window has unknown keys timezone (did you mean time_zone?)"),
        ([when("event_typ == 'Freeze'")], "rule 1 of the policy ('mine'): when at character 1 names 'event_typ'"),
        ([when("event_type == 'a'")] * 65, "the policy has more than 64 rules, which are too many for the watcher: use fewer, or set watch_drain: []"),
        ([{"when": "length(@) > `0`", "drain": True, "approve": "never"}], "rule 1 of the policy: when cannot be checked"),
    ],
)
def test_a_policy_that_is_wrong_is_refused(policy: Any, words: str) -> None:
    with pytest.raises(WrongInput) as caught:
        compile_rules(policy)
    assert str(caught.value).startswith(words)


def test_rules_after_one_for_every_event_are_left_out() -> None:
    rows = compile_rules([when("event_type == 'Freeze'"), {**REST, "drain_at": 900}, when("length(@) > `0`")])
    freeze = {"field": "event_type", "is": "==", "value": "Freeze", "negated": False}
    assert rows == [
        {"name": "mine", "drain": False, "approve": "never", "when": [[freeze]], "late": False},
        {"name": "rest", "drain": True, "approve": "after_drain", "when": None, "late": True},
    ]
    assert [row["late"] for row in compile_rules([{**when("event_type == 'a'"), "drain_at": "now"}, {**REST, "drain_at": 0}])] == [False, True]
    assert [row["late"] for row in compile_rules([{**REST, "hold_at_deadline": "let_it_come"}])] == [True]


def test_a_vm_approves_nothing_that_has_a_window() -> None:
    rule = {"name": "mine", "drain": False, "approve": "now", "window": {"days": ["sat"], "time_zone": "Europe/Berlin"}}
    assert [row["approve"] for row in compile_rules([{**rule, "when": "event_type == 'Freeze'"}, rule])] == ["never", "never"]
    del rule["window"]
    assert [row["approve"] for row in compile_rules([rule])] == ["now"]
    # It drains at the deadline whatever a window says, as a run does.
    kept = compile_rules([{**REST, "window": {"days": ["sat"]}}])
    assert [(row["drain"], row["approve"], row["late"]) for row in kept] == [(True, "after_drain", False)]


def test_named_policies_compile_without_jmespath(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expression, "HAS_JMESPATH", False)
    assert [row["name"] for row in compile_rules("default")] == ["short pause that hurts", "short pause", "everything else"]
    assert [row["name"] for row in compile_rules("documentation")] == ["already running", "asked for by user", "short pause", "everything else"]
    assert compile_rules(None) == compile_rules(NAMED["default"]) == compile_rules("default")


def test_their_compiled_conditions_are_those_that_the_compiler_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = conditions.BUILT_IN
    monkeypatch.setattr(conditions, "BUILT_IN", {})
    assert {source: conditions.compile_condition(expression.Expression(source)) for source in kept} == {source: [list(every)] for source, every in kept.items()}


def test_whether_a_short_pause_hurts_is_known_before_any_event() -> None:
    pause = {"event_type": "Freeze", "duration_in_seconds": 5}
    for hurts, name in ((True, "short pause that hurts"), (False, "short pause")):
        rules = parse_rules(json.loads(json.dumps(compile_rules("default", hurts))))
        assert first_match(rules, {**pause, "short_pause_hurts": not hurts}).name == name
    for condition, matches in (("short_pause_hurts == `true`", True), ("short_pause_hurts == `false`", False), ("short_pause_hurts != `true`", False)):
        (row,) = compile_rules([{**REST, "when": condition}], True)
        assert (row["when"] is None) is matches
        assert (first_match(parse_rules([row]), pause) is not None) is matches


TEXTS = ("Freeze", "Reboot", "User", "Übung", "", "5")
NUMBERS = (-1, 0, 1, 5, 8.9, 9, 9.0)
CONSTANTS = (None, True, False)
TEXT_FIELDS = some.sampled_from(["event_type", "event_source", "event_status"])
SIDES = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
LITERAL = "`{}`"


def literal(value: Any) -> str:
    return f"'{value}'" if isinstance(value, str) else LITERAL.format(json.dumps(value))


@some.composite
def comparisons(draw: some.DrawFn) -> str:
    number = draw(some.booleans())
    field = "duration_in_seconds" if number else draw(TEXT_FIELDS)
    sign = draw(some.sampled_from([*SIDES]))
    kinds = NUMBERS if number else (*TEXTS, *NUMBERS) if sign in ("==", "!=") else TEXTS
    value = literal(draw(some.sampled_from([*kinds, *CONSTANTS])))
    return f"{field} {sign} {value}" if draw(some.booleans()) else f"{value} {SIDES[sign]} {field}"


@some.composite
def memberships(draw: some.DrawFn) -> str:
    values = draw(some.lists(some.sampled_from(TEXTS), max_size=3))
    as_list = LITERAL.format(json.dumps(values)) if not values or draw(some.booleans()) else f"[{', '.join(map(literal, values))}]"
    return f"contains({as_list}, {draw(some.one_of(TEXT_FIELDS, some.just('duration_in_seconds')))})"


def larger(parts: some.SearchStrategy[str]) -> some.SearchStrategy[str]:
    joined = some.builds("{} {} {}".format, parts, some.sampled_from(["&&", "||"]), parts)
    return some.one_of(joined, some.builds("({})".format, joined), some.builds("!({})".format, parts), some.builds("!{}".format, memberships()))


CONDITIONS = some.recursive(some.one_of(comparisons(), memberships()), larger, max_leaves=8)
ODD = [[], ["Freeze"], {}, {"a": 1}, *CONSTANTS]
ANY_VALUE = some.one_of(some.sampled_from([*TEXTS, *NUMBERS, *ODD]), some.text(max_size=3), some.floats(), some.integers())
EVENTS = some.fixed_dictionaries(
    {},
    optional={
        **{key: some.sampled_from([*TEXTS, *ODD]) for key in ("event_type", "event_source", "event_status")},
        "duration_in_seconds": some.one_of(some.sampled_from([*NUMBERS, *ODD]), some.floats(), some.integers()),
    },
)
ANY_EVENTS = some.dictionaries(some.sampled_from(["event_type", "event_source", "event_status", "duration_in_seconds", "raw"]), ANY_VALUE)
FAILED = ("mine", True, "never")


def decisions(source: str, event: dict[str, Any]) -> tuple[tuple[str, bool, str], tuple[str, bool, str]]:
    """Return what the policy decides on the controller and on the VM."""
    policy = load([when(source, approve="now"), REST])
    try:
        rows = compile_rules(policy)
    except WrongInput as error:
        assume("more than 64" not in str(error))
        raise
    on_controller, on_vm = policy.decide(event), first_match(parse_rules(json.loads(json.dumps(rows))), event)
    assert on_vm is not None
    return (on_controller.name, on_controller.drain, on_controller.approve), (on_vm.name, on_vm.drain, on_vm.approve)


@settings(max_examples=400, deadline=None)
@given(CONDITIONS, EVENTS)
def test_a_vm_decides_as_the_policy_does(source: str, event: dict[str, Any]) -> None:
    on_controller, on_vm = decisions(source, event)
    assert on_vm == on_controller
    condition = expression.Expression(source)
    assert any(all(one.matches(event) for one in every) for every in conditions.compile_condition(condition)) is condition.matches(event)


@settings(max_examples=400, deadline=None)
@given(CONDITIONS, ANY_EVENTS)
@example("'Freeze' > event_source && contains(`[]`, event_type)", {"event_source": -1})
def test_a_vm_fails_where_the_policy_fails_on_values_that_no_document_has(source: str, event: dict[str, Any]) -> None:
    on_controller, on_vm = decisions(source, event)
    assert on_vm in (on_controller, FAILED)
