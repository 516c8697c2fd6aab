# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Loop variables: none has the name of a variable that a role sets. ansible-core warns of each such loop on each host."""

from __future__ import annotations

import pathlib
import re

import pytest

ROLES = pathlib.Path(__file__).resolve().parents[3] / "roles"


def _found(role: pathlib.Path, pattern: str, *folders: str) -> set[str]:
    files = [path for folder in folders for path in (role / folder).rglob("*.yml")]
    return {name for path in files for name in re.findall(pattern, path.read_text(encoding="utf-8"), re.MULTILINE)}


@pytest.mark.parametrize("role", sorted(path.name for path in ROLES.iterdir() if (path / "tasks").is_dir()))
def test_no_loop_variable_is_a_variable_of_a_role(role: str) -> None:
    loops = _found(ROLES / role, r"^ +(?:loop_var|index_var): (\w+)$", "tasks")
    # The roles include each other, so that the variables of one may be there in the loops of another.
    taken = set().union(*(_found(other, r"^(\w+):", "vars", "defaults") for other in ROLES.iterdir()))
    assert not loops & taken
