# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One VM in a temporary folder, with real records, leases, commands and files; only its services are a stand-in."""

from __future__ import annotations

import json
import os

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.engine import Drain
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.methods.method import Answer, Method
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.orders import Identity, drain_order, undo_order
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.preview import preview
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.undo import Undo
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.files import LocalFiles
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine.commands import LocalCommands
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine.connections import LocalConnections
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine.flag_files import LocalFlagFiles
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine.machine import Machine
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine.services import ServiceError, ServiceState
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.system import LocalHost
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_store import RecordStore
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease.lease_operations import UnderLease
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease.lease_store import LeaseStore
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.operations.leased_record import LeasedRecord
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.helpers import EVENT

RUN = "run1"
ABOUT = {
    "event_id": EVENT,
    "event_type": "Reboot",
    "event_status": "Scheduled",
    "not_before": "2026-11-21T21:00:00Z",
    "description": "Host server is undergoing maintenance.",
    "resources": ["vm_0", "vm_1"],
}


class Killed(BaseException):
    """The process ends here: nothing in the engine may hold it up."""


class FakeServices:
    """In place of systemd: states that a test sets, and the calls in order."""

    def __init__(self, **states):
        self.present = states
        self.jobs = set()
        self.calls = []
        self.refuses = None

    def states(self, names):
        if self.refuses:
            raise ServiceError(self.refuses)
        return [ServiceState(name, name in self.present, self.present.get(name, "inactive"), name in self.jobs) for name in names]

    def stop(self, names):
        self.calls.append(("stop", list(names)))
        self.present.update(dict.fromkeys(names, "inactive"))

    def start(self, names):
        self.calls.append(("start", list(names)))
        self.present.update(dict.fromkeys(names, "active"))


class Scripted(Method):
    """A method whose answers the test gives; it notes each call."""

    name = "scripted"

    def __init__(self):
        self.calls = []
        self.finding = {"was": "in"}
        self.checks, self.undos = [], []
        self.on_begin = lambda machine, task: None

    def find(self, machine, task):
        self.calls.append("find")
        return dict(self.finding)

    def begin(self, machine, task):
        self.calls.append("begin")
        self.on_begin(machine, task)

    def check(self, machine, task):
        self.calls.append("check")
        return self._next(self.checks, "drained")

    def undo(self, machine, task):
        self.calls.append("undo")
        self.undone_with = task
        return self._next(self.undos, "undone")

    @staticmethod
    def _next(answers, usual):
        answer = answers.pop(0) if answers else usual
        if isinstance(answer, BaseException):
            raise answer
        return answer if isinstance(answer, Answer) else Answer(answer)


class Vm:
    """The VM, and one observation of a drain or an undo of it at a time."""

    def __init__(self, where, vm_id="VM-A"):
        self.files = LocalFiles(str(where / "records"))
        self.host = LocalHost()
        self.records, self.leases = RecordStore(self.files, self.host), LeaseStore(self.files, self.host)
        self.services = FakeServices()
        self.machine = Machine(self.host.now, LocalCommands(), self.services, LocalFlagFiles(), LocalConnections())
        self.vm_id, self.boot = vm_id, "boot-1"
        self.lease = None
        self.log = []

    def journal(self):
        return LeasedRecord(self.records, UnderLease(self.leases, self.lease, EVENT), EVENT, self.vm_id, self.log.append)

    def take_lease(self, seconds=180.0):
        self.leases.make(RUN, EVENT, seconds)
        self.lease = {"run": RUN, "seconds": seconds}

    def lose_lease(self):
        self.leases.withdraw(RUN)

    def drain(self, *steps, **keys):
        order = drain_order(dict({"event": ABOUT, "methods": list(steps)}, **keys))
        return Drain(order, self.journal(), self.machine, Identity(self.vm_id, "vm_0", self.boot)).run()

    def undo(self, *steps, **keys):
        return Undo(undo_order(dict({"event": ABOUT, "methods": list(steps)}, **keys)), self.journal(), self.machine).run()

    def would(self, *steps, **keys):
        """What check mode says of a drain: the texts in order."""
        return list(self.preview(*steps, **keys).after.values())

    def preview(self, *steps, **keys):
        """What check mode asks."""
        return preview(drain_order(dict({"event": ABOUT, "methods": list(steps)}, **keys)), self.journal().read(), self.machine)

    def record(self):
        return self.records.read(EVENT)

    def entry(self, identifier):
        (found,) = [method for method in self.record()["methods"] if method["id"] == identifier]
        return found

    def phases(self):
        return [entry["phase"] for entry in self.record()["history"]]

    def damage(self, change):
        """Change the record's file as a person, or a fault, would."""
        (name,) = [name for name in os.listdir(self.files.where) if name.startswith("event-")]
        path = os.path.join(self.files.where, name)
        with open(path, encoding="utf-8") as stream:
            data = json.load(stream)
        change(data)
        with open(path, "w", encoding="utf-8") as stream:
            json.dump(data, stream)


def step(kind="scripted", identifier=None, **keys):
    """One method, as the controller sends it."""
    given = keys.pop("given", {})
    return dict(
        {"id": identifier or "1-" + kind, "kind": kind, "where": "own", "given": given, "outside": False, "runs": True, "ends": True, "report": None}, **keys
    )
