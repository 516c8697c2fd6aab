# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Collect the versions of an event from many VMs into one event."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ..core.model import Event, Host, Identity


@dataclass
class ObservedEvent:
    """One event: the VMs that list it now, their versions of it, and the VMs that have a record of it."""

    key: str
    listed_by: list[Host] = field(default_factory=list)
    named_by: list[Host] = field(default_factory=list)
    """Those of them that find their own names in it."""
    documents: dict[str, Event] = field(default_factory=dict)
    """By host: the event as that VM's own good document has it now. Equal versions are the same object."""
    remembered_by: list[Host] = field(default_factory=list)
    scopes: dict[Identity, None] = field(default_factory=dict)
    scope: Identity | None = None
    """The last of them."""
    recorded: list[Event] = field(default_factory=list)
    """Versions that no present document has: those of records, and of VMs that no longer answer."""

    @property
    def listed(self) -> bool:
        """Return whether any VM's present document has it."""
        return bool(self.listed_by)

    @cached_property
    def versions(self) -> list[Event]:
        """Return the different versions in present documents, in the order of the hosts. Asked for when all VMs are collected."""
        found = self.documents.values()
        return list(dict(zip(map(id, found), found)).values())

    @property
    def only_has_overrides(self) -> bool:
        """Return whether no VM lists it, nothing was done for it, and only overrides are left in its records."""
        if self.listed_by or len(self.recorded) > len(self.remembered_by):
            return False
        return all((record := host.record(self.key)) and record.only_has_overrides for host in self.remembered_by)


def collect(hosts: Iterable[Host]) -> list[ObservedEvent]:
    """Return all events, whether listed or only recorded, in the order of the hosts."""
    events: dict[str, ObservedEvent] = {}
    scopes: dict[tuple[str | None, str | None], Identity] = {}
    for host in hosts:
        # The last answer of a VM that no longer answers shows that the event exists, and never that it is listed now.
        observation = host.last_known
        if observation is None:
            continue
        group, subscription = observation.identity.group, observation.identity.subscription
        scope = scopes.get((group, subscription)) or scopes.setdefault((group, subscription), Identity(group=group, subscription=subscription))
        present, name, own_name = host.ok, host.name, host.own_name
        for key, event in observation.listed.items():
            seen = events.get(key) or events.setdefault(key, ObservedEvent(key))
            if scope is not seen.scope:
                # To ask a dictionary for each VM and event would take longer than all else here.
                seen.scope = scope
                seen.scopes[scope] = None
            if present:
                seen.listed_by.append(host)
                seen.documents[name] = event
                if own_name in event.names:
                    seen.named_by.append(host)
            elif event not in seen.recorded:
                seen.recorded.append(event)
        for key, record in observation.records.items():
            seen = events.get(key) or events.setdefault(key, ObservedEvent(key))
            seen.scopes[scope] = None
            seen.remembered_by.append(host)
            seen.recorded.append(record.event)
    return [seen for seen in events.values() if seen.documents or seen.recorded]


def merge(versions: Sequence[Event]) -> Event:
    """Return one event from all versions: the first one, Started before Scheduled, with every VM that any version names."""
    first = next((version for version in versions if version.started), versions[0])
    resources = tuple(dict.fromkeys(name for version in versions for name in version.resources))
    if resources == first.resources:
        return first
    return Event(first.key, {**first.values, "resources": list(resources)}, resources, first.not_before)
