# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Surveys: the question for each type of option, and options that no question can ask for."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._awx.surveys import survey
from ansible_collections.maintenance.azure.plugins.plugin_utils._core.wrong_input import WrongInput


def question(specification: dict[str, t.Any], asking: t.Any = "x_thing", defaults: t.Any = None) -> dict[str, t.Any]:
    found = survey({"argument_specs": {"main": {"options": {"x_thing": specification}}}}, [asking], defaults)
    assert set(found) == {"name", "description", "spec"} and len(found["spec"]) == 1
    return dict(found["spec"][0])


@pytest.mark.parametrize(
    ("specification", "expected"),
    [
        ({"type": "str"}, {"type": "text", "min": 0, "max": 1024}),
        ({}, {"type": "text", "min": 0, "max": 1024}),
        ({"type": "str", "default": "here"}, {"type": "text", "default": "here", "min": 0, "max": 1024}),
        ({"type": "path", "required": True}, {"type": "text", "required": True, "min": 1, "max": 1024}),
        ({"type": "str", "choices": ["a", "b"], "default": "b"}, {"type": "multiplechoice", "choices": ["a", "b"], "default": "b"}),
        ({"type": "list", "choices": ["a", "b", "c"], "default": ["a", "c"]}, {"type": "multiselect", "choices": ["a", "b", "c"], "default": "a\nc"}),
        ({"type": "list", "elements": "str", "default": ["a", "c"]}, {"type": "text", "default": "a,c", "min": 0, "max": 1024}),
        ({"type": "dict", "default": {"b": [1], "a": 2}}, {"type": "textarea", "default": '{"a": 2, "b": [1]}', "min": 0, "max": 1024}),
        ({"type": "int", "default": 5}, {"type": "integer", "default": 5}),
        ({"type": "int", "choices": [1, 2], "default": 2}, {"type": "multiplechoice", "choices": ["1", "2"], "default": "2"}),
        ({"type": "float", "default": 0.5}, {"type": "float", "default": 0.5}),
        ({"type": "bool", "default": False}, {"type": "multiplechoice", "choices": ["true", "false"], "default": "false"}),
        ({"type": "bool", "default": True}, {"type": "multiplechoice", "choices": ["true", "false"], "default": "true"}),
        ({"type": "str", "no_log": True}, {"type": "password", "min": 0, "max": 1024}),
    ],
)
def test_types(specification: dict[str, t.Any], expected: dict[str, t.Any]) -> None:
    found = question(specification)
    assert found.pop("question_name") == "Thing"
    assert found.pop("variable") == "x_thing"
    found.pop("question_description")
    assert found == {"required": False, **expected}


@pytest.mark.parametrize("nothing", ["", [], {}, None])
def test_an_empty_default_is_none_at_all(nothing: t.Any) -> None:
    """AWX would send an empty default, and it would override the inventory."""
    kind = {"list": "list", "dict": "dict"}.get(type(nothing).__name__, "str")
    assert "default" not in question({"type": kind, "default": nothing})


def test_bounds_come_with_the_question() -> None:
    found = question({"type": "int", "default": 60}, {"name": "x_thing", "label": "How long", "min": 0, "max": 100})
    assert (found["question_name"], found["min"], found["max"]) == ("How long", 0, 100)


def test_defaults_of_the_role_count_where_the_specification_has_none() -> None:
    assert question({"type": "int"}, defaults={"x_thing": 7})["default"] == 7
    assert question({"type": "int", "default": 8}, defaults={"x_thing": 7})["default"] == 8
    assert "default" not in question({"type": "str"}, defaults={"x_thing": "{{ somebody }}"})


def test_the_description_has_no_markup() -> None:
    described = ["With V(true), see P(maintenance.azure.plan#filter) and O(maintenance.azure.drain#role:main:drain_methods).", "As C(code)."]
    assert question({"type": "bool", "description": described})["question_description"] == ("With true, see maintenance.azure.plan and drain_methods. As code.")
    assert question({"type": "list", "description": "Which."})["question_description"] == "Which. Several, separated by commas."


@pytest.mark.parametrize(
    ("specification", "asking", "message"),
    [
        ({"type": "raw"}, "x_thing", "of type raw"),
        ({"type": "str"}, "x_other", "x_other is no option; there are x_thing"),
        ({"type": "str"}, {"name": "x_thing", "maximum": 3}, "name, label, min, max"),
        ({"type": "str"}, 3, "a question is an option's name"),
        ({"type": "bool"}, {"name": "x_thing", "min": 1}, "neither min nor max"),
        ({"type": "int", "default": 5}, {"name": "x_thing", "min": 6}, "default 5 is no answer"),
        ({"type": "str", "choices": ["a"], "default": "b"}, "x_thing", "default 'b' is no answer"),
        ({"type": "str", "no_log": True, "default": "b"}, "x_thing", "a secret and has a default"),
    ],
)
def test_questions_that_are_refused(specification: dict[str, t.Any], asking: t.Any, message: str) -> None:
    with pytest.raises(WrongInput, match=message):
        question(specification, asking)


def test_several_entry_points() -> None:
    specs = {"main": {"options": {"a_one": {}}}, "more": {"options": {"a_two": {}}}}
    assert [each["variable"] for each in survey(specs, ["a_two", "a_one"], {}, ["more", "main"])["spec"]] == ["a_two", "a_one"]
    with pytest.raises(WrongInput, match="no entry point 'less', it has main, more"):
        survey(specs, [], {}, "less")
    with pytest.raises(WrongInput, match="asked twice: a_one"):
        survey(specs, ["a_one", "a_one"], {})


UPGRADE = {"main": {"options": {"upgrade_tasks": {"type": "str"}, "upgrade_check_tasks": {"type": "str"}, "upgrade_tasks_folders": {"type": "list"}}}}
FILES = {name: {"type": "str"} for name in ("respond_notify_tasks", "status_file", "drain_methods_path")}
RESPOND = {"main": {"options": {**FILES, "respond_format": {"type": "str", "choices": ["text"]}}}}


@pytest.mark.parametrize(
    ("specs", "asking", "extra_vars", "words"),
    [
        (UPGRADE, "upgrade_tasks", {}, r"upgrade_tasks names a file: give the question its choices, or the template the folders in extra_vars \(upgrade_t"),
        (UPGRADE, "upgrade_check_tasks", {"upgrade_tasks_folders": []}, "upgrade_check_tasks names a file"),
        (UPGRADE, "upgrade_tasks_folders", {"upgrade_tasks_folders": ["/a"]}, "upgrade_tasks_folders bounds what a survey may ask for"),
        (RESPOND, "respond_notify_tasks", {"respond_tasks_folders": ["/a"]}, "respond_notify_tasks names a file: give the question its choices$"),
        (RESPOND, "status_file", {}, "status_file names a file: give the question its choices$"),
        (RESPOND, "drain_methods_path", {}, "drain_methods_path names a file: give the question its choices$"),
        (RESPOND, {"name": "respond_format", "choices": ["a"]}, {}, "respond_format: choices are a list for an option that is a text and has none"),
        (RESPOND, {"name": "respond_notify_tasks", "choices": []}, {}, "respond_notify_tasks: choices are a list"),
    ],
)
def test_no_question_asks_for_any_file(specs: dict[str, t.Any], asking: t.Any, extra_vars: dict[str, t.Any], words: str) -> None:
    with pytest.raises(WrongInput, match=words):
        survey(specs, [asking], {}, extra_vars=extra_vars)


def test_a_file_is_chosen_from_a_list_or_lies_in_a_folder() -> None:
    (chosen,) = survey(UPGRADE, [{"name": "upgrade_tasks", "choices": ["a.yml", "b.yml"]}], {})["spec"]
    assert (chosen["type"], chosen["choices"]) == ("multiplechoice", ["a.yml", "b.yml"])
    (typed,) = survey(UPGRADE, ["upgrade_tasks"], {}, extra_vars={"upgrade_tasks_folders": ["/runner/project"]})["spec"]
    assert typed["type"] == "text"
