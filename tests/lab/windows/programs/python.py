# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand-in for Windows' Python: this machine's, without what Windows' lacks, and with files that rename as Windows renames them.

    python.py PROGRAM -c CODE
    python.py PROGRAM -I ARCHIVE ARGUMENTS...

PROGRAM is what sys.executable says. What is true of Windows here is what Python's documentation says of it: names that are missing, sys.platform, flags that
a file must be opened with. A path on drive C: is one of the played machine, if there is one; all others stay those of this machine.

WINDOWS_STAND_IN the folder of the played machine
WINDOWS_MODULES  a file that gets the names of the collection's modules that were loaded, at the end
"""

from __future__ import annotations

# What follows must find ssl and its like loaded: they look at sys.platform themselves.
import atexit
import builtins
import errno
import io
import os
import re
import runpy
import signal
import socket
import ssl  # noqa: F401  # pylint: disable=unused-import
import stat
import subprocess
import sys
import types
import typing as t

MISSING: dict[types.ModuleType, tuple[str, ...]] = {
    os: (
        "O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_DIRECTORY", "chown", "fchmod", "fchown", "fork", "getegid", "geteuid", "getgid", "getuid", "lchown",
        "mkfifo", "setsid", "statvfs", "uname",
    ),
    socket: ("AF_UNIX", "SOCK_CLOEXEC", "SOCK_NONBLOCK"),
    signal: ("SIGHUP", "SIGKILL", "SIGUSR1", "SIGALRM", "alarm", "pthread_sigmask"),
}  # fmt: skip
MODULES = ("fcntl", "grp", "pwd", "resource", "syslog", "termios")
BINARY, NO_INHERIT = 1 << 28, 1 << 29
REPARSE_POINT = 0x400

HOME = os.environ.get("WINDOWS_STAND_IN", "")
real = types.SimpleNamespace(
    open=os.open, rename=os.rename, replace=os.replace, unlink=os.unlink, lstat=os.lstat, stat=os.stat, scandir=os.scandir, stream=io.open
)
# Each file is busy at the first attempt: another process has it open.
tried: set[tuple[str, str]] = set()


def main() -> None:
    program, *arguments = sys.argv[1:]
    become_windows(program)
    if arguments[0] == "-c":
        run_text(arguments[1])
        return
    if arguments[0] != "-I":
        sys.exit(f"stand-in for python: these arguments are not played: {arguments}")
    if arguments[1:2] == ["-c"]:
        run_text(arguments[2])
        return
    sys.argv = arguments[1:]
    runpy.run_path(here(sys.argv[0]), run_name="__main__")


def run_text(code: str) -> None:
    sys.argv = ["-c"]
    exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})


def here(path: t.Any) -> t.Any:
    """Return where a path of Windows is on this machine."""
    if HOME and isinstance(path, str) and re.match(r"[A-Za-z]:[\\/]", path):
        return os.path.join(HOME, "C", path[3:].replace("\\", "/"))
    return path


def become_windows(program: str) -> None:
    for module, names in MISSING.items():
        for name in names:
            delattr(module, name)
    for name in MODULES:
        sys.modules[name] = t.cast(t.Any, None)
    windows: t.Any = os
    windows.O_BINARY, windows.O_NOINHERIT = BINARY, NO_INHERIT
    t.cast(t.Any, subprocess).CREATE_NO_WINDOW = 0
    os.open, os.rename, os.replace, os.unlink, os.lstat = open_as_windows, rename, replace, unlink, lstat
    os.stat = lambda path, **more: real.stat(here(path), **more)
    os.scandir = lambda path=".": real.scandir(here(path))
    io.open = builtins.open = lambda file, *more, **named: real.stream(here(file), *more, **named)
    start = subprocess.Popen
    t.cast(t.Any, subprocess).Popen = lambda command, **named: start([here(command[0]), *command[1:]], **named)
    sys.platform = "win32"
    sys.executable = program
    if "WINDOWS_MODULES" in os.environ:
        atexit.register(note_modules, os.environ["WINDOWS_MODULES"])


def open_as_windows(path: t.Any, flags: int, mode: int = 0o777, **more: t.Any) -> int:
    if path == os.devnull:
        return real.open(path, flags, mode, **more)  # by this machine's subprocess
    if more or not flags & BINARY or not flags & NO_INHERIT:
        # Windows would change the ends of lines, and give the file to child processes.
        raise AssertionError(f"stand-in for python: {path} is opened without os.O_BINARY or os.O_NOINHERIT")
    if os.path.isdir(path):
        raise PermissionError(errno.EACCES, "Permission denied", path)
    return real.open(here(path), flags & ~(BINARY | NO_INHERIT), mode)


def rename(old: t.Any, new: t.Any) -> None:
    if os.path.exists(new):
        raise FileExistsError(errno.EEXIST, "Cannot create a file when that file already exists", old)
    real.rename(here(old), here(new))


def replace(old: t.Any, new: t.Any) -> None:
    busy_once("replace", new)
    real.replace(here(old), here(new))


def unlink(path: t.Any) -> None:
    busy_once("unlink", path)
    real.unlink(here(path))


def busy_once(what: str, path: t.Any) -> None:
    if os.path.exists(path) and (what, path) not in tried:
        tried.add((what, path))
        raise PermissionError(errno.EACCES, "The process cannot access the file because it is being used by another process", path)


def lstat(path: t.Any, **more: t.Any) -> t.Any:
    found = real.lstat(here(path), **more)
    named = {name: getattr(found, name) for name in dir(found) if name.startswith("st_") and name not in ("st_uid", "st_gid")}
    return types.SimpleNamespace(**named, st_file_attributes=REPARSE_POINT if stat.S_ISLNK(found.st_mode) else 0)


def note_modules(where: str) -> None:
    with open(where, "a") as stream:
        stream.writelines(f"{name}\n" for name in sorted(sys.modules) if name.startswith("_scheduled_events."))


if __name__ == "__main__":
    main()
