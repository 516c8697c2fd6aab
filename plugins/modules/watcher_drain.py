# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

DOCUMENTATION = r"""
module: watcher_drain
short_description: (internal) Compile what the watcher of a VM drains by itself
version_added: 2.1.0
author: The maintenance.azure authors (@maintenance-azure)
description:
  - Internal, for role P(maintenance.azure.watch#role). It runs on the controller, and fails with one line that says what to correct.
  - The watcher runs without Ansible and without JMESPath, and drains only as far as the policy drains. So the conditions of the policy are compiled into
    comparisons, and a rule that cannot be compiled is refused by its name.
options:
  policy: {type: raw, default: default, description: "The policy, see O(maintenance.azure.respond#role:main:respond_policy)."}
  methods: {type: raw, description: "The drain methods of the host, see O(maintenance.azure.drain#role:main:drain_methods)."}
  former: {type: raw, description: See O(maintenance.azure.drain#role:main:drain_methods_former).}
  types: {type: list, elements: str, default: [], description: The types of events for which the watcher drains. None compiles nothing.}
  methods_path: {type: raw, description: See O(maintenance.azure.drain#role:main:drain_methods_path).}
  capacity: {type: raw, description: "See O(maintenance.azure.respond#role:main:respond_capacity). A VM of such a group approves nothing by itself."}
  alike:
    type: bool
    default: false
    description: Whether a VM to which others are drained alike approves nothing by itself, see O(maintenance.azure.respond#role:main:respond_capacity_alike).
  retired: {type: raw, description: See O(maintenance.azure.respond#role:main:respond_retired).}
extends_documentation_fragment: [maintenance.azure.attributes, maintenance.azure.attributes.read_only]
"""

EXAMPLES = r"""
- name: Compile what the watcher drains for a Preempt
  maintenance.azure.watcher_drain:
    methods: [{method: service, names: [nginx.service]}]
    types: [Preempt]
"""

RETURN = r"""
content: {type: dict, returned: success, description: "The watcher's file, with C(rules), C(methods) and C(elsewhere), the methods left to the controller."}
types: {type: list, elements: str, returned: success, description: The types of events for which the watcher drains., sample: [Preempt]}
drains: {type: bool, returned: success, description: Whether the watcher drains anything.}
note: {type: str, returned: success, description: "Why it drains nothing, or what it leaves to the controller; otherwise empty."}
"""
