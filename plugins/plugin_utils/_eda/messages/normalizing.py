# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Any message into the one shape. Nothing here raises, whatever the message is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import event_grid, watcher
from .shape import Reading, unknown


def normalized(message: Any) -> Reading:
    """Return the shapes of one message: one, or with Event Grid's lists of resources one for each event."""
    sender = None
    try:
        sender = sender_of(message)
        if not isinstance(message, Mapping):
            raise ValueError("it is not an object")
        if watcher.is_watcher(message):
            return Reading([watcher.read_watcher(message)])
        if event_grid.is_event_grid(message):
            return event_grid.read_event_grid(message)
        raise ValueError("it is neither a watcher's nor one of Event Grid about maintenance")
    except ValueError as error:
        return Reading([unknown(f"Not a message about scheduled events: {error}.", sender)])
    except Exception as error:  # a message is never a reason for the rulebook to end
        return Reading([unknown(f"Not a readable message: {type(error).__name__}.", sender)])


def sender_of(message: Any) -> str | None:
    """Return who says that it sends, as far as the message tells."""
    if not isinstance(message, Mapping):
        return None
    return event_grid.sender_of(message) if event_grid.is_event_grid(message) else watcher.sender_of(message)
