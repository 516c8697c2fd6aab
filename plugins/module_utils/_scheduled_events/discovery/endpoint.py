# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Open a client for the option endpoint: an address, or "discover"."""

from __future__ import annotations

import typing as t

from ..core.argument_specs import DISCOVER
from ..core.clock import Clock
from ..core.errors import ScheduledEventsError
from ..core.types import Values
from ..imds.client import Client
from ..imds.transport import LocalTransport, Transport

if t.TYPE_CHECKING:
    from ..host.access import HostAccess


def open_client(options: Values, access: HostAccess | None = None, clock: Clock | None = None, transport: Transport | None = None) -> Client:
    """Open a client from a module's options (core/argument_specs.shared_arguments). Raise ScheduledEventsError if one cannot be used."""
    return Client(
        transport or _transport(options["endpoint"], options, access, clock),
        api_version=options["api_version"],
        retries=options["retries"],
        connect_timeout=options["connect_timeout"],
        request_timeout=options["request_timeout"],
        clock=clock,
        warn=access.warn if access else None,
    )


def _transport(endpoint: str, options: Values, access: HostAccess | None, clock: Clock | None) -> Transport:
    connect = (access.connect if access else None) or LocalTransport
    if endpoint.strip().lower() != DISCOVER:
        return connect(endpoint)
    # Imported here only: with an address in the option, nothing is loaded.
    from .candidates import DiscoveringTransport, LocalPlaces

    places = access.places if access else None
    if places is None and connect is not LocalTransport:
        # This machine's places say nothing about another machine.
        raise ScheduledEventsError("endpoint: discover is not possible on this VM. Give the option endpoint as http://ADDRESS.", "bad_option")
    return DiscoveringTransport((places or LocalPlaces)(), connect, options, clock)
