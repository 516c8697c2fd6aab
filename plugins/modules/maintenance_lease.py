#!/usr/bin/python

# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

from __future__ import annotations

DOCUMENTATION = r"""
module: maintenance_lease
short_description: (internal) Acquire, renew or release a lease on a VM
version_added: 2.3.0
author: The maintenance.azure authors (@maintenance-azure)
description: Internal. For the roles of this collection; it may change at any time.
options:
  records_path: {description: Directory of the records on the VM., type: str, default: /var/lib/azure-maintenance}
  state:
    description: V(leased) acquires or renews, V(renewed) fails where the lease is gone, V(released) removes the run's leases for O(event_id), or all.
    type: str
    choices: [leased, renewed, released]
    default: leased
  event_id: {description: "Id of the event, or C(upgrade:) and a name.", type: str}
  run: {description: "Id of the run, 4 to 32 small letters and digits.", type: str, required: true}
  seconds: {description: Time limit by the clock of the VM., type: float, default: 180.0}
  kind: {description: What the run handles., type: str, choices: [events, upgrade], default: events}
  who: {description: Who started the run and where., type: str, default: ""}
  groups: {description: For each capacity group of the VM the hash of its members., type: dict, default: {}}
extends_documentation_fragment: [maintenance.azure.attributes, maintenance.azure.attributes.either_way]
attributes: {check_mode: {support: full}, diff_mode: {support: full}, idempotent: {support: partial, details: Each renewal has a new limit.}}
seealso: [{module: maintenance.azure.maintenance_record}]
"""
EXAMPLES = r"""
- maintenance.azure.maintenance_lease: {state: released, run: 4f1b2c9a7d3e}
"""
RETURN = r"""
leases: {description: The files of the run's leases on the VM now., returned: success, type: list, elements: str, sample: []}
error_kind: {description: "V(lease_lost), V(records), V(not_written) or V(bad_answer).", returned: failure, type: str, sample: lease_lost}
"""

from functools import partial

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._scheduled_events.host.access import run_as_module
from ..module_utils._scheduled_events.host.files import LocalFiles
from ..module_utils._scheduled_events.host.system import LocalHost
from ..module_utils._scheduled_events.operations.maintenance_lease import change_lease, lease_arguments, lease_required_if


def main() -> None:
    module = AnsibleModule(argument_spec=lease_arguments(), required_if=lease_required_if(), supports_check_mode=True)
    run_as_module(module, change_lease, files=LocalFiles.of_option, host=partial(LocalHost, None))


if __name__ == "__main__":
    main()
