# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Method patroni, over a Patroni that gives the answers that version 3.0.2 gave (status and body), and a folder in memory."""

from __future__ import annotations

import base64
import json

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.methods.method import Event, Task, reason_of
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.methods.patroni.cluster import Member
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.methods.patroni.patroni import FILE, PAUSED, PatroniMethod
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.registry import defaults
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine.commands import CommandResult
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine.daemons import DaemonError, Reply
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.drain.scene import ABOUT, Killed, Vm, step
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.helpers import EVENT

NOW, DEADLINE = "2026-11-21T20:00:00Z", "2026-11-21T20:55:00Z"
NOW_SECONDS = 1795291200
FOLDER = "/etc/patroni/orders.d"
PATH = f"{FOLDER}/{FILE}"
OTHER = "602D9444-D2CD-49C7-8624-8643E7171297"
ALONE = {**ABOUT, "resources": ["vm_0"]}
NO_LEADER = "Switchover could be performed only from a specific leader"


class Files:
    """The folder of configuration files."""

    def __init__(self):
        self.present, self.folders = {}, {FOLDER}

    def exists(self, path):
        return path in self.present or path[:-2] in self.folders

    def describe(self, path):
        content = self.present.get(path)
        return {"kind": "absent" if content is None else "file", "content": base64.b64encode((content or "").encode()).decode()}

    def restore(self, path, found):
        assert (found["kind"], found["mode"], found["owner"], found["group"]) == ("file", "644", "0", "0")
        self.present[path] = base64.b64decode(found["content"]).decode()

    def remove(self, path):
        self.present.pop(path, None)


class Patroni:
    """The member pg1, and the cluster as it knows it. C(asked) has what would change something."""

    def __init__(self, files):
        self.files, self.asked, self.answers, self.away, self.daemons = files, [], {}, "", []
        self.roles = {"pg1": "leader", "pg2": "sync_standby", "pg3": "replica"}
        self.states = dict.fromkeys(self.roles, "running")
        self.tags = {name: {"clonefrom": True} for name in self.roles}
        self.lags = {"pg2": 0, "pg3": 0}
        self.config = {"ttl": 30, "loop_wait": 10, "synchronous_mode": True}
        self.more, self.status = {}, {"patroni": {"version": "4.0.5", "scope": "orders", "name": "pg1"}}
        self.reloads = True
        """Whether it takes its tags at once, and the leader another standby."""
        self.store, self.listening, self.tried, self.own_host = None, set(), [], ""
        """What answers at the addresses of a store, and what listens besides."""

    def exchange(self, daemon, data, is_complete):
        if self.store and daemon.url in self.store.urls:
            return self.store.exchange(daemon, data)
        self.tried.append(daemon.url)
        if daemon.url not in self.listening:
            raise DaemonError(f"{daemon.url}: Connection refused")
        assert (data, is_complete(b""), daemon.seconds) == (b"", True, 1.0)
        return b""

    def request(self, daemon, method, path, body=None, headers=None):
        if self.store and daemon.url in self.store.urls:
            return self.store.request(daemon, method, path, body)
        self.daemons.append(daemon)
        if self.away:
            raise DaemonError(self.away)
        data = json.loads(body) if body else None
        probe = (method, path, data) == ("POST", "/switchover", {"candidate": "-"})
        if method != "GET" and not probe:
            self.asked.append((method, path, data))
        answer = self.answers.get("probe" if probe else (method, path))
        if isinstance(answer, BaseException):
            raise answer
        if answer is not None:
            return Reply(answer[0], {}, answer[1].encode())
        return Reply(*self.answer(method, path, data))

    def answer(self, method, path, data):
        if method == "GET":
            return 200, {}, json.dumps({"/cluster": self.cluster, "/patroni": self.own, "/config": lambda: self.config}[path]()).encode()
        if path == "/switchover":
            return self.switchover(data)
        if (method, path) == ("POST", "/reload"):
            self.reload()
            return 202, {}, b"reload scheduled"
        assert (method, path, data) == ("PATCH", "/config", {"maintenance_azure": None})
        return 200, {}, json.dumps(self.config).encode()

    def cluster(self):
        members = []
        for name, role in self.roles.items():
            one = {"name": name, "role": role, "state": self.states[name], "api_url": f"http://{name}:8008/patroni", "timeline": 1}
            one["tags"] = self.tags[name]
            if name == "pg1" and self.own_host:
                one["host"] = self.own_host
            members.append({**one, "lag": self.lags[name]} if name in self.lags else one)
        return {"members": members, **self.more}

    def own(self):
        return {"state": "running", "role": "master" if self.roles["pg1"] == "leader" else "replica", "dcs_last_seen": NOW_SECONDS - 5, **self.status}

    def switchover(self, data):
        if "leader" not in data:
            return 400, {}, NO_LEADER.encode()
        # Without one it takes any that may lead.
        to = data.get("candidate") or next(name for name, tags in self.tags.items() if not tags.get("nofailover"))
        self.move(to)
        return 200, {}, f'Successfully switched over to "{to}"'.encode()

    def move(self, to):
        self.roles = {name: "leader" if name == to else "replica" for name in self.roles}
        self.states["pg1"], self.lags = "stopping", {"pg1": "unknown", "pg2": 0, "pg3": 0}

    def reload(self):
        if self.reloads:
            self.take_tags()

    def take_tags(self):
        content = self.files.present.get(PATH)
        self.tags["pg1"] = {"clonefrom": True}
        if content is not None:
            self.tags["pg1"].update(nofailover=True, nosync=True, maintenance_azure=content.split('"')[1])
            if self.roles["pg1"] == "sync_standby":
                self.roles.update(pg1="replica", pg3="sync_standby")

    def secret(self, path):
        raise AssertionError("the daemon's own files are read by the access to it")


class Scene:
    """The VM of pg1, one method and one cluster."""

    def __init__(self, tmp_path):
        self.vm, self.files = Vm(tmp_path), Files()
        self.patroni = Patroni(self.files)
        self.vm.machine = self.vm.machine._replace(now=lambda: NOW, flag_files=self.files, commands=self, daemons=lambda *_named: self.patroni)
        self.given, self.event = {"config_folder": FOLDER}, ALONE
        self.host_name = "pg1.example.com"

    def run(self, line, environment, seconds):
        assert line == ["uname", "-n"]
        return CommandResult(0, self.host_name + "\n", "")

    def drain(self, **keys):
        return self.vm.drain(step("patroni", given=self.given), event=self.event, deadline=DEADLINE, **keys)

    def undo(self):
        return self.vm.undo(step("patroni", given=self.given), event=self.event)

    def refused(self, **keys):
        """A drain that must not change anything; why."""
        outcome = self.drain(**keys)
        assert (self.patroni.asked, self.files.present) == ([], {}), outcome
        return outcome.state, outcome.error

    def standby(self):
        """Let this VM's member be the synchronous standby."""
        self.patroni.roles = {"pg1": "sync_standby", "pg2": "leader", "pg3": "replica"}
        self.patroni.lags = {"pg1": 0, "pg3": 0}

    def back(self):
        """Let this VM's member run and follow again."""
        self.patroni.states["pg1"], self.patroni.lags["pg1"] = "running", 0


@pytest.fixture
def scene(tmp_path):
    return Scene(tmp_path)


OUT = [("POST", "/reload", None), ("PATCH", "/config", {"maintenance_azure": None})]
SWITCH = ("POST", "/switchover", {"leader": "pg1", "candidate": "pg2"})


# --- A leader -------------------------------------------------------------------------------------------------------------


def test_a_leader_takes_itself_out_and_hands_over_and_is_back_when_it_follows(scene):
    assert scene.drain()[:2] == ("drained", None)
    assert scene.patroni.asked == [*OUT, SWITCH]
    assert scene.files.present[PATH].startswith(f"# maintenance.azure {EVENT}\n# The VM")
    assert scene.files.present[PATH].endswith(f'\ntags:\n  nofailover: true\n  nosync: true\n  maintenance_azure: "{EVENT}"\n')
    assert scene.vm.entry("1-patroni")["before"] == {"member": "pg1", "role": "leader", "state": "running", "out": False, "to": "pg2", "alone": False}
    scene.patroni.asked.clear()
    # Seen again, nothing is asked again.
    assert scene.drain(verify=True).state == "drained" and scene.patroni.asked == []
    scene.patroni.reloads = False
    assert scene.undo()[:2] == ("undoing", "pg1 still has the tags of the drain") and scene.files.present == {}
    scene.patroni.reloads = True
    assert scene.undo().state == "undoing"
    assert scene.undo()[:2] == ("undoing", "pg1 is stopping")
    scene.patroni.states["pg1"] = "running"
    assert scene.undo()[:2] == ("undoing", "pg1 lags by an unknown number of bytes behind")
    scene.patroni.lags["pg1"] = 1024 * 1024 + 1
    assert scene.undo()[:2] == ("undoing", "pg1 lags 1048577 bytes behind")
    scene.patroni.lags["pg1"] = 1024 * 1024
    assert scene.undo()[:2] == ("undone", None)
    assert scene.patroni.asked == [*OUT, *OUT] and scene.patroni.tags["pg1"] == {"clonefrom": True}


def test_the_switchover_waits_for_the_tags(scene):
    scene.patroni.reloads = False
    for _number in range(2):
        outcome = scene.drain()
        assert outcome.state == "draining" and f"Patroni has not taken the tags of {PATH} yet" in outcome.error
    assert scene.patroni.asked == OUT
    scene.patroni.take_tags()
    assert scene.drain().state == "drained" and scene.patroni.asked == [*OUT, SWITCH]


def test_a_leader_that_is_still_stopping_is_not_asked_twice(scene):
    scene.patroni.answers["POST", "/switchover"] = DaemonError("POST http://127.0.0.1:8008/switchover: timed out")
    assert scene.drain()[:2] == ("draining", "POST http://127.0.0.1:8008/switchover: timed out")
    scene.patroni.states["pg1"] = "stopping"
    assert scene.drain()[:2] == ("draining", "pg1 leads and is stopping")
    assert scene.patroni.asked == [*OUT, SWITCH]
    scene.patroni.roles = {"pg1": "replica", "pg2": "replica", "pg3": "replica"}
    assert scene.drain()[:2] == ("draining", "the cluster has no leader")
    scene.patroni.move("pg2")
    assert scene.drain().state == "drained" and scene.patroni.asked == [*OUT, SWITCH]


@pytest.mark.parametrize(
    "status,words",
    [
        (503, "Switchover status unknown"),
        (412, "leader name does not match"),
        (412, "candidate name does not match with sync_standby"),
        # The store is away.
        (503, "failed to write switchover key into DCS"),
    ],
)
def test_after_an_answer_that_says_little_the_cluster_is_looked_at(scene, status, words):
    scene.patroni.answers["POST", "/switchover"] = (status, words)
    assert scene.drain()[:2] == ("draining", f"{status} {words}")
    # It has happened all the same.
    scene.patroni.move("pg2")
    assert scene.drain().state == "drained" and scene.patroni.asked == [*OUT, SWITCH]


@pytest.mark.parametrize(
    "status,words",
    [
        (412, "switchover is not possible: no good candidates have been found"),
        (412, "switchover is not possible: can not find sync_standby"),
        (412, "candidate does not exists"),
        (400, "Switchover is possible only to a specific candidate in a paused state"),
        (422, "Cannot schedule switchover in the past"),
        (503, "Switchover failed"),
        (400, "<!DOCTYPE HTML>\n<html>"),
    ],
)
def test_what_patroni_refuses_is_the_failure_and_the_tags_go_again(scene, status, words):
    scene.patroni.answers["POST", "/switchover"] = (status, words)
    outcome = scene.drain()
    assert outcome[:2] == ("failed", f"1-patroni: Patroni refuses the switchover to pg2: {status} {' '.join(words.split())}")
    assert scene.undo().state == "undoing" and scene.undo().state == "undone"
    assert scene.files.present == {} and scene.patroni.tags["pg1"] == {"clonefrom": True}


def test_a_long_answer_with_controls_is_shown_short_and_printable(scene):
    scene.patroni.answers["POST", "/switchover"] = (500, "\x1b[2J" + "x" * 5000)
    error = scene.drain().error
    assert len(error) < 300 and error.isprintable() and "\\x1b" in error


def test_the_leader_comes_back_to_it_and_it_hands_over_again(scene):
    scene.drain()
    scene.patroni.roles, scene.patroni.lags = {"pg1": "leader", "pg2": "replica", "pg3": "sync_standby"}, {"pg2": 0, "pg3": 0}
    scene.back()
    assert scene.drain(verify=True).state == "drained"
    assert scene.patroni.asked[-1] == ("POST", "/switchover", {"leader": "pg1", "candidate": "pg3"})


def test_a_leader_only_leaves_no_file_and_says_what_it_leaves_as_it_is(scene):
    scene.given = {"leader_only": True}
    assert scene.drain().state == "drained" and scene.vm.entry("1-patroni")["before"]["leader_only"] is True
    assert scene.patroni.asked == [SWITCH] and scene.files.present == {}
    scene.back()
    assert scene.undo().state == "undone" and scene.patroni.asked == [SWITCH]


# --- Who takes over -------------------------------------------------------------------------------------------------------


def test_each_member_is_refused_by_its_own_reason(scene):
    scene.event = ABOUT
    scene.given.update(members={"pg2": "db2", "pg3": "db3"})
    state, error = scene.refused(members={"db2": "vm_1"})
    assert (state, error) == (
        "failed",
        "1-patroni: no member may take over from pg1: pg2: its VM vm_1 is hit by the same event; pg3: the name of db3 in Azure is not known",
    )


def test_of_an_event_of_several_vms_a_member_that_is_not_listed_is_none(scene):
    scene.event = ABOUT
    error = scene.refused()[1]
    assert error.count("the option members does not say which host it is, and the event names other VMs, too") == 2


@pytest.mark.parametrize(
    "tags,words",
    [
        ({"nofailover": True}, "has the tag nofailover"),
        ({"failover_priority": 0}, "has the tag nofailover"),
        ({"nofailover": True, "maintenance_azure": OTHER}, f"drained for event {OTHER}"),
    ],
)
def test_who_may_not_lead_is_no_candidate(scene, tags, words):
    scene.patroni.tags.update(pg2=tags, pg3={"nofailover": True})
    assert scene.refused() == ("failed", f"1-patroni: no member may take over from pg1: pg2: {words}; pg3: has the tag nofailover")


def test_a_cluster_of_one_member_has_nobody(scene):
    scene.patroni.roles = {"pg1": "leader"}
    assert scene.refused()[1].endswith("no member may take over from pg1: it has no other member")


def test_the_leader_waits_until_the_standby_of_the_same_event_is_another_one(scene):
    scene.event = ABOUT
    scene.given.update(members={"pg2": "db2", "pg3": "db3"})
    members = {"db2": "vm_1", "db3": "vm_3"}
    state, error = scene.refused(members=members)
    assert (state, error) == (
        "draining",
        "1-patroni: not yet: no member may take over from pg1: pg2: its VM vm_1 is hit by the same event; pg3: no synchronous standby yet",
    )
    scene.patroni.roles.update(pg2="replica", pg3="sync_standby")
    scene.patroni.tags["pg2"] = {"nosync": True, "nofailover": True}
    outcome = scene.drain(members=members)
    assert (outcome.state, scene.patroni.asked[-1][2]["candidate"]) == ("drained", "pg3")
    assert outcome.warning == "Without pg1 no standby is synchronous: commits are on the leader alone until it is back"


@pytest.mark.parametrize("change,words", [
    ({"states": {"pg2": "starting"}}, "pg2: its state is starting"),
    ({"roles": {"pg2": "replica"}}, "pg2: no synchronous standby yet"),
])  # fmt: skip
def test_what_may_pass_is_waited_for(scene, change, words):
    for name, values in change.items():
        getattr(scene.patroni, name).update(values)
    state, error = scene.refused()
    assert state == "draining" and words in error


@pytest.mark.parametrize("lag,words", [(2 * 1024 * 1024, "lags 2097152 bytes behind"), ("unknown", "its lag is not known"), (True, "its lag is not known")])
def test_without_synchronous_mode_the_lag_decides(scene, lag, words):
    scene.patroni.config["synchronous_mode"] = False
    scene.patroni.roles["pg2"] = "replica"
    scene.patroni.lags.update(pg2=lag, pg3=lag)
    state, error = scene.refused()
    assert state == "draining" and error.count(words) == 2
    scene.patroni.lags["pg3"] = 7
    assert scene.drain().state == "drained" and scene.patroni.asked[-1][2]["candidate"] == "pg3"


@pytest.mark.parametrize("candidates,lags,taken", [([], (9, 3), "pg3"), (["pg2"], (9, 3), "pg2"), (["pg3", "pg2"], (0, 9), "pg3")])
def test_candidates_and_then_the_lag_say_who_is_first(scene, candidates, lags, taken):
    scene.patroni.config["synchronous_mode"] = "off"
    scene.patroni.roles["pg2"] = "replica"
    scene.patroni.lags.update(zip(("pg2", "pg3"), lags))
    scene.given["candidates"] = candidates
    scene.drain()
    assert scene.patroni.asked[-1][2]["candidate"] == taken


def test_a_member_that_is_not_among_the_candidates_is_refused(scene):
    scene.given["candidates"] = ["pg9"]
    assert scene.refused()[1].endswith("pg2: not one of candidates; pg3: not one of candidates")


def test_with_a_quorum_commit_patroni_chooses(scene):
    scene.patroni.config["synchronous_mode"] = "quorum"
    scene.patroni.roles.update(pg2="quorum_standby", pg3="quorum_standby")
    assert scene.drain().state == "drained"
    assert scene.patroni.asked[-1] == ("POST", "/switchover", {"leader": "pg1"})


def test_with_a_quorum_commit_who_must_not_lead_has_to_say_so_first(scene):
    scene.event = ABOUT
    scene.given.update(members={"pg2": "db2", "pg3": "db3"})
    scene.patroni.config["synchronous_mode"] = "quorum"
    scene.patroni.roles.update(pg2="quorum_standby", pg3="quorum_standby")
    members = {"db2": "vm_1", "db3": "vm_3"}
    state, error = scene.refused(members=members)
    assert state == "draining" and "Patroni chooses who takes over, and may take one that must not: pg2: its VM vm_1 is hit by the same event" in error
    scene.patroni.tags["pg2"] = {"nofailover": True, "nosync": True}
    assert scene.drain(members=members).state == "drained" and scene.patroni.roles["pg3"] == "leader"


# --- A standby ------------------------------------------------------------------------------------------------------------


def test_a_synchronous_standby_is_drained_when_another_one_is(scene):
    scene.standby()
    scene.patroni.reloads = False
    assert "has not taken the tags" in scene.drain().error
    scene.patroni.take_tags()
    scene.patroni.roles.update(pg1="sync_standby", pg3="replica")
    assert scene.drain()[:2] == ("draining", "pg1 is the synchronous standby until Patroni has taken another one")
    scene.patroni.roles.update(pg1="replica", pg3="sync_standby")
    assert scene.drain()[:2] == ("drained", None) and scene.patroni.asked == OUT
    scene.patroni.reloads = True
    assert [scene.undo().state, scene.undo().state] == ["undoing", "undone"] and scene.patroni.asked == [*OUT, *OUT]


def test_with_no_other_standby_it_goes_on_and_says_so(scene):
    scene.standby()
    scene.patroni.states["pg3"] = "start failed"
    outcome = scene.drain()
    assert (outcome.state, outcome.warning) == ("drained", "Without pg1 no standby is synchronous: commits are on the leader alone until it is back")


@pytest.mark.parametrize("leads", [True, False])
def test_in_strict_mode_the_last_synchronous_standby_stays(scene, leads):
    if not leads:
        scene.standby()
    scene.patroni.config["synchronous_mode_strict"] = True
    scene.patroni.tags["pg3"] = {"nosync": True}
    words = "1-patroni: with pg1 out no member could be the synchronous standby, and synchronous_mode_strict would stop all writes"
    assert scene.refused() == ("failed", f"{words}: pg3: has the tag nosync or nostream")


def test_in_strict_mode_an_asynchronous_replica_may_go(scene):
    scene.patroni.config["synchronous_mode_strict"] = True
    scene.patroni.roles = {"pg1": "replica", "pg2": "leader", "pg3": "sync_standby"}
    scene.patroni.lags = {"pg1": 0, "pg3": 0}
    scene.patroni.tags["pg3"] = {"nosync": True}
    assert scene.drain()[:2] == ("drained", None) and scene.patroni.asked == OUT


NO_CANDIDATE = [
    ({"replicatefrom": "pg1"}, "running", "failed", "streams from pg1 (replicatefrom)"),
    ({"nostream": True}, "running", "failed", "has the tag nosync or nostream"),
    ({"sync_priority": "0"}, "running", "failed", "has the tag nosync or nostream"),
    # Python before 3.8.14 takes a second for each hundred thousand digits.
    ({"sync_priority": "-" + "9" * 100_000}, "running", "failed", "has the tag nosync or nostream"),
    ({}, "in archive recovery", "draining", "its state is in archive recovery"),
    ({}, "start failed", "draining", "its state is start failed"),
    ({"nosync": True, "maintenance_azure": OTHER}, "running", "draining", f"drained for event {OTHER}"),
]


@pytest.mark.parametrize("tags,state,answer,why", NO_CANDIDATE)
def test_who_cannot_be_synchronous_in_time_counts_for_nothing(scene, tags, state, answer, why):
    scene.standby()
    scene.patroni.tags["pg3"], scene.patroni.states["pg3"] = tags, state
    scene.patroni.config["synchronous_mode_strict"] = True
    found = scene.refused()
    assert found[0] == answer and found[1].endswith(f"synchronous_mode_strict would stop all writes: pg3: {why}")
    # Not strict it goes, and people are told, in the finding and beside the answer.
    scene.patroni.config["synchronous_mode_strict"] = False
    outcome = scene.drain()
    assert (outcome.state, outcome.warning) == ("drained", "Without pg1 no standby is synchronous: commits are on the leader alone until it is back")
    finding = scene.vm.entry("1-patroni")["before"]
    assert PatroniMethod().shown(finding) == "member pg1, which is sync_standby, without which commits are on the leader alone"


def test_a_member_whose_name_looks_like_that_of_another_stands_for_itself(scene):
    scene.standby()
    scene.patroni.config["synchronous_mode_strict"] = True
    scene.patroni.roles["pg3 "], scene.patroni.lags["pg3 "], scene.patroni.tags["pg3 "] = "replica", 0, {"nosync": True}
    scene.patroni.states["pg3 "] = "streaming"
    assert scene.drain()[:2] == ("drained", None) and scene.vm.entry("1-patroni")["before"]["alone"] is False


def test_who_streams_from_the_leader_that_comes_may_be_synchronous(scene):
    scene.patroni.config["synchronous_mode_strict"] = True
    scene.patroni.tags["pg3"] = {"replicatefrom": "pg2"}
    assert scene.drain()[:2] == ("draining", NONE_YET) and scene.vm.entry("1-patroni")["before"]["to"] == "pg2"
    # One whose upstream is in the cluster no more follows the leader.
    scene.patroni.tags["pg3"] = {"replicatefrom": "pg9"}
    scene.patroni.roles["pg3"] = "sync_standby"
    assert scene.drain()[:2] == ("drained", None)


NONE_YET = "no member is the synchronous standby yet, and with synchronous_mode_strict nothing is written without one"


def test_in_strict_mode_it_is_drained_when_another_one_is_synchronous(scene):
    scene.patroni.config["synchronous_mode_strict"] = True
    assert scene.drain()[:2] == ("draining", NONE_YET) and scene.patroni.asked == [*OUT, SWITCH]
    scene.patroni.roles["pg3"] = "sync_standby"
    assert scene.drain()[:2] == ("drained", None)
    # It is down by the approval.
    scene.patroni.states["pg3"] = "stopped"
    assert scene.drain(verify=True)[:2] == ("draining", NONE_YET) and scene.patroni.asked == [*OUT, SWITCH]


def test_in_strict_mode_one_that_is_called_a_replica_may_be_the_synchronous_one(scene):
    scene.patroni.config["synchronous_mode_strict"] = True
    scene.patroni.roles, scene.patroni.lags = {"pg1": "replica", "pg2": "leader", "pg3": "replica"}, {"pg1": 0, "pg3": 0}
    scene.patroni.tags["pg3"] = {"replicatefrom": "pg1"}
    assert scene.refused()[0] == "failed"
    # Not where a person has taken it out: nothing waits for that one.
    scene.patroni.tags["pg1"] = {"nofailover": True, "nosync": True}
    assert scene.drain()[:2] == ("drained", None)


@pytest.mark.parametrize("tags,leads", [
    ({"nofailover": False, "failover_priority": 0}, True), ({"failover_priority": "0"}, False), ({"failover_priority": -3}, False),
    ({"failover_priority": "1"}, True), ({"failover_priority": "x"}, True), ({"failover_priority": None}, True), ({"nofailover": "false"}, False),
])  # fmt: skip
def test_priorities_are_read_as_patroni_reads_them(tags, leads):
    of_sync = {name.replace("nofailover", "nosync").replace("failover", "sync"): value for name, value in tags.items()}
    one = Member("pg2", "replica", "running", 0, {**tags, **of_sync})
    assert (one.may_lead, one.may_be_synchronous, one.is_out) == (leads, leads, not leads)


def test_a_standby_cluster_hands_over_whatever_mode_is_set(scene):
    scene.patroni.config.update(standby_cluster={"host": "10.9.0.1"}, synchronous_mode_strict=True)
    scene.patroni.roles, scene.patroni.status["role"] = {"pg1": "standby_leader", "pg2": "replica", "pg3": "replica"}, "standby_leader"
    assert scene.drain()[:2] == ("drained", None) and scene.patroni.asked == [*OUT, SWITCH]
    assert scene.vm.entry("1-patroni")["before"]["alone"] is False


def test_leader_only_leaves_a_standby_and_says_what_that_means(scene):
    scene.standby()
    scene.given = {"leader_only": "yes"}
    state, error, _record, warning, _handover = scene.drain()
    assert (state, error) == ("drained", None) and scene.patroni.asked == []
    assert warning == "pg1 is the synchronous standby and stays it (leader_only): while its VM stands still, nothing is written"


def test_what_a_person_has_taken_out_stays_out(scene):
    scene.standby()
    scene.patroni.roles.update(pg1="replica", pg3="sync_standby")
    scene.patroni.tags["pg1"] = {"nofailover": True, "nosync": True}
    for _number in range(2):
        assert scene.drain(verify=True).state == "drained"
        assert scene.vm.entry("1-patroni")["before"]["out"] is True
        assert scene.undo().state == "undone"
    assert (scene.patroni.asked, scene.files.present) == ([], {}) and scene.patroni.tags["pg1"] == {"nofailover": True, "nosync": True}


def test_of_a_person_who_has_set_one_tag_the_other_is_added_and_goes(scene):
    scene.patroni.roles = {"pg1": "replica", "pg2": "leader", "pg3": "sync_standby"}
    scene.patroni.lags = {"pg1": 0, "pg3": 0}
    scene.patroni.tags["pg1"] = {"nofailover": True}
    assert scene.drain().state == "drained" and PATH in scene.files.present
    assert scene.undo().state == "undoing" and scene.files.present == {}


def test_tags_that_are_gone_are_set_again(scene):
    scene.standby()
    scene.drain()
    scene.files.present.clear()
    scene.patroni.take_tags()
    scene.patroni.roles.update(pg1="replica", pg3="sync_standby")
    assert scene.drain(verify=True).state == "drained" and scene.patroni.asked == [*OUT, *OUT]


# --- The file -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("given,words", [
    ({}, "set config_folder, the folder that Patroni is started with in place of one file, or leader_only: true, which drains no standby"),
    ({"config_folder": "/etc/patroni/config.yml"}, "config_folder /etc/patroni/config.yml is no folder on this VM. Where Patroni runs from one file: set"),
])  # fmt: skip
def test_without_a_folder_it_is_refused_with_the_way_to_have_one(scene, given, words):
    scene.given = given
    state, error = scene.refused()
    assert state == "failed" and words in error


@pytest.mark.parametrize("content", ["tags: {nosync: false}\n", "", f"# maintenance.azure {EVENT}\ntags: {{}}\n"])
def test_a_file_of_that_name_that_is_not_ours_is_left(scene, content):
    scene.files.present[PATH] = content
    outcome = scene.drain()
    assert outcome[:2] == ("failed", f"1-patroni: {PATH} is not from this collection, or was changed by somebody: move it away")
    assert scene.files.present == {PATH: content} and scene.patroni.asked == []


def test_a_file_that_somebody_has_added_to_is_theirs(scene):
    scene.drain()
    scene.back()
    scene.files.present[PATH] += "  noloadbalance: true\n"
    left = f"{PATH} was changed by somebody, and is left: it keeps this member out until it is removed"
    assert scene.undo()[:2] == ("undone", left) and scene.files.present[PATH].endswith("noloadbalance: true\n")


def test_the_file_of_another_event_is_left_to_that_event(scene):
    scene.standby()
    PatroniMethod().begin(scene.vm.machine, task_of(scene, OTHER))
    theirs, scene.patroni.asked[:] = dict(scene.files.present), []
    assert scene.drain().state == "drained" and scene.undo().state == "undone"
    assert (scene.files.present, scene.patroni.asked) == (theirs, []) and reason_of(OTHER) in theirs[PATH]


def task_of(scene, event_id):
    return Task({**defaults("patroni"), **scene.given}, {}, "found", NOW, {}, present={"out": False}, event=Event(event_id))


# --- Killed ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", [("POST", "/reload"), ("PATCH", "/config"), ("POST", "/switchover")])
@pytest.mark.parametrize("after", [False, True])
def test_killed_between_two_steps_and_run_again_it_ends_the_same(scene, where, after):
    answer, request = Patroni.answer, scene.patroni.request

    def cut(daemon, method, path, body=None, headers=None):
        if (method, path) == where and b"leader" in (body or b"leader"):
            if after:
                answer(scene.patroni, method, path, json.loads(body) if body else None)
            raise Killed
        return request(daemon, method, path, body, headers)

    def cut_once(run):
        scene.patroni.request = cut
        with pytest.raises(Killed):
            run()
        scene.patroni.request = request

    if where != ("PATCH", "/config"):
        cut_once(scene.drain)
    assert scene.drain().state == "drained" and scene.patroni.roles["pg2"] == "leader"
    scene.back()
    if where == ("POST", "/reload"):
        cut_once(scene.undo)
        assert scene.files.present == {}
    states = [scene.undo().state for _number in range(3)]
    assert states[-1] == "undone" and scene.patroni.tags["pg1"] == {"clonefrom": True} and scene.patroni.roles["pg2"] == "leader"


# --- Refusals before anything is changed ----------------------------------------------------------------------------------


@pytest.mark.parametrize("leads", [True, False])
def test_a_paused_cluster_is_left_alone(scene, leads):
    if not leads:
        scene.standby()
    scene.patroni.more = {"pause": True}
    assert scene.refused() == ("failed", f"1-patroni: {PAUSED}")


def test_a_cluster_that_is_paused_meanwhile_is_left_alone(scene):
    scene.patroni.reloads = False
    scene.drain()
    scene.patroni.take_tags()
    scene.patroni.more = {"pause": True}
    assert scene.drain()[:2] == ("failed", f"1-patroni: {PAUSED}") and SWITCH not in scene.patroni.asked


def test_the_switchover_that_a_person_has_scheduled_is_not_overwritten(scene):
    scene.patroni.more = {"scheduled_switchover": {"at": "2026-11-22T02:00:00+00:00", "from": "pg1"}}
    state, error = scene.refused()
    assert state == "draining" and error.endswith("a switchover is scheduled for 2026-11-22T02:00:00+00:00; patronictl flush removes it")


@pytest.mark.parametrize("seen,refused", [(NOW_SECONDS - 61, True), (NOW_SECONDS - 60, False), (None, False), ("soon", False), (2**70, False)])
def test_a_store_without_quorum_is_told(scene, seen, refused):
    scene.patroni.status["dcs_last_seen"] = seen
    if refused:
        assert "Patroni has not reached its store (DCS: etcd, Consul, ZooKeeper, Kubernetes) for 61 s" in scene.refused()[1]
    else:
        assert scene.drain().state == "drained"


@pytest.mark.parametrize(
    "status,words", [(401, "no auth header received"), (401, "not authenticated"), (403, "client certificate required"), (403, "Access is denied")]
)
def test_who_may_change_nothing_learns_it_before_anything_is_changed(scene, status, words):
    scene.patroni.answers["probe"] = (status, words)
    error = scene.refused()[1]
    assert f"Patroni lets us change nothing: {status} {words}; set username and password_file" in error


def test_a_patroni_that_answers_otherwise_is_told(scene):
    scene.patroni.answers["probe"] = (500, "oops")
    assert scene.refused()[1].endswith("Patroni cannot be asked for a switchover: 500 oops")


@pytest.mark.parametrize("path", ["/cluster", "/config", "/patroni"])
@pytest.mark.parametrize("answer,words", [((503, "no"), ": 503 no"), ((200, "<html>"), ": the answer is no JSON")])
def test_an_answer_of_something_else_is_refused(scene, path, answer, words):
    scene.patroni.answers["GET", path] = answer
    assert scene.refused() == ("failed", f"1-patroni: GET {path} of Patroni{words}")


@pytest.mark.parametrize("answer", ["[]", "{}", '{"members": {}}', '{"members": [1]}', '{"members": [{"name": 1}]}'])
def test_what_is_no_cluster_is_refused(scene, answer):
    scene.patroni.answers["GET", "/cluster"] = (200, answer)
    assert "GET /cluster describes no cluster" in scene.refused()[1]


def test_patroni_that_is_away_is_the_failure_with_its_address(scene):
    scene.patroni.away = "GET http://127.0.0.1:8008/patroni: Connection refused"
    assert scene.refused() == ("failed", f"1-patroni: {scene.patroni.away}")


def test_a_drain_that_patroni_is_not_up_for_after_a_boot_goes_on(scene):
    scene.drain()
    scene.vm.boot, scene.patroni.away = "boot-2", "GET http://127.0.0.1:8008/cluster: Connection refused"
    assert scene.drain(verify=True)[:2] == ("draining", scene.patroni.away)
    scene.patroni.away = ""
    roles, scene.patroni.roles = scene.patroni.roles, {"pg2": "leader", "pg3": "replica"}
    assert scene.drain(verify=True)[0] == "draining"
    scene.patroni.roles, asked = roles, list(scene.patroni.asked)
    assert scene.drain(verify=True)[:2] == ("drained", None) and scene.patroni.asked == asked


def test_while_patroni_starts_the_undo_goes_on(scene):
    scene.drain()
    scene.patroni.away = "GET http://127.0.0.1:8008/cluster: Connection refused"
    assert scene.undo()[:2] == ("undoing", scene.patroni.away) and scene.files.present == {}
    scene.patroni.away = ""
    scene.patroni.take_tags()
    del scene.patroni.roles["pg1"]
    assert scene.undo().state == "undoing"
    scene.patroni.roles["pg1"] = "replica"
    scene.back()
    assert scene.undo().state == "undone"


def test_a_reload_that_is_refused_is_the_failure(scene):
    scene.patroni.answers["POST", "/reload"] = (500, "no")
    assert scene.drain()[:2] == ("failed", "1-patroni: Patroni does not read its configuration again: 500 no")


def test_that_it_cannot_be_woken_costs_time_only(scene):
    scene.patroni.answers["PATCH", "/config"] = DaemonError("timed out")
    assert scene.drain().state == "drained"


# --- Which member it is ---------------------------------------------------------------------------------------------------


def test_the_member_is_named_by_the_settings_by_patroni_or_by_the_host(scene):
    scene.patroni.status = {"patroni": {"version": "3.0.2", "scope": "orders"}}
    assert scene.drain().state == "drained" and scene.vm.entry("1-patroni")["before"]["member"] == "pg1"


def test_a_member_that_is_not_in_the_cluster_is_named(scene):
    scene.given["member"] = "pg9"
    assert scene.refused()[1].endswith("no member of the cluster is named pg9, only pg1, pg2, pg3; set the option member")


def test_another_member_is_not_drained_in_place_of_this_one(scene):
    scene.given["member"] = "pg2"
    state, error = scene.refused()
    assert state == "draining" and "says that it is master, and pg2 is sync_standby in the cluster: is the option member right?" in error


# --- Access, and what a person does ---------------------------------------------------------------------------------------


def test_each_request_has_the_certificates_and_the_user_of_the_options(scene):
    scene.given.update(url="https://127.0.0.1:8008", ca_file="/ca", certificate_file="/c", key_file="/k", username="u", password_file="/p")
    scene.drain()
    assert {(one.url, one.ca_file, one.certificate_file, one.key_file, one.username, one.password_file) for one in scene.patroni.daemons} == {
        ("https://127.0.0.1:8008", "/ca", "/c", "/k", "u", "/p")
    }


@pytest.mark.parametrize("finding,options,words", [
    ({"member": "pg1"}, {"config_folder": FOLDER}, f"rm -f {PATH} && systemctl reload patroni"),
    ({"member": "pg1"}, {"config_folder": "/etc/$(x)"}, "rm -f FILE && systemctl reload patroni"),
    ({"member": "pg1", "out": True}, {"config_folder": FOLDER}, ""),
    ({"member": "pg1"}, {"config_folder": FOLDER, "leader_only": True}, ""),
    ({"member": "pg1"}, {}, ""),
])  # fmt: skip
def test_how_a_person_undoes_it(finding, options, words):
    assert PatroniMethod().by_hand(finding, options) == words


@pytest.mark.parametrize("finding,words", [
    ({"member": "pg1", "role": "leader", "to": "pg2"}, "member pg1, which is leader and hands over to pg2"),
    ({"member": "pg1", "role": "replica"}, "member pg1, which is replica"),
    ({"member": "pg1", "role": "sync_standby", "leader_only": True}, "member pg1, which is sync_standby (leader only)"),
    ({"member": "pg1", "role": "replica", "out": True}, "member pg1, out of service already"),
])  # fmt: skip
def test_what_it_found_in_words(finding, words):
    assert PatroniMethod().shown(finding) == words


def test_check_mode_says_who_would_lead(scene):
    def would():
        return scene.vm.would(step("patroni", given=scene.given), event=scene.event, deadline=DEADLINE)

    assert would() == ["would switch over from pg1 to pg2 and keep pg1 from leading and from being synchronous"]
    scene.given = {"leader_only": True}
    assert would() == ["would switch over from pg1 to pg2"]
    scene.standby()
    assert would() == ["would leave pg1 as it is"]
    scene.given = {"config_folder": FOLDER}
    assert would() == ["would keep pg1 from leading and from being synchronous"]
    assert (scene.patroni.asked, scene.files.present) == ([], {})
