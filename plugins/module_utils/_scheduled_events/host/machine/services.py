# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""The services of a VM: their states, and requests to stop, start or pause them, without waiting."""

from __future__ import annotations

import typing as t

from ..health import RunCommand


class ServiceError(Exception):
    """The service manager cannot be reached, or refuses; the message has its answer."""


class ServiceState(t.NamedTuple):
    """One service, as systemd (systemctl(1), properties LoadState, ActiveState and Job) or Windows reports it."""

    name: str
    known: bool
    """Whether the VM has such a service."""
    state: str
    """active, activating, deactivating, inactive, failed, reloading or refreshing. On Windows as ansible.windows.win_service_info returns it."""
    has_job: bool
    """Whether the service manager is about to start or stop it."""
    start_mode: str = ""
    """auto, delayed, manual or disabled. Windows only."""
    exit_code: int = 0
    """The exit code of its last end. Windows only."""
    needed_by: t.Sequence[str] = ()
    """The services that need it. Windows only."""


class Services(t.Protocol):
    """The services of one VM. Raise ServiceError where the service manager cannot be reached."""

    def states(self, names: t.Sequence[str]) -> list[ServiceState]:
        """Return the state of each, in the order given."""

    def stop(self, names: t.Sequence[str]) -> list[str]:
        """Request a stop, without waiting. Return the services that refused it because running services need them."""

    def start(self, names: t.Sequence[str]) -> None:
        """Request a start, without waiting."""

    def pause(self, names: t.Sequence[str]) -> None:
        """Request a pause, without waiting."""


class SystemdServices:
    """The units of systemd on this machine."""

    def __init__(self, run_command: RunCommand) -> None:
        self._run_command = run_command

    def states(self, names: t.Sequence[str]) -> list[ServiceState]:
        output = self._systemctl("show", "--property=Id,LoadState,ActiveState,Job", "--", *names)
        blocks = output.split("\n\n")
        # One answer for each name, or nothing is known: a pattern in names would give several.
        if len(blocks) != len(names):
            raise ServiceError(f"systemctl show answered for {len(blocks)} units and was asked for {len(names)}: {', '.join(names)}")
        return [_state(name, block) for name, block in zip(names, blocks)]

    def stop(self, names: t.Sequence[str]) -> list[str]:
        self._systemctl("stop", "--no-block", "--", *names)
        return []  # systemd also stops the services that need them

    def start(self, names: t.Sequence[str]) -> None:
        self._systemctl("start", "--no-block", "--", *names)

    def pause(self, names: t.Sequence[str]) -> None:
        raise ServiceError("systemd pauses no units")

    def _systemctl(self, *arguments: str) -> str:
        try:
            code, output, errors = self._run_command(["systemctl", *arguments])
        except OSError as error:
            raise ServiceError(f"systemctl cannot be run: {error}")
        if code != 0:
            raise ServiceError(f"systemctl {arguments[0]} ended with exit code {code}: {(errors.strip() or output.strip())[-400:] or 'no output'}")
        return output


def _state(name: str, block: str) -> ServiceState:
    given = dict(line.partition("=")[::2] for line in block.splitlines())
    job = given.get("Job", "")
    return ServiceState(name, given.get("LoadState") != "not-found", given.get("ActiveState", ""), bool(job) and job != "0")
