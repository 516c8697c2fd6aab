# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""Method probe_file: a flag file tells a load balancer's probe that the VM is out of service."""

from __future__ import annotations

import base64
import os
import re
import typing as t

from ...core.printable_text import printable
from ...core.types import Data, Doubt, Values
from ...host.machine.machine import Machine
from ...host.system import seconds_between
from .method import DRAINED, DRAINING, LONGEST_MESSAGE, LOST, UNDONE, Answer, Method, MethodError, Option, Task, is_true
from .pasted import quoted, word

POSITIONS = ("in", "out")
# What host/machine/flag_files.py finds.
KINDS = ("file", "link", "absent")
BASE64 = re.compile(r"[A-Za-z0-9+/]{1,400}={0,2}")
NUMBER = re.compile(r"[0-7]{1,4}|[0-9]{1,10}")
LONGEST_CONTENT = 100


class ProbeFileMethod(Method):
    """Remove or create a flag file, wait until the load balancer must have seen it, and until the connections are gone."""

    name = "probe_file"
    options: t.ClassVar[t.Mapping[str, Option]] = {
        "path": Option("text", required=True),
        "present_means": Option("text", default="in", choices=POSITIONS),
        "interval": Option("whole", default=5),
        "threshold": Option("whole", default=2),
        "ports": Option("wholes", default=[]),
        "mode": Option("mode", default="0644"),
        "may_be_absent": Option("truth", default=False),
    }

    def find(self, machine: Machine, task: Task) -> Data:
        path = task.options["path"]
        if not _removes(task) and machine.system != "windows" and not machine.flag_files.exists(os.path.join(os.path.dirname(path), ".")):
            raise MethodError(f"{path} cannot be created, because its folder is not there: correct path, or make the folder")
        return dict(machine.flag_files.describe(path))

    def would(self, machine: Machine, task: Task) -> str:
        path, is_there = task.options["path"], task.present.get("kind") != "absent"
        if is_there is not _removes(task):
            return f"{path} is {'there' if is_there else 'not there'}: nothing to do"
        return f"would take {path} away" if is_there else f"would create {path}"

    def begin(self, machine: Machine, task: Task) -> None:
        absent = task.present.get("kind") == "absent"
        if _removes(task) and not absent:
            machine.flag_files.set_aside(task.options["path"])
        elif not _removes(task) and absent:
            machine.flag_files.create(task.options["path"], str(task.options["mode"]))

    def check(self, machine: Machine, task: Task) -> Answer:
        path = task.options["path"]
        if machine.flag_files.exists(path) == _removes(task):
            return Answer(LOST, f"{path} says again that the VM is in service")
        left = _seconds_left(machine, task)
        if left > 0:
            return Answer(DRAINING, f"the load balancer may not have noticed yet, {left} s to wait")
        ports = [int(port) for port in task.listed("ports")]
        busy = machine.connections.count(ports) if ports else 0
        if busy > 0:
            return Answer(DRAINING, f"{busy} connection(s) open on port(s) {', '.join(map(str, ports))}")
        return Answer(DRAINED)

    def undo(self, machine: Machine, task: Task) -> Answer:
        kind = task.finding.get("kind")
        if kind not in KINDS:
            raise MethodError(f"the record does not say what was at {task.options['path']} before: its kind is {kind!r}"[:LONGEST_MESSAGE])
        absent = kind == "absent"
        # Nothing was changed where the file stood in the other position before.
        if _removes(task) and not absent:
            machine.flag_files.restore(task.options["path"], {key: str(value) for key, value in task.finding.items()})
        elif not _removes(task) and absent:
            machine.flag_files.remove(task.options["path"])
        return Answer(UNDONE)

    def by_hand(self, finding: Values, options: Values) -> str:
        kind, removed = finding.get("kind"), options.get("present_means", "in") == "in"
        if removed == (kind == "absent"):
            return ""
        if "mode" not in finding:
            path = quoted(options.get("path"), '"PATH"', '"')
            return f'move /y {path[:-1]}.maintenance" {path}' if removed else f"del {path}"
        path = word(options.get("path"), "PATH")
        if not removed:
            return f"rm -f {path}"
        return f"ln -sfn {word(_decoded(finding) or '', 'TARGET')} {path}" if kind == "link" else _write(finding, path)

    def doubt(self, finding: Values, options: Values) -> Doubt:
        if finding.get("kind") != "absent" or options.get("present_means", "in") != "in":
            return ""
        return None if is_true(options.get("may_be_absent")) else f"{options.get('path')} is not there: is path right? If so, set may_be_absent: true"

    def shown(self, finding: Values) -> str:
        kind = finding.get("kind")
        if kind not in KINDS:
            return super().shown(finding)
        if kind == "absent":
            return "no file"
        content = _content(finding)
        if kind == "link":
            return f"a link to {content}"
        if "mode" not in finding:
            return "a file, set aside beside it"
        return f"a file with {content or 'no content'} (mode {finding.get('mode')}, owner {finding.get('owner')}:{finding.get('group')})"


def _decoded(finding: Values) -> str | None:
    try:
        return base64.b64decode(str(finding.get("content") or ""), validate=True).decode("utf-8", "replace")
    except ValueError:
        return None


def _content(finding: Values) -> str:
    content = _decoded(finding)
    if content is None:
        return "content that cannot be decoded"
    return repr(printable(content[:LONGEST_CONTENT], LONGEST_CONTENT)) if content else ""


def _write(finding: Values, path: str) -> str:
    """Return the command that writes a file as it was."""
    content = str(finding.get("content") or "")
    if content and not BASE64.fullmatch(content):
        return f"base64 -d > {path} # type the text of before.content in the record, then Ctrl-D"
    owner, group, mode = (word(finding.get(key), key.upper(), NUMBER) for key in ("owner", "group", "mode"))
    write = f"echo {content} | base64 -d > {path}" if content else f": > {path}"
    return f"{write} && chown {owner}:{group} {path} && chmod {mode} {path}"


def _removes(task: Task) -> bool:
    position = task.options["present_means"]
    if position not in POSITIONS:
        raise MethodError(f"option present_means must be in or out, and is {position!r}"[:LONGEST_MESSAGE])
    return bool(position == "in")


def _seconds_left(machine: Machine, task: Task) -> int:
    """Return the whole seconds until a load balancer that probes as configured has seen the file. Once drained, it has."""
    wait = int(task.options["interval"]) * int(task.options["threshold"])
    if task.state == DRAINED or wait == 0:
        return 0
    passed = seconds_between(task.since, machine.now())
    if passed is None:
        raise MethodError("the record does not say since when the load balancer may have noticed")
    # A probe may have begun right before; hence one second more.
    return max(int(wait + 1 - passed), 0)
