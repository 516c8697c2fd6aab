# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A rolling upgrade of the guests, a schedule that runs respond beside it, and what the guests themselves say of it."""

from __future__ import annotations

import json
import pathlib
import threading
import typing as t

from .balancer_log import BalancerLog
from .commands import until
from .killing import kill, wait_for_boundary
from .lab import Lab

FILES = pathlib.Path(__file__).resolve().parents[1] / "upgrade"
GATED, PLAIN = "maintenance.azure.rolling_upgrade", str(FILES / "plain.yml")
MAX_OUT = 3
SETTINGS: dict[str, t.Any] = {
    "gate_wait_seconds": 900,
    "gate_quiet_seconds": 5,
    # The upgrade's own time limits: the longest step, and whatever is not one.
    "upgrade_tasks_seconds": 90,
    "gate_lease_seconds": 90,
    "upgrade_interval": 3,
    # The lab has just asked for the first time, and an empty list would prove nothing for five minutes.
    "respond_timing": {"rehearsal": True, "lease_seconds": 60, "enabling_seconds": 0},
}


class Upgrade:
    """One upgrade, under a name of its own, which is the application's new version as well."""

    def __init__(self, lab: Lab, name: str, vms: t.Sequence[str] = (), **settings: t.Any) -> None:
        self.lab, self.name = lab, name
        self.vms = list(vms or lab.guests)
        self._runs = 0
        self._reboots = {vm: guest.reboots for vm, guest in lab.guests.items()}
        self._settings = {**self.common(), **settings}
        self.log = BalancerLog(lab.balancer.log, list(lab.guests))

    def common(self) -> dict[str, t.Any]:
        capacity = [{"name": "web", "members": list(self.lab.guests), "max_unavailable": MAX_OUT}]
        return {**SETTINGS, "respond_capacity": capacity}

    def run(self, playbook: str = GATED, stop_at: str = "", **settings: t.Any) -> t.Any:
        self._runs += 1
        # A run whose controller is known to be dead need not be waited for: its id is known here.
        given = {
            "gate_run": self.id_of(self._runs),
            "upgrade_hosts": ":".join(self.vms),
            "upgrade_name": self.name,
            "upgrade_tasks": str(FILES / "application.yml"),
            "upgrade_serial": 1,
            "application_version": self.name,
            "respond_hosts": "web",
        }
        return self.lab.controller.start(playbook, self.log_path, stop_at, f"known-{self.name}", **{**given, **self._settings, **settings})

    def id_of(self, run: int) -> str:
        return f"{self.name}{run:04d}"

    @property
    def last_id(self) -> str:
        return self.id_of(self._runs)

    @property
    def log_path(self) -> pathlib.Path:
        return self.lab.logs / f"{self.name}-{self._runs}.log"

    def said(self) -> str:
        return self.log_path.read_text()[-6000:]

    def run_and_kill(self, stop_at: str, seconds: float = 600, **settings: t.Any) -> str:
        """Where it was killed; nothing when it came to its end before."""
        run = self.run(stop_at="" if stop_at == "moment" else stop_at, **settings)
        where = wait_for_boundary(run, self.log_path.with_suffix(".boundaries.reached"), seconds)
        if not where and run.poll() is None and stop_at == "moment":
            where = f"after {seconds:.1f} s"
        over = run.poll() is not None
        kill(run)
        print(f"{self.name}: killed at {where}" if where else f"{self.name}: never came to {stop_at}", flush=True)
        assert where or over, f"neither at {stop_at} nor over after {seconds:.0f} s: {self.said()}"
        assert where or run.returncode == 0, self.said()
        return where

    # --- what the guests say -----------------------------------------------------------------------------------------------

    def history(self, vm: str) -> list[str]:
        """What the upgrade tasks have written on a guest's own disk, under this name."""
        path = self.lab.guests[vm].root / "var/log/application"
        lines = path.read_text().splitlines() if path.exists() else []
        return [word for word, _mark, version in (line.partition(" ") for line in lines) if version == self.name]

    def mark(self, vm: str) -> str:
        """How far a guest's own mark says that it is; nothing where it has none."""
        paths = (self.lab.guests[vm].root / "var/lib/azure-maintenance").glob("upgrade-*.json")
        return next((mark["state"] for mark in (json.loads(path.read_text()) for path in paths) if mark["name"] == self.name), "")

    def upgraded(self) -> list[str]:
        return [vm for vm in self.vms if "ended" in self.history(vm)]

    def reboots(self, vm: str) -> int:
        return self.lab.guests[vm].reboots - self._reboots[vm]

    def each_exactly_once(self) -> None:
        """None left out, none twice: installed once, and rebooted once. A step that was killed may begin again, and finds it installed."""
        for vm in self.vms:
            history = self.history(vm)
            assert history.count("installed") == 1, f"{vm}: {history}"
            assert history[-1] == "ended", f"{vm}: {history}"
            assert self.reboots(vm) == 1, f"{vm} has rebooted {self.reboots(vm)} times"
        for vm in set(self.lab.guests) - set(self.vms):
            assert (self.history(vm), self.reboots(vm)) == ([], 0), f"{vm} is none of the upgrade's"


class Schedule:
    """respond again and again, as AWX would start it: each run does what can be done now.

    Much of the time none is at work, as with a schedule; each costs as much as a batch of the upgrade.
    """

    PAUSE = 30

    def __init__(self, lab: Lab, name: str, **settings: t.Any) -> None:
        self._lab, self._name, self._settings = lab, name, settings
        self.codes: list[int] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._go_on, name=name, daemon=True)
        self._thread.start()

    def _go_on(self) -> None:
        while not self._over.is_set():
            log = self._lab.logs / f"{self._name}-respond-{len(self.codes) + 1}.log"
            self.codes.append(self._lab.controller.start("maintenance.azure.respond", log, **self._settings).wait())
            self._over.wait(self.PAUSE)

    def wait_for_runs(self, many: int, seconds: float = 240) -> None:
        """So many more that began after now."""
        enough = len(self.codes) + many + 1
        until(lambda: len(self.codes) >= enough, seconds, f"{many} more runs of {self._name}")

    def stop(self, seconds: float = 240) -> None:
        self._over.set()
        self._thread.join(seconds)
        assert not self._thread.is_alive(), f"a run of {self._name} does not end"
