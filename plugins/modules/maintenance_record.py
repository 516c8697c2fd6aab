#!/usr/bin/python

# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: maintenance_record
short_description: Write the record of a scheduled event on a VM
version_added: 1.0.0
author:
  - The maintenance.azure authors (@maintenance-azure)
description:
  - Keeps one record for each scheduled event on the VM that the event affects.
    A record has the phase of the event on the VM, and what each drain method found and changed, which recovery puts back.
  - The roles of this collection write these records. Use it in your own drain methods or to correct a record by hand.
    To read records, use M(maintenance.azure.maintenance_info).
  - Each change is a new file, created exclusively and moved into place atomically. A run that is killed leaves the old or the new record, never a part of one.
    When two runs write at once, neither overwrites the other.
  - Each change of the phase is written to the system log of the VM, with the id of the event.
options:
  records_path:
    description: Directory of the records on the VM. It is created for its owner only when it is missing.
    type: str
    default: /var/lib/azure-maintenance
  state:
    description:
      - V(present) creates or changes the record of one event.
      - V(absent) removes the record in any phase. Nothing is put back. Like V(pruned), it leaves a tombstone for 31 days where something outside the
        VM was changed, so that a replica of the record on another VM restores nothing.
      - V(pruned) removes the records of ended events. These are the records in phase V(recovered), and those in phase
        V(held) with nothing left to undo and whose event is gone.
      - V(leased) acquires a lease on the VM for the run in O(lease) and one event, or renews the lease that this run has.
      - V(released) removes the leases of the run in O(lease), for one event with O(event_id), otherwise for all. With an empty
        O(event_id) only what O(expired) names is removed.
      - V(replicated) keeps a replica of another VM's record, given in O(replica). It does not count as a record of the VM that keeps it.
        Since version 1.4.0 of the collection it holds the findings of methods outside the VM and nothing else of the record.
        An older revision never replaces a newer one. The replica of a record in phase V(recovered) is removed.
      - V(marked), since version 1.3.0 of the collection, writes the progress mark of an upgrade on the VM, given in O(upgrade), under the lease of
        the run. The lease is for the event id C(upgrade:) and the upgrade's name.
    type: str
    choices: [present, absent, pruned, leased, released, replicated, marked]
    default: present
  event_id:
    description:
      - Id of the event. Upper and lower case are the same event.
      - Required unless O(state=pruned), O(state=released), O(state=replicated) or O(state=marked).
    type: str
  expected_revision:
    description:
      - Write only if the record has this revision, and fail with RV(conflict) if it has another one.
      - V(0) means that there must be no record yet.
      - Without it the change applies to any revision.
    type: int
  event:
    description: The event as it was last listed, as M(maintenance.azure.scheduled_events_info) returns it. Keys that a record does not keep are ignored.
    type: dict
  changes:
    description:
      - Keys to set. Known are C(phase), C(reason), C(rule), C(decision), C(attempts), C(deadline), C(verified_at), C(approved_at), C(started_at),
        C(missing_since), C(undone), C(told), C(untold), C(outcome), C(watcher), C(boot_id), C(vm_id) and C(vm_name).
      - A new C(phase) is added to the history with the time, and goes to the system log. Phases are C(noticed), C(draining), C(drained), C(approved),
        C(started), C(gone), C(recovering), C(recovered), C(failed) and C(held).
      - Since version 2.0.0 of the collection, V(noticed) is refused while the record is C(draining), C(drained), C(approved) or C(started) and has no
        C(outcome), and V(drained) is refused in the phases C(recovering) and C(recovered). To mend such a record by hand, write the phase V(held) first.
      - A C(decision) is an operator's override for the event. It has C(action) (V(approve), V(hold), V(release), V(let_it_come) or V(retire_vm)), C(who),
        C(why), C(at), C(until), C(vm) for V(retire_vm), and C(beside), a list of other overrides that still apply. C(why) is needed for V(approve) and
        V(retire_vm), and C(until) for all but V(release). Playbook C(maintenance.azure.decide) writes them.
    type: dict
  method:
    description:
      - A drain method to add or change, found by its C(id). Keys that are not given stay as they are.
        Known are C(id), C(method), C(options), C(before), C(state), C(boot_id), C(at), C(error) and C(outside).
      - C(before) and C(options) are written once. Given again they are ignored, until the method was C(undone) and begins again.
      - C(state) is one of C(found), C(begun), C(drained), C(failed), C(undoing) and C(undone).
        When it changes, C(at) becomes the present time, and unless it became C(undone) the record is not undone any more.
      - C(outside) is true for a method that changes something outside the VM.
    type: dict
  stamp:
    description: Keys to set to the present time of the VM. Known are V(verified_at), V(approved_at), V(started_at), V(missing_since) and V(deadline).
    type: list
    elements: str
  boot_id:
    description:
      - The present boot of the VM, as M(maintenance.azure.maintenance_info) returns it.
      - It is noted when C(verified_at) is set as well, because a check holds for one boot. Otherwise it is ignored.
    type: str
  vm_id:
    description:
      - The id of this VM (C(vmId) in the instance metadata).
      - A record of another VM is set aside and not changed. It comes with an image that was taken from a drained VM.
    type: str
  vm_name:
    description: The name of this VM as events have it.
    type: str
  older_than:
    description: With O(state=pruned), the seconds that must have passed since the last change of phase.
    type: int
    default: 86400
  lease:
    description:
      - The lease of the run that acts on this VM. Several runs may be active at once, and each acts only where it holds the lease.
      - With O(state=present) the record is written under this lease. The lease is renewed first, and it is checked once more
        afterwards. If the lease is gone the module fails with RV(error_kind=lease_lost), and the run must not act on the VM.
      - Required with O(state=leased), O(state=released) and O(state=marked).
    version_added: 1.1.0
    type: dict
    suboptions:
      run:
        description: Id of the run, 4 to 32 small letters and digits.
        type: str
        required: true
      seconds:
        description: Time limit of the present action. After it, by the clock of the VM, any run may remove the lease.
        type: float
        default: 180.0
      kind:
        description: What the run handles.
        type: str
        choices: [events, upgrade]
        default: events
      who:
        description: Who started the run and where, for operators.
        type: str
        default: ""
      groups:
        description: For each capacity group of the VM, the hash of its declared members. Runs with different declarations hold.
        type: dict
        default: {}
  expired:
    description: With O(state=leased) or O(state=released), the files of leases to remove first, as RV(maintenance.azure.maintenance_info#module:leases) names
      them. A lease whose time limit has not passed, or that was renewed meanwhile, stays.
    version_added: 1.1.0
    type: list
    elements: str
    default: []
  replica:
    description: With O(state=replicated), the record to replicate and its VM.
    version_added: 1.1.0
    type: dict
    suboptions:
      vm:
        description: The VM's name in the inventory.
        type: str
        required: true
      vm_id:
        description: The VM's C(vmId) in the instance metadata, when the record was written.
        type: str
      keeper_vm_id:
        description: C(vmId) of the VM that keeps the replica. On another VM, made from its disk, the replica does not count.
        type: str
        version_added: 1.4.0
      record:
        description: The record, as RV(record) has it.
        type: dict
        required: true
  restore:
    description:
      - A record to continue from if the VM has none. An existing record is not replaced.
      - Since version 1.4.0 of the collection it may hold only the findings of methods outside the VM. It must be in phase C(draining), with
        methods that have C(outside) and no C(options), and without a rule, a decision, a reason or later times.
    version_added: 1.1.0
    type: dict
  upgrade:
    description: With O(state=marked), the progress mark of an upgrade.
    version_added: 1.3.0
    type: dict
    suboptions:
      name:
        description: The upgrade's name, 1 to 100 printable letters.
        type: str
        required: true
      state:
        description:
          - V(begun) before its tasks run, V(upgraded) when its tasks are done and the VM is not back in service yet, V(done) at the end.
          - V(left) when it failed and the VM is to stay out of service. Role P(maintenance.azure.respond#role) does not recover the VM then.
          - V(absent) to remove the mark.
        type: str
        choices: [begun, upgraded, left, done, absent]
        required: true
      digest:
        description:
          - The SHA-256 of the tasks file with which the VM was upgraded, for the state V(upgraded). The mark keeps it when the VM is done.
          - The upgrade refuses another tasks file under the same name by it. Files that the tasks file includes are not seen.
        type: str
        version_added: 2.1.0
extends_documentation_fragment:
  - maintenance.azure.attributes
  - maintenance.azure.attributes.either_way
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: partial
    details: A O(stamp) is set to another time with each run. Everything else changes once.
seealso:
  - module: maintenance.azure.maintenance_info
"""

EXAMPLES = r"""
- name: Record the begin of a drain, and its finding
  maintenance.azure.maintenance_record:
    event_id: C7061BAC-AFDC-4513-B24B-AA5F13A16123
    changes:
      phase: draining
      attempts: 1
    method:
      id: 1-service
      method: service
      options:
        name: nginx
      before:
        active: true
        enabled: true
      state: found

- name: Record that the VM is drained, in this boot
  maintenance.azure.maintenance_record:
    event_id: C7061BAC-AFDC-4513-B24B-AA5F13A16123
    expected_revision: 3
    changes:
      phase: drained
    stamp: [verified_at]
    boot_id: 3f1e9a2c-6f1e-4b57-9b4e-0c9f3f5a7f10

- name: Acquire a lease on the VM for an event, and remove the expired lease of another run
  maintenance.azure.maintenance_record:
    state: leased
    event_id: C7061BAC-AFDC-4513-B24B-AA5F13A16123
    lease:
      run: 4f1b2c9a7d3e
      who: alice on deploy1
      seconds: 180
    expired: [claim-9d8c7b6a5f4e-1a2b3c4d5e6f7a8b.1795291200000.json]

- name: Remove the records of events that ended a day ago
  maintenance.azure.maintenance_record:
    state: pruned
"""

RETURN = r"""
record:
  description:
    - The record after the change, V(null) when there is none.
    - On a conflict, the record that another run has written.
  returned: always
  type: dict
  sample:
    format: 1
    revision: 4
    event:
      event_id: C7061BAC-AFDC-4513-B24B-AA5F13A16123
      event_type: Reboot
      event_status: Scheduled
      event_source: User
      not_before: "2026-11-21T20:15:00Z"
      description: Virtual machine is going to be restarted as requested by authorized user.
      resources: [web1]
      duration_in_seconds: -1
    phase: drained
    reason: null
    history:
      - {phase: noticed, at: "2026-11-21T20:00:00.000000Z"}
      - {phase: draining, at: "2026-11-21T20:00:01.000000Z"}
      - {phase: drained, at: "2026-11-21T20:00:09.000000Z"}
    vm_id: 02aab8a4-74ef-476e-8182-f6d2ba4166a6
    vm_name: web1
    boot_id: 3f1e9a2c-6f1e-4b57-9b4e-0c9f3f5a7f10
    rule: {name: everything else, drain: true, approve: after_drain}
    decision: null
    attempts: 1
    deadline: "2026-11-21T20:14:00Z"
    approving_at: null
    verified_at: "2026-11-21T20:00:09.000000Z"
    approved_at: null
    started_at: null
    missing_since: null
    undone: false
    told: [noticed]
    untold: null
    outcome: null
    watcher: null
    methods:
      - id: 1-service
        method: service
        options: {name: nginx}
        before: {active: true, enabled: true}
        state: drained
        boot_id: 3f1e9a2c-6f1e-4b57-9b4e-0c9f3f5a7f10
        at: "2026-11-21T20:00:09.000000Z"
        error: null
        outside: false
conflict:
  description: Whether the record had another revision than O(expected_revision).
  returned: always
  type: bool
  sample: false
leases:
  description: The files of the leases that this run has on the VM now.
  version_added: 1.1.0
  returned: O(state=leased) or O(state=released)
  type: list
  elements: str
  sample: [claim-4f1b2c9a7d3e-1a2b3c4d5e6f7a8b.1795291380000.json]
upgrade:
  description: The progress mark after the change, V(null) when there is none.
  version_added: 1.3.0
  returned: O(state=marked)
  type: dict
  sample: {name: Kernel November, state: done, at: "2026-11-21T20:30:00.000000Z", begun_at: "2026-11-21T20:20:00.000000Z", run: 4f1b2c9a7d3e, who: alice}
error_kind:
  description: What went wrong, for programs. One of V(records), V(not_written), V(conflict), V(lease_lost) and V(bad_answer)
    (the result of the VM is not a valid result of this module; nothing of it is used).
  version_added: 1.1.0
  returned: failure
  type: str
  sample: lease_lost
pruned:
  description: The ids of the events whose records were removed.
  returned: O(state=pruned)
  type: list
  elements: str
  sample: [C7061BAC-AFDC-4513-B24B-AA5F13A16123]
"""

from functools import partial

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._scheduled_events.host.access import run_as_module
from ..module_utils._scheduled_events.host.files import LocalFiles
from ..module_utils._scheduled_events.host.system import LocalHost
from ..module_utils._scheduled_events.host.system_log import log_to_syslog
from ..module_utils._scheduled_events.operations.maintenance_record import (
    record_arguments,
    record_required_if,
    write_records,
)


def main() -> None:
    module = AnsibleModule(argument_spec=record_arguments(), required_if=record_required_if(), supports_check_mode=True)
    run_as_module(module, write_records, files=LocalFiles.of_option, host=partial(LocalHost, None), log=log_to_syslog)


if __name__ == "__main__":
    main()
