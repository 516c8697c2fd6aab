# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The options of this collection's roles, as ansible-doc describes them."""

from __future__ import annotations

import functools
import pathlib
from typing import Any

import yaml

from ...module_utils._scheduled_events.core.types import Data


@functools.lru_cache(maxsize=16)
def entry_points(role: str) -> Data:
    """Return the argument_specs of a role of this collection, by entry point."""
    path = pathlib.Path(__file__).resolve().parents[3] / "roles" / role / "meta" / "argument_specs.yml"
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    with path.open(encoding="utf-8") as file:
        found: Data = yaml.load(file, Loader=loader)["argument_specs"]  # noqa: S506  a safe loader, the fast one if available
    return found
