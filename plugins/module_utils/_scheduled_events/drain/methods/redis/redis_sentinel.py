# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""Method redis_sentinel: a Redis or Valkey master hands over to a replica, with every acknowledged write, and no Sentinel chooses what is drained."""

from __future__ import annotations

import time
import typing as t

from ....core.types import Data, Values
from ....host.machine.daemons import Daemon, DaemonError
from ....host.machine.machine import Machine
from ..method import DRAINED, DRAINING, FAILED, LONGEST_MESSAGE, LOST, UNDOING, UNDONE, Answer, Method, MethodError, NoAnswer, NotYet, Option, Task, is_true
from ..pasted import word
from . import handover
from .remaining import remaining, too_few_sentinels
from .resp import ErrorReply
from .servers import COPY, LOOPBACK, MASTER, NUMBER, Redis, Server, Watch, master_address, observe_redis, observe_sentinel, said

# CLIENT PAUSE ... WRITE and CLIENT UNPAUSE.
OLDEST = (6, 2)
UNDER_WAY_STATES = ("found", "begun")
SENTINEL_SECONDS = 2.0
LONGEST_ANSWER = 256 * 1024


class RedisSentinelMethod(Method):
    """Take Redis out of the choice of the Sentinels. A master hands over before: its writes are paused until a replica has all of them, and is master."""

    name = "redis_sentinel"
    hands_over = True
    units = ("redis-sentinel.service", "valkey-sentinel.service")
    # Ten for the failover, and Sentinel reads replica-priority every ten.
    needs_seconds = 20.0
    options: t.ClassVar[t.Mapping[str, Option]] = {
        "master": Option("text", default="mymaster"),
        "address": Option("address", default="127.0.0.1:6379"),
        "sentinels": Option("texts", default=["127.0.0.1:26379"], address=True),
        "members": Option("mapping", default={}, hosts=True),
        "pause": Option("whole", default=30),
        "allow_no_writes": Option("truth", default=False),
        "username": Option("text", default=""),
        "password_file": Option("path", default=""),
        "sentinel_username": Option("text", default=""),
        "sentinel_password_file": Option("path", default=""),
        "tls": Option("truth", default=False),
        "ca_file": Option("path", default=""),
        "certificate_file": Option("path", default=""),
    }

    def find(self, machine: Machine, task: Task) -> Data:
        own = observe_redis(self._redis(machine, task))
        if own.version < OLDEST:
            raise MethodError(f"Redis {'.'.join(map(str, own.version))} cannot pause writes (CLIENT PAUSE ... WRITE): it needs Redis 6.2 or later, or Valkey")
        watches = self._watches(machine, task)
        way = handover.way_to_hand_over(own, watches, task) if own.role == MASTER else ""
        under_way = task.known.get("role") == MASTER and task.state in UNDER_WAY_STATES
        if way:
            handover.wait_for_sentinels(watches, task, under_way)
        pause = handover.pause_for(watches)
        # What a killed run has begun is not refused any more.
        if way and not under_way:
            handover.refuse(own, watches, task)
        if way and way != handover.UNDER_WAY:
            handover.refuse_pause(own, pause, task)
        if own.role != MASTER and not any(copy.run_id == own.run_id for watch in watches for copy in watch.copies):
            raise NotYet(f"no Sentinel has found this Redis as a replica of {task.options['master']} yet")
        left = remaining(own, watches, task)
        if not task.known:
            handover.refuse_writes_without_replicas(left)
        return {
            "role": own.role,
            "priority": own.priority,
            "min_replicas": own.min_replicas,
            "guard": str(max(len(own.copies), int(own.min_replicas))),
            # Of the first attempt for the event.
            "paused": task.finding.get("paused", own.paused),
            "master": watches[0].master,
            "sentinels": [watch.sentinel for watch in watches],
            "replicas": sorted({copy.address for watch in watches for copy in watch.copies if copy.eligible}),
            "way": way,
            "pause": pause,
            "sentinels_left": too_few_sentinels(left.hosts, watches[0]),
        }

    def would(self, machine: Machine, task: Task) -> str:
        found = task.present
        left = f"; {found['sentinels_left']}" if found["sentinels_left"] else ""
        if found["role"] != MASTER:
            return f"would keep this replica from becoming master (replica-priority 0){left}"
        return f"would hand over from {found['master']} to {' or '.join(found['replicas'])} ({found['way']}){left}"

    def begin(self, machine: Machine, task: Task) -> None:
        redis = self._redis(machine, task)
        if task.present["role"] != MASTER:
            redis.order("CONFIG", "SET", "replica-priority", "0")
        elif task.present["way"] != handover.UNDER_WAY:
            self._hand_over(machine, task, redis)

    def check(self, machine: Machine, task: Task) -> Answer:
        redis = self._redis(machine, task)
        # After a boot it may not have started yet: no answer.
        own = observe_redis(redis)
        if own.role == MASTER:
            under_way = task.known.get("role") == MASTER and task.state in UNDER_WAY_STATES
            return self._follow(machine, task, redis) if under_way else Answer(LOST, "this Redis is master again")
        if task.known.get("role") == MASTER and task.state == "found":
            handover.settle(redis, task)
            own = observe_redis(redis)
        if own.priority != "0":
            return Answer(LOST, f"its replica-priority is {own.priority} again")
        if not own.link_up:
            return Answer(DRAINING, f"it is not in step with its master {own.master} yet")
        unaware, watches = self._unaware(machine, task, own)
        if unaware:
            return Answer(DRAINING, unaware)
        left = remaining(own, watches, task)
        return Answer(DRAINED, note=too_few_sentinels(left.hosts, watches[0]) or None, hold=left.lacks or None)

    def undo(self, machine: Machine, task: Task) -> Answer:
        redis, found = self._redis(machine, task), task.finding
        try:
            own = observe_redis(redis)
        except DaemonError as error:
            return Answer(UNDOING, str(error))
        changed = _ours(own, found)
        if handover.GUARD in changed and own.role == MASTER and self._moves_on(machine, task, own):
            return Answer(UNDOING, "the Sentinels go on with the failover: until it is a replica, it takes no writes without its replicas")
        for name, value in changed.items():
            redis.order("CONFIG", "SET", name, value)
        if changed and (own.role, own.master) != (found.get("role"), found.get("master") if own.role == COPY else own.master):
            # Sentinel rewrites the configuration file of a Redis that gets another master, with what the drain has set: it would hold after the next start.
            # Without a file there is nothing to rewrite.
            redis.ask(("CONFIG", "REWRITE"))
        if own.role == MASTER:
            return Answer(UNDONE)
        unaware = self._unaware(machine, task, own._replace(priority=changed.get("replica-priority", own.priority)), 0.5)[0]
        left = unaware if own.link_up else f"it is not in step with its master {own.master} yet"
        return Answer(UNDOING, left) if left else Answer(UNDONE)

    def by_hand(self, finding: Values, options: Values) -> str:
        host, _colon, port = str(options.get("address")).rpartition(":")
        user = f" --user {word(options['username'], 'USER')}" if options.get("username") else ""
        login = user + (" --askpass" if options.get("password_file") else "") + (" --tls" if is_true(options.get("tls")) else "")
        call = f"redis-cli -h {word(host, 'HOST', LOOPBACK)} -p {word(port, 'PORT', NUMBER)}{login} CONFIG"
        if str(finding.get("priority")) == "0" and finding.get("role") != MASTER:
            return ""
        priority = f"{call} SET replica-priority {word(finding.get('priority'), 'PRIORITY', NUMBER)}"
        if finding.get("role") != MASTER:
            return priority
        return f"{priority}; {call} SET min-replicas-to-write {word(finding.get('min_replicas'), 'NUMBER', NUMBER)}; {call} REWRITE"

    def shown(self, finding: Values) -> str:
        return f"role {finding.get('role')}, replica-priority {finding.get('priority')}"

    # --- The servers ---

    def _redis(self, machine: Machine, task: Task) -> Server:
        return self._server(machine, task, str(task.options["address"]), "", 10.0)

    def _sentinel(self, machine: Machine, task: Task, address: str) -> Server:
        return self._server(machine, task, address, "sentinel_", SENTINEL_SECONDS)

    def _server(self, machine: Machine, task: Task, address: str, prefix: str, seconds: float) -> Server:
        options = {name: str(task.options[name]) for name in ("ca_file", "certificate_file")}
        login = {name: str(task.options[prefix + name]) for name in ("username", "password_file")}
        scheme = "tls" if is_true(task.options["tls"]) else "tcp"
        return Server(self.daemons(machine), Daemon(f"{scheme}://{address}", seconds, LONGEST_ANSWER, **options, **login))

    def _watches(self, machine: Machine, task: Task) -> list[Watch]:
        """Return what each Sentinel that answers knows. Raise MethodError where none does."""
        found: list[Watch] = []
        failures: list[Exception] = []
        for address in task.listed("sentinels"):
            try:
                found.append(observe_sentinel(self._sentinel(machine, task, str(address)), str(task.options["master"])))
            except (DaemonError, MethodError) as error:
                failures.append(error)
        if not found:
            why = "; ".join(map(str, failures)) or "the option sentinels is empty"
            away = failures and all(isinstance(error, DaemonError) for error in failures)
            raise (NoAnswer if away else MethodError)(f"no Sentinel answers: {why}"[:LONGEST_MESSAGE])
        return found

    def _unaware(self, machine: Machine, task: Task, own: Redis, share: float = 0.0) -> tuple[str, list[Watch]]:
        """Return which Sentinels have another replica-priority of this Redis than it has, if more than a share: they ask every ten seconds, or lie.

        And what all that answer know.
        """
        try:
            watches = self._watches(machine, task)
        except MethodError as error:
            return str(error), []
        found = [watch.sentinel for watch in watches if any(copy.run_id == own.run_id and copy.priority != own.priority for copy in watch.copies)]
        return f"not yet noticed by Sentinel {', '.join(found)}" if len(found) > share * len(watches) else "", watches

    def _moves_on(self, machine: Machine, task: Task, own: Redis) -> bool:
        """Return whether the Sentinels make another Redis the master, or most of them have."""
        try:
            watches = self._watches(machine, task)
        except MethodError:
            return False
        return any(watch.fails_over for watch in watches) or 2 * sum(watch.run_id != own.run_id for watch in watches) > len(watches)

    # --- The handover of a master ---

    def _hand_over(self, machine: Machine, task: Task, redis: Server) -> None:
        # One Sentinel only: another one would answer OK, too, and begin a second failover.
        sentinel = self._sentinel(machine, task, task.present["sentinels"][0])
        if task.present["way"] == handover.COORDINATED and self._ask_for_failover(sentinel, task, "COORDINATED"):
            return
        # Before the pause: wherever this run ends, the Sentinels may replace this master and tell it late, when the pause is over. Then its replicas have left
        # it, and without them it takes no writes. As long as they are there, it does.
        redis.order("CONFIG", "SET", handover.GUARD, str(task.finding["guard"]))
        try:
            redis.order("CLIENT", "PAUSE", str(task.present["pause"]), "WRITE")
            handover.wait_in_step(machine, task, redis)
            self._ask_for_failover(sentinel, task)
        except (DaemonError, MethodError):
            redis.ask(("CLIENT", "UNPAUSE"))
            # No Sentinel has begun, and near its event a failed drain is not undone: a replica that hangs must not stop all writes meanwhile.
            if not self._moves_on(machine, task, observe_redis(redis)):
                redis.ask(("CONFIG", "SET", handover.GUARD, str(task.finding["min_replicas"])))
            raise

    @staticmethod
    def _ask_for_failover(sentinel: Server, task: Task, *how: str) -> bool:
        """Ask, and return whether the failover is under way. Raise MethodError for a refusal, other than of a word that the Sentinel does not know."""
        try:
            (reply,) = sentinel.ask(("SENTINEL", "FAILOVER", str(task.options["master"]), *how))
        except DaemonError:
            # It may have begun all the same, so nobody else is asked: check() sees whether it has.
            return True
        if reply == "OK" or (isinstance(reply, ErrorReply) and reply.code == "INPROG"):
            return True
        if how and isinstance(reply, ErrorReply) and reply.code != "NOGOODSLAVE":
            return False
        raise MethodError(f"Sentinel {sentinel.address} does not begin a failover: {said(reply)}")

    def _follow(self, machine: Machine, task: Task, redis: Server) -> Answer:
        """Wait until this Redis is no master any more, or all Sentinels name another: then it becomes its replica, and its clients ask again."""
        began = machine.now()
        try:
            while True:
                named = self._named(machine, task)
                if observe_redis(redis).role != MASTER:
                    break
                chosen = handover.agreed(named, task)
                if chosen:
                    host, _colon, port = chosen.rpartition(":")
                    redis.order("REPLICAOF", host, port)
                    break
                if handover.is_over(machine, began, handover.FOLLOW_SECONDS):
                    says = "; ".join(f"{sentinel} says {address}" for sentinel, address in named.items()) or "none answers"
                    kind = NoAnswer if len(named) < len(task.finding.get("sentinels") or ()) or self._are_tilted(machine, task) else MethodError
                    raise kind(f"the Sentinels have not agreed on another master within {handover.FOLLOW_SECONDS} s: {says}")
                time.sleep(handover.LOOK_AGAIN_SECONDS)
        except MethodError as error:
            redis.ask(("FAILOVER", "ABORT"), ("CLIENT", "UNPAUSE"))
            # Those that are away, or were right now, are asked again once they act. Until then the guard stays: they may have read the order.
            return Answer(LOST if isinstance(error, NoAnswer) else FAILED, str(error))
        handover.settle(redis, task)
        return Answer(DRAINING, "it has handed over, and becomes a replica")

    def _are_tilted(self, machine: Machine, task: Task) -> bool:
        try:
            return any(watch.tilted for watch in self._watches(machine, task))
        except MethodError:
            return True

    def _named(self, machine: Machine, task: Task) -> dict[str, str]:
        """Return the master that each Sentinel gives to clients, of those that answered before."""
        found = {}
        known = task.finding.get("sentinels") or ()
        for address in map(str, task.listed("sentinels")):
            if address in known:
                try:
                    found[address] = master_address(self._sentinel(machine, task, address), str(task.options["master"]))
                except (DaemonError, MethodError):
                    continue
        return found


def _ours(own: Redis, found: Values) -> dict[str, str]:
    """Return what has to be put back: what is still as the drain has set it."""
    changed = {}
    if own.priority == "0" != found.get("priority"):
        changed["replica-priority"] = str(found.get("priority"))
    if found.get("role") == MASTER and own.min_replicas == found.get("guard") != found.get("min_replicas"):
        changed[handover.GUARD] = str(found.get("min_replicas"))
    return changed
