# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The recipe of docs/stateful.md for Patroni behind HAProxy, under a writer and a reader that know nothing but HAProxy."""

from __future__ import annotations

import pathlib
import typing as t

import pytest
from impact import freeze, thaw
from lab.lab import Lab
from patroni.cluster import Cluster, until
from patroni.rows import Rows
from recipe import AS_IT_IS, OTHER_ORDERS, Balancer, Event, Recipe, lab_of, reorder

NAMES = ("pg1", "pg2", "pg3")
RECIPE = Recipe("Patroni")


class Site(Cluster):
    """The cluster as the events are told of it."""

    def clear(self) -> None:
        self.sql("TRUNCATE written")

    def present(self) -> set[int]:
        return {int(line) for line in self.sql("SELECT number FROM written").split()}

    def leads(self) -> str:
        return self.leader()

    def strike(self, name: str) -> None:
        self._stopped = self.members[name].processes()
        freeze(self._stopped)

    def release(self, name: str) -> None:
        thaw(self._stopped)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[Site]:
    found = Site(tmp_path_factory.mktemp("behind") / "cluster", NAMES)
    found.sql("CREATE TABLE written (number integer)")
    yield found
    found.close()


def methods(cluster: Site, name: str) -> list[dict[str, t.Any]]:
    """What the page says, but for the places where this machine has something."""
    places = {"patroni": {"url": cluster.members[name].url, "config_folder": str(cluster.members[name].config)}}
    return [{**one, **places.get(one["method"], {})} for one in RECIPE.methods]


class Scene:
    def __init__(self, folder: pathlib.Path, cluster: Site) -> None:
        self.folder, self.cluster = folder, cluster
        self.lab: Lab = lab_of(folder, NAMES, lambda name: methods(cluster, name))
        self.balancer = Balancer(folder / "lb1", RECIPE.configuration)
        leader = cluster.leader()
        until(lambda: (self.balancer.up("pg_write"), self.balancer.up("pg_read")) == ({leader}, set(NAMES) - {leader}), 30, "a balancer that knows the roles")

    def event(self, vm: str, seconds: float, keeps: str = "open", **more: t.Any) -> Event:
        writes = Rows(["127.0.0.1"], self.folder, "port=5000", keeps=keeps)
        return Event(self.lab, self.cluster, vm, seconds, writes, self.reads(keeps), **more)

    def reads(self, keeps: str = "open") -> Rows:
        return Rows(["127.0.0.1"], self.folder, "port=5001", "SELECT %s", keeps)

    def close(self) -> None:
        self.lab.close()
        self.balancer.stop()


@pytest.fixture
def scene(tmp_path: pathlib.Path, cluster: Site) -> t.Iterator[Scene]:
    cluster.settle()
    found = Scene(tmp_path, cluster)
    yield found
    found.close()


def test_the_leader_is_drained_as_the_page_says(cluster: Site, scene: Scene) -> None:
    leader = cluster.leader()
    event = scene.event(leader, 5)
    event.tell("Patroni: the leader, Freeze of 5 s, as the page says")
    assert event.lost == set() and event.leader != leader and event.phases[-1] == "recovered", event.output
    assert scene.balancer.up("pg_read") == set(NAMES) - {cluster.leader()}


# --- Before a release: the same event otherwise, and a replica ---------------------------------------------------------------


@pytest.mark.full
@pytest.mark.parametrize("seconds", [5, 40])
@pytest.mark.parametrize("drained", [True, False])
def test_the_same_event_with_and_without_a_drain(seconds: int, drained: bool, cluster: Site, scene: Scene) -> None:
    if not drained:
        scene.lab.all["respond_policy"] = AS_IT_IS
    event = scene.event(cluster.leader(), seconds)
    event.tell(f"Patroni: the leader, Freeze of {seconds} s, {'as the page says' if drained else 'not drained'}")
    assert event.lost == set() and ("drained" in event.phases) is drained


@pytest.mark.full
@pytest.mark.parametrize("order", OTHER_ORDERS)
def test_another_order(order: str, cluster: Site, scene: Scene) -> None:
    """The writer and the reader connect anew for each write: the sessions of a pool would not end."""
    leader, first = cluster.leader(), order == "HAProxy first, both backends"
    reorder(scene.lab, NAMES, order)
    event = scene.event(leader, 5, "never", code=None, respond_wait_timeout=120)
    event.tell(f"Patroni: the leader, Freeze of 5 s, {order}, each write with a connection of its own")
    assert event.lost == set() and event.leader != leader
    said = " ".join(event.output.split())
    assert (f"{leader} is the last server of backend pg_write that takes sessions on lb1" in said) is first
    assert ("it is left as it is, because method 2-patroni hands its role over" in said) is first


@pytest.mark.full
def test_a_replica_whose_readers_never_leave(cluster: Site, scene: Scene) -> None:
    pool = [scene.reads() for _replica in range(2)]
    for number, one in enumerate(pool):
        one.write(number)
    standby = cluster.of_role("sync_standby")
    assert scene.balancer.row("pg_read", standby)["scur"] == "1"
    event = scene.event(standby, 5)
    event.tell("Patroni: the synchronous standby with readers whose connections never end, Freeze of 5 s, as the page says")
    assert event.lost == set() and event.phases[-1] == "recovered" and event.leader != standby, event.output
    for one in pool:
        one.close()
