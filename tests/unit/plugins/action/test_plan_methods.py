# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action plan, as role upgrade uses it: which hosts of a batch take part in a drain, and with what."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from ansible.errors import AnsibleError

from ansible_collections.maintenance.azure.plugins.action.plan import ActionModule
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import vm

SINCE = "1800000000.25"
GIVEN: dict[str, Any] = {"action": "drain", "upgrade": "Kernel", "batch": ["web1", "web2", "web3", "web4", "of_another_batch"], "since": SINCE}


def plan(variables: dict[str, Any], **arguments: Any) -> dict[str, Any]:
    """Return the result of a task with action plan."""
    task = SimpleNamespace(args=arguments, check_mode=False, async_val=0)
    module = ActionModule(task, SimpleNamespace(_shell=SimpleNamespace(tmpdir="")), None, None, None, None)
    return module.run(task_vars=variables)


def host(name: str, since: str | None = SINCE, keeper: str = "", **more: Any) -> dict[str, Any]:
    """Return the variables of a host that has noted what it asks for, and was observed."""
    asks = {"since": since, "lease": {"run": "run1", "seconds": 60.0}, "seconds": "600", "interval": 5.0, "keeper": keeper}
    settings = {"drain_methods": [{"method": "none"}], "folders": ["roles/drain/tasks/methods"]}
    return {"observe_result": {**vm(name)["observation"], "vm_settings": settings}, **({} if since is None else {"__upgrade_asks": asks}), **more}


def batch(**hosts: dict[str, Any]) -> dict[str, Any]:
    return {"hostvars": hosts, "ansible_play_batch": list(hosts), "ansible_play_hosts": [*hosts, "of_another_batch"]}


@pytest.mark.parametrize("name", GIVEN)
def test_what_it_is_for_must_be_said(name: str) -> None:
    given = {key: value for key, value in GIVEN.items() if key != name}
    with pytest.raises(AnsibleError, match=f"missing required arguments: {name}"):
        plan(batch(web1=host("web1")), begin_methods=given)


def test_what_is_neither_drain_nor_recovery_is_refused() -> None:
    with pytest.raises(AnsibleError, match="value of action must be one of: drain, recover"):
        plan(batch(web1=host("web1")), begin_methods={**GIVEN, "action": "undo"})


@pytest.mark.parametrize("other", [{"begin": {}}, {"begin_gate": {"ask": {}, "run": "run1"}}, {"go_on": "__respond_loop"}])
def test_it_begins_one_thing_at_a_time(other: dict[str, Any]) -> None:
    with pytest.raises(AnsibleError, match="mutually exclusive"):
        plan(batch(web1=host("web1")), begin_methods=GIVEN, **other)


def test_only_hosts_that_are_at_the_task_take_part() -> None:
    """A user may include drained.yml under a condition; what the others have noted is of an earlier drain, or of none."""
    found = plan(batch(web1=host("web1", "1700000000.5"), web2=host("web2"), web3=host("web3", None), web4={}), begin_methods=GIVEN)
    assert (found["involved"], list(found["progress"]), found["contact"]) == (["web2"], ["web2"], ["web2"])
    assert found["asks"]["web2"] == {"lease": {"run": "run1", "seconds": 60.0}, "seconds": 600.0, "interval": 5.0, "keeper": "", "keeper_path": ""}
    assert (found["do"], found["actions"]["web2"][0]["action"], found["changed"]) == ("act", "drain", False)


@pytest.mark.parametrize(
    ("at_work", "facts", "keeper"),
    [
        (["web1", "web2", "web3", "web4"], {}, "web3"),
        # Who has failed takes part no longer, and may still keep a replica; whose facts have settings has its say in nothing.
        (["web1", "web2"], {}, "web3"),
        (["web1", "web2", "web4"], {}, "web4"),
        (["web1", "web2", "web3", "web4"], {"respond_policy": []}, "web4"),
    ],
)
def test_where_the_gate_names_no_keeper_it_is_a_vm_of_the_play_outside_the_batch(at_work: list[str], facts: dict[str, Any], keeper: str) -> None:
    variables = batch(web1=host("web1"), web2=host("web2", keeper="web1"), web3={"ansible_facts": facts}, web4={})
    variables.update(ansible_play_batch=["web1", "web2"], ansible_play_hosts=at_work, ansible_play_hosts_all=["web1", "web2", "web3", "web4"])
    found = plan(variables, begin_methods={**GIVEN, "batch": ["web1", "web2"]})
    assert {name: ask["keeper"] for name, ask in found["asks"].items()} == {"web1": keeper, "web2": "web1"}
    assert found["asks"]["web1"]["keeper_path"] == "/var/lib/azure-maintenance"


def test_it_goes_on_with_what_it_has_registered() -> None:
    variables = batch(web1=host("web1"))
    variables["this_drain"] = plan(variables, begin_methods=GIVEN)
    (action,) = variables["this_drain"]["actions"]["web1"]
    kept = {key: action.get(key) for key in ("action", "event_id", "event_ids", "iteration")}
    variables["hostvars"]["web1"]["observe_result"].update(asked=[kept], results=[{"action": "drain", "failed": False, "state": "drained"}])
    found = plan(variables, go_on="this_drain")
    assert (found["do"], found["progress"]["web1"]["state"], found["number"]) == ("end", "done", 1)
    assert found["began"] == variables["this_drain"]["began"]


def test_two_drains_never_begin_at_the_same_time_for_the_hosts() -> None:
    """By it a host knows which of the two it takes part in."""
    first = plan(batch(web1=host("web1")), begin_methods=GIVEN)
    second = plan(batch(web1=host("web1")), begin_methods=GIVEN)
    assert first["began"] < second["began"]
