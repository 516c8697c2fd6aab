# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Playbook respond is three plays: all VMs, those that act, the report. What a playbook around it finds afterwards, and what goes wrong between them."""

from __future__ import annotations

import pathlib
import typing as t

import pytest
import yaml
from lab.lab import Lab

from ansible_collections.maintenance.azure.plugins.plugin_utils._loop import pass_loop

Make = t.Callable[..., Lab]
RESPOND = "maintenance.azure.respond"
SHOW = {
    "hosts": "all",
    "gather_facts": False,
    "tasks": [{"ansible.builtin.debug": {"msg": "{{ inventory_hostname }} has {{ respond_plan.events | map(attribute='phase') | join(',') }}."}}],
}


def a_playbook(folder: pathlib.Path, *plays: dict[str, t.Any]) -> str:
    path = folder / "site.yml"
    path.write_text(yaml.safe_dump(list(plays)))
    return str(path)


def freeze(lab: Lab, *vms: str) -> str:
    event: str = lab.simulator.event("Freeze", list(vms), notice=36000, duration_in_seconds=60, approvals="one", started_seconds=36000)
    return event


@pytest.mark.parametrize("is_role", [False, True], ids=["playbook", "role"])
def test_every_host_has_the_last_plan_afterwards(make_lab: Make, tmp_path: pathlib.Path, is_role: bool) -> None:
    lab = make_lab(["web1", "web2", "other"])
    freeze(lab, "web2")
    own = {"hosts": "all", "gather_facts": False, "roles": [RESPOND]}
    output = lab.play(a_playbook(tmp_path, own if is_role else {"import_playbook": RESPOND}, SHOW))
    assert "approved" in lab.phases("web2")
    assert [output.count(f"{vm} has started.") for vm in lab.vms] == [1, 1, 1], output


def test_a_playbook_may_import_it_twice(make_lab: Make, tmp_path: pathlib.Path) -> None:
    lab = make_lab(["web1", "web2", "web3"])
    freeze(lab, "web1")
    freeze(lab, "web3")
    # web2 knows the first pass alone, and so does web1 in the second: its hosts must be those of the second pass.
    first, second = ({"import_playbook": RESPOND, "vars": {"respond_hosts": hosts}} for hosts in ("web1,web2", "web2,web3"))
    output = lab.play(a_playbook(tmp_path, first, second))
    assert "approved" in lab.phases("web1") and "approved" in lab.phases("web3"), output
    assert output.count("2 of 2 VMs answered") == 2


def test_the_report_of_a_second_import_is_its_own(make_lab: Make, tmp_path: pathlib.Path) -> None:
    """Hosts of the first import come first in the inventory, and have another plan. A failure of the second one must not look like success."""
    lab = make_lab(["web1", "web2", "web3", "web4"])
    freeze(lab, "web1")
    lab.hosts["web3"]["drain_methods"] = [{"method": "probefile"}]
    first, second = ({"import_playbook": RESPOND, "vars": {"respond_hosts": hosts}} for hosts in ("web1,web2", "web3,web4"))
    output = lab.play(a_playbook(tmp_path, first, second), code=2)
    assert "approved" in lab.phases("web1"), output
    assert output.count("2 of 2 VMs answered; 1 event.") == 2 and "foreign: it names none of the managed VMs" in output
    assert "wrong settings on web3" in output.split("fatal: ")[1]
    # The other way round the run ends with the failure, as Ansible does it where all hosts of a play failed.
    assert "wrong settings on web3" in lab.play(a_playbook(tmp_path, second, first), code=2)


def test_the_controller_itself_need_not_be_in_the_inventory(make_lab: Make) -> None:
    lab = make_lab(["web1"])
    freeze(lab, "web1")
    lab.all.update(lab.hosts.pop("web1"), respond_vm_name="web1")
    # "all" has no implicit localhost, and without any host in the inventory its variables would not be read.
    lab.hosts["other"] = {}
    output = lab.respond(respond_hosts="localhost", **{key: value for key, value in lab.all.items() if key.startswith(("respond_", "drain_", "ansible_"))})
    assert "approved" in lab.phases("web1"), output
    assert "1 of 1 VMs answered; 1 event." in output


@pytest.mark.parametrize(
    "arguments",
    [("--syntax-check",), ("--list-hosts", "--list-tasks", "--list-tags"), ("-e", "respond_hosts=nobody", "-e", "respond_allow_empty=true")],
    ids=" ".join,
)
@pytest.mark.parametrize("name", [RESPOND, f"{RESPOND}_event"])
def test_looking_at_the_playbook_and_an_empty_pool_end_well(idle_lab: Lab, name: str, arguments: tuple[str, ...]) -> None:
    assert "ERROR" not in idle_lab.play(name, *arguments)


def test_a_host_outside_the_play_whose_variables_cannot_be_read_stops_nothing(make_lab: Make) -> None:
    lab = make_lab(["web1", "other"])
    freeze(lab, "web1")
    (lab.folder / "host_vars").mkdir()
    (lab.folder / "host_vars" / "other.yml").write_text("{ no: [yaml")
    output = lab.respond(respond_hosts="web1")
    assert "approved" in lab.phases("web1"), output


def test_a_play_in_check_mode_lists_what_it_would_do(make_lab: Make, tmp_path: pathlib.Path) -> None:
    lab = make_lab(["web1"])
    freeze(lab, "web1")
    own = {"hosts": "all", "gather_facts": False, "check_mode": True, "roles": [RESPOND]}
    assert "web1: Would drain for event" in lab.play(a_playbook(tmp_path, own))
    assert not lab.records("web1")


def test_a_host_that_failed_before_keeps_no_pass_of_the_first_import(make_lab: Make, tmp_path: pathlib.Path) -> None:
    lab = make_lab(["web1", "web2", "web3"])
    freeze(lab, "web1", "web2")
    fail = {"ansible.builtin.fail": {"msg": "web1 leaves"}, "when": "inventory_hostname == 'web1'"}
    leave = {"hosts": "all", "gather_facts": False, "tasks": [fail]}
    respond = {"import_playbook": RESPOND}
    before = lab.simulator.event("Freeze", ["web3"], notice=36000, duration_in_seconds=60)
    lab.play("maintenance.azure.decide", decide_event_id=before, decide_action="hold", decide_who="alice", decide_why="later")
    release = {"import_playbook": "maintenance.azure.decide", "vars": {"decide_event_id": before, "decide_action": "release", "decide_who": "alice"}}
    output = lab.play(a_playbook(tmp_path, respond, leave, release, respond, SHOW), code=2)
    assert "approved" in lab.phases("web3"), output
    assert "web2 has " in output and "web1 has " not in output


def test_a_vm_that_leaves_the_play_of_the_loop_does_not_end_the_run(make_lab: Make, tmp_path: pathlib.Path) -> None:
    """A task of the operator's own hits a machine that cannot be reached, and Ansible takes the VM out of the play. Another one reports."""
    lab = make_lab(["web1", "other"])
    (tmp_path / "notify.yml").write_text(
        yaml.safe_dump([{"name": "Tell", "ansible.builtin.ping": {}, "delegate_to": "nowhere", "vars": {"ansible_connection": "ssh"}}])
    )
    lab.all["respond_notify_tasks"] = str(tmp_path / "notify.yml")
    freeze(lab, "web1")
    output = lab.respond(code=None)
    assert "unreachable" in output.lower()
    assert "1 of 2 VMs answered; 1 event." in output, output


def test_facts_of_a_vm_stand_for_no_pass(make_lab: Make, tmp_path: pathlib.Path) -> None:
    lab = make_lab(["web1", "web2", "liar"])
    freeze(lab, "web2")
    forged = {**dict.fromkeys(pass_loop.KEYS), "began": 9e9, "number": 1, "do": "act", "staying": ["liar"], "plan": {"events": [], "fails": []}}
    forge = {"hosts": "liar", "gather_facts": False, "tasks": [{"ansible.builtin.set_fact": {"__respond_loop": forged, "cacheable": True}}]}
    output = lab.play(a_playbook(tmp_path, forge, {"import_playbook": RESPOND}, {**SHOW, "hosts": "web1,web2"}))
    assert "approved" in lab.phases("web2"), output
    assert "web1 has started." in output and "web2 has started." in output
