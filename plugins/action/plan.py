# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import secrets
import string
import time
import typing as t

from ansible.plugins.action import ActionBase
from ansible.utils.unsafe_proxy import wrap_var

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.printable_text import LONGEST_LINE, printable
from ansible_collections.maintenance.azure.plugins.plugin_utils._core.plain_values import plain
from ansible_collections.maintenance.azure.plugins.plugin_utils._loop import pass_loop
from ansible_collections.maintenance.azure.plugins.plugin_utils._loop.observations import HostResults
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config import policy as policies
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config.policy import PolicyError
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config.settings import SettingsError
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.observe import expected_identity
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.observe.reading import ObservationError
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.planner import PlanError

# Letters and digits, for they become part of file names on the VMs.
RUN_ID_LETTERS, RUN_ID_LENGTH = string.ascii_lowercase + string.digits, 12
BEGIN = {
    "policy": {"type": "raw", "default": "default"},
    "settings": {"type": "dict", "default": {}},
    "who": {"type": "str", "default": ""},
    "wait": {"type": "bool", "default": False},
    "wait_timeout": {"type": "int", "default": 7200},
    "observation_seconds": {"type": "int", "default": 30},
    "notify_tasks": {"type": "str", "default": ""},
    "places": {"type": "list", "elements": "str", "default": []},
}
EITHER = (("begin", "go_on"),)
WRONG_INPUT = (ObservationError, PlanError, PolicyError, SettingsError, pass_loop.LoopError)


class ActionModule(ActionBase):
    """Plan, on the controller. What lasts from one iteration to the next is in the registered result."""

    _requires_connection = False
    _supports_async = False
    _supports_check_mode = True

    def run(self, tmp: t.Any = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        variables = task_vars or {}
        result: dict[str, t.Any] = super().run(tmp, variables)
        _checked, arguments = self.validate_argument_spec(
            {"begin": {"type": "dict", "options": BEGIN}, "go_on": {"type": "str"}}, mutually_exclusive=EITHER, required_one_of=EITHER
        )
        try:
            state = self._begin(arguments["begin"], variables) if arguments["begin"] is not None else self._go_on(arguments["go_on"], variables)
        except WRONG_INPUT as error:
            # Not from it: core would print the words of the cause as well, as they are.
            return dict(result, failed=True, msg=printable(error, LONGEST_LINE))
        # All that is kept is no reading for people, so it is not printed with -v. On ansible-core 2.18, wrap_var keeps texts from being templates.
        return dict(result, **wrap_var(state), changed=False, _ansible_verbose_override=True)

    def _begin(self, given: dict[str, t.Any], variables: dict[str, t.Any]) -> pass_loop.State:
        hosts, present = (_names(variables.get(name)) for name in ("ansible_play_hosts_all", "ansible_play_hosts"))
        request: pass_loop.Request = {
            "policy": [plain(rule.source) for rule in policies.load(given["policy"]).rules],
            "settings": {**plain(given["settings"]), "run": self._run(given["who"])},
            "wait": given["wait"],
            "wait_timeout": float(given["wait_timeout"]),
            "observation_seconds": float(given["observation_seconds"]),
            "notify_tasks": given["notify_tasks"],
            "places": _names(given["places"]),
            "check_mode": bool(self._task.check_mode),
        }
        results = _Results(variables["hostvars"])
        return pass_loop.begin(request, hosts, present, {host: results.vm_settings(host) for host in hosts}, results.of, time.time())

    @staticmethod
    def _go_on(name: str, variables: dict[str, t.Any]) -> pass_loop.State:
        state = variables.get(name)
        if not isinstance(state, dict) or not pass_loop.KEYS <= state.keys():
            raise pass_loop.LoopError(f"go_on is {name!r}, and nothing of a pass was registered under this name; a pass begins with a task that has begin")
        return pass_loop.go_on(t.cast("pass_loop.State", {key: state[key] for key in pass_loop.KEYS}), _Results(variables["hostvars"]).of, time.time())

    def _run(self, who: str) -> dict[str, str]:
        """Return the run, as its leases name it. In check mode it acquires none."""
        run_id = "" if self._task.check_mode else "".join(secrets.choice(RUN_ID_LETTERS) for _number in range(RUN_ID_LENGTH))
        return {"id": run_id, "who": who}


class _Results:
    """What the hosts' tasks have registered. Each host's variables are read when they are asked for: that is what costs."""

    def __init__(self, hostvars: t.Mapping[str, t.Mapping[str, t.Any]]) -> None:
        self._hostvars = hostvars

    def of(self, host: str) -> HostResults:
        variables = self._hostvars[host]
        return HostResults(variables.get("observe_look"), variables.get("__respond_acted"), variables.get("ansible_facts"), self._identity(variables))

    def vm_settings(self, host: str) -> t.Any:
        """Return a host's settings as its first observation has brought them along, or as were noted where there was none."""
        variables = self._hostvars[host]
        observed = variables.get("observe_look")
        found = observed.get("vm_settings") if isinstance(observed, t.Mapping) else None
        return plain(found if found is not None else variables.get("__respond_vm_settings"))

    @staticmethod
    def _identity(variables: t.Mapping[str, t.Any]) -> t.Mapping[str, str]:
        names = ("ansible_facts", "respond_vm_id", "vmid", "id")
        return expected_identity.of_variables({name: variables.get(name) for name in names})


def _names(value: t.Any) -> list[str]:
    return [str(name) for name in value or ()]
