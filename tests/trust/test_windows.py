# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Items 1 and 2 where Windows differs: answers of ansible.windows modules, and a record of method wsfc that names another host. By stand-ins."""

from __future__ import annotations

import json
import sys
import typing as t

import pytest
import records
from lab.windows_machine import STAND_INS
from test_answers import ESCAPES, fakes, raw_characters
from victims import Victims

GROUP = "Orders"


class Windows:
    """The lab after one pass: a VM whose every module lies, one whose record names another host, and an honest Linux VM."""

    def __init__(self, lab: Victims) -> None:
        self.lab = lab
        evil = lab.evil_tasks("notify")
        facts = {"respond_policy": [{"name": "liar", "drain": False, "approve": "now"}], "respond_unmanaged": "ignore", "respond_notify_tasks": evil}
        lab.lie("liar-facts", any={"merge": {"ansible_facts": facts, "warnings": [ESCAPES]}})
        lab.hosts["web1"]["drain_methods"] = [{"method": "command", "begin": "true", "check": "sh -c 'exit 75'", "undo": "true"}]
        long = {"notice": 36000, "started_seconds": 36000}
        self.draining = lab.simulator.event("Redeploy", ["web1"], **long)
        lab.simulator.event("Redeploy", ["liar-facts"], **long)
        self._cluster(lab.simulator.event("Redeploy", ["liar-sql"], **long))
        self.output = lab.raw_play("maintenance.azure.respond", respond_hosts="liar-facts,liar-sql,web1")[1]

    def _cluster(self, event_id: str) -> None:
        """SQL Server on two nodes. The variables say that the liar's node has nothing to move, its record that win-victim takes over."""
        lab = self.lab
        self.cluster = lab.folder / "cluster.json"
        up = {"state": "Up", "drain": "NotInitiated"}
        world = {"name": "sql", "managed": 1, "nodes": {"SQL-1": up, "SQL-2": up}, "groups": {GROUP: {"owner": "SQL-1", "state": "Online"}}}
        self.cluster.write_text(json.dumps({**world, "sql": {GROUP: {"primary": "SQL-1", "replicas": {"SQL-1": {}, "SQL-2": {}}}}}))
        for vm, node in (("liar-sql", "SQL-1"), ("win-victim", "SQL-2")):
            lab.windows[vm].set("powershell.json", [{"contains": "", "run": [sys.executable, str(STAND_INS / "programs" / "powershell.py")]}])
            lab.windows[vm].set("world.json", {"node": node, "cluster": str(self.cluster)})
        lab.hosts["win-victim"]["respond_vm_name"] = "win-victim"
        lab.hosts["liar-sql"]["drain_methods"] = [{"method": "wsfc"}]
        options = {
            "node": "", "failback": "immediate", "instance": "localhost", "availability_groups": [GROUP], "replicas": {"SQL-2": "win-victim"},
            "return_primary": True,
        }  # fmt: skip
        before = {"cluster": "sql", "node": "SQL-1", "state": "Up", "aside": False, "groups": [GROUP], "moved": {GROUP: "SQL-2"}}
        event = records.event(0, "liar-sql", event_id=event_id)
        open_still = {"outcome": None, "missing_since": None, "verified_at": None}
        record = records.record(event, records.method("wsfc", options, before, state="found"), phase="draining", **open_still)
        record["history"] = record["history"][:2]
        lab.plant("liar-sql", records.record_name(record), record)


@pytest.fixture(scope="module")
def windows(tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[Windows]:
    vms = ("liar-facts", "liar-sql", "win-victim")
    lab = Victims(tmp_path_factory.mktemp("windows") / "lab", [*vms, "web1"], windows=vms)
    try:
        yield Windows(lab)
    finally:
        lab.close()


def test_the_pass_reaches_its_end(windows: Windows) -> None:
    assert b"VMs answered" in windows.output, windows.output[-3000:]
    assert windows.lab.phases("web1")[-1] == "draining", "an honest VM was not served"


def test_no_answer_of_a_windows_module_rules_the_fleet(windows: Windows) -> None:
    # Events that name a liar alone may be approved: what its own drain says of it is its own affair.
    assert windows.lab.found() == [] and windows.draining not in windows.lab.approved()


def test_no_answer_of_a_windows_module_reaches_the_screen_raw(windows: Windows) -> None:
    assert raw_characters(windows.output) == [] and fakes(windows.output) == []


def test_no_replica_takes_over_that_the_variables_do_not_name(windows: Windows) -> None:
    world = json.loads(windows.cluster.read_text())
    calls = windows.lab.windows["win-victim"].calls("win_powershell")
    assert (world["sql"][GROUP]["primary"], calls) == ("SQL-1", []), "a script ran on a host that only the liar's record names"
