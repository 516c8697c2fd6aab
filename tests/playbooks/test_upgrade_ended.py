# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Users' tasks that end their host: red, put back, released, and no batch after it begins."""

from __future__ import annotations

import os
import re
import typing as t

import pytest
from lab.lab import Lab

Make = t.Callable[..., Lab]
WORDS = """
- name: Leave
  ansible.builtin.meta: {word}
  when: inventory_hostname == 'web1'
"""
LOG = """
- name: Upgrade
  ansible.builtin.shell: echo "{{ inventory_hostname }}" >> {{ folder }}/log
"""


def give(lab: Lab, tasks: str) -> Lab:
    lab.all.update(gate_quiet_seconds=0, gate_wait_seconds=60, upgrade_interval=1, folder=str(lab.folder))
    (lab.folder / "work.yml").write_text(tasks + LOG)
    return lab


def upgrade(lab: Lab, code: int = 2, **more: t.Any) -> str:
    return lab.play("maintenance.azure.rolling_upgrade", code=code, **{"upgrade_hosts": "web*", "upgrade_name": "Kernel", "upgrade_tasks": "work.yml", **more})


def is_put_back(lab: Lab, vm: str) -> bool:
    return lab.records(vm)[0]["phase"] == "recovered" and lab.flag(vm).read_text() == "yes\n" and lab.leases(vm) == []


def test_a_host_that_ends_itself_is_a_failure_of_its_own(make_lab: Make) -> None:
    lab = give(make_lab(["web1", "web2"]), WORDS.format(word="end_host"))
    shown = upgrade(lab)
    assert re.search(r"Upgrade Kernel failed on web1: its tasks ended the host .* The VM was put back", shown), shown[-6000:]
    assert "Upgrade Kernel is not done on web1, web2" in shown
    assert is_put_back(lab, "web1") and lab.records("web2") == []
    (lab.folder / "work.yml").write_text(LOG)
    for _again in range(2):
        assert "Upgrade Kernel is done on web1, web2." in upgrade(lab, code=0)


EACH = """
- {ansible.builtin.meta: end_host, when: inventory_hostname == 'web1'}
- {ansible.builtin.meta: end_role, when: inventory_hostname == 'web2'}
- {ansible.builtin.fail: {msg: It broke.}, when: inventory_hostname == 'web3'}
- {ansible.builtin.fail: {msg: It does not matter.}, ignore_errors: true}
- {ansible.builtin.add_host: {name: web9, groups: [web]}}
- {ansible.builtin.group_by: {key: upgraded}}
- {ansible.builtin.set_fact: {upgrade_tasks: x.yml, upgrade_plan: {}}, delegate_to: web6, delegate_facts: true, when: inventory_hostname == 'web4'}
- {ansible.builtin.command: sleep 1, async: 30, poll: 0}
- {ansible.builtin.meta: refresh_inventory}
- {ansible.builtin.meta: clear_facts}
- {ansible.builtin.meta: flush_handlers}
- {ansible.builtin.meta: reset_connection}
- {ansible.builtin.set_fact: {gate_result: {}}, when: inventory_hostname == 'web5'}
"""


# Before a release: EVERY_ENDING_WORD=1.
@pytest.mark.parametrize("option", ["upgrade_tasks", *(["upgrade_check_tasks"] if "EVERY_ENDING_WORD" in os.environ else [])])
def test_of_a_batch_each_ends_as_its_own_word_says(make_lab: Make, option: str) -> None:
    lab = give(make_lab([f"web{number}" for number in range(1, 7)]), EACH)
    (lab.folder / "nothing.yml").write_text("- ansible.builtin.debug:\n")
    shown = upgrade(lab, upgrade_serial=[5, 1], **{"upgrade_tasks": "nothing.yml", option: "work.yml"})
    for vm in ("web1", "web2"):
        assert re.search(rf"Upgrade Kernel failed on {vm}: its tasks ended the host .* The VM was put back", shown), shown[-6000:]
        assert is_put_back(lab, vm)
    assert "Upgrade Kernel failed on web3: It broke. The VM is left out of service" in shown
    assert is_put_back(lab, "web4") and lab.records("web6") == []
    assert "is not done on web1, web2, web3, web5, web6" in shown, "web5 has overwritten a variable of the role"
    assert sorted((lab.folder / "log").read_text().split()) == ["web4", "web5"], shown[-3000:]


@pytest.mark.parametrize("word", ["end_batch", "end_play"])
def test_a_word_that_ends_the_batch_ends_its_vms_alone(make_lab: Make, word: str) -> None:
    lab = give(make_lab(["web1", "web2", "web3"]), WORDS.format(word=word))
    shown = upgrade(lab, upgrade_serial=[2, 1])
    for vm in ("web1", "web2"):
        assert re.search(rf"Upgrade Kernel failed on {vm}: its tasks ended the host .* The VM was put back", shown), shown[-6000:]
        assert is_put_back(lab, vm)
    assert lab.records("web3") == []


OWN = """
- hosts: web*
  serial: 1
  gather_facts: false
  roles: [maintenance.azure.upgrade]
"""


def test_a_play_of_ones_own_is_red_and_the_next_run_takes_it_over(make_lab: Make) -> None:
    lab = give(make_lab(["web1", "web2"]), WORDS.format(word="end_host"))
    (lab.folder / "own.yml").write_text(OWN)
    given = {"upgrade_name": "Kernel", "upgrade_tasks": "work.yml"}
    shown = lab.play(str(lab.folder / "own.yml"), code=2, **given)
    assert "web1 left the play amid the upgrade: the tasks ended the host" in shown and lab.records("web2") == []
    (run,) = set(re.findall(r"run ([a-z0-9]{12})", lab.status()))
    (lab.folder / "work.yml").write_text(LOG)
    lab.play(str(lab.folder / "own.yml"), upgrade_allow_changed_tasks=True, gate_dead_run=run, **given)
    assert is_put_back(lab, "web1") and is_put_back(lab, "web2")
