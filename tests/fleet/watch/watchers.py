# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Watchers on guests of the lab: role watch installs them, over ssh, and removes them."""

from __future__ import annotations

import datetime
import json
import os
import signal
import time
import typing as t

from ..lab.controller import DRAIN_EVERYTHING, PROBE_FILE, SERVICE
from ..lab.guest import Guest
from ..lab.lab import Lab
from ..lab.receiver import Receiver

ARCHIVE = "/usr/local/lib/azure-maintenance-watch/watch.pyz"
AUTHORITY = "/etc/lab-authority.pem"
# A command that stands still in the middle as long as a file is there, so that a test finds the drain at work.
BEGUN, HOLD = "/srv/drain-begun", "/srv/drain-hold"
STANDS_STILL = {
    "method": "command",
    "begin": ["sh", "-c", f"touch {BEGUN}; while [ -e {HOLD} ]; do sleep 0.1; done"],
    # Not yet, also after a boot; then it begins anew.
    "check": ["sh", "-c", f"test -e {BEGUN} || exit 75"],
    "undo": ["rm", "-f", BEGUN],
    "timeout": 60,
}
# web1 is evicted under load: a web server that is stopped at once would fail requests. The plug of web2 is pulled: nginx is there again after a boot.
METHODS = {"web1": [PROBE_FILE], "web2": [PROBE_FILE, SERVICE, STANDS_STILL]}


# In systemd-nspawn a unit with this protection finds the machine's boot id in place of the guest's own, and a drain holds for one boot.
OWN_BOOT_ID = """[Service]
ProtectControlGroups=no
"""


def play(lab: Lab, playbook: str, name: str, **variables: t.Any) -> None:
    log = lab.logs / f"{name}.log"
    assert lab.controller.start(playbook, log, **variables).wait(400) == 0, log.read_text()[-4000:]


def respond(lab: Lab, name: str, **variables: t.Any) -> None:
    play(lab, "maintenance.azure.respond", name, respond_policy=DRAIN_EVERYTHING, respond_wait=True, respond_wait_timeout=300, **variables)


def watch(lab: Lab, name: str, vms: t.Iterable[str], **variables: t.Any) -> None:
    """Run role watch for these VMs, with a webhook on the controller."""
    told = {"watch_tell_url": Receiver.url, "watch_tell_certificates": AUTHORITY, "watch_policy": DRAIN_EVERYTHING}
    play(lab, "maintenance.azure.watch", name, watch_hosts=":".join(vms), **{**told, **variables})


def prepare(guest: Guest, receiver: Receiver) -> None:
    """What a VM has before the role comes: the certificate of the webhook's authority, a draining unit that knows the guest's boot, and Scheduled Events that
    have been enabled for an hour.

    In the first five minutes an event that is not listed might still be there, and no run would put the VM back.
    """
    (guest.root / AUTHORITY.lstrip("/")).write_bytes(receiver.certificate.read_bytes())
    unit = guest.root / "etc/systemd/system/azure-maintenance-drain.service.d"
    unit.mkdir(exist_ok=True)
    (unit / "lab.conf").write_text(OWN_BOOT_ID)
    asked, enabled = ({"at": f"{datetime.datetime.fromtimestamp(at, datetime.timezone.utc):%Y-%m-%dT%H:%M:%SZ}"} for at in (time.time(), time.time() - 3600))
    content = {"asked": {**asked, "boot_id": None, "uptime": None}, "enabled": {**enabled, "boot_id": None, "uptime": None}}
    folder = guest.root / "var/lib/azure-maintenance"
    folder.mkdir(mode=0o700, exist_ok=True)
    (folder / "asked").write_text(json.dumps(content))


def processes(guest: Guest, *words: str) -> list[int]:
    """The processes of a guest with these words in their command lines, by their numbers outside of it."""
    found = []
    for process in guest.cgroup.processes():
        try:
            with open(f"/proc/{process}/cmdline", "rb") as stream:
                given = stream.read().decode(errors="replace").split("\0")
        except OSError:
            continue  # it has ended meanwhile
        if set(words).issubset(given):
            found.append(process)
    return found


def kill_watcher(guest: Guest) -> None:
    """SIGKILL for whatever runs of the watcher; systemd goes on."""
    for process in processes(guest, ARCHIVE):
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            continue  # it has ended by itself


def seconds(text: str) -> float:
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
