# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# What it does is documented with the module of the same name.

from __future__ import annotations

import typing as t

from ansible.errors import AnsibleError
from ansible.utils.display import Display

from ..module_utils._scheduled_events.core.printable_text import LONGEST_LINE, printable
from ..plugin_utils._actions.on_controller import OnController
from ..plugin_utils._core import plain_values
from ..plugin_utils._maintenance.config.capacity_groups import CapacityError, load
from ..plugin_utils._maintenance.observe import expected_identity
from ..plugin_utils._maintenance.observe.chosen_hosts import Known, choose, names_of

SPEC: dict[str, t.Any] = {"names": {"type": "list", "elements": "str", "required": True}}
IDENTITY = ("ansible_facts", "respond_vm_id", "vmid", "id")


class ActionModule(OnController):
    """Choose the hosts of the play that a run looks at."""

    spec = SPEC
    rules: t.ClassVar = {}

    def answer(self, arguments: dict[str, t.Any], variables: dict[str, t.Any]) -> t.Mapping[str, t.Any]:
        hosts = [_known(str(host), variables["hostvars"]) for host in variables["ansible_play_hosts"]]
        found = choose(arguments["names"], hosts)
        if found.why_all:
            Display().display(printable(f"Looking at all {len(hosts)} hosts, because {found.why_all}.", LONGEST_LINE))
        return {"hosts": list(found.hosts), "is_all": bool(found.why_all)}


def _known(host: str, hostvars: t.Mapping[str, t.Mapping[str, t.Any]]) -> Known:
    variables = hostvars[host]
    identity = expected_identity.of_variables({name: _value(variables, name) for name in IDENTITY})
    names = names_of(host, {"respond_vm_name": plain_values.text(_value(variables, "respond_vm_name")), "id": identity.get("name")})
    return Known(host, names, _groups(_value(variables, "respond_capacity")))


def _groups(given: t.Any) -> tuple[tuple[str, ...], ...]:
    """Return the members of the groups. The run that follows reports what is wrong with them."""
    try:
        return tuple(group.members for group in load(plain_values.plain(given)))
    except CapacityError:
        return ()


def _value(variables: t.Mapping[str, t.Any], name: str) -> t.Any:
    """Return a variable, or None for one that cannot be evaluated."""
    try:
        return variables.get(name)
    except AnsibleError:
        return None
