# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A VM that drains by itself: against the simulator, with real records, leases, triggers and commands."""

from __future__ import annotations

import pathlib
import sys
import threading
import time
import typing as t

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[7]
sys.path.insert(0, str(ROOT / "tests"))

from lab.simulator import Simulator  # noqa: E402  the folder of tests is no package

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.files import LocalFiles
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.system import LocalHost
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_changes import RecordChange
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_store import RecordStore
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease.lease_schema import LeaseLost
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.lease.lease_store import LeaseStore
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.drain import drainer, served_event
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.drain.content import parse_content
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.drain.drainer import serve, this_vm
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.drain.triggers import Triggers
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.settings import Settings

DRAINS = {"name": "all", "drain": True, "approve": "after_drain", "when": None}
APPROVES = {"name": "at once", "drain": False, "approve": "now", "when": None}


class VM:
    """The VM web1 of a simulator: what its watcher reads and writes, and its application, a file."""

    def __init__(self, folder: pathlib.Path, simulator: Simulator) -> None:
        self.simulator = simulator
        self.folder = folder
        self._approvals = len(simulator.approvals())
        self.app = folder / "in_rotation"
        self.app.touch()
        (folder / "triggers").mkdir()
        self.triggers = Triggers(str(folder / "triggers"))
        self.log: list[str] = []
        self.rules: list[dict[str, t.Any]] = [DRAINS]
        self.methods = [self.command("1-command", f"rm -f {self.app}", f"test ! -e {self.app}", f"touch {self.app}")]
        self.elsewhere: list[str] = []
        self.settings: dict[str, t.Any] = {"drain_types": ["Preempt"]}
        self.records = RecordStore(LocalFiles(str(folder / "records")), LocalHost())
        self.leases = LeaseStore(LocalFiles(str(folder / "records")), LocalHost())

    @staticmethod
    def command(identifier: str, begin: str, check: str, undo: str) -> dict[str, t.Any]:
        given = {key: ["/bin/sh", "-c", line] for key, line in {"begin": begin, "check": check, "undo": undo}.items()}
        return {"id": identifier, "kind": "command", "where": "own", "given": given, "outside": False, "runs": True, "ends": True, "report": None}

    def event(self, event_type: str = "Preempt", resources: t.Sequence[str] = ("web1",), **more: t.Any) -> str:
        return self.simulator.event(event_type, resources, **more)

    def serve(self, *event_ids: str) -> bool:
        for event_id in event_ids:
            self.triggers.add(event_id)
        try:
            return self.drain_once()
        finally:
            assert self.triggers.take() == []

    def drain_once(self) -> bool:
        """One start of the draining unit."""
        endpoint = self.simulator.endpoints["web1"]
        settings = Settings(**{"endpoint": endpoint, "records_path": str(self.folder / "records"), **self.settings})
        content = parse_content({"rules": self.rules, "methods": self.methods, "elsewhere": self.elsewhere})
        return serve(self.triggers, this_vm(settings, content, self.log.append), shortest=0.0)

    def approvals(self) -> list[dict[str, t.Any]]:
        return self.simulator.approvals()[self._approvals :]

    def record(self, event_id: str) -> dict[str, t.Any]:
        return self.records.read(event_id) or {}

    def phases(self, event_id: str) -> list[str]:
        return [entry["phase"] for entry in self.record(event_id).get("history", [])]

    @property
    def untouched(self) -> bool:
        return self.app.exists() and not self.records.read_all(None).records and not self.leases.read_all().leases


@pytest.fixture(scope="module")
def simulator() -> t.Iterator[Simulator]:
    simulator = Simulator(["web1", "web2"], 1)
    yield simulator
    simulator.close()


@pytest.fixture
def vm(tmp_path: pathlib.Path, simulator: Simulator) -> t.Iterator[VM]:
    vm = VM(tmp_path, simulator)
    yield vm
    for entry in simulator.ask("GET", "/events"):
        if entry["state"] in ("scheduled", "started"):
            simulator.ask("POST", f"/events/{entry['event_id']}/cancel")


def test_a_preempt_is_drained_and_a_run_finds_all_that_its_undo_needs(vm: VM) -> None:
    event_id = vm.event()
    assert vm.serve(event_id)
    assert not vm.app.exists()
    record = vm.record(event_id)
    assert vm.phases(event_id) == ["noticed", "draining", "drained"] and record["watcher"] == "unseen"
    assert record["verified_at"] and record["boot_id"] == LocalHost().boot_id()
    assert record["rule"] == {"name": "all", "drain": True, "approve": "after_drain", "order": 1, "beyond_capacity": True}
    assert record["event"]["event_type"] == "Preempt"
    assert record["methods"][0]["options"]["undo"][-1].startswith("touch") and record["vm_name"] == "web1" and record["vm_id"]
    assert (vm.folder / "records" / "asked").exists(), "a run has to know since when Scheduled Events have been enabled"
    # No lease is left, and nothing was approved: that is a run's to do, with all the VMs of the event.
    assert not vm.leases.read_all().leases and not vm.approvals()


def test_served_twice_it_drains_once(vm: VM) -> None:
    event_id = vm.event()
    assert vm.serve(event_id)
    revision = vm.record(event_id)["revision"]
    vm.app.touch()  # a person has put it back
    assert vm.serve(event_id)
    assert vm.record(event_id)["revision"] == revision and vm.app.exists()


@pytest.mark.parametrize("case", ["unknown", "another VM's", "another type", "ended"])
def test_a_trigger_alone_does_nothing(vm: VM, case: str) -> None:
    if case == "unknown":
        event_id = "c7061bac-afdc-4513-b24b-aa5f13a16123"
    elif case == "another VM's":
        event_id = vm.event(resources=["web2"])
    elif case == "another type":
        event_id = vm.event("Reboot", notice=30)
    else:
        event_id = vm.event()
        vm.simulator.ask("POST", f"/events/{event_id}/cancel")
    assert vm.serve(event_id)
    assert vm.untouched, vm.log


def test_an_endpoint_that_does_not_answer_is_a_failure_in_one_line(vm: VM, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served_event, "MOST_SECONDS", 2.0)
    vm.settings["endpoint"] = "http://127.0.0.1:9"
    assert not vm.serve("c7061bac-afdc-4513-b24b-aa5f13a16123")
    assert vm.untouched and "nothing was done" in vm.log[-1]


def test_the_leases_of_other_runs_are_passed_and_their_holders_stop(vm: VM) -> None:
    event_id, other = vm.event(), "11111111-1111-4111-8111-111111111111"
    vm.leases.make("run1", event_id, 180.0)
    vm.leases.make("run2", other, 180.0)
    assert vm.serve(event_id)
    assert vm.phases(event_id)[-1] == "drained"
    for run, leased in (("run1", event_id), ("run2", other)):
        with pytest.raises(LeaseLost):
            vm.leases.renew(run, leased, 180.0)


def test_another_type_gives_way_to_a_run_and_goes_on_when_its_lease_is_over(vm: VM) -> None:
    vm.settings.update(drain_types=["Preempt", "Reboot"], drain_before=900)
    event_id = vm.event("Reboot")
    vm.leases.make("run1", event_id, 180.0)
    assert vm.serve(event_id)
    assert vm.app.exists() and not vm.record(event_id) and "run run1 is at work" in vm.log[-1]
    vm.leases.withdraw("run1")
    vm.leases.make("run1", event_id, 1.0)
    time.sleep(1.1)
    assert vm.serve(event_id)
    assert vm.phases(event_id)[-1] == "drained" and not vm.leases.read_all().leases


def test_all_methods_begin_at_once_and_get_the_seconds_that_are_left(vm: VM) -> None:
    left, late = vm.folder / "left", vm.folder / "late"
    slow = vm.command("1-slow", f'printf %s "$MAINTENANCE_SECONDS_LEFT" > {left}', f"test -e {late} || exit 75", "true")
    vm.methods.insert(0, slow)
    event_id = vm.event()
    timer = threading.Timer(1.5, late.touch)
    timer.start()
    assert vm.serve(event_id)
    timer.join()
    assert 20 <= int(left.read_text()) <= 30 and not vm.app.exists()
    assert vm.phases(event_id) == ["noticed", "draining", "drained"]
    # The second one had begun, and was recorded, while the first was not drained.
    entries = {method["id"]: method["at"] for method in vm.record(event_id)["methods"]}
    assert entries["1-command"] < entries["1-slow"]


def test_it_never_says_drained_while_a_method_elsewhere_is_open(vm: VM) -> None:
    vm.elsewhere = ["2-haproxy"]
    event_id = vm.event()
    assert vm.serve(event_id)
    record = vm.record(event_id)
    assert not vm.app.exists() and vm.phases(event_id) == ["noticed", "draining"] and record["verified_at"] is None
    assert record["reason"] == "drained on the VM itself; left to a run: 2-haproxy"
    assert vm.serve(event_id) and vm.record(event_id)["revision"] == record["revision"]


def test_a_failure_is_recorded_and_keeps_nothing_else_from_draining(vm: VM) -> None:
    vm.methods.insert(0, vm.command("1-broken", "exit 3", "true", "true"))
    event_id = vm.event()
    for attempt in range(1, 4):
        assert not vm.serve(event_id)
        record = vm.record(event_id)
        assert (record["phase"], record["attempts"]) == ("failed", attempt) and "1-broken" in record["reason"]
    assert not vm.app.exists()
    # After three attempts it is a run's, and no failure of the unit any more.
    assert vm.serve(event_id) and vm.record(event_id)["attempts"] == 3


def test_what_the_policy_approves_without_a_drain(vm: VM) -> None:
    vm.rules = [APPROVES]
    both = vm.event(resources=["web1", "web2"])
    assert vm.serve(both) and vm.untouched and not vm.approvals()
    event_id = vm.event()
    assert vm.serve(event_id)
    assert vm.app.exists() and vm.phases(event_id) == ["noticed", "approved"]
    (approval,) = vm.approvals()
    assert approval["vm"] == "web1" and event_id in str(approval["body"])
    assert not vm.leases.read_all().leases


class Killed(BaseException):
    """The process ends here, as with SIGKILL: no handler runs."""


def test_killed_at_every_change_of_a_file_it_goes_on(vm: VM, monkeypatch: pytest.MonkeyPatch) -> None:
    left = [0]

    class Dying(LocalFiles):
        """The records' folder of a process that is killed right before one of its changes: it makes none after it."""

    def dying(name: str) -> t.Callable[..., t.Any]:
        real = getattr(LocalFiles, name)

        def change(files: LocalFiles, *words: t.Any) -> t.Any:
            left[0] -= 1
            if left[0] <= 0:
                raise Killed
            return real(files, *words)

        return change

    for name in ("write_exclusive", "link", "rename", "unlink"):
        setattr(Dying, name, dying(name))
    changes = 0
    while True:
        changes += 1
        event_id = vm.event()
        vm.app.touch()
        left[0] = changes
        with monkeypatch.context() as patched:
            patched.setattr(drainer, "LocalFiles", Dying)
            vm.triggers.add(event_id)
            try:
                vm.drain_once()
                break
            except Killed:
                # The trigger is still there, so that systemd starts the unit again.
                assert vm.triggers.take() == [event_id.lower()]
        assert vm.serve(event_id), (changes, vm.log[-5:])
        record = vm.record(event_id)
        assert record["phase"] == "drained" and not vm.app.exists(), changes
        assert record["methods"][0]["options"]["undo"] and not vm.leases.read_all().leases
        vm.simulator.ask("POST", f"/events/{event_id}/cancel")
    print(f"killed at each of {changes - 1} changes")
    assert changes > 10


def test_records_that_cannot_be_written_drain_nothing(vm: VM) -> None:
    (vm.folder / "records").write_text("no folder")
    assert not vm.serve(vm.event())
    assert vm.app.exists()


def test_two_events_are_served_side_by_side(vm: VM) -> None:
    first, second = vm.event(), vm.event()
    assert vm.serve(first, second)
    assert vm.phases(first) == vm.phases(second) == ["noticed", "draining", "drained"]


def test_each_drain_has_a_number_because_the_last_is_undone_first(vm: VM) -> None:
    events = [vm.event() for unused in range(3)]
    for event_id in events:
        assert vm.serve(event_id)
    assert [vm.record(event_id)["rule"]["order"] for event_id in events] == [1, 2, 3]


def test_a_lease_of_a_watcher_that_was_killed_is_no_obstacle(vm: VM) -> None:
    vm.settings.update(drain_types=["Reboot"], drain_before=900)
    event_id = vm.event("Reboot")
    vm.leases.make("watcher0123456789ab", event_id, 180.0)
    assert vm.serve(event_id)
    assert vm.phases(event_id)[-1] == "drained" and not vm.leases.read_all().leases


def test_a_drain_for_what_was_recovered_does_not_begin_again(vm: VM) -> None:
    event_id = vm.event()
    vm.records.write(event_id, RecordChange(changes={"phase": "recovered", "outcome": "completed"}))
    assert vm.serve(event_id)
    assert vm.app.exists() and "it is over for this VM" in vm.log[-1]
