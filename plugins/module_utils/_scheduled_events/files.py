# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""The few file operations that records need, on the VM itself.

A VM without Python gets another class with the same methods, over the files and renames of its connection.
"""

from __future__ import annotations

import os
import stat
import time
import typing as t

LARGEST_FILE = 8 * 1024 * 1024
LISTINGS = 10


class Files(t.Protocol):
    """One directory. Names are plain file names, never paths. Errors are OSError."""

    where: str

    def make(self) -> None:
        """Create the directory, for its owner only, where it is missing."""

    def names(self) -> list[str]:
        """All file names; FileNotFoundError without the directory. A name that lasts is never left out."""

    def read(self, name: str) -> bytes:
        """The whole content; FileNotFoundError when it is not there."""

    def write_exclusive(self, name: str, content: bytes) -> None:
        """Create and make durable; FileExistsError when the name is taken."""

    def link(self, old: str, new: str) -> None:
        """Give the content a second name, in one step; FileExistsError when the name is taken."""

    def rename(self, old: str, new: str) -> None:
        """Rename in one step, over a file that has the new name."""

    def unlink(self, name: str) -> None:
        """Remove; FileNotFoundError when it is not there."""

    def sync(self) -> None:
        """Make the names durable."""

    def age(self, name: str) -> float:
        """Seconds since the content was written, by the VM's clock."""


def check_name(name: str) -> str:
    """Refuse whatever is not a plain file name. Names are built from checked parts; this is the second lock."""
    if not name or name in (".", "..") or "/" in name or "\\" in name or "\0" in name:
        raise ValueError(f"not a plain file name: {name!r}")
    return name


class LocalFiles:
    """The directory on this machine."""

    def __init__(self, where: str) -> None:
        self.where = os.path.expanduser(where)

    def _path(self, name: str) -> str:
        return os.path.join(self.where, check_name(name))

    def make(self) -> None:
        if os.path.isdir(self.where):
            return
        parent = os.path.dirname(os.path.abspath(self.where))
        os.makedirs(parent, exist_ok=True)
        try:
            os.mkdir(self.where, 0o700)
        except FileExistsError:
            # Another process was faster, or a file stands in the way: then the next operation says so.
            return

    def names(self) -> list[str]:
        # A listing that runs beside a rename may show neither the old nor the new name. Two equal ones in a row do not.
        present = sorted(os.listdir(self.where))
        for _attempt in range(LISTINGS):
            again = sorted(os.listdir(self.where))
            if again == present:
                break
            present = again
        return present

    def read(self, name: str) -> bytes:
        # A link planted here must not make root read another file, and a pipe must not block for ever.
        descriptor = os.open(self._path(name), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as stream:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise OSError("is not a regular file")
            content = stream.read(LARGEST_FILE + 1)
        if len(content) > LARGEST_FILE:
            raise OSError(f"is larger than {LARGEST_FILE} bytes")
        return content

    def write_exclusive(self, name: str, content: bytes) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(self._path(name), flags, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(descriptor)

    def link(self, old: str, new: str) -> None:
        os.link(self._path(old), self._path(new), follow_symlinks=False)

    def rename(self, old: str, new: str) -> None:
        os.rename(self._path(old), self._path(new))

    def unlink(self, name: str) -> None:
        os.unlink(self._path(name))

    def sync(self) -> None:
        descriptor = os.open(self.where, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def age(self, name: str) -> float:
        return time.time() - os.lstat(self._path(name)).st_mtime
