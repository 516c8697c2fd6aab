# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One event across a real Linux guest, over ssh, and a "Windows" VM that stand-ins play: drained, approved once, put back."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from lab.lab import Lab
from test_service import ADDRESS, BY_SSH, SSH, guest, states, until

pytestmark = pytest.mark.skipif(not ADDRESS, reason="needs the guest that run.sh boots")
RECORDS = "/var/lib/azure-maintenance"


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    lab = Lab(tmp_path / "lab", ["web1", "win1"], 60, windows=["win1"])
    # One simulator for both: the guest reaches its port through ssh.
    port = urlsplit(lab.simulator.endpoints["web1"]).port
    tunnel = subprocess.Popen([*SSH[:-1], "-o", "ExitOnForwardFailure=yes", "-N", "-R", f"{port}:127.0.0.1:{port}", SSH[-1]])
    # Records of earlier tests are those of another VM.
    guest(f"rm -rf {RECORDS}; systemctl start web.service")
    lab.hosts["web1"] = {
        **BY_SSH,
        "ansible_become": False,
        "respond_endpoint": lab.simulator.endpoints["web1"],
        "respond_health": {"service": "web.service"},
        "drain_methods": [{"method": "service", "names": ["web.service"]}],
    }
    yield lab
    tunnel.terminate()
    tunnel.wait(10)
    lab.close()


def test_drained_on_both_approved_once_recovered_on_both(lab: Lab) -> None:
    until(lambda: states("web.service") == ["active"])
    event = lab.simulator.event("Redeploy", ["web1", "win1"], notice=36000, started_seconds=240)
    # Each observation of the played Windows VM takes seconds, and on a busy machine many.
    output = lab.respond(respond_wait=True, respond_wait_timeout=900)
    assert f"Redeploy {event}" in output
    assert len(lab.simulator.approvals()) == 1, output
    assert states("web.service") == ["active"], output
    assert lab.flag("win1").read_text() == "yes\n"
    phases = lab.phases("win1")
    assert phases.index("drained") < phases.index("recovered")
    told = guest("journalctl --no-pager --output=cat --identifier=maintenance.azure").splitlines()
    for phase in ("drained", "recovered"):
        assert any(event in line and phase in line for line in told), phase
        assert any(event in line["d"] and phase in line["d"] for line in lab.windows["win1"].lines("eventlog.jsonl")), phase
