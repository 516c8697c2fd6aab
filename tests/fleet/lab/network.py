# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The lab's network: a bridge in the lab's own namespace, and a namespace with one cable to it for each guest."""

from __future__ import annotations

from .commands import run

BRIDGE = "lab0"
PREFIX = "192.0.2."
CONTROLLER = f"{PREFIX}1"
METADATA = "169.254.169.254"


def make_bridge() -> None:
    # With an address of its own: else a bridge takes the lowest of its ports', and another one when a guest is started again, and the guests that know the
    # old one reach nobody for a minute.
    run("ip", "link", "add", BRIDGE, "address", "02:00:00:00:00:fe", "type", "bridge")
    run("ip", "address", "add", f"{CONTROLLER}/24", "dev", BRIDGE)
    run("ip", "link", "set", BRIDGE, "up")


class Cable:
    """From a guest's namespace to the bridge. It can be cut, and is while the guest is paused or off."""

    def __init__(self, guest: str, number: int) -> None:
        self.namespace = guest
        self.address = f"{PREFIX}{10 + number}"
        self._port = f"p-{guest}"

    def lay(self) -> None:
        run("ip", "netns", "add", self.namespace)
        run("ip", "link", "add", self._port, "type", "veth", "peer", "name", "eth0", "netns", self.namespace)
        run("ip", "link", "set", self._port, "master", BRIDGE, "up")
        inside = ["ip", "-n", self.namespace]
        run(*inside, "link", "set", "lo", "up")
        # Azure's metadata service answers on the host, whatever becomes of the guest's network.
        run(*inside, "address", "add", f"{METADATA}/32", "dev", "lo")
        run(*inside, "address", "add", f"{self.address}/24", "dev", "eth0")
        run(*inside, "link", "set", "eth0", "up")

    def cut(self) -> None:
        run("ip", "link", "set", self._port, "down")

    def mend(self) -> None:
        run("ip", "link", "set", self._port, "up")
