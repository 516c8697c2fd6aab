# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""The folder through which the asker starts the draining unit: empty files, each named for an event.

Only the asker can write there. The draining unit is root, and the asker may have been taken over: so a name must be a GUID, nothing is read, and no link
is followed.
"""

from __future__ import annotations

import itertools
import os
import re
import typing as t
import uuid

GUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
# More events than a VM ever has at once.
MOST = 32
MOST_LISTED = 1024


class Triggers:
    """The folder. The methods raise OSError."""

    def __init__(self, where: str) -> None:
        self._where = where

    def add(self, event_id: str) -> bool:
        """Ask for a drain. Return False for an id that is no GUID: a controller serves that event."""
        name = event_id.strip().lower()
        if not GUID.fullmatch(name):
            return False
        descriptor = os.open(os.path.join(self._where, name), os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        os.close(descriptor)
        return True

    def take(self) -> list[str]:
        """Return the ids that are asked for, in lower case. Remove whatever else lies there."""
        with _Folder(self._where) as folder, os.scandir(folder) as entries:
            names = sorted(entry.name for entry in itertools.islice(entries, MOST_LISTED))
            found = [name for name in names if GUID.fullmatch(name)][:MOST]
            for name in set(names).difference(found):
                _clear(name, folder)
        return found

    def remove(self, event_id: str) -> None:
        """Note that an event has been served."""
        with _Folder(self._where) as folder:
            _clear(event_id, folder)


class _Folder:
    """The folder itself, as a descriptor: what is put in its place later changes nothing."""

    def __init__(self, where: str) -> None:
        self._descriptor = os.open(where, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)

    def __enter__(self) -> int:
        return self._descriptor

    def __exit__(self, *error: t.Any) -> None:
        os.close(self._descriptor)


def _clear(name: str, folder: int) -> None:
    """Remove a name, or rename it so that it starts nothing: a folder with something in it, which the asker never makes."""
    if not _remove(name, folder) and not name.startswith("."):
        os.rename(name, f".{uuid.uuid4().hex}", src_dir_fd=folder, dst_dir_fd=folder)


def _remove(name: str, folder: int) -> bool:
    """Remove one name, whatever it is. Return False for a folder with something in it."""
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        pass
    except IsADirectoryError:
        try:
            os.rmdir(name, dir_fd=folder)
        except OSError:
            return False
    return True
