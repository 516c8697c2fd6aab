# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What keeps an event from being approved, whatever its drains do. Each gate gives a reason in words, or nothing.

Claims of other runs and a person's decisions belong here: a gate that looks at the case holds the approval, and one in
C(DRAIN_GATES) holds the beginning of a drain. Capacity does not: whether an event fits depends on those served before it
(allocation.py).
"""

from __future__ import annotations

from collections.abc import Callable

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.printable_text import shell_word
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.config.settings import Settings
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.core.model import Identity
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.decide import deadlines
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.state import overrides
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.state.event_state import Case, Part

NO_METHOD = "no drain method is configured; set drain_methods, or the method none where nothing has to be drained"


def blockers(case: Case, settings: Settings, now: float) -> list[str]:
    """All reasons, the most lasting first."""
    found = (gate(case, settings, now) for gate in APPROVAL_GATES)
    return [words for words in found if words]


def lasting(case: Case, settings: Settings, now: float) -> str | None:
    """What only a person can lift."""
    return _said(case, settings, now) or case.decision.problem or _unmanaged(case, settings, now)


def _said(case: Case, settings: Settings, now: float) -> str | None:
    return overrides.blocker(case.word)


def _policy(case: Case, settings: Settings, now: float) -> str | None:
    if case.decision.problem:
        return case.decision.problem
    if case.decision.approve == "never":
        return f"the policy (rule {case.decision.name!r}) never approves it"
    return None


def _conflict(case: Case, settings: Settings, now: float) -> str | None:
    return case.conflict


def _contested(case: Case, settings: Settings, now: float) -> str | None:
    found = [part.contested for part in case.parts if part.named and part.contested]
    return f"{found[0]}; the inventory's vmId (respond_vm_id) would tell who is who" if found else None


def _unmanaged(case: Case, settings: Settings, now: float) -> str | None:
    names = case.named.unmanaged
    if not names or settings.unmanaged == "ignore" or overrides.says_approve(case.word):
        return None
    return f"it also names {', '.join(names)}, managed by nobody here; approving would start it there too (unmanaged: wait)"


def _unread(case: Case, settings: Settings, now: float) -> str | None:
    silent = [part.host.name for part in case.hit if not part.ok and not counts_as_drained(case, part)]
    if silent:
        words = f"{', '.join(silent)} could not be read"
        if overrides.says_approve(case.word) or not any(part.ok for part in case.hit):
            words += f"; if it must go on all the same, only Azure's own command can approve it: {acknowledge(case)}"
        return words
    if case.named.unsure:
        words = f"{', '.join(case.named.unsure)} may be a VM that could not be read"
        return words + (f"; Azure's own command approves it all the same: {acknowledge(case)}" if overrides.says_approve(case.word) else "")
    return None


def acknowledge(case: Case) -> str:
    """The command that approves an event from outside the VMs, safe to paste."""
    part = next(iter(case.hit), None)
    identity = part.host.identity if part else Identity()
    kind, name = "virtualMachines", identity.name
    if identity.scale_set:
        kind, name = "virtualMachineScaleSets", identity.scale_set
    return (
        f"az maintenance scheduledevents acknowledge --resource-group {shell_word(identity.group or 'GROUP', 'GROUP')} --resource-type {kind}"
        f" --resource-name {shell_word(name or 'NAME', 'NAME')} --scheduled-events-id {shell_word(case.event.event_id, 'EVENT_ID')}"
    )


def _window(case: Case, settings: Settings, now: float) -> str | None:
    windows = case.decision.window
    if windows and not any(window.contains(now) for window in windows):
        return "the policy's window for approvals is closed"
    return None


def _methods(case: Case, settings: Settings, now: float) -> str | None:
    without = [part.host.name for part in case.hit if part.ok and part.decision.drain and not part.host.methods]
    return f"{', '.join(without)}: {NO_METHOD}" if without else None


APPROVAL_GATES: tuple[Callable[[Case, Settings, float], str | None], ...] = (
    _said,
    _policy,
    _unmanaged,
    _methods,
    _contested,
    _conflict,
    _unread,
    _window,
)
DRAIN_GATES: tuple[Callable[[Case, Part, Settings, float], str | None], ...] = ()


def may_drain(case: Case, part: Part, settings: Settings, now: float) -> str | None:
    """Why a drain must not begin, beside its time."""
    return next((words for gate in DRAIN_GATES if (words := gate(case, part, settings, now))), None)


def counts_as_drained(case: Case, part: Part) -> bool:
    """The policy may say that a VM which nobody can reach serves nobody. A failed look is not unreachable."""
    return not part.ok and part.host.state == "unreachable" and case.decision.unreachable == "drained"


def setback(case: Case, settings: Settings) -> Part | None:
    """A VM whose drain failed and that is not ready for its retry: until then the others of the event serve as well."""
    # An override, whatever it is, leaves drained what is drained. And where its VMs contradict each other none speaks for the others.
    if case.word is not None or case.divided:
        return None
    for part in case.hit:
        if part.failed_live:
            again = deadlines.retry(part, settings)
            if part.holds_changes or again.exhausted or again.wait > 0:
                return part
    return None
