# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Method patroni asks whether its store keeps a majority: etcd as 3.4.23 answers, Consul and ZooKeeper as their documentation has it."""

from __future__ import annotations

import json

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.methods.patroni.patroni import PatroniMethod
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine.daemons import DaemonError, Reply
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.drain.methods.test_patroni import OUT, SWITCH, Scene
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.drain.scene import ABOUT, step

HOSTS = {"etcd1": "db1", "etcd2": "db2", "etcd3": "db3"}
VMS = {"db1": "vm_0", "db2": "vm_1", "db3": "vm_2"}
FAILSAFE = ". failsafe_mode is on, and does not help: for it the leader must reach all members of Patroni, and one leaves with this VM"
NEEDED = "2 of 3 members of {} are needed, 1 would be left: {}"


class Etcd:
    """Three members. C(down) do not answer, C(lost) know no leader."""

    kind, names, port = "etcd", ("etcd1", "etcd2", "etcd3"), 2379
    asked = "POST {}/v3/maintenance/status"

    def __init__(self):
        self.down, self.lost, self.more, self.answers, self.daemons = set(), set(), [], {}, []
        self.lies = {}
        self.addresses = [f"http://10.0.0.{number}:{self.port}" for number in (1, 2, 3)]

    @property
    def urls(self):
        return self.addresses

    @property
    def store(self):
        return {"kind": self.kind, "urls": self.addresses, "members": HOSTS}

    def why(self):
        """What is said of the last one that does not answer: its address may be wrong, and the member up."""
        silent = [url for url, name in zip(self.urls, self.names) if name in self.down]
        return f" ({self.asked.format(silent[-1])}: timed out)" if silent else ""

    def _name(self, daemon, what):
        self.daemons.append(daemon)
        name = self.names[self.urls.index(daemon.url)]
        if name in self.down:
            raise DaemonError(f"{what}: timed out")
        return name

    def request(self, daemon, method, path, body):
        name = self._name(daemon, f"{method} {daemon.url}{path}")
        if path in self.answers:
            return Reply(self.answers[path][0], {}, self.answers[path][1].encode())
        lie = self.lies.get((name, path))
        return Reply(200, {}, json.dumps(self.answer(name, method, path, body) if lie is None else lie).encode())

    def answer(self, name, method, path, body):
        assert (method, body) == ("POST", b"{}")
        if path == "/v3/cluster/member/list":
            return {"header": {}, "members": [{"ID": f"9{one}", "name": one, "clientURLs": []} for one in self.names] + self.more}
        assert path == "/v3/maintenance/status"
        leader = {} if name in self.lost else {"leader": "9etcd2"}
        return {"header": {"cluster_id": "5", "member_id": f"9{name}"}, "version": "3.4.23", **leader}


class Consul(Etcd):
    kind, names, port = "consul", ("10.0.0.1", "10.0.0.2", "10.0.0.3"), 8500
    asked = "GET {}/v1/status/leader"
    store = property(lambda self: {**super().store, "members": dict(zip(self.names, HOSTS.values()))})

    def answer(self, name, method, path, body):
        assert (method, body) == ("GET", None)
        leader = "" if name in self.lost else "10.0.0.2:8300"
        return {"/v1/status/leader": leader, "/v1/status/peers": [f"{one}:8300" for one in self.names]}[path]


class ZooKeeper(Etcd):
    kind, names, asked = "zookeeper", ("10.0.0.1", "10.0.0.2", "10.0.0.3"), "{}"
    store = property(lambda self: {**super().store, "members": dict(zip(self.names, HOSTS.values()))})

    def __init__(self):
        super().__init__()
        self.addresses = [f"10.0.0.{number}:2181" for number in (1, 2, 3)]

    def exchange(self, daemon, data):
        name = self._name(daemon, daemon.url)
        assert data == b"srvr"
        if name in self.lost:
            return b"This ZooKeeper instance is not currently serving requests\n"
        return self.answers.get(name, b"Zookeeper version: 3.8.0\nLatency min/avg/max: 0/0.0/0\nMode: follower\nNode count: 5\n")


@pytest.fixture
def scene(tmp_path):
    return Scene(tmp_path)


def with_store(scene, store):
    scene.patroni.store = store
    scene.given["store"] = dict(store.store)
    return store


@pytest.fixture(params=[Etcd, Consul, ZooKeeper])
def store(scene, request):
    return with_store(scene, request.param())


@pytest.fixture
def etcd(scene):
    return with_store(scene, Etcd())


def drain(scene, **keys):
    return scene.drain(members=VMS, **keys)


# --- The majority that is left --------------------------------------------------------------------------------------------


def test_with_a_majority_left_it_is_drained(scene, store):
    assert drain(scene)[:2] == ("drained", None) and scene.patroni.asked == [*OUT, SWITCH]
    assert {daemon.seconds for daemon in store.daemons} == {3.0}


@pytest.mark.parametrize("how", ["down", "lost"])
def test_one_that_is_down_leaves_too_few_and_is_waited_for(scene, store, how):
    getattr(store, how).add(store.names[2])
    state, error = scene.refused(members=VMS)
    first, last = store.names[0], store.names[2]
    assert (state, error) == ("draining", "1-patroni: not yet: " + NEEDED.format(store.kind, f"{first} goes with the event; {last} is down") + store.why())
    getattr(store, how).clear()
    assert drain(scene).state == "drained"


def test_one_that_goes_down_after_the_drain_holds_the_vm(scene, store):
    drain(scene)
    store.down.add(store.names[1])
    words = NEEDED.format(store.kind, f"{store.names[0]} goes with the event; {store.names[1]} is down") + store.why()
    assert drain(scene, verify=True)[:2] == ("drained", words)
    record = scene.vm.record()
    assert (record["blocker"]["kind"], record["reason"]) == ("needed", f"1-patroni: {words}")
    store.down.clear()
    assert drain(scene, verify=True)[:2] == ("drained", None) and scene.vm.record()["reason"] is None


def test_check_mode_says_the_same_words(scene, etcd):
    etcd.down.add("etcd3")
    (found,) = scene.vm.would(step("patroni", given=scene.given), event=scene.event, deadline=None, members=VMS)
    assert found == "would wait: " + NEEDED.format("etcd", "etcd1 goes with the event; etcd3 is down") + etcd.why()


def test_an_event_that_takes_the_majority_is_refused_for_good(scene, store):
    scene.event, scene.given["members"] = ABOUT, {"pg2": "db2", "pg3": "db3"}
    words = f"{store.names[0]} goes with the event; {store.names[1]} goes with the event"
    assert scene.refused(members=VMS) == ("failed", "1-patroni: " + NEEDED.format(store.kind, words))


def test_a_vm_without_a_member_may_go_while_one_is_down(scene, etcd):
    etcd.down.add("etcd3")
    assert scene.drain(members={**VMS, "db1": "vm_8"}).state == "drained"
    etcd.lost.add("etcd2")
    assert scene.drain(members={**VMS, "db1": "vm_8"}, verify=True)[1] == NEEDED.format("etcd", "etcd2 is down; etcd3 is down") + etcd.why()


@pytest.mark.parametrize("hosts,vms", [({}, VMS), (HOSTS, {}), ({"etcd9": "db1"}, VMS)])
def test_one_whose_vm_is_not_known_may_be_on_this_one(scene, etcd, hosts, vms):
    # As to a watcher, which knows no names: one VM has one member at most.
    scene.given["store"]["members"] = hosts
    assert scene.drain(members=vms).state == "drained"
    etcd.down.add("etcd3")
    may = "may go with the event (see store.members)"
    assert scene.drain(members=vms, verify=True)[1] == NEEDED.format("etcd", f"etcd1 {may}; etcd3 is down") + etcd.why()


def test_of_an_event_of_several_vms_each_that_is_not_known_may_go(scene, etcd):
    scene.event, scene.given["members"] = ABOUT, {"pg2": "db2", "pg3": "db3"}
    scene.given["store"]["members"] = {"etcd1": "db1", "etcd3": "db3"}
    may = "etcd1 goes with the event; etcd2 may go with the event (see store.members)"
    assert scene.refused(members={**VMS, "db2": "vm_7"}) == ("failed", "1-patroni: " + NEEDED.format("etcd", may))


def test_a_learner_has_no_vote(scene, etcd):
    etcd.more = [{"ID": "77", "name": "etcd4", "isLearner": True}]
    assert drain(scene).state == "drained"


def test_an_observer_has_no_vote(scene):
    with_store(scene, ZooKeeper()).answers["10.0.0.3"] = b"Mode: observer\n"
    assert scene.refused(members=VMS)[1] == "1-patroni: 2 of 2 members of zookeeper are needed, 1 would be left: 10.0.0.1 goes with the event"


# --- failsafe_mode --------------------------------------------------------------------------------------------------------


def test_failsafe_mode_is_said_and_changes_nothing(scene, etcd):
    etcd.down.add("etcd3")
    scene.patroni.config["failsafe_mode"] = True
    state, error = scene.refused(members=VMS)
    assert state == "draining" and error.endswith(f"etcd1 goes with the event; etcd3 is down{etcd.why()}{FAILSAFE}")
    etcd.down.clear()
    drain(scene)
    etcd.down.add("etcd2")
    assert drain(scene, verify=True)[1] == NEEDED.format("etcd", "etcd1 goes with the event; etcd2 is down") + etcd.why() + FAILSAFE


# --- What does not answer, and what must not be asked ---------------------------------------------------------------------


def test_a_store_that_does_not_answer_is_waited_for(scene, etcd):
    etcd.down.update(etcd.names)
    state, error = scene.refused(members=VMS)
    words = "no address of option store answers: POST http://10.0.0.3:2379/v3/maintenance/status: timed out"
    assert (state, error) == ("draining", f"1-patroni: not yet: {words}")


@pytest.mark.parametrize("status", [401, 403, 404])
def test_one_that_lets_nobody_ask_is_named(scene, etcd, status):
    etcd.answers["/v3/maintenance/status"] = (status, "no")
    words = f"no address of option store answers: http://10.0.0.3:2379/v3/maintenance/status answers {status}"
    assert scene.refused(members=VMS) == ("draining", f"1-patroni: not yet: {words}")


@pytest.mark.parametrize("answer,words", [
    ((200, "<html>"), "no address of option store answers"), ((500, "{}"), "no address of option store answers"), ((200, "{}"), "no address"),
    ((200, "[5]"), "and etcd has 0 members"), ((200, '{"members": 5}'), "and etcd has 0 members"),
    ((200, '{"members": [5]}'), "1 of 1 members of etcd are needed"),
])  # fmt: skip
def test_an_answer_that_is_none_is_no_member_list(scene, etcd, answer, words):
    etcd.answers["/v3/cluster/member/list"] = answer
    assert words in scene.refused(members=VMS)[1]


def test_fewer_addresses_than_members_are_refused(scene, etcd):
    etcd.addresses = scene.given["store"]["urls"] = etcd.addresses[:1]
    words = "option store.urls has 1 addresses, and etcd has 3 members: name one of each"
    assert scene.refused(members=VMS) == ("failed", f"1-patroni: {words}")


def test_a_server_of_consul_that_is_named_otherwise_is_down(scene):
    consul = with_store(scene, Consul())
    consul.addresses[2] = "http://db3:8500"
    assert scene.refused(members=VMS)[1].endswith(NEEDED.format("consul", "10.0.0.1 goes with the event; 10.0.0.3 is down"))


def test_an_address_of_zookeeper_with_http_is_refused_and_not_waited_for(scene):
    with_store(scene, ZooKeeper()).addresses[2] = "http://10.0.0.3:2181"
    words = "option store.urls: zookeeper is asked at HOST:PORT, and not at http://10.0.0.3:2181"
    assert scene.refused(members=VMS) == ("failed", f"1-patroni: {words}")


def test_a_name_from_the_store_is_printable(scene, etcd):
    etcd.names = ("etcd1", "etcd2", "\x1b[2J" + "x" * 5000)
    etcd.down.add(etcd.names[2])
    error = scene.refused(members=VMS)[1]
    assert error.isprintable() and len(error) < 500


def test_it_gets_the_certificates_and_no_password(scene, etcd):
    scene.given.update(ca_file="/ca", certificate_file="/c", key_file="/k", username="u", password_file="/p")
    drain(scene)
    found = {(one.ca_file, one.certificate_file, one.key_file, one.username, one.password_file) for one in etcd.daemons}
    assert found == {("/ca", "/c", "/k", "", "")}


# --- A member that lies ---------------------------------------------------------------------------------------------------

LISTS = {"etcd": "/v3/cluster/member/list", "consul": "/v1/status/peers"}
FEWER = {"etcd": {"members": [{"ID": "9etcd2", "name": "etcd2"}]}, "consul": ["10.0.0.2:8300"]}
MORE = {"etcd": {"members": [{"ID": str(number), "name": "x"} for number in range(9)]}, "consul": [f"10.0.0.{number}:1" for number in range(9)]}


@pytest.mark.parametrize("made", [Etcd, Consul])
@pytest.mark.parametrize("liar", [0, 1, 2])
def test_no_single_member_says_who_the_members_are(scene, made, liar):
    # Of a store that has one member, which is up, any VM might go; one that has nine would be refused for good.
    store = with_store(scene, made())
    for lie in (FEWER[store.kind], MORE[store.kind], [["x"]], {"members": 5}, "x", 7):
        store.lies = {(store.names[liar], LISTS[store.kind]): lie}
        assert drain(scene, verify=bool(store.daemons))[:2] == ("drained", None), lie


@pytest.mark.parametrize("made", [Etcd, Consul])
def test_where_no_list_has_most_of_those_that_answer_it_is_waited_for(scene, made):
    store = with_store(scene, made())
    store.down.add(store.names[2])
    store.lies = {(store.names[0], LISTS[store.kind]): FEWER[store.kind]}
    words = "1-patroni: not yet: the addresses of option store do not agree on the members of the store"
    assert scene.refused(members=VMS) == ("draining", words)


def test_a_name_that_two_have_says_of_neither_where_it_is(scene, etcd):
    # It is on vm_1, which the event hits, too, and calls itself as the one that stays.
    scene.event, scene.given["members"] = ABOUT, {"pg2": "db2", "pg3": "db3"}
    listed = {"members": [{"ID": f"9{one}", "name": "etcd3" if one == "etcd2" else one} for one in etcd.names]}
    etcd.lies = {(one, LISTS["etcd"]): listed for one in etcd.names}
    assert scene.refused(members=VMS)[1].startswith("1-patroni: 2 of 3 members of etcd are needed, 0 would be left")


def test_nobody_is_held_by_one_that_takes_its_name(scene, etcd):
    listed = {"members": [{"ID": f"9{one}", "name": "etcd1" if one == "etcd2" else one} for one in etcd.names]}
    etcd.lies = {(one, LISTS["etcd"]): listed for one in etcd.names}
    assert drain(scene)[:2] == ("drained", None)


# --- Without the option ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("url,here", [("tcp://127.0.0.1:8500", "Consul (port 8500)"), ("tcp://10.0.0.4:2379", "etcd (port 2379)")])
def test_what_listens_on_the_vm_is_told_and_refuses_nothing(scene, url, here):
    scene.patroni.listening, scene.patroni.own_host = {url}, "10.0.0.4"
    outcome = scene.drain()
    assert (outcome.state, outcome.warning) == (
        "drained",
        f"{here} listens on this VM: if it is Patroni's store, set option store, so that its majority is asked for",
    )
    finding = scene.vm.entry("1-patroni")["before"]
    assert finding["store_here"] == here and PatroniMethod().shown(finding).endswith(f"; {here} listens on its VM (option store)")


def test_with_the_option_no_port_is_tried(scene, etcd):
    assert drain(scene).warning is None and scene.patroni.tried == []
