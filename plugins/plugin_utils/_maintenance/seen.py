# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The same event seen by many VMs is one event."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.model import Event, Host, Identity
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.reading import read_event


@dataclass(slots=True)
class Seen:
    """One event: its versions, who lists it now, and whose record remembers it."""

    key: str
    versions: list[Event] = field(default_factory=list)
    listed_by: list[Host] = field(default_factory=list)
    remembered_by: list[Host] = field(default_factory=list)
    forms: list[tuple[Any, ...]] = field(default_factory=list)
    scopes: list[Identity] = field(default_factory=list)
    recorded: list[Event] = field(default_factory=list)

    @property
    def listed(self) -> bool:
        """Whether any VM's present document has it."""
        return bool(self.listed_by)

    @property
    def only_spoken_of(self) -> bool:
        """Whether nobody lists it, nothing was done for it, and all that remains is what people said about it."""
        if self.listed_by or len(self.recorded) > len(self.remembered_by):
            return False
        looks = [(host.look or host.last_look) for host in self.remembered_by]
        return all(look is not None and look.records[self.key].only_carries for look in looks)


def _form(ok: bool, given: Mapping[str, Any]) -> tuple[Any, ...]:
    """What tells versions apart, cheap: most VMs list an event exactly as the one before did."""
    get = given.get
    return (
        ok,
        get("event_status"),
        get("not_before"),
        get("resources"),
        get("event_type"),
        get("event_source"),
        get("duration_in_seconds"),
    )


def collect(hosts: Iterable[Host]) -> list[Seen]:
    """All events, those that are listed and those that are only remembered, in the order in which they turn up."""
    events: dict[str, Seen] = {}
    scopes: dict[Identity, Identity] = {}
    for host in hosts:
        # What a VM said before it went silent shows that the event exists, and never that it is listed now.
        look = host.look or host.last_look
        if look is None:
            continue
        ok, identity = host.ok, look.identity
        found = Identity(group=identity.group, subscription=identity.subscription)
        scope = scopes.setdefault(found, found)
        for key, given in look.listed.items():
            seen = events.get(key)
            if seen is None:
                seen = events[key] = Seen(key)
            if scope not in seen.scopes:
                seen.scopes.append(scope)
            if ok:
                seen.listed_by.append(host)
            form = _form(ok, given)
            if form not in seen.forms:
                seen.forms.append(form)
                event = read_event(given)
                if event is not None:
                    (seen.versions if ok else seen.recorded).append(event)
        for key, record in look.records.items():
            seen = events.get(key)
            if seen is None:
                seen = events[key] = Seen(key)
            if scope not in seen.scopes:
                seen.scopes.append(scope)
            seen.remembered_by.append(host)
            seen.recorded.append(record.event)
    return list(events.values())


def present_versions(seen: Seen) -> list[Event]:
    """The versions that count: those of documents before those of records, Started before Scheduled."""
    versions = seen.versions or seen.recorded
    return [version for version in versions if version.started] or versions


def merge(seen: Seen) -> Event:
    """One event from what many say: the later status, the earlier time, and every VM that anybody names."""
    versions = present_versions(seen)
    first = versions[0]
    if len(versions) == 1:
        return first
    timed = [version for version in versions if version.not_before is not None]
    earliest = min(timed, key=lambda version: version.not_before or 0.0, default=first)
    resources = list(dict.fromkeys(name for version in versions for name in version.resources))
    values = {**first.values, "not_before": earliest.values.get("not_before"), "resources": resources}
    return Event(first.key, values, tuple(resources), earliest.not_before)
