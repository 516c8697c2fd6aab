# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The same objects as the variables of infra.aap_configuration, which make them by ansible.controller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.maintenance.azure.plugins.plugin_utils._awx.kinds import KINDS


def variables(objects: Sequence[Mapping[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Name of the variable -> its list, empty ones left out. Its entries have the options of the modules, and so need no other form."""
    found = {kind.aap: [dict(one["arguments"]) for one in objects if one["kind"] == kind.name and one["made"]] for kind in KINDS}
    return {name: entries for name, entries in found.items() if entries}
