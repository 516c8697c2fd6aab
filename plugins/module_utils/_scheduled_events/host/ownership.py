# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""Check that only root and this user control the records' directory, or a program that root runs, with all that is on the way there.

Undo of a record runs as this user, often as root: another user who could write there could have anything undone.
In a directory that passes, no other user can replace a path, so paths through it are safe.
"""

from __future__ import annotations

import errno
import os
import pwd
import shlex
import stat
import typing as t

MOST_LINKS = 40  # as Linux


class NotTrusted(PermissionError):
    """Another user could have written there. The message says which user and how to fix it."""

    def __str__(self) -> str:
        return str(self.args[0])


def check_directory(path: str) -> None:
    """Raise NotTrusted if others own, may write or may replace the directory; FileNotFoundError if it is missing."""
    whole = os.path.abspath(path)
    _check_link(whole)
    present = os.stat(whole)
    quoted = shlex.quote(path)
    mend = f"chown {_own_name()}: {quoted} && chmod 700 {quoted}; look at the files in it before you trust them"
    _check_rights(path, present, mend, stat.S_ISDIR(present.st_mode) and _anyone_may_write(present))
    for parent in _parents_of(whole):
        _check_parent(path, parent, f"set records_path to a place where only {_own_name()} may write", _others_may_write)


def check_program(path: str, way_out: str) -> None:
    """Raise NotTrusted if others own, may write or may replace a program or a folder of programs; FileNotFoundError if it is missing."""
    whole = os.path.abspath(path)
    _check_link(whole)
    present, quoted = os.stat(whole), shlex.quote(os.path.realpath(whole))
    mend = f"chown {_own_name()}: {quoted} && chmod go-w {quoted} once you know what it holds, or {way_out}"
    _check_rights(path, present, mend, _anyone_may_write(present))
    for parent in _parents_of(whole):
        _check_parent(path, parent, way_out, _anyone_may_write)


def check_file(name: str, present: os.stat_result) -> None:
    """Raise NotTrusted if another user owns or may write the open file."""
    mend = "look at what is in it, then remove it, or chown and chmod 600 it"
    _check_rights(name, present, mend, _others_may_write(present))


def _check_rights(path: str, present: os.stat_result, mend: str, is_open: bool) -> None:
    _check_owner(path, present, mend)
    if is_open:
        raise NotTrusted(f"{path} may be written by {_writers(present.st_mode)} (mode {stat.S_IMODE(present.st_mode):04o}): {mend}")


def _check_link(path: str) -> None:
    """Refuse a foreign symbolic link: in a directory with the sticky bit its owner may redirect it at any time."""
    present = os.lstat(path)
    if stat.S_ISLNK(present.st_mode):
        _check_owner(path, present, "it is a symbolic link; remove it and make a directory of your own")


def _check_owner(path: str, present: os.stat_result, mend: str) -> None:
    if present.st_uid not in _trusted():
        raise NotTrusted(f"{path} belongs to {_name(present.st_uid)}, not to {_own_name()}: {mend}")


def _parents_of(whole: str) -> list[str]:
    """Return all that is on the way to a path, the nearest first: the folders of the path as written, each link, and the folders of its target."""
    found, where, links, left = ["/"], "/", 0, whole.split("/")
    while left:
        name = left.pop(0)
        where = os.path.normpath(os.path.join(where, name))
        found.append(where)
        if os.path.islink(where):
            links += 1
            if links > MOST_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), whole)
            left = os.readlink(where).split("/") + left
            where = os.path.dirname(where) if left[0] else "/"
    return [one for one in dict.fromkeys(reversed(found)) if one not in (whole, os.path.realpath(whole))]


def _check_parent(path: str, parent: str, way_out: str, may_write: t.Callable[[os.stat_result], bool]) -> None:
    mend = f"take its rights from others (chmod go-w {shlex.quote(parent)}), or {way_out}"
    _check_link(parent)
    present = os.stat(parent)
    if present.st_uid not in _trusted():
        raise NotTrusted(f"{path} lies in {parent}, which belongs to {_name(present.st_uid)}, not to {_own_name()}, who may exchange it: {mend}")
    # With the sticky bit, only its owner can replace an entry.
    if may_write(present) and not present.st_mode & stat.S_ISVTX:
        raise NotTrusted(f"{path} lies in {parent}, which {_writers(present.st_mode)} may write (mode {stat.S_IMODE(present.st_mode):04o}): {mend}")


def _others_may_write(present: os.stat_result) -> bool:
    """Return whether other users may write. Root's group, and a user's own group of the same number (as with umask 002), do not count as others."""
    own_group = present.st_gid == 0 or present.st_gid == present.st_uid
    return bool(present.st_mode & (0o002 if own_group else 0o022))


def _anyone_may_write(present: os.stat_result) -> bool:
    """Return whether a group, whichever it is, or other users may write: what root runs needs no group."""
    return bool(present.st_mode & 0o022)


def _trusted() -> tuple[int, int]:
    return (0, os.geteuid())


def _writers(mode: int) -> str:
    return "any user" if mode & 0o002 else "its group"


def _own_name() -> str:
    return _passwd_name(os.geteuid()) or str(os.geteuid())


def _name(user: int) -> str:
    known = _passwd_name(user)
    return f"{known} (uid {user})" if known else f"uid {user}"


def _passwd_name(user: int) -> str | None:
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return None
