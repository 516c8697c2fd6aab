# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Rules 9 and 10: a VM ends no pass of a fleet that has notification targets, hides no other VM in the messages, and puts no link or mention into one."""

from __future__ import annotations

import re
import typing as t

import records
from lab.receivers import Https
from victims import Victims

Make = t.Callable[..., Victims]
LURE = "sign in at https://evil.example @everyone <!channel> [x](http://evil.example)"


def test_a_vm_with_hundreds_of_events_ends_no_pass_and_hides_no_other(make_victims: Make) -> None:
    lab = make_victims(["liar", "web1"])
    receiver = Https()
    try:
        lab.all["respond_notify"] = [{"name": "ops", "url": f"json://127.0.0.1:{receiver.port}/"}]
        event = lab.simulator.event("Redeploy", ["web1"], notice=36000, started_seconds=36000)
        # Of one event the document and the record have different spaces; another is that of the victim.
        own = [records.event(number, "liar", event_type=LURE, description=LURE) for number in range(60)]
        kept = [records.record({**one, "event_id": f"{one['event_id']} "}, phase="noticed", outcome=None, told=[]) for one in own[:20]]
        listed = [{**one, "resource_type": "VirtualMachine", "raw": {}} for one in own]
        told = {"merge": {"events": listed, "records": kept}}
        lab.lie("liar", maintenance_info=told, maintenance_act=told)
        _code, output = lab.raw_play("maintenance.azure.respond", limit=240)
        assert event in lab.approved(), output.decode()[-2000:]
        assert b"Traceback" not in output and b"KeyError" not in output
        texts = receiver.texts
        assert any(re.match(r"web1 .*\[event " + event[:8], text) for text in texts), texts
        assert not [text for text in texts if re.search(r"://|@|<|\]\(", text)], texts
        assert len(texts) < 20, "one VM sends many messages"
    finally:
        receiver.close()
