# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wrong with the entries of drain_methods and drain_methods_former."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.settings import configured, validation

ROLE = pathlib.Path(__file__).resolve().parents[6] / "roles" / "drain"
FOLDERS, PLACES = [str(ROLE / "tasks" / "methods")], [str(ROLE / "tasks")]
METHODS = [
    {"method": "service", "names": ["a"]},
    {"method": "haproxy", "balancers": ["lb1"], "backends": ["app"], "name": "shop"},
    {"method": "tasks", "begin": "main.yml", "check": "main.yml", "undo": "main.yml"},
]


@pytest.mark.parametrize(
    ("methods", "former", "words"),
    [
        ([{"method": "none", "name": "Big"}], [], "entry 1: name is wrong: Big"),
        ([{"method": "none", "name": ""}], [], "name is wrong"),
        ([{"method": "none", "name": "a"}, {"method": "tasks", "name": "a"}], [], "entry 2: entry 1 has the name a, too"),
        (METHODS, "text", "drain_methods_former must be a list of methods, and is text"),
        (METHODS, {"method": "none"}, "must be a list"),
        (METHODS, [{}], "drain_methods_former, entry 1: method must be"),
        (METHODS, [{"method": "../x"}], "method must be"),
        (METHODS, [{"method": "tasks", "name": "../x"}], "entry 1: name is wrong"),
        (METHODS, [{"method": "tasks", "by_hand": "perhaps"}], "by_hand must be true"),
    ],
)
def test_settings_that_cannot_be_right_are_named(methods: Any, former: Any, words: str) -> None:
    assert any(words in said for said in validation.problems(methods, former, "linux", FOLDERS, PLACES))
    (said,) = configured.problems(methods, former)
    assert words in said


@pytest.mark.parametrize("former", [[], (), None, "", [{"method": "haproxy", "balancers": ["lb2"]}, {"method": "tasks", "name": "x", "by_hand": True}]])
def test_settings_that_are_right_have_no_problems(former: Any) -> None:
    assert validation.problems(METHODS, former, "linux", FOLDERS, PLACES) == []
