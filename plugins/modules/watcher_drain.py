#!/usr/bin/python

# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: watcher_drain
short_description: Compile what the watcher of a VM drains by itself
version_added: 2.1.0
author:
  - The maintenance.azure authors (@maintenance-azure)
description:
  - For the role P(maintenance.azure.watch#role) of this collection only. It runs on the controller, and changes nothing.
  - The watcher runs without Ansible and without JMESPath, and drains only as far as the policy drains. So the conditions of the policy are compiled into
    comparisons, and a rule that cannot be compiled is refused by its name.
  - Fails with one line that says what to correct.
options:
  policy:
    description: The policy, see O(maintenance.azure.respond#role:main:respond_policy).
    type: raw
    default: default
  methods:
    description: The drain methods of the host, see O(maintenance.azure.drain#role:main:drain_methods).
    type: raw
  former:
    description: See O(maintenance.azure.drain#role:main:drain_methods_former).
    type: raw
  types:
    description: The types of events for which the watcher drains. With none, nothing is compiled and nothing is checked.
    type: list
    elements: str
    default: []
  folders:
    description: The folders with the drain methods that are tasks, those of the collection first.
    type: list
    elements: str
    default: []
  places:
    description: The folders in which task files with a relative path are searched.
    type: list
    elements: str
    default: []
seealso:
  - module: maintenance.azure.drain_step
  - module: maintenance.azure.watcher_settings
extends_documentation_fragment:
  - maintenance.azure.attributes
  - maintenance.azure.attributes.read_only
"""

EXAMPLES = r"""
- name: Compile what the watcher drains for a Preempt
  maintenance.azure.watcher_drain:
    policy: default
    methods:
      - method: service
        names: [nginx.service]
    types: [Preempt]
  register: compiled
"""

RETURN = r"""
content:
  description: The content of the watcher's file. Empty where the watcher drains nothing.
  returned: success
  type: dict
  contains:
    rules:
      description: The rules of the policy, up to the first that matches every event.
      type: list
      elements: dict
      contains:
        name:
          description: The name of the rule, or its place.
          type: str
        drain:
          description: Whether it drains.
          type: bool
        approve:
          description: V(never), V(after_drain) or V(now).
          type: str
        when:
          description:
            - The alternatives. An event matches where all comparisons of one of them are true; V(null) matches every event.
            - A comparison has C(field), C(is) (the operator), C(value), and C(negated).
          type: list
          elements: list
        late:
          description: Whether its drain waits for a time before C(NotBefore).
          type: bool
    methods:
      description: The drain methods that run on the VM and change nothing outside it, in order, as M(maintenance.azure.maintenance_act) takes them.
      type: list
      elements: dict
    elsewhere:
      description: The names of the drain methods that are left to the controller.
      type: list
      elements: str
  sample:
    rules:
      - {name: everything else, drain: true, approve: after_drain, when: null, late: false}
    methods: []
    elsewhere: [1-haproxy]
types:
  description: The types of events for which the watcher drains.
  returned: success
  type: list
  elements: str
  sample: [Preempt]
drains:
  description: Whether the watcher drains anything.
  returned: success
  type: bool
  sample: true
note:
  description: Why the watcher drains nothing, or which methods it leaves to the controller; otherwise empty.
  returned: success
  type: str
  sample: "The watcher leaves these drain methods to the controller: 1-haproxy."
"""

from ansible.module_utils.basic import AnsibleModule

ARGUMENTS = {
    "policy": {"type": "raw", "default": "default"},
    "methods": {"type": "raw"},
    "former": {"type": "raw"},
    "types": {"type": "list", "elements": "str", "default": []},
    "folders": {"type": "list", "elements": "str", "default": []},
    "places": {"type": "list", "elements": "str", "default": []},
}


def main() -> None:
    """Fail: the action plugin of the same name does the work, on the controller."""
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True)
    module.fail_json(msg="maintenance.azure.watcher_drain runs on the controller: call it by this name, so that its action plugin is used.")


if __name__ == "__main__":
    main()
