#!/usr/bin/python

# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

from __future__ import annotations

DOCUMENTATION = r"""
module: maintenance_info
short_description: Observe everything that maintenance needs to know of one VM
version_added: 1.0.0
author: [The maintenance.azure authors (@maintenance-azure)]
description:
  - Returns in one run the scheduled events in the document of the VM, its identity, clock and boot, whether its
    application is in service, and the records of how events were handled.
  - It decides nothing and changes nothing about the VM. Where it may write in O(records_path), it notes there when events were requested, and sets aside
    records that belong to another VM. It does neither in check mode, and the result is never C(changed).
  - A request enables Scheduled Events for the VM. See the README of the collection for the consequences.
notes:
  - Root is not needed where O(records_path) can be read.
extends_documentation_fragment: [maintenance.azure.attributes, maintenance.azure.attributes.either_way, maintenance.azure.attributes.action_group,
  maintenance.azure.endpoint, maintenance.azure.selection, maintenance.azure.observation]
attributes:
  check_mode: {support: full, details: In check mode neither the marker nor anything else is written.}
  diff_mode: {support: N/A, details: This module changes nothing.}
  idempotent: {support: full}
seealso: [{module: maintenance.azure.maintenance_record}, {module: maintenance.azure.scheduled_events_info}]
"""

EXAMPLES = r"""
- name: Observe the VM
  maintenance.azure.maintenance_info:
  register: observation

- name: Observe the VM and its application, without root
  maintenance.azure.maintenance_info:
    records_path: ~/azure-maintenance
    health:
      url: http://127.0.0.1:8080/ready
      timeout: 2
  register: observation
"""

RETURN = r"""
vm_name: {type: str, returned: success, description: The name of this VM as events have it., sample: web1}
document_incarnation:
  description: Number of the document. Compare it for a difference only, because it may restart from a lower number.
  returned: success
  type: int
  sample: 3
api_version: {type: str, returned: success, description: The version of Scheduled Events that was used., sample: "2020-07-01"}
events:
  description:
    - The events of the document that O(affecting) and the other filters select, in the order received.
    - Each is as in M(maintenance.azure.scheduled_events_info), and has C(raw) only with O(include_raw).
  returned: success
  type: list
  elements: dict
identity:
  description: The identity of this VM, from the instance metadata. V(null) for each value that is not known.
  returned: success
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
  description: How the VM was observed, by this module on the VM (V(linux)) or from the controller (V(windows)).
  returned: success
  type: str
  sample: linux
  version_added: 1.2.0
boot_id:
  description: A text that differs after each boot. V(null) where it is not known.
  returned: success
  type: str
  sample: 3f1e9a2c-6f1e-4b57-9b4e-0c9f3f5a7f10
uptime_seconds: {type: float, returned: success, description: Seconds since the boot. V(null) where they are not known., sample: 86012.5}
now: {type: str, returned: success, description: The clock of the VM after the document was read., sample: "2026-11-21T20:00:00.000000Z"}
answered_at:
  description: The clock of the controller when the answer of the VM came. It comes from the controller and not from the VM.
  returned: success
  type: str
  sample: "2026-11-21T20:00:00.500000Z"
enabled_at:
  description:
    - The time since which events were requested on this VM at least once a day, by the marker in O(records_path).
    - V(null) when there is no marker and none could be written.
  returned: success
  type: str
  sample: "2026-11-20T08:00:00.000000Z"
enabled_recently:
  description:
    - Whether RV(enabled_at) is less than five minutes ago, or not known. Then an empty list of events proves nothing.
    - Within one boot the uptime decides, so that a clock that jumps does not matter.
  returned: success
  type: bool
  sample: false
in_service:
  description: Whether the application is in service. V(null) without O(health), or when the check could not be made.
  returned: success
  type: bool
  sample: true
in_service_why: {type: str, returned: success, description: "The result of the health check, as text.", sample: port 443 of 127.0.0.1 accepts connections}
watcher:
  description:
    - What the watcher of this VM says of itself (role maintenance.azure.watch), V(null) where there is none. On a Windows VM it is read with the records, and
      V(null) as long as there is no folder of records.
    - C(age_seconds) since its last heartbeat, V(null) where that is not known; C(problem); C(messages_waiting) and C(messages_dropped).
  returned: success
  type: dict
  sample: {age_seconds: 3.1, problem: null, messages_waiting: 0, messages_dropped: 0}
  version_added: 2.1.0
records:
  description:
    - The records of events, oldest first, as M(maintenance.azure.maintenance_record) returns them.
    - Each has C(age_seconds) in addition, the seconds since the event was first noted by the clock of the VM.
  returned: success
  type: list
  elements: dict
leases:
  description:
    - The leases on this VM, as M(maintenance.azure.maintenance_record) acquires them.
    - Each has C(name) (of its file), C(run), C(digest) (of the event's id), C(event_id), C(kind), C(who), C(groups), C(made_at),
      C(limit) (when it expires, by the clock of the VM) and C(expired).
  version_added: 1.1.0
  returned: success
  type: list
  elements: dict
replicas:
  description:
    - Replicas of other VMs' records that this VM keeps. They do not count as records of this VM.
    - Each has C(vm) (the name in the inventory), C(vm_id), C(keeper_vm_id) (since version 1.4.0 of the collection, of the VM that keeps it) and
      C(record), the findings of methods outside that VM.
    - Replicas older than 30 days, and those that came with the disk of another VM, are left out.
  version_added: 1.1.0
  returned: success
  type: list
  elements: dict
tombstones:
  description:
    - Events that are over on this VM and whose records were removed. A replica of such a record restores nothing.
    - Each has C(event_id), C(vm_id) and C(at). They are kept for 31 days, a day longer than replicas.
  version_added: 1.4.0
  returned: success
  type: list
  elements: dict
upgrades:
  description:
    - The progress marks of upgrades on this VM, as M(maintenance.azure.maintenance_record) writes them.
    - Each has C(name), C(state) (V(begun), V(upgraded), V(left) or V(done)), C(at), C(begun_at), C(run), C(who) and,
      since version 2.1.0 of the collection, C(digest) of the tasks file with which the VM was upgraded.
  version_added: 1.3.0
  returned: success
  type: list
  elements: dict
drain_times:
  description:
    - How long the last drains of this VM took, V(null) where that is not known. Each time is from the moment in which the first method was about to set
      something until the last one was drained, by the clock of the VM.
    - C(methods) has the kinds of the drain methods in the order in which they began, and C(seconds) their times, newest last, at most five.
  version_added: 2.6.0
  returned: success
  type: dict
  sample: {methods: [haproxy, service], seconds: [14.2, 31.75]}
records_problems: {type: list, elements: str, returned: success, description: "The problems of the records, as texts. Each names the file and the remedy."}
records_readable:
  description: V(false) when there may be records that could not be read. Then nothing may be concluded from RV(records).
  returned: success
  type: bool
  sample: true
cannot_write:
  description: Why nothing can be written beside the records, one of RV(records_problems). Then nothing is done on this VM.
  returned: success
  type: str
  version_added: 2.3.0
endpoint: {type: str, returned: success, version_added: 1.2.0, description: As in M(maintenance.azure.scheduled_events_info).}
endpoint_source: {type: str, returned: success, version_added: 1.2.0, description: As in M(maintenance.azure.scheduled_events_info).}
error_kind: {type: str, returned: failure, description: As in M(maintenance.azure.scheduled_events_info).}
"""

from functools import partial

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._scheduled_events.host.access import run_as_module
from ..module_utils._scheduled_events.host.files import LocalFiles
from ..module_utils._scheduled_events.host.system import LocalHost
from ..module_utils._scheduled_events.operations.maintenance_info import observation_arguments, observe_vm


def main() -> None:
    module = AnsibleModule(argument_spec=observation_arguments(), supports_check_mode=True)
    run_command = partial(module.run_command, handle_exceptions=False, environ_update={"LC_ALL": "C"})
    run_as_module(module, observe_vm, files=LocalFiles.of_option, host=partial(LocalHost, run_command))


if __name__ == "__main__":
    main()
