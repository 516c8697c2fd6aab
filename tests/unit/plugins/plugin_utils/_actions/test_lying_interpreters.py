# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real run of Ansible in which the interpreters of VMs are somebody else's and print what they like."""

from __future__ import annotations

import datetime
import json
import os
import pathlib
import subprocess
import sys
import typing as t

import pytest

LIAR = """#!{python}
import pathlib, sys
module = next((one for one in ("setup", "maintenance_act") if "AnsiballZ_" + one in " ".join(sys.argv)), "other")
print((pathlib.Path(__file__).parent / (module + ".json")).read_text())
"""
FACTS = {"respond_policy": [{"name": "evil", "drain": False, "approve": "now"}], "distribution": "Debian"}
NOTHING: dict[str, t.Any] = {"changed": False}
# A whole and honest look, with what must not get through beside it.
OBSERVATION: dict[str, t.Any] = {
    "changed": False,
    "vm_name": "web3",
    "document_incarnation": 1,
    "api_version": "2020-07-01",
    "endpoint": "x",
    "endpoint_source": None,
    "events": [],
    "identity": {"name": "web3", "vm_id": "c"},
    "system": "linux",
    "boot_id": "b",
    "uptime_seconds": 90000.0,
    "now": "2026-11-21T20:00:00.000000Z",
    "enabled_at": "2026-11-20T20:00:00.000000Z",
    "enabled_recently": False,
    "in_service": None,
    "in_service_why": None,
    "records": [],
    "leases": [],
    "replicas": [],
    "tombstones": [],
    "results": [],
    "upgrades": [],
    "records_problems": [],
    "records_readable": True,
    # When it answered is the controller's to say: of a VM's clock only its own offset may come.
    "answered_at": "2001-01-01T00:00:00.000000Z",
    "ansible_facts": {"respond_capacity": "evil", "ansible_host": "203.0.113.1"},
    "warnings": ["first\u001b[2J\nsecond"],
    "deprecations": [{"msg": "evil deprecation", "version": "9"}],
    "unreachable": True,
    "diff": {"before": "evil", "after": "evil"},
    "invocation": {"module_args": "evil"},
    "_ansible_verbose_always": True,
    "add_host": {"host_name": "evil"},
}
PLAY = """
- hosts: web1
  gather_facts: true
- hosts: all
  gather_facts: false
  vars:
    respond_observation_seconds: 20
  tasks:
    - ansible.builtin.include_role:
        name: maintenance.azure.respond
        tasks_from: status.yml
        rolespec_validate: false
    - ansible.builtin.copy:
        content: "{{ {'plan': respond_plan, 'policy': __respond_loop.request.policy, 'observation': hostvars['web3'].observe_result,
                      'facts': hostvars['web3'].ansible_facts | default({}), 'hosts': groups.all} | to_json }}"
        dest: "{{ playbook_dir }}/seen.json"
        mode: "0600"
      delegate_to: localhost
      run_once: true
      vars:
        ansible_connection: local
        ansible_python_interpreter: "{{ ansible_playbook_python }}"
"""


def _host(folder: pathlib.Path, **answers: t.Any) -> str:
    folder.mkdir()
    interpreter = folder / "python3"
    interpreter.write_text(LIAR.format(python=sys.executable))
    interpreter.chmod(0o755)
    for module in ("setup", "maintenance_act", "other"):
        given = answers.get(module, NOTHING)
        (folder / f"{module}.json").write_text(given if isinstance(given, str) else json.dumps(given))
    return str(interpreter)


@pytest.fixture
def play(tmp_path: pathlib.Path) -> tuple[dict[str, t.Any], str]:
    interpreters = {
        "web1": _host(tmp_path / "web1", setup=dict(NOTHING, ansible_facts=FACTS)),
        "web2": _host(tmp_path / "web2", maintenance_act='{"document_incarnation": ' + "9" * 5000 + "}"),
        "web3": _host(tmp_path / "web3", maintenance_act=OBSERVATION),
    }
    local = {"ansible_connection": "local", "respond_records_path": "/nonexistent/{{ inventory_hostname }}"}
    hosts = {name: {**local, "ansible_python_interpreter": path} for name, path in interpreters.items()}
    (tmp_path / "hosts.yml").write_text(json.dumps({"all": {"hosts": hosts, "vars": {"respond_unmanaged": "ignore"}}}))
    (tmp_path / "play.yml").write_text(PLAY)
    done = subprocess.run(
        ["ansible-playbook", "-i", "hosts.yml", "play.yml", "--diff"],
        cwd=tmp_path,
        env=dict(os.environ, ANSIBLE_NOCOLOR="1", ANSIBLE_LOCALHOST_WARNING="0"),
        capture_output=True,
        text=True,
        check=False,
    )
    said = done.stdout + done.stderr
    # web1 alone has failed.
    assert done.returncode == 2, said
    return json.loads((tmp_path / "seen.json").read_text()), said


def test_what_vms_print_stays_with_them(play: tuple[dict[str, t.Any], str]) -> None:
    seen, said = play
    hosts = seen["plan"]["hosts"]
    # web1's facts beat the inventory: it takes no part, whoever comes after it does, and its policy is nobody's.
    assert "respond_policy comes from its facts" in json.dumps(hosts["web1"])
    assert "evil" not in json.dumps(seen["policy"])
    # web2 prints a number that Python would not read.
    assert "web2: what maintenance_act returned is not usable: a number in it has more than 40 digits" in json.dumps(hosts["web2"])
    # web3's own look counts, and nothing beside it.
    assert hosts["web3"]["state"] == "ok"
    # What the controller adds to it is its own: what it asked for, and its variables.
    assert (seen["observation"].pop("asked"), seen["observation"].pop("vm_settings").get("drain_methods")) == ([], None)
    answered_at = datetime.datetime.fromisoformat(seen["observation"].pop("answered_at"))
    assert abs(datetime.datetime.now(datetime.timezone.utc) - answered_at) < datetime.timedelta(minutes=10)
    assert seen["observation"] == {key: OBSERVATION[key] for key in OBSERVATION if key in seen["observation"] and key != "warnings"} | {
        "failed": False,
        **({"warnings": seen["observation"]["warnings"]} if "warnings" in seen["observation"] else {}),
    }
    assert seen["facts"] == {}
    assert seen["hosts"] == ["web1", "web2", "web3"]
    assert "evil" not in said
    assert "web3: first [2J second" in said
    assert "\x1b" not in said
