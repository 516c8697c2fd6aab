# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import os

import pytest
import yaml

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.operations.maintenance_info import observation_arguments
from ansible_collections.maintenance.azure.plugins.modules import maintenance_info, maintenance_record, scheduled_events_info
from ansible_collections.maintenance.azure.tests.unit.plugins.modules.module_runner import documentation, run_module
from ansible_collections.maintenance.azure.tests.unit.plugins.support import Server, document, http, raw_event

INSTANCE = http(body='{"compute": {"name": "vm_0", "vmId": "VM-A", "priority": "Spot", "zone": ""}}')


@pytest.fixture
def server():
    with Server(http(body=document(7, raw_event())), instance=INSTANCE) as running:
        yield running


@pytest.fixture
def info(server, tmp_path, monkeypatch):
    def call(check=False, **options):
        options.setdefault("endpoint", server.url)
        options.setdefault("records_path", str(tmp_path / "records"))
        return run_module(monkeypatch, maintenance_info, check=check, **options)

    return call


def test_one_observation_over_http(info, server, tmp_path):
    seen = info()
    assert seen["changed"] is False
    assert (seen["vm_name"], seen["document_incarnation"]) == ("vm_0", 7)
    assert (seen["identity"]["vm_id"], seen["identity"]["priority"], seen["identity"]["zone"]) == ("VM-A", "Spot", None)
    assert seen["events"][0]["affects_this_vm"] is True and "raw" not in seen["events"][0]
    assert os.listdir(tmp_path / "records") == ["asked"]
    assert len(server.requests) == 2 and server.connections == 1


def test_what_one_module_writes_the_other_reads(info, tmp_path, monkeypatch):
    where = str(tmp_path / "records")
    written = run_module(monkeypatch, maintenance_record, records_path=where, event_id="ABC", vm_id="vm-a", changes={"phase": "drained"})
    seen = info(boot_id="other")
    assert seen["boot_id"] == "other"
    assert seen["records"][0].pop("age_seconds") >= 0
    assert seen["records"] == [written["record"]]


@pytest.mark.parametrize("health,expected", [({}, None), ({"port": 1, "timeout": 0.5}, False), ({"file": "/"}, False), ({"file": __file__}, True)])
def test_health(info, health, expected):
    seen = info(**({"health": health} if health else {}))
    assert seen["in_service"] is expected and seen["in_service_why"]


def test_health_of_a_service_survives_a_machine_without_systemd(info, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    seen = info(health={"service": "nginx"})
    assert not seen.get("failed") and seen["in_service"] is None


def test_health_asks_systemctl(info, monkeypatch, tmp_path):
    fake = tmp_path / "systemctl"
    fake.write_text('#!/bin/sh\n[ "$*" = "is-active -- nginx" ] && echo active\n')
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path) + ":/usr/bin:/bin")
    assert info(health={"service": "nginx"})["in_service"] is True


@pytest.mark.parametrize("health", [{}, {"port": 1, "url": "http://x"}, {"port": "x"}, {"timeout": 1}])
def test_health_that_makes_no_sense(info, health):
    assert info(health=health).get("failed")


def test_an_answer_that_is_no_document_fails_with_its_kind(info, server, tmp_path):
    server.script[0] = http(body="")
    result = info()
    assert result.get("failed") and result["error_kind"] == "bad_document" and "empty" in result["msg"]
    assert not os.path.exists(tmp_path / "records")


def test_check_mode_writes_nothing(info, tmp_path):
    assert info(check=True)["events"]
    assert not os.path.exists(tmp_path / "records")


def test_the_documentation_has_every_option():
    options = documentation(maintenance_info)["options"]
    spec = observation_arguments()
    assert set(options) == set(spec)
    for name, option in spec.items():
        assert options[name]["type"] == option["type"] and options[name].get("default") == option.get("default")
    health = spec["health"]["options"]
    assert set(options["health"]["suboptions"]) == set(health)
    for name, option in health.items():
        documented = options["health"]["suboptions"][name]
        assert documented["type"] == option["type"] and documented.get("default") == option.get("default")
    assert yaml.safe_load(maintenance_info.EXAMPLES)


def test_the_documentation_has_every_result(info):
    documented = yaml.safe_load(maintenance_info.RETURN)
    result = info()
    # The action adds when the answer came.
    assert set(result) - {"changed", "invocation"} == set(documented) - {"error_kind", "answered_at"}
    assert set(documented["identity"]["sample"]) == set(result["identity"])
    event = yaml.safe_load(scheduled_events_info.RETURN)["events"]["contains"]
    assert set(event) - {"raw"} == set(result["events"][0])
