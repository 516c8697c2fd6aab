# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Playbook rolling_upgrade: batches by fault domain, skipped batches that come back, what is left out of service by choice, copies of records."""

from __future__ import annotations

import collections.abc
import json
import pathlib
import re
import subprocess
import time
import typing as t

import pytest
from lab import warm
from lab.haproxy import Backend, HAProxy
from lab.lab import Lab

Make = t.Callable[..., Lab]
LONG = 36000
WORK = """
- name: Upgrade
  ansible.builtin.shell: echo "{{ inventory_hostname }}" >> {{ folder }}/log

- name: Break
  ansible.builtin.fail:
    msg: It broke.
  when: inventory_hostname == breaks | default('')
"""


def give(lab: Lab) -> Lab:
    lab.all.update(gate_quiet_seconds=0, gate_wait_seconds=60, upgrade_interval=1, folder=str(lab.folder))
    (lab.folder / "work.yml").write_text(WORK)
    return lab


def upgrade(lab: Lab, *arguments: str, code: int | None = 0, **more: t.Any) -> str:
    return lab.play("maintenance.azure.rolling_upgrade", *arguments, code=code, **{**given(), **more})


def given() -> dict[str, t.Any]:
    return {"upgrade_hosts": "web*", "upgrade_name": "Kernel", "upgrade_tasks": "work.yml"}


def lines(lab: Lab) -> list[str]:
    return (lab.folder / "log").read_text().split()


def test_one_fault_domain_at_a_time_and_what_was_skipped_comes_back(make_lab: Make, tmp_path: pathlib.Path) -> None:
    places = [{"name": vm, "fault_domain": domain} for vm, domain in (("web1", "0"), ("web2", "1"), ("web3", "0"))]
    (tmp_path / "vms.json").write_text(json.dumps(places))
    lab = make_lab([], 1, "--vm-file", str(tmp_path / "vms.json"))
    lab.folder.mkdir(exist_ok=True)
    lab.add(["web1", "web2", "web3"])
    give(lab)
    more = {"upgrade_by": "fault_domain", "upgrade_serial": 1, "gate_closed": "skip", "gate_wait_seconds": 20, "upgrade_wait": 240}
    event = lab.simulator.event("Reboot", ["web1"], notice=LONG)
    shown = upgrade(lab, "--check", **more)
    assert '"Batch 1 of 3, fault domain 0: web1",' in shown and "of 3, fault domain 0: web3" in shown and "of 3, fault domain 1: web2" in shown
    assert "The gate would open for web2" in shown and "The gate would open for web3" in shown
    assert f"The gate is closed for web1: Reboot {event} names web1" in shown
    assert "Skipped" not in shown, "in check mode nothing is skipped, and nothing comes back"
    with open(lab.folder / "output", "w") as output:
        running = subprocess.Popen(
            lab.command("maintenance.azure.rolling_upgrade", **{**given(), **more}),
            env=warm.playbooks(lab.environment()), cwd=lab.folder, stdout=output, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
    try:
        end = time.monotonic() + 240
        while not (lab.folder / "log").exists() or len(lines(lab)) < 2:
            assert running.poll() is None and time.monotonic() < end, (lab.folder / "output").read_text()[-3000:]
            time.sleep(0.2)
        lab.simulator.ask("POST", f"/events/{event}/cancel")
        assert running.wait(300) == 0, (lab.folder / "output").read_text()[-5000:]
    finally:
        running.kill()
        running.wait(10)
    assert "Skipped for now, and not upgraded: web1." in (lab.folder / "output").read_text()
    assert lines(lab) == ["web3", "web2", "web1"]


def test_what_stays_closed_to_the_end_is_said_and_nothing_is_done_to_it(make_lab: Make) -> None:
    lab = give(make_lab(["web1"], 1))
    lab.simulator.event("Reboot", ["web1"], notice=LONG)
    shown = upgrade(lab, code=2, gate_closed="skip", gate_wait_seconds=0, upgrade_wait=0)
    assert "Upgrade Kernel is not done on web1: the gate stayed closed for them, and nothing was changed on" in shown
    assert shown.count("PLAY [Retry the skipped batches]") == 3
    assert not (lab.folder / "log").exists()
    assert lab.records("web1") == []


OWN_PLAY = """
- hosts: web1
  gather_facts: false
  roles: [maintenance.azure.upgrade]
"""


def test_a_name_stands_for_one_tasks_file(make_lab: Make) -> None:
    lab = give(make_lab(["web1", "web2"]))
    shown = upgrade(lab, upgrade_hosts="web1")
    assert shown.index("Upgrade 'Kernel', tasks file work.yml.") < shown.index("Check upgrade_hosts")
    (lab.folder / "work.yml").write_text(WORK.replace("Upgrade", "Upgrade with other tasks"))
    shown = upgrade(lab, code=2)
    assert re.search(r"web1: upgrade 'Kernel' was done here with another tasks file than work\.yml .* upgrade_allow_changed_tasks", shown), shown[-3000:]
    (lab.folder / "own.yml").write_text(OWN_PLAY)
    shown = lab.play(str(lab.folder / "own.yml"), code=2, **given())
    assert "web1: upgrade 'Kernel' was done here with another tasks file" in shown, shown[-3000:]
    assert (lines(lab), lab.records("web2")) == (["web1"], [])
    shown = upgrade(lab, upgrade_allow_changed_tasks=True)
    assert "Upgrade Kernel is done on web1, web2." in shown
    assert lines(lab) == ["web1", "web2"]


ONE_AGAIN = """
- name: Drain one of them again
  ansible.builtin.include_role:
    name: maintenance.azure.upgrade
    tasks_from: drained.yml
  when: inventory_hostname == 'web2'
"""


def test_in_a_batch_each_drains_by_itself_and_one_that_fails_does_not_fail_the_others(make_lab: Make) -> None:
    lab = give(make_lab(["web1", "web2", "web3"]))
    (lab.folder / "work.yml").write_text(ONE_AGAIN + WORK)
    checked, undone = lab.folder / "checked", lab.folder / "undone"
    drains = [{"method": "command", "begin": ["false"], "check": ["false"], "undo": ["true"]}]
    slow = [
        {
            "method": "command",
            "begin": ["true"],
            "check": ["sh", "-c", f"echo >> {checked}; test $(wc -l < {checked}) -ge 3 || exit 75"],
            "undo": ["sh", "-c", f"echo >> {undone}; test $(wc -l < {undone}) -ge 2 || exit 75"],
        }
    ]
    lab.hosts["web1"]["drain_methods"], lab.hosts["web3"]["drain_methods"] = drains, slow
    shown = upgrade(lab, code=2, upgrade_serial=3)
    assert re.search(r"Upgrade Kernel failed on web1: The drain failed: 1-command: .*exit code 1.* The VM is left out of service", shown), shown[-4000:]
    assert re.search(r"Waited \d+ s so far: web3: ", shown)
    assert sorted(lines(lab)) == ["web2", "web3"]
    assert [lab.records(vm)[0]["phase"] for vm in lab.vms] == ["failed", "recovered", "recovered"]
    assert len(checked.read_text()) == 3, "what one of them has verified again is not asked of the others"
    assert len(undone.read_text()) == 2
    assert lab.flag("web2").read_text() == "yes\n"


class Site:
    """A lab whose VMs are servers of one HAProxy."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.servers = {vm: Backend() for vm in lab.vms}
        self.balancer = HAProxy(lab.folder / "lb1", {"shop": {vm: (one.port, "check inter 200") for vm, one in self.servers.items()}})
        local = {key: lab.hosts["web1"][key] for key in ("ansible_connection", "ansible_become", "ansible_python_interpreter")}
        lab.hosts["lb1"] = {**local, "drain_haproxy_socket": self.balancer.socket}
        for vm in lab.vms:
            lab.hosts[vm].update(drain_methods=[{"method": "haproxy", "balancers": ["lb1"]}], respond_health={})
            self.balancer.wait_for(lambda vm=vm: self.balancer.status("shop", vm) == "UP", f"{vm} is not up")

    def replicas(self, vm: str) -> list[dict[str, t.Any]]:
        return [json.loads(path.read_text()) for path in (self.lab.folder / vm / "records").glob("mirror-*.json")]

    def close(self) -> None:
        for one in (self.balancer, *self.servers.values()):
            one.stop()


@pytest.fixture
def site(make_lab: Make) -> collections.abc.Iterator[Site]:
    found = Site(give(make_lab(["web1", "web2"])))
    yield found
    found.close()


def test_what_failed_is_left_until_the_upgrade_goes_on_or_is_forgotten(site: Site) -> None:
    """And while it is out at the load balancer, another VM keeps a copy of its record."""
    lab, balancer = site.lab, site.balancer
    lab.all["respond_hosts"] = "web*"
    lab.all["respond_capacity"] = [{"name": "web", "members": ["web1", "web2"], "max_unavailable": 1}]
    shown = upgrade(lab, code=2, breaks="web1", upgrade_hosts="web1")
    assert "Upgrade Kernel failed on web1: It broke. The VM is left out of service." in shown
    assert "has no copy on another VM" not in shown
    (replica,) = site.replicas("web2")
    assert (replica["vm"], replica["record"]["event"]["event_id"]) == ("web1", "upgrade:Kernel")
    assert balancer.admin_state("shop", "web1") == "maint"
    # Nobody leases it, and respond leaves it alone: a person wants to look at it.
    assert not list(lab.records_folder("web1").glob("claim-*"))
    said = lab.respond()
    assert balancer.admin_state("shop", "web1") == "maint"
    assert "upgrade 'Kernel' failed on it, and it was left for an operator to inspect" in said
    upgrade(lab, upgrade_hosts="web1")
    assert lines(lab) == ["web1", "web1"]
    assert {balancer.admin_state("shop", vm) for vm in lab.vms} == {"ready"}
    assert site.replicas("web1") == site.replicas("web2") == [], "the copy of what is over stays"
    # Forgotten, the same upgrade may be done again.
    lab.play("maintenance.azure.gate", gate_hosts="web1", gate_action="forget", gate_name="Kernel")
    assert not list(lab.records_folder("web1").glob("upgrade-*")) and not list(lab.records_folder("web1").glob("claim-*"))
