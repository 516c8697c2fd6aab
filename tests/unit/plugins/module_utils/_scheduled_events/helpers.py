# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Stand-ins that the tests of records, marker and look share."""

from __future__ import annotations

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host import utc_text
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.record_steps import Step

START = 1795291200.0
EVENT = "C7061BAC-AFDC-4513-B24B-AA5F13A16123"


class FakeHost:
    """A VM whose clock and uptime the test moves, together or apart."""

    def __init__(self, boot_id="boot-1", uptime=10000.0):
        self.seconds = START
        self.boot = boot_id
        self.uptime = uptime
        self.health = (None, "no health check is configured")

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


def step(**keys):
    return Step(**keys)
