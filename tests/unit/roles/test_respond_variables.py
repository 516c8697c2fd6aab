# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Variables of roles that are worth a test without a run."""

from __future__ import annotations

import pathlib
import typing as t

import pytest
import yaml
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar

ROOT = pathlib.Path(__file__).resolve().parents[3]
VARIABLES = yaml.safe_load((ROOT / "roles" / "respond" / "vars" / "main.yml").read_text())
LINUX, WINDOWS = {"observe_result": {"system": "linux"}}, {"observe_result": {"system": "windows"}}
DEFAULT, OURS = "/var/lib/azure-maintenance", "D:\\azure-maintenance"


def templated(text: str, variables: dict[str, t.Any]) -> t.Any:
    try:
        from ansible.template import trust_as_template  # ansible-core 2.19 and newer
    except ImportError:
        return Templar(loader=DataLoader(), variables=variables).template(text)
    return Templar(loader=DataLoader(), variables=variables).template(trust_as_template(text))


@pytest.mark.parametrize(
    ("keeper", "path"),
    [
        ({**LINUX}, DEFAULT),
        ({**WINDOWS}, OURS),
        ({**LINUX, "respond_records_path": "/srv/records"}, "/srv/records"),
        ({**WINDOWS, "respond_records_path": "E:\\records"}, "E:\\records"),
        ({}, OURS),
    ],
)
def test_where_another_vm_keeps_a_copy(keeper: dict[str, t.Any], path: str) -> None:
    """Asked by a Windows VM whose records are on drive D: a Linux VM has no such path."""
    variables = {"hostvars": {"keeper": keeper}, "__respond_action": {"keeper": "keeper"}, "__respond_system": "windows", "respond_records_path": OURS}
    assert templated(VARIABLES["__respond_keeper_path"], variables) == path


def test_nobody_keeps_a_copy() -> None:
    variables = {"hostvars": {}, "__respond_action": {"keeper": None}, "__respond_system": "windows", "respond_records_path": OURS}
    assert templated(VARIABLES["__respond_keeper_path"], variables) == ""
