# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The blockers of an approval, apart from the drains of the event. Each function returns one of them, or None.

Leases of other runs and capacity are decided elsewhere (leases.py, allocation.py), because they depend on the events served before.
"""

from __future__ import annotations

from ....module_utils._scheduled_events.core.printable_text import shell_word
from ..._core.short_forms import some
from ..config import windows
from ..config.settings import Settings
from ..core.blocker import Blocker
from ..core.model import Identity
from ..state import overrides
from ..state.event_state import EventState
from ..state.participant import Participant
from . import deadlines

ANYWAY = "; if it must start anyway, approve it with Azure's own command: "
MANAGE = (
    "Add them to the inventory or run without --limit, approve this event alone with maintenance.azure.decide, "
    "or approve all such events with respond_unmanaged: ignore"
)
WINDOW_CLOSED = "the policy's window for approvals is closed"
NO_METHOD = "no drain method is configured; set drain_methods, or the method none where nothing has to be drained"


def blockers(event_state: EventState, settings: Settings, now: float) -> tuple[Blocker, ...]:
    """Return all blockers that do not depend on other events."""
    found = (
        _start_hold(event_state),
        overrides.blocker(event_state.override),
        _policy(event_state),
        _unmanaged(event_state, settings),
        _methods(event_state),
        _contested(event_state),
        Blocker("conflict", event_state.conflict) if event_state.conflict else _denied(event_state),
        _unread(event_state),
        _window(event_state, now),
    )
    return tuple(one for one in found if one)


def _start_hold(event_state: EventState) -> Blocker | None:
    """Return the pause, or the start gate, where it holds the approval too."""
    return event_state.start_hold if event_state.start_hold is not None and event_state.start_hold.holds_approval else None


def _policy(event_state: EventState) -> Blocker | None:
    rule = event_state.decision.name
    if event_state.decision.problem:
        return Blocker("policy_unusable", event_state.decision.problem, (rule,))
    if event_state.decision.approve == "never":
        return Blocker("policy", f"the policy (rule {rule!r}) never approves it", (rule,))
    return None


def _contested(event_state: EventState) -> Blocker | None:
    found = [participant for participant in event_state.participants if participant.named and participant.contested]
    if not found:
        return None
    # Only Azure says which of two VMs of one name an event means: by their resource groups. respond_vm_id shows an impostor alone.
    if thin := [participant.host.name for participant in found if participant.host.identity.group is None]:
        way_out = f"the metadata of {', '.join(thin)} lacks the resource group (resourceGroupName): see what answers there, or run respond for one at a time"
    else:
        way_out = "set respond_vm_id in the inventory to tell them apart"
    return Blocker("contested", f"{found[0].contested}; {way_out}", tuple(participant.host.name for participant in found), way_out=way_out)


def _denied(event_state: EventState) -> Blocker | None:
    """Return why an event is held that other VMs list, while its own VMs answer, are in service, and do not list it (rule 9)."""
    hit, begun = event_state.hit, event_state.started or event_state.approved
    if begun or not event_state.listed or any(participant.listed for participant in hit):
        return None
    idle = [participant.host.name for participant in hit if participant.ok and not participant.may_begin and not participant.holds_changes]
    denying = (*event_state.contradicted, *idle)
    names = f"listed by {some([host.name for host in event_state.seen.listed_by], 3)} only, and not for themselves by VMs that it names ({some(denying, 3)})"
    return Blocker("conflict", f"{names}; it is not approved until one of them lists it", denying) if denying else None


def _unmanaged(event_state: EventState, settings: Settings) -> Blocker | None:
    names = event_state.named.unmanaged
    if not names or settings.unmanaged == "ignore" or overrides.is_approval(event_state.override):
        return None
    text = f"it also names {', '.join(names)}, which {'is' if len(names) == 1 else 'are'} not managed here; approving would start it there too. {MANAGE}"
    return Blocker("unmanaged", text, tuple(names))


def _unread(event_state: EventState) -> Blocker | None:
    silent = [participant.host.name for participant in event_state.hit if not participant.ok and not counts_as_drained(event_state, participant)]
    resting = [participant.host.name for participant in event_state.hit if participant.host.state == "resting"]
    if silent and silent == resting:
        text = f"{', '.join(silent)} had no event when this run began, and no longer {'take' if len(silent) > 1 else 'takes'} part in it"
        return Blocker("unread", text, tuple(silent))
    if silent:
        text = f"{', '.join(silent)} could not be read"
        if overrides.is_approval(event_state.override) or not any(participant.ok for participant in event_state.hit):
            text += ANYWAY + acknowledge(event_state)
        return Blocker("unread", text, tuple(silent))
    if event_state.named.unsure:
        text = f"{', '.join(event_state.named.unsure)} may be a VM that was not read"
        text += ANYWAY + acknowledge(event_state) if overrides.is_approval(event_state.override) else ""
        return Blocker("unread", text, tuple(event_state.named.unsure))
    return None


def acknowledge(event_state: EventState) -> str:
    """Return the command that approves an event from outside the VMs, safe to paste: the VM that it names is the one that the inventory knows."""
    participant = next(iter(event_state.hit), None)
    identity = participant.host.inventory_identity if participant else Identity()
    kind, name = "virtualMachines", identity.name
    if participant and participant.host.identity.scale_set:
        kind, name = "virtualMachineScaleSets", identity.scale_set
    return (
        f"az maintenance scheduledevents acknowledge --resource-group {shell_word(identity.group or 'GROUP', 'GROUP')} --resource-type {kind}"
        f" --resource-name {shell_word(name or 'NAME', 'NAME')} --scheduled-events-id {shell_word(event_state.event.event_id, 'EVENT_ID')}"
    )


def _window(event_state: EventState, now: float) -> Blocker | None:
    found = windows.summary(event_state.decision.window, now)
    if found is None or found["open"]:
        return None
    return Blocker("window", WINDOW_CLOSED, detail=f"{WINDOW_CLOSED}; it {found['changes']}", retry_at=windows.next_change(event_state.decision.window, now))


def _methods(event_state: EventState) -> Blocker | None:
    without = [participant for participant in event_state.hit if participant.ok and participant.decision.drain and not participant.host.methods]
    # One whose drain_methods cannot be read may have some.
    if wrong := next(filter(None, map(wrong_settings, without)), None):
        return wrong
    names = tuple(participant.host.name for participant in without)
    return Blocker("no_method", f"{', '.join(names)}: {NO_METHOD}", names) if without else None


def no_method(participant: Participant) -> Blocker:
    """Return why a VM without drain methods is not drained."""
    return wrong_settings(participant) or Blocker("no_method", NO_METHOD, (participant.host.name,))


def wrong_settings(participant: Participant) -> Blocker | None:
    """Return why a VM cannot be drained with its settings, or None."""
    wrong, name = participant.host.wrong_settings, participant.host.name
    return Blocker("wrong_settings", f"the settings of {name} are wrong: {wrong[0]}", (name,)) if wrong else None


def counts_as_drained(event_state: EventState, participant: Participant) -> bool:
    """Return whether the policy counts an unreachable VM as drained. A VM whose observation failed is not unreachable."""
    return not participant.ok and participant.host.state == "unreachable" and event_state.decision.unreachable == "drained"


def setback(event_state: EventState, settings: Settings) -> Participant | None:
    """Return a VM whose drain failed and that is not ready for its retry, or None. Until its retry the other VMs of the event stay in service."""
    # With any override, drained VMs stay drained. If the VMs' documents contradict each other, each VM counts for itself only.
    if event_state.override is not None or event_state.divided:
        return None
    for participant in event_state.hit:
        if participant.failed_live:
            again = deadlines.retry(participant, settings)
            if participant.holds_changes or again.exhausted or again.wait > 0:
                return participant
    return None
