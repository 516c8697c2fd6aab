# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a run has done, by the simulator's log and the VMs' files, in words that compare. Nothing done is no word."""

from __future__ import annotations

import json
import typing as t

from lab.lab import Lab


def did(lab: Lab, output: str) -> t.Iterator[str]:
    yield from _azure(lab)
    for vm in lab.vms:
        yield from _vm(lab, vm)
        # Role watch is played as far as this, where there is no systemd.
        if f"{vm} does not run systemd" in output:
            yield f"{vm} was found to have no systemd"
    if (lab.folder / "status.json").exists():
        yield "status was written: " + ", ".join(vm for vm in lab.vms if vm in (lab.folder / "status.json").read_text())
    if (lab.folder / "report.json").exists():
        told = json.loads((lab.folder / "report.json").read_text())["vms"]
        yield "a report was written: " + ", ".join(f"{vm} {'answered' if told[vm]['answered'] else 'is silent'}" for vm in sorted(told))
    archive = lab.folder / "archive"
    for entry in sorted(archive.rglob("event-*.json")):
        yield f"archived: {entry.relative_to(archive).parts[0].split('-')[0]}"


def _azure(lab: Lab) -> t.Iterator[str]:
    for approval in lab.simulator.approvals():
        yield f"approved: {approval['status']}"
    for event in lab.simulator.ask("GET", "/events"):
        if event["event_status"] != "Scheduled":
            yield f"the event is {event['event_status'] or 'over'}"


def _vm(lab: Lab, vm: str) -> t.Iterator[str]:
    if not lab.flag(vm).exists():
        yield f"{vm} is out of service"
    if (lab.folder / f"left-{vm}").exists():
        yield f"{vm} has left"
    if lab.leases(vm):
        yield f"{vm} is leased"
    for record in lab.records(vm):
        yield f"{vm} recorded {record['phase']}" + (f" and {record['decision']['action']}" if record.get("decision") else "")
    if (lab.folder / f"worked-{vm}").exists():
        yield f"{vm} was worked on {(lab.folder / f'worked-{vm}').read_text()}"
