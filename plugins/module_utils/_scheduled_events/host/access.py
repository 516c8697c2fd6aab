# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""Host access: how an operation reaches one host, from a module on the VM or from an action on the controller. The operations are the same."""

from __future__ import annotations

import traceback
import typing as t

from ..core.printable_text import LONGEST_LINE, printable
from ..core.types import Data, Values

if t.TYPE_CHECKING:
    from ansible.module_utils.basic import AnsibleModule

    from ..discovery.candidates import Places
    from ..imds.transport import Transport
    from .files import Files
    from .machine.machine import Machine
    from .system import Host

Result = Data


class HostAccess(t.NamedTuple):
    """Access to one host, as far as an operation needs it."""

    check_mode: bool
    # Add a warning to the result.
    warn: t.Callable[[str], None]
    # Return the transport to an endpoint; None for the one that connects from this machine.
    connect: t.Callable[[str], Transport] | None = None
    # Return the directory of that path on the host.
    files: t.Callable[[str], Files] | None = None
    # Return the VM, given a boot id or None.
    host: t.Callable[[str | None], Host] | None = None
    # Write one line to the log of the VM's operating system.
    log: t.Callable[[str], None] = lambda line: None
    # Report the progress of a long wait; shown at once or not at all.
    progress: t.Callable[[str], None] = lambda text: None
    # The places to search with endpoint: discover. None, together with no connect, for those of this machine.
    places: t.Callable[[], Places] | None = None
    # Return what drain methods reach of the VM, given its clock.
    machine: t.Callable[[t.Callable[[], str]], Machine] | None = None


class Failed(Exception):
    """An operation failed; ``result`` is what the module returns, with msg."""

    def __init__(self, msg: str, **result: t.Any) -> None:
        super().__init__(msg)
        # A message may contain text from an endpoint, a disk or a load balancer.
        self.result: Result = dict(result, msg=printable(msg, LONGEST_LINE))


Work = t.Callable[[Values, HostAccess], Result]


def run_as_module(module: AnsibleModule, work: Work, **access: t.Any) -> None:
    """Run an operation as a module on the VM itself, with these parts of HostAccess, and end with its result."""
    try:
        result = work(module.params, HostAccess(module.check_mode, module.warn, **access))
    except Failed as failed:
        module.fail_json(**failed.result)
    except (OSError, ValueError) as error:
        module.fail_json(msg=str(error), exception=traceback.format_exc())
    module.exit_json(**result)
