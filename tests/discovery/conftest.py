# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Azure's platform and one VM, joined by a pair of interfaces: two network namespaces that run.sh has cut off from the world."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import sys
import time
import typing as t

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.lab.simulator import Simulator  # noqa: E402

DEBIAN = pathlib.Path(os.environ.get("DISCOVERY_ROOT", ""))
WORK = pathlib.Path(os.environ.get("DISCOVERY_WORK", ""))
HOST, USUAL = "168.63.129.16", "169.254.169.254"
VM = "vm"
# Wherever a module looks, in run.sh's namespace of mounts.
LEASES = ("/run/systemd/netif/leases", "/run/cloud-init/dhclient.hooks", "/var/lib/dhcp", "/var/lib/dhclient", "/var/lib/NetworkManager")
# Root's right that matters is taken away. Another user could not read a Python that lies in root's home.
WITHOUT_RIGHTS = ["setpriv", "--bounding-set=-net_raw"]
PLAY = """
- hosts: localhost
  gather_facts: false
  tasks:
    - name: Ask
      {module}: {options}
      register: result
      ignore_errors: true
    - name: Tell
      ansible.builtin.copy:
        content: "{{{{ result | to_json }}}}"
        dest: "{{{{ out }}}}"
        mode: "0600"
      check_mode: false
"""


def run(*words: str, **more: t.Any) -> str:
    done = subprocess.run(words, text=True, capture_output=True, timeout=60, check=False, **more)
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout


class Platform:
    """The host below the VM: its DHCP server, and the simulator at one of its addresses."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.simulator: Simulator | None = None
        self.processes: list[subprocess.Popen[bytes]] = []

    def wire(self) -> None:
        run("ip", "netns", "add", VM)
        run("ip", "link", "add", "host0", "address", "12:34:56:78:9a:bc", "type", "veth", "peer", "name", "eth0", "netns", VM)
        for words in ("address add 172.16.3.1/24 dev host0", f"address add {HOST}/32 dev host0", f"address add {USUAL}/32 dev host0", "link set host0 up"):
            run("ip", *words.split())
        for words in ("link set lo up", "address add 172.16.3.4/24 dev eth0", "link set eth0 up", "route add default via 172.16.3.1"):
            run("ip", "-n", VM, *words.split())

    def serve(self, address: str = HOST, port: int = 80) -> Simulator:
        self.simulator = Simulator([f"vm_0={address}:{port}"])
        return self.simulator

    def answer_dhcp(self, options: str, ready: str = "Sending on") -> pathlib.Path:
        """Debian's DHCP server, in the foreground, with its log."""
        config, log = self.folder / "dhcpd.conf", self.folder / "dhcpd.log"
        config.write_text(
            "option azure-host code 245 = ip-address;\n"
            "authoritative;\nping-check false;\nmin-lease-time 600;\n"
            f"subnet 172.16.3.0 netmask 255.255.255.0 {{\n  range 172.16.3.4 172.16.3.9;\n  option routers 172.16.3.1;\n  {options}\n}}\n"
        )
        (self.folder / "dhcpd.leases").touch()
        command = [str(DEBIAN / "usr/sbin/dhcpd"), "-4", "-f", "-d", "-cf", str(config), "-lf", str(self.folder / "dhcpd.leases")]
        with log.open("wb") as file:
            self.processes.append(subprocess.Popen([*command, "-pf", str(self.folder / "dhcpd.pid"), "host0"], stdout=file, stderr=file))
        end = time.monotonic() + 30
        while ready not in log.read_text():
            assert self.processes[-1].poll() is None and time.monotonic() < end, log.read_text()
            time.sleep(0.05)
        return log

    def tear_down(self) -> None:
        if self.simulator:
            self.simulator.close()
        for process in self.processes:
            process.kill()
            process.wait(10)
        subprocess.run(["ip", "netns", "del", VM], check=False, capture_output=True)
        subprocess.run(["ip", "link", "del", "host0"], check=False, capture_output=True)


class Machine:
    """What happens on the VM."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder

    def run(self, *words: str, **more: t.Any) -> str:
        return run("ip", "netns", "exec", VM, *words, **more)

    def ask(
        self, module: str = "scheduled_events_info", check: bool = False, prefix: t.Sequence[str] = (), variable: str = "", **options: t.Any
    ) -> dict[str, t.Any]:
        """Run a module there with ansible-playbook; its result."""
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        play, out = self.folder / "play.yml", home / "result.json"
        play.write_text(PLAY.format(module=f"maintenance.azure.{module}", options=json.dumps({"endpoint": "discover", **options})))
        environment = {**os.environ, "HOME": str(home), "ANSIBLE_HOME": str(home), "ANSIBLE_LOCALHOST_WARNING": "0"}
        environment.update({"ANSIBLE_REMOTE_TEMP": str(home / "tmp"), "SCHEDULEDEVENTSIP": variable})
        words = [*prefix, "ansible-playbook", "-i", "localhost,", "-c", "local", "-e", f"ansible_python_interpreter={sys.executable}"]
        self.run(*words, "-e", f"out={out}", *(["--check"] if check else []), str(play), env=environment)
        return t.cast("dict[str, t.Any]", json.loads(out.read_text()))


@pytest.fixture
def platform(tmp_path: pathlib.Path) -> t.Iterator[Platform]:
    if not os.environ.get("DISCOVERY_WORK"):
        pytest.fail("run tests/discovery/run.sh: outside of its namespaces these tests would ask this machine's own network")
    for folder in LEASES:
        shutil.rmtree(folder, ignore_errors=True)
        pathlib.Path(folder).mkdir(parents=True)
    pathlib.Path("/etc/profile").write_text("")
    made = Platform(tmp_path)
    try:
        made.wire()
        yield made
    finally:
        made.tear_down()


@pytest.fixture
def vm(platform: Platform, tmp_path: pathlib.Path) -> Machine:
    return Machine(tmp_path)
