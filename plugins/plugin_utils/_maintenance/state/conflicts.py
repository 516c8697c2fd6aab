# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Documents that contradict each other about one event. Azure gives all its VMs the same document, so one of them is old, or one VM lies.

The plan cannot tell which. So a conflict holds the approval, and each VM drains by its own document. Documents are read one after
the other: differing ones are read once more before they count as a conflict.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..._core.short_forms import some
from ..core.model import Event, Host, value
from .observed_event import ObservedEvent

SHOWN = 5
Form = tuple[Any, ...]


@value
class Conflict:
    """The result of comparing the documents."""

    text: str | None = None
    """Why the approval is held."""
    again: tuple[str, ...] = ()
    """Hosts whose documents must be read once more before they count as a conflict."""
    remarks: tuple[str, ...] = ()
    """How VMs that the event does not name list it differently, which has no effect."""


def find(seen: ObservedEvent, participants: Mapping[str, Host], contradicted: Iterable[Host]) -> Conflict:
    """Compare the documents of an event's VMs. C(contradicted) are VMs that other documents name and their own does not."""
    documents = {name: seen.documents[name] for name in participants if name in seen.documents}
    versions = _versions(documents)
    named = frozenset(name for event in documents.values() for name in event.names)
    denying = [host for host in contradicted if host.own_name in named]
    remarks = tuple(_strangers(seen, participants, versions))
    if len(versions) < 2 and not denying:
        return Conflict(remarks=remarks)
    hosts = [participants[name] for name in documents] + [host for host in denying if host.name not in documents]
    again = tuple(host.name for host in hosts if not host.is_settled(seen.key))
    denials = [f"{host.name}: {'listed, and it does not name itself' if host.name in seen.documents else 'not listed'}" for host in denying]
    said = "; ".join([*(f"{some(names, SHOWN)}: {_shown(event)}" for names, event in versions), *denials])
    if again:
        return Conflict(f"its VMs' documents differ and are read once more ({said})", again, remarks)
    return Conflict(f"its VMs' documents contradict each other ({said}); it is not approved until they agree", (), remarks)


def _same(event: Event) -> Form:
    """Return the fields that must be equal in all documents. The id compares without case, and the order of names does not matter."""
    values = event.values
    times = (values.get("event_status"), values.get("not_before"))
    return (*times, values.get("event_type"), values.get("event_source"), values.get("duration_in_seconds"), event.names)


def _versions(documents: Mapping[str, Event]) -> list[tuple[list[str], Event]]:
    """Return the different versions, each with the hosts that list it."""
    found: dict[Form, tuple[list[str], Event]] = {}
    forms: dict[int, Form] = {}
    for name, event in documents.items():
        form = forms.get(id(event)) or forms.setdefault(id(event), _same(event))
        found.setdefault(form, ([], event))[0].append(name)
    return list(found.values())


def _strangers(seen: ObservedEvent, participants: Mapping[str, Host], versions: list[tuple[list[str], Event]]) -> Iterable[str]:
    """Return how VMs that the event does not name list it differently from its own VMs."""
    if not versions or len(seen.documents) == len(participants):
        return
    known = {_same(event) for _names, event in versions}
    # One document may have been read before the event started.
    started = {_same(event)[2:] for _names, event in versions if event.started}

    def differs(event: Event) -> bool:
        return _same(event) not in known and (event.started or _same(event)[2:] not in started)

    # A few versions are compared, and not the documents of hundreds of VMs.
    other = {id(event) for event in seen.versions if differs(event)}
    if other:
        for names, event in _versions({name: event for name, event in seen.documents.items() if id(event) in other and name not in participants}):
            yield f"{some(names, SHOWN)} {'lists' if len(names) == 1 else 'list'} it otherwise than its VMs do ({_shown(event)}), which has no effect"


def _shown(event: Event) -> str:
    source = event.values.get("event_source")
    text = [event.event_type, str(event.values.get("event_status")), f"NotBefore {event.values.get('not_before') or 'none'}"]
    duration = event.values.get("duration_in_seconds")
    text += [f"source {source}"] if source else []
    text += [] if duration is None else [f"{duration} s"]
    return f"{' '.join(text)} of {some(event.resources, SHOWN)}"
