# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: setup
short_description: Stand-in for ansible.windows.setup
description: The subsets date_time, uptime, and a little of distribution and platform; see README.md of this collection.
author: The maintenance.azure authors
"""

import random
import time

from ansible_collections.ansible.windows.plugins.module_utils.playing import begin

MINIMUM = {"date_time", "distribution", "dns", "env", "local", "platform", "powershell_version", "user"}
ALL = MINIMUM | {
    "all_ipv4_addresses", "all_ipv6_addresses", "interfaces", "windows_domain", "winrm",
    "bios", "memory", "processor", "uptime", "virtual", "facter",
}  # fmt: skip


def chosen(wanted):
    """The subsets that a list of names and !names stands for."""
    named, refused, unknown = set(), set(), []
    for item in wanted:
        name = item.lstrip("!")
        group = ALL if name == "all" else MINIMUM if name == "min" else {name}
        if item.startswith("!"):
            refused |= (ALL - MINIMUM) if name == "all" else group
        elif group <= ALL:
            named |= group
        else:
            unknown.append(item)
    return (ALL - refused) | named, unknown


def date_time():
    now = time.time()
    local, utc = time.localtime(now), time.gmtime(now)
    micro = ".%06d" % int(now % 1 * 1000000)
    return {
        "date": time.strftime("%Y-%m-%d", local),
        "day": time.strftime("%d", local),
        # PowerShell 5.1 gives text with a fraction here.
        "epoch": "%.5f" % now,
        "epoch_local": "%.5f" % (now + local.tm_gmtoff),
        "epoch_int": int(now),
        "hour": time.strftime("%H", local),
        "iso8601": time.strftime("%Y-%m-%dT%H:%M:%SZ", utc),
        "iso8601_basic": time.strftime("%Y%m%dT%H%M%S", local) + micro[1:],
        "iso8601_basic_short": time.strftime("%Y%m%dT%H%M%S", local),
        "iso8601_micro": time.strftime("%Y-%m-%dT%H:%M:%S", utc) + micro + "Z",
        "minute": time.strftime("%M", local),
        "month": time.strftime("%m", local),
        "second": time.strftime("%S", local),
        "time": time.strftime("%H:%M:%S", local),
        "tz": "UTC",
        "tz_offset": time.strftime("%z", local)[:3] + ":" + time.strftime("%z", local)[3:],
        "weekday": time.strftime("%A", local),
        "weekday_number": time.strftime("%w", local),
        "weeknumber": str(int(time.strftime("%W", local))),
        "year": time.strftime("%Y", local),
    }


def main():
    module, machine = begin(
        {
            "fact_path": {"type": "path"},
            "gather_subset": {"type": "list", "elements": "str", "default": ["all"]},
            "gather_timeout": {"type": "int", "default": 10},
        }
    )
    subsets, unknown = chosen(module.params["gather_subset"])
    for name in unknown:
        module.warn("invalid value %s specified in gather_subset" % name)
    facts = {"gather_subset": module.params["gather_subset"], "module_setup": True}
    if "date_time" in subsets:
        facts["ansible_date_time"] = date_time()
    if "uptime" in subsets:
        booted, jitter = machine.booted()
        # Windows calculates the boot from the time now, so it moves when the clock is set, and by a second when it is rounded otherwise.
        # The letter Z is printed after a local time.
        facts["ansible_lastboot"] = time.strftime("%Y-%m-%d %H:%M:%SZ", time.localtime(booted + random.choice((0, jitter))))
        facts["ansible_uptime_seconds"] = round(time.time() - booted)
    if "distribution" in subsets:
        facts.update(ansible_os_family="Windows", ansible_distribution="Stand-in for Windows", ansible_distribution_version="10.0.20348.0")
    if "platform" in subsets:
        facts.update(ansible_system="Win32NT", ansible_hostname=machine.environment()["COMPUTERNAME"])
    module.exit_json(changed=False, ansible_facts=facts)


if __name__ == "__main__":
    main()
