# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The filters that take observations: their options, and their errors."""

from __future__ import annotations

import importlib
import inspect
import pathlib
from typing import Any

import pytest
import yaml
from ansible.errors import AnsibleFilterError

from ansible_collections.maintenance.azure.plugins.filter.gate import gate


@pytest.mark.parametrize("name", ["batches", "gate", "no_settings", "override", "own_restarts", "plan"])
def test_every_option_is_documented(name: str) -> None:
    module = importlib.import_module(f"ansible_collections.maintenance.azure.plugins.filter.{name}")
    documentation = yaml.safe_load(pathlib.Path(module.__file__ or "").with_suffix(".yml").read_text(encoding="utf-8"))["DOCUMENTATION"]
    function = module.FilterModule().filters()[name]
    assert documentation["name"] == name
    assert set(documentation["options"]) == {"_input", *list(inspect.signature(function).parameters)[1:]}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (([], {}), "gate: upgrade must be"),
        (([], {"upgrade": "x", "batch": ["a"]}), "gate: now must be"),
        ((["x"], {"upgrade": "x", "batch": ["a"]}, "default", None, "2026-11-21T20:00:00Z"), "gate: observation 1"),
        (([], {"upgrade": "x", "batch": ["a"]}, "default", {"x": 1}, "2026-11-21T20:00:00Z"), "unknown setting"),
        (([], {"upgrade": "x", "batch": ["a"]}, "none", None, "2026-11-21T20:00:00Z"), "no policy named"),
    ],
)
def test_errors_are_ansibles(given: tuple[Any, ...], words: str) -> None:
    with pytest.raises(AnsibleFilterError, match=words):
        gate(*given)
