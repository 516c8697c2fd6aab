# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""What every module says about itself."""


class ModuleDocFragment:
    DOCUMENTATION = r"""
options: {}
attributes:
  check_mode: {description: Can run in C(check_mode) and return changed status prediction without modifying target.}
  diff_mode: {description: "Will return details on what has changed (or possibly needs changing in C(check_mode)), when in diff mode."}
  idempotent: {description: "When run twice in a row outside check mode, with the same arguments, the second invocation indicates no change."}
  platform: {description: Target OS/families that can be operated against., support: full, platforms: linux}
"""

    # For modules that an action plugin runs on the host, and whose result it checks.
    CHECKED = r"""
options: {}
attributes:
  action:
    description: Has a corresponding action plugin, so some parts of the options can be executed on the controller.
    support: full
    details: Only documented keys of documented types of a host's result reach the play.
"""

    # The same for modules that do it on Windows too.
    EITHER_WAY = r"""
options: {}
attributes:
  action:
    description: Has a corresponding action plugin, so some parts of the options can be executed on the controller.
    support: full
    details:
      - On a Linux host the module runs there. On a Windows host the controller does its work, by modules of the collection ansible.windows on the host.
      - Of what a host returns only documented keys of documented types reach the play. An answer with another type is a failure of that host, as is one
        that is too large. Facts and deprecations are left out, and warnings begin with the name of the host.
  async:
    description: Supports being used with the C(async) keyword.
    support: partial
    details: Not on Windows hosts. What C(async_status) brings in the end is not checked.
  platform: {platforms: "linux, windows"}
"""

    # For modules that only read.
    READ_ONLY = r"""
options: {}
attributes:
  check_mode: {support: full, details: "This module changes nothing, so it does the same in check mode."}
  diff_mode: {support: N/A, details: This module changes nothing.}
  idempotent: {support: full, details: This module changes nothing.}
"""

    ACTION_GROUP = r"""
options: {}
attributes:
  action_group:
    description: Use C(group/maintenance.azure.scheduled_events) in C(module_defaults) to set defaults for all modules of this group.
    support: full
    membership: [maintenance.azure.scheduled_events]
"""
