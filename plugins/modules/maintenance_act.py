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
  - The roles of this collection use it. It decides nothing, and it does not wait. A drain that goes on is looked at again by the next run.
  - It runs the drain methods V(service), V(probe_file), V(command) and V(none), and V(iis) on Windows. The others are tasks of role
    P(maintenance.azure.drain#role).
  - An action that fails says so in RV(results). The others are taken all the same, and the module does not fail.
    It fails where the VM cannot be observed, with RV(results) all the same.
options:
  actions:
    description:
      - What to do, in this order. Each action has C(act), and mostly C(event_id) and C(claim), which is the same as in
        M(maintenance.azure.maintenance_record).
      - V(claim), V(release), V(note) and V(forget) change leases and records, as O(maintenance.azure.maintenance_record#module:state) V(claimed),
        V(released), V(present) and V(pruned) do, with the options of that module.
      - V(approve) records the intention, approves C(event_ids) for C(approve_for), and records that.
      - V(drain) begins or checks the methods in C(steps) for C(event). It takes C(deadline), C(late), C(rule), C(verify), C(problem), C(complete) and
        C(stop_at_finding) too.
      - V(undo) and V(recover) undo the methods in C(steps), which are in the order of undoing.
    type: list
    elements: dict
    required: true
  observe:
    description:
      - Whether to observe the VM after the actions. Without it only RV(results) are returned.
    type: bool
    default: true
  identity:
    description:
      - Who the VM is, for its records.
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
      - What the controller's variables say of the VM, for the first observation of a pass, see M(maintenance.azure.plan).
      - It stays on the controller, and comes back as RV(vm_settings). A VM that is excluded by it, or whose facts contain settings of this collection,
        is not asked.
    type: dict
  records_path:
    description:
      - Directory of the records on the VM, see M(maintenance.azure.maintenance_record).
      - Where it may not be read or written, the result says so in RV(records_problems). The rest of the look is the same.
    type: str
    default: /var/lib/azure-maintenance
  health:
    description:
      - How to see that the application is in service. Give one of C(port), C(url), C(file) and C(service).
      - Without it nothing is known about the service.
    type: dict
    suboptions:
      port:
        description: It is in service while this TCP port accepts connections.
        type: int
      url:
        description:
          - It is in service while a GET of this URL answers with a status from 200 to 399.
          - Proxies are never used. Redirects are not followed.
        type: str
      file:
        description: It is in service while this file exists, with or without content.
        type: str
      service:
        description: It is in service while systemd calls this unit active.
        type: str
      host:
        description: Where O(health.port) is.
        type: str
        default: 127.0.0.1
      timeout:
        description: Seconds until O(health.port) or O(health.url) must have answered.
        type: float
        default: 5.0
      validate_certs:
        description: Whether the certificate of O(health.url) must be valid.
        type: bool
        default: true
  include_raw:
    description:
      - Return each event also as it was received, in C(raw).
    type: bool
    default: false
  boot_id:
    description:
      - What to return as RV(boot_id), for tests and rehearsals where nothing is really rebooted.
    type: str
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
"""

EXAMPLES = r"""
# As root, against the simulator of this collection (role simulator)
- name: Take a VM out of service for a rehearsed event
  maintenance.azure.maintenance_act:
    endpoint: http://127.0.0.1:8080
    records_path: /var/lib/azure-maintenance
    actions:
      - act: drain
        event_id: REHEARSAL-1
        event:
          event_id: REHEARSAL-1
          event_type: Freeze
          resources: [web1]
        steps:
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
  description: What was asked for, each with C(act), C(event_id), C(event_ids) and C(turn). It comes from the controller and not from the VM.
  returned: always, unless the VM cannot be reached
  type: list
  elements: dict
  sample: []
vm_settings:
  description: The option O(vm_settings), as it was given. It comes from the controller and not from the VM.
  returned: when O(vm_settings) was given, also where the VM failed or could not be reached
  type: dict
  sample: {}
excluded:
  description: That the VM was not asked, for O(vm_settings) excludes it.
  returned: when it was not asked for this reason
  type: bool
  sample: true
refused:
  description: Why the VM was not asked, for its facts contain settings of this collection.
  returned: when it was not asked for this reason
  type: str
  sample: the setting respond_policy comes from its facts
results:
  description: What came of each action, in the order of O(actions).
  returned: success
  type: list
  elements: dict
  contains:
    act:
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
      sample: The claim of run abc123 for event REHEARSAL-1 is gone.
    error_kind:
      description: What went wrong, for programs.
      returned: when it failed
      type: str
      sample: claim_lost
    state:
      description:
        - How far a drain is (V(draining), V(drained), V(failed), or V(found) with C(stop_at_finding)), an undo (V(undoing), V(undone), V(failed)),
          or V(approved).
      returned: for drains, undos and approvals
      type: str
      sample: drained
    error:
      description: What it waits for, or why it failed.
      returned: for drains and undos
      type: str
      sample: 3 connection(s) open on port(s) 443
    record:
      description: The record of the event after the action, as M(maintenance.azure.maintenance_record) returns it.
      returned: for drains and undos
      type: dict
      sample: {}
    claims:
      description: The leases of the run on this VM after the action.
      returned: for leases
      type: list
      elements: str
      sample: []
    approved:
      description: Events that were approved.
      returned: for approvals
      type: list
      elements: str
      sample: []
    already_started:
      description: Events that had started before.
      returned: for approvals
      type: list
      elements: str
      sample: []
    not_found:
      description: Events that are not listed.
      returned: for approvals
      type: list
      elements: str
      sample: []
vm_name:
  description: The name of this VM as events have it.
  returned: with O(observe)
  type: str
  sample: web1
document_incarnation:
  description: Number of the document. Only a difference means something, it may restart from a lower number.
  returned: with O(observe)
  type: int
  sample: 3
api_version:
  description: The version of Scheduled Events that was used.
  returned: with O(observe)
  type: str
  sample: "2020-07-01"
events:
  description: The events of the document that O(affecting) and the other selections let through, as received in order.
  returned: with O(observe)
  type: list
  elements: dict
  sample:
    - event_id: C7061BAC-AFDC-4513-B24B-AA5F13A16123
      event_type: Freeze
      event_status: Scheduled
      resource_type: VirtualMachine
      resources: [web1, web2]
      not_before: "2026-11-21T20:15:00Z"
      description: Virtual machine is being paused because of a memory-preserving Live Migration operation.
      event_source: Platform
      duration_in_seconds: 5
      affects_this_vm: true
identity:
  description: Who this VM is, from the instance metadata. V(null) for what is not known.
  returned: with O(observe)
  type: dict
  sample:
    name: web1
    vm_id: 02aab8a4-74ef-476e-8182-f6d2ba4166a6
    resource_id: /subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/shop/providers/Microsoft.Compute/virtualMachines/web1
    subscription_id: 00000000-0000-0000-0000-000000000000
    resource_group: shop
    scale_set: null
    placement_group: null
    fault_domain: "0"
    update_domain: "0"
    zone: null
    location: westeurope
    priority: Regular
    eviction_policy: null
    environment: AzurePublicCloud
    os_type: Linux
system:
  description: How the VM was looked at, by this module on the VM (V(linux)) or from the controller (V(windows)).
  returned: with O(observe)
  type: str
  sample: linux
  version_added: 1.2.0
boot_id:
  description: Another text after each boot. V(null) where it cannot be known.
  returned: with O(observe)
  type: str
  sample: 3f1e9a2c-6f1e-4b57-9b4e-0c9f3f5a7f10
uptime_seconds:
  description: Seconds since the boot. V(null) where it cannot be known.
  returned: with O(observe)
  type: float
  sample: 86012.5
now:
  description: The clock of the VM when the document had been read.
  returned: with O(observe)
  type: str
  sample: "2026-11-21T20:00:00.000000Z"
enabled_at:
  description:
    - Since when events have been asked for on this VM without a day of silence, as far as the marker in O(records_path) knows.
    - V(null) when there is no marker and none could be written.
  returned: with O(observe)
  type: str
  sample: "2026-11-20T08:00:00.000000Z"
enabled_recently:
  description:
    - Whether that is less than five minutes ago, or not known. Then an empty list of events proves nothing.
    - Within one boot the uptime decides, so that a clock that jumps does not matter.
  returned: with O(observe)
  type: bool
  sample: false
in_service:
  description: Whether the application is in service. V(null) without O(health), or when it could not be asked.
  returned: with O(observe)
  type: bool
  sample: true
in_service_why:
  description: What was seen.
  returned: with O(observe)
  type: str
  sample: port 443 of 127.0.0.1 accepts connections
records:
  description:
    - The records of events, oldest first, as M(maintenance.azure.maintenance_record) returns them.
    - Each has C(age_seconds) in addition, the seconds since the event was first noted by the clock of the VM.
  returned: with O(observe)
  type: list
  elements: dict
  sample: []
claims:
  description:
    - Who is at work on this VM, as M(maintenance.azure.maintenance_record) has noted it.
    - Each has C(name) (of its file), C(run), C(digest) (of the event's id), C(event_id), C(kind), C(who), C(groups), C(made_at),
      C(limit) (until when, by the clock of the VM) and C(expired).
  version_added: 1.1.0
  returned: with O(observe)
  type: list
  elements: dict
  sample: []
mirrors:
  description:
    - Copies of other VMs' records that lie on this VM. They are no records of this VM.
    - Each has C(vm) (the name in the inventory), C(vm_id), C(keeper_vm_id) (since version 1.4.0 of the collection, which VM wrote it down) and
      C(record), the findings of methods outside that VM.
    - Copies older than 30 days, and those that came with the disk of another VM, are left out.
  version_added: 1.1.0
  returned: with O(observe)
  type: list
  elements: dict
  sample: []
tombstones:
  description:
    - Events that are over on this VM and whose records were removed. A copy of such a record restores nothing.
    - Each has C(event_id), C(vm_id) and C(at). They are kept for 31 days, a day longer than copies.
  version_added: 1.4.0
  returned: with O(observe)
  type: list
  elements: dict
  sample: []
upgrades:
  description:
    - How far upgrades are on this VM, as M(maintenance.azure.maintenance_record) has marked it.
    - Each has C(name), C(state) (V(begun), V(upgraded), V(left) or V(done)), C(at), C(begun_at), C(run) and C(who).
  version_added: 1.3.0
  returned: with O(observe)
  type: list
  elements: dict
  sample: []
records_problems:
  description: In words, whatever is wrong with the records. Each names the file and what to do.
  returned: with O(observe)
  type: list
  elements: str
  sample: []
records_readable:
  description: V(false) when there may be records that could not be read. Then nothing may be concluded from RV(records).
  returned: with O(observe)
  type: bool
  sample: true
endpoint:
  description: The endpoint that was asked. Null when O(endpoint=discover) found none.
  version_added: 1.2.0
  returned: with O(observe)
  type: str
  sample: http://168.63.129.16
endpoint_source:
  description: Where O(endpoint=discover) found it, in words. Null when O(endpoint) is an address.
  version_added: 1.2.0
  returned: with O(observe)
  type: str
  sample: DHCP on eth0
error_kind:
  description: What went wrong, for programs. The same as in M(maintenance.azure.scheduled_events_info).
  returned: failure
  type: str
  sample: bad_option
"""

import typing as t

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.access import Failed, HostAccess
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.files import LocalFiles
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine import Machine, local_machine
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.system import Host, LocalHost
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.system_log import tell_syslog
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.operations.maintenance_act import act_arguments, act_on_vm


def main() -> None:
    module = AnsibleModule(argument_spec=act_arguments(), supports_check_mode=True)

    def run_command(words: list[str]) -> tuple[int, str, str]:
        return module.run_command(words, handle_exceptions=False, environ_update={"LC_ALL": "C"})

    def host(boot_id: str | None) -> Host:
        return LocalHost(run_command, boot_id)

    def machine(now: t.Callable[[], str]) -> Machine:
        return local_machine(now, run_command)

    access = HostAccess(module.check_mode, module.warn, files=LocalFiles, host=host, tell=tell_syslog, machine=machine)
    try:
        result = act_on_vm(module.params, access)
    except Failed as failed:
        module.fail_json(**failed.result)
    module.exit_json(**result)


if __name__ == "__main__":
    main()
