# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The recipes of docs/stateful.md for a database behind HAProxy fit together. Suite state runs them."""

from __future__ import annotations

import pathlib
import re
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
for folder in ("tests", "tests/state"):
    sys.path.insert(0, str(ROOT / folder))

from recipe import Recipe  # noqa: E402  the folders of tests are no packages

from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.settings import validation  # noqa: E402


@pytest.mark.parametrize(("product", "last"), [("Patroni", "patroni"), ("Redis, Valkey", "redis_sentinel")])
def test_the_methods_are_right_and_name_what_haproxy_has(product: str, last: str) -> None:
    recipe = Recipe(product)
    assert validation.problems(recipe.methods, [], "linux", [str(ROOT / "roles" / "drain" / "tasks" / "methods")], [], "") == []
    assert [one["method"] for one in recipe.methods] == ["haproxy", last]
    backends = dict(re.findall(r"^backend (\S+)\n((?: .*\n)+)", recipe.configuration, re.MULTILINE))
    servers = {name: re.findall(r"^    server (\S+) ", lines, re.MULTILINE) for name, lines in backends.items()}
    (reading,) = recipe.methods[0]["backends"]
    assert reading.endswith("_read") and len(servers) == 2
    assert set(map(tuple, servers.values())) == {tuple(recipe.methods[1]["members"].values())}
