# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The seven api-versions (facts, part a9), and instance metadata beside them."""

from __future__ import annotations

import json

import pytest
from imds_simulator.endpoint.versions import EVENT_VERSIONS
from imds_simulator.vm import Vm
from simulator_bench import EVENTS, Bench

FIELDS = ["EventId", "EventStatus", "EventType", "ResourceType", "Resources", "NotBefore"]
EXPECTED = {
    "2017-03-01": (["Reboot", "Redeploy", "Freeze"], []),
    "2017-08-01": (["Reboot", "Redeploy", "Freeze"], []),
    "2017-11-01": (["Reboot", "Redeploy", "Freeze", "Preempt"], []),
    "2019-01-01": (["Reboot", "Redeploy", "Freeze", "Preempt", "Terminate"], []),
    "2019-04-01": (["Reboot", "Redeploy", "Freeze", "Preempt", "Terminate"], ["Description"]),
    "2019-08-01": (["Reboot", "Redeploy", "Freeze", "Preempt", "Terminate"], ["Description", "EventSource"]),
    "2020-07-01": (
        ["Reboot", "Redeploy", "Freeze", "Preempt", "Terminate", "Hibernate"],
        ["Description", "EventSource", "DurationInSeconds"],
    ),
}


def test_the_seven() -> None:
    assert list(EVENT_VERSIONS) == list(EXPECTED)


@pytest.mark.parametrize("version", EXPECTED)
def test_types_fields_and_names(bench: Bench, version: str) -> None:
    for event_type in ("Reboot", "Redeploy", "Freeze", "Preempt", "Terminate", "Hibernate"):
        bench.create(event_type)
    events = bench.document(version=version)["Events"]
    types, fields = EXPECTED[version]
    assert [event["EventType"] for event in events] == types
    assert [list(event) for event in events] == [FIELDS + fields] * len(types)
    assert {name for event in events for name in event["Resources"]} == {"_web1" if version == "2017-03-01" else "web1"}


def test_the_body_is_compact_and_in_the_order_of_the_captures(bench: Bench) -> None:
    bench.create("Preempt", event_id="C1BF8322-4CBF-4FC4-9C45-B40CF3106D0E")
    assert bench.send().body.decode() == (
        '{"DocumentIncarnation":2,"Events":[{"EventId":"C1BF8322-4CBF-4FC4-9C45-B40CF3106D0E","EventStatus":"Scheduled",'
        '"EventType":"Preempt","ResourceType":"VirtualMachine","Resources":["web1"],"NotBefore":"Mon, 29 Mar 2021 06:40:30 GMT",'
        '"Description":"","EventSource":"Platform","DurationInSeconds":-1}]}'
    )


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("rfc1123", "Mon, 29 Mar 2021 06:55:00 GMT"),
        ("iso8601", "2021-03-29T06:55:00Z"),
        ("blank", ""),
        ("absent", None),
        ("wrong_weekday", "Wed, 29 Mar 2021 06:55:00 GMT"),
    ],
)
def test_forms_of_not_before(bench: Bench, form: str, expected: str | None) -> None:
    bench.create(not_before_form=form)
    assert bench.document()["Events"][0].get("NotBefore") == expected


def test_the_preview_can_have_the_documented_date_or_that_of_the_wire(bench: Bench) -> None:
    bench.create()
    assert bench.document(version="2017-03-01")["Events"][0]["NotBefore"] == "Mon, 29 Mar 2021 06:55:00 GMT"
    bench.simulator.switches.change({"preview_not_before": "iso8601"})
    bench.simulator.refresh()
    assert bench.document(version="2017-03-01")["Events"][0]["NotBefore"] == "2021-03-29T06:55:00Z"
    assert bench.document()["Events"][0]["NotBefore"] == "Mon, 29 Mar 2021 06:55:00 GMT"


def test_instance_versions_are_another_list(bench: Bench) -> None:
    assert bench.send(target=EVENTS + "?api-version=2021-02-01").status == 400
    assert bench.send(target="/metadata/instance?api-version=2020-07-01").status == 400
    assert bench.send(target="/metadata/instance?api-version=2021-02-01").status == 200
    bench.simulator.switches.change({"instance_versions_accepted": True})
    assert bench.send(target=EVENTS + "?api-version=2021-02-01").status == 200


def test_versions_are_listed_without_a_version(bench: Bench) -> None:
    versions = json.loads(bench.send(target="/metadata/versions").body)["apiVersions"]
    assert "2021-02-01" in versions
    assert "2020-07-01" not in versions


def test_identity() -> None:
    bench = Bench(Vm("vmss_3", scale_set="vmss", zone="2", priority="Spot", fault_domain="1", tags="role:web;tier:1"))

    def compute(version: str) -> dict[str, object]:
        answer = bench.send(target=f"/metadata/instance?api-version={version}", vm="vmss_3")
        found: dict[str, object] = json.loads(answer.body)["compute"]
        return found

    newest = compute("2021-02-01")
    assert (newest["name"], newest["zone"], newest["priority"], newest["platformFaultDomain"]) == ("vmss_3", "2", "Spot", "1")
    assert str(newest["resourceId"]).endswith("/virtualMachineScaleSets/vmss/virtualMachines/3")
    assert newest["tagsList"] == [{"name": "role", "value": "web"}, {"name": "tier", "value": "1"}]
    oldest = compute("2017-04-02")
    assert "name" in oldest
    assert not {"subscriptionId", "zone", "priority", "resourceId", "tagsList"} & set(oldest)
    bench.close()


def test_an_image_and_one_network_interface() -> None:
    bench = Bench(Vm("web1", publisher="Canonical", private_ip="10.1.2.3", subnet="10.1.2.0", mac_address="000D3A112233"))
    found = json.loads(bench.send(target="/metadata/instance?api-version=2021-02-01").body)
    assert {key: found["compute"][key] for key in ("publisher", "offer", "sku", "version")} == {
        "publisher": "Canonical",
        "offer": "debian-12",
        "sku": "12-gen2",
        "version": "latest",
    }
    assert found["network"]["interface"] == [
        {
            "ipv4": {"ipAddress": [{"privateIpAddress": "10.1.2.3", "publicIpAddress": ""}], "subnet": [{"address": "10.1.2.0", "prefix": "24"}]},
            "ipv6": {"ipAddress": []},
            "macAddress": "000D3A112233",
        }
    ]
    bench.close()


def test_a_leaf_is_text(bench: Bench) -> None:
    leaf = "/metadata/instance/compute/name?api-version=2021-02-01"
    assert bench.send(target=leaf + "&format=text").body == b"web1"
    assert bench.send(target=leaf).status == 400
    assert bench.send(target="/metadata/instance/compute/colour?api-version=2021-02-01&format=text").status == 404
