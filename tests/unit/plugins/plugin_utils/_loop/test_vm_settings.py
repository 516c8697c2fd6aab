# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of one VM, from what its variables say: nothing in them stops a pass."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.maintenance.azure.plugins.plugin_utils._core.wrong_input import WrongInput
from ansible_collections.maintenance.azure.plugins.plugin_utils._loop.vm_settings import VMSettings, read, refuse_wrong
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._loop.registers import JUNK

METHODS = [
    {"method": "service", "names": ["a"]},
    {"method": "haproxy", "balancers": ["lb1"], "backends": ["app"], "name": "shop"},
    {"method": "tasks", "begin": "main.yml", "check": "main.yml", "undo": "main.yml"},
]
TARGETS = [
    {"name": "shop", "method": "haproxy", "server": "web1", "balancers": ["lb1"], "backends": ["app"]},
    {"name": "3-tasks", "method": "tasks"},
]


@pytest.mark.parametrize("given", [None, {}, "text", [], 5, {"exclude": None, "labels": None, "drain_methods": None, "drain_methods_former": None}])
def test_a_vm_of_which_nothing_is_said_takes_part_and_has_no_methods(given: Any) -> None:
    found = read(given, "web1")
    assert (found["excluded"], found["labels"], found["methods"], found["outside"], found["targets"]) == (False, {}, [], False, [])
    assert (found["drain_methods"], found["drain_methods_former"], found["folders"], found["system"]) == ([], [], [], "linux")


@pytest.mark.parametrize(("said", "excluded"), [(True, True), ("yes", True), ("true", True), (1, True), ("no", False), ("perhaps", False), (["x"], False)])
def test_excluded_is_who_is_said_to_be(said: Any, excluded: bool) -> None:
    assert read({"exclude": said}, "web1")["excluded"] is excluded


def test_methods_are_named_and_entries_that_are_none_are_left_away() -> None:
    assert read({"drain_methods": [{"method": "iis"}, 5, {"name": "x"}, {"method": ""}]}, "web1")["methods"] == ["iis", "?", "?"]
    assert read({"drain_methods": "service"}, "web1")["methods"] == []


@pytest.mark.parametrize(
    ("methods", "outside"),
    [
        ([{"method": "service"}], False),
        ([{"method": "service"}, {"method": "haproxy"}], True),
        ([{"method": "tasks", "outside": "yes"}], True),
        ([{"method": "tasks", "outside": "no"}], False),
    ],
)
def test_whether_a_method_acts_outside_the_vm(methods: Any, outside: bool) -> None:
    assert read({"drain_methods": methods}, "web1")["outside"] is outside


def test_the_targets_are_those_of_the_variables() -> None:
    assert read({"drain_methods": METHODS}, "web1")["targets"] == TARGETS
    former = [{"method": "haproxy", "balancers": ["lb2"], "by_hand": True}]
    assert read({"drain_methods_former": former}, "web1")["targets"][0]["balancers"] == []


def test_what_actions_need_is_kept_as_it_is_said() -> None:
    found = read({"drain_methods": METHODS, "drain_methods_former": [5], "folders": ["/a", 5], "system": "windows", "labels": {"role": "replica"}}, "web1")
    assert (found["drain_methods"], found["drain_methods_former"], found["folders"]) == (METHODS, [5], ["/a"])
    assert (found["system"], found["labels"]) == ("windows", {"role": "replica"})


FOLDERS = {"folders": [str(pathlib.Path(__file__).resolve().parents[5] / "roles" / "drain" / "tasks" / "methods")]}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"drain_methods": [{"method": "probefile"}]}, "did you mean probe_file?"),
        ({"drain_methods": {"method": "none"}}, "drain_methods must be a list"),
        ({"drain_methods": "none"}, "drain_methods must be a list"),
        ({"drain_methods": [], "drain_methods_former": [{"method": "haproxi"}]}, "there is no method haproxi"),
        ({"drain_methods": [{"method": "tasks", "begin": "x.yml", "check": "x.yml", "undo": "x.yml"}]}, "there is no file x.yml in /nowhere."),
        ({"exclude": "yess"}, "respond_exclude must be true or false, and is yess."),
        ({"labels": ["replica"]}, "respond_labels must be a dictionary, and is ['replica']."),
    ],
)
def test_what_is_wrong_is_known_before_any_event_needs_it(given: dict[str, Any], words: str) -> None:
    wrong = read({**given, **FOLDERS}, "web1", ["/nowhere"])["wrong"]
    assert wrong and words in wrong[0]
    assert all(line.isprintable() for line in wrong)
    assert read(given, "web1")["wrong"] == [], "without the folders of methods, nothing is known about them"
    if "exclude" not in given:
        assert read({**given, **FOLDERS, "exclude": "yes"}, "web1")["wrong"] == [], "it is left alone"


@pytest.mark.parametrize("given", [{}, {"drain_methods": [], "labels": {}, "exclude": ""}, {"drain_methods": METHODS[:2], "exclude": "no", "labels": {"a": 1}}])
def test_what_is_right_or_not_set_is_not_wrong(given: dict[str, Any]) -> None:
    assert read({**given, **FOLDERS}, "web1")["wrong"] == []


def test_what_the_action_has_found_is_wrong_unless_the_host_is_left_alone() -> None:
    given = {"wrong": ["respond_health: there is no key prot."], **FOLDERS}
    assert read(given, "web1")["wrong"] == given["wrong"]
    assert read({**given, "exclude": True}, "web1")["wrong"] == []


def test_hosts_with_the_same_fault_share_a_line() -> None:
    typo = {"drain_methods": [{"method": "probefile"}], **FOLDERS}
    vms = {"web1": read(typo, "web1"), "web2": read(typo, "web2"), "db1": read({"labels": 5, **FOLDERS}, "db1"), "db2": read({}, "db2")}
    words = r"^wrong settings on web1, web2: drain_methods, entry 1 .*; wrong settings on db1: respond_labels .* Nothing was done\.$"
    with pytest.raises(WrongInput, match=words):
        refuse_wrong(vms)
    refuse_wrong({"db2": vms["db2"]})


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.fixed_dictionaries({}, optional=dict.fromkeys(("exclude", "labels", "drain_methods", "drain_methods_former", "folders", "system"), JUNK)) | JUNK)
def test_no_variable_stops_it(given: Any) -> None:
    found = read(given, "web1")
    assert found.keys() == VMSettings.__annotations__.keys()
    assert all(isinstance(name, str) for name in (*found["methods"], *found["folders"], found["system"], *found["wrong"]))
