# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""At every impact a probe that does not read our records finds each hit VM out of service; at the end each serves as before."""

from __future__ import annotations

import concurrent.futures
import json
import pathlib
import sys
import typing as t

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

# Each on VMs of its own, so that one run serves all of them.
EVENTS: list[dict[str, t.Any]] = [
    {"event_type": "Reboot", "resources": ["web1"]},
    {"event_type": "Freeze", "resources": ["web2", "web3"], "duration_in_seconds": 30},
    # Nobody approves it: it starts by itself, once its VM is drained.
    {"event_type": "Redeploy", "resources": ["web4"], "approvals": "none"},
    # Two on one VM.
    {"event_type": "Reboot", "resources": ["web5"]},
    {"event_type": "Redeploy", "resources": ["web5", "web6"]},
    # Of an unknown type.
    {"event_type": "Teleport", "resources": ["web7"]},
]


def test_no_hit_vm_serves_at_an_impact_and_all_serve_at_the_end(make_lab: Make, tmp_path: pathlib.Path) -> None:
    probe = tmp_path / "probe.py"
    probe.write_text(PROBE)
    lab = make_lab([f"web{number}" for number in range(1, 8)], 60, "--hook", f"{sys.executable} {probe} {tmp_path / 'lab0'}")
    ids = {event["resources"][0]: lab.simulator.ask("POST", "/events", {"notice": 36000, "started_seconds": 240, **event})["event_id"] for event in EVENTS}
    with concurrent.futures.ThreadPoolExecutor() as pool:
        run = pool.submit(lab.respond, respond_wait=True, respond_wait_timeout=600)
        lab.simulator.until(lambda: run.done() or not lab.flag("web4").exists(), 300, "web4 is drained")
        lab.simulator.ask("POST", f"/events/{ids['web4']}/start")
        run.result()
    impacts = [json.loads(line) for line in (lab.folder / "impacts").read_text().splitlines()]
    assert len({impact["event_id"] for impact in impacts}) == len(EVENTS), "the probe saw not every impact"
    assert [impact for impact in impacts if impact["serving"]] == []
    for vm in lab.vms:
        assert lab.flag(vm).read_text() == "yes\n"
        assert {record["phase"] for record in lab.records(vm)} == {"recovered"}
