# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The overrides that operators made for events (playbook decide.yml), and what they mean for the plan.

An override stands in the records of the event's VMs, and a VM may write there what it likes. So what only keeps things from
happening (hold, let_it_come) counts from any VM of the event, and what makes them happen (approve, and a release, which ends
the others) counts when every VM of the event that can be read carries it. On each VM the newest one counts; it ends the older
ones for good, also when its own time is over. Nothing counts that comes from the future.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config.policy import Decision
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config.settings import CLOCK_TOLERANCE
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core import timestamps
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core.model import STRICTEST, Host, Identity, Override, Record

if TYPE_CHECKING:
    from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.state.event_state import EventState, Participant
    from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.state.observed_event import ObservedEvent

HOLDING = ("hold", "let_it_come")


def newest_override(text: Iterable[Override], now: float) -> Override | None:
    """Return the newest override of the event, whether or not its time is over; None where there is none."""
    found = [word for word in text if word.action in STRICTEST and not is_ahead(word, now)]
    return min(found, key=lambda word: (-word.at, STRICTEST.index(word.action)), default=None)


def is_ahead(word: Override, now: float) -> bool:
    """Return whether its time lies in the future: a clock is wrong, or the override was made to outlast all others."""
    return not word.unreadable and word.at > now + CLOCK_TOLERANCE


def with_overrides(hosts: Iterable[Host], now: float) -> set[str]:
    """Return the events (lower case) with an override that holds now, in any record."""
    observations = [observation for host in hosts if (observation := host.observation or host.last_observation)]
    return {
        key
        for observation in observations
        for key, record in observation.records.items()
        if any(word.action != "release" and word.holds(now) and not is_ahead(word, now) for word in record.said)
    }


# --- Which counts --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class EffectiveOverride:
    """The overrides that count for one event."""

    override: Override | None = None
    """For the event as a whole."""
    own: Mapping[str, Override] = field(default_factory=dict)
    """By host: a hold or a let_it_come that stands on that VM itself."""
    remarks: tuple[str, ...] = ()
    """What does not count, and why."""

    def of(self, participant: Participant) -> Override | None:
        """Return the override that counts for one VM. A let_it_come counts on the VMs that carry it; for the others it is a hold."""
        if self.override is not None and self.override.action not in HOLDING:
            return self.override
        own = self.own.get(participant.host.name)
        return own or (replace(self.override, action="hold") if self.override else None)


def override(participants: Sequence[Participant], strangers: Iterable[Host], key: str, now: float, *, divided: bool = False) -> EffectiveOverride:
    """Find the overrides that count for an event, from the records of its VMs; C(strangers) have a record of it and are none of its VMs.

    Where its VMs contradict each other (C(divided)) its VMs are not known, and it is not approved in any case: then each
    VM has its own override only.
    """
    said: dict[str, Override] = {}
    released: list[str] = []
    remarks = [f"{host.name}: {text}" for host in strangers for text in _stranger(_record_of(host, key), now)]
    for participant in participants:
        text = participant.record.said if participant.record else ()
        remarks += [f"{participant.host.name}: {word.text}, at a time that has not come yet; it does not count" for word in text if is_ahead(word, now)]
        newest = newest_override(text, now)
        if participant.named and newest is not None and newest.action == "release":
            released.append(f"{participant.host.name}: {newest.text}")
        if participant.named and newest is not None and newest.action != "release" and newest.holds(now):
            said[participant.host.name] = newest
    if _is_over(participants):
        # To say it again would change nothing any more.
        remarks, released = [], []
    holding = {name: word for name, word in said.items() if word.action in HOLDING}
    if divided:
        return EffectiveOverride(None, holding, tuple(remarks))
    if holding:
        remarks += [f"{text}; it does not count, because {', '.join(holding)} has it not: say it again" for text in released[:1]]
        first = min(holding.values(), key=lambda word: (STRICTEST.index(word.action), -word.at))
        return EffectiveOverride(first, holding, tuple(remarks))
    readable = [participant.host.name for participant in participants if participant.named and participant.ok]
    silent = [name for name in readable if name not in said]
    if said and readable and not silent:
        return EffectiveOverride(max(said.values(), key=lambda word: word.at), {}, tuple(remarks))
    if not _is_over(participants):
        remarks += [f"{name}: {word.text}; it does not count, because {', '.join(silent)} has it not: say it again" for name, word in said.items()][:1]
    return EffectiveOverride(remarks=tuple(remarks))


def _is_over(participants: Iterable[Participant]) -> bool:
    """Return whether the event is over for all of its VMs that can be read, and any can."""
    readable = [participant for participant in participants if participant.named and participant.ok]
    return bool(readable) and all(participant.over for participant in readable)


def _record_of(host: Host, key: str) -> Record | None:
    observation = host.observation or host.last_observation
    return observation.records.get(key) if observation else None


def _stranger(record: Record | None, now: float) -> list[str]:
    live = [word for word in (record.said if record else ()) if word.action != "release" and word.holds(now)]
    return [f"{word.text}; it does not count, because the event does not name this VM" for word in live[:1]]


# --- Meaning -------------------------------------------------------------------------------------------------------------


def retire(hosts: Iterable[Host], names: Sequence[str]) -> list[Host]:
    """Take the VMs that the controller's C(respond_retired) names as gone, whatever they answer.

    A name is that of the inventory, else the one that Azure uses. One that is no host of this play is known by it all the same.
    """
    if not names:
        return list(hosts)
    found = []
    wanted = {name.strip().lower(): name.strip() for name in names}
    known = set()
    for host in hosts:
        same = {host.name.lower(), host.identity.name} & wanted.keys()
        if same:
            known |= same
            host = replace(host, state="retired", error=None, observation=None, last_observation=None, reached_before=False)
        found.append(host)
    for key, name in wanted.items():
        if key not in known:
            found.append(Host(name, len(found), "retired", None, None, (), Identity(name=key)))
    return found


def unknown_retired(added: Iterable[Host], event_states: Iterable[EventState], members: Container[str]) -> tuple[str, ...]:
    """Return the names of retired VMs that are no hosts (C(added)), and that no event and no capacity group (C(members), in lower case) knows either."""
    named = {name for event_state in event_states for name in event_state.event.names}
    return tuple(host.name for host in added if host.identity.name not in named and host.identity.name not in members)


def without_ended(events: Iterable[ObservedEvent], about: set[str]) -> list[ObservedEvent]:
    """Skip ended events of which nothing remains but overrides that have ended, too."""
    return [seen for seen in events if not seen.only_has_overrides or seen.key in about]


def effective(decision: Decision, word: Override | None) -> Decision:
    """Return the decision of the policy, or of the override that replaces it. Records keep the policy's."""
    if word is None or word.action != "approve":
        return decision
    return replace(decision, name=word.text, drain=False, approve="now", drain_at=None, window=(), problem=None)


def is_approval(word: Override | None) -> bool:
    """Return whether the override approves: then only a failed observation may hold the approval."""
    return word is not None and word.action == "approve"


def blocker(word: Override | None) -> str | None:
    """Return why nothing is approved, for an override that holds the approval; else None."""
    return word.text if word is not None and word.action in ("hold", "let_it_come") else None


def blocks_drain(word: Override | None, *, must_drain: bool) -> bool:
    """Return whether the override keeps a drain from beginning: held until its deadline, or let come undrained."""
    return word is not None and (word.action == "let_it_come" or (word.action == "hold" and not must_drain))


def shown(word: Override | None) -> dict[str, Any] | None:
    """Return the override as the plan shows it."""
    if word is None:
        return None
    found: dict[str, Any] = {"action": word.action, "who": word.who, "why": word.why, "vm": word.vm, "text": word.text}
    return {**found, "at": timestamps.form(word.at), "until": None if word.until is None else timestamps.form(word.until)}
