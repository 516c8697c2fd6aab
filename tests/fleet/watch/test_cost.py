# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the asking process costs on a guest: memory and processor time at one request a second, beside the documentation's own Python sample there.

FLEET_COST_SECONDS=N: for so long (60). With FLEET_GUESTS=1 it is alone in the only guest.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import statistics
import time
import typing as t

import pytest
from benchmark.watcher_cost import SAMPLE, Measured

from ..lab.commands import until
from ..lab.lab import Lab
from ..lab.network import METADATA
from ..lab.receiver import Receiver
from .watchers import ARCHIVE, processes

SECONDS = float(os.environ.get("FLEET_COST_SECONDS", "60"))
VM = "web1"
ASKER, PROGRAM = (ARCHIVE, "ask"), "/srv/sample/sample.py"
# The library of the sample and what that needs. The guests' Debian has none of it, and no way to a package server.
LIBRARIES = ("requests", "urllib3", "idna", "certifi", "charset_normalizer")
# In KiB, of the issue; and what is growth. Processor time is printed alone: a busy machine makes the same work longer.
MOST_PRIVATE, MOST_PROPORTIONAL = 14 * 1024, 16 * 1024
GROWTH = 256

pytestmark = pytest.mark.long


@pytest.fixture
def sample(lab: Lab) -> t.Iterator[t.Callable[[], int]]:
    """Starts the sample on the guest, against the address that Azure has there; its process."""
    guest = lab.guests[VM]
    place = guest.root / "srv/sample"
    for name in LIBRARIES:
        found = importlib.util.find_spec(name)
        assert found is not None and found.submodule_search_locations
        # What is compiled is so for another Python; each of these runs without it.
        shutil.copytree(found.submodule_search_locations[0], place / name, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    (place / "sample.py").write_text(SAMPLE)
    start = f"systemd-run --quiet --unit=sample --setenv=PYTHONPATH=/srv/sample python3 {PROGRAM} http://{METADATA}"

    def begin() -> int:
        lab.controller.ask(VM, start)
        (process,) = until(lambda: processes(guest, PROGRAM), 20, "the sample runs")
        return int(process)

    yield begin
    lab.controller.ask(VM, "systemctl stop sample.service")
    shutil.rmtree(place)


def asked(lab: Lab) -> int:
    return int(json.loads(lab.controller.ask(VM, "cat /run/azure-maintenance-watch/state.json"))["requests"])


def asked_by_sample(lab: Lab) -> int:
    requests = lab.simulator.ask("GET", f"/requests?vm={VM}")
    return sum("python-requests" in str(request["headers"]) for request in requests)


def look(measured: t.Sequence[Measured], duration: float) -> None:
    end = time.monotonic() + duration
    while time.monotonic() < end:
        for one in measured:
            one.look()
        time.sleep(min(10, duration / 5))


def test_the_asker_beside_the_sample(lab: Lab, receiver: Receiver, sample: t.Callable[[], int]) -> None:
    guest = lab.guests[VM]
    (asker,) = processes(guest, *ASKER)
    alone = Measured("alone", asker)
    look([alone], 5)
    both = [Measured("watcher", asker), Measured("sample", sample())]
    time.sleep(5)
    for one in both:
        one.start()
    before, before_sample, began = asked(lab), asked_by_sample(lab), time.monotonic()
    look(both, SECONDS)
    took = time.monotonic() - began
    print(f"cost: {len(lab.guests)} guests, {took:.0f} s")
    private, proportional = (statistics.median(values) for values in (alone.private, alone.proportional))
    # With the sample, the interpreter's own pages are no longer the asker's alone.
    print(f"watcher before the sample runs: private {private / 1024:.1f} MiB, proportional {proportional / 1024:.1f} MiB")
    for one in both:
        one.show(took)
    # Neither was cheap because it did nothing. The state is ten seconds old at most.
    assert asked(lab) - before >= (SECONDS - 10) / 2 and asked_by_sample(lab) - before_sample >= SECONDS / 2
    assert processes(guest, *ASKER) == [asker] and processes(guest, PROGRAM) == [both[1].process_id]
    assert private <= MOST_PRIVATE and proportional <= MOST_PROPORTIONAL
    watcher = both[0]
    assert watcher.private[-1] <= watcher.private[0] + GROWTH and watcher.descriptors[-1] <= watcher.descriptors[0]
