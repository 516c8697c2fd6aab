#!/usr/bin/python

# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

from __future__ import annotations

DOCUMENTATION = r"""
module: maintenance_record
short_description: (internal) Write the record of a scheduled event on a VM
version_added: 1.0.0
author: The maintenance.azure authors (@maintenance-azure)
description:
  - Internal, for the roles of this collection, and to correct a record by hand. To read records, use M(maintenance.azure.maintenance_info).
  - A record has the phase of an event on a VM, and what each drain method found and changed. Each change is a new file that is moved into place, under the
    rules of C(journal/transitions.py), and each phase is written to the system log of the VM.
options:
  records_path: {type: str, default: /var/lib/azure-maintenance, description: Directory of the records on the VM. It is created when it is missing.}
  state:
    description:
      - V(present) changes the record of an event, V(absent) removes it and puts nothing back, V(pruned) removes those of events that have ended.
      - V(leased) and V(released) are M(maintenance.azure.maintenance_lease), for the run in O(lease). They are kept until version 3.0.0.
      - V(replicated) keeps the replica of another VM's record. V(marked) writes the progress mark of an upgrade.
    type: str
    choices: [present, absent, pruned, leased, released, replicated, marked]
    default: present
  event_id: {type: str, description: Id of the event. Upper and lower case are the same event.}
  expected_revision: {type: int, description: Write only if the record has this revision. V(0) means that there must be no record yet.}
  event: {type: dict, description: "The event, as M(maintenance.azure.scheduled_events_info) returns it."}
  changes: {type: dict, description: "Keys of the record to set, such as C(phase), C(reason) and C(blocker). V(drained) is refused while a VM recovers, and
    V(noticed) while it is drained; to mend such a record by hand, write the phase V(held) first."}
  method: {type: dict, description: "A drain method to add or change, by its C(id). C(before) and C(options) are written once."}
  stamp: {type: list, elements: str, description: "Keys to set to the present time of the VM, such as V(verified_at)."}
  boot_id: {type: str, description: "The present boot of the VM, noted with C(verified_at)."}
  vm_id: {type: str, description: "The C(vmId) of this VM. A record of another VM is set aside."}
  vm_name: {type: str, description: The name of this VM as events have it.}
  older_than: {type: int, default: 86400, description: "With O(state=pruned), the seconds since the last change of phase."}
  history:
    description: The limits of the VM's history, to which records go that are V(pruned) or V(absent).
    version_added: 2.5.0
    type: dict
    suboptions:
      entries: {type: int, default: 200, description: "Of so many events. V(0) writes none."}
      bytes: {type: int, default: 1048576, description: In all files together.}
      days: {type: int, default: 400, description: Since the last change of phase.}
  lease:
    description: The lease under which the run acts. If it is gone the module fails with RV(error_kind=lease_lost), and the run must not act on the VM.
    type: dict
    suboptions:
      run: {type: str, required: true, description: "Id of the run, 4 to 32 small letters and digits."}
      seconds: {type: float, default: 180.0, description: "Time limit of the present action, after which any run may remove the lease."}
      kind: {type: str, choices: [events, upgrade], default: events, description: What the run handles.}
      who: {type: str, default: "", description: "Who started the run and where, for operators."}
      groups: {type: dict, default: {}, description: "For each capacity group of the VM, the hash of its declared members."}
      acquire: {type: bool, default: false, description: "With O(state=present) and O(state=marked), acquire the lease where the run has none."}
  expired: {type: list, elements: str, default: [], description: "Files of expired leases to remove first, when leased or released."}
  replica:
    description: With O(state=replicated), the record to replicate and its VM.
    type: dict
    suboptions:
      vm: {type: str, required: true, description: The VM's name in the inventory.}
      vm_id: {type: str, description: The VM's C(vmId) when the record was written.}
      keeper_vm_id: {type: str, description: C(vmId) of the VM that keeps the replica. On another VM it does not count.}
      record: {type: dict, required: true, description: "The record, as RV(record) has it."}
  restore: {type: dict, description: "A record to continue from if the VM has none, such as a replica."}
  upgrade:
    description: With O(state=marked), the progress mark of an upgrade.
    type: dict
    suboptions:
      name: {type: str, required: true, description: "The upgrade's name, 1 to 100 printable letters."}
      state: {type: str, choices: [begun, upgraded, left, done, absent], required: true, description: How far it is. V(absent) removes the mark.}
      digest: {type: str, description: The SHA-256 of the tasks file with which the VM was upgraded.}
extends_documentation_fragment: [maintenance.azure.attributes, maintenance.azure.attributes.either_way]
attributes: {check_mode: {support: full}, diff_mode: {support: full}, idempotent: {support: partial, details: A O(stamp) is another time in each run.}}
"""

EXAMPLES = r"""
- name: Record that the VM is drained, in this boot
  maintenance.azure.maintenance_record:
    event_id: C7061BAC-AFDC-4513-B24B-AA5F13A16123
    expected_revision: 3
    changes: {phase: drained}
    stamp: [verified_at]
    boot_id: 3f1e9a2c-6f1e-4b57-9b4e-0c9f3f5a7f10
"""

RETURN = r"""
record:
  description: The record after the change, V(null) when there is none; on a conflict, the one that another run has written.
  returned: always
  type: dict
  sample: {format: 1, revision: 4, event: {event_id: C7061BAC, event_type: Reboot, event_status: Scheduled, event_source: User, duration_in_seconds: -1,
    not_before: "2026-11-21T20:15:00Z", description: Virtual machine is going to be restarted as requested by authorized user., resources: [web1]},
    phase: drained, reason: null, blocker: null, history: [{phase: noticed, at: "2026-11-21T20:00:00.000000Z"}],
    vm_id: 02aab8a4-74ef-476e-8182-f6d2ba4166a6, vm_name: web1,
    boot_id: 3f1e9a2c, rule: {name: everything else, drain: true, approve: after_drain}, decision: null, attempts: 1, deadline: "2026-11-21T20:14:00Z",
    approving_at: null, verified_at: null, approved_at: null, started_at: null, missing_since: null, undone: false, told: [], untold: null, outcome: null,
    watcher: null, methods: [{id: 1-service, method: service, options: {name: nginx}, before: {active: true, enabled: true}, state: drained,
    boot_id: 3f1e9a2c, at: "2026-11-21T20:00:09.000000Z", times: {drained: "2026-11-21T20:00:09.000000Z"}, error: null, error_kind: null, outside: false}]}
conflict: {type: bool, returned: always, description: Whether the record had another revision than O(expected_revision).}
leases: {type: list, elements: str, returned: when leased or released, description: The files of the leases that this run has on the VM now.}
upgrade: {type: dict, returned: O(state=marked), description: "The progress mark after the change, V(null) when there is none."}
error_kind: {type: str, returned: failure, description: "V(records), V(not_written), V(conflict), V(lease_lost) or V(bad_answer)."}
pruned: {type: list, elements: str, returned: O(state=pruned), description: The ids of the events whose records were removed.}
"""

from functools import partial

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._scheduled_events.host.access import run_as_module
from ..module_utils._scheduled_events.host.files import LocalFiles
from ..module_utils._scheduled_events.host.system import LocalHost
from ..module_utils._scheduled_events.host.system_log import log_to_syslog
from ..module_utils._scheduled_events.operations.maintenance_record import record_arguments, record_required_if, write_records


def main() -> None:
    module = AnsibleModule(argument_spec=record_arguments(), required_if=record_required_if(), supports_check_mode=True)
    run_as_module(module, write_records, files=LocalFiles.of_option, host=partial(LocalHost, None), log=log_to_syslog)


if __name__ == "__main__":
    main()
