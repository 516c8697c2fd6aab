#!/usr/bin/python

# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

from __future__ import annotations

DOCUMENTATION = r"""
module: maintenance_history
short_description: (internal) Read the history of a VM, or keep it in an archive
version_added: 2.5.0
author: The maintenance.azure authors (@maintenance-azure)
description: Internal, for playbook C(maintenance.azure.report). It may change at any time.
options:
  records_path: {type: str, default: /var/lib/azure-maintenance, description: "Directory of the records on the VM; with O(state=kept), that of the archive."}
  state: {type: str, choices: [read, kept], default: read, description: "V(read) returns the history of this VM, with its records. V(kept) adds to a share."}
  share: {type: str, description: "The folder of one VM in an archive, by a name that the controller makes."}
  entries: {type: list, elements: dict, default: [], description: "Of the VM, for its share. One that is there is replaced only by a later state of its event."}
  limits:
    description: Of the share. The newest entries within all three are kept.
    type: dict
    suboptions:
      entries: {type: int, default: 200, description: Of so many events.}
      bytes: {type: int, default: 1048576, description: In all files together.}
      days: {type: int, default: 400, description: Since the last change of phase.}
  since: {type: str, description: "Return only what took place at this time or later, such as V(2026-03-01T00:00:00.000000Z)."}
  until: {type: str, description: "Return only what began before this time."}
extends_documentation_fragment: [maintenance.azure.attributes, maintenance.azure.attributes.either_way]
attributes: {check_mode: {support: full}, diff_mode: {support: none}, idempotent: {support: full}}
"""

EXAMPLES = r"""
- maintenance.azure.maintenance_history: {since: "2026-03-01T00:00:00.000000Z"}
"""

RETURN = r"""
entries: {type: list, elements: dict, returned: success, description: "For each event its C(event), C(phase), C(history), C(methods), C(rule) and more."}
problems: {type: list, elements: str, returned: success, description: What could not be read.}
now: {type: str, returned: success, description: The time by the clock of the host., sample: "2026-11-21T20:00:00.000000Z"}
answered_at: {type: str, returned: success, description: The time by the clock of the controller., sample: "2026-11-21T20:00:00.000000Z"}
error_kind: {type: str, returned: failure, description: "V(records), V(not_written) or V(bad_answer).", sample: not_written}
"""

from functools import partial

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._scheduled_events.host.access import run_as_module
from ..module_utils._scheduled_events.host.files import LocalFiles
from ..module_utils._scheduled_events.host.system import LocalHost
from ..module_utils._scheduled_events.operations.maintenance_history import history_arguments, history_of_vm, history_required_if


def main() -> None:
    module = AnsibleModule(argument_spec=history_arguments(), required_if=history_required_if(), supports_check_mode=True)
    run_as_module(module, history_of_vm, files=LocalFiles.of_option, host=partial(LocalHost, None))


if __name__ == "__main__":
    main()
