# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""Read the settings of one VM from the controller's variables: once, with the first observation, for the whole run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

from ansible_collections.maintenance.azure.plugins.plugin_utils._core import plain_values
from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.records.replicas import targets_of
from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.settings.configured import HAPROXY


class VMSettings(TypedDict):
    """The settings of one VM, as the plan and its actions need them."""

    excluded: bool
    labels: dict[str, Any]
    methods: list[str]
    """The names of its drain methods."""
    outside: bool
    """Whether any of them changes something outside the VM."""
    targets: list[dict[str, Any]]
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


def read(given: Any, host: str) -> VMSettings:
    """Return the settings of a host from its variables, by option C(vm_settings) of maintenance_act."""
    source = plain_values.mapping(given)
    drain_methods, former = source.get("drain_methods"), source.get("drain_methods_former")
    methods = [one for one in plain_values.items(drain_methods) if isinstance(one, Mapping)]
    return {
        "excluded": plain_values.flag(source.get("exclude")) is True,
        "labels": dict(plain_values.mapping(source.get("labels"))),
        "methods": [plain_values.text(one.get("method")) or "?" for one in methods],
        "outside": any(one.get("method") == HAPROXY or plain_values.flag(one.get("outside")) is True for one in methods),
        "targets": targets_of(drain_methods, former, host),
        "drain_methods": drain_methods or [],
        "drain_methods_former": former or [],
        "folders": plain_values.texts(source.get("folders")),
        "records_path": plain_values.text(source.get("records_path")) or "",
        "local_records": plain_values.text(source.get("local_records")) or "",
        "system": plain_values.text(source.get("system")) or "linux",
    }
