#!/usr/bin/python

# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

from __future__ import annotations

DOCUMENTATION = r"""
module: haproxy_server
short_description: (internal) Read and set the administrative state of a server in HAProxy
version_added: 1.1.0
author: The maintenance.azure authors (@maintenance-azure)
description:
  - Internal, for drain method C(haproxy) of role P(maintenance.azure.drain#role). Returns the state of a server in each backend, over HAProxy's runtime socket
    on the host it runs on or, with C(host:port), on another one. With O(states) it sets the administrative state. It never waits.
  - States that are set at run time are lost when HAProxy restarts, unless it is configured to keep them.
options:
  socket: {type: str, default: /run/haproxy/admin.sock, description: "The runtime socket, a path or C(host:port). To set states it needs C(level admin)."}
  server: {type: str, required: true, description: Name of the server in HAProxy's configuration.}
  backends: {type: list, elements: str, default: [], description: "Backends, each of which must have the server. By default all that have it, at least one."}
  states: {type: dict, default: {}, description: "The state to set for each backend. V(ready) gets sessions, V(drain) no new ones except by persistence,
    V(maint) none and no checks. No state ends sessions. By default nothing is set."}
  check_first: {type: list, elements: str, default: [], description: "Backends in which a checked server on its way from V(maint) to V(ready) is set to V(drain)
    until a check has succeeded, see RV(reached). HAProxy itself would give it sessions before its first check."}
  timeout: {type: float, default: 5.0, description: Seconds within which HAProxy must have answered each command.}
extends_documentation_fragment: [maintenance.azure.attributes, maintenance.azure.attributes.checked]
attributes: {check_mode: {support: full}, diff_mode: {support: full}, idempotent: {support: full}}
"""

EXAMPLES = r"""
- name: Send no new sessions to the server
  maintenance.azure.haproxy_server: {server: web1, states: {shop: drain}}
  delegate_to: lb1
"""

RETURN = r"""
backends:
  description: The server after the changes, by the names of the backends. C(passed) is whether it is up, and unchecked or checked since its maintenance.
  returned: success
  type: dict
  sample: {shop: {backend: shop, server: web1, state: drain, status: DRAIN, up: true, checked: true, passed: true, sessions: 3, queued: 0}}
error_kind: {type: str, returned: failure, description: V(bad_answer) when the result of the host is not a valid result of this module.}
reached: {type: bool, returned: success, description: Whether all O(states) are as asked for. V(false) while O(check_first) waits.}
"""

import typing as t

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._haproxy_runtime import STATES, Runtime, RuntimeSocketError, next_state
from ..module_utils._scheduled_events.core.printable_text import LONGEST_LINE, printable


def arguments() -> dict[str, dict[str, t.Any]]:
    return {
        "socket": {"type": "str", "default": "/run/haproxy/admin.sock"},
        "server": {"type": "str", "required": True},
        "backends": {"type": "list", "elements": "str", "default": []},
        "states": {"type": "dict", "default": {}},
        "check_first": {"type": "list", "elements": "str", "default": []},
        "timeout": {"type": "float", "default": 5.0},
    }


def work(options: t.Mapping[str, t.Any], check_mode: bool) -> dict[str, t.Any]:
    """Read the states, set those that differ, and read them again. Raise RuntimeSocketError."""
    wanted: t.Mapping[str, str] = options["states"]
    for backend, state in wanted.items():
        if state not in STATES:
            raise RuntimeSocketError(f"states has {state!r} for {backend}; there are {', '.join(STATES)}.")
    runtime = Runtime(options["socket"], options["timeout"])
    backends = list(dict.fromkeys([*options["backends"], *wanted]))
    before = runtime.servers(options["server"], backends)
    orders = {name: next_state(before[name], state, name in options["check_first"]) for name, state in wanted.items()}
    changes = {name: state for name, state in orders.items() if state}
    after = before
    if changes and check_mode:
        after = {name: one._replace(state=changes.get(name, one.state)) for name, one in before.items()}
    elif changes:
        for name, state in changes.items():
            runtime.set_state(name, options["server"], state)
        after = runtime.servers(options["server"], backends)
    return {
        "changed": bool(changes),
        "backends": {name: one._asdict() for name, one in after.items()},
        "reached": all(after[name].state == state for name, state in wanted.items()),
        "diff": {
            "before": {name: before[name].state for name in changes},
            "after": {name: after[name].state for name in changes},
        },
    }


def main() -> None:
    module = AnsibleModule(argument_spec=arguments(), supports_check_mode=True)
    try:
        result = work(module.params, module.check_mode)
    except RuntimeSocketError as error:
        module.fail_json(msg=printable(error, LONGEST_LINE))
    module.exit_json(**result)


if __name__ == "__main__":
    main()
