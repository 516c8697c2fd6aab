# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What status prints of thirty events: numbers first, a reason that many share once, the next events, and the rest on demand."""

from __future__ import annotations

import datetime
import json
import re
import typing as t

from lab.lab import Lab

Make = t.Callable[..., Lab]
VMS = [f"web{number}" for number in range(1, 11)]
# Closed now, and open on a day within a year: one that never opens would be a wrong setting.
WINDOW = {"only_dates": [str(datetime.date.today() + datetime.timedelta(days=200))]}
POLICY = [{"when": "event_type == 'Reboot'", "drain": True, "approve": "after_drain", "window": WINDOW}, {"drain": True, "approve": "after_drain"}]


def lines_of(output: str) -> list[str]:
    """Return the lines that status shows, as Ansible prints them."""
    shown = output.split("Status | Show the state]")[1].split("]\n}")[0]
    return [line for line in shown.splitlines() if line.startswith('        "')]


def test_many_events_are_an_overview(make_lab: Make) -> None:
    lab = make_lab(VMS)
    for hours, vm in enumerate(VMS, start=1):
        for event_type in ("Reboot", "Freeze", "Redeploy"):
            more = {"resources": [vm, "db9"]} if event_type == "Redeploy" else {"resources": [vm]}
            lab.simulator.event(event_type, notice=36000 * hours, started_seconds=600, **more)
    given = {"respond_policy": POLICY, "status_hints": False}
    found = lines_of(lab.status(**given))
    assert max(map(len, found)) < 160, found
    texts = [json.loads(line.strip().rstrip(",")) for line in found]
    assert re.fullmatch(r"30 events: .*\b10 Reboot\b.*", texts[0])
    assert {"10 Reboot", "10 Freeze", "10 Redeploy"} <= set(re.split(r"[,;.] ?", texts[0]))
    whole = " ".join(text.strip() for text in texts)
    assert len(re.findall("the policy's window for approvals is closed", whole)) == 1
    assert len(re.findall("it also names db9", whole)) == 1
    assert re.search(r"10 events noticed, of web\d+(, web\d+){5} and 4 more: the policy's window", whole)
    events = [text for text in texts if re.match(r"\d+\. ", text)]
    assert len(events) == 10
    assert all(re.search(r"by Azure: web[123]; starts in (9|19|29) min; ", text) or "web4" in text for text in events), events
    assert "20 more events: playbook status shows all with -e status_all_events=true, and explains one with -e status_event_id=ID." in texts
    assert texts[-1] == "10 of 10 VMs answered; 30 events."
    every = [json.loads(line.strip().rstrip(",")) for line in lines_of(lab.status(**given, status_all_events=True))]
    assert len([text for text in every if re.match(r"\d+\. ", text)]) == 30
    assert [text for text in every if "more events" in text] == []
    data = lab.status(**given, status_format="json")
    assert data.count('\\"event_id\\"') + data.count('"event_id"') >= 30
    # A pass of respond ends with the same overview.
    checked = lab.respond("--check", **given)
    assert re.search(r'"30 events: [^"]*\b10 Reboot\b', checked) and len(re.findall(r'^ +"\d+\. ', checked, re.MULTILINE)) == 10
