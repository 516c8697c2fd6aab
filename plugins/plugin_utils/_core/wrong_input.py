# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The error about what an operator has written, or a play has passed on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .short_forms import suggestion


class WrongInput(ValueError):
    """Input that cannot be used; the message names it and says what is wrong, or what to write."""


def refuse_unknown(source: Iterable[str], keys: Sequence[str], label: str) -> None:
    """Raise WrongInput for a dictionary with other keys than these."""
    if unknown := sorted(set(source) - set(keys)):
        shown = ", ".join(f"{key}{suggestion(key, keys)}" for key in unknown)
        raise WrongInput(f"{label}: unknown keys {shown}; there are {', '.join(keys)}")
