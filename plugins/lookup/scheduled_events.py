# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Lookup scheduled_events: events of the machine that runs Ansible, if that is an Azure VM."""

from __future__ import annotations

DOCUMENTATION = r"""
name: scheduled_events
author: [The maintenance.azure authors (@maintenance-azure)]
version_added: 1.3.0
short_description: The scheduled events of the VM that runs Ansible
description:
  - Asks the metadata service of the controller itself, and returns its scheduled events.
  - A reboot of the controller in the middle of an upgrade leaves the upgrade unattended. Check before it begins.
  - The lookup fails if the controller is not an Azure VM, or runs in a container that cannot reach the address. It then never returns an empty list.
notes:
  - The first request enables Scheduled Events for the VM of the controller, see M(maintenance.azure.scheduled_events_info).
  - Runs on the controller, whatever host the task is for.
requirements: [Python package requests on the controller]
options:
  _terms: {description: The lookup takes no terms.}
  affecting:
    description:
      - V(this_vm) takes only events that name the VM of the controller.
      - V(any) takes every event in the document.
    type: str
    default: this_vm
    choices: [any, this_vm]
extends_documentation_fragment: [maintenance.azure.endpoint, maintenance.azure.selection]
seealso: [{module: maintenance.azure.scheduled_events_info}]
"""

EXAMPLES = r"""
- name: Continue only if this controller has no scheduled events
  ansible.builtin.assert:
    that: query('maintenance.azure.scheduled_events') | length == 0
    fail_msg: This controller has scheduled maintenance of its own.

- name: Read the events of a simulator
  ansible.builtin.debug:
    msg: "{{ query('maintenance.azure.scheduled_events', endpoint='http://127.0.0.1:8080', event_types=['Reboot', 'Redeploy']) }}"
"""

RETURN = r"""
_raw: {type: list, elements: dict, description: "The events, each as RV(maintenance.azure.scheduled_events_info#module:events) has it."}
"""

from typing import Any

from ansible.errors import AnsibleLookupError
from ansible.plugins.lookup import LookupBase
from ansible.utils.display import Display

from ..module_utils._scheduled_events.core.types import Data
from ..module_utils._scheduled_events.discovery.candidates import LocalPlaces
from ..module_utils._scheduled_events.host.access import Failed, HostAccess
from ..module_utils._scheduled_events.operations.scheduled_events_info import info
from ..plugin_utils._controller.requests_transport import MISSING, RequestsTransport

NAME = "lookup maintenance.azure.scheduled_events"


class LookupModule(LookupBase):
    """Ansible's entry point."""

    def run(self, terms: list[Any], variables: Any = None, **kwargs: Any) -> list[Data]:
        """Return the events. Raise AnsibleLookupError."""
        self.set_options(var_options=variables, direct=kwargs)
        if terms:
            raise AnsibleLookupError(f"{NAME}: takes options only, such as affecting='any', and no terms; given was {terms!r}")
        if MISSING is not None:
            raise AnsibleLookupError(f"{NAME}: needs the Python package requests on the controller (pip install requests): {MISSING}") from MISSING
        access = HostAccess(False, Display().warning, connect=RequestsTransport, places=LocalPlaces)
        try:
            return list(info(self.get_options(), access)["events"])
        except Failed as failed:
            raise AnsibleLookupError(f"{NAME}: {failed}") from failed
