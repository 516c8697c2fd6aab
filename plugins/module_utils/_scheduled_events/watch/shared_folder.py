# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""A folder that two users of one group share: the watcher's processes write and read small files in it.

Links are never followed, and nothing but regular files of a bounded size is read: the content is a message or a note, never a program or a path.
"""

from __future__ import annotations

import os
import stat
import uuid

from ..core.limits import FILE_BYTES, FOLDER_FILES

TEMPORARY = ".temporary-"


class SharedFolder:
    """One folder that exists. The methods raise OSError."""

    def __init__(self, where: str, mode: int = 0o660, temporary: str = TEMPORARY) -> None:
        self.where = where
        self._mode = mode
        # How the names of temporary files begin: of this writer alone, where the folder has others.
        self._temporary = temporary

    def names(self) -> list[str]:
        """Return the names of all regular files but temporary ones, in order."""
        found: list[str] = []
        with os.scandir(self.where) as entries:
            for entry in entries:
                if len(found) >= FOLDER_FILES:
                    raise OSError(f"{self.where} holds more than {FOLDER_FILES} files: find out what fills it")
                if not entry.name.startswith(self._temporary) and entry.is_file(follow_symlinks=False):
                    found.append(entry.name)
        return sorted(found)

    def read(self, name: str) -> bytes:
        """Return the content of a regular file of at most FILE_BYTES bytes."""
        # A pipe must not block for ever.
        descriptor = os.open(os.path.join(self.where, name), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as stream:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise OSError(f"{name} in {self.where} is not a regular file")
            content = stream.read(FILE_BYTES + 1)
        if len(content) > FILE_BYTES:
            raise OSError(f"{name} in {self.where} is larger than {FILE_BYTES} bytes")
        return content

    def write(self, name: str, content: bytes, durable: bool) -> None:
        """Write a file in one step; replace one of that name. With ``durable`` it survives a loss of power."""
        temporary = os.path.join(self.where, self._temporary + uuid.uuid4().hex)
        try:
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, self._mode)
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(content)
                # The umask of a service must not decide who can read it.
                os.fchmod(descriptor, self._mode)
                stream.flush()
                if durable:
                    os.fsync(descriptor)
            os.rename(temporary, os.path.join(self.where, name))
        except OSError:
            self._remove_quietly(temporary)
            raise
        if durable:
            self._sync()

    def remove(self, name: str) -> None:
        """Remove a file; one that is missing is no error."""
        try:
            os.unlink(os.path.join(self.where, name))
        except FileNotFoundError:
            pass

    def rename(self, old: str, new: str) -> None:
        """Rename a file in one step; one that is missing is no error: the other process has removed it."""
        try:
            os.rename(os.path.join(self.where, old), os.path.join(self.where, new))
        except FileNotFoundError:
            pass

    def size(self, name: str) -> int:
        """Return the bytes of a file, 0 for one that is missing."""
        try:
            return os.lstat(os.path.join(self.where, name)).st_size
        except FileNotFoundError:
            return 0

    def remove_leftovers(self) -> None:
        """Remove temporary files of a writer that was killed. Call it when no other process writes here."""
        with os.scandir(self.where) as entries:
            left = [entry.name for entry in entries if entry.name.startswith(self._temporary)]
        for name in left:
            self.remove(name)

    def _sync(self) -> None:
        descriptor = os.open(self.where, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    @staticmethod
    def _remove_quietly(path: str) -> None:
        try:
            os.unlink(path)
        except OSError:
            pass  # it was not created, and the error before this one says why
