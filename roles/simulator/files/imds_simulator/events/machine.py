# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The state machine: events are created, approved, started, applied and removed. Only this module changes an event."""

from __future__ import annotations

from functools import partial
from typing import Any, Callable, Dict, Optional

from imds_simulator.clock import Clock, parse_iso
from imds_simulator.events.event import GONE, MAXIMUM_NOTICE, MINIMUM_NOTICE, SCHEDULED, STARTED, WAITING, Event, EventError
from imds_simulator.events.groups import Groups
from imds_simulator.switches import Switches


class Machine:
    """All events of the simulator. ``report`` is called at each transition, ``changed`` at each change that clients can see."""

    def __init__(self, clock: Clock, switches: Switches, groups: Groups, report: Callable[..., None], changed: Callable[[Event], None]) -> None:
        self._clock = clock
        self._switches = switches
        self._groups = groups
        self._report = report
        self._changed = changed
        self.events: Dict[str, Event] = {}

    # --- transitions from outside --------------------------------------------------------------------------------------

    def create(self, options: Dict[str, Any]) -> Event:
        """Create an event; start it at once if it gets no notice. Raise EventError."""
        event = Event(options)
        if event.event_id.lower() in self.events:
            raise EventError("there already is (or was) an event %s; a new operation has a new EventId" % event.event_id)
        self._check_rules_of_azure(event)
        waits = self._over_user_limit(event)
        if waits and self._switches.user_event_overflow == "refuse":
            raise EventError("%d user-initiated events are pending already" % self._switches.user_event_limit)
        self.events[event.event_id.lower()] = event
        if waits:
            self._report("waiting", event)
        else:
            self._publish(event)
        return event

    def get(self, event_id: str) -> Optional[Event]:
        """Return the event; EventIds are compared without case."""
        return self.events.get(event_id.lower())

    def approve(self, event: Event, by: str) -> bool:
        """Record a VM's approval. Return whether it is new."""
        if event.state != SCHEDULED:
            return False
        news = by not in event.approved_by
        if news:
            event.approved_by.append(by)
            self._report("approved", event, by=by)
            if self._switches.approval_changes_incarnation:
                self._changed(event)
        self._start_approved()
        return news

    def start(self, event: Event) -> None:
        """Start the event and plan its impact and end. Raise EventError."""
        if event.state not in (SCHEDULED, WAITING):
            raise EventError("event %s is %s and cannot start" % (event.event_id, event.state))
        self._cancel_timers(event)
        event.state = STARTED
        self._changed(event)
        self._report("started", event, approved=bool(event.approved_by))
        self._later(event, event.impact_after, lambda: self._impact(event, event.impact_seconds, False))
        for secondary in event.secondary_impacts:
            self._plan_secondary(event, secondary)
        self._later(event, event.started_seconds, lambda: self.finish(event))
        self._start_approved()

    def finish(self, event: Event) -> None:
        """Finish a started event. Raise EventError."""
        if event.state != STARTED:
            raise EventError("event %s is %s, only a started one can finish" % (event.event_id, event.state))
        self._remove(event, "completed", "finished")

    def cancel(self, event: Event) -> None:
        """Cancel the event. Azure may also withdraw a started one (an eviction that is no longer needed)."""
        if event.state == GONE:
            raise EventError("event %s is gone already" % event.event_id)
        self._remove(event, "cancelled", "cancelled")

    # --- consequences --------------------------------------------------------------------------------------------------

    def _check_rules_of_azure(self, event: Event) -> None:
        """Raise EventError for an event that Azure would not make, as far as the switches want that (facts 17 and 72)."""
        if self._switches.minimum_notice and not event.starts_at_once:
            least, most = MINIMUM_NOTICE.get(event.event_type, 0), MAXIMUM_NOTICE.get(event.event_type, float("inf"))
            if not least <= event.notice <= most:
                limits = "at least %d s" % least if most == float("inf") else "%d to %d s" % (least, most)
                raise EventError("Azure gives %s %s of notice, not %g (switch minimum_notice)" % (event.event_type, limits, event.notice))
        if self._switches.domains_apart and event.event_source == "Platform":
            pending = [other for other in self.events.values() if other.listed and other.event_source == "Platform"]
            domains = {(vm.group, vm.texts["fault_domain"]) for one in [event, *pending] for vm in self._groups.hit_vms(one)}
            here = {vm.group for vm in self._groups.hit_vms(event)}
            for group in sorted(here):
                if sum(1 for name, _domain in domains if name == group) > 1:
                    raise EventError("Azure does not hit two fault domains of group %s at the same time (switch domains_apart)" % group)

    def _over_user_limit(self, event: Event) -> bool:
        limit = self._switches.user_event_limit
        if not limit or event.event_source != "User":
            return False
        return sum(1 for other in self.events.values() if other.listed and other.event_source == "User") >= limit

    def _publish(self, event: Event) -> None:
        now = self._clock.now()
        event.not_before = now + event.notice
        if event.requested_not_before:
            try:
                event.not_before = self._clock.moment_of(parse_iso(event.requested_not_before))
            except ValueError:
                del self.events[event.event_id.lower()]
                raise EventError("not_before %r is not an ISO 8601 date" % event.requested_not_before) from None
        notice = not event.starts_at_once and self._gives_notice(event, now)
        if not notice:
            event.not_before = now
        event.not_before_date = self._clock.date_of(event.not_before)
        if not notice:
            self._report("created", event, notice=False)
            self.start(event)
            return
        event.state = SCHEDULED
        self._changed(event)
        self._report("created", event, notice=True)
        self._plan_life(event)

    def _gives_notice(self, event: Event, now: float) -> bool:
        if event.os_image and not self._switches.os_image_events:
            return False
        return self._switches.while_disabled == "notice" or self._groups.any_enabled(event, now)

    def _plan_life(self, event: Event) -> None:
        self._later(event, event.not_before - self._clock.now(), lambda: self.start(event))
        if event.cancel_after is not None:
            self._later(event, event.cancel_after, lambda: self.cancel(event))
        for index, seconds in enumerate(event.tenants):
            if seconds is not None:
                self._later(event, float(seconds), partial(self._tenant_approves, event, index))
        if event.approvals == "automatic":
            self.approve(event, "platform")

    def _tenant_approves(self, event: Event, index: int) -> None:
        event.tenants_approved[index] = True
        self._report("tenant_approved", event, tenant=index)
        self._start_approved()

    def _start_approved(self) -> None:
        """Plan the start of each event that has its approvals; NotBefore has a timer of its own."""
        for event in list(self.events.values()):
            if event.state == SCHEDULED and not event.start_planned and self._has_all_approvals(event):
                event.start_planned = True
                delay = self._switches.start_delay if event.start_delay is None else event.start_delay
                self._later(event, delay, partial(self._start_if_scheduled, event))

    def _start_if_scheduled(self, event: Event) -> None:
        if event.state == SCHEDULED:
            self.start(event)

    def _has_all_approvals(self, event: Event) -> bool:
        return self._own_approval(event) and all(event.tenants_approved) and not self._coupled(event)

    def _own_approval(self, event: Event) -> bool:
        if event.approvals == "none":
            return False
        if event.approvals == "all":
            approvers = {name.lower() for name in event.approved_by}
            known = [vm.name.lower() for vm in self._groups.vms.values() if event.names(vm.name)]
            return bool(known) and approvers.issuperset(known)
        return bool(event.approved_by)

    def _coupled(self, event: Event) -> bool:
        """Return whether an approved Terminate waits for earlier (or simultaneous) pending Terminates of its group."""
        if event.event_type != "Terminate" or not self._switches.terminate_coupling:
            return False
        mine = self._groups.groups_of(event)
        return any(
            other is not event
            and other.event_type == "Terminate"
            and other.state == SCHEDULED
            and int(other.not_before) <= int(event.not_before)
            and not self._own_approval(other)
            and mine & self._groups.groups_of(other)
            for other in self.events.values()
        )

    def _impact(self, event: Event, seconds: float, secondary: bool) -> None:
        self._report("impact", event, impact_type=event.impact_type, seconds=seconds, secondary=secondary)
        if event.ends_vm:
            self._groups.end_vms(event)
            return
        self._later(event, seconds, lambda: self._report("impact_ended", event, secondary=secondary))

    def _plan_secondary(self, event: Event, secondary: Dict[str, float]) -> None:
        after, seconds = float(secondary.get("after", 60)), float(secondary.get("seconds", 1))
        self._later(event, after, lambda: self._impact(event, seconds, True))

    def _remove(self, event: Event, outcome: str, transition: str) -> None:
        was_listed = event.listed
        self._cancel_timers(event)
        event.state, event.outcome = GONE, outcome
        if was_listed:
            self._changed(event)
        self._report(transition, event)
        for waiting in list(self.events.values()):
            if waiting.state == WAITING and not self._over_user_limit(waiting):
                self._publish(waiting)
        self._start_approved()

    def _later(self, event: Event, seconds: float, action: Callable[[], Any]) -> None:
        event.timers.append(self._clock.call_later(max(0.0, seconds), action))

    @staticmethod
    def _cancel_timers(event: Event) -> None:
        for timer in event.timers:
            timer.cancel()
        event.timers = []
