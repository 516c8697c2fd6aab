# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where another VM keeps a replica: in its own records folder, and never in a folder that only the other system has."""

from __future__ import annotations

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._loop import vm_settings
from ansible_collections.maintenance.azure.plugins.plugin_utils._loop.assignments import keeper_path

DEFAULT, OURS = "/var/lib/azure-maintenance", "D:\\azure-maintenance"


@pytest.mark.parametrize(
    ("path", "system", "expected"),
    [
        ("", "linux", DEFAULT),
        ("", "windows", OURS),
        ("/srv/records", "linux", "/srv/records"),
        ("E:\\records", "windows", "E:\\records"),
    ],
)
def test_where_another_vm_keeps_a_replica(path: str, system: str, expected: str) -> None:
    """Asked by a Windows VM whose records are on drive D: a Linux VM has no such path."""
    vms = {"a": vm_settings.read({"records_path": OURS}, "a"), "keeper": vm_settings.read({"records_path": path}, "keeper")}
    assert keeper_path("a", "keeper", vms, {"a": "windows", "keeper": system}) == expected


@pytest.mark.parametrize("keeper", [None, "", "elsewhere"])
def test_no_keeper_has_no_path(keeper: str | None) -> None:
    assert keeper_path("a", keeper, {"a": vm_settings.read({"records_path": OURS}, "a")}, {"a": "windows"}) == ""
