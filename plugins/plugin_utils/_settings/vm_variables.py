# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Evaluate the settings of one VM, each by itself, and find what is wrong with those of its observation.

One that cannot be evaluated is a wrong setting of this VM: as an argument of a task it would fail the VM with all its settings, and
C(default) in a template would put its default in its place (core 2.18).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from ansible import template as core_template
from ansible.errors import AnsibleError
from ansible.module_utils.common.validation import check_type_dict

from ...module_utils._scheduled_events.core.printable_text import LONGEST_LINE, printable
from ...module_utils._scheduled_events.core.types import Data, Values
from ...module_utils._scheduled_events.operations import observation_options
from .._core.plain_values import mapping, plain, whole
from .._core.short_forms import suggestion

# Settings of a VM by their names in option vm_settings of maintenance_act, and the variables that they are in.
SETTINGS = {"exclude": "respond_exclude", "labels": "respond_labels", "drain_methods": "drain_methods", "drain_methods_former": "drain_methods_former"}
# The same for its observation, by the names of options of maintenance_act.
OBSERVATION = {name: f"respond_{name}" for name in observation_options.OPTIONS}
# Options for which an empty value says that nothing is set. The last two say which VM it is, and are no other one's.
MAY_BE_EMPTY = ("health", *(OF_ONE_VM := ("vm_name", "boot_id")))
SECONDS, METHODS_PATH = "respond_observation_seconds", "drain_methods_path"
# What a template may raise. Core 2.18 lets through whatever a filter or an operator raises, such as one that facts of a VM are passed to.
UNEVALUATED: type[Exception] = AnsibleError if hasattr(core_template, "trust_as_template") else Exception
# The variables with them, which are those of each VM: another VM's have no part in them.
NAMES = frozenset((*SETTINGS.values(), *OBSERVATION.values(), SECONDS, METHODS_PATH))


class VMVariables(NamedTuple):
    """The settings of one VM as its variables have them."""

    settings: Data
    observation: Data
    """The options with which it is observed."""
    wrong: list[str]
    """What cannot be evaluated, and what keeps it from being drained."""
    wrong_observation: list[str]
    """What keeps it from being observed."""


def read(variables: Values, template: Callable[[Any], Any], check_path: Callable[[str], Any]) -> VMVariables:
    """Return the settings of a VM. C(template) returns the value of a variable, C(check_path) raises ValueError for a path of its records."""
    settings, wrong = _values({**SETTINGS, METHODS_PATH: METHODS_PATH}, variables, template)
    given, wrong_observation = _values({**OBSERVATION, SECONDS: SECONDS}, variables, template)
    seconds = given.pop(SECONDS, None)
    if seconds is not None and (isinstance(seconds, bool) or (whole(seconds) or 0) < 1):
        wrong_observation.append(f"{SECONDS}: it must be 1 or more seconds, and is {seconds}.")
    observation = _options(given)
    found = observation_options.problems(observation, lambda path: path.startswith("~") or check_path(path), suggestion)
    wrong_observation += [one.of(OBSERVATION[one.option]) for one in found]
    return VMVariables(settings, observation, _lines(wrong), _lines(wrong_observation))


def of_other(theirs: Values, own: Values, template: Callable[[Any], Any]) -> tuple[Data, list[str]]:
    """Return the options with which one host observes the VM of another host, and why some cannot be evaluated.

    C(theirs) are the values of the other host, from hostvars, evaluated as they are read. Only what is not set there is as for the host that asks.
    """
    given, wrong = {}, []
    for name, variable in OBSERVATION.items():
        try:
            if variable in theirs:
                given[name] = plain(theirs[variable])
            elif variable in own and name not in OF_ONE_VM:
                given[name] = plain(template(own[variable]))
        except UNEVALUATED as error:
            wrong.append(why_unevaluated(variable, error, {}))
    return _options(given), _lines(wrong)


def _options(given: Values) -> Data:
    """Return the options of an observation that are set."""
    found = {name: value for name, value in given.items() if value is not None and not (name in MAY_BE_EMPTY and not value)}
    return {**found, "health": _dictionary(found["health"])} if "health" in found else found


def _values(names: Mapping[str, str], variables: Values, template: Callable[[Any], Any]) -> tuple[Data, list[str]]:
    """Return the values of variables, and why others cannot be evaluated."""
    values, wrong = {}, []
    for name, variable in names.items():
        if variable in variables:
            try:
                values[name] = plain(template(variables[variable]))
            except UNEVALUATED as error:
                wrong.append(why_unevaluated(variable, error, variables))
    return values, wrong


def _dictionary(given: Any) -> Any:
    """Return a dictionary, which the command line has as text, without keys that are not set."""
    try:
        return {key: value for key, value in check_type_dict(given).items() if value is not None}
    except TypeError:
        return given


def _lines(wrong: list[str]) -> list[str]:
    return [printable(words, LONGEST_LINE) for words in wrong]


class Evaluated(Values):
    """The variables of a host. One that cannot be evaluated, perhaps for a fact, is missing: that is the fault of this host alone."""

    def __init__(self, variables: Values) -> None:
        self._variables = variables

    def __getitem__(self, name: str) -> Any:
        try:
            return self._variables[name]
        except UNEVALUATED:
            raise KeyError(name) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)


# --- Why an option cannot be evaluated -----------------------------------------------------------------------------------
# In one line with its name, and what is not defined. Core's own report has a chain of causes, and not that name.


UNDEFINED = re.compile(r"'(?P<name>[^'\n]{1,100})' is undefined|has no attribute '(?P<key>[^'\n]{1,100})'")
LONGEST_ERROR = 200


def why_unevaluated(option: str, error: Exception, variables: Values) -> str:
    """Return why an option cannot be evaluated. C(variables) are those that it was evaluated with."""
    message = str(error).strip()
    found = UNDEFINED.search(message)
    if found is None:
        first = message.splitlines()[0][:LONGEST_ERROR].rstrip(".") if message else type(error).__name__
        words = f"it cannot be evaluated: {first}"
    elif found["name"]:
        words = f"'{found['name']}' is undefined{suggestion(found['name'], map(str, variables))}"
    elif _is_group(found["key"], variables.get(option)):
        words = f"the inventory has no group {found['key']}{suggestion(found['key'], map(str, mapping(variables.get('groups'))))}"
    else:
        words = f"'{found['key']}' is undefined, a key or attribute in its template"
    return printable(f"{option}: {words}.", LONGEST_LINE)


def _is_group(key: str, template: Any) -> bool:
    """Return whether a template takes this key of C(groups)."""
    name = re.escape(key)
    return re.search(rf"\bgroups(?:\.{name}\b|\[\\*['\"]{name}\\*['\"]\])", str(template)) is not None
