# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a fleet of any size needs, from measured costs. "python scale.py" prints the table of docs/docsite/rst/scale_guide.rst.

A test compares the table in the guide with what is printed here, and each measured figure with docs/TESTING.md.
"""

from __future__ import annotations

import dataclasses
import math

# Measured: seconds on the clock of the first observation at 500 VMs (20 forks, two cores), and of everything after it for one event on three of them.
OBSERVATION_500_SECONDS = 109.1
AFTER_500_SECONDS = 22.9
# Measured: processor seconds of an observation at 100 idle VMs. The VMs were the same machine, so their own part is in it: an upper bound.
OBSERVATION_100_PROCESSOR = 30.8
CORES_MEASURED = 2
# Measured: events of a job of respond that has nothing to do, as ansible-runner writes them for AWX: 41 with one VM, 384 with 50, 1434 with 200.
EVENTS_OF_JOB = 34
EVENTS_OF_VM = 7
# Measured: bytes of these events: 2,123,084 with 200 VMs.
BYTES_OF_VM = 2_123_084 / 200
# Measured: the main process of ansible-playbook: 69 MB with one VM, 87 MB with 200.
MEGABYTES, MEGABYTES_OF_VM = 69, 0.09

# Chosen: a pass every five minutes, of which looking may take half, so that an event has the other half for its drains; VMs of one job.
INTERVAL = 300
SHARE = 0.5
JOB = 500
# Chosen: how often a pass looks at all VMs where watchers start the jobs for events: for what no message came of.
WHOLE_PASS = 3600
FLEETS = (1_000, 10_000, 100_000)
HEADER = (
    "VMs",
    "one pass on two cores",
    "jobs side by side",
    "cores",
    "job events a second",
    "job events a day",
    "cores with watchers",
    "job events a day with watchers",
)


@dataclasses.dataclass(frozen=True)
class Need:
    """What polling a fleet needs, and what the pass over all VMs needs where watchers start the jobs for events."""

    vms: int
    pass_seconds: float
    jobs: int
    cores: float
    events_per_second: float
    gigabytes_per_day: float
    cores_with_watchers: float
    gigabytes_with_watchers: float


def per_controller(cores: int = CORES_MEASURED) -> int:
    """How many VMs one controller looks at in its share of the interval."""
    return int(SHARE * INTERVAL / (OBSERVATION_500_SECONDS / 500) * cores / CORES_MEASURED)


def need(vms: int) -> Need:
    observation_cores = vms * OBSERVATION_100_PROCESSOR / 100
    jobs = math.ceil(vms / JOB)
    events = EVENTS_OF_JOB * jobs + EVENTS_OF_VM * vms
    passes = 86400 / INTERVAL
    return Need(
        vms=vms,
        pass_seconds=vms * OBSERVATION_500_SECONDS / 500,
        jobs=jobs,
        cores=observation_cores / (INTERVAL * SHARE),
        events_per_second=events / INTERVAL,
        gigabytes_per_day=vms * BYTES_OF_VM * passes / 1e9,
        cores_with_watchers=observation_cores / WHOLE_PASS,
        gigabytes_with_watchers=vms * BYTES_OF_VM * 86400 / WHOLE_PASS / 1e9,
    )


def table() -> str:
    """As reStructuredText."""
    lines = [".. list-table::", "   :header-rows: 1", ""]
    for row in (HEADER, *(_row(need(vms)) for vms in FLEETS)):
        lines += [f"   {'*' if not place else ' '} - {cell}" for place, cell in enumerate(row)]
    return "\n".join(lines) + "\n"


def _row(one: Need) -> tuple[str, ...]:
    return (
        f"{one.vms:,}",
        f"{one.pass_seconds / 60:.0f} min",
        f"{one.jobs:,}",
        f"{one.cores:,.0f}",
        f"{one.events_per_second:,.0f}",
        f"{one.gigabytes_per_day:,.0f} GB",
        f"{one.cores_with_watchers:.2f}",
        f"{one.gigabytes_with_watchers:.1f} GB",
    )


if __name__ == "__main__":
    print(f"One controller with {CORES_MEASURED} cores: {per_controller()} VMs every {INTERVAL} s\n")
    print(table())
