# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""The time since which Scheduled Events are enabled on this VM.

A request enables them; for the first minutes an empty list proves nothing, and a day without a request disables them again.
A small marker file in the directory of the records holds the time of the last request. Wall clocks jump; within one boot the uptime counts.
"""

from __future__ import annotations

import json
import typing as t
import uuid

from ..core.bounded_json import load_bounded
from ..core.errors import cannot_write
from ..core.types import Data
from ..host.files import TEMPORARY, Files
from ..host.system import Host, seconds_between, utc_seconds

NAME = "asked"
SILENCE_SECONDS = 86400.0
WRITE_EVERY = 60.0
ENABLING_SECONDS = 300.0
LONGEST_UPTIME = 1e10
# Windows names a boot by its time, which it calculates with each request: the same boot may be a second earlier or later. No two boots are so near.
SAME_BOOT_SECONDS = 5.0

Marker = Data


class EnabledSince(t.NamedTuple):
    """The content of the marker; enabled_at is None when there is no marker and none could be written."""

    enabled_at: str | None
    enabled_recently: bool
    problems: list[str]
    cannot_write: str | None = None
    """Why nothing can be written beside the records; one of the problems."""


def note_asked(files: Files, host: Host, write: bool = True) -> EnabledSince:
    """Note that events were requested. Call it after an answer: a request without an answer may not have enabled anything."""
    boot_id = host.boot_id()
    now = {"at": host.now(), "boot_id": boot_id, "uptime": host.uptime_seconds()}
    try:
        marker = _read(files)
    except OSError as error:
        return EnabledSince(None, True, [f"{NAME} in {files.where} cannot be read: {error}."])
    now["boot_id"] = _same_boot_id(marker, boot_id)
    new = _next_marker(marker, now)
    problems: list[str] = []
    refused: str | None = None
    if write and _must_write(marker, new, now):
        try:
            _write(files, new)
        except OSError as error:
            refused = cannot_write(files.where, error)
            problems.append(refused)
            if marker is None:
                return EnabledSince(None, True, problems, refused)
    since = _seconds_since(new["enabled"], now)
    return EnabledSince(new["enabled"]["at"], since < ENABLING_SECONDS, problems, refused)


def boot_id_of(files: Files, host: Host) -> str | None:
    """Return the name of the present boot, as it was noted first."""
    boot_id = host.boot_id()
    if utc_seconds(_moment(boot_id)) is None:
        return boot_id
    try:
        return _same_boot_id(_read(files), boot_id)
    except OSError:
        return boot_id


def _same_boot_id(marker: Marker | None, boot_id: str | None) -> str | None:
    """Return the noted boot id where it names the present boot, else the present boot id."""
    noted = marker["asked"].get("boot_id") if marker else None
    apart = seconds_between(_moment(noted), _moment(boot_id))
    return noted if apart is not None and abs(apart) <= SAME_BOOT_SECONDS else boot_id


def _moment(boot_id: t.Any) -> t.Any:
    """Return a boot's name as a time. Windows writes it as "2026-11-22 04:43:00Z"."""
    return boot_id.replace(" ", "T") if isinstance(boot_id, str) else None


def _read(files: Files) -> Marker | None:
    """Return the marker, or None where it is missing or invalid: then "enabled just now" is the careful answer."""
    try:
        data = load_bounded(files.read(NAME).decode("utf-8"), lambda text: None)
    except (FileNotFoundError, ValueError, RecursionError, OverflowError):
        return None
    return data if isinstance(data, dict) and all(_is_moment(data.get(key)) for key in ("asked", "enabled")) else None


def _is_moment(moment: t.Any) -> bool:
    if not isinstance(moment, dict) or utc_seconds(moment.get("at")) is None:
        return False
    if not isinstance(moment.get("boot_id"), (str, type(None))):
        return False
    uptime = moment.get("uptime")
    return uptime is None or (isinstance(uptime, (int, float)) and not isinstance(uptime, bool) and 0 <= uptime < LONGEST_UPTIME)


def _next_marker(marker: Marker | None, now: Marker) -> Marker:
    if marker is None or _seconds_since(marker["asked"], now) > SILENCE_SECONDS:
        return {"asked": now, "enabled": now}
    return {"asked": now, "enabled": marker["enabled"]}


def _seconds_since(moment: Marker, now: Marker) -> float:
    """Return the seconds since a moment, as far as this VM can know."""
    uptime = now["uptime"]
    same_boot = moment.get("boot_id") and moment.get("boot_id") == now["boot_id"]
    if same_boot and uptime is not None and moment.get("uptime") is not None and uptime >= moment["uptime"]:
        return float(uptime - moment["uptime"])
    by_clock = seconds_between(moment["at"], now["at"])
    # The moment was in an earlier boot, so at least the uptime of the present boot has passed, whatever the clock says.
    at_least = float(uptime) if uptime is not None and not same_boot else 0.0
    return max(by_clock or 0.0, at_least)


def _must_write(marker: Marker | None, new: Marker, now: Marker) -> bool:
    if marker is None or new["enabled"] is not marker["enabled"]:
        return True
    if marker["asked"].get("boot_id") != now["boot_id"]:
        return True
    return not 0 <= (seconds_between(marker["asked"]["at"], now["at"]) or 0.0) < WRITE_EVERY


def _write(files: Files, marker: Marker) -> None:
    temporary = f"{TEMPORARY}{uuid.uuid4().hex}.json"
    files.make()
    try:
        files.write_exclusive(temporary, json.dumps(marker, sort_keys=True).encode("ascii") + b"\n")
        files.rename(temporary, NAME)
    except OSError:
        try:
            files.unlink(temporary)
        except OSError:
            pass  # it was not created
        raise
