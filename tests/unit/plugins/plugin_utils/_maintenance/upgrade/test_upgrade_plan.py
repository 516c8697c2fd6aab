# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan of a rolling upgrade: what is done stays done, what was begun comes first; and who approves a restart that all have recorded."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._core.wrong_input import WrongInput
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.upgrade.batches import UpgradeRequest, approvals, plan_upgrade

ASKED = UpgradeRequest("Kernel ", "work.yml", "aa", "serial", None)


def vm(state: str = "", digest: str | None = None, domain: str | None = None, **more: Any) -> dict[str, Any]:
    marks = [{"name": "Kernel", "state": state, "digest": digest}] if state else []
    return {"upgrades": [{"name": "Another", "state": "done", "digest": "bb"}, *marks], "identity": {"fault_domain": domain}, "replicas": [], **more}


def test_what_is_done_is_left_out_and_what_was_begun_comes_first() -> None:
    observed = {"a": vm(), "b": vm("done", "aa"), "c": vm("left"), "d": vm("begun"), "e": vm("upgraded", "aa"), "f": vm("unknown")}
    found = plan_upgrade(ASKED, observed)
    assert found["batches"] == [["c"], ["d"], ["e"], ["a"], ["f"]] and found["done"] == ["b"]
    assert found["lines"] == [f"Batch {number} of 5: {host}" for number, host in enumerate("cdeaf", 1)] + ["Done before: b"]


def test_domains_are_named() -> None:
    found = plan_upgrade(ASKED._replace(by="fault_domain"), {"a": vm(domain="1"), "b": vm(domain="0"), "c": vm()})
    assert found["batches"] == [["b"], ["a"], ["c"]]
    assert found["lines"] == ["Batch 1 of 3, fault domain 0: b", "Batch 2 of 3, fault domain 1: a", "Batch 3 of 3, fault domain not known: c"]


def test_what_a_vm_says_of_its_domain_is_shown_as_visible_text() -> None:
    found = plan_upgrade(ASKED._replace(by="fault_domain"), {"a": vm(domain="\x1b[2J\u202e" + "x" * 5000), "b": vm(domain=[])})  # type: ignore[arg-type]
    assert found["lines"][0].isprintable() and len(found["lines"][0]) < 200


@pytest.mark.parametrize("state", ["done", "upgraded"])
def test_a_name_stands_for_one_tasks_file(state: str) -> None:
    observed = {"a": vm(state, "bb"), "b": vm("begun", "bb"), "c": vm("done")}
    with pytest.raises(WrongInput, match=r"^a: upgrade 'Kernel ' was done here with another tasks file than work\.yml"):
        plan_upgrade(ASKED, observed)
    assert plan_upgrade(ASKED._replace(digest=""), observed)["batches"]


def test_those_that_keep_replicas_are_named() -> None:
    assert plan_upgrade(ASKED, {"a": vm(replicas=[{"vm": "b"}]), "b": vm()})["keepers"] == ["a"]


@pytest.mark.parametrize("observed", [None, "junk", {"upgrades": "junk", "identity": 5}, {"upgrades": [None, {"name": ["Kernel"]}], "replicas": {}}])
def test_what_could_not_be_observed_is_not_done(observed: Any) -> None:
    found = plan_upgrade(ASKED, {"a": observed, "b": vm("done")})
    assert found == {"batches": [["a"]], "done": ["b"], "keepers": [], "lines": ["Batch 1 of 1: a", "Done before: b"]}


def restart(event_id: str, host: str | None, *hosts: str, approve: bool = True) -> dict[str, Any]:
    return {"event_id": event_id, "approve": approve, "host": host, "hosts": list(hosts), "approve_for": [f"vm-{name}" for name in hosts]}


def test_a_restart_is_approved_once_when_all_of_its_vms_have_recorded_it() -> None:
    restarts = [restart("E1", "a", "a", "b"), restart("E2", "a", "a"), restart("E3", "b", "b", "c"), restart("E4", None, "a", approve=False)]
    assert approvals(restarts, {"a": ["E1", "E2", "E4"], "b": ["E1", "E3"]}) == {"a": {"event_ids": ["E1", "E2"], "approve_for": ["vm-a", "vm-b"]}}
    assert approvals(restarts, {"a": ["E1"], "c": ["E3"], "b": []}) == {}
