#!/usr/bin/python

# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

from __future__ import annotations

DOCUMENTATION = r"""
module: scheduled_events_approve
short_description: Tell Azure that a VM is ready for its maintenance
version_added: 1.0.0
author: [The maintenance.azure authors (@maintenance-azure)]
description:
  - Approves Scheduled Events, so that Azure need not wait until C(NotBefore). Several events go in one request.
  - An approval starts an event for every VM it names. So the document is read again right before, and unless all those VMs are
    allowed by O(approve_for), nothing is approved at all.
  - If the answer to an approval is lost, the document is read again before another approval is sent.
notes:
  - Approved does not mean started. Azure may wait for the approval of other VMs on the same hardware.
  - Azure does not show who approved what, so an event that is still V(Scheduled) is approved again by a second run. That does no harm.
  - Root is not needed.
extends_documentation_fragment: [maintenance.azure.attributes, maintenance.azure.attributes.either_way, maintenance.azure.attributes.action_group,
  maintenance.azure.endpoint]
attributes:
  check_mode: {support: full, details: In check mode the document is read and every check applies; only the approval is not sent.}
  diff_mode: {support: none}
  idempotent: {support: partial, details: An event that has started or is gone is not approved again. One that is still scheduled is.}
options:
  event_ids: {type: list, elements: str, required: true, description: The events to approve. Compared without case and sent as Azure lists them.}
  approve_for:
    description:
      - Names of the VMs that the approved events may affect, compared without case. V(*) allows any.
      - By default only this VM itself. V([]) allows no VM, so every approval is refused.
      - Name the other VMs of an event only when they are ready too.
    type: list
    elements: str
  fail_on_missing:
    description: Whether to fail, and approve nothing, when one of O(event_ids) is not listed or has already started.
    type: bool
    default: false
seealso: [{module: maintenance.azure.scheduled_events_info}, {module: maintenance.azure.wait_for_scheduled_event}]
"""

EXAMPLES = r"""
- name: Read the events that are scheduled for this VM
  maintenance.azure.scheduled_events_info:
    affecting: this_vm
    event_statuses:
      - Scheduled
  register: scheduled

- name: Approve them, if they affect this VM alone
  maintenance.azure.scheduled_events_approve:
    event_ids: "{{ scheduled.events | map(attribute='event_id') }}"
  when: scheduled.events | length > 0

- name: Approve an event that affects two VMs, both of which are drained
  maintenance.azure.scheduled_events_approve:
    event_ids:
      - C7061BAC-AFDC-4513-B24B-AA5F13A16123
    approve_for:
      - WestNO_0
      - WestNO_1
"""

RETURN = r"""
approved:
  description: Ids of the events that were approved, as Azure lists them. In check mode, of those that would be approved.
  returned: when a document was read
  type: list
  elements: str
  sample: [C7061BAC-AFDC-4513-B24B-AA5F13A16123]
already_started: {type: list, elements: str, returned: when a document was read, description: Ids of events that have started already and need no approval.}
not_found:
  description: Ids from O(event_ids) that are not listed. Such an event is over, was cancelled, or never existed.
  returned: when a document was read
  type: list
  elements: str
document_incarnation: {type: int, returned: when a document was read, description: As in M(maintenance.azure.scheduled_events_info).}
vm_name: {type: str, returned: always, description: As in M(maintenance.azure.scheduled_events_info).}
api_version: {type: str, returned: when a document was read, description: The version that was used., sample: "2020-07-01"}
endpoint: {type: str, returned: when options are valid, version_added: 1.2.0, description: As in M(maintenance.azure.scheduled_events_info).}
endpoint_source: {type: str, returned: when options are valid, version_added: 1.2.0, description: As in M(maintenance.azure.scheduled_events_info).}
error_kind: {type: str, returned: failure, description: As in M(maintenance.azure.scheduled_events_info).}
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._scheduled_events.host.access import run_as_module
from ..module_utils._scheduled_events.operations.scheduled_events_approve import approval_arguments, approve_events


def main() -> None:
    run_as_module(AnsibleModule(argument_spec=approval_arguments(), supports_check_mode=True), approve_events)


if __name__ == "__main__":
    main()
