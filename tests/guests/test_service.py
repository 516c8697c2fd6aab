# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Method service on a real systemd: run by run.sh, which boots the guest."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fleet import Fleet, Host

ADDRESS = os.environ.get("GUEST_ADDRESS", "")
SSH = [
    *("ssh", "-i", os.environ.get("GUEST_KEY", ""), "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null"),
    *("-o", "LogLevel=ERROR", "-o", "ConnectTimeout=3", "-o", "BatchMode=yes", f"root@{ADDRESS}"),
]
# How a playbook reaches the guest.
BY_SSH = {
    "ansible_connection": "ssh",
    "ansible_host": ADDRESS,
    "ansible_user": "root",
    "ansible_ssh_private_key_file": os.environ.get("GUEST_KEY", ""),
    "ansible_ssh_common_args": "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null",
    "ansible_python_interpreter": "/usr/bin/python3",
    "ansible_pipelining": True,
}
RECORDS = "/var/lib/azure-maintenance"
UNITS = ["web.service", "occasional.service", "idle.service"]

pytestmark = pytest.mark.skipif(not ADDRESS, reason="needs the guest that run.sh boots")


def guest(command: str, check: bool = True) -> str:
    try:
        run = subprocess.run([*SSH, command], text=True, capture_output=True, timeout=20, check=False)
    except subprocess.TimeoutExpired:
        # It went down in the middle of the answer.
        assert not check, command
        return ""
    assert run.returncode == 0 or not check, (command, run.stdout, run.stderr)
    return run.stdout.strip()


def until(condition: Callable[[], bool], seconds: float = 120) -> None:
    """Wait for a condition. The limit is for a machine that does much else; nothing here is timed by it."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, inspect.getsource(condition)
        time.sleep(1)


def states(*units: str) -> list[str]:
    return guest("systemctl is-active -- " + " ".join(units or UNITS), check=False).split()


def record(event_id: str, records: str = RECORDS) -> dict[str, Any]:
    """The newest revision of an event's record on the guest; empty where there is none."""
    newest = f"ls -v {records}/event-{event_id.lower()}.*.json 2>/dev/null | tail -1"
    # A later revision may take its place between the two commands.
    text = guest(f'while file=$({newest}); test -n "$file" && ! cat "$file" 2>/dev/null; do sleep 0.1; done')
    return json.loads(text) if text else {}


class Guest(Host):
    """The VM whose records lie on the guest. Those of one play have a folder each: no two runs are at work on the VM."""

    @property
    def record(self) -> dict[str, Any]:
        return record(self.event["event_id"], self.variables["test_records"])


def make(fleet: Fleet, methods: list[dict[str, Any]], event_id: str) -> Guest:
    host = Guest(
        fleet.folder,
        event_id,
        methods,
        **BY_SSH,
        test_records=f"/srv/records-{event_id}",
        test_boot_id=boot_id(),
    )
    host.event["event_id"] = event_id
    fleet.hosts[event_id] = host
    return host


def boot_id() -> str:
    return guest("cat /proc/sys/kernel/random/boot_id")


def reboot(host: Host) -> None:
    before = boot_id()
    guest("systemctl --no-block reboot", check=False)
    until(lambda: guest("cat /proc/sys/kernel/random/boot_id", check=False) not in ("", before))
    until(lambda: guest("systemctl is-system-running", check=False) in ("running", "degraded"))
    host.variables["test_boot_id"] = boot_id()


def look_until(act: Callable[..., Any], state: str, *hosts: Host) -> None:
    """Look again and again, as a pass does. No single look may block: until it is done it says that it is under way."""
    for _observation in range(8):
        act(*(host.name for host in hosts))
        left = [host for host in hosts if host.state != state]
        if not left:
            return
        for host in left:
            assert host.state in ("draining", "undoing"), host.result
        # As long as the web server takes to stop: a look costs more than the time.
        time.sleep(3)
    raise AssertionError([host.result for host in hosts])


@pytest.fixture
def fleet(tmp_path: Path) -> Fleet:
    return Fleet(tmp_path)


def test_drain_reboot_drain_again_recover(fleet: Fleet) -> None:
    guest("systemctl start occasional.service")
    until(lambda: states() == ["active", "active", "inactive"])
    enabled = guest("systemctl is-enabled " + " ".join(UNITS), check=False)
    host = make(fleet, [{"method": "service", "names": UNITS}], "EVENT-REBOOT")

    fleet.drain(host.name, check_mode=True)
    assert states() == ["active", "active", "inactive"] and host.record == {}

    # The web server takes three seconds to stop: the first observation does not wait for it, and some later one finds it gone.
    fleet.drain(host.name)
    assert host.state == "draining" and "web.service" in host.result["error"], host.result
    look_until(fleet.drain, "drained", host)
    assert states() == ["inactive", "inactive", "inactive"]
    assert host.record["phase"] == "drained" and host.record["verified_at"]
    # People on the VM read it in the journal, with the event's id.
    told = guest("journalctl --no-pager --output=cat --identifier=maintenance.azure").splitlines()
    assert [phase for phase in ("draining", "drained") if any("EVENT-REBOOT" in line and phase in line for line in told)] == ["draining", "drained"]

    reboot(host)
    until(lambda: states("web.service") == ["active"])
    fleet.drain(host.name, verify=True)
    look_until(fleet.drain, "drained", host)
    assert states() == ["inactive", "inactive", "inactive"]

    # A person who starts it meanwhile does not take it back for good.
    guest("systemctl start web.service")
    fleet.drain(host.name, verify=True)
    look_until(fleet.drain, "drained", host)
    assert host.record["boot_id"] == boot_id()
    assert host.method(0)["before"] == {"web.service": "active", "occasional.service": "active", "idle.service": "inactive"}

    look_until(fleet.recover, "undone", host)
    assert states() == ["active", "active", "inactive"]
    assert guest("systemctl is-enabled " + " ".join(UNITS), check=False) == enabled
    assert "200" in guest("python3 -c 'import urllib.request as r; print(r.urlopen(\"http://127.0.0.1:8080\").status)'")
    assert host.record["undone"] is True


def test_each_of_three_fails_for_its_own_reason_and_begins_again(fleet: Fleet) -> None:
    """A unit that does not exist stops nothing; a VM out of reach is said to be so, and begun when it is back; a service may not start again."""
    guest("touch /run/fickle && systemctl start fickle.service")
    unknown = make(fleet, [{"method": "service", "names": ["web.service", "webb.service"]}], "EVENT-UNKNOWN")
    fickle = make(fleet, [{"method": "service", "names": ["fickle.service"]}], "EVENT-FICKLE")
    off = make(fleet, [{"method": "service", "names": ["occasional.service"]}], "EVENT-OFF")
    off.variables["ansible_host"] = "192.0.2.77"
    fleet.drain()
    assert unknown.state == "failed" and "webb.service, which systemd does not know" in unknown.result["error"], unknown.result
    assert states("web.service") == ["active"] and unknown.record["phase"] == "failed"
    assert off.state == "unreachable" and off.record == {}
    assert fickle.state in ("draining", "drained"), fickle.result

    off.variables["ansible_host"] = ADDRESS
    look_until(fleet.drain, "drained", fickle, off)
    guest("rm /run/fickle")
    for _observation in range(4):
        fleet.recover(fickle.name)
        if fickle.state != "undoing":
            break
    assert fickle.state == "failed" and "cannot be started" in fickle.result["error"], fickle.result
    assert fickle.record["phase"] == "failed" and fickle.record["undone"] is False
    guest("touch /run/fickle")
    look_until(fleet.recover, "undone", fickle, off)
    assert states("fickle.service", "occasional.service") == ["active", "active"]
