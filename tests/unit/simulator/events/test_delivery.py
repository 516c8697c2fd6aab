# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Delivery: groups, GPU VMs, zones, enabling and disabling, the incarnation (facts, parts e2 and b5)."""

from __future__ import annotations

import json

from imds_simulator.scenarios import scenarios
from imds_simulator.vm import Vm
from simulator_bench import Bench


def test_the_whole_group_gets_an_event_in_any_zone() -> None:
    bench = Bench(Vm("web1", zone="1"), Vm("web2", zone="2"), Vm("db1", group="data"))
    bench.create("Reboot", "web1")
    assert [len(bench.shown(vm)) for vm in ("web1", "web2", "db1")] == [1, 1, 0]
    assert [bench.document(vm)["DocumentIncarnation"] for vm in ("web1", "web2", "db1")] == [2, 2, 1]
    bench.close()


def test_a_gpu_vm_hears_only_of_its_own_events() -> None:
    bench = Bench(Vm("gpu0", alone=True), Vm("gpu1", alone=True))
    event = bench.create("Reboot", "GPU0")
    assert [len(bench.shown(vm)) for vm in ("gpu0", "gpu1")] == [1, 0]
    assert [bench.document(vm)["DocumentIncarnation"] for vm in ("gpu0", "gpu1")] == [2, 1]
    assert bench.approve(event.event_id, vm="gpu1") == 400
    bench.close()


def test_a_gpu_vm_does_not_hear_of_its_groups_events() -> None:
    bench = Bench(Vm("gpu0", alone=True), Vm("web1"))
    bench.create("Reboot", "web1")
    assert [len(bench.shown(vm)) for vm in ("gpu0", "web1")] == [0, 1]
    bench.close()


def test_a_scenario_sets_the_properties_of_its_vms(bench: Bench) -> None:
    scenarios.play(bench.simulator, scenarios.load("gpu-single-fault-domain"), ["web2", "web1"])
    bench.advance(10)
    assert [len(bench.shown(vm)) for vm in ("web1", "web2")] == [0, 1]
    scenarios.play(bench.simulator, scenarios.load("spot-preempt"), ["web1"])
    compute = json.loads(bench.send(target="/metadata/instance?api-version=2021-02-01").body)["compute"]
    assert (compute["name"], compute["priority"]) == ("web1", "Spot")


def test_a_scenario_played_twice_has_new_ids(bench: Bench) -> None:
    names = [scenarios.play(bench.simulator, scenarios.load("two-reboots"))["events"]["four"] for _time in range(2)]
    assert names[0] == "28512AF7-C957-4500-9BC4-842D6FB531E4" != names[1]


def test_an_event_with_an_unknown_name_reaches_the_group(bench: Bench) -> None:
    bench.create("Reboot", "db1")
    assert len(bench.shown("web1")) == len(bench.shown("web2")) == 1


def test_the_counter_can_be_shared_otherwise() -> None:
    for scope, expected in (("vm", [2, 1]), ("all", [2, 2])):
        bench = Bench(Vm("web1", group="a"), Vm("web2", group="b"), incarnation_scope=scope)
        bench.create("Reboot", "web1")
        assert [bench.document(vm)["DocumentIncarnation"] for vm in ("web1", "web2")] == expected
        bench.close()


def test_the_first_call_blocks_and_events_come_later() -> None:
    bench = Bench("web1", enabled=False, first_call_delay=120, enabling_delay=300)
    target, headers = "/metadata/scheduledevents?api-version=2020-07-01", {"Metadata": "true"}
    first = bench.ask("GET", target, headers)
    bench.advance(60)
    second = bench.ask("GET", target, headers)
    bench.create()
    bench.advance(59)
    assert (first, second) == ([], [])
    bench.advance(1)
    assert [answer.status for answer in first + second] == [200, 200]
    assert bench.document() == {"DocumentIncarnation": 1, "Events": []}
    bench.advance(180)
    assert bench.document()["DocumentIncarnation"] == 2
    assert bench.shown() == [("Reboot", "Scheduled")]
    bench.close()


def test_a_day_of_silence_disables_and_the_incarnation_begins_anew(bench: Bench) -> None:
    for _number in range(3):
        bench.simulator.machine.cancel(bench.create())
    assert bench.document()["DocumentIncarnation"] == 7
    bench.advance(86400)
    assert bench.document()["DocumentIncarnation"] == 7, "asked just in time"
    bench.advance(86400)
    assert bench.document()["DocumentIncarnation"] == 7, "and again"
    bench.advance(86401)
    assert bench.simulator.groups.feature(bench.simulator.groups.vms["web1"]).state(bench.clock.now()) == "disabled"
    assert bench.document()["DocumentIncarnation"] == 1


def test_a_post_keeps_the_feature_enabled_as_a_get_does(bench: Bench) -> None:
    feature = bench.simulator.groups.feature(bench.simulator.groups.vms["web1"])
    bench.advance(50000)
    assert bench.approve("unknown") == 400
    bench.advance(50000)
    assert feature.state(bench.clock.now()) == "enabled"
    bench.advance(50000)
    assert feature.state(bench.clock.now()) == "disabled"
    # It does not enable it again.
    assert bench.approve("unknown") == 400
    assert feature.state(bench.clock.now()) == "disabled"


def test_a_zone_that_begins_to_ask_does_not_put_the_counter_of_another_back() -> None:
    bench = Bench(Vm("web1", zone="1"), Vm("web2", zone="2"), enabled=False)
    first = bench.document("web1")["DocumentIncarnation"]
    bench.create(resources=["web1"])
    before = bench.document("web1")["DocumentIncarnation"]
    assert before > first
    bench.document("web2")
    assert bench.document("web1")["DocumentIncarnation"] >= before
    bench.close()


def test_while_disabled_an_operation_gives_no_notice() -> None:
    for choice, expected in (("no_notice", "started"), ("notice", "scheduled")):
        bench = Bench("web1", enabled=False, while_disabled=choice)
        assert bench.create().state == expected
        bench.close()


def test_each_zone_has_to_ask_for_itself() -> None:
    bench = Bench(Vm("web1", zone="1"), Vm("web2", zone="2"), enabled=False)
    bench.document("web1")
    groups = bench.simulator.groups
    states = [groups.feature(vm).state(bench.clock.now()) for vm in groups.vms.values()]
    assert states == ["enabled", "disabled"]
    bench.close()


def test_os_images_give_notice_only_when_that_is_configured() -> None:
    for configured, expected in ((False, "started"), (True, "scheduled")):
        bench = Bench("web1", os_image_events=configured)
        assert bench.create(os_image=True, notice=900).state == expected
        bench.close()
