# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Blockers of a batch: each reason with its message, its kind and its subject."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ....module_utils._scheduled_events.core.types import Data, Values
from ....module_utils._scheduled_events.lease.lease_schema import UPGRADE
from ..._core import plain_values
from ..budget import allocation
from ..budget.budget import Budget
from ..config.settings import Settings
from ..core import timestamps
from ..core.blocker import Blocker
from ..core.model import Host, Lease, Observation, Record
from ..decide import leases
from ..decide.leases import Leases
from ..state import presence
from ..state.event_state import EventState
from .gate_request import KNOWN_TYPES, GateRequest

KNOWN = frozenset(one.lower() for one in KNOWN_TYPES)


def shown(blocker: Blocker) -> Data:
    """Return a blocker as the gate's answer shows it. Its subjects are a VM of the batch and an event, as far as it is about them."""
    host, event_id = (*blocker.subjects, None, None)[:2]
    return {"kind": blocker.kind, "text": blocker.text, "host": host, "event_id": event_id, "wait": blocker.wait}


def counts(event_state: EventState, ask: GateRequest) -> bool:
    """Return whether a listed event blocks. An event that may start at any moment always does, however far its NotBefore."""
    kind = event_state.event.event_type.lower()
    if ask.types and kind in KNOWN and kind not in ask.types:
        return False
    return event_state.coming or ask.horizon is None or event_state.left is None or event_state.left <= ask.horizon


def touched(event_state: EventState, batch: Mapping[str, Host]) -> list[str]:
    """Return the VMs of the batch that the event names. A VM that finds its own name in its own document is named, even if another VM has that name.

    A VM of unknown name may be any name that no other VM has.
    """
    hit = {participant.host.name for participant in event_state.hit}
    open_names = bool(event_state.named.unmanaged or event_state.named.unsure)

    def is_named(host: Host) -> bool:
        if host.observation is None:
            return False
        own = event_state.seen.documents.get(host.name)
        return (own is not None and host.identity.name in own.names) if host.identity.name else open_names

    return [name for name, host in batch.items() if name in hit or is_named(host)]


def of_pause(ask: GateRequest, batch: Mapping[str, Host], settings: Settings, now: float) -> list[Blocker]:
    """Return the pause of the fleet, for VMs that this upgrade has not taken out of service yet. What is out has to come back: an upgrade goes on with it."""
    pause = settings.paused
    first = next((name for name in ask.batch if not _is_under_way(ask, batch.get(name))), None)
    if pause is None or not pause.holds(now) or first is None:
        return []
    return [Blocker("paused", f"{pause.text}; to begin the batch now, {pause.hold.way_out}", wait=pause.until - now)]


def _is_under_way(ask: GateRequest, host: Host | None) -> bool:
    """Return whether the VM is out of service for this upgrade, by its record or as its progress mark says that only its recovery is missing."""
    observation = host.observation if host else None
    if observation is None:
        return False
    record = observation.records.get(ask.lease_id.lower())
    return (record is not None and allocation.is_out(record)) or (ask.marks and observation.marks.get(ask.upgrade) == "upgraded")


# --- The VMs of the batch ------------------------------------------------------------------------------------------------


def of_observations(ask: GateRequest, hosts: Mapping[str, Host], settings: Settings) -> list[Blocker]:
    """Return the VMs of the batch that were not observed or whose empty list proves nothing."""
    found = []
    for name in ask.batch:
        host = hosts.get(name)
        if host is None or host.observation is None:
            found.append(Blocker("unread", f"{name} {_unread(host)}", (name,)))
    # Only of the batch: another member of its groups could block for ever with its answers; it counts as unavailable (of_capacity).
    for host in [hosts[name] for name in ask.batch if name in hosts]:
        left = presence.enabling_left(host.observation, settings) if host.observation else 0.0
        if left > 0 and host.observation and not host.observation.listed:
            message = f"Scheduled Events were enabled just now on {host.name}, so an empty list proves nothing for {timestamps.duration(left)} yet"
            found.append(Blocker("enabling", message, (host.name,), wait=left))
    return found


def _is_new(host: Host, settings: Settings) -> bool:
    return host.observation is not None and not host.observation.listed and presence.enabling(host.observation, settings)


def _unread(host: Host | None) -> str:
    if host is None:
        return "is in the batch and was not observed"
    if host.state == "excluded":
        return "is left alone (respond_exclude), so it was not observed"
    return "is retired" if host.state == "retired" else f"could not be read: {host.error or 'no reason given'}"


# --- Events --------------------------------------------------------------------------------------------------------------


def of_events(event_states: Iterable[EventState], batch: Mapping[str, Host], ask: GateRequest, settings: Settings) -> list[Blocker]:
    """Return the events that affect the batch: listed, in progress by a record, or over for too short a time."""
    found = []
    for event_state in event_states:
        if event_state.key == ask.lease_id.lower():
            continue  # a drain by an earlier run of this upgrade, which this run continues
        names = touched(event_state, batch)
        found += [_differing(event_state, name) for name in event_state.contradicted if name in batch and not batch[name].is_settled(event_state.key)]
        listed = event_state.listed and bool(names) and counts(event_state, ask)
        if listed:
            text = f"{_event(event_state)} names {', '.join(names)}; {_when(event_state)}"
            found.append(Blocker("event", text, (names[0], event_state.event.event_id), wait=_until(event_state)))
            continue
        found += [one for name, host in batch.items() if (one := _of_record(event_state, name, host.observation, ask, settings))]
    return found


def _differing(event_state: EventState, name: str) -> Blocker:
    message = f"{_event(event_state)} may name {name}: another VM lists it so, and {name} itself does not; its document is read once more"
    return Blocker("event", message, (name, event_state.event.event_id))


def _event(event_state: EventState) -> str:
    return f"{event_state.event.event_type} {event_state.event.event_id}"


def _when(event_state: EventState) -> str:
    if event_state.started:
        return "it has started"
    if event_state.approved:
        return "it was approved"
    return (
        "it may start any moment"
        if event_state.left is None or event_state.left <= 0
        else f"it starts in {timestamps.duration(event_state.left)}, or when it is approved"
    )


def _until(event_state: EventState) -> float | None:
    return event_state.left if event_state.left is not None and event_state.left > 0 else None


def _of_record(event_state: EventState, name: str, observation: Observation | None, ask: GateRequest, settings: Settings) -> Blocker | None:
    """Return the blocker of an event in the VM's record, or None."""
    record = observation.records.get(event_state.key) if observation else None
    if observation is None or record is None or record.only_has_overrides:
        return None
    event_id = record.event.event_id
    # A restart that an earlier run of this upgrade ordered and approved: the upgrade's own finished restarts do not block it.
    own = event_state.key not in observation.listed and not record.needs_undo and record.rule.get("upgrade") == ask.upgrade
    if allocation.is_out(record) and not own:
        return Blocker("record", f"{name} is {record.phase} for {record.event.event_type} {event_id}, and not back yet", (name, event_id))
    if event_state.key in observation.listed or event_state.key.startswith(UPGRADE):
        return None  # listed, and it does not count; or the drain of another upgrade, which ends by itself
    since = _last(record, observation.now)
    quiet = max(ask.quiet_seconds, settings.gone_seconds)
    left = quiet - (observation.now - since)
    if left <= 0:
        return None
    ago, wanted = timestamps.duration(observation.now - since), timestamps.duration(quiet)
    message = f"{record.event.event_type} {event_id} of {name} was last seen {ago} ago; it must be quiet for {wanted}"
    return Blocker("recent", message, (name, event_id), wait=left)


def _last(record: Record, now: float) -> float:
    """Return when the event was last known of. A time in the future counts as now: the clock was set back."""
    times = [at for _phase, at in record.history] + [record.missing_since or 0.0]
    return min(max(times), now)


# --- Events of earlier observations --------------------------------------------------------------------------------------


def of_memory(seen: Values, event_states: Iterable[EventState], ask: GateRequest, settings: Settings, now: float) -> list[Blocker]:
    """Return events of the batch that an earlier observation listed and no VM lists any more. Without respond there are no records of them."""
    listed = {event_state.key for event_state in event_states if event_state.listed}
    found = []
    quiet = max(ask.quiet_seconds, settings.gone_seconds)
    for key, given in plain_values.mapping(seen).items():
        one = plain_values.mapping(given)
        at = timestamps.parse(one.get("at"))
        hosts = [name for name in plain_values.texts(one.get("hosts")) if name in ask.batch]
        if at is None or not hosts or str(key) in listed or now - at >= quiet:
            continue
        event_id = plain_values.text(one.get("event_id")) or str(key)
        message = f"event {event_id} of {', '.join(hosts)} was listed {timestamps.duration(now - at)} ago; it must be quiet for {timestamps.duration(quiet)}"
        found.append(Blocker("recent", message, (hosts[0], event_id), wait=quiet - max(now - at, 0.0)))
    return found


def remember(seen: Values, event_states: Iterable[EventState], ask: GateRequest, now: float) -> dict[str, Data]:
    """Return the memory with the events listed now, for the next observation of this run."""
    found = {str(key): dict(plain_values.mapping(plain_values.plain(one))) for key, one in plain_values.mapping(seen).items()}
    for event_state in event_states:
        if event_state.listed and counts(event_state, ask):
            found[event_state.key] = {
                "event_id": event_state.event.event_id,
                "hosts": [participant.host.name for participant in event_state.hit],
                "at": timestamps.form(now),
            }
    return found


# --- Other runs and the disruption budget --------------------------------------------------------------------------------


def of_leases(board: Leases, batch: Iterable[str], hosts: Mapping[str, Host]) -> list[Blocker]:
    """Return other runs with leases on the batch. Their leases block whatever the order."""
    found = []
    for name in batch:
        if other := leases.at_work(board, [name]):
            live = next(lease for lease in board.others[name] if not lease.expired)
            found.append(Blocker("lease", other.text + _until_when(live, hosts[name]), other.subjects))
    return found


def _until_when(lease: Lease, host: Host) -> str:
    """Return when the lease expires unless renewed, and how to remove it if its run has ended."""
    if lease.limit is None or host.observation is None:
        return ""
    left = timestamps.duration(max(lease.limit - host.observation.now, 0.0))
    message = f", until {timestamps.as_datetime(lease.limit):%Y-%m-%d %H:%M:%S} UTC unless renewed ({left} from now)"
    # The VM could name any run, so nothing to paste is made of it.
    return message + (". If you know that this run has ended, set gate_dead_run to its id" if lease.kind == "upgrade" else "")


def of_capacity(budget: Budget, event_states: Iterable[EventState], ask: GateRequest, board: Leases, hosts: Mapping[str, Host]) -> list[Blocker]:
    """Return whether the batch fits beside the unavailable VMs, other runs' leases, and what events need now or soon."""
    coming = {
        participant.host.name: f"{_event(event_state)} is coming"
        for event_state in event_states
        if event_state.listed and counts(event_state, ask)
        for participant in event_state.hit
    }
    coming.update({name: "its empty list proves nothing yet" for name, host in hosts.items() if _is_new(host, board.settings) and name not in ask.batch})
    message = allocation.no_room(budget, ask.batch, coming)
    if not message:
        return []
    # A run that was killed after its last action leaves a VM that is done, with a lease.
    held = [
        f"{lease.text} holds {name}{_until_when(lease, hosts[name])}"
        for name, leases in board.others.items()
        if name not in ask.batch and name in hosts
        for lease in leases
        if not lease.expired and lease.kind == "upgrade" and (lease.event_id or "").lower() == ask.lease_id.lower()
    ]
    return [Blocker("capacity", "; ".join([message, *held]))]
