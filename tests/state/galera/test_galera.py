# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Method galera, with three nodes of Debian's MariaDB and two writers: one on the node that the event hits, one on another. Each node is the VM of its number.

A script stands in for systemctl (cluster.py): the units are the nodes.
"""

from __future__ import annotations

import pathlib
import typing as t

import pytest
from away import Away, standing_still
from galera.cluster import NODES, Arbitrator, Client, Cluster, socket, unit, until
from impact import Impact, freeze, thaw
from killed import kill_when
from lab.lab import Lab
from rehearsal import rehearse
from writer import Writer

VMS = ("vm1", "vm2", "vm3")
NODE = dict(zip(VMS, NODES))
DRAIN_ALL = [{"name": "all", "drain": True, "approve": "after_drain"}]
AS_IT_IS = [{"name": "as it is", "drain": False, "approve": "now"}]


@pytest.fixture(scope="module")
def running() -> t.Iterator[Cluster]:
    found = Cluster()
    yield found
    found.close()


@pytest.fixture
def cluster(running: Cluster) -> Cluster:
    running.settle()
    return running


@pytest.fixture
def lab(tmp_path: pathlib.Path, cluster: Cluster) -> t.Iterator[Lab]:
    found = Lab(tmp_path / "lab", VMS, 1)
    for vm, node in NODE.items():
        members = {one: host for host, one in NODE.items()}
        found.hosts[vm]["drain_methods"] = [{"method": "galera", "socket": socket(node), "units": [unit(node)], "cluster": "orders", "members": members}]
    found.all["respond_policy"] = DRAIN_ALL
    # No command outlasts the lease of its run.
    found.all["respond_timing"]["lease_seconds"] = 60
    yield found
    found.close()


class Writers:
    """Users of the node that is hit, who go to another one, and of another node."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.hit, self.other = Writer(Client("n1", NODES)), Writer(Client("n2", ["n2"]))

    def __enter__(self) -> Writers:
        self.hit.__enter__()
        self.other.__enter__()
        self.until(50)
        return self

    def until(self, count: int) -> None:
        self.hit.until(count)
        self.other.until(count)

    def __exit__(self, *error: object) -> None:
        self.hit.stop()
        self.other.stop()

    def verdict(self, what: str) -> None:
        lost = {name: writer.lost(self._cluster.present(name)) for name, writer in (("n1", self.hit), ("n2", self.other))}
        written = len(self.hit.acknowledged) + len(self.other.acknowledged)
        pauses = f"longest pause of all others {self.other.longest_pause():.2f} s, of the node's own clients {self.hit.longest_pause():.2f} s"
        print(f"state: galera: {what}: {written} acknowledged, {sum(map(len, lost.values()))} lost, {pauses}", flush=True)
        assert not any(lost.values()), (what, lost, self.hit.errors, self.other.errors)


def frozen(cluster: Cluster, lab: Lab, event_id: str, seconds: float, seen: list[t.Any] | None = None) -> Impact:
    """All processes of the VM stand still; those that the drain has ended are none."""
    held: list[int] = []

    def strike() -> None:
        held.extend(cluster.processes_of("n1"))
        freeze(held)
        if seen is not None:
            seen.append(list(held))

    return Impact(lab, event_id, seconds, strike, lambda: thaw(held))


def whole(output: str) -> str:
    return " ".join(output.split())


# --- in CI ---------------------------------------------------------------------------------------------------------------------


def test_a_freeze_of_a_node_stalls_nobody(cluster: Cluster, lab: Lab) -> None:
    event_id = lab.simulator.event("Freeze", ["vm1"], notice=300, duration_in_seconds=5)
    seen: list[t.Any] = []
    rehearse(lab, "would refuse queries on n1 and stop ", "; 2 of 3 nodes would stay")
    with Writers(cluster) as writers, frozen(cluster, lab, event_id, 5, seen):
        lab.respond(respond_wait=True)
        writers.until(50)
    assert seen == [[]], "the server did not run when the event began"
    assert {"drained", "recovered"} <= set(lab.phases("vm1"))
    # In step when the run ends: nothing is waited for here.
    assert cluster.in_step("n1") and cluster.size("n1") == 3 and writers.other.errors == {}
    writers.verdict("a freeze of 5 s with a drain")


def test_the_last_majority_is_not_broken(cluster: Cluster, lab: Lab) -> None:
    cluster.stop("n3")
    lab.hosts["vm1"]["drain_methods"][0].pop("members")
    with Writers(cluster) as writers:
        lab.simulator.event("Freeze", ["vm1"], notice=600, duration_in_seconds=5)
        output = whole(lab.respond(code=None))
        assert "without n1, 1 of 2 nodes would be left, which is no majority" in output, output
        assert lab.simulator.approvals() == [] and cluster.in_step("n1") and cluster.status("n1")["wsrep_reject_queries"] == "NONE"
        writers.until(20)
    cluster.start("n3")
    until(lambda: cluster.in_step("n3"), "n3 is back")
    writers.verdict("two nodes of three left: the drain is refused")


def test_an_arbitrator_that_the_event_hits_too_is_missed(cluster: Cluster, lab: Lab) -> None:
    """Two nodes and garbd, whose VM the event names beside that of n1: n2 alone would have no majority."""
    cluster.stop("n3")
    lab.hosts["vm3"]["drain_methods"] = [{"method": "none"}]
    entry = lab.hosts["vm1"]["drain_methods"][0]
    with Arbitrator(cluster), Writers(cluster) as writers:
        assert "garb" in cluster.ask("n2", "SELECT node_name FROM mysql.wsrep_cluster_members").split()
        for members, words in (
            (
                {"n1": "vm1", "n2": "vm2"},
                "without n1 and garb, which option members does not name, 1 of 3 nodes would be left, which is no majority. The event names",
            ),
            ({"n1": "vm1", "n2": "vm2", "garb": "vm3"}, "without n1 and garb, which the event hits, too, 1 of 3 nodes would be left, which is no majority"),
        ):
            entry["members"] = members
            event_id = lab.simulator.event("Reboot", ["vm1", "vm3"], notice=600)
            output = whole(lab.respond(code=None))
            assert words in output and lab.simulator.approvals() == [], output
            assert cluster.in_step("n1") and cluster.status("n1")["wsrep_reject_queries"] == "NONE" and cluster.size("n2") == 3
            lab.simulator.ask("POST", f"/events/{event_id}/cancel")
        writers.until(20)
        assert writers.other.errors == {} and writers.hit.errors == {}
    # The nodes that are left wait until they have given it up.
    until(lambda: cluster.size("n1") == 2, "the arbitrator is given up")
    cluster.start("n3")
    until(lambda: cluster.in_step("n3"), "n3 is back")
    writers.verdict("an event that names the VMs of a node and of garbd, which members names or not: the drain is refused")


# --- before a release ----------------------------------------------------------------------------------------------------------


@pytest.mark.full
@pytest.mark.parametrize("drained", [True, False])
@pytest.mark.parametrize("seconds", [5, 40])
def test_a_freeze_with_and_without_a_drain(cluster: Cluster, lab: Lab, seconds: int, drained: bool) -> None:
    lab.all["respond_policy"] = DRAIN_ALL if drained else AS_IT_IS
    event_id = lab.simulator.event("Freeze", ["vm1"], notice=300, duration_in_seconds=seconds)
    with Writers(cluster) as writers, frozen(cluster, lab, event_id, seconds) as impact:
        lab.respond(respond_wait=True)
        writers.until(50)
    assert impact.struck is not None
    apart = [pause_of(writers.other, begin, end) for begin, end in ((0.0, impact.struck + seconds), (impact.struck + seconds, float("inf")))]
    until(lambda: all(cluster.in_step(node) for node in NODES), "all are in step")
    how = "with a drain" if drained else "without a drain"
    writers.verdict(f"a freeze of {seconds} s {how}: all others pause {apart[0]:.2f} s until its end and {apart[1]:.2f} s after it")


def pause_of(writer: Writer, begin: float, end: float) -> float:
    """The longest pause that began in a time."""
    times = [writer.began, *sorted(writer.acknowledged.values()), writer.stopped]
    return max((after - before for before, after in zip(times, times[1:]) if begin <= before < end), default=0.0)


@pytest.mark.full
def test_a_reboot_loses_nothing(cluster: Cluster, lab: Lab) -> None:
    event_id = lab.simulator.event("Reboot", ["vm1"], notice=300)
    # The unit is enabled: it starts at boot, and the undo finds it running.
    with Writers(cluster) as writers, Impact(lab, event_id, 5, lambda: cluster.kill("n1"), lambda: cluster.start("n1")):
        lab.respond(respond_wait=True)
        writers.until(50)
    assert cluster.in_step("n1") and {"drained", "recovered"} <= set(lab.phases("vm1"))
    writers.verdict("a reboot with a drain")


@pytest.mark.full
def test_what_a_person_did_before_stays_twice(cluster: Cluster, lab: Lab) -> None:
    cluster.ask("n1", "SET GLOBAL wsrep_reject_queries=ALL")
    for _twice in range(2):
        event_id = lab.simulator.event("Freeze", ["vm1"], notice=300, duration_in_seconds=5)
        with frozen(cluster, lab, event_id, 5):
            lab.respond(respond_wait=True)
        assert cluster.in_step("n1") and cluster.status("n1")["wsrep_reject_queries"] == "ALL"
    cluster.stop("n1")
    event_id = lab.simulator.event("Freeze", ["vm1"], notice=300, duration_in_seconds=5)
    with frozen(cluster, lab, event_id, 5):
        lab.respond(respond_wait=True)
    assert cluster.processes_of("n1") == []
    print("state: galera: queries refused by a person stay refused through two events, a stopped service stays stopped", flush=True)


@pytest.mark.full
def test_killed_between_its_steps_it_goes_on(cluster: Cluster, lab: Lab) -> None:
    # That of a killed run is waited for.
    lab.all["respond_timing"]["lease_seconds"] = 10
    event_id = lab.simulator.event("Freeze", ["vm1"], notice=300, duration_in_seconds=5)
    with Writers(cluster) as writers, frozen(cluster, lab, event_id, 5) as impact:
        steps: dict[str, t.Callable[[], bool]] = {
            "found": lambda: bool(lab.records("vm1")) and any(one["state"] == "found" for one in lab.records("vm1")[0]["methods"]),
            "queries refused": lambda: cluster.status("n1").get("wsrep_reject_queries") != "NONE",
            "stopped": lambda: not cluster.processes_of("n1"),
            "drained": lambda: "drained" in lab.phases("vm1"),
            "approved": lambda: "approved" in lab.phases("vm1"),
            "started again": lambda: impact.struck is not None and bool(cluster.processes_of("n1")),
        }
        for name, seen in steps.items():
            print(f"state: galera: killed when {name}: {'yes' if kill_when(lab, seen) else 'it had ended'}", flush=True)
        lab.respond(respond_wait=True)
        writers.until(50)
    assert cluster.in_step("n1") and cluster.status("n1")["wsrep_reject_queries"] == "NONE" and "recovered" in lab.phases("vm1")
    writers.verdict("killed between its steps")


@pytest.mark.full
def test_with_an_arbitrator_one_of_two_nodes_may_go(cluster: Cluster, lab: Lab) -> None:
    cluster.stop("n3")
    lab.hosts["vm1"]["drain_methods"][0]["members"] = {"n1": "vm1", "n2": "vm2", "garb": "vm3"}
    with Arbitrator(cluster), Writers(cluster) as writers:
        event_id = lab.simulator.event("Freeze", ["vm1"], notice=300, duration_in_seconds=5)
        with frozen(cluster, lab, event_id, 5):
            lab.respond(respond_wait=True)
        writers.until(20)
        assert writers.other.errors == {} and cluster.in_step("n1")
    until(lambda: cluster.size("n1") == 2, "the arbitrator is given up")
    cluster.start("n3")
    until(lambda: cluster.in_step("n3"), "n3 is back")
    writers.verdict("two nodes and garbd, an event of one node's VM")


@pytest.mark.full
def test_one_that_stands_still_does_not_count(cluster: Cluster, lab: Lab) -> None:
    """Until it is given up, after some six seconds, the others say that they are three."""
    held = cluster.processes_of("n3")
    lab.simulator.event("Reboot", ["vm1"], notice=600)
    freeze(held)
    try:
        output = whole(lab.respond(code=None))
        assert "without n1, 1 of 2 nodes would be left" in output and "Of its 3 members only 2 are in the cluster now" in output, output
        assert lab.simulator.approvals() == [] and cluster.processes_of("n1") and cluster.status("n1")["wsrep_reject_queries"] == "NONE"
    finally:
        thaw(held)
    until(lambda: cluster.in_step("n3") and cluster.size("n1") == 3, "n3 is back")
    print("state: galera: a node that stands still and is not given up yet: the drain waits", flush=True)


@pytest.mark.full
def test_a_second_run_changes_nothing(cluster: Cluster, lab: Lab) -> None:
    lab.all["respond_policy"] = [{"name": "held", "drain": True, "approve": "never"}]
    event_id = lab.simulator.event("Reboot", ["vm1"], notice=600)
    lab.respond(code=None)
    (before,) = lab.records("vm1")[0]["methods"]
    assert before["state"] == "drained" and cluster.processes_of("n1") == []
    lab.respond(code=None)
    assert lab.records("vm1")[0]["methods"] == [before] and cluster.processes_of("n1") == []
    lab.simulator.ask("POST", f"/events/{event_id}/cancel")
    lab.respond(respond_wait=True)
    assert cluster.in_step("n1")


@pytest.mark.full
def test_the_other_nodes_are_away_in_the_middle(cluster: Cluster, lab: Lab) -> None:
    others = standing_still(lambda: [process for node in NODES[1:] for process in cluster.processes_of(node)])
    away = Away(lab, "vm1", *others, Client("n1", NODES))
    until(lambda: all(cluster.in_step(node) and cluster.size(node) == 3 for node in NODES), "all are in step")
    away.verdict("galera, the two other nodes", cluster.present("n1"))
