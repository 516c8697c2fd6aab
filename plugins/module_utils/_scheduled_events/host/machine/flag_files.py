# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""Flag files: a load balancer's probe reads from such a file whether a VM is in service. Describe, remove, create and restore them byte for byte."""

from __future__ import annotations

import base64
import contextlib
import os
import stat
import typing as t

LARGEST = 65536
# The file may be another by now: no link is followed, and no FIFO waited for.
READS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

# kind (file, link or absent), mode (octal), owner and group (numbers), content in base64 (of a link, its target). All texts. Windows: kind alone.
FlagState = t.Dict[str, str]


class FlagFileError(Exception):
    """The file cannot be used as a flag; the message says why."""


class FlagFiles(t.Protocol):
    """The flag files of one VM. The methods raise OSError."""

    def describe(self, path: str) -> FlagState:
        """Return the state of the file, so that restore() can put it back. Raise FlagFileError for anything that is no flag file."""

    def exists(self, path: str) -> bool:
        """Return whether anything is at the path, a link to a missing target included."""

    def set_aside(self, path: str) -> None:
        """Remove the file so that restore() can put it back; it may be gone already."""

    def remove(self, path: str) -> None:
        """Remove the file; it may be gone already."""

    def create(self, path: str, mode: str) -> None:
        """Create an empty file with this octal mode, unless the path exists."""

    def restore(self, path: str, found: FlagState) -> None:
        """Restore what describe() has found atomically: no probe ever reads half of the content."""


class LocalFlagFiles:
    """Flag files on this machine. Their folder may be a local user's, who can put anything in the place of a file at any moment."""

    def describe(self, path: str) -> FlagState:
        try:
            with _in_folder(path) as (folder, name):
                about = os.stat(name, dir_fd=folder, follow_symlinks=False)
                if stat.S_ISLNK(about.st_mode):
                    target = os.readlink(os.fsencode(name), dir_fd=folder)
                    return {"kind": "link", "mode": "0", "owner": "0", "group": "0", "content": base64.b64encode(target).decode("ascii")}
                if not stat.S_ISREG(about.st_mode):
                    raise FlagFileError(f"{path} is not a file")
                with open(os.open(name, READS, dir_fd=folder), "rb") as stream:
                    # Of the one that was opened. A link to another user's file may be a local user's, where the kernel allows it (fs.protected_hardlinks).
                    about = os.fstat(stream.fileno())
                    if not stat.S_ISREG(about.st_mode) or (about.st_nlink > 1 and about.st_uid != os.fstat(folder).st_uid):
                        raise FlagFileError(f"{path} is not a file, or one with {about.st_nlink} links whose folder has another owner")
                    content = stream.read(LARGEST + 1)
        except (FileNotFoundError, NotADirectoryError):
            return {"kind": "absent", "mode": "0", "owner": "0", "group": "0", "content": ""}
        if len(content) > LARGEST:
            raise FlagFileError(f"{path} holds more than {LARGEST} bytes, too much for a flag")
        return {
            "kind": "file",
            "mode": format(stat.S_IMODE(about.st_mode), "o"),
            "owner": str(about.st_uid),
            "group": str(about.st_gid),
            "content": base64.b64encode(content).decode("ascii"),
        }

    def exists(self, path: str) -> bool:
        # Not os.path.lexists: a path that cannot be examined is not absent.
        try:
            os.lstat(path)
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True

    def set_aside(self, path: str) -> None:
        self.remove(path)  # describe() has returned everything that restore() needs

    def remove(self, path: str) -> None:
        try:
            os.unlink(path)
        except (FileNotFoundError, NotADirectoryError):
            pass

    def create(self, path: str, mode: str) -> None:
        if not self.exists(path):
            self._write(path, b"", int(mode, 8), None)

    def restore(self, path: str, found: FlagState) -> None:
        try:
            content = base64.b64decode(found["content"], validate=True)
            if found["kind"] == "link":
                self._link(path, content)
            else:
                self._write(path, content, int(found["mode"], 8), (int(found["owner"]), int(found["group"])))
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise FlagFileError(f"the finding of {path} in the record cannot be restored: {error!r}")

    @staticmethod
    def _link(path: str, target: bytes) -> None:
        with _beside(path) as (folder, beside):
            os.symlink(target, os.fsencode(beside), dir_fd=folder)

    @staticmethod
    def _write(path: str, content: bytes, mode: int, owner: tuple[int, int] | None) -> None:
        with _beside(path) as (folder, beside):
            descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=folder)
            with open(descriptor, "wb") as stream:
                if owner is not None:
                    os.fchown(descriptor, *owner)
                stream.write(content)
                stream.flush()
                # Last: for a user other than root, a change of owner and a write clear the setuid bit.
                os.fchmod(descriptor, mode)
                # A daemon may not start with the empty file that a power failure would leave.
                os.fsync(descriptor)


@contextlib.contextmanager
def _in_folder(path: str) -> t.Iterator[tuple[int, str]]:
    """Return the folder by a descriptor, so that it stays the same one whatever its path means later, and the name of the file in it."""
    folder, name = os.path.split(path)
    descriptor = os.open(folder or ".", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        # A path that ends with a slash is a folder.
        yield descriptor, name or "."
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _beside(path: str) -> t.Iterator[tuple[int, str]]:
    """Return the folder, and the name of a new file that then takes the place of the one at the path. Where that fails, nothing of it is left."""
    with _in_folder(path) as (folder, name):
        beside = f"{name}.maintenance.{os.getpid()}"
        _unlink(beside, folder)
        try:
            yield folder, beside
            os.replace(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            _unlink(beside, folder)
            raise


def _unlink(name: str, folder: int) -> None:
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        pass
