# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Rules 9 and 10 in check mode: a VM that lies about what a drain would do hides no other VM's preview, fills no screen, and makes nothing happen."""

from __future__ import annotations

import typing as t

import records
from victims import Victims

Make = t.Callable[..., Victims]


def test_a_preview_beside_a_liar(make_victims: Make) -> None:
    lab = make_victims(["liar", "web1"])
    event = lab.simulator.event("Redeploy", ["web1"], notice=36000, started_seconds=36000)
    evil = "\x1b[2J\x1b[1;1H\r\nok: [forged]\n{{ lookup('ansible.builtin.pipe', 'touch " + lab.canary("template") + "') }}" + "x" * 5000
    own = [
        {**records.event(number, "liar"), "event_type": evil[:4000], "not_before": records.at(600), "resource_type": "VirtualMachine", "raw": {}}
        for number in range(60)
    ]
    result = {"action": "drain", "event_id": own[0]["event_id"], "failed": True, "changed": True, "msg": evil, "error": evil, "state": "failed"}
    told = {"1-probe_file": evil, "probe_file": evil, **{f"m{number}": evil for number in range(20)}}
    serves = {"events": own, "in_service": True, "in_service_why": evil}
    said = {**result, "was": told, "would": told, "warning": evil, "doubts": [evil] * 1000}
    lie = {"merge": {**serves, "results": [said], "diff": {"before": evil, "after": evil}}}
    lab.lie("liar", maintenance_info={"merge": serves}, maintenance_act=lie)
    _code, output = lab.raw_play("maintenance.azure.respond", "--check", "--diff", limit=240)
    text = output.decode()
    assert b"\x1b" not in output and "\nok: [forged]" not in text
    assert "liar: 1-probe_file: " in text and "liar: would fail: " in text, "the liar was not heard"
    assert lab.found() == [] and lab.approved() == set() and not list(lab.records_folder("web1").glob("event-*"))
    assert f"web1: Would drain for event {event}" in text and "Traceback" not in text
    assert len(output) < 400_000, len(output)
