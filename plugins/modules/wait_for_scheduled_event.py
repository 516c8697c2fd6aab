#!/usr/bin/python

# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

from __future__ import annotations

DOCUMENTATION = r"""
module: wait_for_scheduled_event
short_description: Wait until an Azure maintenance event appears, starts or is over
version_added: 1.0.0
author: [The maintenance.azure authors (@maintenance-azure)]
description:
  - Polls the Scheduled Events of the VM, over one connection, until the state in O(state) is reached.
  - A poll without a usable answer does not end the wait. The first such poll adds a warning, the pauses grow up to 10 seconds,
    and polling continues until O(timeout). A permanent error (status 400 or 405, a redirect) ends the wait.
  - Time is measured by the monotonic clock, so setting the VM's clock, or freezing the VM, does no harm.
notes:
  - The module fails when O(timeout) is over, with the same keys in its result.
  - In the first five minutes after Scheduled Events were enabled, an empty list proves nothing.
  - Where the event reboots the polled VM itself, the wait continues after the boot with the time that is left, unless the task has C(async). On Linux the wait
    begins anew then; an event that is gone by that time gives the outcome C(not_seen), and V(changed) needs O(since_incarnation).
  - On a Windows host the controller polls, every 5 seconds unless O(poll_interval) is set, because each poll is a call over the
    connection. With C(-v) a line reports the progress every 30 seconds.
  - Ansible's own C(timeout) keyword ends the module without its result. Use O(timeout).
  - Root is not needed.
extends_documentation_fragment: [maintenance.azure.attributes, maintenance.azure.attributes.either_way, maintenance.azure.attributes.action_group,
  maintenance.azure.attributes.read_only, maintenance.azure.endpoint, maintenance.azure.selection]
options:
  state:
    description:
      - V(scheduled) waits until a selected event is listed. One that has started without notice counts too; use O(event_statuses) to leave it out.
      - V(started) waits until a selected event has started, or every selected event that was listed is gone.
      - V(gone) waits until every selected event that was listed is absent from two polls in a row. An event is identified by its id.
      - V(changed) waits until the C(DocumentIncarnation) is another one than O(since_incarnation).
      - O(event_statuses) cannot be combined with V(started) and V(gone).
    type: str
    required: true
    choices: [scheduled, started, gone, changed]
  since_incarnation:
    description: For O(state=changed), the C(DocumentIncarnation) that is known already. By default the one of the first document read.
    type: int
  approved:
    description: Set V(true) when the event was approved before. Then its outcome is V(completed) even if its start was not observed.
    type: bool
    default: false
  timeout:
    description:
      - Seconds after which the module fails. V(0) polls once.
      - A typical event is gone about ten minutes after its start, and starts up to 15 minutes after it was announced.
    type: float
    default: 1800.0
  poll_interval:
    description: Seconds between two polls. Microsoft recommends one, and allows five requests a second for all agents of a VM together.
    type: float
    default: 1.0
seealso: [{module: maintenance.azure.scheduled_events_info}, {module: maintenance.azure.scheduled_events_approve}]
"""

EXAMPLES = r"""
- name: Wait up to an hour for something that hits this VM
  maintenance.azure.wait_for_scheduled_event:
    state: scheduled
    affecting: this_vm
    timeout: 3600
  register: coming

- name: Wait until the approved events are over
  maintenance.azure.wait_for_scheduled_event:
    state: gone
    event_ids: "{{ coming.events | map(attribute='event_id') }}"
    approved: true
  register: over

- name: Wait for any change since the last document
  maintenance.azure.wait_for_scheduled_event:
    state: changed
    since_incarnation: "{{ over.document_incarnation }}"
    timeout: 300
"""

RETURN = r"""
outcome:
  description:
    - V(matched) when the state V(scheduled), V(started) or V(changed) was reached.
    - V(completed) when the event is gone after it was listed as started, or with O(approved=true).
    - V(cancelled) when it vanished before its C(NotBefore) with the next C(DocumentIncarnation), and was never listed as started.
    - V(unknown) when it is gone and neither of these is certain, or when several events ended differently.
    - V(not_seen) when no such event was listed in two polls.
    - V(timeout) when O(timeout) is over.
  returned: when options are valid
  type: str
  sample: completed
outcomes:
  description: Each event that was followed, and each of O(event_ids) that was never listed.
  returned: when options are valid
  type: list
  elements: dict
  sample:
    - event_id: C7061BAC-AFDC-4513-B24B-AA5F13A16123
      outcome: completed
      last_status: Started
  contains:
    event_id: {type: str, description: Id of the event.}
    outcome: {type: str, description: "V(completed), V(cancelled), V(unknown), V(not_seen), or V(listed) while it is not gone."}
    last_status: {type: str, description: The last status that was listed.}
elapsed: {type: float, returned: when options are valid, description: Seconds waited., sample: 73.2}
polls: {type: int, returned: when options are valid, description: How often the document was requested., sample: 74}
failed_polls: {type: int, returned: when options are valid, description: How many of RV(polls) had no usable answer., sample: 0}
last_status:
  description: The furthest status that was listed, V(Started) once an event has started. Null when no event was listed.
  returned: when options are valid
  type: str
  sample: Started
last_error: {type: str, returned: when options are valid, description: The error of the last poll without a usable answer. Null when every poll had one.}
events:
  description: The selected events, as they were listed last. Each is as in M(maintenance.azure.scheduled_events_info).
  returned: when options are valid
  type: list
  elements: dict
document_incarnation: {type: int, returned: when a document was read, description: As in M(maintenance.azure.scheduled_events_info).}
vm_name: {type: str, returned: always, description: As in M(maintenance.azure.scheduled_events_info).}
api_version: {type: str, returned: when a document was read, description: The version that was used., sample: "2020-07-01"}
endpoint: {type: str, returned: when options are valid, version_added: 1.2.0, description: As in M(maintenance.azure.scheduled_events_info).}
endpoint_source: {type: str, returned: when options are valid, version_added: 1.2.0, description: As in M(maintenance.azure.scheduled_events_info).}
error_kind: {type: str, returned: failure, description: As in M(maintenance.azure.scheduled_events_info).}
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._scheduled_events.host.access import run_as_module
from ..module_utils._scheduled_events.operations.wait_for_scheduled_event import wait_for_event, waiting_arguments


def main() -> None:
    run_as_module(AnsibleModule(argument_spec=waiting_arguments(), supports_check_mode=True), wait_for_event)


if __name__ == "__main__":
    main()
