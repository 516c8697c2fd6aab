# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""C(server: web1) in the variables of the group: an event for web2 would take web1 out of service, and web2 be hit while it serves. With a real HAProxy."""

from __future__ import annotations

import collections.abc
import typing as t

import pytest
from lab import warm
from lab.haproxy import Backend, HAProxy
from lab.lab import Lab

Make = t.Callable[..., Lab]
SAME = (
    "web1, web2 have the same server web1 on balancer lb1 in drain_methods (haproxy), so that a drain of one would take out another: "
    "give each its own server, or remove server from the group's variables"
)
BALANCED: list[dict[str, t.Any]] = [{"method": "haproxy", "balancers": ["lb1"]}]


class Site:
    """Two servers of one HAProxy with the settings of one of them, and a VM that has a method of its own."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.servers = {vm: Backend() for vm in ("web1", "web2")}
        self.balancer = HAProxy(lab.folder / "lb1", {"shop": {vm: (one.port, "check inter 200") for vm, one in self.servers.items()}})
        local = {"ansible_connection": "local", "ansible_become": False, "ansible_python_interpreter": warm.python()}
        lab.hosts["lb1"] = {**local, "drain_haproxy_socket": self.balancer.socket, "respond_exclude": True}
        for vm in self.servers:
            lab.hosts[vm]["drain_methods"] = [{**BALANCED[0], "server": "web1"}]
            self.balancer.wait_for(lambda vm=vm: self.balancer.status("shop", vm) == "UP", f"{vm} is not up")

    def states(self) -> list[str]:
        return [self.balancer.admin_state("shop", vm) for vm in self.servers]

    def close(self) -> None:
        for one in (self.balancer, *self.servers.values()):
            one.stop()


@pytest.fixture
def site(make_lab: Make) -> collections.abc.Iterator[Site]:
    found = Site(make_lab(["web1", "web2", "db1"]))
    yield found
    found.close()


def test_nothing_is_set_in_the_balancer_and_another_vm_is_served(site: Site) -> None:
    lab = site.lab
    event = lab.simulator.event("Redeploy", ["web2"], notice=36000, started_seconds=36000)
    other = lab.simulator.event("Redeploy", ["db1"], notice=36000, started_seconds=36000)
    for arguments in (("--check",), ()):
        output = lab.respond(*arguments, code=2)
        ends = [line for line in output.splitlines() if line.startswith("fatal:")][-1]
        assert f"wrong settings on web1, web2: {SAME}" in ends
        assert "Next: correct the settings of web2." in output
    assert (site.states(), lab.flag("db1").exists()) == (["ready", "ready"], False)
    (approval,) = lab.simulator.approvals()
    assert other in approval["body"]
    # The other one is not in this run: what the inventory has written of it is compared.
    output = lab.respond("--limit", "web2", code=2, respond_hosts="web2")
    assert f"wrong settings on web2: {SAME}" in output and site.states() == ["ready", "ready"]
    # Corrected, it is drained at once, and it alone.
    for vm in site.servers:
        lab.hosts[vm]["drain_methods"] = BALANCED
    lab.respond()
    assert site.states()[0] == "ready" and site.states()[1] != "ready"
    assert event in lab.simulator.approvals()[-1]["body"]


def test_status_says_it_without_any_event_for_a_part_of_the_hosts_too(site: Site) -> None:
    lab = site.lab
    assert f"Wrong settings on web1, web2: {SAME}." in lab.status(code=2)
    assert f"Wrong settings on web2: {SAME}." in lab.status(code=2, status_hosts="web2,db1")
    lab.hosts["web1"]["drain_methods"] = BALANCED
    assert f"Wrong settings on web2: {SAME}." in lab.status(code=2, status_hosts="web2")
    lab.hosts["web2"]["respond_exclude"] = True
    assert "Wrong settings" not in lab.status()
