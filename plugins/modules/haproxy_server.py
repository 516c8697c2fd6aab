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
    on the host it runs on or, with C(host:port), on another one. With O(states) it sets the administrative state. It waits for nothing but,
    with O(wait), for a check.
  - States that are set at run time are lost when HAProxy restarts, unless it is configured to keep them.
options:
  socket: {type: str, default: /run/haproxy/admin.sock, description: "The runtime socket, a path or C(host:port). To set states it needs C(level admin)."}
  server: {type: str, required: true, description: Name of the server in HAProxy's configuration.}
  backends: {type: list, elements: str, default: [], description: "Backends, each of which must have the server. By default all that have it, at least one."}
  states: {type: dict, default: {}, description: "The state to set for each backend. V(ready) gets sessions, V(drain) no new ones except by persistence,
    V(maint) none and no checks. No state ends sessions. By default nothing is set."}
  check_first: {type: list, elements: str, default: [], description: "Backends in which a server with a health check of its own that becomes V(ready) is set
    down with it. So HAProxy gives it sessions only once its check has passed, see RV(reached), and not before the first one, as it would by itself."}
  direction:
    type: str
    choices: [out, in]
    description:
      - V(out) sets V(drain) only where the server is V(ready), and V(maint) only where it is in V(drain) and has no more than O(sessions).
      - V(in) sets V(drain) only where it is in V(maint). Left out, each state is set.
  sessions: {type: int, default: 0, description: "How many sessions may be left where O(direction=out) sets V(maint)."}
  keep:
    type: dict
    default: {}
    description:
      - By backend, or C(*) for all others, how many other servers must take new sessions while this one is out. By default nothing is asked.
      - With O(direction=out) nothing is set where one of RV(left) has fewer. They are counted again after V(drain) was set. If there are fewer by then, what
        was set is V(ready) again at once.
  away: {type: dict, default: {}, description: "By backend, or C(*) for all, a list of servers that leave as well, and so do not count."}
  backups: {type: bool, default: false, description: Whether servers with C(backup) count.}
  wait: {type: float, default: 0.0, description: Seconds within which the servers of O(check_first) may come up.}
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
  description: The server after the changes, by the names of the backends. C(checked) is whether it has a health check of its own.
  returned: success
  type: dict
  sample: {shop: {backend: shop, server: web1, state: drain, status: DRAIN, up: true, checked: true, sessions: 3, queued: 0}}
error_kind:
  description: V(refused) when HAProxy has refused, V(away) when it cannot be asked, V(bad_answer) when the host's result is not a valid result of this module.
  returned: failure
  type: str
left:
  description:
    - Who takes new sessions beside the server, by backend; also in a backend with a server that follows this one by C(track), whose name C(tracks) is.
    - A server counts when HAProxy gives it new sessions, its weight and its agent's is above 0, and its last check (or that of the server that it follows) has
      passed, if it has one. C(names) and C(out), those that do not count and why, have at most ten.
    - C(takes) is whether this one does so now, C(weighs) whether its weight is above 0. C(candidates) are the others with an address, backups not counted.
  returned: success
  type: dict
  sample: {shop: {server: web1, tracks: "", address: 10.0.0.4, takes: true, weighs: true, others: 1, names: [web2], candidates: 2, missing: 1,
    out: [{name: web3, status: DOWN, why: down}], asked: 1}}
reached: {type: bool, returned: success, description: Whether all O(states) are as asked for. V(false) while one of O(check_first) is not up.}
short: {type: list, elements: str, returned: success, description: The backends of RV(left) for which nothing was set.}
was: {type: dict, returned: success, description: "What was set, by backend: the state before."}
"""


from ansible.module_utils.basic import AnsibleModule

from ..module_utils._haproxy_change import Change
from ..module_utils._haproxy_runtime import RuntimeSocketError
from ..module_utils._scheduled_events.core.printable_text import LONGEST_LINE, printable
from ..module_utils._scheduled_events.core.types import Data


def arguments() -> dict[str, Data]:
    return {
        "socket": {"type": "str", "default": "/run/haproxy/admin.sock"},
        "server": {"type": "str", "required": True},
        "backends": {"type": "list", "elements": "str", "default": []},
        "states": {"type": "dict", "default": {}},
        "check_first": {"type": "list", "elements": "str", "default": []},
        "direction": {"type": "str", "choices": ["out", "in"]},
        "sessions": {"type": "int", "default": 0},
        "keep": {"type": "dict", "default": {}},
        "away": {"type": "dict", "default": {}},
        "backups": {"type": "bool", "default": False},
        "wait": {"type": "float", "default": 0.0},
        "timeout": {"type": "float", "default": 5.0},
    }


def main() -> None:
    module = AnsibleModule(argument_spec=arguments(), supports_check_mode=True)
    try:
        result = Change(module.params).run(module.check_mode)
    except RuntimeSocketError as error:
        module.fail_json(msg=printable(error, LONGEST_LINE), error_kind=error.kind)
    module.exit_json(**result)


if __name__ == "__main__":
    main()
