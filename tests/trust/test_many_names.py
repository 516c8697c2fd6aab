# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Rule 10: an answer below every limit of bytes and values, whose events name 800,000 resources, makes no iteration long for the others.

Processor time counts, so that a busy machine is no failure. Without the limit of names it was over 25 s when the run was killed, and 4 s without the lie.
"""

from __future__ import annotations

import resource
import typing as t

from victims import FOREVER, Victims

Make = t.Callable[..., Victims]
MOST_SECONDS = 20.0


def test_many_names_in_events_do_not_slow_the_others(make_victims: Make) -> None:
    lab = make_victims(["liar", "web1"])
    event = {"event_status": "Scheduled", "event_type": "Reboot", "resource_type": "VirtualMachine", "not_before": FOREVER, "description": "", "raw": {}}
    events = [{**event, "event_id": f"X{each}", "resources": ["liar", *(f"s{each}-{name}" for name in range(800))]} for each in range(1000)]
    lab.lie("liar", maintenance_act={"merge": {"events": events}})
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    code, output = lab.raw_play("maintenance.azure.status", limit=240, measured=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert code == 0, output[-1500:]
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < MOST_SECONDS
    assert b"more than" in output, "it is not said why the liar was not read"
