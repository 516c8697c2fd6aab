# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""The drain methods that run on the VM itself. A new one is a file in methods/, an import here, and its page in the documentation."""

from __future__ import annotations

import typing as t

from ..core.types import Data
from ..host.machine.services import Services
from .methods import service
from .methods.command import CommandMethod
from .methods.galera import GaleraMethod
from .methods.method import Method
from .methods.none import NoMethod
from .methods.pacemaker.pacemaker import PacemakerMethod
from .methods.patroni.patroni import PatroniMethod
from .methods.probe_file import ProbeFileMethod
from .methods.rabbitmq import RabbitMQMethod
from .methods.redis.redis_sentinel import RedisSentinelMethod
from .methods.service import ServiceMethod
from .methods.silence import SilenceMethod
from .methods.slurm.slurm import SlurmMethod
from .methods.windows.iis import IISMethod
from .methods.windows.windows_service import WindowsServiceMethod
from .methods.windows.wsfc import WSFCMethod

METHODS: t.Mapping[str, Method] = {
    method.name: method
    # One a line: each is another change.
    for method in (
        ServiceMethod(),
        ProbeFileMethod(),
        CommandMethod(),
        NoMethod(),
        SlurmMethod(),
        PacemakerMethod(),
        PatroniMethod(),
        RedisSentinelMethod(),
        RabbitMQMethod(),
        GaleraMethod(),
        SilenceMethod(),
    )
}
WINDOWS_METHODS: t.Mapping[str, Method] = {
    method.name: method for method in (WindowsServiceMethod(), ProbeFileMethod(), CommandMethod(), NoMethod(), IISMethod(), WSFCMethod())
}


def methods_of(system: str) -> t.Mapping[str, Method]:
    """Return the methods of linux or windows."""
    return WINDOWS_METHODS if system == "windows" else METHODS


def defaults(name: str, system: str = "linux") -> Data:
    """Return the options of a method that have a default, with it."""
    return {key: option.default for key, option in methods_of(system)[name].options.items() if option.default is not None}


def use_of_unit(unit: str) -> tuple[str, str] | None:
    """Return the name of the method that is for what a systemd unit runs, and of the option where it is one option's alone; or None."""
    for method in METHODS.values():
        if unit in method.units or unit in method.option_units:
            return method.name, method.option_units.get(unit, "")
    return None


def running_units(services: Services) -> list[str]:
    """Return which units that a method is for run on a VM. Raise ServiceError."""
    units = [unit for method in METHODS.values() for unit in (*method.units, *method.option_units)]
    return [one.name for one in services.states(units) if one.state in service.RAN] if units else []


def is_safe_at_once(kind: str, outside: bool) -> bool:
    """Return whether the watcher may begin a method: at once with all others, and without a copy of its record. C(outside): as the settings have it."""
    method = METHODS.get(kind)
    return method is not None and (method.safe_at_once or not (outside or method.outside))
