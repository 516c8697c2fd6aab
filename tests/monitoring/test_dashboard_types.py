# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The dashboard by Grafana's own types (its Foundation SDK): read and written again, nothing of it is lost. Grafana itself is in no package index."""

from __future__ import annotations

import copy
import json
import pathlib
from collections.abc import Iterator
from typing import Any

import pytest
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard

BOARD = json.loads((pathlib.Path(__file__).resolve().parents[2] / "docs" / "monitoring" / "dashboard.json").read_text())
# Grafana writes it beside the query of a variable, as text for its editor; the types do not have it.
NOT_IN_THE_TYPES = ["/templating/list/0/definition", "/templating/list/1/definition"]


@pytest.fixture(autouse=True, scope="module")
def types_of_panels_and_queries() -> None:
    register_default_plugins()


def lost(board: dict[str, Any]) -> list[str]:
    """The places whose value is missing or another one after Grafana's types have read and written it."""
    again = json.loads(JSONEncoder().encode(Dashboard.from_json(copy.deepcopy(board))))
    return list(_lost(board, again, ""))


def _lost(before: Any, after: Any, where: str) -> Iterator[str]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key, value in before.items():
            yield from _lost(value, after[key], f"{where}/{key}") if key in after else [f"{where}/{key}"]
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for place, pair in enumerate(zip(before, after)):
            yield from _lost(*pair, f"{where}/{place}")
    elif before != after:
        yield where


def test_nothing_of_the_dashboard_is_lost() -> None:
    assert [place for place in lost(BOARD) if place not in NOT_IN_THE_TYPES] == []


@pytest.mark.parametrize(("key", "value"), [("gridpos", {"h": 1}), ("datasorce", {"uid": "x"}), ("target", [])])
def test_a_misspelt_key_of_a_panel_is_found(key: str, value: Any) -> None:
    board = copy.deepcopy(BOARD)
    board["panels"][0][key] = value
    assert f"/panels/0/{key}" in lost(board)


def test_a_query_in_the_wrong_place_is_found() -> None:
    board = copy.deepcopy(BOARD)
    panel = next(place for place, panel in enumerate(board["panels"]) if panel.get("targets"))
    board["panels"][panel]["targets"][0]["query"] = board["panels"][panel]["targets"][0].pop("expr")
    assert lost(board)
