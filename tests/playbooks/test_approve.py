# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Role approve by itself: what is recorded of an approval."""

from __future__ import annotations

import json
import typing as t

PLAY = [
    {
        "hosts": "web1",
        "gather_facts": False,
        "tasks": [
            {
                "maintenance.azure.scheduled_events_info": {"endpoint": "{{ respond_endpoint }}"},
                "register": "listed",
            },
            {
                "maintenance.azure.maintenance_record": {
                    "records_path": "{{ respond_records_path }}",
                    "event_id": "{{ listed.events[0].event_id }}",
                    "event": "{{ listed.events[0] }}",
                    "changes": {"phase": "noticed"},
                },
            },
            {
                "ansible.builtin.include_role": {"name": "maintenance.azure.approve"},
                "vars": {
                    "approve_event_ids": ["{{ listed.events[0].event_id | lower }}"],
                    "approve_for": ["web1"],
                    "approve_endpoint": "{{ respond_endpoint }}",
                    "approve_records_path": "{{ respond_records_path }}",
                },
            },
            {"ansible.builtin.assert": {"that": ["approve_result.state == 'approved'", "approve_result.approved | length == 1"]}},
            {
                "ansible.builtin.include_role": {"name": "maintenance.azure.approve"},
                "vars": {
                    "approve_event_ids": ["{{ listed.events[0].event_id }}"],
                    "approve_endpoint": "http://127.0.0.1:9",
                    "approve_records_path": "{{ respond_records_path }}",
                },
            },
            {"ansible.builtin.assert": {"that": ["approve_result.state == 'failed'", "'127.0.0.1:9' in approve_result.error"]}},
        ],
    }
]


def test_what_an_approval_records_and_says(make_lab: t.Callable[..., t.Any]) -> None:
    """Ids compare without case, and the VM's document may write one otherwise than the plan that asks. One that fails says so, and stops nothing."""
    lab = make_lab(["web1"], 1)
    lab.simulator.event("Freeze", ["web1"])
    playbook = lab.folder / "approve.json"
    playbook.write_text(json.dumps(PLAY))
    lab.play(str(playbook))
    assert len(lab.simulator.approvals()) == 1
    (record,) = lab.records("web1")
    assert record["phase"] == "approved" and record["approved_at"]
