# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The recipe of docs/stateful.md for Redis behind HAProxy, under a writer and a reader that know nothing but HAProxy."""

from __future__ import annotations

import pathlib
import signal
import typing as t

import pytest
from lab.lab import Lab
from recipe import AS_IT_IS, OTHER_ORDERS, Balancer, Event, Recipe, lab_of, reorder
from redis.cluster import Cluster, Connection, until

NAMES = ("redis1", "redis2", "redis3")
RECIPE = Recipe("Redis, Valkey")
WRITE, READ = 6380, 6381


class Site(Cluster):
    """The cluster as the events are told of it."""

    def leads(self) -> str:
        return self.master()

    def strike(self, name: str) -> None:
        self.vms[name].signal(signal.SIGSTOP)

    def release(self, name: str) -> None:
        self.vms[name].signal(signal.SIGCONT)


class Pool:
    """Asks the balancer. A connection that is open is used again, after an answer that is an error, too; or C(keeps) is false, and none is."""

    def __init__(self, port: int, keeps: bool = True) -> None:
        self._port, self._keeps = port, keeps
        self._connection: Connection | None = None

    def write(self, number: int) -> None:
        try:
            if self._connection is None:
                self._connection = Connection("127.0.0.1", self._port)
            self._connection(*self._words(number))
        except OSError:
            self.close()
            raise
        if not self._keeps:
            self.close()

    def _words(self, number: int) -> tuple[str, ...]:
        if self._port == READ:
            return "GET", "key:1"
        return ("SET", f"key:{number}", str(number)) if number % 2 else ("RPUSH", "list", str(number))

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[Site]:
    found = Site(tmp_path_factory.mktemp("behind") / "cluster", NAMES)
    yield found
    found.close()


def methods(cluster: Site, name: str) -> list[dict[str, t.Any]]:
    """What the page says, but for the addresses, and the user that this cluster asks for."""
    own = cluster.method(name)
    return [{**one, **(own if one["method"] == own["method"] else {})} for one in RECIPE.methods]


class Scene:
    def __init__(self, folder: pathlib.Path, cluster: Site) -> None:
        self.cluster = cluster
        self.lab: Lab = lab_of(folder, NAMES, lambda name: methods(cluster, name))
        self.balancer = Balancer(folder / "lb1", RECIPE.configuration)
        master = cluster.master()
        until(
            lambda: (self.balancer.up("redis_write"), self.balancer.up("redis_read")) == ({master}, set(NAMES) - {master}),
            30,
            "a balancer that knows the roles",
        )

    def event(self, vm: str, seconds: float, keeps: bool = True, **more: t.Any) -> Event:
        return Event(self.lab, self.cluster, vm, seconds, Pool(WRITE, keeps), Pool(READ, keeps), **more)

    def close(self) -> None:
        self.lab.close()
        self.balancer.stop()


@pytest.fixture
def scene(tmp_path: pathlib.Path, cluster: Site) -> t.Iterator[Scene]:
    cluster.settle()
    found = Scene(tmp_path, cluster)
    yield found
    found.close()


def test_the_master_is_drained_as_the_page_says(cluster: Site, scene: Scene) -> None:
    master = cluster.master()
    event = scene.event(master, 5)
    event.tell("Redis: the master, Freeze of 5 s, as the page says")
    assert event.lost == set() and event.leader != master and event.phases[-1] == "recovered", event.output
    assert scene.balancer.up("redis_read") == set(NAMES) - {cluster.master()}


# --- Before a release: the same event otherwise, and a replica ---------------------------------------------------------------


@pytest.mark.full
@pytest.mark.parametrize("seconds", [5, 40])
@pytest.mark.parametrize("drained", [True, False])
def test_the_same_event_with_and_without_a_drain(seconds: int, drained: bool, cluster: Site, scene: Scene) -> None:
    if not drained:
        scene.lab.all["respond_policy"] = AS_IT_IS
    event = scene.event(cluster.master(), seconds)
    event.tell(f"Redis: the master, Freeze of {seconds} s, {'as the page says' if drained else 'not drained'}")
    assert ("drained" in event.phases) is drained and not (drained and event.lost)


@pytest.mark.full
def test_an_old_master_that_comes_back_beside_the_new_one(cluster: Site, scene: Scene) -> None:
    """HAProxy believes both, so what it gives the old one may be lost: that is told, and asserted of a drain only."""
    scene.lab.all["respond_policy"] = AS_IT_IS
    master = cluster.master()
    event = scene.event(master, 40, False)
    event.tell("Redis: the master, Freeze of 40 s, not drained, each write with a connection of its own")
    assert event.leader == master and cluster.master() != master


@pytest.mark.full
@pytest.mark.parametrize("order", OTHER_ORDERS)
def test_another_order(order: str, cluster: Site, scene: Scene) -> None:
    """The writer and the reader connect anew for each write: the sessions of a pool would not end."""
    master, first = cluster.master(), order == "HAProxy first, both backends"
    reorder(scene.lab, NAMES, order)
    event = scene.event(master, 5, False, code=None, respond_wait_timeout=120)
    event.tell(f"Redis: the master, Freeze of 5 s, {order}, each write with a connection of its own")
    assert event.lost == set() and event.leader != master
    said = " ".join(event.output.split())
    assert (f"{master} is the last server of backend redis_write that takes sessions on lb1" in said) is first
    assert ("it is left as it is, because method 2-redis_sentinel hands its role over" in said) is first


@pytest.mark.full
def test_a_replica_whose_readers_never_leave(cluster: Site, scene: Scene) -> None:
    pool = [Pool(READ) for _replica in range(2)]
    for number, one in enumerate(pool):
        one.write(number)
    replica = cluster.replicas()[0]
    assert scene.balancer.row("redis_read", replica)["scur"] == "1"
    event = scene.event(replica, 5)
    event.tell("Redis: a replica with readers whose connections never end, Freeze of 5 s, as the page says")
    assert event.lost == set() and event.phases[-1] == "recovered" and event.leader != replica, event.output
    for one in pool:
        one.close()
