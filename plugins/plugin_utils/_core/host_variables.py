# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Variables of hosts of the inventory, which may take no part in the play."""

from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleError

from ...module_utils._scheduled_events.core.types import Values


def written(host: str, hostvars: Any) -> Values:
    """Return a host's variables, not templated; none where they cannot be read: a run of other hosts goes on, and a run of this one says why."""
    try:
        found: Values = hostvars.raw_get(host)
    except AnsibleError:
        return {}
    return found
