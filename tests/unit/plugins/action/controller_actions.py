# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run an action of the controller, and read its documented options as an argument spec."""

from __future__ import annotations

import types
from typing import Any
from unittest import mock

import yaml


def run_action(
    action: types.ModuleType, arguments: dict[str, Any], variables: dict[str, Any] | None = None, check_mode: bool = False, **of_templar: Any
) -> dict[str, Any]:
    name = f"maintenance.azure.{action.__name__.rpartition('.')[2]}"
    task = mock.Mock(args=arguments, check_mode=check_mode, async_val=0, diff=False, environment=[], action=name)
    plugin = action.ActionModule(task, mock.Mock(), mock.Mock(), mock.Mock(), mock.Mock(**of_templar), None)
    found: dict[str, Any] = plugin.run(None, {"inventory_hostname": "vm1", **(variables or {})})
    return found


def documented(module: types.ModuleType) -> dict[str, Any]:
    """Return the documented options of a module as an argument spec has them."""
    options = yaml.safe_load(module.DOCUMENTATION)["options"]
    return {name: {key: value for key, value in option.items() if key != "description"} for name, option in options.items()}
