#!/usr/bin/python

# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: plan
short_description: Collect what the hosts of a play returned, and plan what each VM does next
version_added: 2.0.0
author:
  - The maintenance.azure authors (@maintenance-azure)
description:
  - The planner of the roles P(maintenance.azure.respond#role), P(maintenance.azure.gate#role) and P(maintenance.azure.upgrade#role), for these roles only.
    It runs once for all hosts of the play, on the controller, and needs C(run_once=true) and C(register).
  - With O(begin) it begins a pass. It reads what M(maintenance.azure.maintenance_act) has registered on every host as C(observe_result), and plans.
  - With O(go_on) it continues the pass. It reads the new results of the hosts, plans again, and returns in RV(do) whether to act, to wait or to end.
    The state of the pass is in its own result, so every task of a pass registers under the same name.
  - All decisions are those of P(maintenance.azure.plan#filter), and it changes nothing.
options:
  begin:
    description: What to begin a pass with. It is read once, whatever happens to the variables later.
    type: dict
    suboptions:
      policy:
        description: See O(maintenance.azure.respond#role:main:respond_policy).
        type: raw
        default: default
      settings:
        description: See P(maintenance.azure.plan#filter).
        type: dict
        default: {}
      who:
        description: Who runs this, for its leases.
        type: str
        default: ""
      wait:
        description: Whether to wait until all events are over. Without it the pass ends when no action is due.
        type: bool
        default: false
      wait_timeout:
        description: The longest duration of the pass, in seconds.
        type: int
        default: 7200
      observation_seconds:
        description: How long an observation may take. An older observation is repeated before an action.
        type: int
        default: 30
      notify_tasks:
        description: See O(maintenance.azure.respond#role:main:respond_notify_tasks).
        type: str
        default: ""
      places:
        description: Where relative paths of task files are looked for.
        type: list
        elements: str
        default: []
  begin_gate:
    description: The request of role P(maintenance.azure.gate#role), before the first observation.
    type: dict
    suboptions:
      ask:
        description: The request, see P(maintenance.azure.gate#filter).
        type: dict
        required: true
      policy:
        description: See O(maintenance.azure.respond#role:main:respond_policy).
        type: raw
        default: default
      settings:
        description: See P(maintenance.azure.plan#filter).
        type: dict
        default: {}
      run:
        description: The id of the run, for its leases.
        type: str
        required: true
      who:
        description: Who runs this, for its leases.
        type: str
        default: ""
      wait_timeout:
        description: The longest wait for the gate, in seconds.
        type: int
        default: 3600
      keepers:
        description: Hosts that may have a replica of a record of the batch.
        type: list
        elements: str
        default: []
  begin_methods:
    description:
      - What to begin with where role P(maintenance.azure.upgrade#role) drains or recovers the VMs of a batch.
      - It takes the hosts of the batch that are at this task, each with what it has noted in C(__upgrade_asks) and was observed before.
      - Each VM has a time limit of its own, and fails by itself.
    type: dict
    suboptions:
      action:
        description: What to do.
        type: str
        choices: [drain, recover]
        required: true
      upgrade:
        description: The name of the upgrade.
        type: str
        required: true
      since:
        description: When what was planned before was begun. Each host that is at this task has noted the same; where it is another one, the host is elsewhere.
        type: str
        required: true
      places:
        description: Where relative paths of task files are looked for.
        type: list
        elements: str
        default: []
  go_on:
    description:
      - The name under which the tasks of this pass register their results.
      - Together with O(begin) the pass begins with what was checked under this name before, see O(check_only).
    type: str
  check_only:
    description: Whether to check O(begin) and keep it, before any VM is observed. Nothing is planned.
    type: bool
    default: false
attributes:
  check_mode:
    support: full
    details: In check mode the pass has no lease, and ends after its first plan.
  diff_mode:
    support: none
  idempotent:
    support: full
    details: It changes nothing.
seealso:
  - module: maintenance.azure.maintenance_act
  - plugin: maintenance.azure.plan
    plugin_type: filter
extends_documentation_fragment:
  - maintenance.azure.attributes
"""

EXAMPLES = r"""
# As role respond does, whose tasks act by the registered result
- name: Observe every VM
  maintenance.azure.maintenance_act:
    actions: []
  register: observe_result

- name: Plan what each VM does next
  maintenance.azure.plan:
    begin: {}
  register: this_pass
  run_once: true

- name: Show it
  ansible.builtin.debug:
    msg: "{{ this_pass.plan | maintenance.azure.status_lines }}"
  run_once: true
"""

RETURN = r"""
do:
  description:
    - What the next iteration does. V(action), V(acquire) and V(by_tasks) take actions, V(wait) waits, V(say) and V(release) end a pass, V(end) is its end.
    - All but the last three observe the VMs in RV(contact) then.
  returned: success
  type: str
  sample: act
plan:
  description: The plan, see P(maintenance.azure.plan#filter).
  returned: success
  type: dict
  sample: {}
actions:
  description: For each host what M(maintenance.azure.maintenance_act) takes on the VM.
  returned: success
  type: dict
  sample: {}
assignments:
  description: For each host the same as C(on_vm), and what tasks take as C(by_tasks).
  returned: success
  type: dict
  sample: {}
stages:
  description: The stages of what tasks take, in order, each with C(name), C(actions) and C(place).
  returned: success
  type: list
  elements: dict
  sample: []
contact:
  description: The hosts that take part in the next iteration.
  returned: success
  type: list
  elements: str
  sample: [web1]
pause:
  description: How many seconds the next iteration waits first.
  returned: success
  type: int
  sample: 15
watchers:
  description: The hosts that listen for news meanwhile.
  returned: success
  type: list
  elements: str
  sample: [web1]
waited:
  description: The seconds since the begin of the pass.
  returned: success
  type: int
  sample: 12
involved:
  description: The hosts that act or wait in this pass.
  returned: success
  type: list
  elements: str
  sample: [web1, web2]
staying:
  description: The same hosts, and one other, which reports if none of them can.
  returned: success
  type: list
  elements: str
  sample: [web1, web2, web3]
number:
  description: The number of the iteration in the pass.
  returned: success
  type: int
  sample: 1
run:
  description: The id of the run, as its leases have it. Empty in check mode.
  returned: success
  type: str
  sample: 13v8xk2mq0ab
observations:
  description: The observation of each host, as P(maintenance.azure.plan#filter) takes it.
  returned: success
  type: list
  elements: dict
  sample: []
vms:
  description: The settings of each VM at the begin.
  returned: success
  type: dict
  sample: {}
request:
  description: The request that the pass began with.
  returned: success
  type: dict
  sample: {}
"""

from ansible.module_utils.basic import AnsibleModule

ARGUMENTS = {
    "begin": {"type": "dict"},
    "begin_gate": {"type": "dict"},
    "begin_methods": {"type": "dict"},
    "go_on": {"type": "str"},
    "check_only": {"type": "bool", "default": False},
}


def main() -> None:
    """Fail: all of its work is done by the action of the same name, on the controller."""
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True)
    module.fail_json(msg="maintenance.azure.plan runs on the controller: call it by this name, so that its action plugin is used.")


if __name__ == "__main__":
    main()
