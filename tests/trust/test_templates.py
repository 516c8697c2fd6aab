# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Rule 9: no text of a VM is taken for a template, whatever is done with it: in a pass, in a status, in an override, at a gate, in an upgrade."""

from __future__ import annotations

import typing as t

import records
from test_facts import path_of
from victims import Victims

Make = t.Callable[..., Victims]


def answer(evil: str) -> dict[str, t.Any]:
    """What the liar says in place of all its texts."""
    event = {**records.event(1, "liar"), "event_id": evil, "description": evil, "event_type": evil, "event_source": evil, "resources": ["liar", evil]}
    own = {**records.event(2, "liar"), "description": evil}
    method = {**records.method("service", {"names": [evil]}, {evil: "active"}), "error": evil, "id": "1-service"}
    record = {**records.record(own, method, phase="failed", outcome=None), "reason": evil, "rule": {"name": evil, "drain": True, "approve": "never"}}
    record["decision"] = {**records.word("hold"), "who": evil, "why": evil}
    lease = {"name": evil, "run": evil, "digest": evil, "event_id": evil, "kind": evil, "who": evil, "groups": {evil: evil}, "expired": True}
    return {
        "events": [event, own],
        "records": [record],
        "records_problems": [evil],
        "leases": [lease],
        "upgrades": [{"name": evil, "state": evil, "digest": evil}],
        "in_service": False,
        "in_service_why": evil,
        "vm_name": evil,
        "identity": {"name": evil, "vm_id": evil, "zone": evil, "resource_group": evil},
        "tombstones": [{"event_id": evil, "at": evil, "vm_id": evil}],
        "replicas": [{"vm": evil, "vm_id": evil, "keeper_vm_id": evil, "record": record}, {"vm": "web1", "vm_id": evil, "record": record}],
        "watcher": {"problem": evil},
        "warnings": [evil],
        "msg": evil,
        "boot_id": evil,
        "cannot_write": evil,
    }


def test_no_text_is_a_template(make_victims: Make) -> None:
    # Later versions of ansible-core take nothing for a template that a module has returned.
    lab = make_victims(["web1", "liar"])
    evil = "{{ lookup('ansible.builtin.pipe', 'touch " + lab.canary("template") + "') }}"
    told, failed = {"merge": answer(evil)}, {"merge": {"msg": evil, "failed": True}}
    lab.lie("liar", maintenance_act=told, maintenance_info=told, maintenance_record=failed, maintenance_lease=failed)
    lab.more_environment = {"PATH": path_of("2.18") + lab.environment()["PATH"]}
    event = lab.simulator.event("Redeploy", ["web1"], notice=36000, started_seconds=36000)
    tasks = lab.folder / "upgrade.yml"
    tasks.write_text("- ansible.builtin.command: 'true'\n")
    upgrade = {"upgrade_name": "x", "upgrade_tasks": str(tasks), "upgrade_by": "zone", "upgrade_hosts": "web1,liar"}
    for book, given in (
        ("respond", {}),
        ("status", {"status_event_id": f"{records.EVENT}02"}),
        ("decide", {"decide_event_id": event, "decide_action": "release", "decide_who": "me"}),
        ("rolling_upgrade", upgrade),
    ):
        # An upgrade waits for its gate, which the liar keeps closed, but not in check mode.
        _code, output = lab.raw_play(f"maintenance.azure.{book}", *(["--check"] if given is upgrade else []), limit=120, **given)
        assert "{{ lookup(" in output.decode(), f"{book}: the liar was not heard"
        assert lab.found() == [], f"{book}: a text of the liar was evaluated"
    assert event in lab.approved()
