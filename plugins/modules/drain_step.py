# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

DOCUMENTATION = r"""
module: drain_step
short_description: (internal) Choose the next step of a drain or of its undo
version_added: 2.0.0
author: The maintenance.azure authors (@maintenance-azure)
description:
  - Internal, the state machine of role P(maintenance.azure.drain#role). It runs on the controller.
  - Without an option it reads what came of the last step, from what the tasks of the role have registered and from the facts that a method has set.
    It continues from its own result, so every task registers under the name C(__drain_step). In check mode there is no step.
options:
  begin: {type: dict, description: "The variables of the role, as they are when a drain or an undo begins."}
  validate: {type: dict, description: The settings of a drain. The task fails with everything that is wrong with them.}
  failed: {type: dict, description: "The C(task) that has failed in the last step, and its C(result)."}
  observed: {type: list, elements: dict, description: "What the tasks of a method have observed; the result says what follows, as the method reads it."}
extends_documentation_fragment: [maintenance.azure.attributes, maintenance.azure.attributes.read_only]
"""

EXAMPLES = r"""
- name: Choose the next step
  maintenance.azure.drain_step:
  register: __drain_step
"""

RETURN = r"""
do: {type: str, returned: success, description: "The tasks file of the next step, such as V(act) or V(stage), or V(end).", sample: act}
segment: {type: int, returned: success, description: "The number of the methods that are taken now, from 0."}
action: {type: dict, returned: when it runs next, description: What M(maintenance.azure.maintenance_act) is given.}
limit: {type: int, returned: success, description: The seconds that a task of a method may take., sample: 150}
result: {type: dict, returned: success, description: "How far it is, with C(state), C(error), C(record) and C(warning)."}
"""
