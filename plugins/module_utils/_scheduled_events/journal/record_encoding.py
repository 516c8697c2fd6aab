# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""Encode a record as the content of its file, and decode it. Faults within a readable record are repaired when it is read.

So the record can be written again and the VM recovers; the next write stores the repaired record. What would change the meaning
(an unknown phase, an unreadable decision) is not repaired but refused.
"""

from __future__ import annotations

import hashlib
import json
import re
import typing as t
import uuid

from ..core.bounded_json import load_bounded
from ..core.limits import ATTEMPTS, FILE_BYTES, HISTORY_FIRST, HISTORY_LAST, METHODS, RECORD_BYTES, REVISION, TEXT
from ..core.types import Data, Values
from ..host.files import TEMPORARY, Files
from ..host.system import utc_seconds
from . import record_schema as schema
from .overrides import WrongDecision, checked_decision
from .record_schema import Record, RecordsError, Unreadable
from .transitions import PHASES

# The id that a method gets where it has no name of its own: its number and its kind.
USUAL_ID = re.compile(r"[0-9]+-([a-z_]{1,40})")
CUT = " ..."
# Characters of the reason of a phase in the history: a record may have two hundred.
WHY = 200


def encode(record: Record) -> bytes:
    """Return a record as the content of its file. Raise RecordsError where it is too large or no JSON."""
    try:
        content = _text_of(record)
        if len(content) > FILE_BYTES:
            content = _text_of(record, None, (",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise RecordsError(f"The record of event {schema.shorten(schema.event_id_of(record))} cannot be stored as JSON: {error}")
    if len(content) > FILE_BYTES:
        raise RecordsError(f"The record of event {schema.shorten(schema.event_id_of(record))} is larger than {FILE_BYTES} bytes and cannot be stored.")
    return content


def _text_of(record: Values, indent: int | None = 1, separators: tuple[str, str] | None = None) -> bytes:
    return json.dumps(record, indent=indent, separators=separators, sort_keys=True, allow_nan=False).encode("ascii") + b"\n"


def replace_file(files: Files, name: str, content: Values, what: str) -> None:
    """Write a small file beside and rename it over, so that a reader has the old or the new one. ``what`` names the file in the error. Raise RecordsError."""
    temporary = f"{TEMPORARY}{uuid.uuid4().hex}.json"
    try:
        text = _text_of(content)
        files.make()
        files.write_exclusive(temporary, text)
        files.rename(temporary, name)
        files.sync()
    except (OSError, ValueError) as error:
        try:
            files.unlink(temporary)
        except OSError:
            pass
        if isinstance(error, OSError):
            raise schema.not_written(files.where, error)
        raise RecordsError(f"{what} {name} in {files.where} cannot be written: {error}.")


def remove_file(files: Files, name: str, what: str) -> bool:
    """Remove a small file, and return whether it was there. Raise RecordsError."""
    try:
        files.unlink(name)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise RecordsError(f"{what} {name} in {files.where} cannot be removed: {error}.")
    return True


class Reading(t.NamedTuple):
    """What the files of one kind hold, and in words what is wrong with those that hold no such thing."""

    found: list[Data]
    problems: list[str]


def read_each(files: Files, names: t.Iterable[str], read: t.Callable[[str], Data], problem: str) -> Reading:
    """Read every file that can be read. ``problem`` says what is wrong with another one, for its name, its folder and the error."""
    reading = Reading([], [])
    for name in names:
        try:
            reading.found.append(read(name))
        except FileNotFoundError:
            continue  # another run has just removed it
        except (OSError, Unreadable) as error:
            reading.problems.append(problem.format(name, files.where, error))
    return reading


def decode(content: bytes, name: str) -> Record:
    """Parse the content of a file as a record. Raise Unreadable with the reason where it is none."""
    place = schema.split_name(name)
    data = load(content)
    if place is None or not isinstance(data, dict):
        raise Unreadable("holds no record")
    _check_belongs(data, place)
    record = complete(data)
    # The name is unique, so it counts where the content has no valid revision.
    record["revision"] = place[1]
    record[schema.LINEAGE] = repaired_lineage(data.get(schema.LINEAGE), content)
    # Only a large file can become too large when it is written in another form.
    if len(content) > RECORD_BYTES // 8 and len(_text_of(record, None, (",", ":"))) > RECORD_BYTES:
        raise Unreadable(f"is larger than {RECORD_BYTES} bytes, which no record is")
    return record


def _check_belongs(data: Record, place: tuple[str, int]) -> None:
    """Raise Unreadable unless the format is known and the content is that of this name."""
    if data.get("format") != schema.FORMAT or isinstance(data.get("format"), bool):
        raise Unreadable(f"has the format {schema.shorten(data.get('format'))}, and this version of the collection knows {schema.FORMAT}")
    if whole_within(data.get("revision"), 1, REVISION - 1) not in (None, place[1]):
        raise Unreadable("holds another revision than its name says")
    event = data.get("event")
    if not isinstance(event, dict) or not isinstance(event.get("event_id"), str):
        raise Unreadable("names no event")
    if schema.stem(event["event_id"]) != place[0]:
        raise Unreadable("belongs to another event than its name says")


def load(content: bytes) -> t.Any:
    """Parse a file's content as JSON, no deeper than any record; the result can always be written as JSON again. Raise Unreadable."""
    try:
        return load_bounded(content.decode("utf-8"), lambda text: None, halves=True)
    except OverflowError:
        raise Unreadable("is nested deeper than any record")
    except (ValueError, RecursionError):
        raise Unreadable("is not JSON, or was cut off")


def complete(data: Record) -> Record:
    """Add absent keys, repair what can be repaired, refuse the rest: every reader may rely on each key of a record. Raise Unreadable."""
    record = schema.empty_record(data["event"]["event_id"])
    event = repaired_event(dict(record["event"], **data["event"]))
    record.update(data, event=event)
    _check(record)
    record["methods"] = repaired_methods(record["methods"])
    record["history"] = repaired_history(record["history"])
    record["told"] = [phase for phase in record["told"] if isinstance(phase, str) and len(phase) <= TEXT][:METHODS]
    # Attempts only count for operators; retries are counted from the history.
    attempts = record["attempts"] if isinstance(record["attempts"], int) and not isinstance(record["attempts"], bool) else 0
    record["attempts"] = min(max(attempts, 0), ATTEMPTS)
    record["revision"] = whole_within(record["revision"], 0, REVISION) or 0
    _repair_texts(record)
    try:
        record["decision"] = checked_decision(record["decision"])
    except WrongDecision as error:
        # To ignore an override would be worse than to leave the VM alone.
        raise Unreadable(f"has a decision that {error}")
    return record


def _check(record: Record) -> None:
    """Raise Unreadable for what cannot be repaired without changing the meaning."""
    if record["phase"] not in PHASES:
        raise Unreadable(f"has the unknown phase {schema.shorten(record['phase'])}")
    for key in schema.keys_of(schema.RECORD_KINDS, "history", "methods"):
        if not isinstance(record[key], list) or not all(isinstance(item, dict) for item in record[key]):
            raise Unreadable(f"has no list of objects in {key}")
    if not all(isinstance(method.get("id"), str) for method in record["methods"]):
        raise Unreadable("has a method without an id")
    if not all(item.get("phase") in PHASES and isinstance(item.get("at"), str) for item in record["history"]):
        raise Unreadable("has a history without phases and times")
    _check_kinds(record)


def _check_kinds(record: Record) -> None:
    tables = ((record, schema.RECORD_KINDS), (record["event"], schema.EVENT_KINDS))
    if not all(isinstance(values[key], list) for values, kinds in tables for key in schema.keys_of(kinds, "texts")):
        raise Unreadable("has no list where one belongs")
    for key in schema.keys_of(schema.RECORD_KINDS, "flag"):
        if not isinstance(record[key], bool):
            raise Unreadable("has another type where true or false belongs")
    for key in schema.keys_of(schema.RECORD_KINDS, "object"):
        if record[key] is not None and not isinstance(record[key], dict):
            raise Unreadable(f"has a {key} that is not an object")
    for key in schema.TEXT_KEYS:
        if record[key] is not None and not isinstance(record[key], str):
            raise Unreadable(f"has no text in {key}")


def whole_within(value: t.Any, low: int, high: int) -> int | None:
    """Return a whole number within its limits, or None."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if low <= value <= high else None


def short_text(value: t.Any) -> str | None:
    """Return a text, cut at its limit, or None for anything else."""
    if not isinstance(value, str):
        return None
    # Half of a surrogate pair cannot be printed or sent on.
    plain = value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
    return plain if len(plain) <= TEXT else plain[: TEXT - len(CUT)] + CUT


def _time(value: t.Any) -> str | None:
    return None if utc_seconds(value) is None else short_text(value)


def _repair_texts(record: Record) -> None:
    """Cut texts that are too long, and drop invalid times: what depends on such a time is then checked again."""
    for key in schema.TEXT_KEYS:
        if record[key] is not None:
            record[key] = _time(record[key]) if key in schema.STAMPS else short_text(record[key])


def repaired_event(event: Data) -> Data:
    """Return the event without any value that a write would refuse. Its id stays, because it names the record."""
    for key, kind in schema.EVENT_KINDS.items():
        if kind == "whole":
            event[key] = whole_within(event[key], -(10**9), 10**9)
        elif kind == "texts":
            if isinstance(event[key], list):
                event[key] = [name for name in map(short_text, event[key]) if name is not None]
        elif key != "event_id":
            event[key] = short_text(event[key])
    return event


def repaired_history(history: list[Data]) -> list[Data]:
    """Drop entries without a valid time, and keep no more entries than a write does."""
    return bounded_history([_repaired_phase(item) for item in history if utc_seconds(item["at"]) is not None])


def _repaired_phase(item: Data) -> Data:
    more = {key: text[:WHY] for key in ("why", "not_before") if (text := short_text(item.get(key)))}
    return {"phase": item["phase"], "at": item["at"], **more}


def bounded_history(history: list[Data], first: int = HISTORY_FIRST, last: int = HISTORY_LAST) -> list[Data]:
    """Return the first and the last entries, so that the file of a record that is written every few minutes for a week stays small."""
    return history if len(history) <= first + last else history[:first] + history[-last:]


def repaired_lineage(lineage: t.Any, content: bytes) -> list[str]:
    """Return the writes that a file builds on. Name a file without them by its content, the same for every reader.

    Otherwise the next revision could not name this one as its base, and would never count as its successor.
    """
    names = [name for name in lineage if isinstance(name, str) and 0 < len(name) <= 64] if isinstance(lineage, list) else []
    return names if names and len(names) == len(lineage) else ["file-" + hashlib.sha256(content).hexdigest()[:12]]


def repaired_methods(methods: list[Data]) -> list[Data]:
    """Return every method with all its keys, and each id once: of two methods with one id the first counts, as in every write."""
    found: dict[str, Data] = {}
    for number, method in enumerate(methods[:METHODS], 1):
        repaired = _repaired_method(method, number)
        found.setdefault(repaired["id"], repaired)
    return list(found.values())


REPAIRS: t.Mapping[str, t.Callable[[t.Any], t.Any]] = {
    "text": lambda value: short_text(value) or None,
    "time": _time,
    "object": lambda value: value if isinstance(value, dict) else None,
    "flag": lambda value: value if isinstance(value, bool) else None,
    # The method may have acted, so it is to be undone.
    "state": lambda value: value if isinstance(value, str) and value in schema.METHOD_STATES else "begun",
}


def _repaired_method(given: Data, number: int) -> Data:
    method = schema.empty_method("")
    method.update((key, REPAIRS[kind](given.get(key))) for key, kind in schema.METHOD_KINDS.items())
    method["id"] = method["id"] or f"{number}-unnamed"
    if method["method"] is None:
        _name_method(method)
    return method


def _name_method(method: Data) -> None:
    """Name a method by its id. Mark one that cannot be named as undone, with an error that asks the operator to check."""
    usual = USUAL_ID.fullmatch(method["id"])
    if usual and usual.group(1) != "unnamed":
        method["method"] = usual.group(1)
        return
    # Neither its name nor its id identifies one of the configured methods.
    method.update(
        method="unknown", state="undone", error="The record did not say which drain method this was: nothing was undone. Look at what it may have changed."
    )
