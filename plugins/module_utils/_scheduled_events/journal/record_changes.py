# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""Changes of a record: apply what one call of maintenance_record requests, as the next revision. Pure functions."""

from __future__ import annotations

import copy
import typing as t

from ..core.limits import METHODS
from ..core.types import Data, Values
from ..host.system import seconds_between
from . import record_schema as schema
from .overrides import WrongDecision, checked_decision
from .record_encoding import WHY, bounded_history
from .record_schema import Record, RecordsError
from .transitions import PHASES, may_follow, refusal

# The others are written by the store, or have an option of their own.
CHANGEABLE = schema.TEXT_KEYS + ("phase", "blocker", "rule", "decision", "attempts", "undone", "told", "untold")
OUTCOMES = ("completed", "cancelled", "unknown")
# A held record whose event is not known to be gone is kept longer than any notice that Azure gives.
LONGEST_NOTICE = 8 * 86400


class RecordChange(t.NamedTuple):
    """The change that one call requests. None and empty values change nothing."""

    event: Values = {}
    changes: Values = {}
    method: Values = {}
    stamp: t.Sequence[str] = ()
    boot_id: str | None = None
    vm_id: str | None = None
    vm_name: str | None = None
    restore: Values = {}


def apply_change(record: Record | None, event_id: str, change: RecordChange, now: str) -> Record:
    """Return the record after the change, with equal content where nothing changes. The store counts the revision."""
    after = _begin(record, event_id, change.restore)
    _update_event(after, event_id, change.event)
    for key in ("vm_id", "vm_name"):
        given = getattr(change, key)
        if given:
            after[key] = given
    changes = _checked_changes(change.changes)
    if "reason" in changes:
        # The blocker is that of the reason.
        changes.setdefault("blocker", None)
    if change.boot_id and ("verified_at" in change.stamp or changes.get("verified_at")):
        # A boot id belongs to a check. A note that is written after a reboot must not make an old check valid.
        after["boot_id"] = change.boot_id
    # A drain that begins again after an undo is no longer undone, unless changes set it explicitly.
    if change.method and _merge_method(after, _checked_method(change.method), now):
        after["undone"] = False
    phase = changes.pop("phase", None)
    _note_notified(after, changes.pop("told", []), changes.pop("untold", None) or {})
    after.update(changes)
    _stamp(after, change.stamp, now)
    _enter(after, record, phase or after["phase"], now)
    return after


def _begin(record: Record | None, event_id: str, restore: Values) -> Record:
    """Return the record to change. A lost record continues from its replica; an existing one is never replaced."""
    if record:
        return copy.deepcopy(record)
    if restore and str(restore["event"]["event_id"]).strip().lower() != event_id.strip().lower():
        raise RecordsError("event_id is {!r}, and the record to restore is of {!r}.".format(event_id, restore["event"]["event_id"]))
    return copy.deepcopy(dict(restore)) if restore else schema.empty_record(event_id)


def _update_event(record: Record, event_id: str, event: Values) -> None:
    given = event.get("event_id")
    if given is not None and str(given).strip().lower() != event_id.strip().lower():
        raise RecordsError(f"event_id is {event_id!r}, and the event given is {given!r}.")
    for key in schema.EVENT_KEYS:
        if key in event and key != "event_id":
            record["event"][key] = copy.deepcopy(event[key])
    resources = record["event"]["resources"]
    if not isinstance(resources, (list, tuple)):
        raise RecordsError(f"the event's resources are not a list of names: {schema.shorten(resources)}")
    record["event"]["resources"] = list(resources)
    duration = record["event"]["duration_in_seconds"]
    record["event"]["duration_in_seconds"] = None if duration in (None, "") else _whole(duration, "duration_in_seconds")


def _note_notified(record: Record, told: t.Sequence[str], untold: Values) -> None:
    """Add phases that operators were notified of, and phases whose notification failed: a run that notes one may not know what another has noted."""
    record["told"] = list(dict.fromkeys([*record["told"], *told]))
    failed = {**(record["untold"] or {}), **untold}
    record["untold"] = {phase: about for phase, about in failed.items() if phase not in record["told"]} or None


def _stamp(record: Record, stamps: t.Sequence[str], now: str) -> None:
    for key in stamps:
        if key not in schema.STAMPS:
            raise RecordsError("stamp names {!r}; known are {}.".format(key, ", ".join(schema.STAMPS)))
        record[key] = now


def _enter(record: Record, before: Record | None, phase: str, now: str) -> None:
    """Enter a phase, in the only place that writes one. Raise RecordsError where it may not follow the phase before."""
    # Failures are counted in the history, so it must also list an attempt that fails before it has begun.
    failed_again = phase == "failed" and before is not None and record["attempts"] != before["attempts"]
    if phase == record["phase"] and record["history"] and not failed_again:
        if phase == record["history"][-1]["phase"]:
            record["history"] = [*record["history"][:-1], _with_reason(record["history"][-1], record)]
        return
    if before is not None and not may_follow(before["phase"], phase, ended=before["outcome"] is not None):
        raise RecordsError(f"The record of event {schema.shorten(schema.event_id_of(record))}: {refusal(before['phase'], phase)}")
    record["phase"] = phase
    entered: Data = {"phase": phase, "at": now}
    if not record["history"] and record["event"]["not_before"]:
        entered["not_before"] = record["event"]["not_before"]
    record["history"] = bounded_history([*record["history"], _with_reason(entered, record)])


def _with_reason(entered: Data, record: Record) -> Data:
    """Add what held the event, or why it failed: the record has the reason of its present phase alone."""
    explained = entered["phase"] in ("held", "failed") and record["reason"]
    return {**entered, "why": record["reason"][:WHY]} if explained else entered


def _whole(value: t.Any, key: str) -> int:
    # Templates of ansible-core 2.18 turn numbers into text.
    try:
        if isinstance(value, (bool, float)):
            raise ValueError
        return int(value)
    except (TypeError, ValueError):
        raise RecordsError(f"{key} must be a whole number, and is {schema.shorten(value)}.")


def _true_or_false(value: t.Any, key: str) -> bool:
    values = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    found = values.get(str(value).strip().lower())
    if found is None:
        raise RecordsError(f"{key} must be true or false, and is {schema.shorten(value)}.")
    return found


def _one_of(value: t.Any, known: t.Sequence[str], key: str) -> str:
    if value not in known:
        raise RecordsError(f"{key} is {schema.shorten(value)}; known are {', '.join(known)}.")
    return str(value)


def _checked_changes(changes: Values) -> Data:
    checked: Data = {}
    for key, value in changes.items():
        _one_of(key, CHANGEABLE, "a key in changes")
        checked[key] = CHECKS.get(key, CHECKS.get(schema.RECORD_KINDS[key], _text))(value, key)
    return checked


def _text(value: t.Any, key: str) -> str | None:
    return None if value in (None, "") else str(value)


def _texts(value: t.Any, key: str) -> list[str]:
    if not isinstance(value, (list, tuple)):
        raise RecordsError(f"{key} must be a list of phases, and is {schema.shorten(value)}.")
    return [str(item) for item in value]


def _outcome(value: t.Any, key: str) -> str | None:
    return None if value in (None, "") else _one_of(value, OUTCOMES, key)


def _decision(value: t.Any, key: str) -> Data | None:
    try:
        return checked_decision(value)
    except WrongDecision as error:
        raise RecordsError(f"The decision {error}.")


def _object(value: t.Any, key: str) -> Data | None:
    if value in (None, ""):
        return None
    if not isinstance(value, t.Mapping):
        raise RecordsError(f"{key} must be a dictionary, and is {schema.shorten(value)}.")
    return copy.deepcopy(dict(value))


# By the key, else by its kind in the schema; any other kind is a text.
CHECKS: t.Mapping[str, t.Callable[[t.Any, str], t.Any]] = {
    "phase": lambda value, key: _one_of(value, PHASES, key),
    "whole": _whole,
    "flag": _true_or_false,
    "object": _object,
    "texts": _texts,
    "decision": _decision,
    "outcome": _outcome,
}


def _checked_method(method: Values) -> Data:
    for key in method:
        _one_of(key, schema.METHOD_KEYS, "a key in method")
    given = copy.deepcopy(dict(method))
    name = given.get("id")
    if not isinstance(name, str) or not name:
        raise RecordsError(f"method needs an id, such as 1-service; it is {schema.shorten(name)}.")
    if given.get("state") in (None, ""):
        given.pop("state", None)
    else:
        _one_of(given["state"], schema.METHOD_STATES, f"the state of method {name}")
    for key, value in given.items():
        if key not in ("id", "state"):
            check: t.Callable[[t.Any, str], t.Any] = CHECKS.get(schema.METHOD_KINDS[key], _text)
            given[key] = check(value, f"{key} of method {name}")
    return given


def _merge_method(record: Record, given: Data, now: str) -> bool:
    """Merge one method into the record. Return whether its state changed to one other than undone."""
    present = next((method for method in record["methods"] if method["id"] == given["id"]), None)
    if present is None:
        if len(record["methods"]) >= METHODS:
            raise RecordsError(f"The record of event {schema.shorten(record['event']['event_id'])} has {METHODS} methods already, which is the most.")
        present = schema.empty_method(given["id"])
        record["methods"].append(present)
    state = present["state"]
    # The earlier finding has been put back, so this is a new drain: its own finding is what an undo must restore.
    anew = state == "undone" and given.get("state") in ("found", "begun")
    for key in ("before", "options"):
        # Written once. A second attempt finds what the first one did, which must never count as the state before the drain.
        if present[key] is not None and not (anew and given.get(key) is not None):
            given.pop(key, None)
    present.update(given)
    if present["state"] is None:
        present["state"] = "found"
    if present["state"] != state:
        if "at" not in given:
            present["at"] = now
        # For the history of the VM: which method took how long.
        present["times"] = {**({} if anew else present["times"] or {}), present["state"]: present["at"]}
    return bool(present["state"] != state and present["state"] != "undone")


def nothing_changed(record: Record) -> bool:
    """Return whether no drain method has anything left to undo."""
    return bool(record["undone"]) or all(method.get("state") == "undone" for method in record["methods"])


def may_be_pruned(record: Record, now: str, older_than: float) -> bool:
    """Return whether a record ended more than ``older_than`` seconds ago, by this VM's clock. Return False if the clock went back."""
    last = record["history"][-1]["at"] if record["history"] else None
    age = seconds_between(last, now)
    if age is None or age <= older_than:
        return False
    if record["phase"] == "recovered":
        return True
    if record["phase"] != "held" or not nothing_changed(record):
        return False
    return record["missing_since"] is not None or age > older_than + LONGEST_NOTICE


def difference(before: Record | None, after: Record | None, name: str) -> Data:
    """Return the top-level keys that differ, as Ansible shows them with --diff."""
    old, new = before or {}, after or {}
    keys = [key for key in sorted(set(old) | set(new)) if key != "revision" and old.get(key) != new.get(key)]
    return {
        "before_header": name,
        "after_header": name,
        "before": {key: old[key] for key in keys if key in old},
        "after": {key: new[key] for key in keys if key in new},
    }
