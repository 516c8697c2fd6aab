# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Delivery: which VM gets which event, and under which DocumentIncarnation."""

from __future__ import annotations

from typing import Callable, Dict, List, Set, Tuple

from imds_simulator.clock import Clock
from imds_simulator.events.event import Event
from imds_simulator.events.feature import Feature
from imds_simulator.switches import Switches
from imds_simulator.vm import Vm


class Groups:
    """The VMs with their delivery groups, feature flags and incarnation counters."""

    def __init__(self, clock: Clock, switches: Switches, enabled: bool = True) -> None:
        self._clock = clock
        self._switches = switches
        self._enabled_at_first = enabled
        self.vms: Dict[str, Vm] = {}
        self._features: Dict[Tuple[str, str], Feature] = {}
        self._counters: Dict[Tuple[str, ...], int] = {}
        self.on_vm_end: Callable[[Vm], None] = lambda vm: None

    def add(self, vm: Vm) -> None:
        """Add a VM to its group."""
        if any(vm.name.lower() == name.lower() for name in self.vms):
            raise ValueError("there already is a VM named '%s'" % vm.name)
        self.vms[vm.name] = vm

    def feature(self, vm: Vm) -> Feature:
        """Return the flag of the VM's group and zone."""
        key = (vm.group, vm.zone)
        if key not in self._features:
            self._features[key] = Feature(self._switches, self._enabled_at_first, self._clock.now())
        return self._features[key]

    def set_features(self, enabled: bool) -> None:
        """Reset the flags, as a scenario may require."""
        self._enabled_at_first = enabled
        self._features.clear()

    # --- delivery ------------------------------------------------------------------------------------------------------

    def delivers(self, vm: Vm, event: Event) -> bool:
        """Return whether the VM's documents include the event."""
        return event.names(vm.name) or (not vm.alone and vm.group in self.groups_of(event))

    def groups_of(self, event: Event) -> Set[str]:
        """Return the groups that get the event. A name of no simulated VM stands for a machine of the event's group."""
        if event.group is not None:
            return {event.group}
        hit = self.hit_vms(event)
        if not hit:
            return {next(iter(self.vms.values())).group} if self.vms else set()
        return {vm.group for vm in hit if not vm.alone}

    def hit_vms(self, event: Event) -> List[Vm]:
        """Return the simulated VMs that the event names."""
        return [vm for vm in self.vms.values() if event.names(vm.name)]

    def any_enabled(self, event: Event, now: float) -> bool:
        """Return whether any VM that gets the event has the feature enabled."""
        return any(self.feature(vm).is_enabled(now) for vm in self.vms.values() if self.delivers(vm, event))

    def end_vms(self, event: Event) -> None:
        """End the VMs that the event names."""
        for vm in self.hit_vms(event):
            vm.gone = True
            self.on_vm_end(vm)

    # --- incarnation ---------------------------------------------------------------------------------------------------

    def _key(self, vm: Vm) -> Tuple[str, ...]:
        scope = "vm" if vm.alone else self._switches.incarnation_scope
        return {"vm": ("vm", vm.name), "all": ("all",), "group": ("group", vm.group)}[scope]

    def incarnation(self, vm: Vm) -> int:
        """Return the VM's DocumentIncarnation."""
        first: int = self._switches.first_incarnation
        return self._counters.get(self._key(vm), first)

    def count_change(self, event: Event) -> None:
        """Count one change on each counter, however many VMs share it. An event withheld while enabling is not a visible change."""
        now = self._clock.now()
        receivers = [vm for vm in self.vms.values() if self.delivers(vm, event) and self.feature(vm).shows_events(now)]
        for key in {self._key(vm) for vm in receivers}:
            self._counters[key] = self._counters.get(key, self._switches.first_incarnation) + 1

    def count_up(self, vm: Vm) -> None:
        """Count one change on the VM's counter."""
        self._counters[self._key(vm)] = self.incarnation(vm) + 1

    def restart_incarnation(self, vm: Vm) -> None:
        """Restart the counter: the feature was enabled again in this VM's group and zone. One that another zone counts on, too, goes on."""
        now = self._clock.now()
        enabled_here, others = [], []
        for other in self.vms.values():
            (enabled_here if (other.group, other.zone) == (vm.group, vm.zone) else others).append(other)
        kept = {self._key(other) for other in others if self.feature(other).is_enabled(now)}
        for key in {self._key(other) for other in enabled_here} - kept:
            self._counters[key] = self._switches.first_incarnation
