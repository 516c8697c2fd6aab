# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Read the answers of a VM to the actions of an iteration, by the controller's own list of these actions.

A VM that hangs or lies returns no answer, or one that does not fit: both count as no answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ...module_utils._scheduled_events.core.names import folded
from ...module_utils._scheduled_events.core.types import Values
from ...module_utils._scheduled_events.journal.record_schema import NOT_WRITTEN
from .._core import plain_values


class Answer(NamedTuple):
    """One action that a VM was asked for, and its result; None without a fitting result."""

    asked: Values
    result: Values | None


def read_answers(asked: Sequence[Values], registered: Iterable[Any]) -> list[Answer]:
    """Return the actions that a VM was asked for in the last iteration, each with its result.

    C(registered) are the results of the tasks that may have taken them. A result with other actions, by number, kind or iteration, is of an
    earlier iteration, or of a task that ended at its time limit.
    """
    for one in registered:
        results = plain_values.items(plain_values.mapping(one).get("results"))
        echoed = plain_values.items(plain_values.mapping(one).get("asked"))
        if asked and _fits(asked, echoed, results) and not plain_values.mapping(one).get("unreachable"):
            return [Answer(*pair) for pair in zip(asked, results)]
    return [Answer(action, None) for action in asked]


def _fits(asked: Sequence[Values], echoed: Sequence[Any], results: Sequence[Any]) -> bool:
    if not len(asked) == len(echoed) == len(results):
        return False
    return all(
        isinstance(echo, Mapping)
        and isinstance(result, Mapping)
        and (echo.get("iteration"), echo.get("action")) == (action.get("iteration"), action.get("action"))
        and result.get("action") == action.get("action")
        for action, echo, result in zip(asked, echoed, results)
    )


def approvals(answers: Iterable[Answer], before: Values) -> tuple[list[str], list[str]]:
    """Return the events that this VM has approved for this run, and those that it could not approve.

    Only requested approvals count. Without an answer the approval counts as failed: the next VM is asked.
    """
    approved, failed, was_asked = [], [], False
    for asked, result in answers:
        if asked["action"] != "approve":
            continue
        was_asked = True
        confirmed = {folded(event_id) for event_id in plain_values.texts((result or {}).get("approved"))}
        for event_id in map(str, asked.get("event_ids") or []):
            if result is None or result.get("failed"):
                failed.append(event_id)
            elif folded(event_id) in confirmed:
                approved.append(event_id)
    if was_asked:
        return approved, failed
    return [str(one) for one in before.get("approved") or []], [str(one) for one in before.get("could_not_approve") or []]


def cannot_write(answers: Iterable[Answer], before: Values) -> str | None:
    """Return why the VM cannot write its records, by its last results, or None. A VM that was asked for nothing since is as before."""
    results = [result for _asked, result in answers if result is not None]
    if not results:
        return plain_values.text(before.get("cannot_write"))
    return next((plain_values.text(result.get("msg")) for result in results if result.get("failed") and result.get("error_kind") == NOT_WRITTEN), None)


def acknowledged(answers: Iterable[Answer], before: Values) -> list[str]:
    """Return the events (lower case) whose lease this VM acknowledged in this run, before its last observation.

    A lease that was released, or requested again without an answer, is no longer acknowledged: a lease may be made long after its request
    timed out, between the observations of two VMs, and an observation from before the lease proves nothing.
    """
    found = {str(event_id) for event_id in before.get("acknowledged") or []}
    for asked, result in answers:
        event_id = folded(asked.get("event_id"))
        if asked["action"] in ("acquire", "release"):
            found.discard(event_id)
        if asked["action"] == "acquire" and result is not None and not result.get("failed") and "leases" in result:
            found.add(event_id)
    return sorted(found)
