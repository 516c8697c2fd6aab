# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""The parts of a VM that drain methods use: its clock, commands, services, flag files and connections."""

from __future__ import annotations

import typing as t

from ..health import RunCommand
from .commands import Commands, LocalCommands
from .connections import Connections, LocalConnections
from .failover_cluster import FailoverCluster
from .flag_files import FlagFiles, LocalFlagFiles
from .services import Services, SystemdServices
from .web_server import WebServer

if t.TYPE_CHECKING:
    from .daemons import Daemons


def _never_lost(error: BaseException) -> bool:
    return False


class Machine(t.NamedTuple):
    """One VM, as drain methods reach it."""

    now: t.Callable[[], str]
    """Return the VM's clock in the form of utc_text."""
    commands: Commands
    services: Services
    flag_files: FlagFiles
    connections: Connections
    system: str = "linux"
    """linux or windows."""
    web_server: WebServer | None = None
    """IIS; None on Linux."""
    is_lost: t.Callable[[BaseException], bool] = _never_lost
    """Return whether an error means that the VM is not reachable any more. Such an error is raised again: nothing has failed on the VM."""
    failover_cluster: FailoverCluster | None = None
    """The failover cluster that the VM may be a node of; None on Linux."""
    daemons: t.Callable[..., Daemons] | None = None
    """Return the access to the daemons of the VM, and to those at the addresses that are given. None on Windows."""


def _local_daemons(named: t.Sequence[str] = ()) -> Daemons:
    # Imported here only: few methods talk to daemons, and a module compiles what it imports each time.
    from .daemons import LocalDaemons

    return LocalDaemons(named)


def local_machine(now: t.Callable[[], str], run_command: RunCommand) -> Machine:
    """Return this machine. ``run_command`` runs a list of arguments, with messages in English."""
    return Machine(now, LocalCommands(), SystemdServices(run_command), LocalFlagFiles(), LocalConnections(), daemons=_local_daemons)
