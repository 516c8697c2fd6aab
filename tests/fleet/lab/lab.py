# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The whole lab, put together."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
import time

from lab.simulator import Simulator

from . import metadata, network
from .balancer import Balancer
from .commands import until
from .controller import Controller
from .guest import Guest
from .load import Load
from .oracle import Oracle
from .platform import Platform

# Where the collection keeps its records on a VM.
RECORDS = "/var/lib/azure-maintenance"


class Lab:
    def __init__(self, count: int) -> None:
        self.work = pathlib.Path(os.environ["FLEET_WORK"])
        self.logs = pathlib.Path(os.environ["FLEET_LOGS"])
        base = pathlib.Path(os.environ["FLEET_BASE"])
        group = os.environ["FLEET_CGROUP"]
        began = time.monotonic()
        self.guests = {f"web{n}": Guest(f"web{n}", n, self.work, base, group) for n in range(1, count + 1)}
        self.balancer = Balancer(self.work, base, {vm: guest.address for vm, guest in self.guests.items()})
        self.controller = Controller(self.work, self.guests, self.balancer)
        self.oracle = Oracle(self.guests, self.balancer, self.controller.ask)
        self._build()
        self.platform = Platform(self.guests, self.oracle, self.work)
        self._metadata = self._join_metadata()
        self.wait_until_all_serve(90)
        print(f"lab: {count} guests serve behind HAProxy after {time.monotonic() - began:.0f} s", flush=True)
        self.untouched = self.oracle.services()

    def _build(self) -> None:
        network.make_bridge()
        for guest in self.guests.values():
            guest.cable.lay()
            guest.install(self.controller.public_key)
            guest.boot()
        self.balancer.start()
        for guest in self.guests.values():
            guest.wait_until_up()

    def _join_metadata(self) -> subprocess.Popen[bytes]:
        endpoints = self.platform.simulator.endpoints
        ways = [f"{vm}={url.removeprefix('http://')}" for vm, url in endpoints.items()]
        return subprocess.Popen([sys.executable, "-I", metadata.__file__, *ways], stdin=subprocess.DEVNULL)

    @property
    def simulator(self) -> Simulator:
        return self.platform.simulator

    def load(self, name: str, rate: float = 60) -> Load:
        return Load(self.balancer.url, rate, self.work / f"{name}.requests")

    def wait_until_all_serve(self, seconds: float) -> None:
        until(lambda: len(self.balancer.up()) == len(self.guests), seconds, lambda: f"HAProxy finds every guest in service; {self._out_of_service()}")

    def _out_of_service(self) -> str:
        """What is seen of the guests that do not serve. In one line: a summary of CI shows no more."""
        return "; ".join(self._seen(vm) for vm in sorted(set(self.guests) - set(self.balancer.up()))) or "by now all serve"

    def _seen(self, vm: str) -> str:
        row, guest = self.balancer.servers()[vm], self.guests[vm]
        seen = f"{vm} is {row['status']} (check: {row['check_status']} {row['last_chk']}), health file {guest.health_file()}"
        if not guest.answers():
            return f"{seen}, does not answer; its console ends {guest.last_words()[-300:]!r}"
        said = self.controller.ask(vm, f"systemctl is-system-running; systemctl is-active nginx.service; tail -c 1500 {RECORDS}/*")
        return f"{seen}, says {' '.join(said.split())}"

    def keep_logs(self) -> None:
        """Copies what may be read when the lab is gone."""
        for vm, guest in self.guests.items():
            if guest.console.exists():
                shutil.copy(guest.console, self.logs / f"{vm}.console")
        for path in self.work.glob("*.requests"):
            shutil.copy(path, self.logs)
        if self.balancer.log.exists():
            shutil.copy(self.balancer.log, self.logs / "haproxy.log")

    def close(self) -> None:
        self.keep_logs()
        self._metadata.terminate()
        self.platform.close()
        self.balancer.stop()
        for guest in self.guests.values():
            guest.power_off()
