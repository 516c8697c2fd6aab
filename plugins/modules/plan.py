# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

DOCUMENTATION = r"""
module: plan
short_description: (internal) Collect the results of the hosts of a play, and plan the next actions of each VM
version_added: 2.0.0
author: The maintenance.azure authors (@maintenance-azure)
description:
  - Internal, the planner of roles P(maintenance.azure.respond#role), P(maintenance.azure.gate#role) and P(maintenance.azure.upgrade#role). It runs once for all
    hosts of the play, on the controller, and makes the same plan as P(maintenance.azure.plan#filter). C(action/plan.py) has the types of its inputs.
  - The state between iterations is in its own result, so every task of a pass registers under the same name.
options:
  begin: {type: dict, description: "The inputs of a pass, which are read once. Every host has registered its observation as C(observe_result)."}
  begin_gate: {type: dict, description: "The inputs where role P(maintenance.azure.gate#role) asks. No VM is observed yet."}
  begin_methods: {type: dict, description: "The inputs where role P(maintenance.azure.upgrade#role) drains or recovers the VMs of a batch, each with a time
    limit of its own. It takes the hosts that are at this task, each with its request in C(__upgrade_asks) and its last observation."}
  begin_upgrade: {type: dict, description: "The request of playbook C(rolling_upgrade), which has observed all VMs. Returns their batches (RV(batches))."}
  approvers: {type: list, elements: dict, description: "Restarts, see P(maintenance.azure.own_restarts#filter). Returns who approves them (RV(approvals))."}
  check_settings: {type: bool, description: "Check the settings of the hosts in C(__respond_vm_settings), and fail for wrong ones."}
  go_on: {type: str, description: "The name under which the tasks of this pass register their results. With O(begin) the pass begins with the inputs that were
    checked under this name before, see O(check_only)."}
  begin_variable: {type: str, description: "With O(check_only), the variable that has O(begin), evaluated only after each setting of the fleet was."}
  check_only: {type: bool, default: false, description: "Whether to check O(begin) and keep it, before any VM is observed. Nothing is planned."}
extends_documentation_fragment: [maintenance.azure.attributes, maintenance.azure.attributes.read_only]
"""

EXAMPLES = r"""
- name: Plan the next actions of each VM
  maintenance.azure.plan: {begin: {}}
  register: this_pass
  run_once: true
"""

RETURN = r"""
do: {type: str, returned: success, description: "What the next iteration does, as a tasks file of the role; V(end) ends the pass.", sample: act}
plan: {type: dict, returned: success, description: "The plan, see P(maintenance.azure.plan#filter)."}
assignments: {type: dict, returned: success, description: "For each host its actions on the VM (C(on_vm)) and of tasks (C(by_tasks))."}
contact: {type: list, elements: str, returned: success, description: The hosts that take part in the next iteration., sample: [web1]}
pause: {type: int, returned: success, description: The seconds that the next iteration waits first., sample: 15}
batches: {type: list, elements: list, returned: with O(begin_upgrade), description: "The VMs in batches; C(done), C(keepers) and C(lines) beside them."}
approvals: {type: dict, returned: with O(approvers), description: "For each host that approves for all, C(event_ids) and C(approve_for)."}
limits: {type: dict, returned: success, description: "The seconds of tasks that act under a lease, and of leases."}
observations: {type: list, elements: dict, returned: success, description: "The observations, as P(maintenance.azure.plan#filter) takes them."}
"""
