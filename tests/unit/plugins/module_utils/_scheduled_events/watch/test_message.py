# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json
import re
from urllib.parse import urlsplit

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.changes import Change
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.message import TYPES, cloud_event, source_of

RESOURCE_ID = "/subscriptions/S/resourceGroups/G (1)/providers/Microsoft.Compute/virtualMachines/web1"
VM = {"name": "web1", "vm_id": "b09aaddf-246b-4d5d-8aa0-0d26963607cc", "resource_id": RESOURCE_ID}
EVENT = {
    "event_id": "C7061BAC-AFDC-4513-B24B-AA5F13A16123",
    "event_type": "Freeze",
    "event_status": "Scheduled",
    "resource_type": "VirtualMachine",
    "resources": ["web1"],
    "not_before": "2026-11-25T00:15:00Z",
    "description": "Virtual machine is being paused",
    "event_source": "Platform",
    "duration_in_seconds": 5,
    "affects_this_vm": True,
    "raw": {"EventId": "C7061BAC-AFDC-4513-B24B-AA5F13A16123"},
}
NOON = "2026-11-25T12:00:00Z"


def message(kind: str = "listed", vm: dict[str, str | None] | None = None, incarnation: int | None = 12, at: str = NOON, **fields: object) -> dict:
    return cloud_event(Change(kind, dict(EVENT, **fields)), VM if vm is None else vm, incarnation, at)


def test_the_whole_message():
    found = message()
    assert re.fullmatch("[0-9a-f]{32}", found.pop("id"))
    assert found == {
        "specversion": "1.0",
        "source": RESOURCE_ID.replace(" ", "%20"),
        "type": "maintenance.azure.scheduled_event.listed",
        "subject": EVENT["event_id"],
        "time": NOON,
        "datacontenttype": "application/json",
        "data": {
            "vm": VM,
            "event": {key: value for key, value in EVENT.items() if key not in ("affects_this_vm", "raw")},
            "document_incarnation": 12,
            "noticed_at": NOON,
        },
    }


@pytest.mark.parametrize("kind", sorted(TYPES.values()))
def test_the_type_tells_the_kind(kind: str):
    assert TYPES[message(kind)["type"]] == kind


@pytest.mark.parametrize("same", [{"at": "2026-11-25T13:00:00Z"}, {"incarnation": 13}, {"description": "other"}, {"event_id": EVENT["event_id"].lower()}])
def test_the_same_news_has_the_same_id(same: dict):
    assert message(**same)["id"] == message()["id"]


@pytest.mark.parametrize(
    "other",
    [
        {"kind": "changed"},
        {"event_id": "other"},
        {"event_status": "Started"},
        {"not_before": None},
        {"resources": ["web1", "web2"]},
        {"duration_in_seconds": -1},
        {"vm": dict(VM, resource_id=RESOURCE_ID + "2")},
    ],
)
def test_other_news_has_another_id(other: dict):
    assert message(**other)["id"] != message()["id"]


def test_without_a_resource_id_the_name_is_the_source():
    assert source_of({"name": "web1"}) == "urn:maintenance.azure:vm:web1"
    assert source_of({"vm_id": "b09aaddf", "name": None}) == "urn:maintenance.azure:vm:b09aaddf"
    assert source_of({}) == "urn:maintenance.azure:vm:unknown"


@pytest.mark.parametrize("name", ["a b", "\u202e", "\ud800", "{{ x }}", "a/b?c#d", "\n"])
def test_every_name_makes_a_uri_and_a_message_that_can_be_sent(name: str):
    for vm in ({"name": name}, {"resource_id": "/" + name}):
        source = message(vm=vm)["source"]
        assert re.fullmatch(r"[!-~]+", source) and not set(source) & set('{}<>"?#')
        urlsplit(source)
    json.dumps(message(vm={"name": name}, event_id=name, resources=[name])).encode("ascii")
