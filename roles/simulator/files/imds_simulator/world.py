# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""What is simulated, without its servers: one event store, many VMs, their documents, and the recorder and hooks."""

from __future__ import annotations

import asyncio
from typing import Any, Dict, List, Optional, Tuple

from imds_simulator.clock import Clock, VirtualClock
from imds_simulator.endpoint.documents import document, etag
from imds_simulator.endpoint.faults import Faults
from imds_simulator.events.event import Event
from imds_simulator.events.groups import Groups
from imds_simulator.events.machine import Machine
from imds_simulator.recording.hooks import Hooks
from imds_simulator.recording.recorder import Recorder
from imds_simulator.switches import Switches
from imds_simulator.vm import Vm


class World:
    """Connect the components for endpoints, control API and scenarios. Decides nothing about events itself."""

    def __init__(
        self, clock: Clock, switches: Optional[Switches] = None, enabled: bool = True, hook: Optional[str] = None, record: Optional[str] = None
    ) -> None:
        self.loop = asyncio.get_event_loop()
        self.clock = clock
        self.switches = switches or Switches()
        self.groups = Groups(clock, self.switches, enabled)
        self.machine = Machine(clock, self.switches, self.groups, self._report, self._changed)
        self.faults = Faults()
        self.recorder = Recorder(clock, record)
        self.hooks = Hooks(hook)
        self.control_url: Optional[str] = None
        # Requests received so far, including those whose answer is delayed.
        self.asked = 0
        # The last scenario played, with the EventIds of its events by their ids in the scenario.
        self.played: Dict[str, Any] = {"name": None, "events": {}}
        self.stopped = asyncio.Event()
        self._documents: Dict[Tuple[str, str], Tuple[bytes, str]] = {}

    # --- calls from endpoints ------------------------------------------------------------------------------------------

    def count_get(self, vm: Vm) -> float:
        """Count a GET of the document, which keeps the feature enabled. Return the seconds until it may be answered."""
        feature = self.groups.feature(vm)
        now = self.clock.now()
        if feature.count_get(now):
            self.groups.restart_incarnation(vm)
            self._documents.clear()
            if feature.events_from > now:
                self.clock.call_at(feature.events_from, lambda: self._show_withheld(vm))
        return feature.blocked_for(now)

    def count_post(self, vm: Vm) -> None:
        """Count a POST, which keeps the feature enabled, too."""
        self.groups.feature(vm).count_post(self.clock.now())

    def _show_withheld(self, vm: Vm) -> None:
        if self.visible(vm):
            self.groups.count_up(vm)
        self._documents.clear()

    def polled(self) -> None:
        """Advance a virtual clock by seconds_per_poll after a GET."""
        if self.switches.seconds_per_poll and isinstance(self.clock, VirtualClock):
            self.clock.advance(self.switches.seconds_per_poll)

    def document(self, vm: Vm, version: str) -> Tuple[bytes, str]:
        """Return the VM's document and its ETag."""
        key = (vm.name, version)
        if key not in self._documents:
            body = document(version, self.groups.incarnation(vm), self.visible(vm), self.switches)
            self._documents[key] = (body, etag(body))
        return self._documents[key]

    def visible(self, vm: Vm) -> List[Event]:
        """Return the events in the VM's documents."""
        if not self.groups.feature(vm).shows_events(self.clock.now()):
            return []
        return [event for event in self.machine.events.values() if event.listed and self.groups.delivers(vm, event)]

    def find_event(self, vm: Vm, event_id: str) -> Optional[Event]:
        """Return an event of the VM's documents, or None."""
        event = self.machine.get(event_id)
        return event if event is not None and event.listed and self.groups.delivers(vm, event) else None

    # --- callbacks of the machine --------------------------------------------------------------------------------------

    def _report(self, transition: str, event: Event, **details: Any) -> None:
        entry = self.recorder.transition(transition, event, details)
        self.hooks.add(dict(entry, event=event.as_dict()))

    def _changed(self, event: Event) -> None:
        self.groups.count_change(event)
        self._documents.clear()

    def refresh(self) -> None:
        """Update the documents after a change of a switch or of the list of VMs."""
        self._documents.clear()

    def urls(self) -> Dict[str, Optional[str]]:
        """Return the address of each VM's endpoint."""
        return {vm.name: vm.url for vm in self.groups.vms.values()}
