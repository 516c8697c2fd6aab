# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Rules 9 and 10: a VM's history is no template and no markup, hides no other VM in a report, and fills its own share of the archive only."""

from __future__ import annotations

import json
import typing as t

import records
from test_facts import path_of
from victims import Victims

Make = t.Callable[..., Victims]


def entry(number: int, evil: str) -> dict[str, t.Any]:
    """What the liar's history says."""
    its_event = {**records.event(0, "liar"), "event_id": f"lie-{number}", "event_type": evil, "description": evil, "resources": [evil]}
    phases = [{"phase": "noticed", "at": "2199-01-01T00:00:00.000000Z" if number % 2 else records.at(), "why": evil}]
    methods = [{"id": evil, "method": evil, "state": evil, "at": evil, "error": evil, "outside": True, "times": {"begun": evil}}]
    texts = dict.fromkeys(("outcome", "reason", "vm_id", "vm_name", "watcher", "approving_at"), evil)
    return {
        **texts,
        "format": 1,
        "event": its_event,
        "phase": "noticed",
        "history": phases,
        "methods": methods,
        "rule": {"name": evil},
        "decision": {"who": evil},
    }


def test_a_history_of_lies(make_victims: Make) -> None:
    lab = make_victims(["liar", "web1"])
    evil = "<script>{{ lookup('ansible.builtin.pipe', 'touch " + lab.canary("template") + "') }}"
    event = lab.simulator.event("Reboot", ["web1"], notice=3600, started_seconds=5)
    lab.raw_play("maintenance.azure.respond", respond_wait=True)
    lies = {"entries": [entry(number, evil) for number in range(600)], "problems": [evil] * 50, "now": evil}
    lab.lie("liar", maintenance_history={"merge": lies})
    # Later versions of ansible-core take nothing for a template that a module has returned.
    lab.more_environment = {"PATH": path_of("2.18") + lab.environment()["PATH"]}
    archive, files = lab.folder / "archive", [str(lab.folder / f"report.{form}") for form in ("json", "html", "csv")]
    limits = {"entries": 50, "bytes": 100_000, "days": 400}
    given = {"report_file": files, "report_archive_path": str(archive), "report_archive_limits": limits}
    code, output = lab.raw_play("maintenance.azure.report", limit=240, **given)
    assert code == 0, output.decode()[-2000:]
    assert lab.found() == [], "a text of the liar was evaluated"
    assert f"{event}, times in UTC".encode() in output, "the liar hides the other VM"
    page = (lab.folder / "report.html").read_text()
    assert f"event {event}," in page and "<script" not in page and "{{ lookup(" in page
    assert [one["event_id"] for one in json.loads((lab.folder / "report.json").read_text())["events"] if one["vms"][0]["vm"] == "web1"] == [event]
    of_liar, of_web1 = (next(archive.glob(f"{vm}-*")) for vm in ("liar", "web1"))
    assert len(list(of_liar.iterdir())) <= 50 and sum(path.stat().st_size for path in of_liar.iterdir()) <= 100_000
    assert len(list(of_web1.iterdir())) == 1
