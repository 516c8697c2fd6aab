# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Roles form a tree: no role uses the files of one that uses its own. Who reads a role need not read those above it."""

from __future__ import annotations

import pathlib
import re

import graphlib
import pytest

ROLES = pathlib.Path(__file__).resolve().parents[3] / "roles"
# Another role's file by its path, or a role by its name, as the actions that include one have it.
BY_PATH, BY_NAME = re.compile(r"\.\./(\w+)/tasks/"), re.compile(r"(?:import|include)_role:\s+name: maintenance\.azure\.(\w+)\b")


def uses(roles: pathlib.Path) -> dict[str, set[str]]:
    """Return for each role the other roles whose files it uses."""
    found: dict[str, set[str]] = {}
    for role in (path for path in roles.iterdir() if path.is_dir()):
        texts = [path.read_text(encoding="utf-8") for folder in ("tasks", "vars", "defaults") for path in (role / folder).rglob("*.yml")]
        lines = ["\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#")) for text in texts]
        found[role.name] = {name for text in lines for pattern in (BY_PATH, BY_NAME) for name in pattern.findall(text)} - {role.name}
    return found


def test_roles_form_a_tree() -> None:
    found = uses(ROLES)
    assert {"respond", "approve"} <= found["upgrade"] and {"drain", "recover"} <= found["respond"] and "respond" in found["gate"]
    graphlib.TopologicalSorter(found).prepare()


@pytest.mark.parametrize("text", ["- import_tasks: ../../upper/tasks/main.yml\n", "- include_role:\n    name: maintenance.azure.upper\n"])
def test_a_circle_is_found(tmp_path: pathlib.Path, text: str) -> None:
    for role, content in (("upper", "- include_role:\n    name: maintenance.azure.lower\n"), ("lower", text)):
        (tmp_path / role / "tasks").mkdir(parents=True)
        (tmp_path / role / "tasks" / "main.yml").write_text(content)
    with pytest.raises(graphlib.CycleError):
        graphlib.TopologicalSorter(uses(tmp_path)).prepare()
