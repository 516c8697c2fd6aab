#!/usr/bin/python

# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: drain_step
short_description: Choose the next step of a drain or of its undo
version_added: 2.0.0
author:
  - The maintenance.azure authors (@maintenance-azure)
description:
  - The state machine of role P(maintenance.azure.drain#role), for this role only. It runs on the controller, and changes nothing.
  - Without an option it reads what came of the last step, from what the tasks of the role have registered and from the facts that a method has set.
    It continues from its own result, so every task registers under the name C(__drain_step).
options:
  begin:
    description: The variables of the role, as they are when a drain or an undo begins.
    type: dict
  validate:
    description: The settings of a drain. The task fails with everything that is wrong with them.
    type: dict
  failed:
    description: The C(task) that has failed in the last step, and its C(result).
    type: dict
  balancers:
    description: What each load balancer has answered to method C(haproxy). The result says what is set next, and how far the drain or the undo is.
    type: list
    elements: dict
attributes:
  check_mode:
    support: full
    details: In check mode there is no step; RV(result) says what a drain would begin with.
  diff_mode:
    support: none
  idempotent:
    support: full
    details: It changes nothing.
seealso:
  - module: maintenance.azure.maintenance_act
  - module: maintenance.azure.plan
extends_documentation_fragment:
  - maintenance.azure.attributes
"""

EXAMPLES = r"""
# As role drain does, whose tasks take the registered step
- name: Choose the next step
  maintenance.azure.drain_step:
  register: __drain_step
"""

RETURN = r"""
do:
  description: The tasks file of the next step, such as V(act) or V(stage), or V(end).
  returned: success
  type: str
  sample: act
segment:
  description: The number of the methods that are taken now, from 0. Each segment is one method that is tasks, or those that run on the VM.
  returned: success
  type: int
  sample: 0
action:
  description: What M(maintenance.azure.maintenance_act) is given.
  returned: when it runs next
  type: dict
  sample: {}
result:
  description: How far the drain or the undo is, with C(state), C(error), C(record) and C(warning).
  returned: success
  type: dict
  sample: {}
"""

from ansible.module_utils.basic import AnsibleModule

ARGUMENTS = {
    "begin": {"type": "dict"},
    "validate": {"type": "dict"},
    "failed": {"type": "dict"},
    "balancers": {"type": "list", "elements": "dict"},
}


def main() -> None:
    """Fail: the action plugin of the same name does the work, on the controller."""
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True)
    module.fail_json(msg="maintenance.azure.drain_step runs on the controller: call it by this name, so that its action plugin is used.")


if __name__ == "__main__":
    main()
