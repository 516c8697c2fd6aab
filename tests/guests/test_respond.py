# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A whole maintenance on a real guest: role simulator under its systemd, playbook respond over ssh, a service out and back."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from fleet import environment
from lab import warm
from test_service import ADDRESS, BY_SSH, boot_id, guest, states, until

pytestmark = pytest.mark.skipif(not ADDRESS, reason="needs the guest that run.sh boots")

CONTROL = "http://127.0.0.1:8168"
TOKEN = "/opt/imds-simulator/control-token"
WAIT = [
    {
        "hosts": "all",
        "gather_facts": False,
        "tasks": [
            {
                "maintenance.azure.wait_for_scheduled_event": {
                    "endpoint": "{{ respond_endpoint }}", "state": "gone", "event_ids": ["{{ event }}"], "timeout": 570, "poll_interval": 0.5,
                },
                "register": "waited",
            },
            {"ansible.builtin.copy": {"content": "{{ waited | to_json }}", "dest": "{{ result }}", "mode": "0600"}, "delegate_to": "localhost"},
        ],
    }
]  # fmt: skip
ROLE = [{"hosts": "all", "gather_facts": False, "tasks": [{"ansible.builtin.include_role": {"name": "maintenance.azure.simulator"}}]}]


def ask(method: str, path: str, body: Any = None) -> Any:
    """The simulator's control API, asked on the guest, where alone it listens."""
    words = (
        f'import sys, urllib.request as r; t = open("{TOKEN}").read().strip(); '
        'h = {"Authorization": "Bearer " + t, "Content-Type": "application/json"}; '
        "print(r.urlopen(r.Request(sys.argv[1], sys.argv[3].encode() or None, h, method=sys.argv[2])).read().decode())"
    )
    text = "" if body is None else json.dumps(body)
    return json.loads(guest(f"python3 -c '{words}' {CONTROL}{path} {method} '{text}'") or "null")


class Controller:
    """Runs playbooks against the guest as a user would: an inventory and extra variables."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        host = {
            **BY_SSH,
            # The guest has no sudo, and root needs none.
            "ansible_become": False,
            "respond_endpoint": "http://127.0.0.1:8169",
            "respond_health": {"service": "web.service"},
            "drain_methods": [{"method": "service", "names": ["web.service"]}],
            "simulator_speed": 60,
        }
        (folder / "inventory.json").write_text(json.dumps({"all": {"hosts": {"web1": host}}}))
        (folder / "simulator.yml").write_text(json.dumps(ROLE))
        (folder / "wait.yml").write_text(json.dumps(WAIT))

    def command(self, playbook: str, *words: str, **variables: Any) -> list[str]:
        return ["ansible-playbook", "-i", "inventory.json", playbook, *words, "-e", json.dumps(variables)]

    def play(self, playbook: str, *words: str, **variables: Any) -> str:
        command = self.command(playbook, *words, **variables)
        run = subprocess.run(command, env=warm.playbooks(environment(self.folder)), cwd=self.folder, text=True, capture_output=True, timeout=700, check=False)
        assert run.returncode == 0, run.stdout[-6000:] + run.stderr
        return run.stdout


@pytest.fixture(scope="module")
def controller(tmp_path_factory: pytest.TempPathFactory) -> Controller:
    """Both tests share the simulator; test_watch.py takes it over with other settings, and removes it."""
    controller = Controller(tmp_path_factory.mktemp("respond"))
    controller.play("simulator.yml")
    return controller


def test_from_notice_to_recovery_over_ssh(controller: Controller) -> None:
    assert states("imds-simulator.service") == ["active"]
    assert "changed=0" in controller.play("simulator.yml")
    until(lambda: states("web.service") == ["active"])
    event = ask("POST", "/events", {"event_type": "Reboot", "resources": ["web1"], "notice": 36000, "started_seconds": 240})["event_id"]

    output = controller.play("maintenance.azure.respond", respond_wait=True, respond_wait_timeout=600)
    assert f"Reboot {event}" in output and "recovered" in output
    assert states("web.service") == ["active"]
    assert [entry["path"] for entry in ask("GET", "/requests") if entry["method"] == "POST"] != []
    told = guest("journalctl --no-pager --output=cat --identifier=maintenance.azure")
    for phase in ("noticed", "drained", "approved", "gone", "recovered"):
        assert any(event in line and phase in line for line in told.splitlines()), phase


def test_a_wait_outlives_the_boot_of_the_very_vm_that_it_asks(controller: Controller) -> None:
    event = ask("POST", "/events", {"event_type": "Reboot", "resources": ["web1"], "notice": 36000})["event_id"]
    before, result, asked = boot_id(), controller.folder / "waited.json", len(ask("GET", "/requests"))
    waiting = subprocess.Popen(
        controller.command("wait.yml", event=event, result=str(result)),
        env=environment(controller.folder), cwd=controller.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    try:
        until(lambda: waiting.poll() is not None or len(ask("GET", "/requests")) > asked + 3)
        assert waiting.poll() is None and not result.exists(), waiting.communicate()[0]
        guest("systemctl --no-block reboot", check=False)
        until(lambda: guest("cat /proc/sys/kernel/random/boot_id", check=False) not in ("", before))
        # The event is over with the boot: this simulator knows nothing of it.
        until(lambda: guest("systemctl is-system-running", check=False) in ("running", "degraded"))
        controller.play("simulator.yml")
        output, _nothing = waiting.communicate(timeout=600)
    finally:
        waiting.kill()
    assert waiting.returncode == 0, output
    waited = json.loads(result.read_text())
    assert waited["outcome"] == "not_seen"
    assert any("The connection to the VM was lost" in warning for warning in waited["warnings"]), waited["warnings"]
