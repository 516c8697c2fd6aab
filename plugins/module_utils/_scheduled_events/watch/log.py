# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""Where the watcher's parts write what people may want to know: systemd's journal keeps their errors, and on Windows a file of bounded size does."""

from __future__ import annotations

import os
import sys
import time
import typing as t

from ..host import file_access

# A problem is one line however long it lasts, so this is months.
LOG_BYTES = 256 * 1024
FORMER = ".old"

Log = t.Callable[[str], None]


def log_to_errors(line: str) -> None:
    """Write a line to standard error, which systemd keeps in its journal."""
    content = line.encode("utf-8", "replace") + b"\n"
    if sys.stderr is not None:  # a process of Windows may have none
        os.write(2, content)


class LogFile:
    """A file of lines, in a folder in which only one process writes this name."""

    def __init__(self, folder: str, name: str) -> None:
        self._path = os.path.join(folder, name)

    def write(self, line: str) -> None:
        """Add a line, with the time. Where it cannot be written, standard error gets it, and the watcher goes on."""
        from ..host.system import utc_text  # not above: it loads http.client, and with it TLS

        try:
            with self.open() as stream:
                stream.write(f"{utc_text(time.time())} {line}\n".encode("utf-8", "replace"))
        except OSError as error:
            log_to_errors(f"{line} (not in {self._path}: {error})")

    def open(self) -> t.BinaryIO:
        """Return the file to add to. A full one is renamed first, and the one that was renamed before is gone. Raise OSError."""
        try:
            if os.path.getsize(self._path) > LOG_BYTES:
                file_access.replace(self._path, self._path + FORMER)
        except FileNotFoundError:
            pass  # the first line
        return open(self._path, "ab")
