# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""At every impact a probe that does not read our records finds each hit VM out of service; at the end each serves as before."""

from __future__ import annotations

import json
import pathlib
import sys
import typing as t

import pytest
from lab.lab import Lab

Make = t.Callable[..., Lab]

# Run by the simulator at each transition: writes which of the hit VMs serve at that moment.
PROBE = """
import json, pathlib, sys
told = json.load(sys.stdin)
if told["transition"] == "impact":
    folder = pathlib.Path(sys.argv[1])
    serving = [vm for vm in told["resources"] if (folder / vm / "in_rotation").exists()]
    with open(folder / "impacts", "a") as file:
        file.write(json.dumps({"event_id": told["event_id"], "serving": serving}) + "\\n")
"""

EVENTS: dict[str, list[dict[str, t.Any]]] = {
    "reboot of one": [{"event_type": "Reboot", "resources": ["web1"]}],
    "long freeze of two": [{"event_type": "Freeze", "resources": ["web1", "web2"], "duration_in_seconds": 30}],
    "redeploy nobody approves for": [{"event_type": "Redeploy", "resources": ["web1"], "notice": 4500, "approvals": "none"}],
    "two events on one VM": [
        {"event_type": "Reboot", "resources": ["web1"]},
        {"event_type": "Redeploy", "resources": ["web1", "web2"]},
    ],
    "unknown type": [{"event_type": "Teleport", "resources": ["web2"]}],
}


@pytest.mark.parametrize("name", EVENTS)
def test_no_hit_vm_serves_at_an_impact_and_all_serve_at_the_end(make_lab: Make, tmp_path: pathlib.Path, name: str) -> None:
    probe = tmp_path / "probe.py"
    probe.write_text(PROBE)
    lab = make_lab(["web1", "web2"], 60, "--hook", f"{sys.executable} {probe} {tmp_path / 'lab0'}")
    for event in EVENTS[name]:
        lab.simulator.ask("POST", "/events", {"notice": 36000, "started_seconds": 240, **event})
    lab.respond(respond_wait=True)
    impacts = [json.loads(line) for line in (lab.folder / "impacts").read_text().splitlines()]
    assert len({impact["event_id"] for impact in impacts}) == len(EVENTS[name]), "the probe saw no impact"
    assert [impact for impact in impacts if impact["serving"]] == []
    for vm in lab.vms:
        assert lab.flag(vm).read_text() == "yes\n"
        assert all(record["phase"] == "recovered" for record in lab.records(vm))
