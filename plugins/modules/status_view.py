# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

DOCUMENTATION = r"""
module: status_view
short_description: (internal) Make a view of a plan, and write it to a file
version_added: 2.3.0
author: [The maintenance.azure authors (@maintenance-azure)]
description: Internal, for role P(maintenance.azure.respond#role). It runs on the controller. Without O(file) it changes nothing.
options:
  observed: {type: str, required: true, description: The variable that a task with M(maintenance.azure.plan) has registered.}
  format: {type: str, default: text, description: See O(maintenance.azure.respond#role:status:status_format).}
  event_id: {type: str, default: "", description: See O(maintenance.azure.respond#role:status:status_event_id).}
  all_events: {type: raw, default: false, description: See O(maintenance.azure.respond#role:status:status_all_events).}
  file: {type: str, default: "", description: See O(maintenance.azure.respond#role:status:status_file).}
extends_documentation_fragment: [maintenance.azure.attributes]
attributes: {check_mode: {support: full}, diff_mode: {support: none}, idempotent: {support: full}}
"""

EXAMPLES = r"""
- name: Make what is shown
  maintenance.azure.status_view:
    observed: this_pass
"""

RETURN = r"""
lines: {type: raw, returned: success, description: "The lines of the view, or its data.", sample: ["4 of 4 VMs answered; no events."]}
"""
