# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""The file operations that records need, on the VM itself.

For a VM without Python, another class offers the same methods over the VM's connection.
"""

from __future__ import annotations

import os
import stat
import sys
import time
import typing as t

from ..core.limits import FILE_BYTES, FOLDER_BYTES, FOLDER_FILES
from . import file_access
from .system import Host, utc_seconds

if sys.platform == "win32":
    from .folder_on_windows import check_directory, check_file
else:
    from .ownership import check_directory, check_file

LISTINGS = 10
# Prefix of a file that is being written; readers ignore it.
TEMPORARY = "temporary-"


class Files(t.Protocol):
    """One directory. Names are plain file names, never paths. The methods raise OSError."""

    where: str

    def make(self) -> None:
        """Create the directory, accessible to its owner only, if it is missing."""

    def names(self) -> list[str]:
        """Return all file names; raise FileNotFoundError if the directory is missing. A name that stays in place is always returned."""

    def read(self, name: str) -> bytes:
        """Return the whole content; raise FileNotFoundError if the file is missing."""

    def write_exclusive(self, name: str, content: bytes) -> None:
        """Create the file durably; raise FileExistsError if the name is taken."""

    def link(self, old: str, new: str) -> None:
        """Give the content a second name atomically; raise FileExistsError if the name is taken."""

    def rename(self, old: str, new: str) -> None:
        """Rename atomically; replace a file that has the new name."""

    def unlink(self, name: str) -> None:
        """Remove the file; raise FileNotFoundError if it is missing."""

    def sync(self) -> None:
        """Make creations, renames and removals durable."""

    def age(self, name: str) -> float:
        """Return the seconds since the content was written, by the VM's clock."""

    def inside(self, folder: str) -> Files:
        """Return a folder inside this one, by its plain name."""


class Folder:
    """The files of one kind in one directory of a VM, and the clock of that VM."""

    def __init__(self, files: Files, host: Host) -> None:
        self.files = files
        self.host = host

    def _list(self) -> list[str]:
        """Return all names, none where the directory is missing. Raise OSError."""
        try:
            return self.files.names()
        except FileNotFoundError:
            return []

    def _names(self, form: t.Pattern[str]) -> list[str]:
        """Return the names of this form, none where they cannot be listed: there are none yet, or the reading of the records reports the fault."""
        try:
            return [name for name in self.files.names() if form.fullmatch(name)]
        except OSError:
            return []

    def _remove(self, name: str) -> None:
        """Remove a file. One that stays, or was never written, is for the next write or removal."""
        try:
            self.files.unlink(name)
        except OSError:
            return

    def _now(self) -> float:
        return utc_seconds(self.host.now()) or 0.0


def check_name(name: str) -> str:
    """Refuse anything but a plain file name. Names are built from checked parts; this is a second check."""
    if not name or name in (".", "..") or "/" in name or "\\" in name or "\0" in name:
        raise ValueError(f"not a plain file name: {name!r}")
    return name


def too_many_files() -> OSError:
    """Return the error for a listing that is longer than any real one."""
    return OSError(f"it holds more than {FOLDER_FILES} files, which no VM's records need: find out what fills it, and remove the files that are not records")


class LocalFiles:
    """The directory on this machine. A file in it counts only if no other user could have put it there."""

    def __init__(self, where: str) -> None:
        self.where = os.path.expanduser(where)
        self._bytes_read = 0

    @classmethod
    def of_option(cls, where: str) -> LocalFiles:
        """Return the directory that a task names. Raise ValueError for a relative path: it would be another directory for each program that uses it."""
        found = cls(where)
        if not os.path.isabs(found.where):
            raise ValueError(f"records_path is {where!r}; it must be a whole path such as /var/lib/azure-maintenance")
        return found

    def _path(self, name: str) -> str:
        return os.path.join(self.where, check_name(name))

    def make(self) -> None:
        if not os.path.isdir(self.where):
            parent = os.path.dirname(os.path.abspath(self.where))
            os.makedirs(parent, exist_ok=True)
            try:
                os.mkdir(self.where, 0o700)
            except FileExistsError:
                pass  # another process created it first, or a file has the name: then the next operation fails
        check_directory(self.where)

    def names(self) -> list[str]:
        check_directory(self.where)
        self._bytes_read = 0
        # A listing that runs beside a rename may show neither the old nor the new name; two equal listings in a row rule that out.
        present = self._list()
        for _attempt in range(LISTINGS):
            again = self._list()
            if again == present:
                break
            present = again
        return present

    def _list(self) -> list[str]:
        found: list[str] = []
        with os.scandir(self.where) as entries:
            for entry in entries:
                if len(found) >= FOLDER_FILES:
                    raise too_many_files()
                found.append(entry.name)
        return sorted(found)

    def read(self, name: str) -> bytes:
        check_directory(self.where)
        # A symbolic link here must not make root read another file, and a pipe must not block for ever.
        descriptor = file_access.open_descriptor(self._path(name))
        try:
            present = os.fstat(descriptor)
            if not stat.S_ISREG(present.st_mode):
                raise OSError("is not a regular file")
            check_file(name, present)
            content = self._content(descriptor)
        finally:
            os.close(descriptor)
        return content

    def _content(self, descriptor: int) -> bytes:
        with os.fdopen(descriptor, "rb", closefd=False) as stream:
            content = stream.read(FILE_BYTES + 1)
        self._bytes_read += len(content)
        if len(content) > FILE_BYTES:
            raise OSError(f"is larger than {FILE_BYTES} bytes")
        if self._bytes_read > FOLDER_BYTES:
            raise OSError(f"would be more than {FOLDER_BYTES} bytes with those that were read before it")
        return content

    def write_exclusive(self, name: str, content: bytes) -> None:
        check_directory(self.where)
        descriptor = file_access.create(self._path(name), 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(descriptor)

    def link(self, old: str, new: str) -> None:
        check_directory(self.where)
        os.link(self._path(old), self._path(new), follow_symlinks=False)

    def rename(self, old: str, new: str) -> None:
        check_directory(self.where)
        file_access.replace(self._path(old), self._path(new))

    def unlink(self, name: str) -> None:
        check_directory(self.where)
        file_access.remove(self._path(name))

    def sync(self) -> None:
        file_access.sync_folder(self.where)

    def age(self, name: str) -> float:
        return time.time() - os.lstat(self._path(name)).st_mtime

    def inside(self, folder: str) -> LocalFiles:
        return LocalFiles(self._path(folder))
