# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""A machine on which no call of a drain method takes longer than it may: another run may act as soon as this run's lease has run out."""

from __future__ import annotations

import typing as t

from .commands import CommandLine, CommandResult, Commands
from .machine import Machine

if t.TYPE_CHECKING:
    from .daemons import Daemon, Daemons, Reply

Limit = t.Callable[[float], float]
"""Return how many of the wanted seconds a call may take. Raise where that is none."""


def with_limit(machine: Machine, limit: Limit) -> Machine:
    """Return the machine with the commands and the daemons under a limit."""
    limited = machine._replace(commands=_Commands(machine.commands, limit))
    daemons = machine.daemons
    return limited if daemons is None else limited._replace(daemons=lambda *named: _Daemons(daemons(*named), limit))


class _Commands:
    def __init__(self, commands: Commands, limit: Limit) -> None:
        self._commands = commands
        self._limit = limit

    def run(self, line: CommandLine, environment: t.Mapping[str, str], seconds: float) -> CommandResult:
        return self._commands.run(line, environment, self._limit(seconds))


class _Daemons:
    def __init__(self, daemons: Daemons, limit: Limit) -> None:
        self._daemons = daemons
        self._limit = limit

    def request(self, daemon: Daemon, method: str, path: str, body: bytes | None = None, headers: t.Mapping[str, str] | None = None) -> Reply:
        return self._daemons.request(daemon._replace(seconds=self._limit(daemon.seconds)), method, path, body, headers)

    def exchange(self, daemon: Daemon, data: bytes, is_complete: t.Callable[[bytes], bool]) -> bytes:
        return self._daemons.exchange(daemon._replace(seconds=self._limit(daemon.seconds)), data, is_complete)

    def secret(self, path: str) -> str:
        return self._daemons.secret(path)
