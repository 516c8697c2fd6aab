# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tell an operator how to put a VM back without Ansible: what a method found, in words, and the command that restores it.

The findings and options come from the VM's record. So a command has nothing from it but plain names and paths, as an operator pastes it; in place
of anything else stands a placeholder, and the record has the value. A command for another machine names only what the host's variables allow its
drain methods: a VM must not have others changed, not even by an operator's hand.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ....module_utils._scheduled_events.core.printable_text import LONGEST_TEXT, printable
from ....module_utils._scheduled_events.drain.methods import service, windows_service
from ..._core import plain_values
from ..._drain.records import findings, reports
from ..._drain.records.replicas import Target
from ..._drain.settings.configured import HAPROXY
from ..core.model import Method

NOTHING = "nothing to do: it stood so before the drain"
# No quotes, no blanks, nothing that a shell reads; it cannot begin like an option.
WORD = re.compile(r"[A-Za-z0-9_./][A-Za-z0-9_./@+-]{0,299}")
# Between single or double quotes, on Windows.
QUOTED = re.compile(r"[A-Za-z0-9_.\\][A-Za-z0-9_.\\ :()-]{0,299}")
BASE64 = re.compile(r"[A-Za-z0-9+/]{1,400}={0,2}")
NUMBER = re.compile(r"[0-7]{1,4}|[0-9]{1,10}")
LONGEST_CONTENT, MOST_PLACES = 100, 5
WINDOWS_UP = ("started", "start_pending", "continue_pending")
FAILBACKS = {"immediate": "Immediate", "policy": "Policy", "none": "NoFailback"}
NOT_ALLOWED = "the record names what the host's variables do not give it: compare it with drain_methods"
DEFAULT_SOCKET = "/run/haproxy/admin.sock"


def command(method: Method, targets: Sequence[Target] = ()) -> str | None:
    """Return how to put back by hand what a method changed: a command to paste where the method acts, or words. None if it is put back already.

    C(targets) are what the host's variables allow its methods to change outside the VM.
    """
    if method.state == "undone":
        return None
    if method.method == HAPROXY:
        return _haproxy(method, [target for target in targets if target.means(method.identifier, HAPROXY)])
    build = COMMANDS.get(method.method)
    if build is None:
        if not any(target.means(method.identifier, method.method) for target in targets):
            return NOT_ALLOWED
        return f"do what the undo of method {_word(method.method, 'METHOD')} does (its undo.yml, or the undo file of its entry in drain_methods)"
    found = build(plain_values.mapping(method.before), plain_values.mapping(method.options))
    # Half a command is worse than none.
    return found if len(found) <= LONGEST_TEXT else "the command is too long to show: the options and the finding (before) are in the record"


def left(method: Method, host: str, targets: Sequence[Target]) -> str:
    """Return what an operator does about a method that a run could not undo. Its error in the record is the VM's to write, and is not repeated."""
    mine = [target for target in targets if target.means(method.identifier, method.method)]
    found = findings.read_haproxy(method.before) if method.method == HAPROXY else None
    unnamed = [place for place in found.places if place.state != "maint" and not any(one.covers(found.server, place) for one in mine)] if found else []
    if found and unnamed:
        return reports.unnamed_places(found.server, unnamed, host)
    name = f"{findings.shown(method.identifier)} ({findings.shown(method.method)})"
    if mine:
        way_out = "Correct its entry, or put back by hand what it changed and list it in drain_methods_former with by_hand: true."
        return f"{host}: method {name} is not undone. {way_out}"
    return f"{host}: its record says that method {name} is not undone, and drain_methods has no method of that name and kind. {reports.way_out(host)}"


def finding(before: Any) -> str:
    """Return in words what a method found; the content of a flag file is decoded."""
    if not isinstance(before, Mapping):
        return str(before)
    kind = before.get("kind")
    if kind not in ("file", "link", "absent"):
        return ", ".join(f"{key} {value}" for key, value in before.items())
    if kind == "absent":
        return "no file"
    content = _decoded(before.get("content"))
    if kind == "link":
        return f"a link to {content}"
    if "mode" not in before:
        return "a file, set aside beside it"
    return f"a file with {content or 'no content'} (mode {before.get('mode')}, owner {before.get('owner')}:{before.get('group')})"


def _decoded(value: Any) -> str:
    try:
        content = base64.b64decode(str(value or ""), validate=True)
    except ValueError:
        return "content that cannot be decoded"
    return repr(printable(content[:LONGEST_CONTENT].decode("utf-8", "replace"), LONGEST_CONTENT)) if content else ""


def _word(value: Any, placeholder: str) -> str:
    text = str(value)
    return text if WORD.fullmatch(text) else placeholder


def _quoted(value: Any, placeholder: str, mark: str = "'") -> str:
    text = str(value)
    return f"{mark}{text}{mark}" if QUOTED.fullmatch(text) else placeholder


def _service(before: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    names = [name for name in plain_values.texts(options.get("names")) if name in before] or list(before)
    ran = [_word(name, "UNIT") for name in names if before[name] in service.RAN]
    if ran:
        return f"systemctl start {' '.join(ran)}"
    # The last that was stopped comes first.
    started = [_quoted(name, "NAME") for name in reversed(names) if before[name] in (*WINDOWS_UP, *windows_service.PAUSED)]
    paused = [_quoted(name, "NAME") for name in names if before[name] in windows_service.PAUSED]
    calls = [f"Start-Service -Name {', '.join(started)}"] if started else []
    return "; ".join(calls + ([f"Suspend-Service -Name {', '.join(paused)}"] if paused else [])) or NOTHING


def _probe_file(before: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    kind, removed = before.get("kind"), options.get("present_means", "in") == "in"
    if removed == (kind == "absent"):
        return NOTHING
    if "mode" not in before:
        path = _quoted(options.get("path"), '"PATH"', '"')
        return f'move /y {path[:-1]}.maintenance" {path}' if removed else f"del {path}"
    path = _word(options.get("path"), "PATH")
    if not removed:
        return f"rm -f {path}"
    return _link(before, path) if kind == "link" else _file(before, path)


def _link(before: Mapping[str, Any], path: str) -> str:
    try:
        target = base64.b64decode(str(before.get("content")), validate=True).decode("utf-8", "replace")
    except ValueError:
        target = ""
    return f"ln -sfn {_word(target, 'TARGET')} {path}"


def _file(before: Mapping[str, Any], path: str) -> str:
    content = str(before.get("content") or "")
    write = f"echo {content} | base64 -d > {path}" if BASE64.fullmatch(content) else f": > {path}"
    if content and not BASE64.fullmatch(content):
        return f"base64 -d > {path} # type the text of before.content in the record, then Ctrl-D"
    owner, group, mode = (_number(before.get(key), key.upper()) for key in ("owner", "group", "mode"))
    return f"{write} && chown {owner}:{group} {path} && chmod {mode} {path}"


def _number(value: Any, placeholder: str) -> str:
    return str(value) if NUMBER.fullmatch(str(value)) else placeholder


def _command(_before: Mapping[str, Any], _options: Mapping[str, Any]) -> str:
    return "run what its entry in drain_methods has as undo"


def _haproxy(method: Method, targets: Sequence[Target]) -> str:
    found = findings.read_haproxy(method.before)
    if found is None:
        return "put its server back in HAProxy; the record does not say how it was" if targets else NOT_ALLOWED
    allowed = [place for place in found.places if any(target.covers(found.server, place) for target in targets)]
    socket = plain_values.mapping(method.options).get("socket") or DEFAULT_SOCKET
    address = DEFAULT_SOCKET if socket == DEFAULT_SOCKET else "SOCKET"
    lines = [
        f"on {_word(place.balancer, 'BALANCER')}: echo 'set server {place.backend}/{found.server} state {place.state}' | socat stdio {address}"
        for place in allowed[:MOST_PLACES]
        if place.state != "maint"
    ]
    if len(allowed) > MOST_PLACES:
        lines.append(f"and {len(allowed) - MOST_PLACES} more in the record")
    if len(allowed) < len(found.places):
        lines.append(NOT_ALLOWED)
    return ", then ".join(lines) or NOTHING


def _iis(before: Mapping[str, Any], _options: Mapping[str, Any]) -> str:
    calls = [f"Start-WebAppPool -Name {name}" for name in _up(before.get("pools"))]
    return "; ".join(calls + [f"Start-Website -Name {name}" for name in _up(before.get("sites"))]) or NOTHING


def _up(states: Any) -> Iterable[str]:
    return [_quoted(name, "NAME") for name, state in plain_values.mapping(states).items() if str(state).lower() in ("started", "starting", "unknown")]


def _wsfc(before: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    if before.get("aside") is True or str(before.get("state")) != "Up":
        return NOTHING
    call = f"Resume-ClusterNode -Name $env:COMPUTERNAME -Failback {FAILBACKS.get(str(options.get('failback')), 'Immediate')}"
    return f"{call}; then fail back those of its availability_groups in drain_methods that the drain moved" if before.get("moved") else call


def _none(_before: Mapping[str, Any], _options: Mapping[str, Any]) -> str:
    return NOTHING


COMMANDS: Mapping[str, Callable[[Mapping[str, Any], Mapping[str, Any]], str]] = {
    "service": _service,
    "probe_file": _probe_file,
    "command": _command,
    "iis": _iis,
    "wsfc": _wsfc,
    "none": _none,
}
