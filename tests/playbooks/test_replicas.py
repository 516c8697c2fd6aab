# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A VM that loses its records while a load balancer keeps it out: another VM has a copy, and it comes back. With a real HAProxy."""

from __future__ import annotations

import collections.abc
import json
import pathlib
import shutil
import typing as t

import pytest
from lab import warm
from lab.haproxy import Backend, HAProxy
from lab.lab import Lab

Make = t.Callable[..., Lab]
VMS = ("web1", "web2")


class Site:
    """A lab whose VMs are servers of one HAProxy; the load balancer is an inventory host that no play is for."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.servers = {vm: Backend() for vm in VMS}
        self.balancer = HAProxy(lab.folder / "lb1", {"shop": {vm: (one.port, "check inter 200") for vm, one in self.servers.items()}})
        local = {"ansible_connection": "local", "ansible_become": False, "ansible_python_interpreter": warm.python()}
        lab.hosts["lb1"] = {**local, "drain_haproxy_socket": self.balancer.socket}
        for vm in VMS:
            lab.hosts[vm]["drain_methods"] = [{"method": "haproxy", "balancers": ["lb1"]}]
        lab.all["respond_hosts"] = ",".join(VMS)
        for vm in VMS:
            self.balancer.wait_for(lambda vm=vm: self.balancer.status("shop", vm) == "UP", f"{vm} is not up")

    def replicas(self, vm: str) -> list[dict[str, t.Any]]:
        return [json.loads(path.read_text()) for path in (self.lab.folder / vm / "records").glob("mirror-*.json")]

    def close(self) -> None:
        for one in (self.balancer, *self.servers.values()):
            one.stop()


@pytest.fixture
def site(make_lab: Make) -> collections.abc.Iterator[Site]:
    found = Site(make_lab(list(VMS)))
    yield found
    found.close()


def lose_records(lab: Lab, vm: str) -> None:
    shutil.rmtree(pathlib.Path(lab.folder / vm / "records"))


def test_a_vm_that_loses_its_records_comes_back(site: Site) -> None:
    lab, balancer = site.lab, site.balancer
    event = lab.simulator.event("Redeploy", ["web1"], notice=36000, started_seconds=36000)
    lab.respond()
    assert len(lab.simulator.approvals()) == 1
    assert balancer.admin_state("shop", "web1") == "maint" and balancer.status("shop", "web2") == "UP"
    (replica,) = site.replicas("web2")
    (record,) = lab.records("web1")
    assert (replica["vm"], replica["vm_id"]) == ("web1", record["vm_id"])
    (kept,), (own,) = replica["record"]["methods"], record["methods"]
    assert kept == {key: own[key] for key in ("id", "method", "state", "before", "at", "outside")} and own["outside"] is True
    # Who keeps it stands in it, and no option of the VM does.
    assert replica["keeper_vm_id"] and replica["keeper_vm_id"] != replica["vm_id"]
    assert site.replicas("web1") == []

    lose_records(lab, "web1")
    lab.simulator.ask("POST", f"/events/{event}/finish")
    output = lab.respond(respond_wait=True)
    assert balancer.admin_state("shop", "web1") == "ready", output[-3000:]
    assert balancer.status("shop", "web1") == "UP"
    phases = lab.phases("web1")
    assert phases[0] == "draining" and "drained" not in phases and phases[-1] == "recovered", phases
    (restored,) = lab.records("web1")
    assert restored["rule"] is None and restored["methods"][0]["before"] == own["before"], "findings, and nothing else"
    assert site.replicas("web2") == [], "the copy of what is over stays"


def test_without_anybody_to_keep_a_copy_the_drain_goes_on_and_says_so(site: Site) -> None:
    lab = site.lab
    # Drained alike, web1 would wait for a while for the one that does not answer.
    lab.all["respond_capacity_alike"] = False
    lab.hosts["web2"].update(ansible_connection="ssh", ansible_host="127.0.0.1", ansible_port=9, ansible_ssh_timeout=2)
    lab.simulator.event("Redeploy", ["web1"], notice=36000, started_seconds=36000)
    output = lab.respond()
    assert site.balancer.admin_state("shop", "web1") == "maint"
    assert "has no copy on another VM" in output
    assert len(lab.simulator.approvals()) == 1
    # Somebody who can keep one is back: the copy is retried.
    assert site.replicas("web2") == []
    lab.hosts["web2"].update(ansible_connection="local")
    lab.respond()
    (replica,) = site.replicas("web2")
    assert replica["record"]["methods"][0]["state"] == "drained"


def test_an_upgrade_that_takes_the_records_along_goes_on_when_it_is_started_again(site: Site) -> None:
    """A new OS disk, and the records were on the old one: without the copy the VM would be out of the load balancer for good."""
    lab, balancer = site.lab, site.balancer
    lab.all.update(gate_quiet_seconds=0, gate_wait_seconds=60, upgrade_interval=1)
    work = lab.folder / "work.yml"
    work.write_text(f"- ansible.builtin.file: {{path: '{lab.folder}/web1/records', state: absent}}\n")
    given = {"upgrade_hosts": "web1:web2", "upgrade_name": "Image", "upgrade_tasks": "work.yml", "upgrade_serial": 1}
    output = lab.play("maintenance.azure.rolling_upgrade", code=2, **given)
    assert "is gone" in output and "or its records went with a disk" in output, output[-3000:]
    assert balancer.admin_state("shop", "web1") == "maint" and balancer.status("shop", "web2") == "UP"
    assert lab.records("web1") == []
    (replica,) = site.replicas("web2")

    work.write_text(f"- ansible.builtin.shell: echo {{{{ inventory_hostname }}}} >> {lab.folder}/upgraded\n")
    output = lab.play("maintenance.azure.rolling_upgrade", **given)
    assert (lab.folder / "upgraded").read_text().split() == ["web1", "web2"]
    assert {vm: balancer.admin_state("shop", vm) for vm in VMS} == dict.fromkeys(VMS, "ready"), output[-3000:]
    assert lab.phases("web1").count("draining") == 1, "it was drained before, and not anew"
    assert lab.records("web1")[0]["methods"][0]["before"] == replica["record"]["methods"][0]["before"], "what was found before the first drain"
    assert site.replicas("web2") == [], "the copy of what is over stays"
