# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Item 3: a VM offers copies of records of others. Several liars offer one kind each, all in one run; then the same copies once more."""

from __future__ import annotations

import typing as t

import pytest
import records
from victims import Victims

VICTIMS = ("web-command", "web-tasks", "web-server", "web-approve", "web-rule", "web-hold", "web-revision", "web-methods")


class Copied:
    """The lab after a pass in which one VM offers copies for all others."""

    def __init__(self, lab: Victims) -> None:
        self.lab = lab
        simulator = lab.simulator
        ids = {one["name"]: one["vm_id"] for one in simulator.ask("GET", "/vms")}
        self.lb1 = lab.balancer("lb1", **{"web-server": "maint"})
        long = {"notice": 36000, "started_seconds": 36000}
        self.approve = simulator.event("Reboot", ["web-approve", "stranger"], **long)
        self.rule = simulator.event("Reboot", ["web-rule"], **long)
        self.hold = simulator.event("Freeze", ["web-hold"], duration_in_seconds=5, **long)
        # It cannot drain, so nothing may be approved for it.
        lab.hosts["web-rule"]["drain_methods"] = [{"method": "command", "begin": "true", "check": "sh -c 'exit 75'", "undo": "true"}]
        for vm, record in self._copies().items():
            lab.plant("liar", *records.replica(vm, ids[vm], record))
        self.output = lab.raw_play("maintenance.azure.respond")[1].decode()

    def _copies(self) -> dict[str, dict[str, t.Any]]:
        lab = self.lab

        def command(undo: str) -> dict[str, t.Any]:
            return records.method("command", {"begin": "true", "check": "true", "undo": undo, "timeout": 10}, outside=True)

        tasks = lab.evil_tasks("copied-tasks")
        nothing = command("true")
        server = {"server": "web-server", "balancers": {"lb1": {"shop": {"state": "ready", "up": False}}}}
        haproxy = {"balancers": ["lb1"], "server": "web-server", "backends": [], "sessions": 0, "maintenance": True, "socket": "/run/x"}
        now = {"rule": {"name": "liar", "drain": False, "approve": "now", "order": 1}}

        def listed(event_id: str, *names: str) -> dict[str, t.Any]:
            return records.event(0, names[0], event_id=event_id, event_type="Reboot", resources=list(names))

        return {
            "web-command": records.record(records.event(1, "web-command"), command(f"touch {lab.canary('copied-command')}")),
            "web-tasks": records.record(records.event(2, "web-tasks"), records.method("tasks", {"begin": tasks, "check": tasks, "undo": tasks}, outside=True)),
            "web-server": records.record(records.event(3, "web-server"), records.method("haproxy", haproxy, server, outside=True)),
            "web-approve": records.record(
                listed(self.approve, "web-approve", "stranger"), nothing, outcome=None, missing_since=None, decision=records.word("approve")
            ),
            "web-rule": records.record(listed(self.rule, "web-rule"), nothing, outcome=None, missing_since=None, verified_at=records.at(60), **now),
            "web-hold": records.record(listed(self.hold, "web-hold"), nothing, outcome=None, missing_since=None, decision=records.word("hold")),
            "web-revision": records.record(records.event(7, "web-revision"), nothing, revision=999_999_999),
            "web-methods": records.record(records.event(8, "web-methods"), dict(records.method("../../evil", {}), outside=True)),
        }

    def commands_in(self, vm: str) -> list[str]:
        """The ids of the methods that are in a VM's own records now."""
        return [method["id"] for record in self.lab.records(vm) for method in record["methods"]]


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[Copied]:
    lab = Victims(tmp_path_factory.mktemp("copies") / "lab", ["liar", *VICTIMS])
    try:
        yield Copied(lab)
    finally:
        lab.close()


def test_an_honest_event_goes_on(copied: Copied) -> None:
    """Or nothing here proves anything: the pass reached its end, and what needs no drain was approved."""
    assert "VMs answered" in copied.output, copied.output[-4000:]


@pytest.mark.parametrize(("canary", "what"), [("copied-command", "a command of the liar's choice ran on another VM"), ("copied-tasks", "a task file ran")])
def test_a_copy_runs_nothing(copied: Copied, canary: str, what: str) -> None:
    assert canary not in copied.lab.found(), what


def test_a_copy_moves_no_server_that_the_inventory_does_not_name(copied: Copied) -> None:
    assert copied.lb1.orders == [], "a server that was in maintenance by hand was put back into service"


@pytest.mark.parametrize("vm", VICTIMS)
def test_a_copy_puts_no_method_into_another_vms_record(copied: Copied, vm: str) -> None:
    honest = ["1-command"] if vm == "web-rule" else ["1-probe_file"] if vm == "web-approve" else []
    written = [
        method["id"] for record in copied.lab.records(vm) for method in record["methods"]
        if method["options"].get("undo") not in (None, "true") or method["method"] in ("haproxy", "tasks", "../../evil") or method["id"] not in honest
    ]  # fmt: skip
    assert written == [], f"the record of {vm} was restored from the liar's copy with {written}"


def test_a_copy_carries_no_approval(copied: Copied) -> None:
    assert copied.approve not in copied.lab.approved(), "an event that names a stranger was approved by a word in a copy"


def test_a_copy_carries_no_rule(copied: Copied) -> None:
    assert copied.rule not in copied.lab.approved(), "an event was approved by a rule in a copy, although its drain is under way"


def test_a_copy_carries_no_hold(copied: Copied) -> None:
    assert copied.hold in copied.lab.approved(), "an event was held by a word in a copy"


def test_a_copy_sets_no_revision(copied: Copied) -> None:
    assert all(record["revision"] < 1000 for record in copied.lab.records("web-revision")), "the record cannot be written any more"
