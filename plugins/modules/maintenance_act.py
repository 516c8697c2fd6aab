#!/usr/bin/python

# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: maintenance_act
short_description: Take actions about scheduled events on a VM, and return what is observed then
version_added: 2.0.0
author:
  - The maintenance.azure authors (@maintenance-azure)
description:
  - Takes all actions that a plan has for one VM, in the order given, each under its lease. Then it observes the VM as
    M(maintenance.azure.maintenance_info) does. One run of a module for each VM, because starting a module is what costs.
  - The roles of this collection use it. It decides nothing, and it does not wait. A drain that goes on is observed again by the next run.
  - It runs the drain methods V(service), V(probe_file), V(command) and V(none), and V(iis) and V(wsfc) on Windows. The others are tasks of role
    P(maintenance.azure.drain#role).
  - An action that fails says so in RV(results). The others are still taken, and the module does not fail.
    It fails where the VM cannot be observed, and still returns RV(results).
options:
  actions:
    description:
      - What to do, in this order. Each action has C(action), and mostly C(event_id) and C(lease), which is the same as in
        M(maintenance.azure.maintenance_record).
      - V(acquire), V(release), V(write) and V(prune) change leases and records, as O(maintenance.azure.maintenance_record#module:state) V(leased),
        V(released), V(present) and V(pruned) do, with the options of that module.
      - V(approve) records the intention, approves C(event_ids) for C(approve_for), and records that.
      - V(drain) begins or checks the methods in C(methods) for C(event). It takes C(deadline), C(late), C(rule), C(verify), C(problem), C(complete) and
        C(stop_at_finding) and C(peers) too.
      - A method that is tasks of the controller comes with what its tasks found (C(finding), which is recorded before they act) or answered
        (C(answer), with C(state) and C(error)). An answer of another stage, or before the method has begun, is a failed drain or undo.
      - V(take_over) makes SQL Server C(instance) on this Windows VM primary of the availability group C(group), whose primary is on a VM that drains.
        Where the failover cluster, as this VM sees it, has that group on no node of C(primary), the action fails.
      - V(undo) and V(recover) undo the methods in C(methods), which are in the order of undoing.
    type: list
    elements: dict
    required: true
  observe:
    description: Whether to observe the VM after the actions. Then everything that M(maintenance.azure.maintenance_info) returns stands beside RV(results).
    type: bool
    default: true
  host_mark:
    description:
      - A text of 32 hexadecimal digits that no other host can guess, which the controller makes for this host and this run.
      - It is left in the directory of the records, for ten minutes from the last time. So hosts that share one directory are found, see RV(host_marks).
    type: str
    version_added: 2.1.0
  identity:
    description: Who the VM is, for its records.
    type: dict
    suboptions:
      vm_id:
        description: Its vmId. A record of another VM is set aside.
        type: str
      vm_name:
        description: Its name in Azure.
        type: str
  vm_settings:
    description:
      - What belongs to the VM's variables, for the first observation of a pass, see M(maintenance.azure.plan).
      - With it, the options C(endpoint), C(api_version), C(records_path), C(health), C(vm_name) and C(boot_id) are those of the VM's variables, such as
        C(respond_endpoint).
      - It stays on the controller, and comes back as RV(vm_settings). A VM that is excluded, that cannot be observed with its settings, or whose facts contain
        settings of this collection, is not asked.
    type: dict
attributes:
  check_mode:
    support: full
    details: In check mode no record is written and nothing is drained, undone or approved.
  diff_mode:
    support: none
    details: Records are many and change often. M(maintenance.azure.maintenance_record) shows one.
  idempotent:
    support: full
    details: What is done already is not done again.
seealso:
  - module: maintenance.azure.maintenance_info
  - module: maintenance.azure.maintenance_record
extends_documentation_fragment:
  - maintenance.azure.attributes
  - maintenance.azure.attributes.either_way
  - maintenance.azure.attributes.action_group
  - maintenance.azure.endpoint
  - maintenance.azure.selection
  - maintenance.azure.observation
"""

EXAMPLES = r"""
# As root, against the simulator of this collection (role simulator)
- name: Take a VM out of service for a rehearsed event
  maintenance.azure.maintenance_act:
    endpoint: http://127.0.0.1:8080
    records_path: /var/lib/azure-maintenance
    actions:
      - action: drain
        event_id: REHEARSAL-1
        event:
          event_id: REHEARSAL-1
          event_type: Freeze
          resources: [web1]
        methods:
          - id: 1-probe_file
            kind: probe_file
            given:
              path: /run/azure-out
              present_means: out
              interval: 0
  register: acted

- name: Show how far it is
  ansible.builtin.debug:
    msg: "{{ acted.results[0].state }}"
"""

RETURN = r"""
asked:
  description: What was asked for, each with C(action), C(event_id), C(event_ids) and C(iteration). It comes from the controller and not from the VM.
  returned: always, unless the VM cannot be reached
  type: list
  elements: dict
vm_settings:
  description:
    - The option O(vm_settings), with the settings that the VM's variables have, and in C(wrong) what is wrong with them. It comes from the controller and not
      from the VM.
  returned: when O(vm_settings) was given, unless the module failed, because failed results are printed
  type: dict
not_reached:
  description: That the VM could not be reached. With O(vm_settings) this is a failure, so that a rescue can keep them.
  returned: when O(vm_settings) was given, and the VM could not be reached
  type: bool
excluded:
  description: That the VM was not asked, for O(vm_settings) excludes it.
  returned: when it was not asked for this reason
  type: bool
  sample: true
refused:
  description: That the VM was not asked, for its facts contain settings of this collection. The task fails, and its message names them.
  returned: when it was not asked for this reason
  type: bool
  sample: true
results:
  description: What came of each action, in the order of O(actions).
  returned: success, and failure after the first action
  type: list
  elements: dict
  contains:
    action:
      description: The action.
      type: str
      sample: drain
    event_id:
      description: The event it was for, empty where it was for none.
      type: str
      sample: REHEARSAL-1
    failed:
      description: Whether it could not be done.
      type: bool
      sample: false
    changed:
      description: Whether it changed anything.
      type: bool
      sample: true
    msg:
      description: Why it could not be done.
      returned: when it failed
      type: str
      sample: The lease of run abc123 for event REHEARSAL-1 is gone.
    error_kind:
      description: What went wrong, for programs.
      returned: when it failed
      type: str
      sample: lease_lost
    state:
      description: How far a drain is (V(draining), V(drained), V(failed), or V(found) with C(stop_at_finding) or C(finding)), an undo (V(undoing), V(undone),
        V(failed)), or V(approved).
      returned: for drains, undos and approvals
      type: str
      sample: drained
    error:
      description: What it waits for, or why it failed.
      returned: for drains and undos
      type: str
      sample: 3 connection(s) open on port(s) 443
    warning:
      description: What an operator has to know although nothing failed. V(null) for nothing.
      returned: for drains
      type: str
    handover:
      description:
        - With C(state) V(found), which availability group another replica must take over before the method acts, by the name of the group.
        - Where that is done says the controller's own variables.
      returned: for drains
      type: dict
      sample: {Orders: SQL2}
    record:
      description: The record of the event after the action, as M(maintenance.azure.maintenance_record) returns it.
      returned: for drains and undos
      type: dict
    leases:
      description: The leases of the run on this VM after the action.
      returned: for leases
      type: list
      elements: str
    approved:
      description: Events that were approved.
      returned: for approvals
      type: list
      elements: str
    already_started:
      description: Events that had started before.
      returned: for approvals
      type: list
      elements: str
    not_found:
      description: Events that are not listed.
      returned: for approvals
      type: list
      elements: str
host_marks:
  description: The marks in the directory of the records, this host's own first. Two hosts that return each other's marks share one directory.
  returned: with O(host_mark) and O(observe), not in check mode
  type: list
  elements: str
error_kind:
  description: What went wrong, for programs. The same as in M(maintenance.azure.scheduled_events_info).
  returned: failure
  type: str
  sample: bad_option
"""

from functools import partial

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._scheduled_events.host.access import run_as_module
from ..module_utils._scheduled_events.host.files import LocalFiles
from ..module_utils._scheduled_events.host.machine.machine import local_machine
from ..module_utils._scheduled_events.host.system import LocalHost
from ..module_utils._scheduled_events.host.system_log import log_to_syslog
from ..module_utils._scheduled_events.operations.maintenance_act import act_arguments, act_on_vm


def main() -> None:
    module = AnsibleModule(argument_spec=act_arguments(), supports_check_mode=True)
    run_command = partial(module.run_command, handle_exceptions=False, environ_update={"LC_ALL": "C"})
    machine = partial(local_machine, run_command=run_command)
    run_as_module(module, act_on_vm, files=LocalFiles.of_option, host=partial(LocalHost, run_command), log=log_to_syslog, machine=machine)


if __name__ == "__main__":
    main()
