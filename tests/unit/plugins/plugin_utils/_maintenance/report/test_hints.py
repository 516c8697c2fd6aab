# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What status says of a service that holds state and has no drain method: never what a VM makes up, and nothing where the method is set."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.methods.service import ServiceMethod
from ansible_collections.maintenance.azure.plugins.plugin_utils._maintenance.report.status import status
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._maintenance.scenes import event, plan, vm

HINT = "db.service runs on {} without drain method service, which is for it (docs/stateful.md). status_hints: false ends this hint."


@pytest.fixture(autouse=True)
def _method(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ServiceMethod, "units", ("db.service",))


def hints(*observations: dict[str, Any]) -> list[str]:
    return [line for line in status(plan(*observations)) if "hint" in line]


def test_a_service_without_its_method_is_named_with_its_hosts() -> None:
    assert hints(vm("vm1", methods=(), services=["db.service"]), vm("vm2", methods=("none",), services=["db.service"])) == [HINT.format("vm1, vm2")]


def test_with_its_method_or_without_the_service_nothing_is_said() -> None:
    assert hints(vm("vm1", methods=("service",), services=["db.service"]), vm("vm2", methods=()), vm("vm3", methods=(), services=[])) == []


@pytest.mark.parametrize("made_up", ["rm -rf /", ["sshd.service", "{{ x }}", None, {"db.service": 1}, ["db.service"]], {"a": "db.service"}, 5])
def test_what_no_method_is_for_is_not_shown(made_up: Any) -> None:
    assert hints(vm("vm1", methods=(), services=made_up)) == []


def test_a_service_of_an_option_is_named_beside_its_method(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ServiceMethod, "option_units", {"store.service": "store"})
    words = "store.service runs on vm1 without option store of drain method service, which is for it (docs/stateful.md). status_hints: false ends this hint."
    assert hints(vm("vm1", methods=("service",), services=["store.service"]), vm("vm2", methods=(), services=["store.service"])) == [words]


def test_a_vm_that_says_it_often_is_named_once() -> None:
    assert hints(vm("vm1", methods=(), services=["db.service"] * 9)) == [HINT.format("vm1")]


def test_it_decides_nothing() -> None:
    one = event()
    with_hint, without = (plan(vm("vm1", [one], methods=(), services=services)) for services in (["db.service"], []))
    assert with_hint["actions"] == without["actions"] and with_hint["done"] == without["done"]
