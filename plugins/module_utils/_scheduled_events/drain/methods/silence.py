# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""Method silence: Alertmanager sends no alert of this VM while an event takes it out of service."""

from __future__ import annotations

import datetime
import json
import re
import socket
import typing as t

from ...core.printable_text import printable
from ...core.types import Data, Values
from ...host.machine.daemons import Daemon, DaemonError
from ...host.machine.machine import Machine
from .method import DRAINED, LOST, UNDONE, Answer, Method, MethodError, Option, Task, is_true

SILENCES = "/api/v2/silences"
# Alertmanager begins at once what would have begun before: by the clock of a VM that is ahead, it would begin in hours.
AT_ONCE = "1970-01-01T00:00:00+00:00"
# An id that Alertmanager gives is part of a path.
ID = re.compile(r"[0-9a-f-]{8,64}")
# Silences of one event and VM that are ended: who may write to Alertmanager could make thousands.
MOST = 20


class SilenceMethod(Method):
    """Make a silence before the drain, with the event as its creator, and end it afterwards."""

    name = "silence"
    outside = True
    can_tell = False
    # A silence says whose it is, and ends by itself.
    safe_at_once = True
    options: t.ClassVar[t.Mapping[str, Option]] = {
        "url": Option("text", default="http://127.0.0.1:9093", address=True),
        "label": Option("label", default="instance"),
        "value": Option("pattern", default=""),
        "seconds": Option("seconds", default=7200),
        "required": Option("truth", default=False),
        "ca_file": Option("path", default=""),
        "username": Option("text", default=""),
        "password_file": Option("path", default=""),
    }

    def find(self, machine: Machine, task: Task) -> Data:
        return {"creator": task.reason, "value": _value(task)}

    def would(self, machine: Machine, task: Task) -> str:
        try:
            there = self._ours(machine, task)
        except MethodError as error:
            if is_true(task.options.get("required")):
                raise
            return f"would go on without a silence, so alerts may be sent: {error}"
        return f"would {'keep the silence' if there else 'silence alerts'} with {_matcher_text(task)}"

    def begin(self, machine: Machine, task: Task) -> None:
        try:
            if not self._ours(machine, task):
                self._ask(machine, task, "POST", SILENCES, _silence(machine, task))
        except MethodError:
            if is_true(task.options.get("required")):
                raise

    def check(self, machine: Machine, task: Task) -> Answer:
        try:
            if not self._ours(machine, task):
                if is_true(task.options.get("required")):
                    return Answer(LOST, "Alertmanager has no silence of this event")
                # Made anew here: one that Alertmanager refuses would be lost at each look, and hold the drain until its deadline.
                self._ask(machine, task, "POST", SILENCES, _silence(machine, task))
            return Answer(DRAINED)
        except MethodError as error:
            if is_true(task.options.get("required")):
                raise
            return Answer(DRAINED, note=f"alerts may be sent: {error}")

    def undo(self, machine: Machine, task: Task) -> Answer:
        try:
            for silence in self._ours(machine, task)[:MOST]:
                self._ask(machine, task, "DELETE", f"/api/v2/silence/{silence}")
        except MethodError as error:
            if is_true(task.options.get("required")):
                raise
            return Answer(UNDONE, note=f"the silence ends by itself: {error}")
        return Answer(UNDONE)

    def by_hand(self, finding: Values, options: Values) -> str:
        return "nothing has to be done: the silence ends by itself. To end it now, expire the one whose creator is maintenance.azure and this EventId"

    def _ours(self, machine: Machine, task: Task) -> list[str]:
        """Return the ids of the silences of this event and VM that have not ended. Raise MethodError."""
        # Without a filter: Alertmanager before 0.22 finds none of its own silences by one with a regular expression.
        silences = self._ask(machine, task, "GET", SILENCES)
        if not isinstance(silences, list):
            raise MethodError("Alertmanager did not answer with a list of silences")
        try:
            return [one["id"] for one in silences if _is_ours(one, task) and ID.fullmatch(one["id"])]
        except (AttributeError, KeyError, TypeError):
            raise MethodError("Alertmanager did not answer with silences of a known form")

    def _ask(self, machine: Machine, task: Task, verb: str, path: str, body: t.Any = None) -> t.Any:
        ca, user, password = (str(task.options.get(key) or "") for key in ("ca_file", "username", "password_file"))
        url = str(task.options["url"])
        content = None if body is None else json.dumps(body).encode("ascii")
        try:
            headers = {"Content-Type": "application/json"}
            daemon = Daemon(url.rstrip("/"), longest=8 * 1024 * 1024, ca_file=ca, username=user, password_file=password)
            reply = self.daemons(machine).request(daemon, verb, path, content, headers)
            if reply.status != 200:
                raise MethodError(f"Alertmanager answered {reply.status}: {printable(reply.said, 200)}")
            return reply.json() if verb != "DELETE" else None
        except (DaemonError, ValueError) as error:
            raise MethodError(printable(error, 300))


def _value(task: Task) -> str:
    """Return the regular expression of this drain; once it is recorded, that of the record, whatever the host is called now."""
    known = task.finding.get("value")
    return str(known or task.options.get("value") or re.escape(socket.gethostname().partition(".")[0]) + r"([.:].*)?")


def _matcher(task: Task) -> Data:
    return {"name": str(task.options["label"]), "value": _value(task), "isRegex": True}


def _is_ours(silence: Values, task: Task) -> bool:
    found = [{**{key: one.get(key) for key in ("name", "value", "isRegex")}, "isEqual": one.get("isEqual", True)} for one in silence["matchers"]]
    is_alive = silence["status"]["state"] in ("active", "pending")
    return silence["createdBy"] == task.reason and found == [{**_matcher(task), "isEqual": True}] and is_alive


def _matcher_text(task: Task) -> str:
    return f"{task.options['label']}=~{json.dumps(_value(task))}"


def _silence(machine: Machine, task: Task) -> Data:
    ends = datetime.datetime.fromisoformat(machine.now().replace("Z", "+00:00")) + datetime.timedelta(seconds=int(task.options["seconds"]))
    what = f"Azure's {task.event.type or 'event'} {task.event.id}"
    return {
        "matchers": [_matcher(task)],
        "startsAt": AT_ONCE,
        "endsAt": ends.isoformat(),
        "createdBy": task.reason,
        "comment": f"{what}: the VM is taken out of service on purpose, and the silence ends when it is back",
    }
