# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""A folder that two users of one group share (on Windows, the administrators and the watcher's account): small files that its processes write and read.

Links are never followed, and nothing but regular files of a bounded size is read: the content is a message or a note, never a program or a path.
"""

from __future__ import annotations

import os
import uuid

from ..core.limits import FILE_BYTES, FOLDER_FILES
from ..host import file_access

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
        with file_access.open_to_read(os.path.join(self.where, name)) as stream:
            content = stream.read(FILE_BYTES + 1)
        if len(content) > FILE_BYTES:
            raise OSError(f"{name} in {self.where} is larger than {FILE_BYTES} bytes")
        return content

    def write(self, name: str, content: bytes, durable: bool) -> None:
        """Write a file in one step; replace one of that name. With ``durable`` it survives a loss of power."""
        temporary = os.path.join(self.where, self._temporary + uuid.uuid4().hex)
        try:
            descriptor = file_access.create(temporary, self._mode)
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(content)
                file_access.set_mode(descriptor, self._mode)
                stream.flush()
                if durable:
                    os.fsync(descriptor)
            file_access.replace(temporary, os.path.join(self.where, name))
        except OSError:
            self._remove_quietly(temporary)
            raise
        if durable:
            file_access.sync_folder(self.where)

    def remove(self, name: str) -> None:
        """Remove a file; one that is missing is no error."""
        try:
            file_access.remove(os.path.join(self.where, name))
        except FileNotFoundError:
            pass

    def rename(self, old: str, new: str) -> None:
        """Rename a file in one step; one that is missing is no error: the other process has removed it."""
        try:
            file_access.replace(os.path.join(self.where, old), os.path.join(self.where, new))
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

    @staticmethod
    def _remove_quietly(path: str) -> None:
        try:
            file_access.remove(path)
        except OSError:
            pass  # it was not created, and the error before this one says why
