# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A STAND-IN for lookup awx.awx.controller_api."""

from __future__ import annotations

from ansible.errors import AnsibleError
from ansible.plugins.lookup import LookupBase
from ansible_collections.awx.awx.plugins.plugin_utils.store import MANY, Refused, Store


def failed_events(message):
    """A real sync has the recap among its failed events, too."""
    recap = "\r\nPLAY RECAP *****\r\nlocalhost                  : ok=0    changed=0    unreachable=0    failed=1"
    return [
        {"event": "runner_on_failed", "failed": True, "event_data": {"res": {"msg": message}}, "stdout": "fatal: [localhost]: FAILED!"},
        {"event": "playbook_on_stats", "failed": True, "event_data": {}, "stdout": recap},
    ]


class LookupModule(LookupBase):
    def run(self, terms, variables=None, query_params=None, return_all=False):
        parts = terms[0].strip("/").split("/")
        store = Store()
        store.tick()
        store.save()
        try:
            if len(parts) == 1:
                return [store.view(parts[0], item) for item in store.find(parts[0], query_params or {})]
            store.enter("GET", terms[0])
            item = store.by_id(parts[0], int(parts[1]))
            if len(parts) == 2:
                return [store.view(parts[0], item)]
            if parts[2] == "events":
                return failed_events(item["message"]) if item["status"] == "failed" else []
            if parts[2] == "survey_spec":
                return [item.get("survey_spec", {})]
            return [store.view(MANY[parts[2]], store.by_id(MANY[parts[2]], number)) for number in item.get(parts[2], [])]
        except Refused as refused:
            raise AnsibleError(str(refused))
