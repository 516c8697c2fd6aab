# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The test plugin and the loader's answer; whole runs with and without a collection are in tests/playbooks/drain/test_windows_iis.py."""

from __future__ import annotations

import types
import typing as t

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.maintenance.azure.plugins.plugin_utils._core import modules
from ansible_collections.maintenance.azure.plugins.test import module_installed as plugin


@pytest.mark.parametrize("there", [True, False])
def test_the_result_is_that_of_the_loader(monkeypatch: pytest.MonkeyPatch, there: bool) -> None:
    asked = []

    def find(name: str) -> types.SimpleNamespace:
        asked.append(name)
        return types.SimpleNamespace(resolved=there)

    monkeypatch.setattr(modules.module_loader, "find_plugin_with_context", find)
    assert plugin.TestModule().tests()["module_installed"]("microsoft.iis.website") is there
    assert asked == ["microsoft.iis.website"]


@pytest.mark.parametrize("name", ["win_stat", "", None, 7])
def test_a_name_that_is_not_fully_qualified_is_an_error(name: t.Any) -> None:
    with pytest.raises(AnsibleFilterError, match="full name"):
        plugin.module_installed(name)
