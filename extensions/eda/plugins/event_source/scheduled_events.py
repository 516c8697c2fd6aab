# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Event source of ansible-rulebook: ask the scheduled events endpoints of VMs without a watcher."""

from __future__ import annotations

DOCUMENTATION = r"""
---
module: scheduled_events
short_description: Ask endpoints of Azure's scheduled events
version_added: 2.1.0
author: The maintenance.azure authors
description:
  - Asks each endpoint at an interval, and puts a message into the queue for each event that is listed, has changed or is gone. The messages have the form
    of this collection's watchers; use filter C(maintenance.azure.normalize).
  - Azure's endpoint answers on the VM alone. So this source is for the controller's own VM, for a forwarder, and for the simulator of this collection.
  - The first request enables Scheduled Events for the VM, and may take two minutes.
  - All endpoints are asked at the same time, each in a thread of its own. One that is slow or answers nonsense does not delay the others. After three failures
    in a row it is reported once by a message of its own, and again when it answers; meanwhile it is asked less often, up to once a minute.
options:
  endpoints:
    description: The endpoints, at most 500.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: The VM's name in Azure.
        type: str
        required: true
      endpoint:
        description: V(http://ADDRESS) or V(http://ADDRESS:PORT).
        type: str
        required: true
      resource_id:
        description: The VM's resource id in Azure, for the messages.
        type: str
  interval:
    description: Seconds between two requests to an endpoint, 1 or more.
    type: float
    default: 5
  repeat_seconds:
    description: After so many seconds an event that is still listed is told again, because the run that it started may have failed.
    type: float
    default: 300
  api_version:
    description: An api-version of the endpoint. V(auto) is the newest that it knows.
    type: str
    default: auto
  connect_timeout:
    description: Seconds to connect.
    type: float
    default: 5
  request_timeout:
    description: Seconds for an answer. Azure's first one may take two minutes.
    type: float
    default: 125
"""

EXAMPLES = r"""
- name: Respond to scheduled events
  hosts: all
  sources:
    - maintenance.azure.scheduled_events:
        endpoints:
          - name: web1
            endpoint: http://127.0.0.1:8080
        interval: 5
      filters:
        - maintenance.azure.normalize:
  rules:
    - name: News of an event
      condition: event.maintenance.news == true
      action:
        debug:
          msg: "{{ event.maintenance.event_type }} is {{ event.maintenance.change }}"
"""

import pathlib
import sys
from typing import Any

# ansible-rulebook runs this file by its path, and knows no collections in Python. The collection's own code lies beside it, in the same tree.
COLLECTIONS = str(pathlib.Path(__file__).parents[7])
if COLLECTIONS not in sys.path:
    sys.path.insert(0, COLLECTIONS)

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.errors import ScheduledEventsError
from ansible_collections.maintenance.azure.plugins.plugin_utils._eda.asking.endpoints import read_options
from ansible_collections.maintenance.azure.plugins.plugin_utils._eda.asking.watching import Queue, watch_all


async def main(queue: Queue, args: dict[str, Any]) -> None:
    """Watch the endpoints until ansible-rulebook cancels it."""
    try:
        options = read_options(args)
    except (ValueError, ScheduledEventsError) as error:
        raise ValueError(f"maintenance.azure.scheduled_events: {error}") from None
    await watch_all(queue, options)
