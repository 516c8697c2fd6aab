# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""Host marks: which hosts of a run have their records in this directory.

The controller gives each host a mark of its own for each run, which no other host can guess. A host leaves its mark, and returns
all marks that it finds: two hosts that return each other's share one directory.
"""

from __future__ import annotations

import json
import re

from ..core.limits import COPIES
from ..host.files import Files
from ..host.system import Host, utc_seconds
from ..journal.record_schema import RecordsError, not_written, shorten
from .lease_schema import has_expired

MARK = re.compile(r"[0-9a-f]{32}")
# The mark, and its time limit in milliseconds since 1970, as in the name of a lease.
FILE_NAME = re.compile(r"host-([0-9a-f]{32})\.([0-9]{1,15})\.json")
# For how long a mark of a run that ended stays.
SECONDS = 600.0


def leave_mark(files: Files, host: Host, mark: str) -> list[str]:
    """Leave a host's mark, or renew it, remove marks that have expired, and return all others with it. Raise RecordsError."""
    if not MARK.fullmatch(mark):
        raise RecordsError(f"host_mark must be 32 hexadecimal digits, and is {shorten(mark)}.")
    now = utc_seconds(host.now()) or 0.0
    new = f"host-{mark}.{int((now + SECONDS) * 1000)}.json"
    try:
        files.make()
        own = [name for name, found, _limit in _marks(files) if found == mark]
        if own:
            # A change of the directory also makes NFS read it afresh.
            files.rename(own[0], new)
        else:
            files.write_exclusive(new, json.dumps({"format": 1, "made_at": host.now()}).encode("ascii") + b"\n")
        present = _marks(files)
        for name in [name for name, _found, limit in present if has_expired(limit, now)]:
            _remove(files, name)
    except OSError as error:
        raise not_written(files.where, error)
    return [mark, *(found for _name, found, limit in present if found != mark and not has_expired(limit, now))][:COPIES]


def _marks(files: Files) -> list[tuple[str, str, int]]:
    """Return the marks in the directory: file name, mark and time limit."""
    found = [(name, FILE_NAME.fullmatch(name)) for name in files.names()]
    return [(name, parts.group(1), int(parts.group(2))) for name, parts in found if parts]


def _remove(files: Files, name: str) -> None:
    try:
        files.unlink(name)
    except FileNotFoundError:
        return  # removed by another host
