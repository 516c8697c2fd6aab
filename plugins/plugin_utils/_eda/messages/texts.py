# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Values out of a message of unknown origin: bounded, and harmless wherever a rulebook or a playbook puts them.

A rulebook renders its arguments with Jinja2, and Ansible renders the extra variables that come of it once more. So no text leaves here with the beginning of a
template or Ansible's override header in it, and a name only if it could be one of Azure's: a pattern of hosts is none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ....module_utils._scheduled_events.core.names import folded
from ....module_utils._scheduled_events.core.printable_text import printable

LONGEST_WORD = 120
LONGEST_TEXT = 1000
LONGEST_NAME = 260
LONGEST_RESOURCE_ID = 1000
# One event may name all VMs of a scale set.
MOST_NAMES = 1000

# Jinja2's own delimiters, and the header "#jinja2:" by which a text chooses delimiters of its own. Ansible reads the header at the beginning of a text only.
# Here it is broken everywhere and in any case, because a rulebook may trim, split or lower a text before Ansible gets it.
TEMPLATE = re.compile(r"\{(?=[{%#])|#(?=jinja2:)", re.IGNORECASE)
GUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
NAME = re.compile(r"[^\W_][\w.-]*")
RESOURCE_ID = re.compile(r"(?:/[\w.() -]+)+")
# The part of a resource id that stands behind the VM's own.
EVENT_BELOW_VM = re.compile(r"/providers/microsoft\.maintenance/.*", re.IGNORECASE | re.DOTALL)


def text(value: Any, limit: int = LONGEST_TEXT) -> str | None:
    """Return a text for people, on one line and without the beginning of a template; None for what is no text."""
    # A blank behind the first character breaks each of them.
    return TEMPLATE.sub(r"\g<0> ", printable(value, limit)) if isinstance(value, str) else None


def word(value: Any) -> str | None:
    """Return a short text."""
    return text(value, LONGEST_WORD)


def event_id(value: Any) -> str | None:
    """Return an EventId in lower case, or None if it has not the form of a GUID, as each of Azure's has."""
    return folded(value) if isinstance(value, str) and len(value) < LONGEST_WORD and GUID.fullmatch(value.strip()) else None


def name(value: Any) -> str | None:
    """Return the name of a VM as it is, or None if Azure does not allow such a name."""
    return value if isinstance(value, str) and len(value) <= LONGEST_NAME and NAME.fullmatch(value) else None


def resource_id(value: Any) -> str | None:
    """Return the resource id of a VM; that of an event below it is shortened. None for what is no resource id."""
    if not isinstance(value, str) or len(value) > LONGEST_RESOURCE_ID:
        return None
    shortened = EVENT_BELOW_VM.sub("", value)
    return shortened if RESOURCE_ID.fullmatch(shortened) else None


def names(values: Any) -> list[str]:
    """Return the names of VMs in a list, each once; what is none of Azure's names is left out."""
    found = (name(value) for value in values[:MOST_NAMES]) if isinstance(values, list) else ()
    return list(dict.fromkeys(value for value in found if value is not None))


def member(value: Any, *keys: str) -> Any:
    """Return what is below the keys of nested mappings, or None."""
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value
