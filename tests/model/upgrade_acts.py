# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What role upgrade does on one VM once the gate is open, call by call: roles/gate (mark, release) and roles/upgrade.

As in acts.py. C(observation) is an observation at this VM alone, C(ustop) and C(ustart) are what its drain method does, C(install) and
C(installed) the beginning and the end of the user's tasks. Whoever loses its lease stops, and leaves everything as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from ansible_collections.maintenance.azure.tests.model import acts
from ansible_collections.maintenance.azure.tests.model.acts import FAILED, Calls

RecordOf = Callable[[Any], "dict[str, Any]"]


def calls(given: dict[str, Any], numbers: dict[str, int], record_of: RecordOf) -> Calls:
    """The calls of one act."""
    if given["action"] in ("acquire", "release"):
        return acts.calls(given, numbers)
    return ACTS[given["action"]](given["step"], given["record"] or {}, numbers, record_of)


def _mark(step: dict[str, Any], record: dict[str, Any], numbers: dict[str, int], record_of: RecordOf) -> Calls:
    return (yield "write", {"state": "marked", "upgrade": {"name": step["upgrade"], "state": step["state"]}})


def _drain(step: dict[str, Any], record: dict[str, Any], numbers: dict[str, int], record_of: RecordOf) -> Calls:
    """drain.yml: one observation after the other. A drain is done at once here, so the first finds it drained, or it has failed."""
    return (yield from _ours(acts.calls({"action": "drain", "step": step, "record": record}, numbers), step))


def _tasks(step: dict[str, Any], record: dict[str, Any], numbers: dict[str, int], record_of: RecordOf) -> Calls:
    yield "install", step["lease"]["run"]
    yield "installed", step["lease"]["run"]
    return None


def _renew(step: dict[str, Any], record: dict[str, Any], numbers: dict[str, int], record_of: RecordOf) -> Calls:
    """renew.yml: all of the time again, or the end."""
    answer = yield "write", {"state": "renewed"}
    if answer == FAILED:
        yield "write", {"state": "released", "event_id": None}
    return answer


def _recover(step: dict[str, Any], record: dict[str, Any], numbers: dict[str, int], record_of: RecordOf) -> Calls:
    """recover.yml: renew, look at the VM, put back what its record says, renew, see that it serves, and write that."""
    if (yield from _renew(step, record, numbers, record_of)) == FAILED:
        return FAILED
    present = record_of((yield ("observation",)))
    if present:
        answer = yield from _ours(acts.calls({"action": "recover", "step": step, "record": present}, numbers), step)
        if answer == FAILED:
            return FAILED
    if (yield from _renew(step, record, numbers, record_of)) == FAILED:
        return FAILED
    if not (yield ("check",)):
        return FAILED  # it waits, and somebody else holds the VM: that is over only after the longest wait
    return (yield "write", {"changes": {"phase": "recovered", "outcome": "completed", "reason": None}}) if present else None


def _give_back(step: dict[str, Any], record: dict[str, Any], numbers: dict[str, int], record_of: RecordOf) -> Calls:
    """release.yml: all leases of this run."""
    return (yield "write", {"state": "released", "event_id": None})


def _ours(act: Calls, step: dict[str, Any]) -> Generator[tuple[Any, ...], Any, Any]:
    """The same commands, as the upgrade's own: the model asks who stops and who starts a VM."""
    answer: Any = None
    while True:
        try:
            call = act.send(answer)
        except StopIteration as end:
            return end.value
        answer = yield ("u" + call[0], step["lease"]["run"]) if call[0] in ("stop", "start") else call


ACTS: dict[str, Callable[[dict[str, Any], dict[str, Any], dict[str, int], RecordOf], Calls]] = {
    "mark_progress": _mark,
    "drain": _drain,
    "renew": _renew,
    "tasks": _tasks,
    "upgraded": _mark,
    "recover": _recover,
    "done": _mark,
    "give_back": _give_back,
}
