# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs go by the kinds of blockers: the documentation of filter plan has all of them, in the order in which they are told."""

from __future__ import annotations

import pathlib
import re

import yaml

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core.blocker import KINDS

ROOT = pathlib.Path(__file__).resolve().parents[3]


def test_each_kind_is_documented_in_order() -> None:
    returned = yaml.safe_load((ROOT / "plugins" / "filter" / "plan.yml").read_text())["RETURN"]
    (told,) = [text for text in returned["_value"]["description"] if text.startswith("Kinds of blockers")]
    assert re.findall(r"\bC\((\w+)\)", told) == list(KINDS)
