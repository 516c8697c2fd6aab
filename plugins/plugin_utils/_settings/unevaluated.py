# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""Say in one line why an option cannot be evaluated: its name, and what is not defined. Core's own report has a chain of causes, and not that name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ...module_utils._scheduled_events.core.printable_text import LONGEST_LINE, printable
from .._core.plain_values import mapping
from .._core.short_forms import suggestion

UNDEFINED = re.compile(r"'(?P<name>[^'\n]{1,100})' is undefined|has no attribute '(?P<key>[^'\n]{1,100})'")
LONGEST_ERROR = 200


def why(option: str, error: Exception, variables: Mapping[str, Any]) -> str:
    """Return why an option cannot be evaluated. C(variables) are those that it was evaluated with."""
    message = str(error).strip()
    found = UNDEFINED.search(message)
    if found is None:
        first = message.splitlines()[0][:LONGEST_ERROR].rstrip(".") if message else type(error).__name__
        words = f"it cannot be evaluated: {first}"
    elif found["name"]:
        words = f"'{found['name']}' is undefined{suggestion(found['name'], map(str, variables))}"
    elif _is_group(found["key"], variables.get(option)):
        words = f"the inventory has no group {found['key']}{suggestion(found['key'], map(str, mapping(variables.get('groups'))))}"
    else:
        words = f"'{found['key']}' is undefined, a key or attribute in its template"
    return printable(f"{option}: {words}.", LONGEST_LINE)


def _is_group(key: str, template: Any) -> bool:
    """Return whether a template takes this key of C(groups)."""
    name = re.escape(key)
    return re.search(rf"\bgroups(?:\.{name}\b|\[\\*['\"]{name}\\*['\"]\])", str(template)) is not None
