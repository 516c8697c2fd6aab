# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The job templates of role awx: their surveys, and what AWX sends for an answer."""

from __future__ import annotations

import pathlib
import typing as t

import yaml
from lab.simulator import ROOT

from ansible_collections.maintenance.azure.plugins.plugin_utils._awx import surveys

ROLES = ROOT / "roles"
TEMPLATES: dict[str, dict[str, t.Any]] = {
    template["name"]: template for template in yaml.safe_load((ROLES / "awx" / "defaults" / "main.yml").read_text())["awx_job_templates"]
}
# What the role templates with its own variables, as AWX then has it. A job starts in its copy of the project.
TEMPLATED = {"respond_pass_interval": 300, "upgrade_tasks_folders": ["."]}
# Variables of a template that are one variable of the role, which is empty by default.
EMPTY = "{{ awx_report_archive }}"


def _read(path: pathlib.Path) -> t.Any:
    return yaml.safe_load(path.read_text()) if path.exists() else {}


def survey(template: str) -> list[dict[str, t.Any]]:
    asked = TEMPLATES[template].get("survey")
    if not asked:
        return []
    role = ROLES / asked["role"]
    specs, defaults = _read(role / "meta" / "argument_specs.yml"), _read(role / "defaults" / "main.yml")
    bounds = _own(template)
    spec: list[dict[str, t.Any]] = surveys.survey(specs, asked["questions"], defaults, asked.get("entry_points", "main"), extra_vars=bounds)["spec"]
    return spec


def sent(template: str, **answers: t.Any) -> dict[str, t.Any]:
    """What AWX makes extra variables of: these answers, and the default of every other question that has one."""
    questions = {question["variable"]: question for question in survey(template)}
    unknown = sorted(set(answers) - set(questions))
    assert not unknown, f"{template} does not ask for {', '.join(unknown)}"
    missing = sorted(name for name, question in questions.items() if question["required"] and name not in answers and "default" not in question)
    assert not missing, f"{template} must be told {', '.join(missing)}"
    found = {name: question["default"] for name, question in questions.items() if "default" in question and question["type"] != "multiselect"}
    found.update({name: surveys.default_text(questions[name], value) for name, value in answers.items()})
    return found


def extra_vars(template: str) -> dict[str, t.Any]:
    """The template's own variables."""
    return {name: TEMPLATED.get(name, value) for name, value in _own(template).items()}


def _own(template: str) -> dict[str, t.Any]:
    given = TEMPLATES[template].get("extra_vars", {})
    return {} if given == EMPTY else given
