# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action maintenance_act: the settings of a VM stand beside what it did, and in no failed result, which core prints."""

from __future__ import annotations

from typing import Any
from unittest import mock

import pytest
from ansible.errors import AnsibleConnectionFailure, AnsibleUndefinedVariable
from controller_actions import run_action

from ansible_collections.maintenance.azure.plugins.action import maintenance_act

SETTINGS = {"drain_methods": [{"method": "command", "begin": "curl -u admin:one-secret http://lb1/"}], "labels": {"key": "one-secret"}}
GIVEN: dict[str, Any] = {"actions": [], "vm_settings": SETTINGS, "health": {"url": "http://admin:one-secret@vm1/"}}


def run(came: Any, given: dict[str, Any] | None = None, **variables: Any) -> dict[str, Any]:
    with mock.patch.object(maintenance_act.EitherWay, "run", side_effect=[came]):
        return run_action(maintenance_act, {**(GIVEN if given is None else given)}, variables)


def test_they_stand_beside_an_observation() -> None:
    found = run({"changed": False, "events": []})
    assert found["vm_settings"].items() >= SETTINGS.items() and found["vm_settings"]["records_path"]


@pytest.mark.parametrize(
    ("came", "variables", "more"),
    [
        ({"failed": True, "msg": "it was not observed", "results": []}, {}, {}),
        (AnsibleConnectionFailure("no route"), {}, {}),
        ({"failed": True, "msg": "not asked"}, {"ansible_facts": {"respond_policy": []}}, {}),
        ({"failed": True, "msg": "not asked"}, {}, {"health": {"prot": "one-secret"}}),
        ({"failed": True, "msg": "not asked"}, {"respond_vm_settings": 1}, {"boot_id": ["one-secret"]}),
    ],
)
def test_they_stand_in_no_failed_result(came: Any, variables: dict[str, Any], more: dict[str, Any]) -> None:
    found = run(came, {**GIVEN, **more}, **variables)
    assert found["failed"] and found["msg"] and "one-secret" not in str({key: found[key] for key in found if key != "msg"})
    assert "vm_settings" not in found and not found.get("unreachable")


def test_a_vm_that_is_not_reached_is_told_from_one_that_failed() -> None:
    assert run(AnsibleConnectionFailure("no route")) == {"failed": True, "not_reached": True, "msg": "no route"}
    # Without settings there is nothing to keep.
    assert run(AnsibleConnectionFailure("no route"), {"actions": []}) == {"unreachable": True, "msg": "no route"}


def test_to_keep_them_alone_never_fails() -> None:
    found = run(None, {**GIVEN, "observe": False}, ansible_facts={"respond_policy": []})
    assert "failed" not in found and found["vm_settings"]["drain_methods"] == SETTINGS["drain_methods"]


@pytest.mark.parametrize(
    ("other", "found"),
    [
        ("web2", {"endpoint": "http://two", "api_version": "auto"}),
        ("stranger", "the inventory has no host stranger"),
        ("web3", "respond_endpoint: 'nosuch' is undefined."),
    ],
)
def test_another_host_is_observed_with_its_own_settings_or_not_at_all(other: str, found: Any) -> None:
    class Undefined(dict[str, Any]):
        def __getitem__(self, name: str) -> Any:
            raise AnsibleUndefinedVariable("'nosuch' is undefined")

    hostvars = {"web2": {"respond_endpoint": "http://two"}, "web3": Undefined(respond_endpoint="{{ nosuch }}")}
    given = {"actions": [], "settings_of": other}
    came = {"events": []}
    with mock.patch.object(maintenance_act.EitherWay, "run", side_effect=[came]) as asked:
        result = run_action(maintenance_act, given, {"hostvars": hostvars, "respond_api_version": "auto"}, template=lambda value: value)
    if isinstance(found, str):
        assert result == {"failed": True, "msg": found, "error_kind": "bad_option"} and not asked.called
    else:
        assert result == came and given == {"actions": [], **found}
