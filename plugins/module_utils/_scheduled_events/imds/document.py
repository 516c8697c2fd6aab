# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Parse the bytes of an answer into typed events, or raise one clear error."""

from __future__ import annotations

import calendar
import datetime
import json
import math
import re
import typing as t

from ..core.bounded_json import load_bounded
from ..core.errors import ScheduledEventsError, describe_body
from ..core.limits import ANSWER_BYTES, DIGITS, EVENTS, TEXT
from ..core.names import folded
from ..core.types import Data

# Only this version puts an underscore in front of VM names (fact 24).
UNDERSCORE_VERSION = "2017-03-01"
# A time with its zone, in any known form. Longer texts are rejected unparsed.
LONGEST_TIME = 100
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")

# Both forms are matched by hand: strptime reads month names in the locale of the process.
# The weekday is ignored, because Microsoft's own example has a wrong one (fact b1).
RFC_TIME = re.compile(
    r"^(?:[^\W\d_]+\.?,?[ ]+)?([0-9]{1,2})[ -]([A-Za-z]{3})[A-Za-z]*[ -]([0-9]{4}|[0-9]{2})[ ]+"
    r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:\.[0-9]+)?)?[ ]*(GMT|UTC|UT|Z|[+-][0-9]{2}:?[0-9]{2})?$",
    re.IGNORECASE,
)
ISO_TIME = re.compile(
    r"^([0-9]{4})-([0-9]{2})-([0-9]{2})[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.,][0-9]+)?)?[ ]*"
    r"(GMT|UTC|Z|[+-][0-9]{2}(?::?[0-9]{2})?)?$",
    re.IGNORECASE,
)

Event = Data


class Field(t.NamedTuple):
    """One field of an event."""

    wire: str
    """Its name in a document."""
    kind: str
    """id, text, names, time or whole: its kind once parsed; null where it is absent."""
    words: tuple[str, ...] = ()
    """Those that Azure is known to write in it (facts 46, 54, 58); a new one may come any day."""


# The fields that this collection knows. Modules return them, the controller reads them and policies may use them, all by this table.
EVENT_FIELDS: t.Mapping[str, Field] = {
    "event_id": Field("EventId", "id"),
    "event_type": Field("EventType", "text", ("Freeze", "Reboot", "Redeploy", "Preempt", "Terminate")),
    "event_status": Field("EventStatus", "text", ("Scheduled", "Started")),
    "resource_type": Field("ResourceType", "text"),
    "resources": Field("Resources", "names"),
    "not_before": Field("NotBefore", "time"),
    "description": Field("Description", "text"),
    "event_source": Field("EventSource", "text", ("Platform", "User")),
    "duration_in_seconds": Field("DurationInSeconds", "whole"),
}


class Document(t.NamedTuple):
    """One scheduled events document of a VM. Compare ``incarnation`` as "different" only: it may restart from a lower number."""

    incarnation: int
    events: list[Event]


def parse_document(body: bytes | str, api_version: str, vm_name: str | None = None, source: str = "the scheduled events endpoint") -> Document:
    """Parse a document; ``source`` names its sender in the error. Raise ScheduledEventsError of kind bad_document."""
    data = parse_object(body, source)
    if not isinstance(data.get("Events"), list):
        raise _bad(source, "it has no list Events", body)
    incarnation = _whole_number(data.get("DocumentIncarnation"))
    if incarnation is None:
        raise _bad(source, "its DocumentIncarnation is not a whole number", body)
    if len(data["Events"]) > EVENTS:
        raise _bad(source, f"it lists {len(data['Events'])} events, and no more than {EVENTS} are read", body)
    events = []
    for position, raw in enumerate(data["Events"], 1):
        try:
            events.append(_event(raw, api_version))
        except ValueError as error:
            raise _bad(source, f"event {position} {error}", body)
    flag_own(events, vm_name)
    return Document(incarnation, events)


def parse_object(body: bytes | str, source: str) -> Data:
    """Parse a JSON object strictly: the result can always be written as JSON again."""
    if len(body) > ANSWER_BYTES:
        raise _bad(source, f"it is larger than {ANSWER_BYTES} bytes", body)
    if not body.strip():
        raise _bad(source, "the body is empty", body)
    try:
        text = body.decode("utf-8-sig") if isinstance(body, bytes) else body
        data = load_bounded(text, _out_of_range)
    except (ValueError, RecursionError, OverflowError) as error:
        raise _bad(source, f"it is not JSON ({error})", body)
    if not isinstance(data, dict):
        raise _bad(source, "it is JSON, but not an object", body)
    return data


def flag_own(events: list[Event], vm_name: str | None) -> None:
    """Fill in affects_this_vm: null, not false, while this VM's name is unknown."""
    for event in events:
        event["affects_this_vm"] = None if vm_name is None else names_vm(event["resources"], vm_name)


def names_vm(resources: t.Iterable[str], vm_name: str) -> bool:
    """Return whether a list of resources names the VM."""
    return any(same_name(resource, vm_name) for resource in resources)


def same_name(one: str, other: str) -> bool:
    """Compare names of resources as Azure does, without case."""
    return folded(one) == folded(other)


def same_id(one: str, other: str) -> bool:
    """Compare EventIds without case; they are sent back as received."""
    return folded(one) == folded(other)


def parse_not_before(text: t.Any) -> str | None:
    """Parse RFC 1123 or ISO 8601, in any locale, into ISO 8601 in UTC. Return None if blank, absent or not a time."""
    moment = _read_moment(text)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ").rjust(20, "0") if moment else None


def unix_seconds(text: t.Any) -> int | None:
    """Return the whole seconds since 1970 of a time in one of these forms, or None if it is no time. It needs no strptime, which costs memory."""
    moment = _read_moment(text)
    return calendar.timegm(moment.timetuple()) if moment else None


def is_before(moment: datetime.datetime, text: str | None) -> bool:
    """Return whether a moment is before a time of parse_not_before; False if there is none."""
    limit = _iso_moment(text or "")
    return limit is not None and moment < limit.replace(tzinfo=datetime.timezone.utc)


def _read_moment(text: t.Any) -> datetime.datetime | None:
    if not isinstance(text, str) or len(text) > LONGEST_TIME:
        return None
    return _rfc_moment(text.strip()) or _iso_moment(text.strip())


def _rfc_moment(text: str) -> datetime.datetime | None:
    match = RFC_TIME.match(text)
    if not match or match.group(2).lower() not in MONTHS:
        return None
    year = int(match.group(3))
    if year < 100:
        year += 2000
    month = MONTHS.index(match.group(2).lower()) + 1
    return _moment((year, month, int(match.group(1))), match.groups()[3:6], match.group(7))


def _iso_moment(text: str) -> datetime.datetime | None:
    match = ISO_TIME.match(text)
    if not match:
        return None
    year, month, day = (int(part) for part in match.groups()[0:3])
    return _moment((year, month, day), match.groups()[3:6], match.group(7))


def _moment(date: tuple[int, int, int], time_of_day: t.Sequence[str | None], zone: str | None) -> datetime.datetime | None:
    hour, minute, second = (int(part or 0) for part in time_of_day)
    try:
        # Python has no leap second (60); one second earlier is on the safe side.
        moment = datetime.datetime(date[0], date[1], date[2], hour, minute, min(second, 59) if second == 60 else second)
        return moment - _zone_offset(zone)
    except (ValueError, OverflowError):
        return None


def _zone_offset(zone: str | None) -> datetime.timedelta:
    # Without a zone the time is UTC, as in all documented forms.
    if not zone or zone[0] not in "+-":
        return datetime.timedelta(0)
    digits = zone[1:].replace(":", "").ljust(4, "0")
    offset = datetime.timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return offset if zone[0] == "+" else -offset


def _event(raw: t.Any, api_version: str) -> Event:
    if not isinstance(raw, dict):
        raise ValueError("is not an object")
    readers: dict[str, t.Callable[[str], t.Any]] = {
        "id": lambda wire: _identifier(raw, wire),
        "text": lambda wire: _text(raw, wire),
        "names": lambda wire: _names(raw, wire, api_version),
        "time": lambda wire: parse_not_before(raw.get(wire)),
        "whole": lambda wire: _whole_number(raw.get(wire)),
    }
    event = {key: readers[field.kind](field.wire) for key, field in EVENT_FIELDS.items()}
    return dict(event, affects_this_vm=None, raw=raw)


def _identifier(raw: Data, key: str) -> str:
    value = raw.get(key)
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"has no {key}")
    if len(value) > TEXT:
        raise ValueError(f"has an {key} of more than {TEXT} letters")
    return value


def _text(raw: Data, key: str) -> str | None:
    value = raw.get(key)
    if isinstance(value, str) and len(value) > TEXT:
        # No decision depends on a description, so a wrong one does not hide the event.
        if key == "Description":
            return value[: TEXT - 4] + " ..."
        raise ValueError(f"has more than {TEXT} letters in {key}")
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (bool, int, float)):
        return json.dumps(value)
    raise ValueError(f"has no text as {key}")


def _names(raw: Data, key: str, api_version: str) -> list[str]:
    names = raw.get(key)
    if names is None:
        return []
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"has {key} that are not a list of names")
    if any(len(name) > TEXT for name in names):
        raise ValueError(f"has a name of more than {TEXT} letters in {key}")
    if api_version == UNDERSCORE_VERSION:
        # No VM's name begins with an underscore; without it the names match those of all other versions.
        return [name[1:] if name.startswith("_") else name for name in names]
    return list(names)


def _whole_number(value: t.Any) -> int | None:
    """Return a number, also from text (the preview's samples have the incarnation as text), or None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        match = re.match(r"^[+-]?[0-9]{1,18}$", value.strip()) if len(value) <= LONGEST_TIME else None
        return int(value) if match else None
    if isinstance(value, float):
        # Rounded up, so that an interruption never looks shorter than it is. Out of range means unknown.
        return math.ceil(value) if abs(value) < 10**DIGITS else None
    return value if isinstance(value, int) else None


def _out_of_range(digits: str) -> t.Any:
    raise ValueError(f"the number {digits[:40]} is out of range")


def _bad(source: str, why: str, body: bytes | str) -> ScheduledEventsError:
    return ScheduledEventsError(
        f"The answer from {source} is not usable: {why}. What came: {describe_body(body)}. This is not taken as 'no events'; if it lasts, ask "
        "again by hand (curl --noproxy '*' -H Metadata:true URL) and look for a proxy in between.",
        "bad_document",
    )
