# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Method patroni, with three members of Patroni and PostgreSQL as Debian has them, an etcd beside each, and a writer with autocommit every 5 ms."""

from __future__ import annotations

import contextlib
import json
import pathlib
import threading
import time
import typing as t

import pytest
from away import Away, standing_still
from impact import Impact, freeze, thaw
from lab.lab import Lab
from lab.watcher import Watcher
from patroni.cluster import Cluster, until
from patroni.rows import Rows
from rehearsal import rehearse
from writer import Writer

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine.daemons import Daemon, LocalDaemons, Reply
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine.machine import local_machine
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.system import LocalHost
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.drain.scene import ABOUT, Killed, Vm, step

NAMES = ("vm1", "vm2", "vm3")
FILE = "zzz-maintenance-azure.yml"
DRAIN_ALL = [{"name": "all", "drain": True, "approve": "after_drain"}]
AS_IT_IS = [{"name": "as it is", "drain": False, "approve": "now"}]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[Cluster]:
    found = Cluster(tmp_path_factory.mktemp("patroni") / "cluster", NAMES)
    found.sql("CREATE TABLE written (number integer)")
    yield found
    found.close()


@pytest.fixture
def lab(tmp_path: pathlib.Path, cluster: Cluster) -> t.Iterator[Lab]:
    cluster.settle()
    found = Lab(tmp_path / "lab", NAMES, 1)
    for name, member in cluster.members.items():
        found.hosts[name]["drain_methods"] = [
            {"method": "patroni", "url": member.url, "member": name, "config_folder": str(member.config), "members": {one: one for one in NAMES}}
        ]
    found.all["respond_policy"] = DRAIN_ALL
    yield found
    found.close()
    # What a test that has failed has left must not fail the next ones.
    for member in cluster.members.values():
        if (member.config / FILE).exists():
            (member.config / FILE).unlink()
            member.ask("/reload", {})


class Event:
    """One event under the writer, from its notice until the VMs serve again."""

    def __init__(
        self, cluster: Cluster, lab: Lab, vms: t.Sequence[str], seconds: float, settle: bool = True, first: t.Callable[[], object] = lambda: None
    ) -> None:
        cluster.sql("TRUNCATE written")
        members = [cluster.members[vm] for vm in vms]
        rows = Rows([one.host for one in cluster.members.values()], lab.folder)
        stopped: list[int] = []
        with Writer(rows.write) as writer:
            writer.until(200)
            event_id = lab.simulator.event("Freeze", vms, notice=200, duration_in_seconds=5)

            def strike() -> None:
                self.leader, self.roles = cluster.leader(), cluster.roles()
                stopped.extend(pid for one in members for pid in one.processes())
                freeze(stopped)

            first()
            with Impact(lab, event_id, seconds, strike, lambda: thaw(stopped)):
                self.output = lab.respond(respond_wait=True)
            writer.until(200)
        rows.close()
        if settle:
            cluster.settle()
        present = {int(line) for line in cluster.sql("SELECT number FROM written").split()}
        self.lost, self.pause, self.acknowledged = writer.lost(present), writer.longest_pause(), len(writer.acknowledged)
        self.phases = {vm: lab.phases(vm) for vm in vms}

    def tell(self, what: str) -> None:
        print(f"state: patroni: {what}: longest pause {self.pause:.2f} s, {self.acknowledged} acknowledged, {len(self.lost)} lost", flush=True)


def tags(cluster: Cluster) -> dict[str, t.Any]:
    return {one["name"]: one.get("tags") for one in cluster.seen()["members"]}


def test_leader_and_synchronous_standby_in_one_event(cluster: Cluster, lab: Lab) -> None:
    leader, standby = cluster.leader(), cluster.of_role("sync_standby")
    (third,) = set(NAMES) - {leader, standby}
    before = tags(cluster)
    # The standby of the same event may lead no sooner than another one is synchronous.
    words = f"would keep {standby} from leading and from being synchronous", f"{leader}: 1-patroni: would wait: "
    event = Event(cluster, lab, (leader, standby), 5, first=lambda: rehearse(lab, *words))
    event.tell("leader and synchronous standby stand still for 5 s in one event")
    assert (event.leader, event.roles[standby], event.lost) == (third, "replica", set())
    assert all(phases[-1] == "recovered" and "drained" in phases for phases in event.phases.values()), event.phases
    assert tags(cluster) == before and not any((member.config / FILE).exists() for member in cluster.members.values())


def test_a_paused_cluster_and_one_without_a_candidate_are_left_alone(cluster: Cluster, lab: Lab) -> None:
    leader = cluster.leader()
    member, before = cluster.members[leader], cluster.seen()
    event_id = lab.simulator.event("Freeze", [leader], notice=600, duration_in_seconds=40)
    member.ask("/config", {"pause": True}, "PATCH")
    try:
        until(lambda: bool(cluster.seen().get("pause")), 30, "a paused cluster")
        output = lab.respond(code=None)
        assert "somebody keeps Patroni from acting on purpose" in output
    finally:
        member.ask("/config", {"pause": None}, "PATCH")
    until(lambda: not cluster.seen().get("pause"), 30, "a cluster that acts")
    others = [one for name, one in cluster.members.items() if name != leader]
    for one in others:
        (one.config / "50-person.yml").write_text(json.dumps({"tags": {"nofailover": True}}))
        one.ask("/reload", {})
    try:
        until(lambda: all(tags(cluster)[one.name].get("nofailover") for one in others), 40, "nobody who may take over")
        output = lab.respond(code=None)
        for one in others:
            assert f"{one.name}: has the tag nofailover" in output
    finally:
        for one in others:
            (one.config / "50-person.yml").unlink()
            one.ask("/reload", {})
    assert lab.simulator.approvals() == [] and not (member.config / FILE).exists()
    lab.simulator.ask("POST", f"/events/{event_id}/cancel")
    until(lambda: cluster.seen() | {"members": []} == before | {"members": []} and cluster.leader() == leader, 30, "the cluster as it was")


def with_store(cluster: Cluster, lab: Lab) -> None:
    """Let the method know where the etcd of each VM is."""
    store = {"kind": "etcd", "urls": [one.etcd for one in cluster.members.values()], "members": {name: name for name in NAMES}}
    for name in NAMES:
        lab.hosts[name]["drain_methods"][0]["store"] = store


@contextlib.contextmanager
def without_etcd(cluster: Cluster, *names: str) -> t.Iterator[None]:
    """Let the etcd of these VMs stand still; the others have a leader where they are a majority."""
    with frozen([cluster.etcds[name].pid for name in names]):
        left = set(NAMES) - set(names) if len(names) < 2 else set()
        until(lambda: cluster.voters() == left, 30, f"etcd of {left} alone")
        yield
    until(lambda: cluster.voters() == set(NAMES), 30, "three voters")


def test_with_one_etcd_down_the_vm_of_another_is_neither_drained_nor_approved(cluster: Cluster, lab: Lab) -> None:
    leader = cluster.leader()
    down = next(name for name in NAMES if name != leader)
    with_store(cluster, lab)
    cluster.sql("TRUNCATE written")
    rows = Rows([one.host for one in cluster.members.values()], lab.folder)
    with Writer(rows.write) as writer, without_etcd(cluster, down):
        event_id = lab.simulator.event("Freeze", [leader], notice=600, duration_in_seconds=5)
        words = "2 of 3 members of etcd are needed, 1 would be left: ", f"{down} is down", f"{leader} goes with the event"
        rehearse(lab, "would wait: ", *words)
        output = " ".join(lab.respond().split())
        assert all(one in output for one in words), output
        assert (lab.simulator.approvals(), cluster.leader()) == ([], leader)
        assert not any((member.config / FILE).exists() for member in cluster.members.values())
        writer.until(100)
    rows.close()
    lost = writer.lost({int(line) for line in cluster.sql("SELECT number FROM written").split()})
    print(f"state: patroni: one etcd of three down, event on {leader}: not drained, longest pause {writer.longest_pause():.2f} s", flush=True)
    assert lost == set()
    lab.simulator.ask("POST", f"/events/{event_id}/cancel")


@pytest.mark.full
def test_an_etcd_that_goes_down_during_the_drain_holds_the_approval_until_it_is_back(cluster: Cluster, lab: Lab) -> None:
    standby = cluster.of_role("sync_standby")
    down = next(name for name in NAMES if name != standby)
    with_store(cluster, lab)
    event_id = lab.simulator.event("Freeze", [standby], notice=900, duration_in_seconds=5)

    def strike() -> None:
        # It takes two loops of Patroni until another standby is synchronous.
        until(lambda: any(record["phase"] == "draining" for record in lab.records(standby)), 60, "a drain")
        freeze([cluster.etcds[down].pid])

    thread = threading.Thread(target=strike)
    thread.start()
    try:
        output = " ".join(lab.respond(respond_wait=True, respond_wait_timeout=90, code=None).split())
        thread.join(60)
        assert "2 of 3 members of etcd are needed, 1 would be left: " in output and f"{down} is down" in output, output
        assert lab.simulator.approvals() == []
        print(f"state: patroni: an etcd down during the drain: {', '.join(lab.phases(standby))}", flush=True)
    finally:
        thaw([cluster.etcds[down].pid])
    until(lambda: cluster.voters() == set(NAMES), 30, "three voters")
    with Impact(lab, event_id, 1, lambda: None, lambda: None):
        lab.respond(respond_wait=True)
    assert lab.phases(standby)[-1] == "recovered" and not (cluster.members[standby].config / FILE).exists()


@pytest.mark.full
def test_strict_a_member_that_streams_from_the_standby_is_no_candidate(cluster: Cluster, lab: Lab) -> None:
    leader, standby = cluster.leader(), cluster.of_role("sync_standby")
    (third,) = set(NAMES) - {leader, standby}
    member = cluster.members[third]
    (member.config / "50-person.yml").write_text(json.dumps({"tags": {"replicatefrom": standby}}))
    member.ask("/reload", {})
    cluster.members[leader].ask("/config", {"synchronous_mode_strict": True}, "PATCH")
    rows = Rows([one.host for one in cluster.members.values()], lab.folder)
    try:
        until(lambda: tags(cluster)[third].get("replicatefrom") == standby, 40, "a member that streams from the standby")
        with Writer(rows.write) as writer:
            event_id = lab.simulator.event("Freeze", [standby], notice=600, duration_in_seconds=5)
            output = " ".join(lab.respond(code=None).split())
            words = f"with {standby} out no member could be the synchronous standby, and synchronous_mode_strict would stop all writes"
            assert f"{words}: {third}: streams from {standby} (replicatefrom)" in output, output
            writer.until(100)
        rows.close()
        print(f"state: patroni: strict, no other candidate: not drained, longest pause {writer.longest_pause():.2f} s", flush=True)
        assert lab.simulator.approvals() == [] and cluster.of_role("sync_standby") == standby and writer.longest_pause() < 5
        lab.simulator.ask("POST", f"/events/{event_id}/cancel")
        (member.config / "50-person.yml").unlink()
        member.ask("/reload", {})
        until(lambda: "replicatefrom" not in tags(cluster)[third], 40, "the tag is gone")
        cluster.settle()
        lab.records_folder(standby).rename(lab.folder / "records-before")
        event = Event(cluster, lab, [standby], 5)
        event.tell("strict, the synchronous standby stands still for 5 s, drained")
        assert (event.roles[third], event.lost) == ("sync_standby", set()) and event.phases[standby][-1] == "recovered"
    finally:
        cluster.members[cluster.leader()].ask("/config", {"synchronous_mode_strict": None}, "PATCH")
        (member.config / "50-person.yml").unlink(missing_ok=True)
        member.ask("/reload", {})


@pytest.mark.full
@pytest.mark.parametrize("leaves", [False, True])
@pytest.mark.parametrize("failsafe", [False, True])
def test_what_failsafe_mode_is_worth_is_told(cluster: Cluster, lab: Lab, failsafe: bool, leaves: bool) -> None:
    """Two etcds stand still for a minute, and in half of the cases the VM of a replica with them."""
    leader = cluster.leader()
    (third,) = [name for name, role in cluster.roles().items() if role == "replica"]
    cluster.members[leader].ask("/config", {"failsafe_mode": failsafe or None}, "PATCH")
    until(lambda: (cluster.members[leader].ask("/failsafe")[0] == 200) is failsafe, 40, "the leader has taken failsafe_mode")
    rows = Rows([one.host for one in cluster.members.values()], lab.folder)
    cluster.sql("TRUNCATE written")
    with Writer(rows.write) as writer:
        writer.until(100)
        with without_etcd(cluster, third, next(name for name in NAMES if name not in (leader, third))):
            with frozen(cluster.members[third].processes() if leaves else []):
                time.sleep(60)
        writer.until(100, 120)
    rows.close()
    how = f"failsafe_mode {'on' if failsafe else 'off'}, two etcds of three down for 60 s{', and a replica with its VM' if leaves else ''}"
    print(f"state: patroni: {how}: longest pause {writer.longest_pause():.2f} s", flush=True)
    cluster.members[cluster.leader()].ask("/config", {"failsafe_mode": None}, "PATCH")
    cluster.settle(180)


@pytest.mark.full
@pytest.mark.parametrize("seconds", [5, 40])
@pytest.mark.parametrize("role", ["leader", "sync_standby"])
@pytest.mark.parametrize("drained", [True, False])
def test_a_freeze_with_and_without_a_drain(cluster: Cluster, lab: Lab, role: str, seconds: int, drained: bool) -> None:
    lab.all["respond_policy"] = DRAIN_ALL if drained else AS_IT_IS
    event = Event(cluster, lab, [cluster.of_role(role)], seconds)
    event.tell(f"{role} stands still for {seconds} s, {'drained' if drained else 'not drained'}")
    assert event.lost == set()
    assert [("drained" in phases) for phases in event.phases.values()] == [drained]


@pytest.mark.full
def test_without_synchronous_mode_it_is_told_what_was_lost(cluster: Cluster, lab: Lab) -> None:
    leader = cluster.leader()
    cluster.members[leader].ask("/config", {"synchronous_mode": False}, "PATCH")
    try:
        until(lambda: not cluster.of_role("sync_standby"), 40, "no synchronous standby")
        event = Event(cluster, lab, [leader], 5, settle=False)
        event.tell("asynchronous leader stands still for 5 s, drained")
        assert event.leader != leader
    finally:
        cluster.members[cluster.leader()].ask("/config", {"synchronous_mode": True}, "PATCH")


@pytest.mark.full
@pytest.mark.parametrize("role", ["leader", "sync_standby"])
def test_a_watcher_drains_for_a_preempt_by_itself(cluster: Cluster, lab: Lab, role: str) -> None:
    name = cluster.of_role(role)
    watcher = Watcher(lab, name, ["Preempt"])
    try:
        rows = Rows([one.host for one in cluster.members.values()], lab.folder)
        cluster.sql("TRUNCATE written")
        with Writer(rows.write) as writer:
            writer.until(100)
            began = time.monotonic()
            event_id = lab.simulator.event("Preempt", [name], notice=30, impact_seconds=1, ends_vm=False)
            until(lambda: bool(lab.records(name)) and "drained" in lab.phases(name), 30, "drained", lambda: str([lab.records(name), watcher.lines()]))
            took = time.monotonic() - began
            writer.until(100)
        rows.close()
        lost = writer.lost({int(line) for line in cluster.sql("SELECT number FROM written").split()})
        print(f"state: patroni: Preempt of the {role}, watcher alone: drained after {took:.1f} s, longest pause {writer.longest_pause():.2f} s", flush=True)
        assert lost == set()
    finally:
        watcher.end()
    lab.simulator.ask("POST", f"/events/{event_id}/cancel")
    lab.respond(respond_wait=True)
    assert lab.phases(name)[-1] == "recovered" and not (cluster.members[name].config / FILE).exists()


@pytest.mark.full
def test_a_standby_that_a_person_has_taken_out_stays_out(cluster: Cluster, lab: Lab) -> None:
    (name,) = [one for one, role in cluster.roles().items() if role == "replica"]
    member = cluster.members[name]
    (member.config / "50-person.yml").write_text(json.dumps({"tags": {"nofailover": True, "nosync": True}}))
    member.ask("/reload", {})
    until(lambda: bool(tags(cluster)[name].get("nosync")), 40, "the person's tags")
    try:
        for _twice in range(2):
            before = cluster.seen()
            event = Event(cluster, lab, [name], 1)
            assert event.phases[name][-1] == "recovered" and tags(cluster)[name] == {"clonefrom": True, "nofailover": True, "nosync": True}
            assert cluster.leader() == next(one["name"] for one in before["members"] if one["role"] == "leader")
            assert not (member.config / FILE).exists()
            lab.records_folder(name).rename(lab.folder / f"records-{_twice}")
    finally:
        (member.config / "50-person.yml").unlink()
        member.ask("/reload", {})
    until(lambda: not tags(cluster)[name].get("nosync"), 40, "the person's tags are gone")


@pytest.mark.full
def test_a_store_without_quorum_is_waited_for(cluster: Cluster, tmp_path: pathlib.Path) -> None:
    cluster.settle()
    leader = cluster.leader()
    vm = Vm(tmp_path)
    vm.machine = local_machine(LocalHost().now, lambda words: (1, "", ""))
    method = step("patroni", given={"url": cluster.members[leader].url, "member": leader, "leader_only": True})
    event = {**ABOUT, "resources": [leader], "not_before": "2099-01-01T00:00:00Z"}
    with frozen([etcd.pid for etcd in cluster.etcds.values()]):
        outcome = vm.drain(method, event=event)
    # The request may lie in the store's own queue, so who leads once it runs again is open: it is looked for, and nothing is put back.
    assert outcome.state == "draining" and vm.entry("1-patroni")["state"] in ("found", "begun"), outcome
    until(lambda: vm.undo(method, event=event).state == "undone", 60, "undone")


@contextlib.contextmanager
def frozen(processes: t.Sequence[int]) -> t.Iterator[None]:
    freeze(processes)
    try:
        yield
    finally:
        thaw(processes)


class Cut(LocalDaemons):
    """Patroni's REST API of a member, as the method reaches it. The process ends at one request, before it is sent or after its answer."""

    def __init__(self, request: tuple[str, str], after: bool) -> None:
        super().__init__()
        self._request, self._after = request, after

    def request(self, daemon: Daemon, method: str, path: str, body: bytes | None = None, headers: t.Mapping[str, str] | None = None) -> Reply:
        # The switchover that asks for one; the one before it only finds out who may.
        cuts = (method, path) == self._request and (path != "/switchover" or b"leader" in (body or b""))
        if cuts and not self._after:
            raise Killed
        reply = super().request(daemon, method, path, body, headers)
        if cuts:
            raise Killed
        return reply


@pytest.mark.full
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("request_", [("POST", "/reload"), ("PATCH", "/config"), ("POST", "/switchover")])
def test_killed_between_two_steps_and_run_again(cluster: Cluster, tmp_path: pathlib.Path, request_: tuple[str, str], after: bool) -> None:
    cluster.settle()
    leader, before = cluster.leader(), tags(cluster)
    member, vm = cluster.members[leader], Vm(tmp_path)
    method = step("patroni", given={"url": member.url, "member": leader, "config_folder": str(member.config)})
    event = {**ABOUT, "resources": [leader], "not_before": "2099-01-01T00:00:00Z"}
    whole = local_machine(LocalHost().now, lambda words: (1, "", ""))

    def go(act: t.Callable[..., t.Any], end: str) -> None:
        vm.machine = whole._replace(daemons=lambda *_named: Cut(request_, after))
        killed = False
        try:
            until(lambda: act(method, event=event).state == end, 20, end)
        except Killed:
            killed = True
        # An undo asks for no switchover.
        assert killed == (act == vm.drain or request_[1] != "/switchover")
        vm.machine = whole
        until(lambda: act(method, event=event).state == end, 60, end)

    go(vm.drain, "drained")
    assert cluster.leader() not in ("", leader) and tags(cluster)[leader].get("nosync")
    go(vm.undo, "undone")
    assert tags(cluster) == before and not (member.config / FILE).exists()


@pytest.mark.full
@pytest.mark.parametrize("what", ["its REST API", "the store"])
@pytest.mark.parametrize("state", ["found", "begun"])
def test_what_is_asked_is_away_in_the_middle(state: str, what: str, cluster: Cluster, lab: Lab) -> None:
    leader = cluster.leader()
    asked = [cluster.members[leader].process] if what == "its REST API" else list(cluster.etcds.values())
    cluster.sql("TRUNCATE written")
    rows = Rows([one.host for one in cluster.members.values()], lab.folder)
    away = Away(lab, leader, *standing_still(lambda: [one.pid for one in asked if one]), rows.write, state)
    rows.close()
    cluster.settle()
    away.verdict(f"patroni, {what}, {state}", {int(line) for line in cluster.sql("SELECT number FROM written").split()})
    assert not (cluster.members[leader].config / FILE).exists()
