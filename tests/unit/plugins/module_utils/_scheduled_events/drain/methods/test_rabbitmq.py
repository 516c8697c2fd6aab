# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Method rabbitmq, through the engine. What the commands answer was recorded of RabbitMQ 3.10.8; long answers are cut to what is read."""

from __future__ import annotations

import json

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.methods import rabbitmq as method
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.methods.method import LONGEST_MESSAGE
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine.commands import CommandResult
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.drain.scene import Killed, step

DEADLINE = "2026-11-21T20:30:00Z"
MARKED, REGULAR = "\x1b[35mmarked for maintenance\x1b[0m", "not under maintenance"
NOT_CRITICAL = CommandResult(0, '{"result":"ok"}\n', "")
IN_MAINTENANCE = CommandResult(0, '{"message":"Target node seems to be in maintenance mode, the check does not apply","result":"ok"}\n', "")
CRITICAL = CommandResult(
    69,
    "",
    '{"message":"Node r1@host reported local queues with minimum online quorum","queues":[{"name":"qq","readable_name":"queue \'qq\' in vhost \'/\'",'
    '"type":"quorum","virtual_host":"/"}],"result":"error"}\n',
)
DRAIN = CommandResult(0, "Will put node r1@host into maintenance mode. The node will no longer serve any client traffic!\n", "")
REVIVE = CommandResult(
    0, "Will put node r1@host back into regular operating mode. The node will again serve client traffic and host primary queue replicas.\n", ""
)
UNREACHABLE = """Error: unable to perform an operation on node 'r1@host'. Please see diagnostics information and suggestions below.

Most common reasons for this are:

 * Target node is unreachable (e.g. due to hostname resolution, TCP connection or firewall issues)
 * CLI tool fails to authenticate with the server (e.g. due to CLI tool's Erlang cookie not matching that of the server)
 * Target node is not running

In addition to the diagnostics info below:

 * See the CLI, clustering and networking guides on https://rabbitmq.com/documentation.html to learn more
 * Consult server logs on node r1@host
 * If target node is configured to use long node names, don't forget to use --longnames with CLI tools

DIAGNOSTICS
===========

attempted to contact: [r1@host]

r1@host:
{}

Current node details:
 * node name: 'rabbitmqcli-364-rabbit@host'
 * effective user's home directory: /var/lib/rabbitmq
 * Erlang cookie hash: 9Cq0SyHWQkumV++Kt3qK0A==

"""
ENDED = CommandResult(
    69,
    "",
    UNREACHABLE.format(
        "  * connected to epmd (port 4369) on host\n  * epmd reports: node 'r1' not running at all\n                  other nodes on host: [r3,r2]\n"
        "  * suggestion: start the node"
    ),
)
WRONG_COOKIE = CommandResult(
    69,
    "",
    UNREACHABLE.format(
        "  * connected to epmd (port 4369) on host\n  * epmd reports node 'r1' uses port 25671 for inter-node and CLI tool traffic \n"
        "  * TCP connection succeeded but Erlang distribution failed \n"
        "  * suggestion: check if the Erlang cookie is identical for all server nodes and CLI tools"
    ),
)
STARTING = CommandResult(
    64,
    "",
    "Error: this command requires the 'rabbit' app to be running on the target node. Start it with 'rabbitmqctl start_app'.\n"
    "Arguments given:\n\t-n r1@host status --formatter json\n",
)
TIMED_OUT = CommandResult(75, "", "Error: operation cluster_status on node r1@host timed out. Timeout value used: 0\n")
STOPPED_DRAIN = CommandResult(
    69,
    "Will put node r1@host into maintenance mode. The node will no longer serve any client traffic!\n",
    "\n09:57:28.245 [warning] This node is being put into maintenance (drain) mode\nError:\n{:aborted, {:no_exists, [:rabbit_listener, :r1@host]}}\n",
)
COOKIE_MODE = CommandResult(78, "", "\n09:57:32.575 [error] Cookie file /var/lib/rabbitmq/.erlang.cookie must be accessible by owner only\n" * 3)
MISSING = CommandResult(127, "", "rabbitmq-diagnostics: No such file or directory")


class FakeRabbit:
    """In place of RabbitMQ's commands: three nodes, of which the VM's is r1@host."""

    def __init__(self):
        self.nodes = ["r1@host", "r2@host", "r3@host"]
        self.running, self.maintenance = {*self.nodes}, set()
        self.partitions, self.connections = {}, 2
        self.critical = NOT_CRITICAL
        self.classic, self.few, self.stopped = [], [], 0
        self.answers, self.calls, self.host = {}, [], "host"
        self.on_drain = lambda: None

    def run(self, line, environment, seconds):
        assert environment == {"LC_ALL": "C"} and seconds == 30 and all(isinstance(one, str) for one in line)
        if line == ["uname", "-n"]:
            return CommandResult(0, self.host + "\n", "")
        self.calls.append(" ".join(line))
        command = next(one for one in line[1:] if not one.startswith("-") and "@" not in one)
        if command in self.answers:
            return self.answers[command]
        return getattr(self, command)()

    def status(self):
        about = {
            "is_under_maintenance": "r1@host" in self.maintenance,
            "listeners": [{"node": "r1@host", "port": 25671, "protocol": "clustering"}, {"node": "r1@host", "port": 5671, "protocol": "amqp"}],
            "totals": {"virtual_host_count": 1, "connection_count": self.connections, "queue_count": 1},
        }
        return CommandResult(0, json.dumps(about), "")

    def cluster_status(self):
        about = {
            "disk_nodes": self.nodes,
            "ram_nodes": [],
            "running_nodes": [name for name in self.nodes if name in self.running],
            "maintenance_status": {name: MARKED if name in self.maintenance else REGULAR for name in self.nodes if name in self.running},
            "partitions": self.partitions,
        }
        return CommandResult(0, json.dumps(about), "")

    def check_if_node_is_quorum_critical(self):
        return IN_MAINTENANCE if "r1@host" in self.maintenance else self.critical

    def eval(self):
        value = {"classic": len(self.classic), "durable": sum(self.classic), "few": self.few, "stopped": self.stopped}
        return CommandResult(0, json.dumps({"node": "r1@host", "result": "ok", "value": value}), "")

    def drain(self):
        self.on_drain()
        self.maintenance.add("r1@host")
        self.connections = 0
        return DRAIN

    def revive(self):
        self.maintenance.discard("r1@host")
        return REVIVE

    def acts(self):
        return [call for call in self.calls if "rabbitmq-upgrade" in call]


@pytest.fixture
def rabbit():
    return FakeRabbit()


@pytest.fixture
def seams(rabbit):
    return {"commands": rabbit}


def mq(**options):
    return step("rabbitmq", given=options)


EVAL = f"rabbitmqctl eval {method.LEFT} --formatter json"
FOUND = {"node": "r1@host", "maintenance": False, "classic_queues": 0, "durable_classic_queues": 0, "stopped_replicas": 0}


def of(text: str) -> int:
    return int.from_bytes(text.encode(), "big")


def few(kind="stream", name="log", left=1, voters=3, missing=("r3@host",)):
    """As the node answers of a queue that would have no majority without it."""
    return [f"rabbit_{kind}_queue", of("/"), of(name), left, voters, *missing]


def test_no_word_of_the_question_is_one_that_a_shell_reads_in_double_quotes():
    assert not set(method.LEFT) & set('"$`\\\n!') and method.LEFT.isascii()


LOG = "stream 'log' in vhost '/' (1 of 3 replicas left) would lose quorum without r1@host"


def test_a_stream_that_would_lose_its_quorum_is_named_and_nothing_is_changed(vm, rabbit):
    """check_if_node_is_quorum_critical of 3.10 does not look at streams."""
    rabbit.few, rabbit.running = [few()], {"r1@host", "r2@host"}
    vm.machine = vm.machine._replace(now=lambda: "2026-11-21T20:00:00Z")
    assert vm.drain(mq(), deadline=DEADLINE)[:2] == ("draining", f"1-rabbitmq: not yet: {LOG}: r3@host does not run")
    rabbit.running = {*rabbit.nodes}
    outcome = vm.drain(mq(), deadline=DEADLINE)
    assert outcome[:2] == ("draining", f"1-rabbitmq: not yet: {LOG}: no replica that counts on r3@host, which is down or in maintenance mode")
    vm.machine = vm.machine._replace(now=lambda: "2026-11-21T20:29:45Z")
    outcome = vm.drain(mq(), deadline=DEADLINE)
    assert outcome.state == "failed" and LOG in outcome.error and rabbit.acts() == []
    assert vm.drain(mq(quorum_critical="ignore"), deadline=DEADLINE).state == "drained"


def test_a_stream_of_one_replica_never_has_another(vm, rabbit):
    rabbit.few = [few(left=0, voters=1, missing=())]
    outcome = vm.drain(mq())
    assert outcome.state == "failed" and "(0 of 1 replicas left) would lose quorum without r1@host. Add replicas or nodes" in outcome.error


def test_a_quorum_queue_is_named_once_by_the_answer_that_knows_its_members(vm, rabbit):
    rabbit.few = [few("quorum", "qq")]
    assert vm.drain(mq()).state == "drained"
    rabbit.maintenance.clear()
    rabbit.critical = CRITICAL
    outcome = vm.drain(mq())
    assert outcome.state == "failed" and outcome.error.count("'qq'") == 1


@pytest.mark.parametrize("kind,word", [("stream", "stream"), ("quorum", "queue")])
def test_a_majority_that_is_gone_after_the_drain_holds_the_approval(vm, rabbit, kind, word):
    """check_if_node_is_quorum_critical says yes for a node in maintenance mode, whatever its queues have left."""
    assert vm.drain(mq()).error is None
    rabbit.few = [few(kind)]
    words = f"{word} 'log' in vhost '/' (1 of 3 replicas left) would lose quorum without r1@host: no replica that counts on r3@host"
    for connections, state in ((0, "drained"), (2, "draining")):
        rabbit.connections = connections
        outcome = vm.drain(mq())
        assert outcome.state == state and vm.record()["blocker"]["kind"] == "needed" and vm.record()["reason"].startswith(f"1-rabbitmq: {words}")
    assert rabbit.acts() == ["rabbitmq-upgrade drain"]
    rabbit.connections, rabbit.few = 0, []
    assert vm.drain(mq())[:2] == ("drained", None) and vm.record()["reason"] is None


def test_what_is_ignored_holds_nothing(vm, rabbit):
    rabbit.few = [few()]
    assert vm.drain(mq(quorum_critical="ignore"))[:2] == ("drained", None) and (vm.record()["blocker"] or {}).get("kind") is None


def test_names_of_queues_are_made_visible_and_many_are_counted(vm, rabbit):
    rabbit.few = [few(name=f"q{number}\x1b[2J", missing=("r2@host\x1b", "r3@host")) for number in range(20)]
    outcome = vm.drain(mq(), deadline="2030-01-01T00:00:00Z")
    assert outcome.state == "draining" and "stream 'q0\\x1b[2J' in vhost '/'" in outcome.error and " and 17 more would lose quorum" in outcome.error
    assert "\x1b" not in outcome.error and len(outcome.error) <= LONGEST_MESSAGE + 30
    rabbit.few = [["rabbit_stream_queue", of("/"), 0xFFFE, 0, 1]]
    assert "stream '\ufffd\ufffd' in vhost" in vm.drain(mq()).error


STILL = "3 classic queue(s) of r1@host stand still until it is back; what is published to the 2 durable one(s) without mandatory is confirmed and dropped"


def test_classic_queues_are_counted_and_said(vm, rabbit):
    rabbit.classic = [True, False, True]
    assert vm.would(mq())[0].endswith(f"leaders of queues move to other nodes. {STILL}")
    outcome = vm.drain(mq())
    assert outcome.state == "drained" and outcome.warning == STILL
    assert vm.entry("1-rabbitmq")["before"] == {**FOUND, "classic_queues": 3, "durable_classic_queues": 2}
    # Those of the first finding: the queues of a drained node may be gone from its tables.
    rabbit.classic = []
    assert vm.drain(mq()).warning == STILL


def test_classic_queues_that_are_not_durable_lose_nothing_that_was_confirmed(vm, rabbit):
    rabbit.classic = [False]
    assert vm.drain(mq()).warning == "1 classic queue(s) of r1@host stand still until it is back"


@pytest.mark.parametrize(
    "answer,words",
    [
        (CommandResult(0, "{}", ""), "RabbitMQ does not say what would be left without its node: {}"),
        (CommandResult(0, '{"value":{"classic":0,"durable":0,"few":"all"}}', ""), "does not say what would be left"),
        (CommandResult(0, '{"value":{"classic":0,"durable":0,"few":[["rabbit_stream_queue",-1,2,3,4]]}}', ""), "does not say what would be left"),
        (CommandResult(0, '{"value":{"classic":0,"durable":0,"few":[["rabbit_stream_queue","a","b",3,4]]}}', ""), "does not say what would be left"),
        (CommandResult(0, '{"value":{"classic":0,"durable":0,"few":[[1]]}}', ""), "does not say what would be left"),
        (CommandResult(0, '{"value":{"classic":[],"durable":0,"few":[],"stopped":0}}', ""), "does not say what would be left"),
        (CommandResult(0, '{"value":{"classic":0,"durable":0,"few":[]}}', ""), "does not say what would be left"),
        (CommandResult(0, "nonsense", ""), "the answer of rabbitmqctl eval is not understood: nonsense"),
        (CommandResult(70, "", "Error:\nundefined function rabbit_amqqueue:list/0"), "RabbitMQ: eval ended with exit code 70: Error: undefined function"),
        (CommandResult(124, "", ""), "RabbitMQ: eval was ended after 30 s"),
    ],
)
def test_what_is_not_said_is_no_yes(vm, rabbit, answer, words):
    rabbit.answers["eval"] = answer
    outcome = vm.drain(mq())
    assert outcome.state == "failed" and words in outcome.error and rabbit.acts() == []


def test_a_version_that_does_not_know_the_question_can_be_drained_with_the_option(vm, rabbit):
    rabbit.answers["eval"] = CommandResult(70, "", "Error:\nundefined function")
    assert vm.drain(mq()).state == "failed" and vm.drain(mq(quorum_critical="ignore")).state == "drained"
    rabbit.answers["eval"] = CommandResult(0, '{"value":{}}', "")
    assert vm.drain(mq(quorum_critical="ignore"))[:2] == ("drained", None)


def test_a_node_goes_into_maintenance_mode_and_comes_back(vm, rabbit):
    assert vm.drain(mq()).state == "drained"
    assert vm.entry("1-rabbitmq")["before"] == FOUND
    assert rabbit.calls == [
        "rabbitmq-diagnostics status --formatter json",
        EVAL,
        "rabbitmq-diagnostics check_if_node_is_quorum_critical --formatter json",
        "rabbitmqctl cluster_status --formatter json",
        "rabbitmq-upgrade drain",
        "rabbitmq-diagnostics status --formatter json",
        EVAL,
    ]
    rabbit.calls.clear()
    assert vm.drain(mq()).state == "drained" and rabbit.calls == ["rabbitmq-diagnostics status --formatter json", EVAL]
    assert vm.undo(mq()).state == "undone" and rabbit.maintenance == set()
    assert rabbit.acts() == ["rabbitmq-upgrade revive"]


def test_the_option_node_is_asked_everywhere(vm, rabbit):
    one = mq(node="r1@host")
    assert vm.drain(one).state == "drained" and vm.undo(one).state == "undone"
    assert all(call.split()[1:3] == ["-n", "r1@host"] for call in rabbit.calls) and len(rabbit.acts()) == 2


@pytest.mark.parametrize("node", ["$(touch hacked)", "r1@host;id", "-n", 'r1" "', "r1@host\n", "a b", "`id`"])
def test_what_a_shell_would_read_is_no_name_of_a_node(vm, rabbit, node):
    outcome = vm.drain(mq(node=node))
    assert outcome.state == "failed" and "option node is no name of a RabbitMQ node" in outcome.error and rabbit.calls == []


def test_the_node_of_another_vm_is_refused_by_both_names(vm, rabbit):
    rabbit.nodes, rabbit.host = ["r1@host", "r2@mq2"], "mq2.example.com"
    outcome = vm.drain(mq(node="r1@host", quorum_critical="ignore"))
    assert outcome.state == "failed" and rabbit.acts() == []
    assert outcome.error == "1-rabbitmq: option node is r1@host, and the node of this VM is r2@mq2: correct the option, or leave it out"


def test_a_node_that_a_person_put_into_maintenance_mode_stays_there_twice(vm, rabbit):
    rabbit.drain()
    for _twice in range(2):
        assert vm.drain(mq()).state == "drained"
        assert vm.undo(mq()).state == "undone"
        assert rabbit.acts() == [] and rabbit.maintenance == {"r1@host"}
    assert vm.entry("1-rabbitmq")["before"]["maintenance"] is True


def test_a_queue_that_would_lose_its_quorum_is_named_and_nothing_is_changed(vm, rabbit):
    rabbit.critical, rabbit.few = CRITICAL, [few("quorum", "qq", 0, 1, missing=())]
    outcome = vm.drain(mq())
    words = "queue 'qq' in vhost '/' would lose quorum without r1@host. Add replicas or nodes, or set quorum_critical to ignore"
    assert outcome[:2] == ("failed", f"1-rabbitmq: {words}") and rabbit.acts() == []
    assert vm.undo(mq()).state == "undone" and rabbit.acts() == []
    assert vm.drain(mq(quorum_critical="ignore")).state == "drained"


def test_a_replica_that_is_not_up_yet_on_a_node_that_has_just_started_is_waited_for(vm, rabbit):
    """Seen after the end of a node and its start: all three run, and the queue is critical for a while. Four such answers ended the drain for good."""
    rabbit.critical = CRITICAL
    vm.machine = vm.machine._replace(now=lambda: "2026-11-21T20:00:00Z")
    words = "1-rabbitmq: not yet: queue 'qq' in vhost '/' would lose quorum without r1@host: not all of its replicas are up"
    assert vm.drain(mq(), deadline=DEADLINE)[:2] == ("draining", words) and rabbit.acts() == []
    rabbit.critical = NOT_CRITICAL
    assert vm.drain(mq(), deadline=DEADLINE).state == "drained"


def test_the_second_of_three_waits_for_the_first_and_fails_at_the_deadline(vm, rabbit):
    rabbit.critical, rabbit.maintenance = CRITICAL, {"r2@host"}
    vm.machine = vm.machine._replace(now=lambda: "2026-11-21T20:00:00Z")
    words = "queue 'qq' in vhost '/' would lose quorum without r1@host: r2@host is in maintenance mode"
    for _again in range(2):
        assert vm.drain(mq(), deadline=DEADLINE)[:2] == ("draining", f"1-rabbitmq: not yet: {words}")
    vm.machine = vm.machine._replace(now=lambda: "2026-11-21T20:29:45Z")
    outcome = vm.drain(mq(), deadline=DEADLINE)
    assert outcome.state == "failed" and words in outcome.error and rabbit.acts() == []
    rabbit.critical, rabbit.maintenance = NOT_CRITICAL, set()
    assert vm.drain(mq(), deadline=DEADLINE).state == "drained"


def test_a_node_that_is_down_is_named_too(vm, rabbit):
    rabbit.critical, rabbit.running = CRITICAL, {"r1@host", "r3@host"}
    vm.machine = vm.machine._replace(now=lambda: "2026-11-21T20:00:00Z")
    outcome = vm.drain(mq(), deadline=DEADLINE)
    assert outcome.state == "draining" and outcome.error.endswith("would lose quorum without r1@host: r2@host does not run")


def test_the_last_node_in_service_is_not_drained(vm, rabbit):
    rabbit.nodes, rabbit.running = ["r1@host"], {"r1@host"}
    outcome = vm.drain(mq())
    assert outcome.state == "failed" and "no other node of the cluster of r1@host is in service, so its clients have nowhere to go" in outcome.error
    assert rabbit.acts() == []


@pytest.mark.parametrize("partitions,shown", [({"r1@host": ["r2@host"]}, "r2@host"), ({"r2@host": ["r3@host"]}, "{'r2@host': ['r3@host']}"), (["x\x1b"], "x")])
def test_a_cluster_with_a_partition_waits(vm, rabbit, partitions, shown):
    rabbit.partitions = partitions
    vm.machine = vm.machine._replace(now=lambda: "2026-11-21T20:00:00Z")
    outcome = vm.drain(mq(), deadline=DEADLINE)
    assert outcome.state == "draining" and "the cluster of r1@host has a partition: " in outcome.error and shown in outcome.error
    assert "\x1b" not in outcome.error


def test_many_queues_are_counted_and_a_cut_answer_is_still_no(vm, rabbit):
    queues = [{"name": f"q{number}\x1b", "readable_name": f"queue 'q{number}\x1b' in vhost '/'"} for number in range(2000)]
    rabbit.critical = CommandResult(69, "", json.dumps({"queues": queues, "result": "error"}, separators=(",", ":"))[-65536:])
    outcome = vm.drain(mq())
    assert outcome.state == "failed" and " more would lose quorum without r1@host" in outcome.error
    assert "\x1b" not in outcome.error and len(outcome.error) <= LONGEST_MESSAGE + 20


@pytest.mark.parametrize(
    "answer,words",
    [
        (ENDED, "RabbitMQ: status ended with exit code 69: Error: unable to perform an operation on node 'r1@host'."),
        (ENDED, "* epmd reports: node 'r1' not running at all"),
        (WRONG_COOKIE, "* TCP connection succeeded but Erlang distribution failed"),
        (STARTING, "ended with exit code 64: Error: this command requires the 'rabbit' app to be running on the target node."),
        (COOKIE_MODE, "ended with exit code 78: 09:57:32.575 [error] Cookie file /var/lib/rabbitmq/.erlang.cookie must be accessible by owner only"),
        (TIMED_OUT, "ended with exit code 75: Error: operation cluster_status on node r1@host timed out. Timeout value used: 0"),
        (MISSING, "ended with exit code 127: rabbitmq-diagnostics: No such file or directory"),
        (CommandResult(124, "", "Session terminated, killing shell... ...killed."), "RabbitMQ: status was ended after 30 s, or less where the lease"),
        (CommandResult(1, "", ""), "ended with exit code 1: no reason given"),
        (CommandResult(0, "nonsense \x1b[2J", ""), "the answer of rabbitmq-diagnostics status is not understood: nonsense \\x1b[2J"),
        (CommandResult(0, "[" * 60000, ""), "is not understood"),
        (CommandResult(0, '{"totals":{}}', ""), "which needs version 3.8.8 or later"),
        (CommandResult(0, '{"is_under_maintenance":false,"listeners":[{"node":"$(id)"}]}', ""), "names no node"),
    ],
)
def test_what_status_answers_otherwise_is_the_refusal(vm, rabbit, answer, words):
    rabbit.answers["status"] = answer
    outcome = vm.drain(mq())
    assert outcome.state == "failed" and words in outcome.error and len(outcome.error) <= LONGEST_MESSAGE + 20
    assert rabbit.acts() == [] and vm.undo(mq()).state == "undone" and rabbit.acts() == []


@pytest.mark.parametrize("answer", [ENDED, WRONG_COOKIE, TIMED_OUT, CommandResult(69, "", "Error:\nsomething else"), CommandResult(1, "", "")])
def test_a_quorum_question_that_is_not_answered_is_no_yes(vm, rabbit, answer):
    rabbit.critical = answer
    outcome = vm.drain(mq())
    assert outcome.state == "failed" and f"check_if_node_is_quorum_critical ended with exit code {answer.code}" in outcome.error and rabbit.acts() == []


def test_a_drain_that_fails_says_why(vm, rabbit):
    rabbit.answers["drain"] = STOPPED_DRAIN
    outcome = vm.drain(mq())
    assert outcome.state == "failed"
    assert outcome.error == "1-rabbitmq: RabbitMQ: drain ended with exit code 69: Error: {:aborted, {:no_exists, [:rabbit_listener, :r1@host]}}"


@pytest.mark.parametrize("after", [False, True])
def test_killed_before_or_after_the_drain_it_is_ours(vm, rabbit, monkeypatch, after):
    def killed():
        if after:
            rabbit.maintenance.add("r1@host")
        raise Killed

    rabbit.on_drain = killed
    with pytest.raises(Killed):
        vm.drain(mq())
    rabbit.on_drain = lambda: None
    # Half-way the connections are still open: it is drained once more.
    assert vm.drain(mq()).state == "drained" and rabbit.connections == 0
    assert vm.entry("1-rabbitmq")["before"] == FOUND
    assert vm.undo(mq()).state == "undone" and rabbit.maintenance == set()


def test_killed_after_the_revive_it_is_not_revived_twice(vm, rabbit):
    vm.drain(mq())
    rabbit.revive()
    rabbit.calls.clear()
    assert vm.undo(mq()).state == "undone" and rabbit.acts() == []


def test_a_node_that_was_restarted_or_revived_is_drained_again_if_it_may(vm, rabbit):
    vm.drain(mq())
    rabbit.maintenance.clear()
    rabbit.calls.clear()
    assert vm.drain(mq()).state == "drained" and rabbit.acts() == ["rabbitmq-upgrade drain"]
    rabbit.maintenance.clear()
    rabbit.critical = CRITICAL
    assert vm.drain(mq()).state == "failed" and rabbit.maintenance == set()


def test_one_that_a_person_had_put_out_and_a_reboot_put_in_is_out_again_and_stays(vm, rabbit):
    rabbit.drain()
    vm.drain(mq())
    rabbit.maintenance.clear()
    vm.boot = "boot-2"
    assert vm.drain(mq()).state == "drained" and rabbit.acts() == ["rabbitmq-upgrade drain"]
    assert vm.undo(mq()).state == "undone" and rabbit.maintenance == {"r1@host"}


def test_connections_that_are_left_are_waited_for(vm, rabbit):
    vm.drain(mq())
    rabbit.connections = 3
    outcome = vm.drain(mq())
    assert outcome[:2] == ("draining", "3 client connection(s) of r1@host not closed yet")
    rabbit.connections = 0
    assert vm.drain(mq()).state == "drained" and len(rabbit.acts()) == 1


@pytest.mark.parametrize("question", ["status", "eval"])
@pytest.mark.parametrize("answer,state", [(ENDED, "drained"), (STARTING, "draining"), (WRONG_COOKIE, "failed")])
def test_one_that_was_stopped_since_is_drained_and_one_that_cannot_be_asked_is_not(vm, rabbit, answer, state, question):
    vm.drain(mq())
    rabbit.answers[question] = answer
    outcome = vm.drain(mq())
    assert outcome.state == state
    assert ("not running at all" in (outcome.warning or "")) is (state == "drained")


@pytest.mark.parametrize("answer,state", [(ENDED, "undoing"), (STARTING, "undoing"), (WRONG_COOKIE, "failed"), (TIMED_OUT, "failed")])
def test_an_undo_waits_for_a_node_that_starts(vm, rabbit, answer, state):
    vm.drain(mq())
    rabbit.answers["status"] = answer
    assert vm.undo(mq()).state == state
    del rabbit.answers["status"]
    assert vm.undo(mq()).state == "undone" and rabbit.maintenance == set()


def test_it_is_back_when_it_is_a_member_again(vm, rabbit):
    vm.drain(mq())
    rabbit.running.discard("r1@host")
    assert vm.undo(mq())[:2] == ("undoing", "r1@host does not run yet")
    rabbit.running.add("r1@host")
    rabbit.partitions = {"r1@host": ["r2@host", "r3@host"]}
    assert vm.undo(mq())[:2] == ("undoing", "the cluster of r1@host has a partition: r2@host, r3@host")
    rabbit.partitions = {}
    rabbit.maintenance, rabbit.answers["revive"] = {"r1@host"}, REVIVE
    assert vm.undo(mq())[:2] == ("undoing", "r1@host is still in maintenance mode")
    del rabbit.answers["revive"]
    assert vm.undo(mq()).state == "undone"


def test_replicas_that_a_revive_has_left_stopped_are_revived_again(vm, rabbit):
    """Seen with 3.10.8 where the queue had no majority at the revive: the node called itself back, and the queue had a replica less until its next boot."""
    vm.drain(mq())
    rabbit.stopped = 2
    assert vm.undo(mq())[:2] == ("undoing", "2 replica(s) of quorum queues on r1@host do not run yet")
    assert rabbit.acts() == ["rabbitmq-upgrade drain", "rabbitmq-upgrade revive", "rabbitmq-upgrade revive"]
    rabbit.stopped = 0
    assert vm.undo(mq()).state == "undone"


@pytest.mark.parametrize("before", [1, None, "many"])
def test_replicas_that_were_stopped_before_the_drain_hold_no_undo(vm, rabbit, before):
    rabbit.stopped = 1
    vm.drain(mq())
    vm.damage(lambda data: data["methods"][0]["before"].update(stopped_replicas=before))
    assert vm.undo(mq()).state == ("undone" if before == 1 else "undoing")


def test_a_damaged_finding_is_reported_and_nothing_is_revived(vm, rabbit):
    vm.drain(mq())
    vm.damage(lambda data: data["methods"][0]["before"].update(maintenance="no"))
    outcome = vm.undo(mq())
    assert outcome.state == "failed" and "the record does not say" in outcome.error and rabbit.maintenance == {"r1@host"}


def test_check_mode_says_whose_connections_would_be_closed(vm, rabbit):
    assert vm.would(mq()) == ["would put r1@host into maintenance mode: 2 client connection(s) are closed, and leaders of queues move to other nodes"]
    assert "rabbitmq-upgrade drain" not in rabbit.calls and vm.record() is None
