# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Test doubles that the tests of records, marker and observation share."""

from __future__ import annotations

import codecs
import json
import os
import pathlib
import stat

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.system import utc_text
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_changes import RecordChange

START = 1795291200.0
EVENT = "C7061BAC-AFDC-4513-B24B-AA5F13A16123"


class FakeHost:
    """A VM whose clock and uptime the test moves, together or apart."""

    system = "linux"

    def __init__(self, boot_id="boot-1", uptime=10000.0):
        self.seconds = START
        self.boot = boot_id
        self.uptime = uptime
        self.health = (None, "no health check is configured")
        self.watcher_state = None

    def pass_time(self, seconds):
        self.seconds += seconds
        self.uptime += seconds

    def reboot(self, boot_id, uptime=20.0):
        self.boot, self.uptime = boot_id, uptime

    def now(self):
        return utc_text(self.seconds)

    def boot_id(self):
        return self.boot

    def uptime_seconds(self):
        return self.uptime

    def check_health(self, health):
        return self.health

    def watcher(self):
        return self.watcher_state


def record_change(**keys):
    return RecordChange(**keys)


def as_unprivileged_user(tmp_path, where, action):
    """Run the action as a user without rights in a folder of another user; the parent directories may be traversed."""
    if os.geteuid() != 0:
        return _as_others_may(tmp_path, pathlib.Path(where), action)
    # Python loads it when it is first needed, perhaps from a path that the user may not read.
    codecs.lookup("utf-8-sig")
    for parent in [tmp_path, *tmp_path.parents]:
        if not stat.S_IMODE(parent.stat().st_mode) & 0o001:
            parent.chmod(stat.S_IMODE(parent.stat().st_mode) | 0o011)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            os.write(writer, json.dumps(action()).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        text = stream.read()
    os.waitpid(child, 0)
    return json.loads(text)


def _as_others_may(tmp_path, where, action):
    """Run the action with the rights of other users: a user other than root cannot change to another user, but can remove rights."""
    kept = [(path, stat.S_IMODE(path.stat().st_mode)) for path in (where, tmp_path) if path.exists()]
    try:
        for path, mode in kept:
            path.chmod((mode & 0o007) << 6 if path == where else 0o500)
        return json.loads(json.dumps(action()))
    finally:
        for path, mode in reversed(kept):
            path.chmod(mode)
