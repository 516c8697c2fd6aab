# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Method wsfc, through the engine; the failover cluster and SQL Server are stand-ins."""

from __future__ import annotations

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine.failover_cluster import ClusterRole, ClusterState, Node, Replica
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.drain.scene import step


class FakeCluster:
    """In place of Windows: what a test sets, and what was asked for in order."""

    def __init__(self):
        self.nodes = {"N1": ["Up", "NotInitiated"], "N2": ["Up", "NotInitiated"]}
        self.roles = {"Files": ["N1", "Online"], "Spare": ["n1", "Offline"], "Other": ["N2", "Online"], "Lost": ["", "Offline"]}
        self.managed = 1
        self.primary, self.health, self.unready = {"Orders": "SQL1"}, {}, set()
        self.others = ["SQL2", "SQL3"]
        self.calls, self.instances = [], []
        self.slow = self.stays = False

    def describe(self):
        self.calls.append("observation")
        nodes = [Node(name, *state) for name, state in self.nodes.items()]
        return ClusterState("shop", self.managed, "n1", nodes, [ClusterRole(name, *about) for name, about in self.roles.items()])

    def replicas(self, instance):
        self.instances.append(instance)
        found = []
        for group, primary in self.primary.items():
            for name in ("SQL1", *self.others):
                role = "PRIMARY" if name == primary else "SECONDARY"
                ready = name not in self.unready
                found.append(Replica(group, name, "SYNCHRONOUS_COMMIT", name == "SQL1", role, self.health.get(name, "HEALTHY"), ready))
        return found

    def pause(self, node):
        self.calls.append(("pause", node))
        if not self.stays:
            self.nodes[node] = ["Paused", "InProgress" if self.slow else "Completed"]
        if not self.slow and not self.stays:
            self.move("N1", "N2")

    def resume(self, node, failback):
        self.calls.append(("resume", node, failback))
        self.nodes[node] = ["Up", "NotInitiated"]

    def take_over(self, instance, group):
        self.calls.append(("take_over", instance, group))
        self.primary[group] = "SQL1"

    def move(self, old, new):
        self.roles.update({name: [new, state] for name, (owner, state) in self.roles.items() if owner == old})

    def acts(self):
        return [call for call in self.calls if call != "observation"]


@pytest.fixture
def cluster():
    return FakeCluster()


@pytest.fixture
def seams(cluster):
    return {"system": "windows", "failover_cluster": cluster}


def wsfc(**options):
    return step("wsfc", given=options, override={})


REPLICAS = {"SQL2": "sql2", "SQL3": "sql3"}
MEMBERS = {"sql2": "VM_1", "sql3": "other"}


def sql(**options):
    return wsfc(**{"availability_groups": ["Orders"], "replicas": REPLICAS, **options})


def test_a_node_is_paused_and_comes_back(vm, cluster):
    assert vm.drain(wsfc()).state == "drained"
    assert cluster.calls == ["observation", ("pause", "N1"), "observation"]
    assert vm.entry("1-wsfc")["before"] == {"cluster": "shop", "node": "N1", "state": "Up", "aside": False, "groups": ["Files"], "moved": {}}
    cluster.calls.clear()
    out = vm.undo(wsfc())
    assert (out.state, out.error, cluster.calls) == ("undoing", "role Files is on N2", ["observation", ("resume", "N1", "immediate"), "observation"])
    cluster.roles["Files"][0] = "N1"
    cluster.calls.clear()
    assert (vm.undo(wsfc()).state, cluster.calls) == ("undone", ["observation"])
    # SQL Server is not asked where there are no groups.
    assert cluster.instances == []


@pytest.mark.parametrize(("state", "waits"), [("Pending", True), ("Online", False)])
def test_a_role_that_has_settled_elsewhere_is_left_there(vm, cluster, state, waits):
    vm.drain(wsfc())
    assert vm.undo(wsfc()).error == "role Files is on N2"
    cluster.roles["Files"][1] = state
    out = vm.undo(wsfc())
    assert (out.state, out.error) == (("undoing", "role Files is on N2") if waits else ("undone", None))


@pytest.mark.parametrize("failback", ["policy", "none"])
def test_without_an_immediate_failback_no_role_is_waited_for(vm, cluster, failback):
    vm.drain(wsfc(failback=failback))
    assert vm.undo(wsfc()).state == "undone"
    assert cluster.acts()[-1] == ("resume", "N1", failback)


def test_the_node_is_that_of_the_option_and_then_of_the_record(vm, cluster):
    cluster.nodes["N3"] = ["Up", "NotInitiated"]
    assert vm.drain(wsfc(node="n3")).state == "drained"
    assert (cluster.acts(), vm.entry("1-wsfc")["before"]["groups"]) == ([("pause", "N3")], [])
    vm.damage(lambda record: record["methods"][0]["options"].update(node="N1"))
    assert vm.undo(wsfc()).state == "undone"
    assert cluster.acts()[-1] == ("resume", "N3", "immediate")


def test_what_is_under_way_is_waited_for(vm, cluster):
    cluster.slow = True
    for _observation in range(2):
        out = vm.drain(wsfc())
        assert (out.state, out.error) == ("draining", "roles still on N1: Files")
    cluster.move("N1", "N2")
    assert (vm.drain(wsfc()).state, cluster.acts()) == ("drained", [("pause", "N1")])


def test_a_node_that_is_not_paused_yet_is_paused_again_by_the_next_observation(vm, cluster):
    cluster.stays = True
    out = vm.drain(wsfc())
    assert (out.state, out.error, cluster.acts()) == ("draining", "N1 is not paused", [("pause", "N1")])
    cluster.stays = False
    assert (vm.drain(wsfc()).state, cluster.acts()) == ("drained", [("pause", "N1")] * 2)


@pytest.mark.parametrize(("drain", "state", "error", "pauses"), [
    ("InProgress", "draining", "roles still on N1: Files", 1),
    ("Completed", "draining", "roles still on N1: Files", 2),
    ("Failed", "failed", "the cluster could not move all, roles still on N1: Files", 1),
])  # fmt: skip
def test_roles_that_came_back_leave_again_unless_the_cluster_gave_up(vm, cluster, drain, state, error, pauses):
    vm.drain(wsfc())
    cluster.roles["Files"][0] = "N1"
    cluster.nodes["N1"] = ["Paused", drain]
    cluster.stays = True
    out = vm.drain(wsfc(), verify=True)
    assert (out.state, out.error, cluster.acts()) == (state, error, [("pause", "N1")] * pauses)


@pytest.mark.parametrize(("drain", "pauses"), [("InProgress", 1), ("Completed", 2)])
def test_after_a_crash_a_node_that_is_still_draining_is_not_paused_again(vm, cluster, drain, pauses):
    cluster.slow = True
    vm.drain(wsfc())
    vm.damage(lambda record: record["methods"][0].update(state="found"))
    cluster.nodes["N1"][1] = drain
    out = vm.drain(wsfc())
    assert (out.state, out.error, cluster.acts()) == ("draining", "roles still on N1: Files", [("pause", "N1")] * pauses)


def test_a_node_that_goes_down_is_waited_for_and_one_that_is_gone_has_failed(vm, cluster):
    vm.drain(wsfc())
    cluster.nodes["N1"] = ["Down", "Completed"]
    out = vm.drain(wsfc(), verify=True)
    assert (out.state, out.error) == ("draining", "N1 is Down")
    del cluster.nodes["N1"]
    out = vm.drain(wsfc(), verify=True)
    assert (out.state, out.error) == ("failed", "the cluster has no node n1 any more")
    out = vm.undo(wsfc())
    assert (out.state, out.error) == ("undoing", "N1 is missing")


def test_a_node_that_somebody_else_has_paused_stays_so(vm, cluster):
    cluster.nodes["N1"] = ["Paused", "Completed"]
    cluster.move("N1", "N2")
    assert vm.drain(wsfc()).state == "drained"
    assert vm.undo(wsfc()).state == "undone"
    assert cluster.acts() == [] and cluster.nodes["N1"][0] == "Paused"


def test_one_that_somebody_else_has_paused_and_that_owns_roles_is_an_error(vm, cluster):
    cluster.nodes["N1"] = ["Paused", "Completed"]
    out = vm.drain(wsfc())
    words = "N1 was paused by an operator, who left roles still on N1: Files. Move them, or resume the node"
    assert (out.state, out.error, cluster.acts()) == ("failed", words, [])


@pytest.mark.parametrize(("change", "error"), [
    (lambda nodes: nodes.update(N2=["Down", ""]), "N1 is the last node of failover cluster shop that is up; its roles have nowhere to go"),
    (lambda nodes: nodes.update(N1=["Joining", ""]), "N1 is Joining in failover cluster shop"),
    (lambda nodes: nodes.update(N1=["Down", ""], N2=["Down", ""]), "N1 is Down in failover cluster shop"),
    (lambda nodes: nodes.pop("N1"), "Failover cluster shop has no node n1 but N2; set the option node"),
])  # fmt: skip
def test_what_would_take_something_away_is_refused(vm, cluster, change, error):
    change(cluster.nodes)
    out = vm.drain(wsfc())
    assert (out.state, out.error, cluster.acts()) == ("failed", f"1-wsfc: {error}", [])
    assert vm.undo(wsfc()).state == "undone"


@pytest.mark.parametrize(("managed", "aside"), [(2, False), (3, True), (4, True)])
def test_a_cluster_that_handles_events_itself_is_left_alone(vm, cluster, managed, aside):
    cluster.managed = managed
    out = vm.drain(wsfc())
    words = f"Nothing was done about failover cluster shop of node N1: it handles Azure's events itself (DetectManagedEvents {managed})."
    assert (out.state, out.warning, vm.entry("1-wsfc")["before"]["aside"]) == ("drained", words if aside else None, aside)
    # What a drain has begun with stays.
    cluster.managed = 1
    assert vm.drain(wsfc(), verify=True).state == "drained"
    cluster.roles["Files"][0] = "N1"
    assert vm.undo(wsfc()).state == "undone"
    assert cluster.acts() == ([] if aside else [("pause", "N1"), ("resume", "N1", "immediate")])


def test_it_may_be_drained_all_the_same(vm, cluster):
    cluster.managed = 4
    assert (vm.drain(wsfc(managed_events="ignore")).warning, cluster.acts()) == (None, [("pause", "N1")])


def test_a_cluster_that_takes_over_in_the_middle_changes_nothing(vm, cluster):
    cluster.slow = True
    vm.drain(wsfc())
    cluster.managed = 4
    out = vm.drain(wsfc(), verify=True)
    assert (out.state, out.warning) == ("draining", None)


def test_a_group_is_handed_over_before_the_node_is_paused(vm, cluster):
    out = vm.drain(sql(), members=MEMBERS, stop_at_finding=True)
    # SQL2 is on a VM of the event, whatever the case of its name.
    assert (out.state, out.handover, cluster.acts()) == ("found", {"Orders": "SQL3"}, [])
    assert (vm.entry("1-wsfc")["state"], vm.entry("1-wsfc")["before"]["moved"]) == ("found", {"Orders": "SQL3"})
    cluster.primary["Orders"] = "SQL3"
    out = vm.drain(sql(), members=MEMBERS)
    assert (out.state, out.handover, cluster.acts()) == ("drained", {}, [("pause", "N1")])
    # The first finding stays.
    assert vm.entry("1-wsfc")["before"]["moved"] == {"Orders": "SQL3"}


def test_a_group_that_did_not_leave_keeps_the_node_as_it_is(vm, cluster):
    vm.drain(sql(), members=MEMBERS, stop_at_finding=True)
    out = vm.drain(sql(), members=MEMBERS)
    assert (out.state, out.error, cluster.acts()) == ("draining", "still primary of Orders", [])
    # The next observation hands it over again, to the same replica.
    cluster.others.reverse()
    assert vm.drain(sql(), members={**MEMBERS, "sql2": "free"}, stop_at_finding=True).handover == {"Orders": "SQL3"}


def test_a_group_that_came_back_later_is_not_handed_over(vm, cluster):
    cluster.primary["Orders"] = "SQL2"
    vm.drain(sql(), members=MEMBERS, stop_at_finding=True)
    cluster.primary["Orders"] = "SQL1"
    out = vm.drain(sql(), members=MEMBERS, stop_at_finding=True, verify=True)
    assert (out.state, out.error, out.handover) == ("draining", "still primary of Orders", {})


def test_without_a_group_here_there_is_nothing_to_hand_over(vm, cluster):
    cluster.primary["Orders"] = "SQL2"
    out = vm.drain(sql(), members=MEMBERS, stop_at_finding=True)
    assert (out.state, out.handover, cluster.acts()) == ("drained", {}, [("pause", "N1")])


def test_a_cluster_that_handles_events_itself_hands_nothing_over(vm, cluster):
    cluster.managed = 3
    out = vm.drain(sql(), members=MEMBERS, stop_at_finding=True)
    assert (out.state, out.handover, vm.entry("1-wsfc")["before"]["moved"]) == ("drained", {}, {})


def test_a_group_without_a_replica_that_may_take_over_is_refused(vm, cluster):
    cluster.unready = {"SQL3"}
    out = vm.drain(sql(), members=MEMBERS, stop_at_finding=True)
    why = "no replica may take over (SQL2: its VM VM_1 is hit by the same event; SQL3: not synchronised)"
    assert (out.state, out.error) == ("failed", f"1-wsfc: availability group Orders has its primary replica here, and {why}")
    out = vm.drain(sql(availability_groups=["Bills", "Orders"], instance="X\\Y"), members=MEMBERS)
    assert out.error.startswith("1-wsfc: SQL Server instance X\\Y has no availability group Bills; availability group Orders")
    assert cluster.instances[-1] == "X\\Y" and cluster.acts() == []


def test_the_recorded_replica_must_still_be_able_to(vm, cluster):
    vm.drain(sql(), members=MEMBERS, stop_at_finding=True)
    cluster.unready = {"SQL3"}
    out = vm.drain(sql(), members={**MEMBERS, "sql2": "free"}, stop_at_finding=True)
    assert out.error.endswith("SQL3, which was to take over, cannot (SQL2: may take over; SQL3: not synchronised)")
    assert vm.entry("1-wsfc")["before"]["moved"] == {"Orders": "SQL3"}


def test_the_settings_say_which_groups_and_replicas_whatever_the_record_says(vm, cluster):
    vm.drain(sql(), members=MEMBERS, stop_at_finding=True)
    out = vm.drain(step("wsfc", override={"availability_groups": ["Orders"], "replicas": {}}), members=MEMBERS, stop_at_finding=True)
    assert out.state == "failed" and "the option replicas names none of its replicas" in out.error
    out = vm.drain(step("wsfc", override={"availability_groups": [], "replicas": {}}), members=MEMBERS, stop_at_finding=True)
    assert (out.state, out.handover) == ("drained", {})


@pytest.mark.parametrize("comes_back", [True, False])
def test_a_group_comes_back_when_it_is_in_step(vm, cluster, comes_back):
    vm.drain(sql(return_primary=comes_back, failback="none"), members=MEMBERS, stop_at_finding=True)
    cluster.primary["Orders"], cluster.health["SQL1"] = "SQL3", "NOT_HEALTHY"
    assert vm.drain(sql(), members=MEMBERS).state == "drained"
    out = vm.undo(sql())
    more = "; availability group Orders is not back" if comes_back else ""
    assert (out.state, out.error) == ("undoing", f"availability group Orders is not synchronised here yet (SECONDARY, NOT_HEALTHY){more}")
    assert ("take_over", "localhost", "Orders") not in cluster.calls
    cluster.health.clear()
    assert vm.undo(sql()).state == "undone"
    assert (("take_over", "localhost", "Orders") in cluster.calls) == comes_back


def test_a_group_does_not_come_back_to_a_node_that_is_paused(vm, cluster):
    cluster.nodes["N1"] = ["Paused", "Completed"]
    cluster.move("N1", "N2")
    vm.drain(sql(return_primary=True), members=MEMBERS, stop_at_finding=True)
    cluster.primary["Orders"] = "SQL3"
    vm.drain(sql(), members=MEMBERS)
    out = vm.undo(sql())
    assert (out.state, out.error, cluster.acts()) == ("undoing", "availability group Orders is not back", [])


def test_a_later_drain_finds_anew(vm, cluster):
    vm.drain(sql(), members=MEMBERS, stop_at_finding=True)
    cluster.primary["Orders"] = "SQL3"
    vm.drain(sql(), members=MEMBERS)
    cluster.move("N2", "N1")
    assert vm.undo(sql(failback="policy")).state == "undone"
    cluster.primary["Orders"] = "SQL1"
    # The replica of the first time cannot take over now; that no longer matters.
    cluster.unready = {"SQL3"}
    assert vm.drain(sql(), members={**MEMBERS, "sql2": "free"}, stop_at_finding=True).handover == {"Orders": "SQL2"}


@pytest.mark.parametrize("before", [{}, {"node": ""}, {"node": 5, "state": "Up"}])
def test_a_record_that_does_not_say_which_node_resumes_none(vm, cluster, before):
    vm.drain(wsfc())
    vm.damage(lambda record: record["methods"][0].update(before=before))
    out = vm.undo(wsfc())
    assert out.state == "failed" and "does not say which node" in out.error
    assert cluster.acts() == [("pause", "N1")]


def test_there_is_no_cluster_on_linux(vm):
    vm.machine = vm.machine._replace(failover_cluster=None)
    assert vm.drain(wsfc()).error == "1-wsfc: there is no failover cluster on this system"
    vm.machine = vm.machine._replace(system="linux")
    assert "there is no method 'wsfc' that runs on the VM" in vm.drain(wsfc()).error
