# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the plugins say about themselves is what they do, and what the guide says is what the filter returns."""

from __future__ import annotations

import inspect
import pathlib
import re
import runpy
from typing import Any

import yaml

from ansible_collections.maintenance.azure.plugins.plugin_utils._eda.asking.endpoints import KEYS, read_options
from ansible_collections.maintenance.azure.plugins.plugin_utils._eda.messages.shape import EMPTY
from ansible_collections.maintenance.azure.plugins.plugin_utils._eda.receiving.receiver import Limits

ROOT = pathlib.Path(__file__).resolve().parents[4]
PLUGINS = ROOT / ".build/tree/ansible_collections/maintenance/azure/extensions/eda/plugins"


def loaded(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """A plugin, and its documentation."""
    plugin = runpy.run_path(str(PLUGINS / name))
    assert isinstance(yaml.safe_load(plugin["EXAMPLES"]), list)
    return plugin, yaml.safe_load(plugin["DOCUMENTATION"])


def test_the_options_of_the_filter():
    plugin, documentation = loaded("event_filter/normalize.py")
    defaults = {name: parameter.default for name, parameter in inspect.signature(plugin["main"]).parameters.items() if name != "event"}
    assert {name: option["default"] for name, option in documentation["options"].items()} == defaults
    assert Limits(**defaults) == Limits()


def test_the_options_of_the_source():
    documentation = loaded("event_source/scheduled_events.py")[1]
    assert set(documentation["options"]) == set(KEYS)
    options = read_options({"endpoints": [{"name": "web1", "endpoint": "http://127.0.0.1"}]})
    for name, option in documentation["options"].items():
        assert "default" not in option or option["default"] == getattr(options, name), name


def test_the_guide_and_the_filter_name_all_keys():
    guide = (ROOT / "docs" / "event-driven.md").read_text().partition("## The shape")[2].partition("\n## ")[0]
    named = set(re.findall(r"`(\w+)`", "\n".join(line.split("|")[1] for line in guide.splitlines() if line.startswith("| `"))))
    assert named == set(EMPTY)
    notes = " ".join(loaded("event_filter/normalize.py")[1]["notes"])
    assert set(EMPTY) <= set(re.findall(r"C\((\w+)\)", notes))
