# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Check the values of a role's options against its argument_specs, as ansible-core does, with an error of one line.

The validation of ansible-core fails on every host, each time with the whole specification of the role.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ansible.errors import AnsibleError
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ...module_utils._scheduled_events.core.types import Values
from .._core.argument_specs import entry_points
from .._core.plain_values import flag, plain
from .._core.short_forms import some
from . import vm_variables
from .facts import why_refused


def wrong_options(role: str, variables: Values, template: Callable[[Any], Any]) -> str | None:
    """Return what is wrong with the options of a role's entry point C(main), or None. C(template) returns the value of a variable.

    Options that may come from the facts of the host are not checked: the roles refuse that host. Those of each VM are checked with the VM.
    """
    if why_refused(variables.get("ansible_facts")):
        return None
    options = {name: about for name, about in (entry_points(role)["main"].get("options") or {}).items() if name not in vm_variables.NAMES}
    return "; ".join(_unevaluated(variables, template) + _wrong_types(options, variables, template)) or None


def wrong_flags(variables: Values, template: Callable[[Any], Any]) -> str | None:
    """Return which options of playbook status are neither true nor false, or None."""
    flags = {name: _value(variables, name, template) for name, about in entry_points("respond")["status"]["options"].items() if about["type"] == "bool"}
    return "; ".join(f"{name} must be true or false, not {value}" for name, value in flags.items() if value is not None and flag(value) is None) or None


# Options of entry point main that a report goes by.
OF_REPORT = ("respond_allow_empty", "respond_min_answered")


def wrong_report(variables: Values, template: Callable[[Any], Any]) -> str | None:
    """Return what is wrong with the options of playbook report, or None."""
    entries = entry_points("respond")
    options = {**entries["history"]["options"], **{name: entries["main"]["options"][name] for name in OF_REPORT}}
    path, host, *more = (_value(variables, f"report_archive_{key}", template) for key in ("path", "host", "limits", "become"))
    found = _wrong_types(options, variables, template)
    if not path and (host or any(one not in (None, {}) for one in more)):
        found.append("nothing would be archived: report_archive_host, report_archive_become and report_archive_limits need report_archive_path")
    if path == "":
        found.append("report_archive_path is empty, so nothing would be archived: give a whole path, or leave it out")
    if path and not str(path).startswith(("/", "~")):
        found.append(f"report_archive_path must be a whole path such as /srv/maintenance-archive, and is {path!r}")
    if path and host not in (None, "", "localhost") and host not in variables["hostvars"]:
        found.append(f"report_archive_host: the inventory has no host {host}")
    return "; ".join(found) or None


def _wrong_types(options: Values, variables: Values, template: Callable[[Any], Any]) -> list[str]:
    # Any value is a text, and what is raw is checked where it is used.
    spec = {name: {**about, "required": False} for name, about in options.items() if about.get("choices") or about.get("type") not in ("str", "raw")}
    given = {name: value for name in spec if (value := _value(variables, name, template)) is not None}
    found: list[str] = ArgumentSpecValidator({name: spec[name] for name in given}).validate(given).error_messages
    return found


def _unevaluated(variables: Values, template: Callable[[Any], Any]) -> list[str]:
    """Return why settings of the whole fleet, which this host has for all, cannot be evaluated."""
    found = []
    for name in of_fleet():
        try:
            template(variables.get(name))
        except AnsibleError as error:
            found.append(vm_variables.why_unevaluated(name, error, variables))
    return found


def _value(variables: Values, name: str, template: Callable[[Any], Any]) -> Any:
    """Return the value of a variable. One that cannot be evaluated, perhaps for a missing fact of this host, has none."""
    try:
        return plain(template(variables[name])) if variables.get(name) is not None else None
    except AnsibleError:
        return None


# --- Settings of the whole fleet -----------------------------------------------------------------------------------------
# A pass takes them from the first host of its play: those of other hosts have no effect.

# But for these, all options of role respond that are no settings of a VM are settings of the fleet.
OF_NO_FLEET = ("respond_hosts", "respond_only_vms", "respond_vm_id", "respond_who")
# Of playbook report. Each VM has an archive of its own where its variables say so.
OF_REPORTS = ("report_event_id", "report_file", "report_format", "report_from", "report_month", "report_until")
SHOWN = 3


def of_fleet() -> list[str]:
    """Return the settings of the whole fleet."""
    return sorted(entry_points("respond")["main"]["options"].keys() - vm_variables.NAMES - set(OF_NO_FLEET))


def differing(first: str, variables: Mapping[str, Values], names: Sequence[str] = ()) -> list[str]:
    """Return a warning for each setting (default: of the whole fleet) that some hosts have otherwise than the first one.

    C(variables) are those of each host, not yet templated.
    """
    own = variables[first]
    found = []
    for name in names or of_fleet():
        # Most hosts have the very value of the first, of a group or of all: comparing large ones would cost time.
        others = [host for host, of_host in variables.items() if (value := of_host.get(name)) is not own.get(name) and value != own.get(name)]
        if others:
            found.append(f"{name} differs on {some(others, SHOWN)} and has no effect there: that of {first}, the first host of the play, counts for all")
    return found
