# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

DOCUMENTATION = r"""
module: check_override
short_description: (internal) Check an override, and find the records to write it to
version_added: 2.3.0
author: [The maintenance.azure authors (@maintenance-azure)]
description: Internal, for role P(maintenance.azure.respond#role). It runs on the controller, and fails with one line that says what to correct.
options:
  override: {type: dict, required: true, description: "The override, as P(maintenance.azure.override#filter) takes it."}
  observed: {type: str, description: The variable that a task with M(maintenance.azure.plan) has registered. Without it only the override is checked.}
extends_documentation_fragment: [maintenance.azure.attributes, maintenance.azure.attributes.read_only]
"""

EXAMPLES = r"""
- name: Check an override before any VM is observed
  maintenance.azure.check_override:
    override: {event_id: C7061BAC, action: hold, who: alice}
"""

RETURN = r"""
event_id: {type: str, returned: success, description: The whole id of the event.}
text: {type: str, returned: success, description: The override in words.}
writes: {type: list, elements: dict, returned: success, description: The changes to the records. See P(maintenance.azure.override#filter).}
"""
