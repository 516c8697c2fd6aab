# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every known form of a message becomes the one shape, and nothing else does."""

from __future__ import annotations

import copy
import json
import pathlib
import runpy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.changes import Change
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.message import cloud_event
from ansible_collections.maintenance.azure.plugins.plugin_utils._eda.messages import deliveries
from ansible_collections.maintenance.azure.plugins.plugin_utils._eda.messages.shape import EMPTY
from ansible_collections.maintenance.azure.plugins.plugin_utils._eda.receiving.receiver import Limits, Receiver
from ansible_collections.maintenance.azure.tests.unit.plugins.support import payload

ROOT = pathlib.Path(__file__).resolve().parents[5]
PLUGIN = ROOT / ".build/tree/ansible_collections/maintenance/azure/extensions/eda/plugins/event_filter/normalize.py"
RESOURCE_ID = "/subscriptions/S/resourceGroups/G/providers/Microsoft.Compute/virtualMachines/web1"
VM = {"name": "web1", "vm_id": "b09aaddf-246b-4d5d-8aa0-0d26963607cc", "resource_id": RESOURCE_ID}
EVENT = {
    "event_id": "C7061BAC-AFDC-4513-B24B-AA5F13A16123",
    "event_type": "Freeze",
    "event_status": "Scheduled",
    "resource_type": "VirtualMachine",
    "resources": ["web1", "web2"],
    "not_before": "2026-11-25T00:15:00Z",
    "description": "Virtual machine is being paused",
    "event_source": "Platform",
    "duration_in_seconds": 5,
}
NOON = "2026-11-25T12:00:00Z"
ATTACKS = ("{{ lookup('pipe','id') }}", "{% raw %}", "{# x", "all:!x", "web*", "~web", "@/etc/passwd", "-e", "a\nb", "\u202e", "web1,web2", "{{{", "$(id)")


def watcher(kind: str = "listed", **fields: Any) -> dict[str, Any]:
    return cloud_event(Change(kind, {**EVENT, **fields}), VM, 12, NOON)


def received(delivery: Any, **limits: Any) -> list[dict[str, Any]]:
    return Receiver().receive(delivery, Limits(**limits), 0.0)


def one(delivery: Any) -> dict[str, Any]:
    (shape,) = received(delivery)
    assert list(shape) == list(EMPTY)
    return shape


def test_a_watcher():
    assert one(watcher()) == {
        **{key: EVENT[key] for key in EVENT},
        "form": "watcher",
        "news": True,
        "new_event": True,
        "new_run": True,
        "run": EVENT["event_id"].lower(),
        "problem": None,
        "message_id": watcher()["id"],
        "sender": RESOURCE_ID,
        "sent_at": NOON,
        "change": "listed",
        "event_id": EVENT["event_id"].lower(),
        "resource_ids": [RESOURCE_ID],
        "vms": ["web1", "web2"],
        "document_incarnation": 12,
        "dropped": 0,
    }


@pytest.mark.parametrize("kind", ["listed", "changed", "gone"])
def test_the_kinds_of_a_watcher(kind: str):
    assert one(watcher(kind))["change"] == kind


WRAPPED = {
    "webhook": lambda message: {"payload": message, "meta": {"endpoint": "", "headers": {"Host": "x"}}},
    "list": lambda message: [message],
    "webhook with a list": lambda message: {"payload": [message], "meta": {}},
    "text": json.dumps,
    "bytes with a mark": lambda message: b"\xef\xbb\xbf" + json.dumps(message).encode(),
    "service bus": lambda message: {"body": json.dumps(message), "meta": {"message_id": "1"}},
    "service bus, parsed": lambda message: {"body": message, "meta": {"message_id": "1"}},
    "service bus with a list": lambda message: {"body": json.dumps([message])},
    "text in a webhook": lambda message: {"payload": {"body": json.dumps(message)}},
}


@pytest.mark.parametrize("wrapping", WRAPPED)
def test_every_wrapping(wrapping: str):
    assert one(WRAPPED[wrapping](watcher())) == one(watcher())
    assert one(WRAPPED[wrapping](json.loads(payload("no_document_event_grid_object.json"))))["form"] == "event_grid"


def test_event_grid_with_a_list_of_resources():
    shape = one(payload("no_document_event_grid_list.json").decode())
    assert (shape["form"], shape["news"], shape["change"]) == ("event_grid", True, "changed")
    assert (shape["event_type"], shape["event_status"], shape["event_source"]) == ("Reboot", "Started", "User")
    assert shape["event_id"] == "7d11f7c4-a6d3-443a-8fab-bddba4c62bf8"
    assert (shape["resources"], shape["duration_in_seconds"], shape["not_before"]) == (["region_1"], -1, None)
    assert shape["sender"].endswith("/values/9cff2734-c9b7-4f28-86fb-3711b6f86aa4") and shape["resource_ids"] == [shape["sender"]]


def test_event_grid_with_one_resource():
    shape = one(payload("no_document_event_grid_object.json").decode())
    assert (shape["form"], shape["change"], shape["event_status"]) == ("event_grid", "gone", "Completed")
    assert (shape["event_id"], shape["resources"]) == ("ae58506a-dae8-42c1-8e4c-04278e106ea7", ["grid_1"])


def test_event_grid_as_cloud_events():
    schema = json.loads(payload("no_document_event_grid_object.json"))
    message = {"specversion": "1.0", "type": schema["eventType"], "source": "/subscriptions/S", "id": "1", "time": NOON, "data": schema["data"]}
    message["data"]["resourceInfo"]["id"] = RESOURCE_ID + "/providers/Microsoft.Maintenance/scheduledEvents/ae58506a-dae8-42c1-8e4c-04278e106ea7"
    shape = one(message)
    assert (shape["form"], shape["resource_ids"], shape["sender"], shape["sent_at"]) == ("event_grid", [RESOURCE_ID], RESOURCE_ID, NOON)


def test_several_resources_are_several_events():
    message = json.loads(payload("no_document_event_grid_list.json"))[0]
    second = copy.deepcopy(message["data"]["resources"][0])
    second["armResource"]["properties"]["EventId"] = EVENT["event_id"]
    message["data"]["resources"].append(second)
    assert [shape["event_id"] for shape in received(message)] == ["7d11f7c4-a6d3-443a-8fab-bddba4c62bf8", EVENT["event_id"].lower()]


@pytest.mark.parametrize(
    ("delivery", "words"),
    [
        (None, "not an object"),
        ({}, "neither"),
        ([1], "not an object"),
        ("", "not JSON"),
        ("{", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        ("9" * 5000, "digits"),
        ({"i": 1}, "neither"),
        ({"specversion": "1.0", "type": "maintenance.azure.scheduled_event.renamed", "data": {}}, "not known"),
        ({"specversion": "1.0", "type": "maintenance.azure.scheduled_event.listed"}, "no event"),
        (watcher(event_id="all"), "GUID"),
        (watcher(event_id="{{ lookup('pipe','id') }}"), "GUID"),
        (watcher(resources="web1"), "not readable"),
        ({"eventType": "Microsoft.EventGrid.SubscriptionValidationEvent", "data": {"validationCode": "1"}}, "Service Bus"),
        ({"eventType": "microsoft.maintenance/scheduledevents/Write", "data": {}}, "no resource"),
        ({"eventType": "microsoft.maintenance/scheduledevents/Write", "data": {"resources": [{}]}}, "no event"),
        ([watcher()] * (deliveries.MESSAGES + 1), "messages"),
        ({"payload": "x" * (deliveries.BYTES + 1)}, "larger"),
        ("[" * 60_000, "nested"),
        ("[" * 100_000, "larger"),
        ("[" * 60 + "]" * 60, "nested"),
        ([0] * deliveries.BYTES, "larger"),
    ],
)
def test_what_is_no_message(delivery: Any, words: str):
    shape = one(delivery)
    assert (shape["form"], shape["news"], shape["event_id"]) == ("unknown", False, None)
    assert words in shape["problem"]


def test_deep_nesting_needs_no_recursion():
    deep: Any = []
    for unused in range(100_000):
        deep = [deep]
    assert "nested" in one(deep)["problem"]


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_text_is_a_template_and_no_name_a_pattern(attack: str):
    text = json.dumps(one(watcher(description=attack, event_type=attack, event_source=attack, resources=[attack, "web1"])))
    assert not any(mark in text for mark in ("{{", "{%", "{#"))
    assert json.loads(text)["resources"] == ["web1"]
    forged = {**watcher(), "id": attack, "source": attack, "time": attack}
    forged["data"]["vm"]["resource_id"] = attack
    shape = one(forged)
    assert not any(mark in json.dumps(shape) for mark in ("{{", "{%", "{#")) and shape["resource_ids"] == []
    assert not any(mark in json.dumps(one({**forged, "type": attack})) for mark in ("{{", "{%", "{#"))


KEYS = (
    "specversion",
    "type",
    "eventType",
    "data",
    "payload",
    "body",
    "event",
    "vm",
    "resources",
    "resourceInfo",
    "properties",
    "armResource",
    "event_id",
    "source",
)
WORDS = (
    "maintenance.azure.scheduled_event.listed",
    "maintenance.azure.endpoint.failing",
    "microsoft.maintenance/scheduledevents/Write",
    EVENT["event_id"],
    "{{",
)
ANY_TEXT = some.sampled_from(WORDS) | some.text(some.characters(min_codepoint=0, max_codepoint=0x10FFFF, categories=None), max_size=20)
LEAF = some.none() | some.booleans() | some.integers() | some.floats() | ANY_TEXT | some.binary(max_size=20)
JUNK: Any = some.recursive(
    LEAF,
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(some.sampled_from(KEYS) | LEAF, inner, max_size=5),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None)
@given(JUNK)
def test_nothing_raises(delivery: Any):
    for shape in received(delivery):
        assert list(shape) == list(EMPTY)
        assert shape["news"] == (shape["event_id"] is not None)
        assert "{{" not in json.dumps(shape, allow_nan=False)


@settings(max_examples=200, deadline=None)
@given(some.sampled_from(["id", "source", "type", "subject", "time", "specversion", "data", "vm", "event", *EVENT]), JUNK)
def test_nothing_raises_for_a_message_with_one_strange_value(key: str, value: Any):
    message = copy.deepcopy(watcher())
    target = next((place for place in (message, message["data"], message["data"]["event"]) if key in place), message)
    target[key] = value
    for shape in received(message):
        json.dumps(shape, allow_nan=False).encode()


def test_the_plugin_as_ansible_rulebook_runs_it():
    plugin = runpy.run_path(str(PLUGIN))
    assert plugin["main"]({"payload": watcher(), "meta": {"hosts": "all", "headers": {"x": "{{ 1 }}"}}}) == [{"maintenance": one(watcher())}]
    assert plugin["main"](watcher(), most_per_minute=2) == []
    assert plugin["main"](5)[0]["maintenance"]["form"] == "unknown"
