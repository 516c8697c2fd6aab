# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The state of one event and of its participants. Facts only; actions are decided elsewhere.

For each VM its own document counts (rule 9): whether the event names the VM, when it begins and whether it has started. Documents
of other VMs can hold an approval, and never make a VM drain. One exception: in the first minutes after Scheduled Events were
enabled on a VM its empty list proves nothing, and then the VM may drain for an event that others list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from ..config.policy import Decision, Policy, strictest
from ..config.settings import CLOCK_TOLERANCE, Settings
from ..core.blocker import WAITING, Blocker, Kind, first
from ..core.model import Event, Host, Identity, Observation, Override, value
from ..observe.directory import Directory, Named
from . import conflicts, overrides, presence
from .observed_event import ObservedEvent, merge
from .participant import Participant


@value
class EventState:
    """One event with its participants, decisions and blockers."""

    seen: ObservedEvent
    event: Event
    """The event for the report and the approval. The actions of a VM follow its participant's own version."""
    named: Named
    decision: Decision
    """The strictest decision for its VMs, which its approval follows."""
    participants: Sequence[Participant]
    ours: bool
    """Whether this run may act on it (only_events)."""
    rule: Decision
    """The strictest decision of the policy for its VMs."""
    override: Override | None = None
    """The override that counts for the whole event (overrides.py)."""
    remarks: tuple[str, ...] = ()
    """Answers about it that do not count, and why, as sentences."""
    conflict: str | None = None
    """How its VMs' documents differ, as a sentence; it holds the approval."""
    contradicted: tuple[str, ...] = ()
    """Managed VMs that other documents name, and their own documents do not."""
    differing: tuple[str, ...] = ()
    """Hosts to observe once more, because their documents differ and may only have been read at different moments."""
    retired: tuple[str, ...] = ()
    """Retired VMs that it names: no run waits for them."""
    blockers: tuple[Blocker, ...] = ()
    """Why it cannot be approved: first all that does not depend on other events (approval_blockers.py), then capacity (allocation.py), leases of
    other runs (leases.py), and what its approval waits for although nothing blocks it (approval.py)."""
    start_hold: Blocker | None = None
    """What keeps from beginning all that is not at its deadline: a pause, or the start gate (start_holds.py)."""
    approver: str | None = None

    @property
    def hold(self) -> Blocker | None:
        """Return the blocker that only an operator can lift, which is written to the records, or None."""
        return first(one for one in self.blockers if one.lasting)

    @property
    def waits(self) -> bool:
        """Return whether its approval waits although nothing blocks it."""
        return self.blocked_by(*WAITING) is not None

    def blocked_by(self, *kinds: Kind) -> Blocker | None:
        """Return its blocker of one of these kinds, or None."""
        return first(self.blockers, *kinds)

    def with_blocker(self, blocker: Blocker) -> EventState:
        """Return it with one more blocker, in place of one of its kind."""
        return replace(self, blockers=(*(one for one in self.blockers if one.kind != blocker.kind), blocker))

    @property
    def key(self) -> str:
        """Return the event's id in lower case."""
        return self.event.key

    @property
    def listed(self) -> bool:
        """Return whether any VM's present document has it."""
        return self.seen.listed

    @property
    def hit(self) -> list[Participant]:
        """Return the managed VMs that it names."""
        return [participant for participant in self.participants if participant.named]

    @property
    def divided(self) -> bool:
        """Return whether its VMs contradict each other, or have the same identity: then each of them is served by itself."""
        return self.conflict is not None or any(participant.contested for participant in self.hit)

    @property
    def started(self) -> bool:
        """Return whether it has started on any VM that it names: then it can no longer be approved."""
        return any(participant.started for participant in self.hit) or (not self.participants and self.event.started)

    @property
    def approved_at(self) -> float | None:
        """Return when a managed VM approved it, or None."""
        records = [participant.record for participant in approving_participants(self.participants) if participant.record]
        return max((record.approved_at for record in records if record.approved_at is not None), default=None)

    @property
    def approved(self) -> bool:
        """Return whether a managed VM approved it."""
        return self.approved_at is not None

    @property
    def coming(self) -> bool:
        """Return whether it may begin any moment on any of its VMs."""
        return any(participant.coming for participant in self.hit) or (not self.participants and self.event.started)

    @property
    def left(self) -> float | None:
        """Return the seconds until the first of its VMs may be hit; None without NotBefore, or after its start."""
        if self.started:
            return None
        return min((participant.left for participant in self.hit if participant.left is not None), default=None)


def build_event_state(seen: ObservedEvent, directory: Directory, policy: Policy, settings: Settings, now: float) -> EventState:
    """Build the state of an event from the documents, the records and the policy."""
    versions = seen.versions or seen.recorded
    scopes = _scopes(seen)
    # In an order that no VM chooses: it decides which VM drains first if there is room for one only, and which record keeps the notifications.
    every = merge(versions).resources
    named = directory.resolve(every, scopes)
    hosts, contradicted = _participants(seen, named.hosts, directory, settings)
    strangers = [host for host in seen.remembered_by if host.name not in hosts]
    others = [host for host in strangers if (record := host.record(seen.key)) and not record.only_has_overrides]
    sources = [(host, True) for host in hosts.values() if host.state != "retired"] + [(host, False) for host in others]
    # The documents of the event's own VMs count; those of other VMs do only where there are no others.
    event = merge([seen.documents[name] for name in hosts if name in seen.documents] or versions)
    named = named if event.resources == every else directory.resolve(event.resources, scopes)
    decide = _memoised(policy)
    confused = _same_names(hosts.values()) | directory.contested
    participants = [_participant(seen, host, is_named, event, confused.get(host.name), decide, settings, now) for host, is_named in sources]
    # A VM that only shares a name with one of the event's VMs does not contradict it; the shared name holds the event.
    taken = {host.own_name for host in hosts.values()}
    contradicted = [host for host in contradicted if host.name not in directory.contested and host.own_name not in taken]
    found = conflicts.find(seen, hosts, contradicted)
    divided = found.text is not None or any(participant.contested for participant in participants if participant.named)
    override = overrides.override(participants, strangers, seen.key, now, divided=divided)
    participants = _apply(participants, override, divided=divided)
    counting = [participant for participant in participants if participant.named] or participants
    rule = strictest(participant.rule for participant in counting) if counting else decide(event, False)
    return EventState(
        seen=seen,
        event=event,
        # If its VMs contradict each other, the names are not known: that holds the event, not a name that one of them adds.
        named=Named(tuple(hosts.values()), () if divided else named.unmanaged, () if divided else named.unsure),
        decision=strictest(participant.decision for participant in counting) if counting else rule,
        participants=participants,
        ours=not settings.only_events or event.key in settings.only_events,
        rule=rule,
        override=override.override,
        remarks=(*override.remarks, *found.remarks),
        conflict=found.text,
        contradicted=tuple(host.name for host in contradicted),
        differing=found.again,
        retired=tuple(host.name for host in hosts.values() if host.state == "retired"),
    )


def with_participants(event_state: EventState, changed: Iterable[Participant]) -> EventState:
    """Return an event state with other values of some of its participants."""
    by_host = {participant.host.name: participant for participant in changed}
    return replace(event_state, participants=[by_host.get(participant.host.name, participant) for participant in event_state.participants])


def _scopes(seen: ObservedEvent) -> list[Identity]:
    """Return the groups that the event was delivered to, by the VMs that find their own names in it; else by all VMs that list it."""
    own = {Identity(group=host.identity.group, subscription=host.identity.subscription): None for host in seen.named_by}
    return list(own or seen.scopes)


def _participants(seen: ObservedEvent, resolved: Iterable[Host], directory: Directory, settings: Settings) -> tuple[dict[str, Host], list[Host]]:
    """Return the VMs that the event names, and those that other documents name and their own do not."""
    hosts: dict[str, Host] = {}
    contradicted = []
    for host in resolved:
        named = host.observation is None or _names_itself(seen, host) or _proves_nothing(seen, host, settings)
        recorded = not named and _record_names(seen, host)
        if named or recorded:
            hosts[host.name] = host
        if not named and (not recorded or host.name in seen.documents):
            contradicted.append(host)
    for host in seen.named_by:
        # A VM that finds its own name in its own document is named, even if another VM has that name as well.
        if host.name not in hosts and host.state != "retired":
            hosts[host.name] = host
    return {host.name: host for host in directory.in_order(hosts.values())}, contradicted


def _same_names(hosts: Iterable[Host]) -> dict[str, str]:
    """Return a sentence for each VM of an event that has the same name as another: one of them has a wrong identity."""
    found: dict[str, Host] = {}
    text: dict[str, str] = {}
    for host in hosts:
        first = found.setdefault(host.own_name, host)
        if first is not host:
            said = f"{first.name} and {host.name} both say that they are VM {host.own_name}"
            text.update({first.name: said, host.name: said})
    return text


def _names_itself(seen: ObservedEvent, host: Host) -> bool:
    event = seen.documents.get(host.name)
    return event is not None and host.own_name in event.names


def _record_names(seen: ObservedEvent, host: Host) -> bool:
    record = host.observation.records.get(seen.key) if host.observation else None
    return record is not None and not record.only_has_overrides and host.own_name in record.event.names


def _proves_nothing(seen: ObservedEvent, host: Host, settings: Settings) -> bool:
    """Return whether the VM's own document, which does not list the event, may be empty only because Scheduled Events were enabled just now."""
    observation = host.observation
    if observation is None or seen.key in observation.listed or not seen.listed_by:
        return False
    return presence.enabling(observation, settings)


Decide = Callable[[Event, bool], Decision]


def _memoised(policy: Policy) -> Decide:
    """Return a function that decides about each version once: most VMs list equal versions, and expressions are slow."""
    known: dict[tuple[int, bool], Decision] = {}

    def decide(event: Event, short_pause_hurts: bool) -> Decision:
        key = (id(event), short_pause_hurts)
        if key not in known:
            known[key] = policy.decide(event.values, short_pause_hurts=short_pause_hurts)
        return known[key]

    return decide


def _participant(
    seen: ObservedEvent, host: Host, named: bool, common: Event, contested: str | None, decide: Decide, settings: Settings, now: float
) -> Participant:
    record = host.record(seen.key)
    present = presence.conclude(seen, host, record, settings)
    presumed = named and present.enabling and seen.listed
    own = seen.documents.get(host.name)
    event = own or (common if presumed or record is None or host.observation is None else record.event)
    rule = decide(event, host.short_pause_hurts)
    # An event never goes back from Started. Only this VM's own document or record shows that it has started here.
    started = (event.started and not presumed) or (record is not None and record.started_at is not None)
    participant = Participant(
        host=host,
        record=record,
        named=named,
        presence=present,
        contested=contested,
        event=event,
        rule=rule,
        decision=rule,
        started=started,
        left=None if started or event.not_before is None else event.not_before - now,
        presumed=presumed,
    )
    fixed = _fixed(rule, participant)
    return participant if fixed is rule else replace(participant, rule=fixed, decision=fixed)


def _apply(participants: list[Participant], override: overrides.EffectiveOverride, *, divided: bool) -> list[Participant]:
    """Return the participants with the override that counts for each, and with whether the event was approved at all."""
    asked = [] if divided else approving_participants(participants)
    approved = any(participant.record is not None and participant.record.approved_at is not None for participant in asked)
    found = []
    for participant in participants:
        own = override.of(participant)
        is_new = own is not None or approved
        decision = overrides.effective(participant.rule, own)
        found.append(replace(participant, override=own, decision=decision, approved_elsewhere=approved) if is_new else participant)
    return found


def approving_participants(participants: Iterable[Participant]) -> list[Participant]:
    """Return the VMs whose records may have the approval: those that the event names, and those that approved it for this run."""
    return [participant for participant in participants if participant.named or participant.event.key in participant.host.approved]


def _fixed(decision: Decision, participant: Participant) -> Decision:
    """Return the rule that a drain began under, else the policy's. The policy decides before a drain only, and a record only for its own VM."""
    rule = participant.record.rule if participant.record and participant.record.needs_undo and not participant.over else {}
    if not isinstance(rule.get("drain"), bool) or rule.get("approve") not in ("never", "after_drain", "now"):
        return decision
    name = str(rule.get("name") or "the rule of its drain")
    # The window of approvals, and how an unreachable VM counts, do not affect a drained VM.
    return replace(decision, name=name, drain=rule["drain"], approve=rule["approve"], problem=None)


def clock_offset(observation: Observation | None, now: float) -> float:
    """Return what to add to the controller's time to get this VM's; small differences are the observation's own duration."""
    if observation is None:
        return 0.0
    difference = observation.now - (now if observation.answered_at is None else observation.answered_at)
    return difference if abs(difference) > CLOCK_TOLERANCE else 0.0
