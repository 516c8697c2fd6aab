# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Method pacemaker, through the engine; the cluster is a stand-in that answers with the words of a real one."""

from __future__ import annotations

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.methods.method import MethodError
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.methods.pacemaker import cluster as pacemaker_cluster
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine.commands import CommandResult
from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.kinds.findings import read_words
from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.kinds.registry import kind_of
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.drain.methods import pacemaker_scene
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.drain.methods.pacemaker_scene import FakePacemaker
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.drain.scene import ABOUT, Vm, step
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.helpers import EVENT

ALONE = {**ABOUT, "resources": ["vm_0"]}
BOTH = {**ABOUT, "resources": ["vm_0", "vm_1"]}
MEMBERS = {"vm1": "web1", "vm2": "web2", "vm3": "web3"}
NAMES = {"web1": "vm_0", "web2": "vm_1", "web3": "vm_2"}
MARK = f"crm_attribute --node=vm1 --name=maintenance-azure --lifetime={{}} --update=maintenance.azure {EVENT}"
STANDBY = "crm_standby --node=vm1 --lifetime={} --update=on"
BY_HAND = "crm_standby {0}; crm_attribute --name=maintenance-azure {0}"
ENDS = ["crm_standby --node=vm1 --lifetime={} --delete", "crm_attribute --node=vm1 --name=maintenance-azure --lifetime={} --delete"]


@pytest.fixture
def cluster():
    return FakePacemaker()


@pytest.fixture
def vm(tmp_path, cluster):
    found = Vm(tmp_path)
    found.machine = found.machine._replace(commands=cluster, now=lambda: "2026-11-21T20:00:00Z")
    return found


def pacemaker(**options):
    return step("pacemaker", given=options, override={})


def drain(vm, event=None, **options):
    return vm.drain(pacemaker(**options), event=event or ALONE, members=NAMES)


def undo(vm, event=None, **options):
    return vm.undo(pacemaker(**options), event=event or ALONE)


def finding(vm):
    return vm.entry("1-pacemaker")["before"]


def changes(lifetime):
    return [MARK.format(lifetime), STANDBY.format(lifetime)]


def ends(lifetime):
    return [one.format(lifetime) for one in ENDS]


# --- out and back ---------------------------------------------------------------------------------------------------------


def test_a_node_is_put_into_standby_and_comes_back(vm, cluster):
    assert drain(vm).state == "drained"
    assert cluster.calls == changes("forever") and cluster.live.resources[0]["node"] == "vm2"
    assert finding(vm) == {"node": "vm1", "standby": False, "lifetime": "forever", "aside": "", "ran0": "d1"}
    cluster.calls.clear()
    assert (undo(vm).state, cluster.calls) == ("undone", ends("forever"))
    assert (cluster.live.standby, cluster.live.marks) == ({}, {})
    # All words are English, and no password of the configuration stays behind.
    assert all(one["LC_ALL"] == "C" for one in cluster.environments)
    cluster.calls.clear()
    assert (undo(vm).state, cluster.calls) == ("undone", [])


def test_a_second_look_changes_nothing(vm, cluster):
    drain(vm)
    cluster.calls.clear()
    assert (drain(vm).state, cluster.calls) == ("drained", [])


@pytest.mark.parametrize(("kind", "option", "lifetime"), [
    ("Freeze", "auto", "reboot"), ("Preempt", "auto", "reboot"), ("Terminate", "auto", "reboot"), ("Reboot", "auto", "forever"),
    ("Redeploy", "auto", "forever"), ("Sunrise", "auto", "forever"), (None, "auto", "forever"), ("Reboot", "reboot", "reboot"),
    ("Freeze", "forever", "forever"),
])  # fmt: skip
def test_how_long_a_standby_lasts(vm, cluster, kind, option, lifetime):
    event = {**ALONE, "event_type": kind}
    drain(vm, event, lifetime=option)
    assert cluster.calls == changes(lifetime)
    assert undo(vm, event, lifetime=option).state == "undone"
    assert cluster.calls == [*changes(lifetime), *ends(lifetime)]


def test_after_a_reboot_a_lasting_standby_holds_and_a_transient_one_is_set_again(vm, cluster):
    drain(vm)
    cluster.reboot()
    cluster.calls.clear()
    assert (drain(vm).state, cluster.calls) == ("drained", [])
    undo(vm)
    cluster.live.resources[0]["node"] = "vm1"
    drain(vm, lifetime="reboot")
    cluster.reboot()
    cluster.calls.clear()
    assert (drain(vm, lifetime="reboot").state, cluster.calls) == ("drained", changes("reboot"))


def test_the_lifetime_is_the_recorded_one(vm, cluster):
    drain(vm, lifetime="reboot")
    undo(vm, lifetime="forever")
    assert cluster.calls == [*changes("reboot"), *ends("reboot")]


def test_the_node_of_another_vm_is_refused_by_both_names(vm, cluster):
    # As in variables of a group: this VM would be called drained while another one leaves the cluster.
    outcome = drain(vm, node="vm2")
    assert outcome.state == "failed" and outcome.error == "1-pacemaker: option node is vm2, and this VM's node is vm1 (crm_node --name)"
    assert not any("crm_standby" in call for call in cluster.calls)


def test_the_node_is_the_one_of_the_settings_and_never_of_the_record(vm, cluster):
    cluster.name = "elsewhere"
    assert drain(vm).error == "1-pacemaker: The cluster has no node elsewhere but vm1, vm2, vm3; set the option node"
    drain(vm, node="vm1")
    vm.damage(lambda record: record["methods"][0]["before"].update(node="vm2"))
    cluster.live.marks["forever", "vm2"] = f"maintenance.azure {EVENT}"
    cluster.calls.clear()
    assert undo(vm, node="vm1").state == "undone"
    assert cluster.calls == ends("forever")


# --- when it has drained --------------------------------------------------------------------------------------------------


def test_it_is_drained_only_when_what_ran_here_has_started_elsewhere(vm, cluster):
    cluster.is_slow = True
    (one, _other) = cluster.live.resources
    assert drain(vm).error == "still on vm1: d1"
    # As recorded: while it stops it is nowhere, and no resource is said to be running on the node.
    one.update(node=None, role="Stopping")
    cluster.busy = ["S_TRANSITION_ENGINE"]
    assert drain(vm).error == "resources are moving: S_TRANSITION_ENGINE"
    one.update(node="vm2", role="Starting")
    cluster.busy = ["S_TRANSITION_ENGINE"]
    assert drain(vm).state == "draining"
    one.update(role="Started")
    cluster.busy = ["S_TRANSITION_ENGINE"]
    assert drain(vm).state == "draining"
    assert drain(vm).state == "drained"


def test_what_nobody_starts_elsewhere_fails_the_drain(vm, cluster):
    cluster.is_slow = True
    assert drain(vm).state == "draining"
    cluster.live.resources[0].update(node=None, role="Stopped")
    out = drain(vm)
    assert (out.state, out.error) == ("failed", "not started on another node, and the cluster does not try any more: d1. See crm_mon")


def test_a_resource_that_starts_between_two_looks_is_no_failure(vm, cluster):
    cluster.is_slow = True
    drain(vm)
    cluster.live.resources[0].update(node=None, role="Stopped")
    cluster.busy = ["S_IDLE", "S_POLICY_ENGINE"]
    out = drain(vm)
    assert (out.state, out.error) == ("draining", "not yet on another node that stays: d1")


def test_what_could_not_be_stopped_fails_the_drain(vm, cluster):
    cluster.live.resources[0].update(blocked=True)
    cluster.is_slow = True
    assert drain(vm).error == "could not be stopped on vm1, and the cluster has given up: d1. See crm_resource --cleanup"


@pytest.mark.parametrize("change", [lambda live: live.resources[0].update(node=None, role="Stopped", target="Stopped"), lambda live: live.resources.pop(0)])
def test_what_somebody_stops_or_removes_meanwhile_is_not_waited_for(vm, cluster, change):
    cluster.is_slow = True
    drain(vm)
    change(cluster.live)
    assert drain(vm).state == "drained"


def test_a_standby_that_somebody_ends_begins_again(vm, cluster):
    drain(vm)
    cluster.live.standby.clear()
    cluster.live.resources[0]["node"] = "vm1"
    cluster.calls.clear()
    assert (drain(vm).state, cluster.calls) == ("drained", changes("forever"))


def test_clones_stay_where_they_are_and_their_promoted_role_moves(vm, cluster):
    clone = {"id": "c", "inside": 'clone id="cs"', "clone": True}
    cluster.live.resources = [
        {**clone, "node": "vm1"}, {**clone, "id": "c:1", "node": "vm2"},
        {**clone, "id": "st", "node": "vm1", "role": "Promoted"}, {**clone, "id": "st", "node": "vm2", "role": "Unpromoted"},
        {"id": "docker-0", "inside": 'bundle id="web"', "node": "vm1"}, {"id": "docker-1", "inside": 'bundle id="web"', "node": "vm3"},
        {"id": "fence", "agent": "stonith:fence_azure_arm", "node": "vm1"},
    ]  # fmt: skip
    status = pacemaker_cluster.parse_status(cluster.live.xml())
    assert {name: sorted(one.settled) for name, one in status.resources.items()} == {
        "web": ["vm1", "vm3"], "c": ["vm1", "vm2"], "st": ["vm1", "vm2"], "st:promoted": ["vm1"],
    }  # fmt: skip
    # Nobody is promoted elsewhere: that is what its users would miss.
    assert drain(vm).error == "1-pacemaker: st:promoted can run on no other node (constraints, capacity, or not managed); vm1 was left in service"


def test_a_guest_node_takes_nothing_over(cluster):
    text = cluster.live.xml().replace('<node name="vm3"', '<node id_as_resource="docker-0" name="vm3"')
    assert list(pacemaker_cluster.parse_status(text).nodes) == ["vm1", "vm2"]


# --- refusals -------------------------------------------------------------------------------------------------------------


NO_OTHER = "no other node may take over from vm1: "
MAINTAINED = "the cluster, or the node, is in maintenance mode, in which no resource moves"
STUCK = "d1 can run on no other node (constraints, capacity, or not managed); vm1 was left in service"
AZURES = {"id": "az", "agent": "ocf:heartbeat:azure-events-az", "node": "vm2"}
UNNAMED = "the event names several VMs, and option members does not name the host of this node"


def offline(live):
    for name in ("vm2", "vm3"):
        live.nodes[name].update(online=False)


def unusable(live):
    live.nodes["vm2"].update(standby=True)
    live.nodes["vm3"].update(pending=True, unclean=True)


def with_a_device(cluster):
    """With a quorum device of two votes one node of three is a majority."""
    cluster.live.votes.expected, cluster.live.votes.quorum, cluster.live.votes.device = 5, 3, 2


def alone(live):
    del live.nodes["vm2"], live.nodes["vm3"]


@pytest.mark.parametrize(("change", "words"), [
    (offline, NO_OTHER + "vm2: offline; vm3: offline"),
    (unusable, NO_OTHER + "vm2: standby; vm3: pending, unclean"),
    (alone, NO_OTHER + "there is none"),
    (lambda live: setattr(live, "maintained", True), MAINTAINED),
    (lambda live: live.nodes["vm1"].update(maintenance=True), MAINTAINED),
    (lambda live: setattr(live, "quorum", False), "this part of the cluster has no quorum"),
    (lambda live: live.allowed.update(d1=["vm1"]), STUCK),
    (lambda live: live.resources[0].update(stays=True), STUCK),
    (lambda live: live.resources.append(AZURES), "the cluster handles Azure's events itself (resource az); see option azure_agent"),
])  # fmt: skip
def test_what_a_standby_would_take_away_is_refused_by_name(vm, cluster, change, words):
    change(cluster.live)
    out = drain(vm)
    assert (out.state, out.error, cluster.calls) == ("failed", f"1-pacemaker: {words}", [])


def test_several_reasons_are_all_said(vm, cluster):
    cluster.live.maintained, cluster.live.quorum = True, False
    assert (drain(vm).error or "").count(";") == 1


@pytest.mark.parametrize(("members", "words"), [
    (MEMBERS, None),
    ({**MEMBERS, "vm3": "web9"}, NO_OTHER + "vm2: its VM vm_1 is hit by the same event; vm3: the name of web9 in Azure is not known"),
    ({"vm2": "web2"}, NO_OTHER + f"vm2: its VM vm_1 is hit by the same event; vm3: {UNNAMED}"),
    ({}, NO_OTHER + f"vm2: {UNNAMED}; vm3: {UNNAMED}"),
])  # fmt: skip
def test_nodes_that_the_event_hits_or_that_are_not_known_take_nothing_over(vm, cluster, members, words):
    with_a_device(cluster)
    out = drain(vm, BOTH, members=members)
    if words is None:
        assert (out.state, cluster.live.resources[0]["node"]) == ("draining", "vm2")
        assert out.error == "not yet on another node that stays: d1"
        cluster.live.resources[0]["node"] = "vm3"
        assert drain(vm, BOTH, members=members).state == "drained"
    else:
        assert (out.state, out.error, cluster.calls) == ("failed", f"1-pacemaker: {words}", [])


def test_a_resource_that_only_a_node_of_the_same_event_could_run_is_refused(vm, cluster):
    with_a_device(cluster)
    cluster.live.allowed["d1"] = ["vm1", "vm2"]
    assert "d1 can run on no other node" in (drain(vm, BOTH, members=MEMBERS).error or "")
    assert drain(vm, members=MEMBERS).state == "drained"


def test_on_request_what_can_run_nowhere_else_is_stopped(vm, cluster):
    cluster.live.allowed["d1"] = ["vm1"]
    assert drain(vm, unmovable="stop").state == "drained"
    assert (cluster.live.resources[0]["role"], "ran0" in finding(vm)) == ("Stopped", False)


@pytest.mark.parametrize("change", [{"stays": True}, {"stays": True, "blocked": True}])
def test_what_would_stay_on_the_node_is_refused_before_anything_moves_also_on_request(vm, cluster, change):
    cluster.live.resources.append({"id": "d3", "node": "vm1", **change})
    said = "d3 would stay on vm1, because the cluster does not stop it (not managed, or blocked); nothing was moved"
    out = drain(vm, unmovable="stop")
    assert (out.state, out.error, cluster.calls) == ("failed", f"1-pacemaker: {said}", [])
    assert cluster.live.resources[0]["node"] == "vm1"


def test_a_cluster_at_work_is_waited_for_and_uses_no_attempt(vm, cluster):
    cluster.busy = ["S_TRANSITION_ENGINE", "S_POLICY_ENGINE"]
    for word in list(cluster.busy):
        out = drain(vm)
        assert (out.state, out.error, cluster.calls) == ("draining", f"1-pacemaker: not yet: the cluster is still at work: {word}", [])
    assert (drain(vm).state, vm.record()["attempts"]) == ("drained", 1)


def test_when_there_is_no_time_left_it_begins_all_the_same(vm, cluster):
    cluster.busy = ["S_TRANSITION_ENGINE"]
    assert drain(vm, {**ALONE, "not_before": "2026-11-21T20:00:30Z"}).state == "drained"


def test_without_a_controller_nothing_begins(vm, cluster):
    cluster.live.dc = False
    assert drain(vm).error == "1-pacemaker: not yet: the cluster is still at work: no node is elected to decide (DC)"


# --- which majority is left -----------------------------------------------------------------------------------------------


THREE_DOWN = "2 of 3 votes are needed, and 1 would be left: vm3 is down. The cluster would stop all resources (no-quorum-policy)"
HIT = "vm2: its VM vm_1 is hit by the same event"


def down(cluster, *names):
    for name in names:
        cluster.live.nodes[name]["online"] = False


def count(cluster, expected, quorum, *flags, **more):
    votes = cluster.live.votes
    votes.expected, votes.quorum, votes.flags = expected, quorum, flags
    for name, value in more.items():
        setattr(votes, name, value)


def test_with_another_node_down_it_waits_and_nothing_is_changed_until_the_node_is_back(vm, cluster):
    down(cluster, "vm3")
    out = drain(vm)
    assert (out.state, out.error, cluster.calls, vm.record()["attempts"]) == ("draining", f"1-pacemaker: not yet: {THREE_DOWN}", [], 0)
    assert vm.would(pacemaker(), event=ALONE, members=NAMES) == [f"would wait: {THREE_DOWN}"]
    down(cluster)
    cluster.live.nodes["vm3"]["online"] = True
    assert drain(vm).state == "drained"


def test_at_its_deadline_it_has_failed_by_name(vm, cluster):
    down(cluster, "vm3")
    out = drain(vm, {**ALONE, "not_before": "2026-11-21T20:00:30Z"})
    assert out.state == "failed" and THREE_DOWN in out.error and cluster.calls == []


def test_a_node_that_goes_down_after_the_drain_holds_it_until_it_is_back(vm, cluster):
    assert drain(vm).state == "drained"
    down(cluster, "vm3")
    out = drain(vm)
    assert (out.state, out.error) == ("drained", THREE_DOWN)
    entry = vm.entry("1-pacemaker")
    assert (entry["error"], entry["error_kind"]) == (THREE_DOWN, "hold")
    cluster.live.nodes["vm3"]["online"] = True
    out = drain(vm)
    assert (out.state, out.error, vm.entry("1-pacemaker")["error_kind"]) == ("drained", None, None)


def test_votes_that_cannot_be_read_after_the_drain_hold_it(vm, cluster):
    assert drain(vm).state == "drained"
    cluster.answers["corosync-quorumtool"] = CommandResult(124, "", "")
    out = drain(vm)
    assert (out.state, out.error) == ("drained", "the votes are not known: corosync-quorumtool -si ended with exit code 124: no reason given")


def test_a_standby_of_a_person_still_votes(vm, cluster):
    cluster.live.standby["forever", "vm1"] = "on"
    cluster.live.settle()
    down(cluster, "vm3")
    assert drain(vm).error == f"1-pacemaker: not yet: {THREE_DOWN}"
    # After a boot in the midst of a drain its own standby is no reason to wait: what is asked then is only whether it may go.
    cluster.live.nodes["vm3"]["online"] = True
    cluster.live.standby.clear()
    assert drain(vm).state == "drained" and ("forever", "vm1") in cluster.live.standby
    down(cluster, "vm3")
    cluster.calls.clear()
    cluster.reboot()
    assert (drain(vm).state, cluster.calls) == ("drained", [])


@pytest.mark.parametrize(("policy", "then"), [
    ("stop", "stop all resources"), ("freeze", "start nothing any more"), ("demote", "demote what is promoted, and stop all else"),
    ("suicide", "fence the nodes that are left"), ("fence", "fence the nodes that are left"), ("ignore", None),
])  # fmt: skip
def test_what_the_cluster_does_without_a_majority_is_said(vm, cluster, policy, then):
    cluster.live.policy = policy
    down(cluster, "vm3")
    out = drain(vm)
    if then is None:
        assert out.state == "drained"
    else:
        assert out.state == "draining" and out.error.endswith(f"vm3 is down. The cluster would {then} (no-quorum-policy)")


def two_nodes(cluster, *flags, quorum=2, **more):
    del cluster.live.nodes["vm3"]
    count(cluster, 2, quorum, *flags, **more)


def with_tie_breaker(cluster, said):
    cluster.tie_breaker = said
    two_nodes(cluster, "AutoTieBreaker")


# How Corosync counts: what is changed, and what the drain says; None for one that drains.
COUNTED = [
    (lambda one: two_nodes(one, "2Node", "WaitForAll", quorum=1), None),
    (two_nodes, "2 of 2 votes are needed, and 1 would be left without vm1."),
    # It goes on in the half that has the lowest id, unless it is set otherwise; this VM's is 1.
    (lambda one: with_tie_breaker(one, None), "2 of 2 votes are needed, and 1 would be left without vm1."),
    (lambda one: with_tie_breaker(one, "lowest"), "2 of 2 votes are needed, and 1 would be left without vm1."),
    (lambda one: with_tie_breaker(one, "1 2"), "2 of 2 votes are needed, and 1 would be left without vm1."),
    (lambda one: with_tie_breaker(one, "highest"), None),
    (lambda one: with_tie_breaker(one, "2 1"), None),
    (lambda one: with_tie_breaker(one, "7,2"), None),
    # Votes that are not all the same.
    (lambda one: count(one, 5, 3, of={"1": 3}), "3 of 5 votes are needed, and 2 would be left without vm1."),
    (lambda one: count(one, 5, 3, of={"2": 3}), None),
    (lambda one: (down(one, "vm3"), count(one, 5, 3, of={"2": 3})), None),
    (lambda one: (down(one, "vm3"), count(one, 3, 2, "WaitForAll")), "2 of 3 votes are needed, and 1 would be left: vm3 is down."),
    # last_man_standing counts again some seconds after a loss, and after this one it would be too late.
    (lambda one: (down(one, "vm3"), count(one, 3, 2, "WaitForAll", "LastManStanding")),
     "2 of 3 votes are needed, and 1 would be left: vm3 is down; last_man_standing does not help before it has counted again."),
    (lambda one: (down(one, "vm3"), count(one, 2, 1, "WaitForAll", "LastManStanding")), None),
    # A quorum device, with its votes, and while it has none.
    (lambda one: (down(one, "vm3"), count(one, 5, 3, device=2)), None),
    (lambda one: (down(one, "vm3"), count(one, 4, 2, device=1, casts=False)), "2 of 4 votes are needed, and 1 would be left: vm3 is down."),
    (lambda one: two_nodes(one, device=1), None),
    # One of Pacemaker Remote votes for nothing, and is not down because Corosync does not know it.
    (lambda one: (one.live.types.update(vm3="remote"), count(one, 2, 1, "2Node", of={"3": "remote"})), None),
    (lambda one: (one.live.types.update(vm1="remote"), count(one, 2, 2, of={"1": "remote"})), None),
    # What runs nowhere is stopped by nothing.
    (lambda one: (down(one, "vm3"), one.live.resources.clear()), None),
    # No majority is left to lose; where something is to be moved that is refused by itself.
    (lambda one: (one.live.standby.update({("forever", "vm1"): "on"}), one.live.settle(), count(one, 9, 5)), None),
]  # fmt: skip


@pytest.mark.parametrize(("change", "words"), COUNTED)
def test_the_majority_is_the_one_that_corosync_counts(vm, cluster, change, words):
    change(cluster)
    out = drain(vm)
    assert (out.state == "drained") if words is None else (words in (out.error or "") and cluster.calls == []), out


def test_who_breaks_a_tie_is_asked_only_where_there_is_one(vm, cluster):
    cluster.live.votes.flags = ("AutoTieBreaker",)
    assert drain(vm).state == "drained" and not cluster.asked_tie_breaker
    cluster.answers["corosync-cmapctl"] = CommandResult(124, "", "")
    down(cluster, "vm3")
    said = "the votes are not known: corosync-cmapctl -g quorum.auto_tie_breaker_node ended with exit code 124: no reason given"
    assert drain(vm).error == said


def test_a_tie_breaker_does_not_help_where_what_goes_is_a_majority(vm, cluster):
    # Three of five go, and two, with the breaker of ties, stay: the three could be on their own, too.
    for name in ("vm4", "vm5"):
        cluster.live.nodes[name] = dict(cluster.live.nodes["vm2"])
    count(cluster, 5, 3, "AutoTieBreaker")
    cluster.tie_breaker = "5"
    hit = {**MEMBERS, "vm4": "web4", "vm5": "web5"}
    three = {**ABOUT, "resources": ["vm_0", "vm_1", "vm_2"]}
    names = {**NAMES, "web4": "vm_3", "web5": "vm_4"}
    out = vm.drain(pacemaker(members=hit), event=three, members=names)
    assert out.state == "failed" and "3 of 5 votes are needed, and 2 would be left" in out.error
    down(cluster, "vm3")
    cluster.live.allowed["d1"] = ["vm1", "vm4"]
    assert vm.drain(pacemaker(members=hit), event=BOTH, members=names).state == "drained"


def test_all_nodes_that_the_event_hits_are_counted_as_gone(vm, cluster):
    out = drain(vm, BOTH, members=MEMBERS)
    said = f"1-pacemaker: 2 of 3 votes are needed, and 1 would be left: {HIT}. The cluster would stop all resources (no-quorum-policy)"
    # No node is missing, so that waiting helps nothing.
    assert (out.state, out.error, cluster.calls) == ("failed", said, [])


def test_a_node_that_members_does_not_name_may_be_hit_too(vm, cluster):
    for name in ("vm4", "vm5"):
        cluster.live.nodes[name] = dict(cluster.live.nodes["vm2"])
    count(cluster, 5, 3)
    members = {**MEMBERS, "vm4": "web4"}
    out = vm.drain(pacemaker(members=members), event=BOTH, members={**NAMES, "web4": "vm_3"})
    assert out.error.startswith(f"1-pacemaker: 3 of 5 votes are needed, and 2 would be left: {HIT}; vm5: {UNNAMED}.")
    out = vm.drain(pacemaker(members={**members, "vm5": "web5"}), event=BOTH, members={**NAMES, "web4": "vm_3", "web5": "vm_4"})
    assert out.state in ("draining", "drained") and cluster.calls == changes("forever")


UNREAD = "the votes are not known: corosync-quorumtool -si ended with exit code "


@pytest.mark.parametrize(("answer", "words"), [
    (CommandResult(1, "", pacemaker_scene.NO_DAEMON), UNREAD + "1: Cannot initialize CMAP service"),
    (CommandResult(127, "", "corosync-quorumtool: No such file or directory"), UNREAD + "127: corosync-quorumtool: No such file or directory"),
    (CommandResult(124, "", ""), UNREAD + "124: no reason given"),
    # Without votequorum it has no votes to tell.
    (CommandResult(0, pacemaker_scene.VOTES.partition("Votequorum")[0], ""), UNREAD + "0: Quorum information"),
    (CommandResult(0, "Expected votes: 3\nQuorum: 2\nFlags: Quorate\n", ""), UNREAD + "0: Expected votes: 3"),
])  # fmt: skip
def test_votes_that_cannot_be_read_are_refused_with_the_command_that_failed(vm, cluster, answer, words):
    cluster.answers["corosync-quorumtool"] = answer
    out = drain(vm)
    assert out.state == "failed" and out.error.startswith(f"1-pacemaker: {words}") and cluster.calls == []


@pytest.mark.parametrize("code", [0, 1, 2])
def test_the_words_count_and_not_the_exit_code(vm, cluster, code):
    # Corosync 2 ends with 1 where there is a majority, 3 with 2 where there is none.
    cluster.answers["corosync-quorumtool"] = CommandResult(code, cluster.live.votes.text(cluster.live.nodes)[1], "")
    assert drain(vm).state == "drained"


# --- what is not ours -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lifetime", ["forever", "reboot"])
@pytest.mark.parametrize("mark", [None, "maintenance.azure 9C3F8C9D-0000-4A5B-8C7D-000000000000", f"maintenance.azure {EVENT} and a bad disk", "mine"])
def test_a_standby_of_somebody_else_is_left_as_found_twice(vm, cluster, lifetime, mark):
    live = cluster.live
    live.standby[lifetime, "vm1"] = "on"
    live.marks.update({(lifetime, "vm1"): mark} if mark else {})
    live.settle()
    before = (dict(live.standby), dict(live.marks))
    for _time in range(2):
        assert drain(vm).state == "drained"
        assert finding(vm)["standby"] is True
        assert undo(vm).state == "undone"
    assert ((live.standby, live.marks), cluster.calls) == (before, [])


def test_the_last_node_in_a_standby_of_somebody_else_is_drained(vm, cluster):
    cluster.live.nodes["vm1"]["standby"] = True
    cluster.live.settle()
    for name in ("vm2", "vm3"):
        cluster.live.nodes[name]["online"] = False
    assert drain(vm).state == "drained"


def test_a_reason_that_somebody_extends_is_theirs(vm, cluster):
    drain(vm)
    cluster.live.marks["forever", "vm1"] += ", and it stays out: bad disk"
    cluster.calls.clear()
    assert (undo(vm).state, cluster.calls) == ("undone", [])


def test_a_standby_set_between_the_finding_and_the_begin_is_theirs(vm, cluster):
    assert vm.drain(pacemaker(), event=ALONE, stop_at_finding=True).state == "found"
    cluster.live.standby["forever", "vm1"] = "on"
    cluster.live.settle()
    assert (drain(vm).state, cluster.calls) == ("drained", [])
    assert (undo(vm).state, cluster.calls) == ("undone", [])


def test_a_standby_that_somebody_adds_in_the_other_lifetime_stays(vm, cluster):
    drain(vm, {**ALONE, "event_type": "Freeze"})
    cluster.live.standby["forever", "vm1"] = "on"
    assert undo(vm, {**ALONE, "event_type": "Freeze"}).state == "undone"
    assert cluster.live.standby == {("forever", "vm1"): "on"}


def test_where_azures_agent_runs_it_may_step_aside_or_ignore_it(vm, cluster):
    cluster.live.resources.append(AZURES)
    out = drain(vm, azure_agent="step_aside")
    said = "Nothing was done about node vm1: the cluster handles Azure's events itself (resource az)."
    assert (out.state, out.warning, cluster.calls) == ("drained", said, [])
    assert (undo(vm, azure_agent="step_aside").state, cluster.calls) == ("undone", [])
    assert (drain(vm, azure_agent="ignore").state, cluster.calls) == ("drained", changes("forever"))


def test_a_copy_of_the_record_that_says_the_cluster_does_it_is_not_believed(vm, cluster):
    cluster.is_slow = True
    drain(vm, azure_agent="step_aside")
    vm.damage(lambda record: record["methods"][0]["before"].update(aside="made-up"))
    assert drain(vm, azure_agent="step_aside").error == "still on vm1: d1"
    cluster.live.settle()
    assert drain(vm, azure_agent="step_aside").state == "drained" and cluster.live.standby
    assert undo(vm, azure_agent="step_aside").state == "undone" and not cluster.live.standby


@pytest.mark.parametrize("lifetime", ["reboot", "made-up"])
def test_a_lifetime_that_a_copy_of_the_record_makes_up_leaves_no_standby(vm, cluster, lifetime):
    assert drain(vm).state == "drained" and ("forever", "vm1") in cluster.live.standby
    vm.damage(lambda record: record["methods"][0]["before"].update(lifetime=lifetime))
    assert (undo(vm).state, cluster.live.standby, cluster.live.marks) == ("undone", {}, {})


# --- killed, and without an answer ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [1, 2])
def test_killed_between_any_two_steps_it_ends_the_same(vm, cluster, number):
    cluster.kill_after = number
    with pytest.raises(KeyboardInterrupt):
        drain(vm)
    assert drain(vm).state == "drained"
    assert cluster.live.standby == {("forever", "vm1"): "on"}
    cluster.kill_after = number
    with pytest.raises(KeyboardInterrupt):
        undo(vm)
    assert undo(vm).state == "undone"
    assert (cluster.live.standby, cluster.live.marks) == ({}, {})


def test_a_record_that_is_lost_loses_no_standby(vm, cluster, tmp_path):
    drain(vm)
    other = Vm(tmp_path / "other")
    other.machine = vm.machine
    assert drain(other).state == "drained"
    assert undo(other).state == "undone"
    assert (cluster.live.standby, cluster.live.marks) == ({}, {})


REFUSED = "error: Could not connect to launcher: {0} crm_mon: Connection to cluster failed: {0}"
UNREACHED = "Pacemaker does not run on this VM, or is not reached: "
NO_CIB = "crm_attribute: Could not connect to the CIB: Transport endpoint is not connected"
NO_ENTITY = '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'
NO_XML = "crm_mon answers no XML, or too much of it: "
# By program: exit code, output, errors, and what the drain says.
ANSWERS = [
    ("crm_mon", 127, "", "crm_mon: No such file or directory",
     "crm_mon ended with exit code 127: crm_mon: No such file or directory: is Pacemaker with its command-line tools installed on this VM?"),
    ("crm_mon", 4, pacemaker_scene.NOT_ROOT, "", "crm_mon ended with exit code 4: " + REFUSED.format("Permission denied")),
    ("crm_mon", 102, pacemaker_scene.NOT_CONNECTED, "", UNREACHED + "crm_mon: " + REFUSED.format("Connection refused")),
    ("crm_mon", 1, "", "crm_mon: unrecognized option '--output-as=xml'\n", "crm_mon ended with exit code 1: crm_mon: unrecognized option '--output-as=xml'"),
    ("crm_mon", 64, "<a><b", "", "crm_mon ended with exit code 64: <a><b"),
    ("crm_mon", 1, "", "", "crm_mon ended with exit code 1: no reason given"),
    ("crm_mon", 0, "<pacemaker-result/>", "", "crm_mon says nothing of the cluster's state; Pacemaker 2.0.3 or newer is needed"),
    ("crm_mon", 0, "false\"/></nodes>", "", NO_XML + "false\"/></nodes>"),
    ("crm_mon", 0, NO_ENTITY, "", NO_XML + NO_ENTITY),
    ("crm_mon", 0, "<a", "", "crm_mon answers no XML: unclosed token: line 1, column 0"),
    ("crm_node", 102, "", "error: Could not connect to controller: Connection refused\n",
     UNREACHED + "crm_node: error: Could not connect to controller: Connection refused"),
    ("crm_simulate", 66, "", "crm_simulate: CIB query failed: Input file not available\n",
     "crm_simulate ended with exit code 66: crm_simulate: CIB query failed: Input file not available"),
    ("crm_standby", 105, "", "crm_attribute: Could not map name=vm9 to a UUID\n",
     "crm_standby ended with exit code 105: crm_attribute: Could not map name=vm9 to a UUID"),
    ("mktemp", 1, "", "mktemp: failed to create directory via template '/tmp/x': No space left on device\n",
     "mktemp ended with exit code 1: mktemp: failed to create directory via template '/tmp/x': No space left on device"),
]  # fmt: skip


@pytest.mark.parametrize(("program", "code", "output", "errors", "words"), ANSWERS)
def test_what_a_command_says_is_the_failure(vm, cluster, program, code, output, errors, words):
    cluster.answers[program] = CommandResult(code, output, errors)
    out = drain(vm)
    assert (out.state, out.error) == ("failed", f"1-pacemaker: {words}")
    assert cluster.live.standby == {}


@pytest.mark.parametrize(("code", "errors", "words"), [
    (102, NO_CIB + "\n", UNREACHED + "crm_attribute: " + NO_CIB),
    (124, "", "crm_attribute ended with exit code 124: no reason given"),
])  # fmt: skip
def test_a_cluster_that_has_answered_and_is_away_is_waited_for(vm, cluster, code, errors, words):
    cluster.answers["crm_attribute"] = CommandResult(code, "", errors)
    out = drain(vm, deadline="2099-11-21T20:55:00Z")
    assert (out.state, out.error, cluster.live.standby) == ("draining", f"1-pacemaker: not yet: {words}", {})
    del cluster.answers["crm_attribute"]
    assert drain(vm).state in ("draining", "drained") and ("forever", "vm1") in cluster.live.standby


def test_a_dry_run_that_fails_leaves_no_file(vm, cluster):
    cluster.answers["crm_simulate"] = CommandResult(66, "", "no")
    drain(vm)
    with pytest.raises(FileNotFoundError):
        pacemaker_scene.os.rmdir(cluster.folder)


@pytest.mark.parametrize("answer", [CommandResult(124, "", ""), CommandResult(102, "", "error: Command failed"), CommandResult(0, "words", "")])
def test_a_controller_that_does_not_answer_has_not_come_to_rest(vm, cluster, answer):
    cluster.answers["crmadmin"] = answer
    assert drain(vm).error == "1-pacemaker: not yet: the cluster is still at work: its controller on vm3 does not answer"


def test_while_pacemaker_starts_after_a_boot_it_is_waited_for(vm, cluster):
    drain(vm)
    cluster.answers["crm_mon"] = CommandResult(102, pacemaker_scene.NOT_CONNECTED, "")
    assert drain(vm).state == "draining"
    assert undo(vm).state == "undoing"
    cluster.answers.clear()
    cluster.live.nodes["vm1"].update(online=False)
    out = undo(vm)
    assert (out.state, out.error) == ("undoing", "node vm1 is offline")
    cluster.live.nodes["vm1"].update(online=True)
    cluster.busy = ["S_TRANSITION_ENGINE"]
    assert undo(vm).error == "resources may be moving: S_TRANSITION_ENGINE"
    assert undo(vm).state == "undone"


def test_texts_of_the_cluster_are_short_and_printable(vm, cluster):
    cluster.live.allowed["d1"] = ["vm1"]
    cluster.live.resources[0]["id"] = "d1\x1b[2J" + "x" * 5000
    with pytest.raises(MethodError, match="not well-formed"):
        pacemaker_cluster.parse_status(cluster.live.xml())
    cluster.live.resources[0]["id"] = "d1\u202e" + "x" * 5000
    cluster.live.allowed["d1\u202e" + "x" * 5000] = ["vm1"]
    out = drain(vm)
    assert out.state == "failed" and len(out.error) < 450 and "\u202e" not in out.error


# --- what others read of it -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("count", "is_kept"), [(1, True), (100, True), (300, False)])
def test_all_that_ran_is_waited_for_and_a_copy_keeps_it_unless_it_is_very_much(vm, cluster, count, is_kept):
    names = [f"resource_{number}.{'x' * 20}" for number in range(count)]
    cluster.live.resources = [{"id": name, "node": "vm1"} for name in names]
    cluster.is_slow = True
    drain(vm)
    before = finding(vm)
    assert read_words(before) == (before if is_kept else None)
    assert {name for key, text in before.items() if key.startswith("ran") for name in text.split("::")} == set(names)
    cluster.live.resources = [{"id": name, "node": "vm2" if name != names[-1] else None, "role": "Started"} for name in names]
    cluster.busy = ["S_IDLE", "S_POLICY_ENGINE"]
    assert drain(vm).error == f"not yet on another node that stays: {names[-1]}"


@pytest.mark.parametrize(("before", "words"), [
    ({"node": "vm1", "standby": False, "lifetime": "reboot", "aside": ""},
     BY_HAND.format('--node="$(crm_node -n)" --lifetime=reboot --delete')),
    # A record may name a node that somebody else has put into standby.
    ({"node": "vm2", "lifetime": "`id`"},
     BY_HAND.format('--node="$(crm_node -n)" --lifetime=forever --delete')),
    ({"node": "vm1", "standby": True}, "nothing to do: it stood so before the drain"),
    ({"node": "vm1", "aside": "az"}, "nothing to do: it stood so before the drain"),
])  # fmt: skip
def test_how_a_person_undoes_it(before, words):
    assert kind_of("pacemaker").by_hand(before, {}, [{}]) == words


@pytest.mark.parametrize("kind", ["pacemaker", "slurm"])
def test_a_copy_that_differs_does_not_keep_a_lost_record_from_coming_back(kind):
    assert kind_of(kind).agreed([{"node": "vm1"}, {"node": "made-up"}], [{}]) == ({"node": "vm1"}, [])
    assert kind_of(kind).agreed([{"node": "a b"}, {"node": "vm1"}], [{}]) == ({"node": "vm1"}, [])


def test_check_mode_says_what_would_move_where(vm, cluster):
    def would(**options):
        return vm.would(pacemaker(**options), event=ALONE, members=NAMES)

    assert would() == ["would put vm1 into standby, and move d1 to vm2"]
    cluster.live.standby["forever", "vm1"] = "on"
    assert would() == ["would leave vm1 in standby, as it is"]
    assert cluster.calls == [] and vm.record() is None
