# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""What Linux and Windows do differently with files, in one place. All functions raise OSError.

Everything else of the watcher is the same on both. The two halves stand below ``sys.platform``, so that mypy checks each for its own system.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
import time
import typing as t

# Windows renames and removes no file that another process has open, and readers and virus scanners hold one for milliseconds.
BUSY_SECONDS, BUSY_STEP = 1.0, 0.02


def open_to_read(path: str) -> t.BinaryIO:
    """Open a regular file, without following a link at the end of the path, and without waiting for a pipe."""
    descriptor = open_descriptor(path)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(f"{path} is not a regular file")
    return os.fdopen(descriptor, "rb")


if sys.platform == "win32":

    def open_descriptor(path: str) -> int:
        """Return a descriptor to read from. A link is looked for before and after: only an administrator could exchange it meanwhile."""
        _refuse_link(path)
        descriptor = os.open(path, os.O_RDONLY | os.O_BINARY | os.O_NOINHERIT)
        try:
            _refuse_link(path)
        except OSError:
            os.close(descriptor)
            raise
        return descriptor

    def _refuse_link(path: str) -> None:
        """Refuse symbolic links and junctions, as O_NOFOLLOW does elsewhere."""
        if os.lstat(path).st_file_attributes & stat.FILE_ATTRIBUTE_REPARSE_POINT:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)

    def create(path: str, mode: int) -> int:
        """Create a file that must not exist, and return its descriptor. Who may read it follows from its folder's rights, not from the mode."""
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_BINARY | os.O_NOINHERIT, mode)

    def set_mode(descriptor: int, mode: int) -> None:
        """Do nothing: the folder's rights are inherited."""

    def sync_folder(path: str) -> None:
        """Do nothing: Windows opens no folder, and NTFS keeps a journal of the names. The content is flushed with the file itself."""

    def replace(old: str, new: str) -> None:
        """Rename a file in one step, also over another one; try again while another process has one of them open."""
        _while_busy(lambda: os.replace(old, new))

    def remove(path: str) -> None:
        """Remove a file; try again while another process has it open."""
        _while_busy(lambda: os.unlink(path))

    def belongs_to_others(present: os.stat_result) -> bool:
        """Return False: the mode says nothing on Windows. Role watch sets and checks the rights of the folder."""
        return False

    def readable_by_others(present: os.stat_result) -> bool:
        """Return False, for the same reason."""
        return False

else:

    def open_descriptor(path: str) -> int:
        """Return a descriptor to read from."""
        return os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)

    def create(path: str, mode: int) -> int:
        """Create a file that must not exist, and return its descriptor."""
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)

    def set_mode(descriptor: int, mode: int) -> None:
        """Set who may read and write the file: the umask of a service must not decide it."""
        os.fchmod(descriptor, mode)

    def sync_folder(path: str) -> None:
        """Make creations, renames and removals in the folder durable."""
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def replace(old: str, new: str) -> None:
        """Rename a file in one step, also over another one."""
        os.rename(old, new)

    def remove(path: str) -> None:
        """Remove a file."""
        os.unlink(path)

    def belongs_to_others(present: os.stat_result) -> bool:
        """Return whether another user than root or this one owns the file or may write it."""
        return present.st_uid not in (0, os.geteuid()) or bool(present.st_mode & 0o022)

    def readable_by_others(present: os.stat_result) -> bool:
        """Return whether others than its owner may read or write the file; its group may read it."""
        return bool(present.st_mode & 0o037)


def _while_busy(work: t.Callable[[], None]) -> None:
    """Do the work; while another process has the file open, try again for a second, and then raise the error."""
    end = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            return work()
        except PermissionError:
            if time.monotonic() >= end:
                raise
        time.sleep(BUSY_STEP)
