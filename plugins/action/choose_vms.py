# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

from __future__ import annotations

import typing as t
from dataclasses import replace

from ansible.utils.display import Display

from ..module_utils._scheduled_events.core.names import folded
from ..module_utils._scheduled_events.core.printable_text import LONGEST_LINE, printable
from ..module_utils._scheduled_events.core.types import Data, Values
from ..plugin_utils._actions.on_controller import OnController
from ..plugin_utils._core import plain_values
from ..plugin_utils._core.wrong_input import WrongInput
from ..plugin_utils._maintenance.config import alike_groups
from ..plugin_utils._maintenance.config.capacity_groups import load
from ..plugin_utils._maintenance.observe import written_hosts
from ..plugin_utils._maintenance.observe.chosen_hosts import Known, choose, names_of
from ..plugin_utils._maintenance.observe.expected_identity import of_variables
from ..plugin_utils._settings.facts import why_refused
from ..plugin_utils._settings.vm_variables import Evaluated

SPEC: Data = {"names": {"type": "list", "elements": "str", "required": True}}


class ActionModule(OnController):
    """Choose the hosts of the play that a run looks at."""

    spec = SPEC

    def answer(self, arguments: Data, variables: Data) -> Values:
        hosts = [_known(str(host), variables["hostvars"]) for host in variables["ansible_play_hosts"]]
        found = choose(arguments["names"], self._with_alike(hosts, variables))
        if found.why_all:
            Display().display(printable(f"Looking at all {len(hosts)} hosts, because {found.why_all}.", LONGEST_LINE))
        return {"hosts": list(found.hosts), "is_all": bool(found.why_all)}

    def _with_alike(self, hosts: list[Known], variables: Data) -> list[Known]:
        """Return the hosts with their groups of VMs that are drained alike, beside those of respond_capacity."""
        # Where the option cannot be read, the run that follows says so, or sets it itself.
        if plain_values.flag(Evaluated(variables).get("respond_capacity_alike")) is False:
            return hosts
        declared = frozenset(folded(member) for host in hosts for group in host.groups for member in group)
        found = alike_groups.derive(written_hosts.read(map(str, variables["hostvars"]), variables["hostvars"], declared))
        groups = {member: tuple(group["members"]) for group in found for member in group["members"]}
        return [replace(host, groups=(*host.groups, groups[host.name])) if host.name in groups else host for host in hosts]


def _known(host: str, hostvars: t.Mapping[str, Values]) -> Known:
    variables = Evaluated(hostvars[host])
    # The run that follows refuses a host whose facts have settings.
    refused = bool(why_refused(variables.get("ansible_facts")))
    configured, identity = None if refused else plain_values.text(variables.get("respond_vm_name")), of_variables(variables)
    names = names_of(host, {"respond_vm_name": configured, "id": identity.get("name")})
    return Known(host, names, () if refused else _groups(variables.get("respond_capacity")))


def _groups(given: t.Any) -> tuple[tuple[str, ...], ...]:
    """Return the members of the groups. The run that follows reports what is wrong with them."""
    try:
        return tuple(group.members for group in load(plain_values.plain(given)))
    except WrongInput:
        return ()
