# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The same objects as variables of infra.aap_configuration, which creates them with ansible.controller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .kinds import KINDS


def variables(objects: Sequence[Mapping[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Return the lists of entries by variable, without empty ones. Entries have the modules' options, so they need no conversion."""
    found = {kind.aap: [dict(one["arguments"]) for one in objects if one["kind"] == kind.name and one["made"]] for kind in KINDS}
    return {name: entries for name, entries in found.items() if entries}
