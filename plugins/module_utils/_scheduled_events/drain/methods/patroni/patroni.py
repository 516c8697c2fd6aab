# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""Method patroni: a PostgreSQL leader hands over to another member, and a replica takes itself out of the choice of leaders and synchronous standbys.

Both by Patroni on the VM itself. Tags are what Patroni reads from the files of its configuration folder, one behind the other, so a file there adds some and
its removal takes back exactly these.
"""

from __future__ import annotations

import base64
import json
import os
import typing as t

from ....core.printable_text import printable
from ....core.types import Data, Values
from ....host.machine.daemons import Daemon, DaemonError, Reply
from ....host.machine.machine import Machine
from ....host.system import seconds_between, utc_text
from ..method import DRAINED, DRAINING, LOST, UNDOING, UNDONE, Answer, Method, MethodError, NotYet, Option, Task, event_id_in, is_true, reason_of
from ..pasted import word
from . import store
from .cluster import OUR_TAG, Member, Rules, View, candidate, is_alone, view_of

# Files are read in the order of their names, and the last one counts.
FILE = "zzz-maintenance-azure.yml"
MEBIBYTE = 1024 * 1024
LONGEST_ANSWER = 200
PAUSED = "the cluster is paused (patronictl pause): somebody keeps Patroni from acting on purpose. patronictl resume ends it"
NO_FOLDER = "set config_folder, the folder that Patroni is started with in place of one file, or leader_only: true, which drains no standby"
# Of POST /switchover: it may have happened, or who may take over has changed. The next look at the cluster tells.
# The last one: its store is away.
LOOK_AGAIN = ("switchover status unknown", "leader name does not match", "candidate name does not match with sync_standby", "into dcs")
MODES = ("synchronous_mode", "synchronous_mode_strict", "standby_cluster", "failsafe_mode")
FAILSAFE = ". failsafe_mode is on, and does not help: for it the leader must reach all members of Patroni, and one leaves with this VM"


class PatroniMethod(Method):
    """Hand over the lead, and keep the member out of the choice. Leadership does not return by itself: that would be a second pause."""

    name = "patroni"
    hands_over = True
    # Commits wait for the synchronous standby, and all writes for the leader.
    short_pause_hurts = True
    units = ("patroni.service",)
    option_units: t.ClassVar[t.Mapping[str, str]] = dict.fromkeys(("etcd.service", "consul.service", "zookeeper.service"), "store")
    own_name = "member"
    needs_seconds = 60.0
    options: t.ClassVar[t.Mapping[str, Option]] = {
        "url": Option("text", default="http://127.0.0.1:8008", address=True),
        "member": Option("text", default=""),
        "config_folder": Option("path", default=""),
        "leader_only": Option("truth", default=False),
        "candidates": Option("texts", default=[]),
        "members": Option("mapping", default={}, hosts=True),
        "maximum_lag": Option("whole", default=1),
        "username": Option("text", default=""),
        "password_file": Option("path", default=""),
        "ca_file": Option("path", default=""),
        "certificate_file": Option("path", default=""),
        "key_file": Option("path", default=""),
        "store": store.OPTION,
    }

    def find(self, machine: Machine, task: Task) -> Data:
        status = self._json(machine, task, "/patroni")
        view = self._view(machine, task)
        me = view.member(_name(machine, task, status))
        _refuse_other_member(me, status)
        _refuse_lost_store(machine, status)
        if view.is_paused:
            raise MethodError(PAUSED)
        file = _file_state(machine, task)
        rules = _rules(task, self._json(machine, task, "/config"))
        self._refuse_access(machine, task)
        if not task.known and (why := self._why_store_needs_it(machine, task, rules.is_failsafe)):
            raise why
        # Whether a person has taken a standby out before.
        was_out = me.is_out and not me.leads and not me.drained_for and file == "absent"
        finding: Data = {"member": me.name, "role": me.role, "state": me.state, "out": was_out}
        if _leader_only(task):
            finding["leader_only"] = True
        if me.leads:
            if view.scheduled:
                raise NotYet(f"a switchover is scheduled for {view.scheduled}; patronictl flush removes it")
            finding["to"] = candidate(view, me, rules)
        here = "" if task.options["store"] else store.listens_here(self.daemons(machine), ("127.0.0.1", me.host))
        more = {"strict": rules.is_strict and not _leader_only(task) and not was_out, "failsafe": rules.is_failsafe, "store_here": here}
        finding.update({key: value for key, value in more.items() if value})
        # A leader that keeps no tags may be synchronous again.
        alone = not _leader_only(task) and is_alone(view, me, finding.get("to", ""), rules)
        return {**finding, "alone": alone}

    def would(self, machine: Machine, task: Task) -> str:
        name, to = task.present["member"], task.present.get("to")
        does = [f"switch over from {name} to {to}"] if to else []
        if not _leader_only(task) and not task.present["out"]:
            does.append(f"keep {name} from leading and from being synchronous")
        return f"would {' and '.join(does) or f'leave {name} as it is'}"

    def begin(self, machine: Machine, task: Task) -> None:
        if _leader_only(task) or task.present["out"] or _file_state(machine, task) == "another event":
            return
        content = base64.b64encode(_content(task.reason).encode()).decode("ascii")
        # Patroni runs as a user of its own. The file has no secret, and no name that Patroni reads before it is complete.
        machine.flag_files.restore(_path(task), {"kind": "file", "mode": "644", "owner": "0", "group": "0", "content": content})
        self._reload(machine, task)

    def check(self, machine: Machine, task: Task) -> Answer:
        try:
            view = self._view(machine, task)
            me = view.member(str(task.known.get("member")))
        except MethodError as error:
            # As after a boot: it is no member again. Its file is still there.
            return Answer(DRAINING, str(error))
        if not _leader_only(task) and not me.is_out:
            if _file_state(machine, task) == "absent":
                return Answer(LOST, f"{me.shown} has lost its tags")
            return Answer(DRAINING, f"Patroni has not taken the tags of {_path(task)} yet; does it run from that folder, and does no later file set them?")
        if me.leads and me.is_up:
            why = self._hand_over(machine, task, view, me)
            view = self._view(machine, task)
            me = view.member(me.name)
            if me.leads:
                return Answer(DRAINING, why or f"{me.shown} still leads")
        answer = _how_far(view, me, task)
        if answer.state != DRAINED:
            return answer
        needed = self._why_store_needs_it(machine, task, task.known.get("failsafe") is True)
        here = "" if task.options["store"] else task.known.get("store_here")
        told = f"{here} listens on this VM: if it is Patroni's store, set option store, so that its majority is asked for" if here else ""
        return answer._replace(note=" ".join(filter(None, (answer.note, told))) or None, hold=str(needed) if needed else None)

    def undo(self, machine: Machine, task: Task) -> Answer:
        changed, file = "", "absent" if _leader_only(task) else _file_state(machine, task, strict=False)
        if file == "ours":
            machine.flag_files.remove(_path(task))
        elif file == "theirs":
            changed = f"{_path(task)} was changed by somebody, and is left: it keeps this member out until it is removed"
        if task.finding.get("out") is True and file == "absent":
            return Answer(UNDONE)
        try:
            me = self._view(machine, task).member(str(task.finding.get("member")))
            if me.drained_for == task.event.id and not changed:
                self._reload(machine, task)
                return Answer(UNDOING, f"{me.shown} still has the tags of the drain")
        except (DaemonError, MethodError) as error:
            # As above.
            return Answer(UNDOING, str(error))
        missing = _missing(me, task)
        return Answer(UNDOING, missing) if missing else Answer(UNDONE, changed or None)

    def by_hand(self, finding: Values, options: Values) -> str:
        if finding.get("out") is True or not options.get("config_folder") or is_true(options.get("leader_only")):
            return ""
        return f"rm -f {word(os.path.join(str(options['config_folder']), FILE), 'FILE')} && systemctl reload patroni"

    def shown(self, finding: Values) -> str:
        if finding.get("out") is True:
            return f"member {finding.get('member')}, out of service already"
        to = f" and hands over to {finding['to']}" if finding.get("to") else ""
        only = " (leader only)" if finding.get("leader_only") is True else ""
        alone = ", without which commits are on the leader alone" if finding.get("alone") is True else ""
        here = f"; {finding['store_here']} listens on its VM (option store)" if finding.get("store_here") else ""
        return f"member {finding.get('member')}, which is {finding.get('role')}{to}{only}{alone}{here}"

    def _hand_over(self, machine: Machine, task: Task, view: View, me: Member) -> str:
        """Ask for a switchover, on the leader: a replica would only pass it on with its next loop. Return why it has to be looked for, or an empty text."""
        if view.is_paused:
            raise MethodError(PAUSED)
        rules = _rules(task, self._json(machine, task, "/config"))
        try:
            to = candidate(view, me, rules, str(task.known.get("to") or ""))
            named = {} if rules.is_quorum else {"candidate": to}
            reply = self._request(machine, task, "POST", "/switchover", {"leader": me.name, **named})
        except (NotYet, DaemonError) as error:
            # An answer that does not come in time says nothing about the switchover.
            return str(error)
        if reply.status == 200:
            return ""
        said = _said(reply)
        if any(words in said.lower() for words in LOOK_AGAIN):
            return said
        raise MethodError(f"Patroni refuses the switchover to {printable(to, LONGEST_ANSWER)}: {said}")

    def _why_store_needs_it(self, machine: Machine, task: Task, failsafe: bool) -> Exception | None:
        """Return the error to raise where the store would be left without a majority."""
        try:
            store.refuse_lost_majority(self.daemons(machine), _daemon(task), task)
        except (NotYet, MethodError, DaemonError) as error:
            return type(error)(f"{error}{FAILSAFE if failsafe else ''}")
        return None

    def _reload(self, machine: Machine, task: Task) -> None:
        """Let Patroni read its files now. It does in its next loop: a change of the settings that changes nothing, as null for an unknown key, wakes it."""
        reply = self._request(machine, task, "POST", "/reload")
        if reply.status != 202:
            raise MethodError(f"Patroni does not read its configuration again: {_said(reply)}")
        try:
            self._request(machine, task, "PATCH", "/config", {OUR_TAG: None})
        except DaemonError:
            pass

    def _refuse_access(self, machine: Machine, task: Task) -> None:
        """Find out whether we may act: a switchover from no leader is refused with 400, and before that whoever may ask for none."""
        reply = self._request(machine, task, "POST", "/switchover", {"candidate": "-"})
        if reply.status in (401, 403):
            raise MethodError(f"Patroni lets us change nothing: {_said(reply)}; set username and password_file, or certificate_file, or see its allowlist")
        if reply.status != 400:
            raise MethodError(f"Patroni cannot be asked for a switchover: {_said(reply)}")

    def _view(self, machine: Machine, task: Task) -> View:
        return view_of(self._json(machine, task, "/cluster"))

    def _json(self, machine: Machine, task: Task, path: str) -> t.Any:
        reply = self._request(machine, task, "GET", path)
        if reply.status != 200:
            raise MethodError(f"GET {path} of Patroni: {_said(reply)}")
        try:
            return reply.json()
        except ValueError:
            raise MethodError(f"GET {path} of Patroni: the answer is no JSON")

    def _request(self, machine: Machine, task: Task, method: str, path: str, body: Values | None = None) -> Reply:
        daemon = _daemon(task)._replace(username=str(task.options["username"]), password_file=str(task.options["password_file"]))
        data = None if body is None else json.dumps(body).encode()
        return self.daemons(machine).request(daemon, method, path, data, {"Content-Type": "application/json"})


def _daemon(task: Task) -> Daemon:
    """Return Patroni with the files of TLS, and without its password, which is for nobody else."""
    url, ca, certificate, key = (str(task.options[name]) for name in ("url", "ca_file", "certificate_file", "key_file"))
    return Daemon(url, ca_file=ca, certificate_file=certificate, key_file=key)


def _said(reply: Reply) -> str:
    return f"{reply.status} {printable(reply.said, LONGEST_ANSWER)}"


def _leader_only(task: Task) -> bool:
    return is_true(task.options["leader_only"])


def _path(task: Task) -> str:
    return os.path.join(str(task.options["config_folder"]), FILE)


def _content(reason: str) -> str:
    event_id = reason.split()[-1]
    words = "# The VM of this member is drained for that event of Azure. This file is removed when it is back."
    return f'# {reason}\n{words}\ntags:\n  nofailover: true\n  nosync: true\n  {OUR_TAG}: "{event_id}"\n'


def _file_state(machine: Machine, task: Task, strict: bool = True) -> str:
    """Return whose file it is: absent, ours, of another event, or theirs. A file that somebody has added something to is theirs. C(strict) refuses it."""
    if _leader_only(task):
        return "absent"
    folder, path = str(task.options["config_folder"]), _path(task)
    if strict and not folder:
        raise MethodError(NO_FOLDER)
    if strict and not machine.flag_files.exists(os.path.join(folder, ".")):
        raise MethodError(f"config_folder {folder} is no folder on this VM. Where Patroni runs from one file: {NO_FOLDER}")
    found = machine.flag_files.describe(path)
    if found["kind"] == "absent":
        return "absent"
    content = base64.b64decode(found["content"]).decode("utf-8", "replace")
    event_id = event_id_in(content.partition("\n")[0][2:])
    if event_id is not None and content == _content(reason_of(event_id)):
        return "ours" if event_id == task.event.id else "another event"
    if strict:
        raise MethodError(f"{path} is not from this collection, or was changed by somebody: move it away")
    return "theirs"


def _name(machine: Machine, task: Task, status: t.Any) -> str:
    """Return the name of the VM's member: as set, as Patroni says (since 3.1), or as the host is named."""
    about = status.get("patroni") if isinstance(status, t.Mapping) else None
    said = about.get("name") if isinstance(about, t.Mapping) else None
    return str(task.options["member"] or said or "") or machine.commands.run(["uname", "-n"], {}, 10).output.strip().partition(".")[0]


def _refuse_other_member(me: Member, status: t.Any) -> None:
    """A name that was set wrongly would drain another member than this VM's."""
    role = str(status.get("role")) if isinstance(status, t.Mapping) else ""
    if me.leads != (role in ("master", "primary", "standby_leader")):
        said = printable(role, LONGEST_ANSWER)
        raise NotYet(f"the Patroni of this VM says that it is {said}, and {me.shown} is {me.role} in the cluster: is the option member right?")


def _refuse_lost_store(machine: Machine, status: t.Any) -> None:
    """Patroni goes on to tell what it saw last when its store (etcd, Consul, ...) has no quorum. It looks every ten seconds."""
    seen = status.get("dcs_last_seen") if isinstance(status, t.Mapping) else None
    age = seconds_between(utc_text(seen), machine.now()) if isinstance(seen, int) and 0 < seen < 2**33 else None
    if age is not None and age > 60:
        raise MethodError(f"Patroni has not reached its store (DCS: etcd, Consul, ZooKeeper, Kubernetes) for {int(age)} s: nothing can be handed over")


def _rules(task: Task, config: t.Any) -> Rules:
    members = task.options["members"]
    hosts = {str(name): str(host) for name, host in members.items()} if isinstance(members, t.Mapping) else {}

    def why_hit(name: str) -> str:
        # An event that names one VM names this one.
        if len(task.resources) == 1:
            return ""
        return task.why_not(hosts[name]) if name in hosts else "the option members does not say which host it is, and the event names other VMs, too"

    mode, strict, standby, failsafe = (config.get(key) if isinstance(config, t.Mapping) else None for key in MODES)
    longest = int(task.options["maximum_lag"]) * MEBIBYTE
    # A standby cluster has no commits of its own, and is never synchronous, whatever is set.
    mode = None if standby else mode
    is_quorum = str(mode).lower() == "quorum"
    is_synchronous = is_quorum or is_true(mode)
    is_strict = is_synchronous and is_true(strict)
    return Rules([str(one) for one in task.listed("candidates")], why_hit, longest, is_synchronous, is_quorum, is_strict, is_true(failsafe))


def _how_far(view: View, me: Member, task: Task) -> Answer:
    """Return the answer for what is no leader that runs."""
    if me.leads:
        return Answer(DRAINING, f"{me.shown} leads and is {printable(me.state, LONGEST_ANSWER)}")
    if view.leader is None:
        return Answer(DRAINING, "the cluster has no leader")
    if me.is_synchronous and not _leader_only(task):
        return Answer(DRAINING, f"{me.shown} is the synchronous standby until Patroni has taken another one")
    if me.is_synchronous:
        return Answer(DRAINED, note=f"{me.shown} is the synchronous standby and stays it (leader_only): while its VM stands still, nothing is written")
    if task.known.get("strict") is True and not view.has_synchronous_beside(me):
        return Answer(DRAINING, "no member is the synchronous standby yet, and with synchronous_mode_strict nothing is written without one")
    alone = task.known.get("alone") is True
    return Answer(DRAINED, note=f"Without {me.shown} no standby is synchronous: commits are on the leader alone until it is back" if alone else None)


def _missing(me: Member, task: Task) -> str:
    """Return in words what is not yet as it was."""
    if task.finding.get("state") not in (None, "") and not me.is_up:
        return f"{me.shown} is {printable(me.state, LONGEST_ANSWER)}"
    if not me.leads and (me.lag is None or me.lag > int(task.options["maximum_lag"]) * MEBIBYTE):
        return f"{me.shown} lags {'by an unknown number of' if me.lag is None else me.lag} bytes behind"
    return ""
