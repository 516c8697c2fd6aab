# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Select events: the filters that all modules share, and one read of the document through them."""

from __future__ import annotations

import typing as t

from ..core.argument_specs import Spec, selection_arguments, shared_arguments
from ..core.errors import ScheduledEventsError
from ..core.types import Data, Values
from ..discovery.endpoint import open_client
from ..host.access import Failed, HostAccess, Result
from ..imds.client import Client
from ..imds.document import Event, flag_own, names_vm, same_id, same_name

Selection = Values

# Option, and the key of the event that it filters by.
FIELDS = (("event_types", "event_type"), ("event_statuses", "event_status"), ("event_sources", "event_source"))


def select(events: t.Iterable[Event], selection: Selection, vm_name: str | None = None) -> list[Event]:
    """Return the events that pass every given filter; an absent or empty filter lets all pass."""
    if selection.get("affecting") == "this_vm" and vm_name is None:
        raise ScheduledEventsError("affecting is this_vm, but this VM's own name is not known. Give it with the option vm_name.", "not_found")
    return [event for event in events if _is_selected(event, selection, vm_name)]


def _is_selected(event: Event, selection: Selection, vm_name: str | None) -> bool:
    wanted_ids = selection.get("event_ids")
    if wanted_ids and not any(same_id(event["event_id"], wanted) for wanted in wanted_ids):
        return False
    for option, key in FIELDS:
        wanted_values = selection.get(option)
        if wanted_values and not any(same_name(event[key] or "", wanted) for wanted in wanted_values):
            return False
    wanted_names = selection.get("resources")
    if wanted_names and not any(names_vm(event["resources"], wanted) for wanted in wanted_names):
        return False
    return selection.get("affecting") != "this_vm" or names_vm(event["resources"], vm_name or "")


def read_events(client: Client, selection: Selection, vm_name: str | None = None) -> Data:
    """Return the selected events of one document, as this VM serves it. Raise ScheduledEventsError."""
    # Read the document first: at an address that does not answer, one attempt is enough.
    document = client.get_document()
    if not vm_name:
        vm_name = _own_name(client, selection)
    flag_own(document.events, vm_name)
    return {
        "events": select(document.events, selection, vm_name),
        "document_incarnation": document.incarnation,
        "vm_name": vm_name,
        "api_version": client.api_version,
        **client.where(),
    }


def _own_name(client: Client, selection: Selection) -> str | None:
    try:
        return client.get_vm_name()
    except ScheduledEventsError as error:
        if selection.get("affecting") == "this_vm":
            raise
        client.warn(f"This VM's own name is not known, so affects_this_vm is null: {error}")
        return None


def info_arguments() -> Spec:
    """Return the argument spec of scheduled_events_info."""
    return dict(**shared_arguments(), **selection_arguments())


def info(options: Values, access: HostAccess) -> Result:
    """Run the operation of scheduled_events_info on one host. Raise Failed."""
    try:
        client = open_client(options, access)
        return dict(read_events(client, options, options["vm_name"]), changed=False)
    except ScheduledEventsError as error:
        raise Failed(str(error), error_kind=error.kind, vm_name=options["vm_name"])
