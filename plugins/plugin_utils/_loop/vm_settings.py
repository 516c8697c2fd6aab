# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Read the settings of one VM from the controller's variables: once, with the first observation, for the whole run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from ...module_utils._scheduled_events.core.printable_text import LONGEST_LINE, printable
from ...module_utils._scheduled_events.core.types import Data, Values
from ...module_utils._scheduled_events.drain.methods.none import NoMethod
from .._core import plain_values
from .._core.short_forms import grouped
from .._core.wrong_input import WrongInput
from .._drain.kinds.registry import kind_of
from .._drain.records.replicas import targets_of
from .._drain.settings import validation

# In place of methods that are not set, where only the former ones are checked.
NOTHING = {"method": NoMethod.name}


class VMSettings(TypedDict):
    """The settings of one VM, as the plan and its actions need them."""

    excluded: bool
    labels: Data
    methods: list[str]
    """The names of its drain methods."""
    outside: bool
    """Whether any of them changes something outside the VM."""
    short_pause_hurts: bool
    """Whether a short pause hurts what any of them drains."""
    targets: list[Data]
    """Their targets outside the VM, which limit what a replica may restore."""
    drain_methods: Any
    drain_methods_former: Any
    folders: list[str]
    """The folders with task files of drain methods."""
    records_path: str
    local_records: str
    """The same, where the host is the controller's own machine; else empty."""
    system: str
    """C(linux) or C(windows), by the connection; an observation is more reliable."""
    wrong: list[str]
    """Why these settings cannot be used, one sentence for each fault. Empty for a host that is left alone."""


def read(given: Any, host: str, places: Sequence[str] = (), hosts: Sequence[str] | None = None) -> VMSettings:
    """Return the settings of a host from its variables, as maintenance_act returns them.

    C(places) are where task files are looked for, and C(hosts) all hosts of the inventory, if they are known.
    """
    source = plain_values.mapping(given)
    drain_methods, former = source.get("drain_methods"), source.get("drain_methods_former")
    methods = [one for one in plain_values.items(drain_methods) if isinstance(one, Mapping)]
    return {
        "excluded": plain_values.flag(source.get("exclude")) is True,
        "labels": dict(plain_values.mapping(source.get("labels"))),
        "methods": [plain_values.text(one.get("method")) or "?" for one in methods],
        "outside": any(kind_of(str(one.get("method"))).outside or plain_values.flag(one.get("outside")) is True for one in methods),
        "short_pause_hurts": any(kind_of(str(one.get("method"))).short_pause_hurts for one in methods),
        "targets": targets_of(drain_methods, former, host),
        "drain_methods": drain_methods or [],
        "drain_methods_former": former or [],
        "folders": plain_values.texts(source.get("folders")),
        "records_path": plain_values.text(source.get("records_path")) or "",
        "local_records": plain_values.text(source.get("local_records")) or "",
        "system": plain_values.text(source.get("system")) or "linux",
        "wrong": _wrong(source, places, hosts),
    }


def refuse_wrong(vms: Mapping[str, VMSettings]) -> None:
    """Raise WrongInput if any of them are wrong."""
    if wrong := grouped((host, vm["wrong"]) for host, vm in vms.items()):
        raise WrongInput("; ".join(f"wrong settings on {line.rstrip('.')}" for line in wrong) + ". Nothing was done.")


def _wrong(source: Values, places: Sequence[str], hosts: Sequence[str] | None) -> list[str]:
    """Return what is wrong with the settings of a host. One without drain methods is told so when an event comes, and may never need any."""
    folders, exclude, labels = plain_values.texts(source.get("folders")), source.get("exclude"), source.get("labels")
    if not folders or plain_values.flag(exclude) is True:
        # Without folders, they are not what the host's tasks returned, and its own methods are not known.
        return []
    # What the action maintenance_act has found: what cannot be evaluated, and what the module would refuse.
    found = plain_values.texts(source.get("wrong"))
    if exclude not in (None, "") and plain_values.flag(exclude) is None:
        found.append(f"respond_exclude must be true or false, and is {exclude}.")
    if labels and not isinstance(labels, Mapping):
        found.append(f"respond_labels must be a dictionary, and is {labels}.")
    methods, former = source.get("drain_methods"), source.get("drain_methods_former")
    if methods not in (None, "", [], {}) or former:
        system = plain_values.text(source.get("system")) or "linux"
        own = folders[1] if len(folders) > 1 else ""
        unset = [NOTHING] if methods in (None, "", [], {}) else methods
        found += validation.problems(unset, former, system, folders, places, own, hosts)
    return [printable(words, LONGEST_LINE) for words in dict.fromkeys(found)]
