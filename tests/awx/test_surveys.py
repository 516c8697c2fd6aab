# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Issue 7, show 2: every question of every survey is an option of a role, of the same type, with the same default and choices.

What counts as the same is written here once more, and does not come from the code that makes surveys. The types are asked of Ansible itself: what AWX
sends for an answer goes through the validation that a role's options go through.
"""

from __future__ import annotations

import copy
import json
import re
import typing as t

import pytest
import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ansible_collections.maintenance.azure.tests.awx.conftest import ROOT, Awx

TYPES = {"text": ("str", "path", "list"), "textarea": ("dict",), "integer": ("int",), "float": ("float",), "password": ("str",)}
SAMPLES: dict[str, list[t.Any]] = {
    "str": ["text", "a, b", "true", "5"],
    "path": ["/some/where"],
    "int": [0, 5],
    "float": [0.5, 3],
    "bool": [True, False],
    "list": [["a"], ["a", "b"]],
    "dict": [{"a": {"b": [1, "c"]}}],
}
KEYS = {"question_name", "question_description", "variable", "required", "type", "default", "choices", "min", "max"}


def options_of(survey: dict[str, t.Any]) -> dict[str, dict[str, t.Any]]:
    specs = yaml.safe_load((ROOT / "roles" / survey["role"] / "meta" / "argument_specs.yml").read_text())["argument_specs"]
    entries = survey.get("entry_points", "main")
    return {name: option for entry in ([entries] if isinstance(entries, str) else entries) for name, option in specs[entry]["options"].items()}


def as_awx_sends(question: dict[str, t.Any], value: t.Any) -> t.Any:
    """awx/main/models/mixins.py: texts and choices are texts, several choices a list, numbers are numbers."""
    if question["type"] in ("integer", "float"):
        return value
    if question["type"] == "multiselect":
        return [str(each) for each in value]
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return json.dumps(value)
    return ",".join(value) if isinstance(value, list) else str(value)


def taken(name: str, option: dict[str, t.Any], sent: t.Any) -> t.Any:
    """As the role's validation takes it. A default of the specification must not help."""
    known = {key: value for key, value in option.items() if key in ("type", "choices", "elements")}
    result = ArgumentSpecValidator({name: known}).validate({name: sent})
    return ("refused", result.error_messages) if result.error_messages else result.validated_parameters[name]


def problems(survey: dict[str, t.Any], options: dict[str, dict[str, t.Any]]) -> list[str]:
    """What is not the same."""
    found = []
    for question in survey["spec"]:
        name = question["variable"]
        if name not in options:
            found.append(f"{name} is no option")
            continue
        option, kind = options[name], options[name].get("type", "str")
        chosen = ["true", "false"] if kind == "bool" else [str(choice) for choice in option.get("choices", [])]
        fits = {"multiselect"} if chosen and kind == "list" else {"multiplechoice"} if chosen else {one for one, kinds in TYPES.items() if kind in kinds}
        if question["type"] not in fits or set(question) - KEYS:
            found.append(f"{name} of type {kind} is asked as {question}")
        if question.get("choices", []) != chosen:
            found.append(f"{name}: choices {question.get('choices')}")
        if question["required"] != option.get("required", False):
            found.append(f"{name}: required {question['required']}")
        default = None if option.get("default") in ("", [], {}) else option.get("default")
        if default is None and "default" in question:
            found.append(f"{name}: default {question['default']!r} and none in the role")
        if default is not None and ("default" not in question or taken(name, option, question["default"]) != default):
            found.append(f"{name}: default {question.get('default')!r} instead of {default!r}")
        samples = option["choices"] if option.get("choices") and kind != "list" else [option["choices"]] if option.get("choices") else SAMPLES[kind]
        found += [f"{name}: {value!r} arrives otherwise" for value in samples if taken(name, option, as_awx_sends(question, value)) != value]
    return found


def surveyed(default: dict[str, t.Any]) -> list[tuple[dict[str, t.Any], dict[str, dict[str, t.Any]]]]:
    asked = {template["name"]: template["survey"] for template in default["templates"] if template.get("survey")}
    templates = [one for one in default["objects"] if one["kind"] == "job_template" and one["name"] in asked]
    return [(one["arguments"]["survey_spec"], options_of(asked[one["name"]])) for one in templates]


def test_every_question_is_an_option_of_a_role(default: dict[str, t.Any]) -> None:
    surveys = surveyed(default)
    assert len(surveys) == 7 and sum(len(survey["spec"]) for survey, _options in surveys) >= 20
    for survey, options in surveys:
        assert problems(survey, options) == []


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("variable", "respond_whatever"),
        ("type", "text"),
        ("type", "integer"),
        ("default", "true"),
        ("default", None),
        ("choices", ["true", "false", "perhaps"]),
        ("choices", ["yes", "no"]),
        ("required", True),
    ],
)
def test_a_survey_that_has_drifted_is_seen(default: dict[str, t.Any], key: str, value: t.Any) -> None:
    survey, options = next((survey, options) for survey, options in surveyed(default) if survey["spec"][0]["variable"] == "respond_wait")
    changed = copy.deepcopy(survey)
    changed["spec"][0][key] = value
    if value is None:
        del changed["spec"][0][key]
    assert problems(changed, options)


@pytest.mark.parametrize(("key", "value"), [("type", "str"), ("default", True), ("required", True)])
def test_a_role_that_has_drifted_is_seen(default: dict[str, t.Any], key: str, value: t.Any) -> None:
    survey, options = next((survey, options) for survey, options in surveyed(default) if survey["spec"][0]["variable"] == "respond_wait")
    assert problems(survey, {**options, "respond_wait": {**options["respond_wait"], key: value}})


def test_what_a_schedule_starts_needs_no_answer(default: dict[str, t.Any]) -> None:
    """Nobody is there to give one. The nodes of the workflow are the same."""
    surveys = {one["name"]: one["arguments"].get("survey_spec") for one in default["objects"] if one["kind"] == "job_template"}
    started = {one["arguments"]["unified_job_template"] for one in default["objects"] if one["kind"] == "schedule"}
    for workflow in (one for one in default["objects"] if one["kind"] == "workflow_job_template"):
        started |= {node["unified_job_template"]["name"] for node in workflow["arguments"]["workflow_nodes"]}
    assert len(started) >= 3
    for name in started:
        assert [question for question in surveys[name].get("spec", []) if question["required"]] == [], name


# Options without choices that are asked as text and are none. What shows that they are read: test_respond_takes_a_list_as_text and
# tests/playbooks/test_respond_event.py.
READ_AS_TEXT = {"respond_only_events", "respond_only_vms", "respond_retired"}


TAKEN_BY_A_MODULE = {"status_all_events"}


def test_roles_read_what_arrives_as_text(default: dict[str, t.Any]) -> None:
    """Validation converts only for itself: the role gets the text "true", and has to make a boolean of it wherever it asks."""
    asked = {question["variable"]: options[question["variable"]] for survey, options in surveyed(default) for question in survey["spec"]}
    assert {name for name, option in asked.items() if option.get("type") in ("list", "dict") and not option.get("choices")} == READ_AS_TEXT
    switches = [name for name, option in asked.items() if option.get("type") == "bool"]
    paths = [path for folder in ("roles", "playbooks") for path in sorted((ROOT / folder).rglob("*.yml"))]
    code = [path.read_text() for path in paths if path.parent.name not in ("meta", "defaults")]
    # An option of a module, which takes the text for a boolean, and refuses what is none.
    assert set(switches) >= TAKEN_BY_A_MODULE
    for name in set(switches) - TAKEN_BY_A_MODULE:
        used = [line for text in code for line in text.splitlines() for _each in re.findall(rf"\b{name}\b(?!:)", line) if not line.lstrip().startswith("#")]
        assert used and all(re.search(rf"\b{name}\b( \| default\(\w+\))? \| bool", line) for line in used if "questions:" not in line), (name, used)


# What AWX sends for the question, and what the role takes it for.
ANSWERS = {"A1, b2 ,": ["A1", "b2"], "": [], "A1": ["A1"]}
TAKEN = """
- hosts: localhost
  connection: local
  gather_facts: false
  vars: {respond_only_events: ANSWER}
  tasks:
    - ansible.builtin.include_role:
        name: maintenance.azure.respond
        tasks_from: nothing.yml
        public: true
        rolespec_validate: false
    - ansible.builtin.assert:
        that:
          - __respond_given.only_events == EXPECTED
          - (respond_wait | bool) == true
"""


def test_respond_takes_a_list_as_text(awx: Awx) -> None:
    plays = [TAKEN.replace("ANSWER", json.dumps(answer)).replace("EXPECTED", str(expected)) for answer, expected in [*ANSWERS.items(), (["A1"], ["A1"])]]
    (awx.folder / "taken.yml").write_text("".join(plays))
    done = awx.applied(playbook=awx.folder / "taken.yml", respond_wait="true")
    assert done.output.count("All assertions passed") == len(plays)


def test_who_is_retired_is_the_controller_s_word(default: dict[str, t.Any]) -> None:
    """Asked where a run is started, and not where a word is written into the record of a VM."""
    asked = {one["name"]: one["arguments"].get("survey_spec", {}).get("spec", []) for one in default["objects"] if one["kind"] == "job_template"}
    (question,) = [each for each in asked["Maintenance respond"] if each["variable"] == "respond_retired"]
    assert (question["type"], question["required"], "default" in question) == ("text", False, False)
    assert "decide_vm" not in [each["variable"] for each in asked["Maintenance decide"]]
