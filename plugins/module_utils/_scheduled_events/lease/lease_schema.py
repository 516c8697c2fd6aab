# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""The schema of a lease and the name of its file. Pure functions.

Only the name counts: it has the holder, the event and the time limit, by the VM's clock. Renaming the file gives the lease
another time limit atomically, and a run that removes an expired lease removes exactly the name whose limit has passed.
"""

from __future__ import annotations

import hashlib
import json
import re
import typing as t

from ..core.bounded_json import load_bounded
from ..core.limits import LEASES, TEXT
from ..core.types import Data
from ..host.system import utc_text
from ..journal.record_schema import RecordsError, shorten
from .lease_time import LONGEST_LEASE

Lease = Data

FORMAT = 1
KINDS = ("events", "upgrade")
# What the lease of an upgrade is for, in place of an event's id: this and its name.
UPGRADE = "upgrade:"
RUN = re.compile(r"[a-z0-9]{4,32}")
FILE_NAME = re.compile(r"claim-([a-z0-9]{4,32})-([0-9a-f]{16})\.([0-9]{1,15})\.json")


class LeaseName(t.NamedTuple):
    """The parts of a lease's file name; the limit is in milliseconds since 1970, by the VM's clock."""

    run: str
    digest: str
    limit: int


class LeaseLost(RecordsError):
    """The run's own lease is gone: the run must do nothing more on this VM."""

    def __init__(self, run: str, event_id: str, where: str) -> None:
        super().__init__(
            f"The lease of run {run} for event {event_id} in {where} is gone: its time limit has passed and another run, or a person, removed it, "
            "or its records went with a disk. Nothing more is done under it. The next pass observes the VM again.",
            "lease_lost",
        )


def event_digest(event_id: str) -> str:
    """Return a short, plain name for an event's id. Ids compare without case."""
    return hashlib.sha256(event_id.strip().lower().encode("utf-8", "surrogatepass")).hexdigest()[:16]


def lease_name(run: str, event_id: str, limit: int) -> str:
    """Return the name of the file of one lease."""
    return f"claim-{checked_run(run)}-{event_digest(event_id)}.{limit}.json"


def split_lease_name(name: str) -> LeaseName | None:
    """Return the parts of a lease's file name, or None for any other file."""
    found = FILE_NAME.fullmatch(name)
    return LeaseName(found.group(1), found.group(2), int(found.group(3))) if found else None


def checked_run(run: t.Any) -> str:
    """Return a run's id, which becomes part of a file name. Raise RecordsError where it is not valid."""
    if not isinstance(run, str) or not RUN.fullmatch(run):
        raise RecordsError(f"lease.run must be 4 to 32 small letters and digits, and is {shorten(run)}.")
    return run


def checked_seconds(seconds: t.Any) -> float:
    """Return the seconds that an action may take. Raise RecordsError where they are out of range."""
    try:
        if isinstance(seconds, bool):
            raise ValueError
        amount = float(seconds)
    except (TypeError, ValueError):
        raise RecordsError(f"lease.seconds must be a number of seconds, and is {shorten(seconds)}.")
    if not 0 < amount <= LONGEST_LEASE:
        raise RecordsError(f"lease.seconds must be more than 0 and at most {LONGEST_LEASE:.0f}, and is {shorten(seconds)}.")
    return amount


def has_expired(limit: int, now: float) -> bool:
    """Return whether any run may remove a lease."""
    left = limit / 1000.0 - now
    return left < 0 or left > LONGEST_LEASE + 60


def encode_lease(event_id: str, kind: str, who: str, groups: t.Mapping[str, str], now: str) -> bytes:
    """Return the content: for operators, and the groups' hashes for other runs."""
    if kind not in KINDS:
        raise RecordsError("lease.kind is {}; known are {}.".format(shorten(kind), ", ".join(KINDS)))
    known = {str(name): str(value) for name, value in groups.items()}
    content = {"format": FORMAT, "event_id": event_id, "kind": kind, "who": who, "groups": known, "made_at": now}
    return json.dumps(content, sort_keys=True).encode("ascii") + b"\n"


def decode_lease(content: bytes | None, name: str, now: float) -> Lease:
    """Return a lease as an observation shows it. Unreadable content is a lease all the same: only the name counts."""
    parts = split_lease_name(name)
    if parts is None:
        raise ValueError(f"not the name of a lease: {name}")
    data = _load(content)
    groups = data.get("groups")
    return {
        "name": name,
        "run": parts.run,
        "digest": parts.digest,
        "event_id": _text(data.get("event_id")),
        "kind": data.get("kind") if data.get("kind") in KINDS else "events",
        "who": _text(data.get("who")),
        "groups": _groups(groups),
        "made_at": _text(data.get("made_at")),
        "limit": _moment(parts.limit),
        "expired": has_expired(parts.limit, now),
    }


def _load(content: bytes | None) -> Data:
    try:
        data = load_bounded((content or b"").decode("utf-8"), lambda text: None)
    except (ValueError, RecursionError, OverflowError):
        return {}
    return data if isinstance(data, dict) else {}


def _text(value: t.Any) -> str | None:
    return value[:TEXT] if isinstance(value, str) and value else None


def _groups(value: t.Any) -> dict[str, str]:
    """Return the groups and their hashes. A value that is not text becomes the text of str, which differs from every hash."""
    items = list(value.items())[:LEASES] if isinstance(value, dict) else []
    return {key[:TEXT]: str(item)[:TEXT] for key, item in items}


def _moment(limit: int) -> str | None:
    try:
        return utc_text(limit / 1000.0)
    except (OverflowError, ValueError, OSError):
        return None
