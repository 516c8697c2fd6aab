# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One guest: a disk over the common root, a boot, and what a platform can do to it."""

from __future__ import annotations

import pathlib
import shutil
import socket
import subprocess
import threading
import time

from .cgroups import Cgroup
from .commands import in_background, run, until
from .network import Cable

FILES = pathlib.Path(__file__).resolve().parents[1] / "guest"
CODE_CACHE = pathlib.Path(__file__).resolve().parents[2] / "tools" / "code_cache" / "into_guest.sh"
HEALTH = "srv/www/health"
ASKED_FOR_REBOOT = 133
# A machine that reboots is off for a while. A guest alone would be back before a probe has missed it.
FIRMWARE_SECONDS = 6


class Guest:
    def __init__(self, name: str, number: int, work: pathlib.Path, base: pathlib.Path, group: str) -> None:
        self.name = name
        self.cable = Cable(name, number)
        self.cgroup = Cgroup(group, name)
        self.root = work / name / "root"
        self.console = work / name / "console"
        self._work, self._base = work / name, base
        self._on = False
        self.reboots = 0
        self._lock = threading.RLock()

    @property
    def address(self) -> str:
        return self.cable.address

    # --- the machine ---------------------------------------------------------------------------------------------------

    def install(self, public_key: str) -> None:
        """A disk of its own over the common root, with the web site on it."""
        for folder in ("written", "overlay", "root"):
            (self._work / folder).mkdir(parents=True)
        options = f"lowerdir={self._base},upperdir={self._work / 'written'},workdir={self._work / 'overlay'}"
        run("mount", "-t", "overlay", self.name, "-o", options, str(self.root))
        run(str(CODE_CACHE), str(self.root))
        (self.root / "root/.ssh").mkdir(mode=0o700, exist_ok=True)
        (self.root / "root/.ssh/authorized_keys").write_text(public_key)
        (self.root / "etc/machine-id").write_text("")
        (self.root / "etc/hostname").write_text(f"{self.name}\n")
        (self.root / "etc/resolv.conf").unlink(missing_ok=True)
        (self.root / "etc/nginx/sites-enabled/default").unlink(missing_ok=True)
        shutil.copy(FILES / "site.conf", self.root / "etc/nginx/sites-enabled/site.conf")
        site = self.root / "srv/www"
        site.mkdir(parents=True)
        (site / "index.html").write_text(f"{self.name}\n" + "x" * 2000 + "\n")
        # Neither root's nor with the usual mode: so that it shows whether it comes back as it was.
        (self.root / HEALTH).write_text(f"{self.name} serves\n")
        (self.root / HEALTH).chmod(0o640)
        shutil.chown(self.root / HEALTH, 33, 4)

    def boot(self) -> None:
        with self._lock:
            self.cgroup.make()
            self.cable.mend()
            command = [
                *("systemd-nspawn", "--quiet", "--keep-unit", "--register=no", f"--directory={self.root}", "--boot"),
                *(f"--machine={self.name}", f"--network-namespace-path=/run/netns/{self.cable.namespace}", "--console=read-only"),
            ]
            with self.console.open("ab") as console:
                process = subprocess.Popen(self.cgroup.entering(command), stdin=subprocess.DEVNULL, stdout=console, stderr=console, start_new_session=True)
            self._on = True
        in_background(lambda: self._wait(process), f"{self.name} runs")

    def _wait(self, process: subprocess.Popen[bytes]) -> None:
        """A guest that asks for a reboot gets it, as from a hypervisor. ``reboots`` counts them."""
        if process.wait() != ASKED_FOR_REBOOT:
            return
        self.reboots += 1
        time.sleep(FIRMWARE_SECONDS)
        with self._lock:
            # Unless the plug was pulled meanwhile: then the platform boots it.
            if self._on and not self.cgroup.processes():
                self.boot()

    def answers(self) -> bool:
        try:
            with socket.create_connection((self.address, 22), 1) as connection:
                connection.settimeout(2)
                return connection.recv(4).startswith(b"SSH")
        except OSError:
            return False

    def wait_until_up(self, seconds: float = 60) -> None:
        until(self.answers, seconds, f"{self.name} answers on port 22; its console says: {self.last_words()}")

    def last_words(self) -> str:
        return self.console.read_text(errors="replace")[-1500:] if self.console.exists() else "nothing"

    # --- what a platform does to it --------------------------------------------------------------------------------------

    def pause(self) -> None:
        """No process runs and no packet is answered, as while a VM is moved to another host."""
        with self._lock:
            self.cable.cut()
            self.cgroup.freeze()

    def resume(self) -> None:
        with self._lock:
            self.cgroup.thaw()
            self.cable.mend()

    def power_off(self) -> None:
        """The plug is pulled. What was on its disk stays."""
        with self._lock:
            self._on = False
            self.cable.cut()
            self.cgroup.kill()

    # --- what the oracle sees --------------------------------------------------------------------------------------------

    def health_file(self) -> tuple[str, int, int, int] | None:
        """Content, mode, owner and group, seen from outside on its disk."""
        path = self.root / HEALTH
        if not path.exists():
            return None
        found = path.stat()
        return path.read_text(), found.st_mode & 0o7777, found.st_uid, found.st_gid
