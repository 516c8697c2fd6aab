# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Build an AWX survey from the argument specification of a role, so that the two cannot drift apart.

What AWX does with a survey (awx/main/models/mixins.py, read at commit 0123329): an answer becomes an extra variable. Text, a choice and a password arrive as
text, several choices as a list of texts, numbers as numbers. A default is sent as well, unless it is not of the question's type: hence no question has an empty
default, and the default of several choices, which is one text with a line for each, is never sent. So a boolean arrives as the text "true" or "false", and a
list without choices as one text with commas. Ansible's own argument specification reads both, and the roles do where they use them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ...module_utils._scheduled_events.core.types import Data, Values
from .._core.wrong_input import WrongInput

# Type of an option without choices -> type of the question.
PLAIN = {"str": "text", "path": "text", "int": "integer", "float": "float", "list": "text", "dict": "textarea"}
LENGTH = 1024
HOW = {"list": "Several, separated by commas.", "dict": "As JSON."}
QUESTION_KEYS = ("name", "label", "min", "max", "choices")
# The ends of the names of options for files and folders of the controller, and of one for the folders where tasks files are.
FILES, FOLDERS = ("_tasks", "_file", "_output", "methods_path"), "_tasks_folders"
MARKUP = re.compile(r"\b([BCEIMOPVRLU]|RV|HORIZONTALLINE)\(([^()]*(?:\([^()]*\))?[^()]*)\)")


def survey(
    argument_specs: Values,
    questions: Sequence[Any],
    defaults: Values | None = None,
    entry_points: Any = "main",
    name: str = "",
    description: str = "",
    extra_vars: Values | None = None,
) -> Data:
    """Return the survey in AWX's own form. extra_vars: those of the template, which bound the files that its survey asks for."""
    options = options_of(argument_specs, entry_points)
    asked = [_question(asking, options, defaults or {}) for asking in questions]
    twice = sorted({each["variable"] for each in asked if [other["variable"] for other in asked].count(each["variable"]) > 1})
    if twice:
        raise WrongInput(f"asked twice: {', '.join(twice)}")
    for question in asked:
        _bounded(question, options, extra_vars or {})
    return {"name": name, "description": description, "spec": asked}


def options_of(argument_specs: Values, entry_points: Any = "main") -> dict[str, Values]:
    """Return the options of one or several entry points. Accept a whole meta/argument_specs.yml, or the value of its first key."""
    if not isinstance(argument_specs, Mapping):
        raise WrongInput(f"argument_specs must be what a role's meta/argument_specs.yml holds, not {argument_specs!r}")
    entries = argument_specs.get("argument_specs", argument_specs)
    options: dict[str, Values] = {}
    for entry in [entry_points] if isinstance(entry_points, str) else entry_points:
        if entry not in entries:
            raise WrongInput(f"the role has no entry point {entry!r}, it has {', '.join(sorted(entries))}")
        options.update(entries[entry].get("options") or {})
    return options


def _question(asking: Any, options: Mapping[str, Values], defaults: Values) -> Data:
    """Return one question. ``asking`` is an option's name, or {name, label, min, max, choices}."""
    wanted = {"name": asking} if isinstance(asking, str) else asking
    if not isinstance(wanted, Mapping) or "name" not in wanted or set(wanted) - set(QUESTION_KEYS):
        raise WrongInput(f"a question is an option's name, or has the keys {', '.join(QUESTION_KEYS)}; it is {asking!r}")
    option = str(wanted["name"])
    if option not in options:
        raise WrongInput(f"{option} is no option; there are {', '.join(sorted(options))}")
    specification = _chosen(option, options[option], wanted)
    question: Data = {
        "question_name": str(wanted.get("label") or label(option)),
        "question_description": _explanation(specification),
        "variable": option,
        "required": bool(specification.get("required", False)),
        "type": question_type(option, specification),
    }
    _choices(question, specification)
    _bounds(question, wanted)
    _default(question, specification.get("default", _literal(defaults.get(option))))
    return question


def _chosen(option: str, specification: Values, wanted: Values) -> Values:
    """Return the specification with the choices that the question brings."""
    if "choices" not in wanted:
        return specification
    if specification.get("choices") or specification.get("type", "str") != "str" or not wanted["choices"]:
        raise WrongInput(f"{option}: choices are a list for an option that is a text and has none of its own")
    return {**specification, "choices": wanted["choices"]}


def _bounded(question: Values, options: Values, extra_vars: Values) -> None:
    """Refuse a question by which anybody who may start the template could choose any file of the execution environment."""
    option = str(question["variable"])
    if option.endswith(FOLDERS):
        raise WrongInput(f"{option} bounds what a survey may ask for, and is no question itself: set it in extra_vars of the template")
    if not option.endswith(FILES) or question["type"] != "text":
        return
    bounds = option.partition("_")[0] + FOLDERS
    may_bound = bounds in options and option.endswith("_tasks")
    if not (may_bound and extra_vars.get(bounds)):
        other = f", or the template the folders in extra_vars ({bounds})" if may_bound else ""
        raise WrongInput(f"{option} names a file: give the question its choices{other}")


def question_type(option: str, specification: Values) -> str:
    """Return the type of question for the values of an option."""
    kind = specification.get("type", "str")
    if specification.get("no_log"):
        return "password"
    if kind == "bool":
        return "multiplechoice"
    if specification.get("choices"):
        return "multiselect" if kind == "list" else "multiplechoice"
    if kind not in PLAIN:
        raise WrongInput(f"{option} cannot be asked in a survey: it is of type {kind}, and AWX has nothing that arrives as such")
    return PLAIN[kind]


def label(option: str) -> str:
    """decide_event_id -> Event id."""
    words = option.split("_")[1:] or [option]
    return " ".join(words).capitalize()


def _choices(question: Data, specification: Values) -> None:
    if question["type"] in ("multiplechoice", "multiselect"):
        question["choices"] = ["true", "false"] if specification.get("type") == "bool" else [str(choice) for choice in specification["choices"]]


def _bounds(question: Data, wanted: Values) -> None:
    """Set the lengths of texts, and the limits of numbers. Specifications have none, so the question brings them."""
    if question["type"] in ("text", "textarea", "password"):
        question["min"] = wanted.get("min", 1 if question["required"] else 0)
        question["max"] = wanted.get("max", LENGTH)
    elif question["type"] in ("integer", "float"):
        question.update({key: wanted[key] for key in ("min", "max") if key in wanted})
    elif "min" in wanted or "max" in wanted:
        raise WrongInput(f"{question['variable']} has choices, and so neither min nor max")


def _default(question: Data, default: Any) -> None:
    """Set the default. Omit one that AWX would send empty, since it would override the inventory."""
    if default is None or default in ("", [], {}):
        return
    if question["type"] == "password":
        raise WrongInput(f"{question['variable']} is a secret and has a default")
    question["default"] = default_text(question, default)
    value = question["default"]
    size = len(value) if isinstance(value, str) else value
    out_of_bounds = not isinstance(size, (int, float)) or size < question.get("min", size) or size > question.get("max", size)
    unknown = [choice for choice in str(value).split("\n") if choice not in question["choices"]] if "choices" in question else []
    if unknown or ("choices" not in question and out_of_bounds):
        raise WrongInput(f"{question['variable']}: its default {default!r} is no answer that the question takes")


def default_text(question: Values, value: Any) -> Any:
    """Return a value as AWX stores it for a question."""
    if question["type"] in ("integer", "float"):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return json.dumps(value, sort_keys=True)
    if isinstance(value, (list, tuple)):
        return ("\n" if question["type"] == "multiselect" else ",").join(str(part) for part in value)
    return str(value)


def _literal(default: Any) -> Any:
    """Return the default, or None for a template, which AWX cannot evaluate."""
    return None if isinstance(default, str) and ("{{" in default or "{%" in default) else default


def _explanation(specification: Values) -> str:
    """Return the option's description without markup, and how to type a list."""
    described = specification.get("description", "")
    sentences = [described] if isinstance(described, str) else [str(sentence) for sentence in described]
    if not specification.get("choices"):
        sentences.append(HOW.get(str(specification.get("type")), ""))
    return " ".join(MARKUP.sub(_unmarked, sentence) for sentence in sentences if sentence)


def _unmarked(found: re.Match[str]) -> str:
    """V(true) -> true, O(maintenance.azure.x#role:main:y) -> y, P(maintenance.azure.plan#filter) -> maintenance.azure.plan."""
    text = found[2]
    if found[1] in ("O", "RV"):
        return text.rpartition(":")[2] if "#" in text else text
    return text.partition("#")[0] if found[1] == "P" else text
