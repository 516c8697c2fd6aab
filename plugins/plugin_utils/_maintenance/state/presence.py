# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Conclude whether an event is listed, missing or gone for a VM, and how it ended (design: what may be concluded)."""

from __future__ import annotations

from ....module_utils._scheduled_events.lease.lease_schema import UPGRADE, event_digest
from ..config.settings import Settings
from ..core.model import Host, Observation, Record, value
from .observed_event import ObservedEvent


@value
class Presence:
    """Whether an event is listed, missing or gone by one VM's own document, or why that cannot be known."""

    listed: bool = False
    first: bool = False
    """Whether this is the first document without the event: it is recorded, and proves nothing."""
    gone: bool = False
    enabling: bool = False
    """Whether the empty list proves nothing, because Scheduled Events were enabled just now."""
    wait: float | None = None
    """Seconds until a second observation can conclude more."""
    text: str | None = None


def conclude(seen: ObservedEvent, host: Host, record: Record | None, settings: Settings) -> Presence:
    """Conclude whether an event is gone for a VM: only from two good documents without it, over gone_seconds apart."""
    observation = host.observation
    if observation is None:
        return Presence(text="it did not answer")
    if seen.key in observation.listed:
        return Presence(listed=True)
    if (upgrade := _upgrade_under_way(observation, seen.key)) is not None:
        return Presence(text=upgrade)
    unproven_for = enabling_left(observation, settings)
    if record is None:
        # The VM has nothing to put back; whether the event goes on is concluded from the VMs that list it.
        return Presence(enabling=unproven_for > 0)
    if record.outcome is not None:
        return Presence(gone=True)
    knows = _listed_since(record, observation.enabled_at)
    if unproven_for > 0 and not knows:
        return Presence(enabling=True, wait=unproven_for, text="Scheduled Events were enabled just now, so an empty list proves nothing")
    since = _missing_since(record, observation, settings, knows=knows)
    return Presence(first=True, wait=settings.gone_seconds) if since is None else _missing(seen, observation.now - since, settings)


def _missing_since(record: Record, observation: Observation, settings: Settings, *, knows: bool) -> float | None:
    """Return the time of the first document without the event, or None if this one is the first that counts."""
    since = record.missing_since
    if since is None or since > observation.now:
        return None
    # An absence recorded before the list could be trusted again does not count.
    enabled_at = observation.enabled_at if observation.enabled_at is not None and observation.enabled_at <= observation.now and not knows else None
    return None if enabled_at is not None and since < enabled_at + settings.enabling_seconds else since


def _missing(seen: ObservedEvent, elapsed: float, settings: Settings) -> Presence:
    """Conclude from an absence of some seconds, and from the other VMs that still list the event."""
    if elapsed <= settings.gone_seconds:
        return Presence(wait=settings.gone_seconds - elapsed + 0.1, text="no longer listed; confirming")
    others = [witness.name for witness in seen.listed_by]
    if not others:
        return Presence(gone=True)
    names = ", ".join(others[:3]) + (" and others" if len(others) > 3 else "")
    if elapsed <= settings.witness_seconds:
        return Presence(wait=settings.witness_seconds - elapsed + 0.1, text=f"no longer listed by the VM itself, but still by {names}")
    return Presence(gone=True, text=f"still listed by {names}, but no longer by the VM itself")


def _upgrade_under_way(observation: Observation, key: str) -> str | None:
    """Return why an upgrade is not over, or None. No document lists an upgrade: it is under way while its lease is live, then gone.

    A VM whose upgrade failed, and that an operator wants to inspect, stays drained: its progress mark has no time limit.
    """
    if not key.startswith(UPGRADE):
        return None
    left = next((name for name, state in observation.marks.items() if state == "left" and (UPGRADE + name).lower() == key), None)
    if left is not None:
        return f"upgrade {left!r} failed on it, and it was left for an operator to inspect"
    digest = event_digest(key)
    return next((f"{lease.text} is at work for {lease.purpose}" for lease in observation.leases if lease.digest == digest and not lease.expired), None)


def enabling(observation: Observation, settings: Settings) -> bool:
    """Return whether an empty list proves nothing yet."""
    return enabling_left(observation, settings) > 0


def enabling_left(observation: Observation, settings: Settings) -> float:
    """Return for how many more seconds an empty list proves nothing."""
    if observation.enabled_at is None or observation.now < observation.enabled_at:
        # The time is not known, or the clock was set back since. The VM's own answer uses its uptime, and is more reliable.
        return settings.enabling_seconds if observation.enabled_recently else 0.0
    return settings.enabling_seconds - (observation.now - observation.enabled_at)


def _listed_since(record: Record, enabled_at: float | None) -> bool:
    """Return whether the VM's own document has listed the event since then: only that leads to the phase C(noticed) (record_writes.py)."""
    if enabled_at is None:
        return False
    return any(phase == "noticed" and at > enabled_at for phase, at in record.history)


def outcome_of(record: Record, *, began: bool) -> str:
    """Return the outcome of an event for a VM: C(began) if it was observed as started or was approved. Recovery treats all outcomes alike."""
    if began:
        return "completed"
    missing, due = record.missing_since, record.event.not_before
    return "cancelled" if missing is not None and due is not None and missing < due else "unknown"
