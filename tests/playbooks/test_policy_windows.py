# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Windows of a policy in a time zone: nothing is approved outside, status says when it opens, and a zone that is missing is refused by name."""

from __future__ import annotations

import datetime
import subprocess
import typing as t

import zoneinfo
from lab.lab import Lab

Make = t.Callable[..., Lab]
BERLIN = zoneinfo.ZoneInfo("Europe/Berlin")
POLICY = """
respond_policy:
  - name: by the calendar
    drain: true
    approve: after_drain
    window: {{time_zone: Europe/Berlin, from: "00:30", to: "24:00", {dates}}}
"""


def test_an_event_waits_for_its_window(make_lab: Make) -> None:
    lab = make_lab(["web1"])
    event = lab.simulator.event("Reboot", ["web1"], notice=900000, started_seconds=600)
    settings = lab.folder / "policy.yml"
    # Some days on, so that no test at midnight fails.
    day = datetime.datetime.now(BERLIN).date() + datetime.timedelta(days=3)
    settings.write_text(POLICY.format(dates=f"only_dates: ['{day}']"))
    opens = datetime.datetime(day.year, day.month, day.day, 0, 30, tzinfo=BERLIN)
    utc = opens.astimezone(datetime.timezone.utc)
    words = f"opens {opens:%a %Y-%m-%d} 00:30 Europe/Berlin ({utc:%Y-%m-%d %H:%M} UTC)"
    for output in (lab.respond("-e", f"@{settings}", respond_wait=False), lab.play("maintenance.azure.status", "-e", f"@{settings}")):
        assert f"the policy's window for approvals is closed; it {words}. Next: " in output
    explained = lab.play("maintenance.azure.status", "-e", f"@{settings}", status_event_id=event)
    assert f"Window for approvals: every day from 00:30 to 24:00 Europe/Berlin, only on {day}; closed, {words}." in explained
    assert f'"changes_at": "{utc:%Y-%m-%dT%H:%M:%SZ}"' in lab.play("maintenance.azure.status", "-e", f"@{settings}", status_format="json").replace('\\"', '"')
    assert lab.simulator.approvals() == []
    assert lab.flag("web1").exists(), "out of service outside of the window, days before its deadline"
    settings.write_text(POLICY.replace("00:30", "00:00").format(dates=f"except_dates: ['{day}']"))
    lab.respond("-e", f"@{settings}")
    assert len(lab.simulator.approvals()) == 1


def test_a_zone_that_is_missing_is_refused_by_name(idle_lab: Lab) -> None:
    policy = [{"drain": True, "approve": "after_drain", "window": {"time_zone": "Europe/Berlin"}}]
    for playbook, given in (("status", {}), ("respond", {}), ("gate", {"gate_hosts": "web1"})):
        # As in an image without tzdata.
        command = idle_lab.command(f"maintenance.azure.{playbook}", respond_policy=policy, **given)
        done = subprocess.run(command, env=idle_lab.environment(PYTHONTZPATH=""), capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 2, done.stdout
        refused = "window time_zone 'Europe/Berlin' cannot be used, because the controller has no time zone data: install the Python package tzdata on the"
        assert f"rule 1 of the policy: {refused}" in done.stdout, playbook
        assert done.stdout.count("fatal: ") == 1
