# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""How much history a VM or an archive keeps. By itself, because each module has this option, and few runs of one touch a history."""

from __future__ import annotations

import typing as t

from ..core.limits import FOLDER_BYTES
from ..core.types import Data

# More would not be read again: no listing and no reading of a folder goes beyond (core/limits.py).
MOST = {"entries": 4000, "bytes": FOLDER_BYTES}


class Limits(t.NamedTuple):
    """How much history is kept: the newest entries within all three."""

    entries: int = 200
    bytes: int = 1024 * 1024
    days: int = 400


def limits_argument() -> Data:
    """Return the argument spec of an option that limits a history."""
    return {"type": "dict", "options": {name: {"type": "int", "default": value} for name, value in Limits()._asdict().items()}}
