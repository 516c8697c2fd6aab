# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

from __future__ import annotations

import typing as t

from ansible.utils.display import Display

from ..module_utils._scheduled_events.core.printable_text import LONGEST_LINE, printable
from ..plugin_utils._actions.on_controller import OnController
from ..plugin_utils._core import plain_values
from ..plugin_utils._core.wrong_input import WrongInput
from ..plugin_utils._maintenance.config.capacity_groups import load
from ..plugin_utils._maintenance.observe.chosen_hosts import Known, choose, names_of
from ..plugin_utils._maintenance.observe.expected_identity import of_variables
from ..plugin_utils._settings.facts import why_refused
from ..plugin_utils._settings.vm_variables import Evaluated

SPEC: dict[str, t.Any] = {"names": {"type": "list", "elements": "str", "required": True}}


class ActionModule(OnController):
    """Choose the hosts of the play that a run looks at."""

    spec = SPEC

    def answer(self, arguments: dict[str, t.Any], variables: dict[str, t.Any]) -> t.Mapping[str, t.Any]:
        hosts = [_known(str(host), variables["hostvars"]) for host in variables["ansible_play_hosts"]]
        found = choose(arguments["names"], hosts)
        if found.why_all:
            Display().display(printable(f"Looking at all {len(hosts)} hosts, because {found.why_all}.", LONGEST_LINE))
        return {"hosts": list(found.hosts), "is_all": bool(found.why_all)}


def _known(host: str, hostvars: t.Mapping[str, t.Mapping[str, t.Any]]) -> Known:
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
