# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""VMs that have left a play amid their upgrade: their tasks have ended the host. No task runs for them there, so another one's task has to find them."""

from __future__ import annotations

from collections.abc import Sequence

from ...module_utils._scheduled_events.core.types import Values
from .._core.plain_values import flag

# What role upgrade sets on a VM from the begin of its upgrade to its end.
INSIDE = "__upgrade_inside"
ENDED = (
    "{} left the play amid the upgrade: the tasks ended the host (meta: end_host, end_batch, end_role or end_play; use when: or a block), or it could not be "
    "reached any more. It may be out of service and is leased: a later play with tasks ended.yml of role upgrade puts it back, and the next run of the "
    "upgrade goes on with it."
)


def inside(hosts: Sequence[str], variables: Values) -> list[str]:
    """Return those of the hosts whose upgrade has begun and not ended. Their variables are not templated, which would take longer than a batch."""
    views = variables.get("hostvars")
    return [host for host in hosts if views is not None and flag(views.raw_get(host).get(INSIDE)) is True]
