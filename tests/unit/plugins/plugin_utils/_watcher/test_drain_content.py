# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The content of the VM's file: what runs on the VM alone, and what is left to the controller."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.orders import drain_order
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.drain.rules import parse_rules
from ansible_collections.maintenance.azure.plugins.plugin_utils._core.wrong_input import WrongInput
from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.settings import validation
from ansible_collections.maintenance.azure.plugins.plugin_utils._watcher.drain_content import Content, drain_content

FOLDER = os.path.realpath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 5, "roles", "drain", "tasks", "methods"))
SERVICE = {"method": "service", "names": ["nginx.service"]}
HAPROXY = {"method": "haproxy", "balancers": ["lb1"]}
ONLY_JMESPATH = [{"when": "length(resources) > `1`", "drain": True, "approve": "never"}]


def content(*methods: Any, folders: tuple[str, ...] = (FOLDER,), **more: Any) -> Content:
    return drain_content({"policy": "default", "methods": list(methods), "former": [], "host": "vm1", "folders": folders, "places": [], **more})


@pytest.mark.parametrize(
    ("methods", "former"),
    [
        ([], []),
        ([{"method": "servis"}], []),
        ([{"method": "service"}, {"method": "none", "sleep": 1}], []),
        ([SERVICE, {**SERVICE, "name": "1-service"}], []),
        ([SERVICE], [{"method": "haproxy", "balancers": "lb1"}]),
    ],
    ids=str,
)
def test_wrong_methods_are_refused_in_the_words_of_every_other_place(methods: list[Any], former: list[Any]) -> None:
    words = validation.problems(methods, former, "linux", [FOLDER])
    with pytest.raises(ValueError) as caught:
        content(*methods, former=former, policy="no such policy")
    assert words and str(caught.value) == " ".join(words)


def test_a_policy_that_cannot_be_compiled_is_refused_where_a_method_runs_on_the_vm() -> None:
    with pytest.raises(WrongInput, match="rule 1 of the policy: when cannot be checked"):
        content(SERVICE, policy=ONLY_JMESPATH)
    assert content(HAPROXY, policy=ONLY_JMESPATH) == {"rules": [], "methods": [], "elsewhere": ["1-haproxy"]}


def test_an_operators_own_method_needs_its_folder(tmp_path: Any) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "check.yml").write_text("[]")
    with pytest.raises(ValueError, match="entry 1 \\(mine\\): method must be"):
        content({"method": "mine"})
    assert content({"method": "mine"}, folders=(FOLDER, str(tmp_path)))["elsewhere"] == ["1-mine"]


def test_what_acts_elsewhere_is_left_to_the_controller() -> None:
    command = {"method": "command", "begin": "/bin/true", "check": "/bin/true", "undo": "/bin/true"}
    found = content(HAPROXY, SERVICE, {**command, "name": "api", "outside": True}, {**command, "name": "jobs"}, {"method": "none"})
    assert found["elsewhere"] == ["1-haproxy", "api"]
    assert [(one["id"], one["where"], one["outside"], one["runs"], one["given"]) for one in found["methods"]] == [
        ("2-service", "own", False, True, {"names": ["nginx.service"]}),
        ("jobs", "own", False, True, {key: command[key] for key in ("begin", "check", "undo")}),
        ("5-none", "own", False, True, {}),
    ]


def test_a_vm_can_read_its_file() -> None:
    read = json.loads(json.dumps(content(SERVICE, HAPROXY)))
    assert [rule.name for rule in parse_rules(read["rules"])] == ["short pause that hurts", "short pause", "everything else"]
    (order,) = drain_order({"methods": read["methods"]}).methods
    assert (order.id, order.by_record, order.runs, order.options) == ("1-service", True, True, {"names": ["nginx.service"]})
