# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A house rule of any_errors_fatal: a dead VM and a failed drain stop nothing for the others, in the playbook and in a user's own play."""

from __future__ import annotations

import pathlib
import typing as t

import pytest
import yaml
from lab.lab import Lab

Make = t.Callable[..., Lab]


@pytest.mark.parametrize("is_role", [False, True], ids=["playbook", "role"])
def test_any_errors_fatal_fails_no_vm_for_another(make_lab: Make, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, is_role: bool) -> None:
    lab = make_lab(["web1", "web2", "web3"])
    (tmp_path / "leave.yml").write_text("- ansible.builtin.fail: {msg: it stays}\n")
    lab.hosts["web1"]["drain_methods"] = [{"method": "tasks", **dict.fromkeys(("begin", "check", "undo"), str(tmp_path / "leave.yml"))}]
    lab.hosts["web3"].update(ansible_connection="ssh", ansible_host="127.0.0.1", ansible_port=9, ansible_ssh_timeout=2)
    for vm in ("web1", "web2"):
        lab.simulator.event("Freeze", [vm], notice=36000, duration_in_seconds=60, approvals="one", started_seconds=36000)
    own = [{"hosts": "all", "gather_facts": False, "any_errors_fatal": True, "roles": ["maintenance.azure.respond"]}]
    (tmp_path / "site.yml").write_text(yaml.safe_dump(own))
    if not is_role:
        monkeypatch.setenv("ANSIBLE_ANY_ERRORS_FATAL", "True")
    output = lab.play(str(tmp_path / "site.yml") if is_role else "maintenance.azure.respond", code=None)
    assert "approved" in lab.phases("web2"), output
    assert "failed" in lab.phases("web1"), output
    assert "2 of 3 VMs answered; 2 events." in output and "it stays" in output
