# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A thousand VMs ask the simulator once a second, over connections that stay open: answers, delays, and processor time.

Not a test: it prints what it measured. ``python tests/benchmark/simulator_load.py [--vms 1000] [--seconds 8]``
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scenarios"))

from simulator_process import SimulatorProcess  # noqa: E402

LONGEST = 12.0
QUESTION = b"GET /metadata/scheduledevents?api-version=2020-07-01 HTTP/1.1\r\nHost: 169.254.169.254\r\nMetadata: true\r\n\r\n"


class Poller(asyncio.Protocol):
    """One VM's client: asks, notes how long the answer took."""

    def __init__(self, delays: list[float]) -> None:
        self._delays = delays
        self._transport: asyncio.Transport | None = None
        self._asked: float | None = None
        self._got = b""
        self.late = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def ask(self) -> None:
        if self._asked is not None:
            self.late += 1
            return
        assert self._transport is not None
        self._asked, self._got = time.monotonic(), b""
        self._transport.write(QUESTION)

    def data_received(self, data: bytes) -> None:
        self._got += data
        if self._asked is not None and self._got.endswith(b"}") and self._got.startswith(b"HTTP/1.1 200"):
            self._delays.append(time.monotonic() - self._asked)
            self._asked = None


def processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def poll(urls: list[str], seconds: float, delays: list[float]) -> int:
    """Every VM asks once a second, spread evenly over it. Returns how many could not, as their answer was still due."""
    loop = asyncio.get_running_loop()
    pollers = []
    for url in urls:
        address = urlsplit(url)
        pollers.append((await loop.create_connection(lambda: Poller(delays), address.hostname, address.port))[1])
    begin = loop.time() + 0.2
    for second in range(int(seconds)):
        for number, poller in enumerate(pollers):
            loop.call_at(begin + second + number / len(pollers), poller.ask)
    await asyncio.sleep(seconds + 1.0)
    return sum(poller.late for poller in pollers)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vms", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=8.0)
    options = parser.parse_args()
    seconds = min(options.seconds, LONGEST)
    began = time.monotonic()
    with SimulatorProcess("--vms", str(options.vms)) as simulator:
        ready = time.monotonic() - began
        simulator.control("events", {"event_type": "Freeze", "resources": ["vm-0001", "vm-0002"]})
        delays: list[float] = []
        processor, began = processor_seconds(simulator.process.pid), time.monotonic()
        late = asyncio.run(poll(list(simulator.vms.values()), seconds, delays))
        used = processor_seconds(simulator.process.pid) - processor
        passed = time.monotonic() - began
        peak = Path(f"/proc/{simulator.process.pid}/status").read_text(encoding="utf-8").partition("VmHWM:")[2].split()[0]
    delays.sort()
    wanted = options.vms * int(seconds)
    print(f"{options.vms} VMs listened after {ready:.2f} s; {len(delays)} of {wanted} polls answered, {late} skipped")
    if delays:
        middle, slow = delays[len(delays) // 2], delays[int(len(delays) * 0.99)]
        print(f"answer after {middle * 1000:.1f} ms (median), {slow * 1000:.1f} ms (99 of 100), {delays[-1] * 1000:.1f} ms (slowest)")
    print(f"simulator used {100 * used / passed:.0f} % of one core and {int(peak) / 1024:.0f} MiB")
    print(f"load of the whole machine meanwhile: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    return 0


if __name__ == "__main__":
    sys.exit(main())
