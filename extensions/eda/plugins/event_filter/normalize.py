# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Event filter of ansible-rulebook: any message about Azure's scheduled events in one flat shape."""

from __future__ import annotations

DOCUMENTATION = r"""
---
module: normalize
short_description: Bring messages about Azure's scheduled events into one shape
version_added: 2.1.0
author: The maintenance.azure authors
description:
  - Reads the messages of this collection's watchers and of its event source C(maintenance.azure.scheduled_events), Azure Event Grid's in its own
    schema and as CloudEvents, and texts of these from Azure Service Bus, alone or in a list. The result is one event below the key C(maintenance) for each
    scheduled event, and nothing else of the message.
  - A message is a hint, never an order. Whatever is not a message about scheduled events becomes C(form=unknown) with its reason in C(problem). No message
    makes this filter fail.
  - A sender beyond its rate is dropped before anything of its messages is read, and reported once a minute by an event with C(form=dropped). The rate counts
    messages, and bytes, so that large ones do not hold up the rulebook. In a minute 8 KiB for each message that the rates allow are read, and at least 2 MiB,
    of a sender and of all together. A delivery has at most 1 MiB, where each value counts as 16 bytes more.
  - A message of Event Grid may have several resources. It gives one event for each C(EventId), with the names of all its resources. At most 32 C(EventId)s and
    1000 resources of a message are read; what is left out is reported in the same way. Each event in a message counts as a message.
  - Texts have no beginning of a template in them, Ansible's header C(#jinja2:) included, and names that Azure does not allow are left out, because rulebooks
    and playbooks render what they get.
  - It must be the first filter of a source. ansible-rulebook 1.2 or newer is needed.
options:
  most_per_minute:
    description: How many messages a sender may send in a minute. The sender is the C(source) of a message, or what O(sender_header) says.
    type: int
    default: 30
  most_in_all_per_minute:
    description: How many messages all senders together may send in a minute.
    type: int
    default: 3000
  most_new_events_per_minute:
    description: How many events may have their first news in a minute. Each starts a run.
    type: int
    default: 60
  most_new_events_per_sender:
    description:
      - How many events may have their first news from one sender within an hour, so that one VM's made-up events do not hold all places of ansible-rulebook for
        runs. An event counts again for the sender that told first of it, if it still sends news of it an hour later. More are left out and reported like the
        rest, and watchers repeat them. News of an event that another sender told of is not counted.
      - Without O(sender_header), senders' names are what messages say. A sender that lies about its name can use up what another one has, or all have together;
        then the schedule serves.
      - Set more where one sender tells of the events of many VMs. Messages of Event Grid without C(subject) have their topic or nothing as the sender; a
        watcher with C(watch_tell_about=any), and an endpoint that is asked for others, tell of all in their document.
    type: int
    default: 4
  repeat_seconds:
    description: A message that comes again within so many seconds after it was passed on tells nothing new, and is left out.
    type: float
    default: 60
  sender_header:
    description:
      - Header of a webhook's requests in which a proxy says who sends, such as the name in the certificate that it has verified. Rates are then counted for
        these names, and not for what messages say. A delivery without this header is no news, and is not read. Without this option, a text that
        must be read to know its sender counts for all senders together.
      - The proxy must replace what a client sends in this header, and the webhook must be reachable through the proxy alone.
    type: str
    default: ""
notes:
  - "C(event.maintenance) always has the same keys. C(form): V(watcher), V(event_grid), V(endpoint), V(dropped) or V(unknown). C(news): whether a run may be
    started; then C(event_id) is a GUID in lower case. C(new_event): whether it is the first news of this event since the start of the rulebook. C(run): the
    key of the run that serves it. C(new_run): whether it is the first news of that run. C(problem): why it is not news."
  - "Further keys: C(message_id), C(sender), C(sent_at), C(change) (V(listed), V(changed), V(gone); of an endpoint V(failing), V(answering)), C(event_type),
    C(event_status), C(event_source), C(resource_type), C(resources), C(resource_ids), C(vms) (the names in all messages
      about the event so far; empty where a run has to look at all VMs), C(not_before), C(duration_in_seconds), C(description),
    C(document_incarnation), C(dropped)."
"""

EXAMPLES = r"""
- name: Respond to scheduled events
  hosts: all
  sources:
    - ansible.eda.webhook:
        port: 5000
        token: "{{ maintenance_token }}"
      filters:
        - maintenance.azure.normalize:
            most_per_minute: 30
  rules:
    - name: News of an event
      condition: event.maintenance.news == true
      action:
        run_playbook:
          name: maintenance.azure.respond
          extra_vars:
            respond_only_events: "{{ event.maintenance.event_id }}"
"""

import pathlib
import sys
import time
from typing import Any

# ansible-rulebook runs this file by its path, and knows no collections in Python. The collection's own code lies beside it, in the same tree.
COLLECTIONS = str(pathlib.Path(__file__).parents[7])
if COLLECTIONS not in sys.path:
    sys.path.insert(0, COLLECTIONS)

from ansible_collections.maintenance.azure.plugins.plugin_utils._eda.receiving.receiver import Limits, Receiver

# ansible-rulebook runs the file once for each source, so each source has its own.
_RECEIVER = Receiver()


def main(
    event: Any,
    most_per_minute: int = 30,
    most_in_all_per_minute: int = 3000,
    most_new_events_per_minute: int = 60,
    most_new_events_per_sender: int = 4,
    repeat_seconds: float = 60.0,
    sender_header: str = "",
) -> list[dict[str, Any]]:
    """Return what the rules see of a message: a list of events, which may be empty."""
    limits = Limits(
        int(most_per_minute),
        int(most_in_all_per_minute),
        int(most_new_events_per_minute),
        int(most_new_events_per_sender),
        float(repeat_seconds),
        str(sender_header),
    )
    return [{"maintenance": shape} for shape in _RECEIVER.receive(event, limits, time.monotonic())]
