#!/usr/bin/python

# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: haproxy_server
short_description: Read and set the administrative state of a server in HAProxy
version_added: 1.1.0
author:
  - The maintenance.azure authors (@maintenance-azure)
description:
  - Returns for one server, in each backend, its administrative state, whether HAProxy reports it as up, and how many sessions it has.
    With O(states) it sets the administrative state. It never waits.
  - It uses HAProxy's runtime socket, on the host it runs on or, with C(host:port), on another one.
  - Drain method C(haproxy) of role P(maintenance.azure.drain#role) uses it on each load balancer.
options:
  socket:
    description:
      - The runtime socket, as an absolute path or as C(host:port).
      - To set states it must have C(level admin) in HAProxy's configuration.
    type: str
    default: /run/haproxy/admin.sock
  server:
    description: Name of the server in HAProxy's configuration.
    type: str
    required: true
  backends:
    description:
      - Backends to read. Each must have the server.
      - By default all backends that have the server. The module fails if there are none.
    type: list
    elements: str
    default: []
  states:
    description:
      - The state to set for each backend, by its name.
      - V(ready) means that it gets sessions as long as its checks let it. V(drain) means that it gets no new ones, except those that are bound to it by
        persistence. V(maint) means that it gets none and is not checked. No state ends sessions that it has.
      - By default the module only reads the states.
    type: dict
    default: {}
  check_first:
    description:
      - In these backends, a server on its way from V(maint) to V(ready) is set to V(drain) first, if HAProxy checks it, and to V(ready)
        by a further call, once a check has succeeded. See RV(reached).
      - HAProxy itself reports a server as up as soon as its maintenance ends, before the first check is done, and gives it sessions.
    type: list
    elements: str
    default: []
  timeout:
    description: Seconds within which HAProxy must have answered each command.
    type: float
    default: 5.0
extends_documentation_fragment:
  - maintenance.azure.attributes
attributes:
  action:
    description: Has a corresponding action plugin, so some parts of the options can be executed on the controller.
    support: full
    details: Only documented keys of documented types of a host's result reach the play.
  async:
    description: Supports being used with the C(async) keyword.
    support: full
    details: The result of C(async_status) is not checked.
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: full
notes:
  - States that are set at run time are lost when HAProxy restarts, unless it is configured to keep them.
seealso:
  - module: community.general.haproxy
"""

EXAMPLES = r"""
- name: Read the states of the server, in all backends
  maintenance.azure.haproxy_server:
    server: web1
  delegate_to: lb1
  register: server

- name: Send no new sessions to the server
  maintenance.azure.haproxy_server:
    server: web1
    states:
      shop: drain
      admin: drain
  delegate_to: lb1

- name: Return the server to service, over TCP, once HAProxy has checked it
  maintenance.azure.haproxy_server:
    socket: lb1.example.com:9999
    server: web1
    states:
      shop: ready
    check_first: [shop]
  register: back
  until: back.reached
  retries: 10
  delay: 2
  delegate_to: localhost
"""

RETURN = r"""
backends:
  description: The server after the changes, by the names of the backends.
  returned: success
  type: dict
  sample:
    shop:
      backend: shop
      server: web1
      state: drain
      status: DRAIN
      up: true
      checked: true
      passed: true
      sessions: 3
      queued: 0
  contains:
    _backend:
      description: One entry for each backend, by its name.
      type: dict
      contains:
        backend:
          description: Name of the backend.
          type: str
        server:
          description: Name of the server.
          type: str
        state:
          description: The administrative state, V(ready), V(drain) or V(maint), as an operator has set it.
          type: str
        status:
          description: Its status in C(show stat), such as C(UP), C(DOWN), C(DRAIN), C(MAINT) or C(no check).
          type: str
        up:
          description: Whether HAProxy reports it as up. V(true) as well for a server that HAProxy does not check, or that drains.
          type: bool
        checked:
          description: Whether HAProxy checks it.
          type: bool
        passed:
          description: Whether it is up, and is not checked or has passed a check since its maintenance ended.
          type: bool
        sessions:
          description: Sessions that it has now.
          type: int
        queued:
          description: Requests that wait for it.
          type: int
error_kind:
  description: V(bad_answer) when the result of the host is not a valid result of this module. Then nothing of it is used.
  version_added: 1.4.0
  returned: failure
  type: str
  sample: bad_answer
reached:
  description: Whether all O(states) are as asked for. V(false) while O(check_first) waits for a check.
  returned: success
  type: bool
  sample: true
"""

import typing as t

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._haproxy_runtime import (
    STATES,
    Runtime,
    RuntimeSocketError,
    next_state,
)
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
