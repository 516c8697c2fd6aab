# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The inventories in docs/examples: Ansible reads them, the roles take their hosts for what they are, and the drain methods exist."""

from __future__ import annotations

import pathlib
import re
import typing as t

import pytest
import yaml
from ansible.inventory.manager import InventoryManager
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar
from ansible.vars.manager import VariableManager

from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.settings.catalogue import known_methods

ROOT = pathlib.Path(__file__).resolve().parents[3]
EXAMPLES = sorted((ROOT / "docs" / "examples").glob("*.yml"))
# Of Windows VMs; tests/playbooks/test_rehearsal.py runs the inventory of the rehearsal.
REHEARSAL = ROOT / "docs" / "examples" / "local-rehearsal.yml"
WINDOWS = [path for path in EXAMPLES if path.name.startswith("windows-")]
GUIDE = (ROOT / "docs" / "docsite" / "rst" / "windows_guide.rst").read_text()
CONNECTIONS = {"windows-winrm.yml": "winrm", "windows-psrp.yml": "psrp", "windows-ssh.yml": "ssh"}
# Where the roles and the playbooks ask what a host is, before anybody has looked at it.
ASKED = (
    ("roles/drain/defaults/main.yml", "drain_system"),
    ("roles/recover/defaults/main.yml", "recover_system"),
    ("roles/respond/vars/main.yml", "__respond_system"),
)


def hosts_of(path: pathlib.Path) -> dict[str, dict[str, t.Any]]:
    loader = DataLoader()
    inventory = InventoryManager(loader=loader, sources=[str(path)])
    variables = VariableManager(loader=loader, inventory=inventory)
    return {host.name: {**variables.get_vars(host=host), "_groups": [group.name for group in host.get_groups()]} for host in inventory.get_hosts()}


def templated(text: str, variables: dict[str, t.Any]) -> t.Any:
    known = {name: value for name, value in variables.items() if name.startswith("ansible_") and name in ("ansible_connection", "ansible_shell_type")}
    template = text
    try:
        from ansible.template import trust_as_template  # ansible-core 2.19 and newer
    except ImportError:
        pass
    else:
        template = trust_as_template(text)
    return Templar(loader=DataLoader(), variables=known).template(template)


def becomes(variables: dict[str, t.Any]) -> list[t.Any]:
    tasks = [yaml.safe_load((ROOT / "playbooks" / f"{name}.yml").read_text())[0]["tasks"][0] for name in ("respond", "status", "decide")]
    return [templated(found["become"], variables) for found in tasks]


def test_there_is_one_for_each_connection() -> None:
    assert {path.name for path in WINDOWS} == set(CONNECTIONS)
    for name in CONNECTIONS:
        assert name in GUIDE


@pytest.mark.parametrize("path", WINDOWS, ids=lambda path: path.name)
def test_hosts_are_what_they_are(path: pathlib.Path) -> None:
    hosts = hosts_of(path)
    assert any("windows" in variables["_groups"] for variables in hosts.values())
    for name, variables in hosts.items():
        system = "windows" if "windows" in variables["_groups"] else "linux"
        for file, variable in ASKED:
            assert templated(yaml.safe_load((ROOT / file).read_text())[variable], variables) == system, (name, file)
        assert becomes(variables) == [system == "linux"] * 3, name
        if system == "windows":
            assert variables["ansible_connection"] == CONNECTIONS[path.name] and variables["ansible_become"] is False


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_drain_methods_and_settings_exist(path: pathlib.Path) -> None:
    specifications = [yaml.safe_load(file.read_text())["argument_specs"] for file in ROOT.glob("roles/*/meta/argument_specs.yml")]
    known = {option for specification in specifications for entry in specification.values() for option in entry.get("options", {})}
    methods = known_methods([str(ROOT / "roles" / "drain" / "tasks" / "methods")])
    for name, variables in hosts_of(path).items():
        assert {key for key in variables if key.startswith(("respond_", "drain_"))} <= known, name
        for method in variables["drain_methods"]:
            options = methods[method["method"]] or {}
            assert set(method) - {"method", "outside"} <= set(options), method
            assert {option for option, about in options.items() if about.get("required")} <= set(method), method


def test_the_rehearsal_s_hosts_share_nothing_and_need_no_root() -> None:
    hosts = hosts_of(REHEARSAL)
    readme = (ROOT / "README.md").read_text()
    assert len(hosts) == 4
    for name, variables in hosts.items():
        assert variables["ansible_become"] is False and variables["ansible_connection"] == "local"
        assert "{{ inventory_hostname }}" in variables["respond_records_path"]
        assert all("{{ inventory_hostname }}" in method["path"] for method in variables["drain_methods"])
        # The command of the README plays each of them there.
        assert f"--vm {name}={variables['respond_endpoint'].removeprefix('http://')}" in readme


def test_nothing_that_lasts_lies_beside_the_inventory() -> None:
    """ansible-rulebook gives each run a copy of the inventory, which ends with the run, and with it the records that lay there."""
    files = [path for folder in ("docs", "roles", "playbooks", "extensions") for path in (ROOT / folder).rglob("*") if path.is_file()]
    texts = {path: path.read_bytes() for path in [ROOT / "README.md", *files]}
    assert [path for path, text in texts.items() if re.search(rb"\{\{[^}]*\binventory_(dir|file)\b", text)] == []
