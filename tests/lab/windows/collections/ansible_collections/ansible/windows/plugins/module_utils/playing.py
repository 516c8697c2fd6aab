# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What every stand-in module begins and ends with."""

from __future__ import annotations

import contextlib
import os

from ansible.module_utils.basic import AnsibleModule

from .machine import Machine, Refused


def begin(argument_spec, check_mode=True, **rules):
    """The module and its machine, with the call noted."""
    module = AnsibleModule(argument_spec=argument_spec, supports_check_mode=check_mode, **rules)
    try:
        machine = Machine()
    except Refused as error:
        module.fail_json(msg=str(error))
    given = {name: value for name, value in module.params.items() if value is not None}
    machine.note("calls.jsonl", {"module": os.path.basename(module._name or "").split(".")[-1], "check_mode": module.check_mode, "arguments": given})
    return module, machine


@contextlib.contextmanager
def told(module, result=None):
    """What is not played here ends the module with a message that begins with "stand-in"."""
    try:
        yield
    except Refused as error:
        module.fail_json(msg=str(error), **(result or {}))
