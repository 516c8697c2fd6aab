# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Method galera, through the engine; systemd is a stand-in. What the client answers was recorded of MariaDB 10.11.19 with Galera 26.4 (tests/state/galera)."""

from __future__ import annotations

import os

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.methods import galera as method
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.methods.method import LONGEST_MESSAGE
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine.commands import CommandResult
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine.flag_files import LocalFlagFiles
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.drain import scene
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.drain.scene import ABOUT, FakeServices, Killed, step

DEADLINE, UNIT = "2026-11-21T20:30:00Z", "mariadb.service"
AWAY = CommandResult(1, "", "ERROR 2002 (HY000): Can't connect to local server through socket '/run/mysqld/mysqld.sock' (2)\n")
NOBODY = CommandResult(1, "", "ERROR 2002 (HY000): Can't connect to local server through socket '/run/mysqld/mysqld.sock' (111)\n")
NOT_ALLOWED = CommandResult(1, "", "ERROR 2002 (HY000): Can't connect to local server through socket '/run/mysqld/mysqld.sock' (13)\n")
DENIED = CommandResult(1, "", "ERROR 1698 (28000): Access denied for user 'root'@'localhost'\n")
NO_FILE = CommandResult(1, "", "Could not open required defaults file: /root/my.cnf\nFatal error in defaults handling. Program aborted\n")
STALE = CommandResult(
    1, "", "--------------\nSTART TRANSACTION\n--------------\n\nERROR 1205 (HY000) at line 1: Lock wait timeout exceeded; try restarting transaction\n"
)
NOT_PREPARED = CommandResult(
    1, "", "--------------\nSTART TRANSACTION\n--------------\n\nERROR 1047 (08S01) at line 1: WSREP has not yet prepared node for application use\n"
)
NO_RIGHT = CommandResult(
    1,
    "",
    "ERROR 1227 (42000) at line 1: Access denied; you need (at least one of) the SUPER privilege(s) for this operation\n",
)
NOT_FOUND = CommandResult(127, "", "mariadb: No such file or directory")


class FakeServer:
    """In place of the client, and of the server behind it while its unit runs."""

    def __init__(self, services):
        self.services = services
        self.size, self.status, self.state, self.on, self.reject = 3, "Primary", "Synced", "ON", "NONE"
        self.names = ["n1", "n2", "n3"]
        self.sync = CommandResult(0, "", "")
        self.answer = None
        self.asked, self.lines = [], []
        self.on_set = lambda: None

    def run(self, line, environment, seconds):
        assert environment == {"LC_ALL": "C"} and seconds == 15
        self.lines.append(list(line))
        statements = line[-1].partition("=")[2]
        self.asked.append(statements)
        if self.answer is not None:
            return self.answer
        if self.services.present[UNIT] != "active":
            return AWAY
        if statements == method.SEEN:
            return CommandResult(0, self.seen(), "")
        if statements == method.MEMBERS:
            return CommandResult(0, "\n".join(self.names) + "\n", "") if self.reject == "NONE" else NOT_PREPARED
        if statements == method.IN_STEP:
            return self.sync if self.reject == "NONE" else NOT_PREPARED
        self.on_set()
        self.reject = statements.rpartition("=")[2]
        return CommandResult(0, "", "")

    def seen(self):
        rows = {
            "wsrep_local_state_comment": self.state,
            "wsrep_cluster_size": self.size,
            "wsrep_cluster_status": self.status,
            "wsrep_node_name": "n1",
            "wsrep_on": self.on,
            "wsrep_reject_queries": self.reject,
        }
        return "".join(f"{key}\t{value}\n" for key, value in rows.items())

    def sets(self):
        return [one for one in self.asked if one.startswith("SET GLOBAL")]


class Services(FakeServices):
    """A server that is started takes queries, whatever it did before."""

    def start(self, names):
        super().start(names)
        self.server.reject = "NONE"


@pytest.fixture
def services():
    return Services(**{UNIT: "active"})


@pytest.fixture
def server(services):
    services.server = FakeServer(services)
    return services.server


@pytest.fixture
def seams(server, services):
    return {"commands": server, "services": services}


def node(**options):
    return step("galera", given=options)


@pytest.fixture(autouse=True)
def an_event_of_this_vm_alone(monkeypatch):
    """Where a test does not say otherwise: in one of several VMs the option members must name every voter."""
    monkeypatch.setattr(scene, "ABOUT", {**ABOUT, "resources": ["vm_0"]})


EVENT_OF_TWO = {**ABOUT, "resources": ["vm_0", "vm_1"]}
MEMBERS = {"n1": "db1", "n2": "db2", "n3": "db3"}
IN_AZURE = {"db1": "vm_0", "db2": "vm_1", "db3": "vm_2"}


def test_it_refuses_queries_then_stops_and_comes_back(vm, server, services):
    assert vm.drain(node()).state == "drained"
    assert vm.entry("1-galera")["before"] == {"node": "n1", "size": 3, "reject": "NONE", "units": {UNIT: "active"}}
    assert server.asked == [method.SEEN, method.IN_STEP, method.SEEN, method.IN_STEP, "SET GLOBAL wsrep_reject_queries=ALL"] and services.calls == [
        ("stop", [UNIT])
    ]
    assert vm.drain(node()).state == "drained" and len(services.calls) == 1
    assert vm.undo(node()).state == "undone"
    assert services.calls == [("stop", [UNIT]), ("start", [UNIT])] and server.asked[-2:] == [method.SEEN, method.IN_STEP]
    assert vm.undo(node()).state == "undone" and len(services.calls) == 2


def test_others_that_are_away_right_before_its_step_are_waited_for(vm, server, services, monkeypatch):
    far, answers = "2099-11-21T20:55:00Z", [CommandResult(0, "", ""), NOT_PREPARED, CommandResult(0, "", "")]
    monkeypatch.setattr(FakeServer, "sync", property(lambda _self: answers.pop(0), lambda _self, _value: None), raising=False)
    outcome = vm.drain(node(), deadline=far)
    assert outcome.state == "draining" and outcome.error.startswith("1-galera: not yet: not in step with the others: ")
    server.status = "non-Primary"
    assert vm.drain(node(), deadline=far)[:2] == ("draining", "1-galera: not yet: n1 is in a non-Primary component: the cluster has no majority here")
    assert server.sets() == [] and services.calls == []
    server.status = "Primary"
    assert vm.drain(node(), deadline=far).state == "drained" and services.calls == [("stop", [UNIT])]


def test_without_reject_queries_it_is_only_stopped(vm, server, services):
    assert vm.drain(node(reject_queries=False)).state == "drained"
    assert server.sets() == [] and services.calls == [("stop", [UNIT])]


def test_without_stop_it_only_refuses_queries(vm, server, services):
    one = node(stop="no")
    assert vm.drain(one).state == "drained" and server.reject == "ALL" and services.calls == []
    server.reject = "NONE"
    assert vm.drain(one).state == "drained" and server.reject == "ALL"
    services.present[UNIT] = "inactive"
    outcome = vm.drain(one)
    assert outcome.state == "drained" and "ERROR 2002" in outcome.warning
    assert vm.undo(one)[0] == "undoing"
    services.present[UNIT] = "active"
    assert vm.undo(one).state == "undone" and server.reject == "NONE" and services.calls == []


def test_with_neither_there_would_be_nothing_to_do(vm, server):
    outcome = vm.drain(node(stop=False, reject_queries=False))
    assert outcome.state == "failed" and "stop and reject_queries are both false" in outcome.error and server.asked == []


def test_one_that_a_person_has_stopped_stays_so_twice(vm, server, services):
    services.present[UNIT] = "inactive"
    for _twice in range(2):
        assert vm.drain(node()).state == "drained" and vm.undo(node()).state == "undone"
    assert services.calls == [] and set(server.asked) == {method.SEEN} and services.present[UNIT] == "inactive"


@pytest.mark.parametrize(("options", "words"), [({}, f"n1 answers, and {UNIT} does not run; set option units"), ({"units": []}, "option units is empty")])
def test_a_server_that_no_unit_of_the_settings_runs_is_not_called_drained(vm, server, services, options, words):
    services.present[UNIT] = "inactive"
    server.answer = CommandResult(0, server.seen(), "")
    outcome = vm.drain(node(**options))
    assert outcome.state == "failed" and words in outcome.error and server.sets() == [] and services.calls == []


def test_queries_that_a_person_refuses_stay_refused_also_after_a_restart(vm, server, services):
    server.reject = "ALL_KILL"
    assert vm.drain(node()).state == "drained" and server.sets() == []
    assert vm.undo(node()).state == "undone" and server.reject == "ALL_KILL" and services.present[UNIT] == "active"
    # In step is seen before it refuses again.
    assert server.asked[-2:] == [method.IN_STEP, "SET GLOBAL wsrep_reject_queries=ALL_KILL"]
    assert vm.drain(node(stop=False)).state == "drained"
    assert vm.undo(node(stop=False)).state == "undone" and server.reject == "ALL_KILL"


@pytest.mark.parametrize(
    "size,minimum,left", [(3, 0, True), (2, 0, False), (1, 0, False), (4, 0, True), (2, 1, True), (3, 3, False), (1, 1, False), (5, "4", True)]
)
def test_enough_nodes_are_left_or_it_is_refused(vm, server, services, size, minimum, left):
    server.size = size
    outcome = vm.drain(node(minimum_nodes=minimum))
    assert outcome.state == ("drained" if left else "failed") and bool(services.calls) is left
    if not left:
        assert f"without n1, {size - 1} of {size} nodes would be left, " in outcome.error and server.sets() == []


def test_two_nodes_are_refused_with_what_would_help(vm, server):
    server.size = 2
    words = "without n1, 1 of 2 nodes would be left, which is no majority; add a node or garbd, or set minimum_nodes"
    assert vm.drain(node()).error == f"1-galera: {words}"
    assert vm.undo(node()).state == "undone" and server.sets() == []


@pytest.mark.parametrize("known,state", [(IN_AZURE, "failed"), ({"db1": "vm_0", "db3": "vm_2"}, "failed"), ({**IN_AZURE, "db2": "vm_9"}, "drained")])
def test_a_node_that_the_event_hits_too_counts_as_gone(vm, server, known, state):
    outcome = vm.drain(node(members=MEMBERS), event=EVENT_OF_TWO, members=known)
    assert outcome.state == state
    if state == "failed":
        assert "without n1 and n2, which the event hits, too, 1 of 3 nodes would be left" in outcome.error


def test_one_that_is_hit_and_has_left_already_counts_once(vm, server):
    server.size, server.names = 4, ["n1", "n3", "n4", "n5"]
    members, known = {**MEMBERS, "n4": "db4", "n5": "db5"}, {**IN_AZURE, "db4": "vm_3", "db5": "vm_4"}
    assert vm.drain(node(members=members), event=EVENT_OF_TWO, members=known).state == "drained"
    assert method.MEMBERS in server.asked


NOT_NAMED = "which option members does not name, 1 of 3 nodes would be left, "


@pytest.mark.parametrize(
    "names,words",
    [
        (["n1", "n2", "garb"], "without n1 and garb, " + NOT_NAMED),
        # Another member has made up its name: that of one that stays, of this node, one that a person would read as more, none at all.
        (["n1", "n2", "n2"], "without n1 and another n2, " + NOT_NAMED),
        (["n1", "n1", "n2"], "without n1 and another n1, " + NOT_NAMED),
        (["n1", "n2", "n2\x1b[2J; touch /hacked"], "without n1 and n2\\x1b[2J; touch /hacked, " + NOT_NAMED),
        (["n1", "n2", ""], "without n1 and , " + NOT_NAMED),
        (["n1", "n2", "x" * 9000], "without n1 and xxx"),
    ],
)
@pytest.mark.parametrize("minimum", [0, 2])
def test_a_voter_that_members_does_not_name_may_be_one_that_the_event_hits(vm, server, services, names, words, minimum):
    server.names = names
    one = node(members={"n1": "db1", "n2": "db2"}, minimum_nodes=minimum)
    outcome = vm.drain(one, event={**ABOUT, "resources": ["vm_0", "vm_7"]}, members=IN_AZURE, deadline=DEADLINE)
    assert outcome.state == "failed" and words in outcome.error and len(outcome.error) <= LONGEST_MESSAGE + 20 and "\x1b" not in outcome.error
    assert services.calls == [] and server.sets() == []
    # In an event of this VM alone all others stay.
    assert vm.drain(one).state == "drained"


def test_one_that_is_not_named_does_not_matter_where_enough_are_left_without_it(vm, server):
    server.size, server.names = 5, ["n1", "n2", "n3", "n4", "garb"]
    members = {**MEMBERS, "n4": "db4"}
    event = {**ABOUT, "resources": ["vm_0", "vm_7"]}
    assert vm.drain(node(members=members), event=event, members={**IN_AZURE, "db4": "vm_3"}).state == "drained"


def test_many_that_are_not_named_are_counted(vm, server):
    server.size, server.names = 9, ["n1", *(f"x{number}" for number in range(8))]
    outcome = vm.drain(node(members=MEMBERS), event=EVENT_OF_TWO, members=IN_AZURE)
    assert "without n1 and x0, x1, x2 and 5 more, " in outcome.error and "0 of 9 nodes would be left" in outcome.error


@pytest.mark.parametrize("size,state", [(3, "drained"), (4, "failed")])
def test_a_node_that_takes_no_queries_counts_those_that_are_more_than_its_members(vm, server, size, state):
    server.reject, server.size = "ALL", size
    event = {**ABOUT, "resources": ["vm_0", "vm_7"]}
    outcome = vm.drain(node(members=MEMBERS, minimum_nodes=2 if size == 3 else 3), event=event, members=IN_AZURE)
    assert outcome.state == state and method.MEMBERS not in server.asked
    assert ("without n1 and another one, " in (outcome.error or "")) is (state == "failed")


def test_the_size_is_read_again_after_the_wait(vm, server, services):
    """One that stands still is given up while the node waits to be in step."""
    run = server.run

    def waits(line, environment, seconds):
        answer = run(line, environment, seconds)
        server.size = 2 if method.IN_STEP in line[-1] else server.size
        return answer

    server.run = waits
    assert "without n1, 1 of 2 nodes would be left" in vm.drain(node()).error and services.calls == [] and server.sets() == []


def test_one_that_is_out_of_step_after_the_wait_is_not_taken_out(vm, server, services):
    run = server.run

    def waits(line, environment, seconds):
        answer = run(line, environment, seconds)
        server.status = "non-Primary" if method.IN_STEP in line[-1] else server.status
        return answer

    server.run = waits
    outcome = vm.drain(node(), deadline="2030-01-01T00:00:00Z")
    assert outcome.state == "draining" and "n1 is in a non-Primary component" in outcome.error and services.calls == []


@pytest.mark.parametrize(
    "change,words",
    [
        ({"size": 2}, "without n1, 1 of 2 nodes would be left, which is no majority"),
        ({"status": "non-Primary"}, "n1 is in a non-Primary component: the cluster has no majority here"),
    ],
)
def test_one_that_refuses_queries_alone_still_votes_and_is_held_where_no_majority_would_be_left(vm, server, change, words):
    one = node(stop=False)
    assert vm.drain(one).state == "drained" and (vm.record()["blocker"] or {}).get("kind") is None
    before = {name: getattr(server, name) for name in change}
    vars(server).update(change)
    outcome = vm.drain(one)
    assert outcome.state == "drained" and outcome.error.startswith(words) and vm.record()["blocker"]["kind"] == "needed"
    vars(server).update(before)
    assert vm.drain(one).error is None and vm.record()["reason"] is None


def test_one_that_has_left_says_nothing_of_the_others(vm, server):
    vm.drain(node())
    asked = len(server.asked)
    server.size = 1
    assert vm.drain(node()).error is None and len(server.asked) == asked


def test_an_event_of_this_vm_alone_needs_no_names(vm, server):
    assert vm.drain(node(members=MEMBERS), event={**ABOUT, "resources": ["vm_0"]}, members={}).state == "drained"
    assert method.MEMBERS not in server.asked


def test_the_second_of_three_waits_for_the_first_and_fails_at_the_deadline(vm, server, services):
    server.size = 2
    one = {"event": {**ABOUT, "resources": ["vm_0"]}, "deadline": DEADLINE}
    vm.machine = vm.machine._replace(now=lambda: "2026-11-21T20:00:00Z")
    for _again in range(2):
        outcome = vm.drain(node(members=MEMBERS), **one)
        assert outcome.state == "draining" and outcome.error.endswith("Of its 3 members only 2 are in the cluster now")
    vm.machine = vm.machine._replace(now=lambda: "2026-11-21T20:29:30Z")
    assert vm.drain(node(members=MEMBERS), **one).state == "failed" and services.calls == [] and server.sets() == []


@pytest.mark.parametrize(
    "change,state,words",
    [
        ({"status": "non-Primary", "state": "Initialized", "size": 1}, "failed", "n1 is in a non-Primary component: the cluster has no majority here"),
        ({"state": "Donor/Desynced"}, "draining", "n1 is Donor/Desynced, not Synced"),
        ({"state": "Joined\x1b"}, "draining", "n1 is Joined\\x1b, not Synced"),
        ({"sync": STALE}, "draining", "ERROR 1205 (HY000) at line 1: Lock wait timeout exceeded; try restarting transaction"),
        ({"sync": NOT_PREPARED}, "draining", "ERROR 1047 (08S01) at line 1: WSREP has not yet prepared node for application use"),
        ({"sync": CommandResult(124, "", "")}, "draining", "the client of MariaDB was ended after 15 s"),
        ({"on": "OFF", "size": 0, "status": "Disconnected", "state": ""}, "failed", "no node of a Galera cluster; drain it with method service"),
        ({"size": "many"}, "failed", "the server does not say how large its cluster is"),
        ({"size": "²"}, "failed", "the server does not say how large its cluster is"),
    ],
)
def test_one_that_is_not_in_step_is_not_taken_out(vm, server, services, change, state, words):
    vars(server).update(change)
    vm.machine = vm.machine._replace(now=lambda: "2026-11-21T20:00:00Z")
    outcome = vm.drain(node(), deadline=DEADLINE)
    assert outcome.state == state and words in outcome.error and services.calls == [] and server.sets() == []


@pytest.mark.parametrize("answer", [AWAY, NOBODY, NOT_ALLOWED, DENIED, NO_FILE, NO_RIGHT, CommandResult(1, "", "")])
def test_a_client_that_fails_is_the_refusal_in_its_words(vm, server, services, answer):
    server.answer = answer
    outcome = vm.drain(node())
    said = answer.errors.strip().splitlines()[-1] if answer.errors else "no reason given"
    assert outcome.state == "failed" and outcome.error.endswith(f"ended with exit code {answer.code}: {said}") and services.calls == []


def test_the_older_name_of_the_client_is_tried_where_there_is_no_other(vm, server):
    server.answer = NOT_FOUND
    assert vm.drain(node()).state == "failed"
    assert [line[0] for line in server.lines] == ["mariadb", "mysql"]


def test_how_the_client_logs_in(vm, server, tmp_path, monkeypatch):
    path = tmp_path / "my.cnf"
    path.write_text("[client]\npassword=secret\n")
    path.chmod(0o600)
    describe = LocalFlagFiles.describe
    monkeypatch.setattr(LocalFlagFiles, "describe", lambda self, name: {**describe(self, name), **({"owner": "0"} if os.geteuid() else {})})
    one = node(defaults_file=str(path), socket="/run/db.sock")
    assert vm.drain(one).state == "drained"
    fixed = ["--batch", "--skip-column-names", "--connect-timeout=5"]
    assert {tuple(line[:-1]) for line in server.lines} == {("mariadb", f"--defaults-extra-file={path}", "--socket=/run/db.sock", *fixed)}
    assert "secret" not in repr(server.lines) + repr(vm.record())


@pytest.mark.parametrize("mode,owner", [(0o640, "0"), (0o604, "0"), (0o600, "1000"), (None, "0")])
def test_a_file_that_others_may_read_is_not_used(vm, server, tmp_path, monkeypatch, mode, owner):
    path = tmp_path / "my.cnf"
    if mode is not None:
        path.touch()
        path.chmod(mode)
    describe = LocalFlagFiles.describe
    monkeypatch.setattr(LocalFlagFiles, "describe", lambda self, name: {**describe(self, name), "owner": owner})
    outcome = vm.drain(node(defaults_file=str(path)))
    assert outcome.state == "failed" and "it must be a file of root that no other user may read or write" in outcome.error and server.lines == []


def test_an_unknown_unit_is_named_before_anything_is_asked(vm, server):
    outcome = vm.drain(node(units=["mysqld.service"]))
    assert outcome.state == "failed" and "mysqld.service, which systemd does not know" in outcome.error and server.asked == []


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("what", ["reject", "stop"])
def test_killed_between_its_steps_it_ends_the_same(vm, server, services, monkeypatch, what, after):
    stop = services.stop

    def killed(names=None):
        if after and what == "stop":
            stop(names)
        if after and what == "reject":
            server.reject = "ALL"
        raise Killed

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(services, "stop", killed) if what == "stop" else patch.setattr(server, "on_set", killed)
        vm.drain(node())
    assert vm.drain(node()).state == "drained" and services.present[UNIT] == "inactive"
    assert vm.entry("1-galera")["before"] == {"node": "n1", "size": 3, "reject": "NONE", "units": {UNIT: "active"}}
    assert vm.undo(node()).state == "undone" and server.reject == "NONE" and services.present[UNIT] == "active"


def test_one_that_a_reboot_has_started_is_stopped_again_though_it_is_not_in_step(vm, server, services):
    vm.drain(node())
    for change in ({"state": "Joining: receiving State Transfer"}, {"answer": AWAY}):
        services.present[UNIT] = "active"
        vars(server).update({"answer": None, "reject": "NONE", **change})
        assert vm.drain(node()).state == "drained" and services.present[UNIT] == "inactive"
    services.present[UNIT] = "active"
    vars(server).update({"answer": None, "size": 2, "state": "Synced", "reject": "NONE"})
    assert vm.drain(node()).state == "failed" and services.present[UNIT] == "active"


def test_it_is_back_when_it_is_in_step(vm, server, services):
    vm.drain(node())
    for change, words in (
        ({"status": "non-Primary", "state": "Initialized"}, "n1 is in a non-Primary component"),
        ({"status": "Primary", "state": "Joined"}, "n1 is Joined, not Synced"),
        # What a node says that has stood still.
        ({"state": "Synced", "sync": STALE}, "not in step with the others: the client of MariaDB ended with exit code 1: ERROR 1205"),
        ({"sync": NOT_PREPARED}, "not in step with the others"),
        ({"answer": AWAY}, "ERROR 2002"),
    ):
        vars(server).update(change)
        outcome = vm.undo(node())
        assert outcome.state == "undoing" and words in outcome.error
    vars(server).update({"answer": None, "sync": CommandResult(0, "", "")})
    assert vm.undo(node()).state == "undone" and services.calls.count(("start", [UNIT])) == 1


def test_one_that_does_not_start_fails(vm, server, services, monkeypatch):
    vm.drain(node())
    monkeypatch.setattr(services, "start", lambda names: services.present.update(dict.fromkeys(names, "failed")))
    outcome = vm.undo(node())
    assert outcome.state == "failed" and "cannot be started, see journalctl -u UNIT: mariadb.service" in outcome.error


@pytest.mark.parametrize("change", [{"units": "all"}, {"reject": "NONE; DROP DATABASE shop"}, {"reject": None}])
def test_a_damaged_finding_is_reported_and_nothing_is_done(vm, server, services, change):
    vm.drain(node())
    vm.damage(lambda data: data["methods"][0]["before"].update(change))
    services.calls.clear()
    outcome = vm.undo(node())
    assert outcome.state == "failed" and "the record does not say how the node of Galera was before" in outcome.error and services.calls == []


def test_check_mode_says_what_would_be_refused_and_stopped(vm, server, services):
    rest = "; 2 of 3 nodes would stay"
    assert vm.would(node()) == [f"would refuse queries on n1 and stop {UNIT}{rest}"]
    assert vm.would(node(stop=False)) == [f"would refuse queries on n1{rest}"]
    assert vm.would(node(reject_queries=False)) == [f"would stop {UNIT}{rest}"]
    assert server.sets() == [] and services.calls == []
