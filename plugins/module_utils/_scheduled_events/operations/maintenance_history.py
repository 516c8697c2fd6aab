# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""The operation of the module maintenance_history: read the history of this VM, or keep a VM's history in its share of an archive."""

from __future__ import annotations

import json
import re
import typing as t

from ..core.limits import HISTORY_BYTES, HISTORY_ENTRIES, HISTORY_VALUES
from ..core.types import Data, Values
from ..host.access import Failed, HostAccess, Result
from ..journal.history import Entry, History, checked, checked_limits, entry_of, history_of
from ..journal.history_limits import limits_argument
from ..journal.record_encoding import Reading
from ..journal.record_schema import RecordsError, Unreadable
from ..journal.record_store import DEFAULT_PATH, RecordStore

# The name of a share, which the controller makes.
SHARE = re.compile(r"[a-z0-9][a-z0-9_-]{0,99}")


def history_arguments() -> dict[str, Data]:
    """Return the argument spec of maintenance_history."""
    return {
        "records_path": {"type": "str", "default": DEFAULT_PATH},
        "state": {"type": "str", "default": "read", "choices": ["read", "kept"]},
        "share": {"type": "str"},
        "entries": {"type": "list", "elements": "dict", "default": []},
        "limits": limits_argument(),
        "since": {"type": "str"},
        "until": {"type": "str"},
    }


def history_required_if() -> list[list[t.Any]]:
    """Return the options that each state requires."""
    return [["state", "kept", ["share"]]]


def history_of_vm(options: Values, access: HostAccess) -> Result:
    """Run the operation on one host. Raise Failed."""
    if access.files is None or access.host is None:
        raise AssertionError("a history needs files and a host")
    files, host = access.files(options["records_path"]), access.host(None)
    try:
        if options["state"] == "read":
            changed, reading = False, _own(RecordStore(files, host), history_of(files, host, None))
        else:
            if not SHARE.fullmatch(options["share"]):
                raise RecordsError("share must be small letters, digits, _ and -, 100 at most.")
            if not access.check_mode:
                files.make()
            changed, reading = _kept(History(files.inside(options["share"]), host, checked_limits(options["limits"])), options["entries"], access.check_mode)
    except RecordsError as error:
        raise Failed(error.message, error_kind=error.kind)
    except OSError as error:
        if options["state"] == "read":
            raise Failed(f"The history in {files.where} cannot be used: {error}.", error_kind="records")
        raise Failed(f"The archive in {files.where} cannot be used: {error}.".replace("set records_path", "set report_archive_path"), error_kind="records")
    within = [entry for entry in reading.found if _within(entry, options["since"], options["until"])]
    entries = _acceptable(within)
    left = [f"{len(within) - len(entries)} older entries are left out: all together are more than one answer may have."] if len(entries) < len(within) else []
    return {"changed": changed, "entries": entries, "problems": left + reading.problems, "now": host.now()}


def _acceptable(entries: t.Sequence[Entry]) -> list[Entry]:
    """Return the newest entries that the controller accepts in one answer: one with more is refused as a whole, and what is in an archive would be lost."""
    size, values, found = 0, 0, []
    for entry in reversed(entries):
        text = json.dumps(entry)
        size, values = size + len(text), values + sum(map(text.count, ",[{"))
        if size > HISTORY_BYTES or values > HISTORY_VALUES:
            break
        found.append(entry)
    return found[::-1]


def _own(records: RecordStore, history: History) -> Reading:
    """Return the entries of a VM, and its records as entries. Of an event that has both, the record counts: it is the newer one."""
    reading, past = records.read_all(), history.read_all()
    if not reading.entered:
        raise RecordsError(" ".join(reading.problems))
    found = {_key(entry): entry for entry in past.found}
    found.update((_key(entry), entry) for entry in map(entry_of, reading.records))
    # Foreign and unreadable records are for status to tell.
    return Reading(list(found.values()), past.problems + ([] if reading.readable else reading.problems))


def _kept(history: History, given: t.Sequence[t.Any], check_mode: bool) -> tuple[bool, Reading]:
    """Add entries to a share, and return all of it. An entry that is there is replaced by a later state of its event only."""
    there = {_key(entry): entry for entry in history.read_all().found}
    problems, new = [], {}
    for one in given[-HISTORY_ENTRIES:]:
        try:
            entry = checked(one)
        except Unreadable as error:
            problems.append(f"An entry {error}; it is not kept.")
            continue
        before = there.get(_key(entry))
        if before is None or history.ended(entry) > history.ended(before):
            new[_key(entry)] = entry
    if check_mode:
        return bool(new), Reading([*{**there, **new}.values()], problems)
    # First of all room is made: a VM that answers thousands of entries never has more files in its share than can be read.
    changed = [history.add(entry) for entry in history.prune(new.values())]
    reading = history.read_all()
    return any(changed), Reading(reading.found, problems + reading.problems)


def _key(entry: Entry) -> str:
    return str(entry["event"]["event_id"]).strip().lower()


def _within(entry: Entry, since: str | None, until: str | None) -> bool:
    """Return whether any of its phases lies in a time, in the form of the records: such texts compare as their times do."""
    times = [item["at"] for item in entry["history"]]
    return not times or ((not since or max(times) >= since) and (not until or min(times) < until))
