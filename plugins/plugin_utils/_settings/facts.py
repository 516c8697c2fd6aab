# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find settings in a VM's facts. Facts of a module, those of gather_facts included, take precedence over group_vars and host_vars."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.maintenance.azure.plugins.plugin_utils._answers.kinds import printable
from ansible_collections.maintenance.azure.plugins.plugin_utils._settings.names import is_setting

SHOWN = 5


def settings_in(facts: Any) -> list[str]:
    """Return the names of settings in a host's facts. Core strips ansible_ from facts, so ansible_respond_policy is found as well."""
    if not isinstance(facts, Mapping):
        return []
    return sorted(name for name in map(str, facts) if is_setting(name))


def why_refused(facts: Any) -> str | None:
    """Return why a VM whose facts contain settings is refused, and what to do; None if they contain none."""
    names = [printable(name, 60) for name in settings_in(facts)]
    if not names:
        return None
    shown = ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} others" if len(names) > SHOWN else "")
    return (
        f"the setting {shown} comes from its facts (gather_facts, a module, set_fact with cacheable, or a fact cache); settings come from the inventory, "
        "group_vars, host_vars or extra variables. Remove it from what makes these facts on the VM, and from the fact cache, and see who put it there"
    )


def refused_hosts(hosts: Any, hostvars: Mapping[str, Any]) -> dict[str, str]:
    """Return the hosts whose facts contain settings, each with the reason."""
    found = {}
    for name in map(str, hosts):
        if name in hostvars:
            why = why_refused(hostvars[name].get("ansible_facts"))
            if why:
                found[name] = why
    return found
