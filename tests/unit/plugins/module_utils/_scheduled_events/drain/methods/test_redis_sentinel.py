# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Method redis_sentinel, on servers that are played with recorded answers; tests/state/redis has real ones."""

from __future__ import annotations

import time

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.methods.method import (
    LONGEST_MESSAGE,
    Answer,
    MethodError,
    NoAnswer,
    NotYet,
    Task,
)
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.methods.redis import handover as redis_handover
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.methods.redis.servers import Copy
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.registry import METHODS, defaults
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine.daemons import DaemonError
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine.machine import Machine
from ansible_collections.maintenance.azure.tests.unit.plugins.module_utils._scheduled_events.drain.methods.played_redis import (
    ADDRESSES,
    IN_PROGRESS,
    NO_GOOD,
    NO_QUORUM,
    OK,
    QUORUM,
    SENTINELS,
    UNKNOWN_WORD,
    VALKEY_9,
    Played,
)

METHOD = METHODS["redis_sentinel"]
MEMBERS = {"10.0.0.4": "redis1", ADDRESSES["B"]: "redis2", "10.0.0.6": "redis3"}
NAMES = {"redis1": "vm_0", "redis2": "vm_1", "redis3": "vm_2"}
ASKED = "sentinel: SENTINEL FAILOVER mymaster"
COORDINATED = f"{ASKED} COORDINATED"
GUARD = "CONFIG SET min-replicas-to-write 2"
SETTLED = ["CONFIG SET min-replicas-to-write 0", "CONFIG REWRITE", "CONFIG SET replica-priority 0", "CLIENT UNPAUSE", "CLIENT KILL TYPE normal"]
GUARD_BACK = "CONFIG SET min-replicas-to-write 0"
GUARDED = [GUARD, "CLIENT PAUSE 10000 WRITE", ASKED]


class Scene:
    """The method on one VM, and its record as the engine keeps it."""

    def __init__(self, role="master", resources=("vm_0",), **options):
        self.played = Played(role)
        self.machine = Machine(self.played.now, None, None, None, None, daemons=lambda *named: self.played)
        self.task = Task(
            {**defaults("redis_sentinel"), "sentinels": SENTINELS, "members": MEMBERS, **options}, {}, "new", None, {}, resources=resources, members=NAMES
        )

    @property
    def redis(self):
        return self.played.redis

    def find(self):
        found = METHOD.find(self.machine, self.task)
        anew = self.task.state in ("new", "undone")
        self.task = self.task._replace(present=found, finding=found if anew else self.task.finding, state="found")
        return found

    def begin(self):
        self.find()
        METHOD.begin(self.machine, self.task)

    def check(self):
        answer = METHOD.check(self.machine, self.task)
        if answer.state in ("drained", "draining", "failed"):
            self.task = self.task._replace(state={"draining": "begun"}.get(answer.state, answer.state))
        return answer

    def undo(self):
        answer = METHOD.undo(self.machine, self.task)
        self.task = self.task._replace(state=answer.state)
        return answer

    def promote(self, letter="B", after=0.3):
        """Let the Sentinels promote a replica some time after they were asked."""

        def asked():
            began = self.played.now()

            def passing():
                if redis_handover.seconds_between(began, self.played.now()) >= after:
                    self.played.all_name(letter)

            self.played.passing = passing

        for one in self.played.sentinels.values():
            one.on_failover = asked


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    """Whoever sleeps lets the clock of the scene run."""
    scenes = []
    original = Scene.__init__

    def noted(self, *arguments, **options):
        original(self, *arguments, **options)
        scenes.append(self)

    def sleep(seconds):
        scenes[-1].played.sleep(seconds)

    monkeypatch.setattr(Scene, "__init__", noted)
    monkeypatch.setattr(time, "sleep", sleep)


# --- A replica ------------------------------------------------------------------------------------------------------------


def test_a_replica_is_kept_out_of_the_choice_and_comes_back():
    scene = Scene("replica")
    scene.begin()
    assert scene.played.orders() == ["CONFIG SET replica-priority 0"]
    assert scene.check() == Answer("draining", f"not yet noticed by Sentinel {', '.join(SENTINELS)}")
    scene.played.noticed()
    assert scene.check() == Answer("drained")
    assert METHOD.shown(scene.task.finding) == "role slave, replica-priority 100"
    assert scene.undo() == Answer("undoing", f"not yet noticed by Sentinel {', '.join(SENTINELS)}")
    scene.played.noticed()
    assert scene.undo() == Answer("undone")
    # The file has never had the 0: no other master was named meanwhile.
    assert scene.played.orders() == ["CONFIG SET replica-priority 0", "CONFIG SET replica-priority 100"]


def test_what_an_operator_has_excluded_stays_so():
    scene = Scene("replica")
    scene.redis.settings["replica-priority"] = "0"
    scene.played.noticed()
    scene.begin()
    assert scene.check().state == "drained"
    assert (scene.undo().state, scene.redis.settings["replica-priority"]) == ("undone", "0")


def test_a_priority_that_somebody_has_set_meanwhile_is_theirs():
    scene = Scene("replica")
    scene.begin()
    scene.redis.settings["replica-priority"] = "10"
    scene.played.noticed()
    assert scene.check() == Answer("lost", "its replica-priority is 10 again")
    assert (scene.undo().state, scene.redis.settings["replica-priority"]) == ("undone", "10")


def test_after_a_restart_it_is_seen_that_the_priority_is_back():
    scene = Scene("replica")
    scene.begin()
    scene.played.noticed()
    assert scene.check().state == "drained"
    scene.redis.settings["replica-priority"] = "100"
    assert scene.check().state == "lost"
    scene.begin()
    assert scene.check().state == "drained" and scene.task.finding["priority"] == "100"


def test_the_file_is_rewritten_where_sentinel_has_written_the_0_into_it():
    scene = Scene("replica")
    scene.begin()
    scene.redis.master = ADDRESSES["C"]
    scene.played.noticed()
    scene.undo()
    assert scene.played.orders()[1:] == ["CONFIG SET replica-priority 100", "CONFIG REWRITE"]


def test_a_replica_that_is_not_in_step_is_neither_drained_nor_undone():
    scene = Scene("replica")
    scene.begin()
    scene.played.noticed()
    scene.redis.link = "down"
    assert scene.check() == Answer("draining", f"it is not in step with its master {ADDRESSES['A']} yet")
    scene.undo()
    scene.played.noticed()
    assert scene.undo() == Answer("undoing", f"it is not in step with its master {ADDRESSES['A']} yet")


def test_redis_that_has_not_started_yet_is_asked_again():
    scene = Scene("replica")
    scene.begin()
    scene.played.away = {"127.0.0.1:6379"}
    refused = "tcp://127.0.0.1:6379: Connection refused"
    assert scene.undo() == Answer("undoing", refused)
    # In a check that is no failure: the engine waits, and the record says so.
    for ask in (scene.check, scene.find):
        with pytest.raises(DaemonError, match="Connection refused"):
            ask()


def test_one_sentinel_that_lies_does_not_keep_the_vm_out_for_ever():
    scene = Scene("replica")
    scene.begin()
    scene.played.noticed()
    assert scene.check() == Answer("drained")
    scene.undo()
    scene.played.noticed()
    scene.played.sentinels[SENTINELS[0]].copies["B"] = ("7", "slave")
    assert scene.undo() == Answer("undone")


@pytest.mark.parametrize("ip", ["\x1b[2J", "\x01" * 100000, "10.0.0.6 -a", "", "é"])
def test_a_replica_with_an_address_of_no_form_gets_into_no_record(ip, monkeypatch):
    scene = Scene("replica")
    monkeypatch.setitem(ADDRESSES, "X", f"{ip}:6379")
    scene.played.sentinels[SENTINELS[0]].copies["X"] = ("100", "slave")
    assert scene.find()["sentinels"] == SENTINELS[1:] and scene.task.finding["replicas"] == ["10.0.0.5:6379", "10.0.0.6:6379"]


def test_without_sentinels_nobody_has_noticed():
    scene = Scene("replica")
    scene.begin()
    scene.played.noticed()
    scene.played.away = set(SENTINELS)
    assert scene.check().error.startswith("no Sentinel answers: tcp://10.0.0.4:26379: Connection refused; tcp://10.0.0.5:26379")
    assert scene.undo().state == "undoing"


def test_a_replica_that_no_sentinel_knows_is_not_drained_yet():
    scene = Scene("replica")
    for one in scene.played.sentinels.values():
        del one.copies["B"]
    with pytest.raises(NotYet, match="^no Sentinel has found this Redis as a replica of mymaster yet$"):
        scene.find()


# --- A master, with a guard -----------------------------------------------------------------------------------------------


def test_a_master_hands_over_while_its_writes_are_paused():
    scene = Scene()
    scene.promote()
    scene.begin()
    assert (scene.played.orders(), scene.redis.paused) == (GUARDED, True)
    assert scene.check() == Answer("draining", "it has handed over, and becomes a replica")
    assert scene.played.orders() == [*GUARDED, f"REPLICAOF {ADDRESSES['B'].replace(':', ' ')}", *SETTLED]
    assert (scene.redis.paused, scene.redis.settings) == (False, {"replica-priority": "0", "min-replicas-to-write": "0"})
    assert scene.check().state == "draining"
    scene.played.noticed()
    assert scene.check() == Answer("drained")
    count = len(scene.played.orders())
    scene.undo()
    scene.played.noticed()
    assert scene.undo() == Answer("undone")
    # It does not become master again.
    assert scene.played.orders()[count:] == ["CONFIG SET replica-priority 100", "CONFIG REWRITE"]


def test_only_one_sentinel_is_asked_for_the_failover_and_the_first_that_answers():
    scene = Scene()
    scene.promote()
    scene.played.away = {SENTINELS[0]}
    scene.begin()
    assert [address for address, line in scene.played.sent if "FAILOVER" in line] == [SENTINELS[1]]
    assert scene.check().state == "draining" and scene.redis.role == "slave"


def test_it_waits_until_every_replica_has_all_that_was_written():
    scene = Scene()
    scene.promote()
    scene.redis.copies["C"] = ("online", 1000)
    scene.played.passing = lambda: scene.redis.copies.update(C=("online", 1243))
    scene.begin()
    assert scene.played.orders() == GUARDED


def test_what_is_never_in_step_ends_the_pause():
    scene = Scene()
    scene.redis.copies["C"] = ("online", 1000)
    words = "not all that was written is on the replicas after 2.5 s without new writes: 10.0.0.6:6379 by 243 bytes behind"
    with pytest.raises(MethodError, match=f"^{words}$"):
        scene.begin()
    assert (scene.played.orders(), scene.redis.paused) == ([*GUARDED[:2], "CLIENT UNPAUSE", GUARD_BACK], False)


@pytest.mark.parametrize("answer,words", [(NO_GOOD, "NOGOODSLAVE No suitable replica to promote"), (b"-ERR ?\r\n", r"ERR \?")])
def test_a_sentinel_that_refuses_ends_the_pause(answer, words):
    scene = Scene()
    scene.played.sentinels[SENTINELS[0]].failover = answer
    with pytest.raises(MethodError, match=f"^Sentinel {SENTINELS[0]} does not begin a failover: {words}$"):
        scene.begin()
    # The guard goes at once: near its event a failed drain is not undone.
    assert (scene.played.orders(), scene.redis.paused) == ([*GUARDED, "CLIENT UNPAUSE", GUARD_BACK], False)
    scene.task = scene.task._replace(state="failed")
    assert (scene.undo(), scene.redis.settings["min-replicas-to-write"]) == (Answer("undone"), "0")
    assert "CONFIG REWRITE" not in scene.played.orders()


def test_an_attempt_that_fails_while_the_sentinels_move_on_leaves_the_guard_to_its_undo():
    scene = Scene()
    scene.redis.copies["C"] = ("online", 1000)
    scene.find()
    scene.played.passing = lambda: scene.played.all_name("B")
    with pytest.raises(MethodError, match="^not all that was written is on the replicas"):
        METHOD.begin(scene.machine, scene.task)
    assert (scene.played.orders(), scene.redis.settings["min-replicas-to-write"]) == ([*GUARDED[:2], "CLIENT UNPAUSE"], "2")
    assert (scene.undo().state, scene.redis.settings["min-replicas-to-write"]) == ("undoing", "2")
    scene.redis.role = "slave"
    scene.played.noticed()
    scene.undo()
    assert scene.redis.settings["min-replicas-to-write"] == "0"


def test_a_pause_that_is_refused_leaves_no_guard():
    scene = Scene()
    scene.redis.refuses["CLIENT PAUSE"] = b"-NOPERM User maintenance has no permissions to run the 'client|pause' command\r\n"
    with pytest.raises(MethodError, match="^127.0.0.1:6379 refuses CLIENT PAUSE 10000: NOPERM"):
        scene.begin()
    assert scene.redis.settings["min-replicas-to-write"] == "0"


@pytest.mark.parametrize(
    ("patience", "pause", "in_step"), [("60000", 10000, 2.5), ("5000", 4500, 2.5), ("3000", 2700, 2.3), ("2000", 1800, 1.4), ("1", 1800, 1.4), ("", 1800, 1.4)]
)
def test_no_pause_outlasts_the_patience_of_a_sentinel(patience, pause, in_step):
    scene = Scene()
    scene.played.sentinels[SENTINELS[2]].down_after = patience
    scene.redis.copies["C"] = ("online", 1000)
    with pytest.raises(MethodError, match=f"^not all that was written is on the replicas after {in_step} s without new writes"):
        scene.begin()
    assert scene.redis.pauses == [pause]


def test_short_pauses_are_more_within_the_seconds_of_an_event():
    scene = Scene(pause=9)
    scene.played.sentinels[SENTINELS[0]].down_after = "5000"
    scene.task = scene.task._replace(state="undone", finding={"paused": 0})
    scene.redis.counted = 1
    assert scene.find()["pause"] == 4500
    scene.task = scene.task._replace(state="undone")
    scene.redis.counted = 2
    with pytest.raises(MethodError, match="^writes were paused 2 times for this event"):
        scene.find()


def test_a_replica_that_hangs_is_waited_for_and_one_that_nobody_chooses_is_not_counted():
    scene = Scene()
    scene.redis.lags["C"] = 11
    with pytest.raises(NotYet, match="^Sentinel may choose 10.0.0.6:6379, and should not: it does not follow this master, or is not in step$"):
        scene.find()
    excluded(scene, "C")
    # A guard of two would refuse all writes at once.
    assert scene.find()["guard"] == "1"
    scene.redis.max_lag = "11"
    scene.task = scene.task._replace(state="undone")
    assert scene.find()["guard"] == "2"


def test_a_failover_that_is_under_way_in_this_moment_is_followed():
    scene = Scene()
    scene.played.sentinels[SENTINELS[0]].failover = IN_PROGRESS
    scene.begin()
    scene.played.all_name("C")
    assert scene.check().state == "draining" and scene.redis.master == ADDRESSES["C"]


def test_a_sentinel_that_ends_the_connection_may_have_begun():
    scene = Scene()

    def dies():
        scene.played.all_name("B")
        scene.played.away.add(SENTINELS[0])
        raise DaemonError("tcp://10.0.0.4:26379: timed out")

    scene.played.sentinels[SENTINELS[0]].on_failover = dies
    scene.begin()
    assert scene.redis.paused and scene.played.orders() == GUARDED
    assert scene.check().state == "draining" and scene.redis.master == ADDRESSES["B"]


def test_without_an_agreement_the_pause_ends_after_ten_seconds():
    scene = Scene()
    scene.begin()
    scene.played.sentinels[SENTINELS[0]].master = "B"
    says = f"{SENTINELS[0]} says {ADDRESSES['B']}; {SENTINELS[1]} says {ADDRESSES['A']}; {SENTINELS[2]} says {ADDRESSES['A']}"
    assert scene.check() == Answer("failed", f"the Sentinels have not agreed on another master within 7.5 s: {says}")
    assert (scene.redis.role, scene.redis.paused) == ("master", False)
    assert redis_handover.seconds_between("2026-11-27T20:00:00Z", scene.played.now()) < 10


def test_a_failover_that_comes_too_late_finds_a_master_that_takes_no_writes_without_its_replicas():
    scene = Scene()
    scene.begin()
    assert scene.check().state == "failed"
    one, other = (scene.played.sentinels[address] for address in SENTINELS[:2])
    one.flags = "master,failover_in_progress,force_failover"
    words = "the Sentinels go on with the failover: until it is a replica, it takes no writes without its replicas"
    assert (scene.undo(), scene.redis.settings["min-replicas-to-write"]) == (Answer("undoing", words), "2")
    one.flags, one.master, other.master = "master", "B", "B"
    assert scene.undo() == Answer("undoing", words)
    # One of three alone proves nothing, and neither does silence.
    other.master = "A"
    assert (scene.undo(), scene.redis.settings["min-replicas-to-write"]) == (Answer("undone"), "0")
    scene.redis.settings["min-replicas-to-write"] = "2"
    scene.played.away = set(SENTINELS)
    assert (scene.undo(), scene.redis.settings["min-replicas-to-write"]) == (Answer("undone"), "0")


def test_less_than_half_of_the_sentinels_agree_on_nothing():
    scene = Scene()
    scene.begin()
    scene.played.all_name("B")
    scene.played.away = set(SENTINELS[1:])
    # They are waited for: nothing is put back, no write waits meanwhile, and nothing is begun before they answer.
    assert scene.check().state == "lost" and scene.redis.role == "master" and not scene.redis.paused
    with pytest.raises(NoAnswer, match="^1 of 3 Sentinels answer$"):
        scene.begin()
    scene.played.away = set(SENTINELS)
    with pytest.raises(NoAnswer, match="^no Sentinel answers: "):
        scene.begin()
    scene.played.away = set()
    scene.played.sentinels[SENTINELS[1]].tilted = True
    tilted = f"^Sentinel {SENTINELS[1]} is in TILT mode: "
    with pytest.raises(NoAnswer, match=tilted):
        scene.begin()
    scene.task = scene.task._replace(state="new")
    with pytest.raises(NotYet, match=tilted):
        scene.begin()
    assert scene.played.orders().count("CLIENT PAUSE 10000 WRITE") == 1


def test_sentinels_that_lie_about_the_master_send_it_nowhere():
    scene = Scene()
    scene.begin()
    for one in scene.played.sentinels.values():
        one.address = "192.0.2.66:6379"
    words = "the Sentinels name 192.0.2.66:6379 as master, which was no replica of this Redis that may take over: it is not followed"
    assert scene.check() == Answer("failed", words)
    assert not any("192.0.2.66" in address or "REPLICAOF" in line for address, line in scene.played.sent)


def test_one_that_was_made_a_replica_by_sentinel_is_settled_all_the_same():
    scene = Scene()
    scene.begin()
    scene.played.all_name("B")
    scene.redis.role, scene.redis.master = "slave", ADDRESSES["B"]
    scene.played.noticed()
    assert scene.check().state == "draining"
    assert scene.played.orders() == [*GUARDED, *SETTLED]


def test_a_master_again_has_lost_its_drain_and_hands_over_again():
    scene = Scene()
    scene.promote()
    scene.begin()
    scene.check()
    scene.played.noticed()
    assert scene.check().state == "drained"
    scene.played.passing = lambda: None
    scene.redis.role = "master"
    scene.played.all_name("A")
    scene.played.sentinels[SENTINELS[0]].quorum = NO_QUORUM
    assert scene.check() == Answer("lost", "this Redis is master again")
    with pytest.raises(MethodError, match="NOQUORUM"):
        scene.begin()
    scene.played.sentinels[SENTINELS[0]].quorum = QUORUM
    scene.promote()
    scene.begin()
    assert scene.check().state == "draining" and scene.redis.pauses == [10000] * 2


# --- A master that is coordinated -----------------------------------------------------------------------------------------


def valkey(scene, version="9.1.2"):
    for one in (scene.redis, *scene.played.sentinels.values()):
        one.about = VALKEY_9.replace("9.1.2", version)
    for one in scene.played.sentinels.values():
        one.coordinated = OK
    return scene


def test_valkey_coordinates_it_without_a_pause_from_here():
    scene = valkey(Scene())
    scene.promote()
    scene.begin()
    assert scene.played.orders() == [COORDINATED]
    scene.played.all_name("B")
    scene.redis.role, scene.redis.master = "slave", ADDRESSES["B"]
    assert scene.check().state == "draining"
    assert scene.played.orders() == [COORDINATED, *SETTLED]


@pytest.mark.parametrize("version,coordinated", [("8.1.4", False), ("9.0.0", True), ("9.1.0", False), ("9.1.1", True), ("10.0.0", True)])
def test_only_versions_that_can_coordinate(version, coordinated):
    scene = valkey(Scene(), version)
    assert scene.find()["way"] == ("coordinated" if coordinated else "guarded")


def test_an_older_server_under_newer_sentinels_is_guarded():
    scene = valkey(Scene())
    scene.redis.about = "redis_version:6.2.14\r\n"
    assert scene.find()["way"] == "guarded"


def test_a_word_that_is_not_known_falls_back_to_the_guard():
    scene = valkey(Scene())
    scene.played.sentinels[SENTINELS[0]].coordinated = UNKNOWN_WORD
    scene.begin()
    assert scene.played.orders() == [COORDINATED, *GUARDED]


def test_no_good_replica_is_no_reason_to_try_another_way():
    scene = valkey(Scene())
    scene.played.sentinels[SENTINELS[0]].coordinated = NO_GOOD
    with pytest.raises(MethodError, match="NOGOODSLAVE"):
        scene.begin()
    assert scene.played.orders() == [COORDINATED]


def test_a_coordinated_failover_that_does_not_end_is_ended():
    scene = valkey(Scene())
    scene.begin()
    scene.redis.failover = "waiting-for-sync"
    assert scene.check().state == "failed"
    assert scene.played.orders() == [COORDINATED, "FAILOVER ABORT", "CLIENT UNPAUSE"]


# --- Refused before anything is changed -------------------------------------------------------------------------------------


def _too_old(scene):
    scene.redis.about = "redis_version:5.0.14\r\n"


def _strangers(scene):
    scene.task = scene.task._replace(options={**scene.task.options, "sentinels": SENTINELS[:2]})


def _no_quorum(scene):
    scene.played.sentinels[SENTINELS[0]].quorum = NO_QUORUM


def _all_excluded(scene):
    for one in scene.played.sentinels.values():
        one.copies = {"B": ("0", "slave"), "C": ("100", "s_down,slave,disconnected")}


def _none(scene):
    for one in scene.played.sentinels.values():
        one.copies = {}


def _unknown_master(scene):
    for one in scene.played.sentinels.values():
        one.unknown = True


def _away(scene):
    scene.played.away = set(SENTINELS)


def _spent(scene):
    scene.task = scene.task._replace(state="undone", finding={"paused": 2})
    scene.redis.counted = 5


def _denied(scene):
    scene.redis.refuses["CONFIG GET"] = b"-NOPERM User maintenance has no permissions to run the 'config|get' command\r\n"


def _loading(scene):
    scene.redis.refuses["CONFIG GET"] = b"-LOADING Redis is loading the dataset in memory\r\n"


def _junk_address(scene):
    scene.played.sentinels[SENTINELS[0]].address = "evil\x1b[2J:6379"
    scene.played.away = set(SENTINELS[1:])


REFUSALS = [
    (_too_old, r"Redis 5.0.14 cannot pause writes \(CLIENT PAUSE ... WRITE\): it needs Redis 6.2 or later, or Valkey"),
    (_strangers, "3 Sentinels watch mymaster, and option sentinels names 2: all must agree before a replica takes over"),
    (_no_quorum, f"Sentinel {SENTINELS[0]}: NOQUORUM 1 usable Sentinels. Not enough available Sentinels to reach .*"),
    (_all_excluded, "no replica may take over: 10.0.0.5:6379: its replica-priority is 0; 10.0.0.6:6379: disconnected, s_down"),
    (_none, "no replica may take over: there is none"),
    (_unknown_master, f"no Sentinel answers: Sentinel {SENTINELS[0]}: ERR No such master with that name; .*"),
    (_away, "no Sentinel answers: tcp://10.0.0.4:26379: Connection refused; .*"),
    (_spent, r"writes were paused 3 times for this event, and option pause \(30 s\) allows for no more"),
    (_denied, "127.0.0.1:6379 refuses CONFIG GET: NOPERM User maintenance has no permissions to run the 'config|get' command"),
    (_loading, "127.0.0.1:6379 refuses CONFIG GET: LOADING Redis is loading the dataset in memory"),
    (_junk_address, rf"no Sentinel answers: {SENTINELS[0]} names a Redis without a usable address: evil\\x1b\[2J; .*"),
]


@pytest.mark.parametrize("change,words", REFUSALS)
def test_a_master_that_cannot_hand_over_is_refused_by_name(change, words):
    scene = Scene()
    change(scene)
    with pytest.raises(MethodError, match=f"^{words}$") as caught:
        scene.find()
    assert (scene.played.orders(), len(str(caught.value)) <= LONGEST_MESSAGE) == ([], True)


def _fails_over(scene):
    scene.played.sentinels[SENTINELS[2]].flags = "master,failover_in_progress,force_failover"


def _other_master(scene):
    scene.played.all_name("B")


def _not_connected(scene):
    del scene.redis.copies["C"]


def _syncs(scene):
    scene.redis.copies["C"] = ("wait_bgsave", 0)


def _waits_for_sync(scene):
    scene.redis.failover = "waiting-for-sync"


WAITS = [
    (_fails_over, "a failover of mymaster is under way"),
    (_waits_for_sync, "a failover of mymaster is under way"),
    (_other_master, "this Redis is a master, and not the one that the Sentinels have for mymaster: 10.0.0.4:26379 has 10.0.0.5:6379, .*"),
    (_not_connected, "Sentinel may choose 10.0.0.6:6379, and should not: it does not follow this master, or is not in step"),
    (_syncs, "Sentinel may choose 10.0.0.6:6379, and should not: it does not follow this master, or is not in step"),
]


@pytest.mark.parametrize("change,words", WAITS)
def test_what_ends_by_itself_is_waited_for(change, words):
    scene = Scene()
    change(scene)
    with pytest.raises(NotYet, match=f"^{words}$"):
        scene.find()
    assert scene.played.orders() == []


# --- Several VMs of one event ---------------------------------------------------------------------------------------------


def excluded(scene, letter):
    for one in scene.played.sentinels.values():
        one.copies[letter] = ("0", "slave")


def test_the_master_waits_until_the_replica_of_the_same_event_has_excluded_itself():
    scene = Scene(resources=("vm_0", "VM_1"))
    with pytest.raises(NotYet, match="^Sentinel may choose 10.0.0.5:6379, and should not: its VM vm_1 is hit by the same event$"):
        scene.find()
    # One Sentinel that has not looked yet may be the one that chooses.
    excluded(scene, "B")
    scene.played.sentinels[SENTINELS[2]].copies["B"] = ("100", "slave")
    with pytest.raises(NotYet):
        scene.find()
    excluded(scene, "B")
    assert scene.find()["replicas"] == [ADDRESSES["C"]]


def test_a_replica_that_does_not_exclude_itself_holds_the_master_to_the_end():
    scene = Scene(resources=("vm_0", "vm_1"))
    scene.task = scene.task._replace(must_begin=True)
    with pytest.raises(NotYet):
        scene.find()


@pytest.mark.parametrize("members,names,words", [
    ({}, NAMES, "option members does not say which host it is on, and the event hits several VMs"),
    (MEMBERS, {}, "the name of redis2 in Azure is not known"),
])  # fmt: skip
def test_of_unknown_vms_those_that_have_not_excluded_themselves_are_taken_in_the_end(members, names, words):
    scene = Scene(resources=("vm_0", "vm_7"), members=members)
    scene.task = scene.task._replace(members=names)
    with pytest.raises(NotYet, match=f"^Sentinel may choose 10.0.0.5:6379, and should not: {words}$"):
        scene.find()
    scene.task = scene.task._replace(must_begin=True)
    assert scene.find()["replicas"] == [ADDRESSES["B"], ADDRESSES["C"]]


def test_an_event_of_one_vm_needs_no_members():
    assert Scene(members={}).find()["role"] == "master"


# --- What is left -----------------------------------------------------------------------------------------------------------


def wants(scene, replicas):
    scene.redis.settings["min-replicas-to-write"] = str(replicas)
    return scene


def down(scene, letter, sentinels=tuple(SENTINELS)):
    for address in sentinels:
        scene.played.sentinels[address].copies[letter] = ("100", "s_down,slave,disconnected")


NO_WRITES = ". No write is taken meanwhile; option allow_no_writes allows for that"


@pytest.mark.parametrize("role", ["master", "replica"])
@pytest.mark.parametrize(("wanted", "resources", "words"), [
    (2, [], "min-replicas-to-write is 2, and 1 of 2 replicas would be left: there are no others"),
    (1, ["vm_2"], "min-replicas-to-write is 1, and 0 of 2 replicas would be left: 10.0.0.6:6379: its VM vm_2 is hit by the same event"),
])  # fmt: skip
def test_where_the_master_would_want_more_replicas_than_are_left_nothing_is_drained(role, wanted, resources, words):
    scene = wants(Scene(role, resources=("vm_0" if role == "master" else "vm_1", *resources)), wanted)
    if resources:
        # As its own drain does.
        excluded(scene, "C")
    with pytest.raises(MethodError) as caught:
        scene.find()
    assert (str(caught.value), scene.played.orders()) == (words + NO_WRITES, [])
    scene.task = scene.task._replace(options={**scene.task.options, "allow_no_writes": True})
    assert scene.find()["min_replicas"] == str(wanted)


@pytest.mark.parametrize("role", ["master", "replica"])
def test_one_that_is_down_and_may_come_back_is_waited_for(role):
    scene = wants(Scene(role), 1)
    down(scene, "C", SENTINELS[:1])
    scene.redis.copies.pop("C")
    scene.find() if role == "replica" else None
    down(scene, "C")
    scene.task = scene.task._replace(state="new", finding={})
    words = "min-replicas-to-write is 1, and 0 of 2 replicas would be left: 10.0.0.6:6379 is down (disconnected, s_down)"
    with pytest.raises(NotYet) as caught:
        scene.find()
    assert (str(caught.value), scene.played.orders()) == (words, [])


def test_a_master_that_is_down_is_no_server_that_is_left():
    scene = wants(Scene("replica"), 1)
    for one in scene.played.sentinels.values():
        one.flags = "s_down,master"
    with pytest.raises(NotYet, match=r"0 of 2 replicas would be left: 10.0.0.4:6379 is down \(s_down\)$"):
        scene.find()


@pytest.mark.parametrize("change", [
    lambda scene: wants(scene, 1),
    lambda scene: setattr(wants(scene, 2).redis, "max_lag", "0"),
    lambda scene: down(wants(scene, 0), "C"),
])  # fmt: skip
def test_enough_replicas_or_none_wanted_hold_nothing(change):
    scene = Scene("replica")
    change(scene)
    scene.begin()
    scene.played.noticed()
    assert scene.check() == Answer("drained")


def test_what_has_gone_down_since_holds_the_approval_and_nothing_else():
    scene = wants(Scene("replica"), 1)
    scene.begin()
    scene.played.noticed()
    assert scene.check() == Answer("drained")
    down(scene, "C")
    words = "min-replicas-to-write is 1, and 0 of 2 replicas would be left: 10.0.0.6:6379 is down (disconnected, s_down)"
    assert scene.check() == Answer("drained", hold=words)
    # What has begun is not refused any more: after a boot it excludes itself again.
    scene.redis.settings["replica-priority"] = "100"
    assert scene.check().state == "lost"
    scene.begin()
    assert scene.redis.settings["replica-priority"] == "0"
    # A person who says that writes may stop lets it go.
    scene.task = scene.task._replace(options={**scene.task.options, "allow_no_writes": True})
    scene.played.noticed()
    assert scene.check() == Answer("drained")


@pytest.mark.parametrize(("members", "names", "words"), [
    ({}, NAMES, "option members does not say which host it is on, and the event hits several VMs"),
    (MEMBERS, {}, "the name of redis3 in Azure is not known"),
])  # fmt: skip
def test_of_an_event_of_unknown_vms_the_others_count_as_hit_until_it_must_begin(members, names, words):
    scene = wants(Scene("replica", resources=("vm_1", "vm_7"), members=members), 1)
    scene.task = scene.task._replace(members=names)
    with pytest.raises(MethodError, match=f"10.0.0.6:6379: {words}. No write"):
        scene.find()
    scene.task = scene.task._replace(must_begin=True)
    assert scene.find()["role"] == "slave"


@pytest.mark.parametrize("sentinels", [SENTINELS, SENTINELS[:2]])
def test_a_sentinel_that_lies_makes_up_no_replica_and_brings_none_back(monkeypatch, sentinels):
    scene = wants(Scene("replica", sentinels=sentinels), 1)
    down(scene, "C", SENTINELS[1:])
    honest = METHOD._watches

    def watches(*arguments):
        first, *others = honest(*arguments)
        made_up = [Copy(f"10.0.9.{number}:6379", str(number), "100", "") for number in range(60)]
        return [first._replace(copies=[*first.copies, *made_up]), *others]

    monkeypatch.setattr(METHOD, "_watches", watches)
    with pytest.raises(NotYet, match="min-replicas-to-write is 1, and 0 of 62 replicas would be left: 10.0.0.6:6379 is down"):
        scene.find()


NO_FAILOVER = "of 3 Sentinels would be left, and a failover needs 2: no replica takes over from a master that dies meanwhile"


@pytest.mark.parametrize("role", ["master", "replica"])
def test_too_few_sentinels_for_a_failover_are_a_warning(role):
    scene = Scene(role)
    if role == "master":
        scene.promote()
    first = scene.played.sentinels[SENTINELS[0]]
    first.others[SENTINELS[2 if role == "replica" else 1]] = "s_down,sentinel"
    scene.begin()
    assert METHOD.would(scene.machine, scene.task).endswith(f"; 1 {NO_FAILOVER}")
    while scene.check().state == "draining":
        scene.played.noticed()
    assert scene.check() == Answer("drained", note=f"1 {NO_FAILOVER}")


@pytest.mark.parametrize(("resources", "sentinels", "left"), [
    (("vm_1", "vm_2"), SENTINELS, "1"),
    (("vm_1", "vm_0", "vm_2"), SENTINELS, "0"),
    (("vm_1", "vm_2"), ["127.0.0.1:26379"], "0"),
    (("vm_1",), SENTINELS, ""),
])  # fmt: skip
def test_the_sentinels_of_the_vms_of_the_event_are_gone_with_them(resources, sentinels, left):
    scene = Scene("replica", resources=resources, sentinels=sentinels)
    scene.played.sentinels["127.0.0.1:26379"] = scene.played.sentinels[SENTINELS[1]]
    scene.played.sentinels[SENTINELS[1]].others.setdefault(SENTINELS[0], "sentinel")
    if len(sentinels) == 1:
        scene.played.sentinels["127.0.0.1:26379"].others = {SENTINELS[0]: "s_down,sentinel", SENTINELS[2]: "sentinel"}
    assert scene.find()["sentinels_left"] == (f"{left} {NO_FAILOVER}" if left else "")


# --- Killed, and run again ------------------------------------------------------------------------------------------------


class Killed(BaseException):
    """The run ends here."""


def kill():
    raise Killed


STEPS = ["CLIENT PAUSE", "CONFIG SET min-replicas", "REPLICAOF", "CONFIG REWRITE", "CONFIG SET replica-priority", "CLIENT UNPAUSE", "CLIENT KILL"]


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("step", [*STEPS, "FAILOVER"])
def test_killed_before_any_step_it_comes_to_the_same_end(step, late):
    scene = Scene()
    scene.promote()
    if step == "FAILOVER":
        scene.played.sentinels[SENTINELS[0]].on_failover = kill
    else:
        scene.redis.on[step] = kill
    with pytest.raises(Killed):
        scene.begin()
        scene.check()
    scene.redis.on.clear()
    scene.promote()
    # The next run comes at once, or when the lease of the killed one has expired and the pause is over.
    scene.played.sleep(200 if late else 0.5)
    if late:
        scene.redis.paused = False
    scene.begin()
    while scene.check().state == "draining":
        scene.played.noticed()
    assert scene.task.state == "drained"
    assert (scene.redis.role, scene.redis.paused) == ("slave", False)
    assert scene.redis.settings == {"replica-priority": "0", "min-replicas-to-write": "0"}
    assert sum(scene.redis.pauses) <= 30000
    for _look in range(2):
        scene.undo()
        scene.played.noticed()
    assert (scene.task.state, scene.redis.settings) == ("undone", {"replica-priority": "100", "min-replicas-to-write": "0"})


@pytest.mark.parametrize("theirs", ["0", "1"])
def test_killed_between_the_guard_and_the_pause_the_guard_is_taken_back(theirs):
    scene = Scene()
    scene.redis.settings["min-replicas-to-write"] = theirs
    scene.redis.on["CLIENT PAUSE"] = kill
    with pytest.raises(Killed):
        scene.begin()
    assert (scene.redis.settings["min-replicas-to-write"], scene.redis.pauses) == ("2", [])
    assert (scene.undo(), scene.redis.settings["min-replicas-to-write"]) == (Answer("undone"), theirs)


@pytest.mark.parametrize("state", ["found", "failed", "undone"])
def test_killed_again_and_again_writes_are_paused_for_thirty_seconds_in_all(state):
    scene = Scene()
    scene.redis.counted = 4
    scene.played.sentinels[SENTINELS[0]].on_failover = kill
    for _run in range(3):
        with pytest.raises(Killed):
            scene.begin()
        scene.task = scene.task._replace(state=state)
        if state == "undone":
            scene.redis.settings["min-replicas-to-write"] = "0"
        scene.played.sleep(5)
    with pytest.raises(MethodError, match="^writes were paused 3 times for this event"):
        scene.begin()
    assert scene.redis.pauses == [10000] * 3
    # Who has seen that it is over is not held up by the pauses.
    scene.played.all_name("B")
    if state == "found":
        scene.begin()
        assert scene.check().state == "draining" and scene.redis.master == ADDRESSES["B"]


def test_after_a_restart_only_the_pauses_since_then_are_known():
    scene = Scene()
    scene.task = scene.task._replace(state="undone", finding={"paused": 9})
    scene.redis.counted = 2
    assert scene.find()["paused"] == 9
    scene.redis.counted = 3
    with pytest.raises(MethodError, match="^writes were paused 3 times for this event"):
        scene.find()


def test_a_redis_that_does_not_count_is_paused_once():
    scene = Scene()
    scene.redis.about = "redis_version:6.2.14\r\n"
    scene.played.sentinels[SENTINELS[0]].on_failover = kill
    with pytest.raises(Killed):
        scene.begin()
    for state in ("found", "failed", "undone"):
        scene.task = scene.task._replace(state=state)
        with pytest.raises(MethodError, match="^writes may have been paused for this event already, and this Redis does not count its pauses, as 7.0 does"):
            scene.begin()
    assert scene.redis.pauses == [10000]


@pytest.mark.parametrize("pause,attempts", [(10, 1), (29, 2), (60, 6), (9, 0)])
def test_the_pause_of_an_event_is_as_long_as_its_option(pause, attempts):
    scene = Scene(pause=pause)
    for attempt in range(attempts):
        scene.task = scene.task._replace(state="undone")
        scene.redis.counted = attempt
        assert scene.find()["paused"] == 0
    scene.task = scene.task._replace(state="undone")
    scene.redis.counted = attempts
    with pytest.raises(MethodError, match="allows for no more"):
        scene.find()


# --- Passwords and TLS ----------------------------------------------------------------------------------------------------


def with_passwords(scene, real="s3cret"):
    scene.played.secrets = {"/etc/p": real}
    scene.played.password = "s3cret"
    scene.task = scene.task._replace(options={
        **scene.task.options, "username": "maintenance", "password_file": "/etc/p", "sentinel_password_file": "/etc/p", "tls": True, "ca_file": "/etc/ca",
        "certificate_file": "/etc/c",
    })  # fmt: skip
    return scene


def test_users_and_passwords_come_from_files_and_go_over_tls():
    scene = with_passwords(Scene())
    scene.begin()
    assert {daemon.url.partition(":")[0] for daemon in scene.played.daemons} == {"tls"}
    assert {(daemon.ca_file, daemon.certificate_file) for daemon in scene.played.daemons} == {("/etc/ca", "/etc/c")}
    assert "s3cret" not in str((scene.task, scene.played.daemons))


def test_a_wrong_password_is_said_without_it():
    scene = with_passwords(Scene(), "wr0ng")
    with pytest.raises(DaemonError, match="^127.0.0.1:6379 does not accept the user or the password in /etc/p$"):
        scene.find()


def test_a_server_that_repeats_the_password_does_not_get_it_into_a_message():
    scene = with_passwords(Scene())
    scene.redis.refuses["CONFIG GET"] = b"-ERR you have said s3cret\r\n"
    with pytest.raises(MethodError, match=r"^127.0.0.1:6379 refuses CONFIG GET: ERR you have said \*\*\*$"):
        scene.find()


def test_nor_one_that_repeats_it_without_an_error():
    scene = with_passwords(Scene())
    for one in scene.played.sentinels.values():
        one.quorum = b"+s3cret\r\n"
    with pytest.raises(MethodError, match="an unexpected str$"):
        scene.find()


PROTECTED = b"-DENIED Redis is running in protected mode because protected mode is enabled\r\n"


@pytest.mark.parametrize(
    "answer,words", [(PROTECTED, ": DENIED Redis is running in protected mode because protected mode is enabled"), (b"", ""), (b"$100\r\nab", "")]
)
def test_a_connection_that_ends_early_says_why(answer, words):
    scene = Scene()
    scene.played.exchange = lambda daemon, data, is_complete: answer
    with pytest.raises(DaemonError) as caught:
        scene.find()
    assert str(caught.value) == f"127.0.0.1:6379 has ended the connection{words}"


# --- By hand --------------------------------------------------------------------------------------------------------------


def test_no_command_to_paste_names_a_redis_of_another_vm():
    found = METHOD.by_hand({"role": "master", "priority": "no", "min_replicas": "x9"}, {"address": "10.0.0.5:6379"})
    call = "redis-cli -h HOST -p 6379 CONFIG"
    assert found == f"{call} SET replica-priority PRIORITY; {call} SET min-replicas-to-write NUMBER; {call} REWRITE"


@pytest.mark.parametrize("role,priority,expected", [
    ("slave", "100", "redis-cli -h 127.0.0.1 -p 6379 CONFIG SET replica-priority 100"),
    ("slave", "0", ""),
    ("slave", "1; reboot", "redis-cli -h 127.0.0.1 -p 6379 CONFIG SET replica-priority PRIORITY"),
    ("master", "100", "; ".join(f"redis-cli -h 127.0.0.1 -p 6379 CONFIG {one}" for one in
     ("SET replica-priority 100", "SET min-replicas-to-write 0", "REWRITE"))),
])  # fmt: skip
def test_how_an_operator_puts_it_back(role, priority, expected):
    assert METHOD.by_hand({"role": role, "priority": priority, "min_replicas": "0"}, defaults("redis_sentinel")) == expected


def test_by_hand_the_account_and_tls_are_those_of_the_settings_without_the_password():
    options = {**defaults("redis_sentinel"), "username": "maintenance", "password_file": "/etc/redis/secret", "tls": True}
    said = METHOD.by_hand({"role": "slave", "priority": "100"}, options)
    assert said == "redis-cli -h 127.0.0.1 -p 6379 --user maintenance --askpass --tls CONFIG SET replica-priority 100"


def test_check_mode_says_who_would_be_master():
    scene = Scene()
    scene.find()
    words = " or ".join(scene.task.present["replicas"])
    assert METHOD.would(scene.machine, scene.task) == f"would hand over from {scene.task.present['master']} to {words} (guarded)" and words
    other = Scene("replica")
    other.find()
    assert METHOD.would(other.machine, other.task) == "would keep this replica from becoming master (replica-priority 0)"
    assert scene.played.orders() == other.played.orders() == []
