# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The overrides that operators made for events (playbook decide.yml), and what they mean for the plan.

Overrides are in the records of the event's VMs, where a compromised VM may write anything. So an override that only prevents actions (hold, let_it_come)
counts from any VM of the event; one that allows actions (approve, and a release, which ends the others) counts if every readable VM of the event has it. On
each VM the newest override counts and ends the older ones, even after its own end. An override dated in the future does not count.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping, Sequence, Sized
from dataclasses import field, replace

from ....module_utils._scheduled_events.core.names import folded
from ..config.policy import Decision
from ..config.settings import CLOCK_TOLERANCE
from ..core import timestamps
from ..core.blocker import Blocker
from ..core.model import STRICTEST, Host, Identity, Override, Record, value
from .observed_event import ObservedEvent
from .participant import Participant

HOLDING = ("hold", "let_it_come")


def newest_override(candidates: Iterable[Override], now: float) -> Override | None:
    """Return the newest override of the event, in force or ended; None if there is none."""
    found = [one for one in candidates if one.action in STRICTEST and not is_ahead(one, now)]
    return min(found, key=lambda one: (-one.at, STRICTEST.index(one.action)), default=None)


def is_ahead(one: Override, now: float) -> bool:
    """Return whether the override is dated in the future: a clock is wrong, or the override was made to outlast all others."""
    return not one.unreadable and one.at > now + CLOCK_TOLERANCE


def with_overrides(hosts: Iterable[Host], now: float) -> set[str]:
    """Return the events (lower case) with an override in force, in any record."""
    observations = [observation for host in hosts if (observation := host.last_known)]
    return {
        key
        for observation in observations
        for key, record in observation.records.items()
        if any(one.action != "release" and one.holds(now) and not is_ahead(one, now) for one in record.overrides)
    }


# --- Which counts --------------------------------------------------------------------------------------------------------


@value
class EffectiveOverride:
    """The overrides that count for one event."""

    override: Override | None = None
    """For the event as a whole."""
    own: Mapping[str, Override] = field(default_factory=dict)  # pylint: disable=invalid-field-call
    """By host: a hold or a let_it_come in the record of that VM itself."""
    remarks: tuple[str, ...] = ()
    """Overrides that do not count, and why."""

    def of(self, participant: Participant) -> Override | None:
        """Return the override that counts for one VM. A let_it_come counts on the VMs that carry it; for the others it is a hold."""
        if self.override is not None and self.override.action not in HOLDING:
            return self.override
        own = self.own.get(participant.host.name)
        return own or (replace(self.override, action="hold") if self.override else None)


def override(participants: Sequence[Participant], strangers: Iterable[Host], key: str, now: float, *, divided: bool = False) -> EffectiveOverride:
    """Find the overrides that count for an event, from the records of its VMs; C(strangers) have a record of it and are not among its VMs.

    If its VMs contradict each other (C(divided)), its VMs are not known and it is never approved: then each VM has its own override only.
    """
    said: dict[str, Override] = {}
    released: list[str] = []
    remarks = [f"{host.name}: {text}" for host in strangers for text in _stranger(host.record(key), now)]
    for participant in participants:
        recorded = participant.record.overrides if participant.record else ()
        remarks += [f"{participant.host.name}: {one.text}, dated in the future; it does not count" for one in recorded if is_ahead(one, now)]
        newest = newest_override(recorded, now)
        if participant.named and newest is not None and newest.action == "release":
            released.append(f"{participant.host.name}: {newest.text}")
        if participant.named and newest is not None and newest.action != "release" and newest.holds(now):
            said[participant.host.name] = newest
    if _is_over(participants):
        # Repeating an override would change nothing.
        remarks, released = [], []
    holding = {name: one for name, one in said.items() if one.action in HOLDING}
    if divided:
        return EffectiveOverride(None, holding, tuple(remarks))
    if holding:
        remarks += [f"{text}; it does not count, because {', '.join(holding)} {_lack(holding)} have it: repeat it" for text in released[:1]]
        first = min(holding.values(), key=lambda one: (STRICTEST.index(one.action), -one.at))
        return EffectiveOverride(first, holding, tuple(remarks))
    readable = [participant.host.name for participant in participants if participant.named and participant.ok]
    silent = [name for name in readable if name not in said]
    if said and readable and not silent:
        return EffectiveOverride(max(said.values(), key=lambda one: one.at), {}, tuple(remarks))
    if not _is_over(participants):
        reason = f"it does not count, because {', '.join(silent)} {_lack(silent)} have it: repeat it"
        remarks += [f"{name}: {one.text}; {reason}" for name, one in said.items()][:1]
    return EffectiveOverride(remarks=tuple(remarks))


def _lack(names: Sized) -> str:
    return "does not" if len(names) == 1 else "do not"


def _is_over(participants: Iterable[Participant]) -> bool:
    """Return whether at least one VM of the event is readable, and the event is over for all that are."""
    readable = [participant for participant in participants if participant.named and participant.ok]
    return bool(readable) and all(participant.over for participant in readable)


def _stranger(record: Record | None, now: float) -> list[str]:
    live = [one for one in (record.overrides if record else ()) if one.action != "release" and one.holds(now)]
    return [f"{one.text}; it does not count, because the event does not name this VM" for one in live[:1]]


# --- Meaning -------------------------------------------------------------------------------------------------------------


def retire(hosts: Iterable[Host], names: Sequence[str]) -> list[Host]:
    """Take the VMs that the controller's C(respond_retired) names as gone, ignoring their answers.

    A name is that of the inventory, else the one that Azure uses. A name that is no host of this play counts, too.
    """
    if not names:
        return list(hosts)
    found = []
    wanted = {folded(name): name.strip() for name in names}
    known = set()
    for host in hosts:
        if same := {host.name.lower(), host.identity.name} & wanted.keys():
            known |= same
            host = replace(host, state="retired", error=None, observation=None, last_observation=None, reached_before=False)
        found.append(host)
    for key, name in wanted.items():
        if key not in known:
            found.append(Host(name, len(found), "retired", None, None, Identity(name=key)))
    return found


def unknown_retired(added: Iterable[Host], *known: Container[str]) -> tuple[str, ...]:
    """Return the names of retired VMs that are no hosts (C(added)), and that no event and no capacity group (C(known), in lower case) has either."""
    return tuple(host.name for host in added if not any(host.identity.name in names for names in known))


def without_ended(events: Iterable[ObservedEvent], about: set[str]) -> list[ObservedEvent]:
    """Skip ended events of which nothing remains but overrides that have ended, too."""
    return [seen for seen in events if not seen.only_has_overrides or seen.key in about]


def effective(decision: Decision, one: Override | None) -> Decision:
    """Return the decision of the policy, or of the override that replaces it. Records keep the policy's."""
    if one is None or one.action != "approve":
        return decision
    return replace(decision, name=one.text, drain=False, approve="now", drain_at=None, window=(), problem=None)


def is_approval(one: Override | None) -> bool:
    """Return whether the override approves the event: then only an unreadable VM may hold the approval."""
    return one is not None and one.action == "approve"


def blocker(one: Override | None) -> Blocker | None:
    """Return why nothing is approved, for an override that holds the approval; else None."""
    if one is None or one.action not in HOLDING:
        return None
    ends = one.until if one.until is not None and math.isfinite(one.until) else None
    subjects = (one.action, one.who, timestamps.form(one.at))
    return Blocker("override", one.text, subjects, way_out="end the override with decide_action=release", retry_at=ends)


def blocks_drain(one: Override | None, *, must_drain: bool) -> bool:
    """Return whether the override holds a drain: until its deadline (hold), or at all (let_it_come)."""
    return one is not None and (one.action == "let_it_come" or (one.action == "hold" and not must_drain))
