# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter observations: no VM is left away, and none that was not looked at again is taken for one that was."""

from __future__ import annotations

import inspect
import pathlib
from typing import Any

import yaml

from ansible_collections.maintenance.azure.plugins.filter import observations as module

find = module.observations


class Counted(dict[str, Any]):
    """hostvars that notes which hosts were read."""

    def __init__(self, values: dict[str, Any]) -> None:
        super().__init__(values)
        self.read: list[str] = []

    def __getitem__(self, key: str) -> Any:
        self.read.append(key)
        return super().__getitem__(key)


def test_every_option_is_documented() -> None:
    documentation = yaml.safe_load(pathlib.Path(module.__file__).with_suffix(".yml").read_text(encoding="utf-8"))["DOCUMENTATION"]
    assert set(documentation["options"]) == {"_input", *list(inspect.signature(find).parameters)[1:]}


def test_only_hosts_that_were_looked_at_are_read_again() -> None:
    good = {"observe_look": {"events": []}}
    hostvars = Counted({"a": good, "b": good, "c": good})
    first = find(["a", "b", "c"], hostvars)
    hostvars["a"] = hostvars["b"] = {"observe_look": {"failed": True, "msg": "late"}}
    hostvars.read.clear()
    second = find(["a", "b", "c"], hostvars, first, ["a"])
    assert hostvars.read == ["a"]
    assert [one["host"] for one in second] == ["a", "b", "c"]
    assert (second[0]["state"], second[0]["error"], second[0]["last_look"]) == ("failed", "late", {"events": []})
    assert [one["state"] for one in second[1:]] == ["resting", "resting"]
    assert [one["look"] for one in second[1:]] == [None, None]
    assert second[1]["last_look"] == {**first[1]["look"], "events": []}


def test_a_host_without_an_earlier_observation_is_read_whatever_was_looked_at() -> None:
    (only,) = find(["a"], {"a": {}}, [], [])
    assert (only["state"], only["error"]) == ("failed", module.NO_LOOK)
