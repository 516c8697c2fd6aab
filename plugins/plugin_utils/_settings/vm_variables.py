# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""Evaluate the settings of one VM, each by itself, and find what is wrong with those of its observation.

One that cannot be evaluated is a wrong setting of this VM: as an argument of a task it would fail the VM with all its settings, and
C(default) in a template would put its default in its place (core 2.18).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ansible.errors import AnsibleError
from ansible.module_utils.common.validation import check_type_dict

from ...module_utils._scheduled_events.core.printable_text import LONGEST_LINE, printable
from ...module_utils._scheduled_events.operations import observation_options
from .._core.plain_values import plain, whole
from .._core.short_forms import suggestion
from . import unevaluated

# Settings of a VM by their names in option vm_settings of maintenance_act, and the variables that they are in.
SETTINGS = {"exclude": "respond_exclude", "labels": "respond_labels", "drain_methods": "drain_methods", "drain_methods_former": "drain_methods_former"}
# The same for its observation, by the names of options of maintenance_act.
OBSERVATION = {name: f"respond_{name}" for name in observation_options.OPTIONS}
# Options for which an empty value says that nothing is set.
MAY_BE_EMPTY = ("health", "vm_name", "boot_id")
SECONDS, METHODS_PATH = "respond_observation_seconds", "drain_methods_path"
# The variables with them, which are those of each VM: another VM's have no part in them.
NAMES = frozenset((*SETTINGS.values(), *OBSERVATION.values(), SECONDS, METHODS_PATH))


class VMVariables(NamedTuple):
    """The settings of one VM as its variables have them."""

    settings: dict[str, Any]
    observation: dict[str, Any]
    """The options with which it is observed."""
    wrong: list[str]
    """What cannot be evaluated, and what keeps it from being drained."""
    wrong_observation: list[str]
    """What keeps it from being observed."""


def read(variables: Mapping[str, Any], template: Callable[[Any], Any], check_path: Callable[[str], Any]) -> VMVariables:
    """Return the settings of a VM. C(template) returns the value of a variable, C(check_path) raises ValueError for a path of its records."""
    settings, wrong = _values({**SETTINGS, METHODS_PATH: METHODS_PATH}, variables, template)
    settings.pop(METHODS_PATH, None)
    given, wrong_observation = _values({**OBSERVATION, SECONDS: SECONDS}, variables, template)
    seconds = given.pop(SECONDS, None)
    if seconds is not None and (isinstance(seconds, bool) or (whole(seconds) or 0) < 1):
        wrong_observation.append(f"{SECONDS}: it must be 1 or more seconds, and is {seconds}.")
    observation = {name: value for name, value in given.items() if value is not None and not (name in MAY_BE_EMPTY and not value)}
    if "health" in observation:
        observation["health"] = _dictionary(observation["health"])
    found = observation_options.problems(observation, lambda path: path.startswith("~") or check_path(path), suggestion)
    wrong_observation += [one.of(OBSERVATION[one.option]) for one in found]
    return VMVariables(settings, observation, _lines(wrong), _lines(wrong_observation))


def _values(names: Mapping[str, str], variables: Mapping[str, Any], template: Callable[[Any], Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the values of variables, and why others cannot be evaluated."""
    values, wrong = {}, []
    for name, variable in names.items():
        if variable in variables:
            try:
                values[name] = plain(template(variables[variable]))
            except AnsibleError as error:
                wrong.append(unevaluated.why(variable, error, variables))
    return values, wrong


def _dictionary(given: Any) -> Any:
    """Return a dictionary, which the command line has as text, without keys that are not set."""
    try:
        return {key: value for key, value in check_type_dict(given).items() if value is not None}
    except TypeError:
        return given


def _lines(wrong: list[str]) -> list[str]:
    return [printable(words, LONGEST_LINE) for words in wrong]
