#!/usr/bin/python

# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

from __future__ import annotations

DOCUMENTATION = r"""
module: maintenance_act
short_description: (internal) Take actions about scheduled events on a VM, and return what is observed then
version_added: 2.0.0
author: The maintenance.azure authors (@maintenance-azure)
description:
  - Internal, for the roles of this collection. Takes the actions of a plan for one VM in the order given, each under its lease, then observes the VM as
    M(maintenance.azure.maintenance_info) does. It decides nothing, and it does not wait. C(core/actions.py) has the kinds of actions and their keys.
  - An action that fails says so in RV(results), and the others are still taken. The module fails where the VM cannot be observed.
options:
  actions: {type: list, elements: dict, required: true, description: "What to do, each with C(action), and mostly C(event_id) and C(lease)."}
  observe: {type: bool, default: true, description: Whether to observe the VM after the actions.}
  host_mark: {type: str, description: "Text of 32 hexadecimal digits, kept for ten minutes beside the records. It finds hosts that share a directory."}
  look_for_services: {type: bool, default: false, version_added: 2.4.0, description: "Whether to return which services run that a drain method is for."}
  identity: {type: dict, description: "Who the VM is, for its records.", suboptions: {
    vm_id: {type: str, description: Its vmId. A record of another VM is set aside.}, vm_name: {type: str, description: Its name in Azure.}}}
  vm_settings: {type: dict, description: "What belongs to the VM's variables, such as C(respond_endpoint), which then replace the shared options. It stays on
    the controller. A VM that is excluded, or whose facts or settings are wrong, is not asked."}
  settings_of: {type: str, description: "The host that the task is delegated to, whose variables then replace the shared options."}
extends_documentation_fragment: [maintenance.azure.attributes, maintenance.azure.attributes.either_way, maintenance.azure.attributes.action_group,
  maintenance.azure.endpoint, maintenance.azure.selection, maintenance.azure.observation]
attributes: {check_mode: {support: full}, diff_mode: {support: partial, details: Of a drain in check mode.}, idempotent: {support: full}}
"""

EXAMPLES = r"""
- name: Observe a VM of the simulator
  maintenance.azure.maintenance_act: {actions: [], endpoint: "http://127.0.0.1:8080"}
"""

RETURN = r"""
asked: {type: list, elements: dict, returned: always, description: What was asked for. It comes from the controller and not from the VM.}
vm_settings: {type: dict, returned: with O(vm_settings), description: "The same, with the values, and in C(wrong) what is wrong with them."}
not_reached: {type: bool, returned: with O(vm_settings), description: That the VM could not be reached.}
excluded: {type: bool, returned: when it was not asked, description: "That the VM was not asked, for O(vm_settings) excludes it."}
refused: {type: bool, returned: when it was not asked, description: "That the VM was not asked, for its facts contain settings of this collection."}
results: {type: list, elements: dict, returned: always, description: "What came of each action, with C(action), C(failed), C(msg) and C(state).
  In check mode a drain has C(would), what each of its methods would do, and C(state) V(failed) where one would be refused."}
host_marks: {type: list, elements: str, returned: with O(host_mark), description: "The marks in the directory of the records, its own first."}
services: {type: list, elements: str, returned: with O(look_for_services), description: The systemd units that run and that a drain method is for.}
error_kind: {type: str, returned: failure, description: "What went wrong, for programs.", sample: bad_option}
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
