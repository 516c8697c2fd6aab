# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The tests' cache of what core reads of meta/runtime.yml must give what core reads (tests/tools/code_cache)."""

from __future__ import annotations

import pathlib
import sys
import types
import typing as t

import ansible
import pytest
from ansible.utils.collection_loader import _collection_finder

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "code_cache"))

import routing_cache  # noqa: E402  it is in no package

BUILTIN = (pathlib.Path(ansible.__file__).parent / "config" / "ansible_builtin_runtime.yml").read_text()
ID = ("ansible.builtin", "runtime.yml")


class Core:
    """Reads as core does, and counts it."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.read = 0
        self.finder = types.SimpleNamespace(_meta_yml_to_dict=self._read)
        routing_cache.use(str(folder), self.finder)

    def _read(self, text: str, content_id: t.Any) -> t.Any:
        self.read += 1
        return t.cast(t.Any, _collection_finder)._meta_yml_to_dict(text, content_id)


def test_a_text_is_read_once_and_is_the_same(tmp_path: pathlib.Path) -> None:
    core = Core(tmp_path)
    first, second = (core.finder._meta_yml_to_dict(BUILTIN, ID) for _time in range(2))
    assert first == second and first is not second and core.read == 1
    assert first["plugin_routing"]["modules"]
    assert Core(tmp_path).finder._meta_yml_to_dict(BUILTIN.encode(), ID) == first


@pytest.mark.parametrize("text", [BUILTIN + "\nmore: {}\n", "small: {}\n"])
def test_another_text_is_read_anew(tmp_path: pathlib.Path, text: str) -> None:
    core = Core(tmp_path)
    core.finder._meta_yml_to_dict(BUILTIN, ID)
    assert {"more", "small"} & set(core.finder._meta_yml_to_dict(text, ID)) and core.read == 2
