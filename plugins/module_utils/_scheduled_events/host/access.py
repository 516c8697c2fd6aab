# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""What differs between working on the VM itself and working from the controller. The work is the same code."""

from __future__ import annotations

import typing as t

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.printable_text import LONGEST_LINE, printable

if t.TYPE_CHECKING:
    from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.discovery.candidates import Places
    from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.files import Files
    from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine import Machine
    from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.system import Host
    from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.imds.transport import Transport

Result = t.Dict[str, t.Any]


class HostAccess(t.NamedTuple):
    """How to reach what a piece of work needs. What a module does not need, it leaves out."""

    check_mode: bool
    # Shown to people beside the result.
    warn: t.Callable[[str], None]
    # An endpoint to the transport that asks it; None for the one that asks from this machine.
    connect: t.Callable[[str], Transport] | None = None
    # A path to the directory there.
    files: t.Callable[[str], Files] | None = None
    # A given boot id, or none, to the VM.
    host: t.Callable[[str | None], Host] | None = None
    # One line for the log of the VM's operating system.
    tell: t.Callable[[str], None] = lambda line: None
    # How a long wait goes; shown at once or not at all.
    progress: t.Callable[[str], None] = lambda text: None
    # Where to look with endpoint: discover. None, together with no connect, for the places of this machine.
    places: t.Callable[[], Places] | None = None
    # A VM's clock to what drain methods reach of that VM.
    machine: t.Callable[[t.Callable[[], str]], Machine] | None = None


class Failed(Exception):
    """The work failed; ``result`` is what the module returns, with msg."""

    def __init__(self, msg: str, **result: t.Any) -> None:
        super().__init__(msg)
        # What comes back from an endpoint, a disk or a balancer may stand in it.
        self.result: Result = dict(result, msg=printable(msg, LONGEST_LINE))


Work = t.Callable[[t.Mapping[str, t.Any], HostAccess], Result]
