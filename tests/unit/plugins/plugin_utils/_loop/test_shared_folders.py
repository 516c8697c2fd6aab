# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts that share a records folder are found, and no host can bring another one into that by its word."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._core.wrong_input import WrongInput
from ansible_collections.maintenance.azure.plugins.plugin_utils._loop import shared_folders, vm_settings
from ansible_collections.maintenance.azure.plugins.plugin_utils._loop.shared_folders import by_marks, by_variables, marks
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._loop.passes import Pass, plan, step

FOLDER = "/var/lib/azure-maintenance"
REASON = "web1, web2 share the records folder /var/lib/azure-maintenance: give each host its own respond_records_path"


def vms(*hosts: str, **more: Any) -> dict[str, vm_settings.VMSettings]:
    return {host: vm_settings.read({"records_path": FOLDER, **more}, host) for host in hosts}


def saw(host: str, *returned: str) -> dict[str, Any]:
    return {"host": host, "observation": {"host_marks": list(returned)}}


# By the controller's variables


def test_hosts_on_the_controller_with_one_path_are_refused_by_name() -> None:
    assert by_variables(vms("web1", "web2", local_records=FOLDER)) == REASON


def test_hosts_with_folders_of_their_own_and_excluded_ones_are_not() -> None:
    one, two = vms("web1", local_records="/a"), vms("web2", local_records="/b")
    assert by_variables({**one, **two}) is None
    assert by_variables({**one, **vms("web2", local_records="/a", exclude=True)}) is None
    # The same path on VMs of their own is what everybody has.
    assert by_variables(vms("web1", "web2")) is None


def test_a_pass_with_such_hosts_does_not_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    its = Pass(monkeypatch, plan(step()))
    for host in its.hosts:
        its.given[host]["local_records"] = FOLDER
    with pytest.raises(WrongInput, match=r"vm1, vm2 share the records folder .* Nothing was done\."):
        its.begin()
    assert its.planned == []


# By marks

GIVEN = marks("secret", vms("web1", "web2", "web3", "web4"))


def test_each_host_and_each_run_has_another_mark_and_windows_has_none() -> None:
    assert len({*GIVEN.values(), *marks("other", vms("web1", "web2")).values()}) == 6
    assert marks("secret", vms("web1", system="windows")) == {}


def test_hosts_that_return_each_others_marks_share_a_folder() -> None:
    found = by_marks(GIVEN, [saw("web1", GIVEN["web1"], GIVEN["web2"]), saw("web2", GIVEN["web2"], GIVEN["web1"]), saw("web3", GIVEN["web3"])], vms(*GIVEN))
    assert (found.errors, found.doubtful) == ({"web1": REASON, "web2": REASON}, [])


def test_two_folders_are_two_groups_and_paths_that_differ_are_named() -> None:
    seen = [saw("web1", GIVEN["web2"]), saw("web2", GIVEN["web1"]), saw("web3", GIVEN["web4"]), saw("web4", GIVEN["web3"])]
    paths = {**vms("web1", "web2"), **vms("web3", records_path="/mnt/a"), **vms("web4", records_path="/mnt/b")}
    errors = by_marks(GIVEN, seen, paths).errors
    assert errors["web1"] == errors["web2"] == REASON
    assert errors["web3"] == errors["web4"] == "web3, web4 share one records folder (/mnt/a, /mnt/b): give each host its own respond_records_path"


def test_a_host_that_returns_anothers_mark_alone_proves_nothing() -> None:
    # web2 has read web1's mark somewhere; web1, which tells the truth, finds no mark of web2 in its folder.
    found = by_marks(GIVEN, [saw("web1", GIVEN["web1"]), saw("web2", GIVEN["web2"], GIVEN["web1"])], vms(*GIVEN))
    assert (found.errors, found.doubtful) == ({}, ["web1", "web2"])


@pytest.mark.parametrize("returned", [None, "text", [None, 5, "0" * 32], {"a": 1}])
def test_what_is_no_mark_is_nothing(returned: Any) -> None:
    found = by_marks(GIVEN, [{"host": "web1", "observation": {"host_marks": returned}}, saw("web2")], vms(*GIVEN))
    assert (found.errors, found.doubtful) == ({}, [])


def test_two_liars_bring_only_themselves_into_it() -> None:
    lie = (GIVEN["web3"], GIVEN["web4"])
    found = by_marks(GIVEN, [saw("web1", GIVEN["web1"]), saw("web2", GIVEN["web2"]), saw("web3", *lie), saw("web4", *lie)], vms(*GIVEN))
    assert sorted(found.errors) == ["web3", "web4"]


# In a pass


def acquiring(monkeypatch: pytest.MonkeyPatch, *after: dict[str, Any], hosts: tuple[str, ...] = ("vm1", "vm2")) -> Pass:
    """Return a pass that has just asked for its first lease, on vm1."""
    its = Pass(monkeypatch, plan(step("acquire", expired=[]), involved=list(hosts)), *after, hosts=hosts)
    state = its.begin()
    assert state["do"] == "acquire"
    assert sorted(state["marks"]) == sorted(hosts)
    return its


def finds(its: Pass, host: str, *others: str) -> None:
    its.observed[host]["host_marks"] = [its.state["marks"][one] for one in (host, *others)]


def test_hosts_that_share_a_folder_are_refused_before_a_drain_and_their_leases_released(monkeypatch: pytest.MonkeyPatch) -> None:
    its = acquiring(monkeypatch, plan(step("drain")))
    finds(its, "vm1", "vm2")
    finds(its, "vm2", "vm1")
    state = its.go_on()
    assert [one["state"] for one in its.planned[-1][0]] == ["failed", "failed"]
    assert (state["do"], state["contact"], state["actions"]) == ("release", ["vm1", "vm2"], {})
    assert [one["reason"] for one in state["plan"]["failed"]] == [state["observations"][0]["error"]]
    assert "vm1, vm2 share" in state["plan"]["failed"][0]["reason"]
    assert its.go_on()["do"] == "end"


def test_others_go_on_and_the_pass_is_red_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    hosts = ("vm1", "vm2", "vm3")
    its = acquiring(monkeypatch, plan(step("drain", "vm3"), involved=list(hosts)), plan(involved=list(hosts), done=True), hosts=hosts)
    finds(its, "vm1", "vm2")
    finds(its, "vm2", "vm1")
    finds(its, "vm3")
    state = its.go_on()
    assert [one["state"] for one in state["observations"]] == ["failed", "failed", "ok"]
    assert (state["do"], list(state["actions"])) == ("act", ["vm3"])
    # Also when they answer again, without a word of it.
    for host in ("vm1", "vm2"):
        del its.observed[host]["host_marks"]
    its.state["contact"] = list(hosts)
    state = its.go_on()
    assert [one["state"] for one in state["observations"]] == ["failed", "failed", "ok"]
    assert len(state["plan"]["failed"]) == len(state["plan"]["fails"]) == 1
    assert state["contact"] == ["vm1", "vm2"], "their leases are released"


def test_a_host_that_was_observed_before_the_other_left_its_mark_is_observed_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    its = acquiring(monkeypatch, plan(step("drain")))
    finds(its, "vm1")
    finds(its, "vm2", "vm1")
    state = its.go_on()
    assert (state["do"], state["contact"], state["actions"], state["is_taken"]) == ("act", ["vm1", "vm2"], {}, True)
    assert len(its.planned) == 1, "nothing is planned meanwhile"
    finds(its, "vm1", "vm2")
    assert its.go_on()["do"] == "release"


def test_one_word_delays_a_pass_once_and_keeps_nobody_out(monkeypatch: pytest.MonkeyPatch) -> None:
    its = acquiring(monkeypatch, plan(step("drain")))
    finds(its, "vm1")
    finds(its, "vm2", "vm1")
    its.go_on()
    state = its.go_on()
    assert [one["state"] for one in state["observations"]] == ["ok", "ok"]
    assert (state["do"], list(state["actions"]), state["sharing"]) == ("act", ["vm1"], {})
    assert its.go_on()["doubted"] == ["vm1", "vm2"]


def test_a_pass_that_only_observes_gives_no_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Pass(monkeypatch, plan(step("acquire", expired=[]))).begin(check_mode=True)["marks"] == {}
    assert Pass(monkeypatch, plan(step("write"))).begin()["marks"] == {}


def test_a_long_list_of_hosts_is_shortened() -> None:
    names = [f"vm{number}" for number in range(shared_folders.SHOWN + 2)]
    assert f"vm{shared_folders.SHOWN - 1} and 2 others share" in str(by_variables(vms(*names, local_records=FOLDER)))
