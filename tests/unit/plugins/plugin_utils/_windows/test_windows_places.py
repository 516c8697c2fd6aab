# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.errors import ScheduledEventsError
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.discovery.candidates import DiscoveringTransport
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.imds.client import Client
from ansible_collections.maintenance.azure.plugins.plugin_utils._windows.transport import WindowsPlaces, WindowsTransport
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._windows.played import PreparedCalls

OPTIONS = {"api_version": "auto", "retries": 0}
DOCUMENT = {"status_code": 200, "content": '{"DocumentIncarnation": 1, "Events": []}'}


def registry(**values: str) -> t.Callable[[dict[str, t.Any]], dict[str, t.Any]]:
    def stat(arguments: dict[str, t.Any]) -> dict[str, t.Any]:
        found = values.get(arguments["name"])
        return {"exists": found is not None, "value": found}

    return stat


def answers(address: str) -> t.Callable[[dict[str, t.Any]], dict[str, t.Any]]:
    """Only this address answers, as Scheduled Events."""
    return lambda arguments: {"changed": False} if arguments["host"] == address else {"failed": True, "msg": "timeout"}


def discover(calls: PreparedCalls) -> DiscoveringTransport:
    transport = DiscoveringTransport(WindowsPlaces(calls), lambda endpoint: WindowsTransport(calls, endpoint, False), OPTIONS)
    Client(transport, retries=0).get_document()
    return transport


@pytest.mark.parametrize(
    ("values", "source"),
    [
        ({"SCHEDULEDEVENTSIP": "168.63.129.16"}, "system variable SCHEDULEDEVENTSIP"),
        ({"ScheduledEventsIp": " 168.63.129.16 "}, "registry value ScheduledEventsIp"),
        ({"SCHEDULEDEVENTSIP": "10.0.0.9", "ScheduledEventsIp": "168.63.129.16"}, "registry value ScheduledEventsIp"),
        ({"SCHEDULEDEVENTSIP": "%PATH%", "ScheduledEventsIp": "168.63.129.16"}, "registry value ScheduledEventsIp"),
    ],
)
def test_the_registry_counts_if_the_address_answers(values, source):
    calls = PreparedCalls(win_reg_stat=registry(**values), win_wait_for=answers("168.63.129.16"), win_uri=DOCUMENT)
    found = discover(calls)
    assert (found.endpoint, found.source) == ("http://168.63.129.16", source)


def test_the_usual_address_serves_vms_in_a_virtual_network():
    found = discover(PreparedCalls(win_reg_stat={"exists": False}, win_wait_for=answers("169.254.169.254"), win_uri=DOCUMENT))
    assert found.endpoint == "http://169.254.169.254"


def test_nothing_found_lists_the_places_and_the_remedy():
    calls = PreparedCalls(win_reg_stat=[{"failed": True, "msg": "access denied"}, {"exists": False}], win_wait_for={"failed": True, "msg": "timeout"})
    with pytest.raises(ScheduledEventsError) as caught:
        discover(calls)
    for part in ("access denied", "not set", "169.254.169.254", "--outputregistry", "setx SCHEDULEDEVENTSIP"):
        assert part in caught.value.message
    assert caught.value.kind == "not_discovered"
