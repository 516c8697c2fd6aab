# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""Compare EventIds and names of resources as Azure does: without case, and without spaces around them."""

from __future__ import annotations

import typing as t


def folded(name: t.Any) -> str:
    """Return an id or a name as it compares: equal ids are equal texts. The text itself is sent back and shown as received."""
    return str(name).strip().lower()
