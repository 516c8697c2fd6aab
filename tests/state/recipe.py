# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What docs/stateful.md says of a database behind HAProxy, run as it stands there: the balancer's configuration and the drain methods."""

from __future__ import annotations

import os
import pathlib
import re
import time
import typing as t

import yaml
from impact import Impact
from lab import warm
from lab.haproxy import HAProxy
from lab.lab import Lab
from writer import Writer

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "stateful.md"
HEADING = "## A database behind HAProxy\n"
SOCKET = "/run/haproxy/admin.sock"
DRAIN_ALL = [{"name": "all", "drain": True, "approve": "after_drain"}]
AS_IT_IS = [{"name": "as it is", "drain": False, "approve": "now"}]
# What the page does not say: where method haproxy stands, and whether it has the backend for writing, too.
OTHER_ORDERS = {"HAProxy last": (True, False), "HAProxy last, both backends": (True, True), "HAProxy first, both backends": (False, True)}


class Recipe:
    """The configuration and the methods that the page has below the heading of a product."""

    def __init__(self, product: str) -> None:
        section = PAGE.read_text().partition(HEADING)[2].partition("\n## ")[0].partition(f"\n### {product}\n")[2].partition("\n### ")[0]
        blocks = dict(re.findall(r"^```(text|yaml)\n(.*?)^```$", section, re.MULTILINE | re.DOTALL))
        self.configuration: str = blocks["text"]
        self.methods: list[dict[str, t.Any]] = yaml.safe_load(blocks["yaml"])["drain_methods"]


class Balancer(HAProxy):
    """HAProxy with the page's configuration. Only the addresses of the servers are other ones: 10.0.0.1 is 127.0.1.1."""

    def __init__(self, folder: pathlib.Path, configuration: str) -> None:
        folder.mkdir(parents=True)
        self.folder, self.socket, self.process, self._master = folder, SOCKET, None, False
        pathlib.Path(SOCKET).parent.mkdir(exist_ok=True)
        (folder / "haproxy.cfg").write_text(configuration.replace("10.0.0.", "127.0.1."))
        self.start()

    def up(self, backend: str) -> set[str]:
        """The servers that get new sessions."""
        rows = (line.split(",") for line in self.ask("show stat -1 4 -1").splitlines())
        return {row[1] for row in rows if row[0] == backend and row[17].startswith("UP")}


class Cluster(t.Protocol):
    """What an event is about."""

    def settle(self) -> None:
        """Bring it into the state that a scene begins with."""

    def clear(self) -> None:
        """Empty it of what was written."""

    def present(self) -> set[int]:
        """Which of the numbers are there."""

    def leads(self) -> str:
        """Which server leads."""

    def strike(self, name: str) -> None:
        """Do to a VM what its event does."""

    def release(self, name: str) -> None:
        """End that."""


class Client(t.Protocol):
    def write(self, number: int) -> None:
        """Return when it is acknowledged."""

    def close(self) -> None:
        """End the connection."""


def lab_of(folder: pathlib.Path, names: t.Sequence[str], methods: t.Callable[[str], list[dict[str, t.Any]]]) -> Lab:
    """Hosts with these drain methods, and the load balancer as a host that is not managed."""
    lab = Lab(folder / "lab", names, 1)
    for name in names:
        lab.hosts[name]["drain_methods"] = methods(name)
    lab.hosts["lb1"] = {"ansible_connection": "local", "ansible_become": False, "ansible_python_interpreter": warm.python(), "respond_exclude": True}
    lab.all["respond_policy"] = DRAIN_ALL
    return lab


def reorder(lab: Lab, names: t.Sequence[str], order: str) -> None:
    """Let the methods of these hosts be in another order than the page's."""
    last, both = OTHER_ORDERS[order]
    for name in names:
        methods = lab.hosts[name]["drain_methods"]
        if both:
            methods[0]["backends"] = []
        if last:
            methods.reverse()


class Event:
    """A Freeze of one VM, from its notice until it serves again, under a writer and a reader that know nothing but the balancer."""

    def __init__(
        self, lab: Lab, cluster: Cluster, vm: str, seconds: float, writes: Client, reads: Client, notice: int = 200, code: int | None = 0, **variables: t.Any
    ) -> None:
        cluster.clear()
        with Writer(writes.write) as writer, Writer(reads.write) as reader:
            writer.until(100)
            reader.until(100)
            event_id = lab.simulator.event("Freeze", [vm], notice=notice, duration_in_seconds=40)

            def strike() -> None:
                self.leader = cluster.leads()
                cluster.strike(vm)

            began = time.monotonic()
            with Impact(lab, event_id, seconds, strike, lambda: cluster.release(vm)) as impact:
                self.output = lab.respond(code=code, respond_wait=True, **variables)
            self.took = time.monotonic() - began
            self.approved_after = (impact.struck or began) - began
            writer.until(100)
            reader.until(100)
        writes.close()
        reads.close()
        cluster.settle()
        self.lost, self.pause, self.acknowledged = writer.lost(cluster.present()), writer.longest_pause(), len(writer.acknowledged)
        self.pause_of_reads, self.errors, self.errors_of_reads = reader.longest_pause(), writer.errors, reader.errors
        (self.record,) = lab.records(vm)
        self.phases = lab.phases(vm)

    def tell(self, what: str) -> None:
        load = " ".join(f"{one:.0f}" for one in os.getloadavg()[:2])
        failed, unread = sum(self.errors.values()), sum(self.errors_of_reads.values())
        print(
            f"state: behind HAProxy: {what}: longest pause of writes {self.pause:.2f} s, of reads {self.pause_of_reads:.2f} s, "
            f"{self.acknowledged} acknowledged, {len(self.lost)} lost, {failed} writes and {unread} reads failed, "
            f"approved after {self.approved_after:.0f} s, done after {self.took:.0f} s (load {load})",
            flush=True,
        )
