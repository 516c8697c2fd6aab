#!/usr/bin/python

# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

from __future__ import annotations

DOCUMENTATION = r"""
module: scheduled_events_info
short_description: Read the scheduled maintenance events of an Azure VM
version_added: 1.0.0
author: [The maintenance.azure authors (@maintenance-azure)]
description:
  - Reads the Scheduled Events of the VM that the module runs on, from the metadata service inside the VM.
  - An empty list is only returned when the service returned one. An answer that is missing, empty or cut off is an error.
notes:
  - The first request enables Scheduled Events for the VM. It may take two minutes, events arrive within five minutes, and from then on restarts and redeploys
    asked for in the portal wait up to 15 minutes for an approval. After 24 hours without a request they are disabled again.
  - Root is not needed.
extends_documentation_fragment: [maintenance.azure.attributes, maintenance.azure.attributes.either_way, maintenance.azure.attributes.action_group,
  maintenance.azure.attributes.read_only, maintenance.azure.endpoint, maintenance.azure.selection]
seealso:
  - module: maintenance.azure.scheduled_events_approve
  - module: maintenance.azure.wait_for_scheduled_event
  - name: Scheduled Events for Linux VMs
    description: Microsoft's documentation of the service.
    link: https://learn.microsoft.com/azure/virtual-machines/linux/scheduled-events
"""

EXAMPLES = r"""
- name: Read every event in the document of this VM
  maintenance.azure.scheduled_events_info:
  register: scheduled

- name: Show the events that affect this VM
  ansible.builtin.debug:
    msg: "{{ item.event_type }} not before {{ item.not_before }}: {{ item.description }}"
  loop: "{{ scheduled.events | selectattr('affects_this_vm') }}"
  loop_control:
    label: "{{ item.event_id }}"

- name: Read only reboots and redeploys of this VM that have not begun
  maintenance.azure.scheduled_events_info:
    affecting: this_vm
    event_types:
      - Reboot
      - Redeploy
    event_statuses:
      - Scheduled
"""

RETURN = r"""
events:
  description: The selected events, in the order in which Azure lists them.
  returned: success
  type: list
  elements: dict
  sample:
    - event_id: C7061BAC-AFDC-4513-B24B-AA5F13A16123
      event_type: Freeze
      event_status: Scheduled
      resource_type: VirtualMachine
      resources: [WestNO_0, WestNO_1]
      not_before: "2022-04-11T22:26:58Z"
      description: Virtual machine is being paused because of a memory-preserving Live Migration operation.
      event_source: Platform
      duration_in_seconds: 5
      affects_this_vm: true
      raw:
        EventId: C7061BAC-AFDC-4513-B24B-AA5F13A16123
        EventStatus: Scheduled
        EventType: Freeze
        ResourceType: VirtualMachine
        Resources: [WestNO_0, WestNO_1]
        NotBefore: Mon, 11 Apr 2022 22:26:58 GMT
        Description: Virtual machine is being paused because of a memory-preserving Live Migration operation.
        EventSource: Platform
        DurationInSeconds: 5
  contains:
    event_id: {type: str, description: "Id of the event, exactly as received. Compare it without case."}
    event_type: {type: str, description: "Expected impact. V(Freeze), V(Reboot), V(Redeploy), V(Preempt), V(Terminate), or any other type that Azure lists."}
    event_status: {type: str, description: "V(Scheduled) or V(Started). An event that is over has no status, because it is no longer listed."}
    resource_type: {type: str, description: V(VirtualMachine).}
    resources: {type: list, elements: str, description: Names of the VMs that the event affects. An approval starts it for all of them.}
    not_before: {type: str, description: "The event does not start earlier, unless it is approved. Null when the event has started, or no time was given."}
    description: {type: str, description: "The reason, as text. Null where the version has none."}
    event_source: {type: str, description: V(Platform) or V(User). Null where the version has none.}
    duration_in_seconds: {type: int, description: "Expected interruption. V(-1) is unknown and may be long, V(0) is none. Null where the version has none."}
    affects_this_vm: {type: bool, description: "Whether this VM is among RV(events[].resources). Null when its own name is not known."}
    raw: {type: dict, description: "The event as received, with fields that this collection does not know."}
document_incarnation:
  description:
    - The C(DocumentIncarnation) of the last document read. A different one means that something changed.
    - It is not always greater. It begins anew after 24 hours without a request, and it skips values.
  returned: when a document was read
  type: int
  sample: 2
vm_name:
  description: This VM's own name, from O(vm_name) or from the instance metadata. Null when it is not known.
  returned: always
  type: str
  sample: WestNO_0
api_version: {type: str, returned: when a document was read, description: The version that was used., sample: "2020-07-01"}
endpoint:
  description: The endpoint that answered. Null when O(endpoint=discover) found none.
  version_added: 1.2.0
  returned: when a document was read
  type: str
  sample: http://168.63.129.16
endpoint_source:
  description: The place where O(endpoint=discover) found the endpoint, as text. Null when O(endpoint) is an address.
  version_added: 1.2.0
  returned: when a document was read
  type: str
  sample: DHCP on eth0
error_kind:
  description:
    - What went wrong, for programs. One of V(bad_document), V(bad_option), V(bad_request), V(connection_lost), V(http_status), V(no_answer), V(not_discovered),
      V(not_found), V(redirected), V(refused), V(timeout), V(too_large) and V(version_rejected).
    - V(bad_answer) when the result of the VM is not a valid result of this module. Then nothing of it is used.
  returned: failure
  type: str
  sample: no_answer
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._scheduled_events.host.access import run_as_module
from ..module_utils._scheduled_events.operations.scheduled_events_info import info, info_arguments


def main() -> None:
    run_as_module(AnsibleModule(argument_spec=info_arguments(), supports_check_mode=True), info)


if __name__ == "__main__":
    main()
