#!/usr/bin/python

# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: plan
short_description: Collect the results of the hosts of a play, and plan the next actions of each VM
version_added: 2.0.0
author:
  - The maintenance.azure authors (@maintenance-azure)
description:
  - The planner of the roles P(maintenance.azure.respond#role), P(maintenance.azure.gate#role) and P(maintenance.azure.upgrade#role), for these roles only.
    It runs once for all hosts of the play, on the controller, and needs C(run_once=true) and C(register).
  - With O(begin) it begins a pass. It reads the result of M(maintenance.azure.maintenance_act) that every host has registered as C(observe_result), and plans.
  - With O(go_on) it continues the pass. It reads the results since then, plans again, and returns in RV(do) whether to act, to wait or to end.
    The state between iterations is in its own result, so every task of a pass registers under the same name.
  - It makes the same plan as P(maintenance.azure.plan#filter), and it changes nothing.
options:
  begin:
    description: The inputs of a pass. They are read once; later changes of the variables have no effect.
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
        description: The operator or job that runs this, for its leases.
        type: str
        default: ""
      wait:
        description: Whether to continue until all events are handled. Otherwise the pass ends when nothing can be done now.
        type: bool
        default: false
      wait_timeout:
        description: The maximum seconds of the pass.
        type: int
        default: 7200
      confirm_end:
        description: Whether a pass that does not wait still waits up to a minute to confirm the end of an event, and recovers its VMs.
        type: bool
        default: true
        version_added: 2.1.0
      observation_seconds:
        description: The seconds after which an observation is too old. A VM is observed again before an action on it if its observation is older.
        type: int
        default: 30
      notify_tasks:
        description: See O(maintenance.azure.respond#role:main:respond_notify_tasks).
        type: str
        default: ""
      places:
        description: Directories in which relative paths of task files are searched.
        type: list
        elements: str
        default: []
      start_when:
        description:
          - See O(maintenance.azure.respond#role:main:respond_start_when). Asked on the controller, once for the pass and again after a minute, and only where
            the plan would begin something that is not at its deadline.
        type: raw
        version_added: 2.1.0
      only_shows:
        description: Whether the pass only shows the state. Then no command of O(begin.start_when) is run.
        type: bool
        default: false
        version_added: 2.1.0
  begin_gate:
    description: The inputs where role P(maintenance.azure.gate#role) asks. No VM is observed yet.
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
        description: The operator or job that runs this, for its leases.
        type: str
        default: ""
      wait_timeout:
        description: The maximum seconds to wait for the gate.
        type: int
        default: 3600
      keepers:
        description: Hosts that may have a replica of a record of the batch.
        type: list
        elements: str
        default: []
      places:
        description: Directories in which relative paths of task files are searched.
        type: list
        elements: str
        default: []
  begin_methods:
    description:
      - The inputs where role P(maintenance.azure.upgrade#role) drains or recovers the VMs of a batch.
      - It takes the hosts of the batch that are at this task, each with its request in C(__upgrade_asks) and its last observation.
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
        description: When the plan before this was begun. Each host that is at this task has noted the same time; a host with another time is at another task.
        type: str
        required: true
      places:
        description: Directories in which relative paths of task files are searched.
        type: list
        elements: str
        default: []
  check_settings:
    description:
      - Check the settings of the hosts, each as registered in C(__respond_vm_settings), and fail where any are wrong. Nothing is planned.
      - The value has the directories in which relative paths of task files are searched.
    type: list
    elements: str
  go_on:
    description:
      - The name under which the tasks of this pass register their results.
      - Together with O(begin) the pass begins with the inputs that were checked under this name before, see O(check_only).
    type: str
  begin_variable:
    description:
      - With O(check_only), the name of the variable that has O(begin). It is evaluated only after each setting of the fleet was, so that one that cannot be
        evaluated is named.
    type: str
    version_added: 2.2.0
  check_only:
    description: Whether to check O(begin) and keep it, before any VM is observed. Nothing is planned.
    type: bool
    default: false
attributes:
  check_mode:
    support: full
    details: In check mode the pass acquires no lease, takes no action, and ends with its first plan.
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
# As role respond does, whose tasks act by the registered plan
- name: Observe every VM
  maintenance.azure.maintenance_act:
    actions: []
  register: observe_result

- name: Plan the next actions of each VM
  maintenance.azure.plan:
    begin: {}
  register: this_pass
  run_once: true

- name: Show the plan
  ansible.builtin.debug:
    msg: "{{ this_pass.plan | maintenance.azure.status_lines }}"
  run_once: true
"""

RETURN = r"""
do:
  description:
    - What the next iteration does. V(act), V(acquire) and V(by_tasks) take actions, V(wait) and V(pause) wait, with VMs that listen for news
      and without, V(release) ends a pass, V(end) is its end.
    - All but the last two then observe the VMs in RV(contact).
  returned: success
  type: str
  sample: act
plan:
  description: The plan, see P(maintenance.azure.plan#filter).
  returned: success
  type: dict
actions:
  description: For each host the actions that M(maintenance.azure.maintenance_act) takes on the VM.
  returned: success
  type: dict
assignments:
  description: For each host the same actions as C(on_vm), and the actions of tasks as C(by_tasks).
  returned: success
  type: dict
stages:
  description: The stages of the actions of tasks, in order, each with C(name), C(actions) and C(place).
  returned: success
  type: list
  elements: dict
contact:
  description: The hosts that take part in the next iteration.
  returned: success
  type: list
  elements: str
  sample: [web1]
pause:
  description: The seconds that the next iteration waits first.
  returned: success
  type: int
  sample: 15
listeners:
  description: The hosts that wait for a change of their document meanwhile.
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
  description: The hosts that have an action, or a reason to wait, in this pass.
  returned: success
  type: list
  elements: str
  sample: [web1, web2]
staying:
  description: The same hosts, and one other, which reports where none of these can.
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
  description:
    - The observations of the hosts in RV(involved), as P(maintenance.azure.plan#filter) takes them.
    - Where the pass only shows the state, and in check mode, those of all hosts.
  returned: success
  type: list
  elements: dict
vms:
  description: The settings of the VMs in RV(observations), from their variables, at the begin.
  returned: success
  type: dict
ansible_stats:
  description: The statistics C(respond_stats) of P(maintenance.azure.respond#role), as M(ansible.builtin.set_stats) would set them.
  returned: at the end of a pass, and where it only shows the state
  type: dict
  version_added: 2.2.0
request:
  description: The inputs of the pass.
  returned: success
  type: dict
"""

from ansible.module_utils.basic import AnsibleModule

ARGUMENTS = {
    "begin": {"type": "dict"},
    "begin_gate": {"type": "dict"},
    "begin_methods": {"type": "dict"},
    "check_settings": {"type": "list", "elements": "str"},
    "go_on": {"type": "str"},
    "begin_variable": {"type": "str"},
    "check_only": {"type": "bool", "default": False},
}


def main() -> None:
    """Fail: the action plugin of the same name does the work, on the controller."""
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True)
    module.fail_json(msg="maintenance.azure.plan runs on the controller: call it by this name, so that its action plugin is used.")


if __name__ == "__main__":
    main()
