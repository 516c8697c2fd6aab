# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The commands of cmd.exe that are played. Each takes the run and the rest of its text, and gives the exit code, or None to keep the last one.

The messages are those of an English Windows; nothing may depend on them.
"""

from __future__ import annotations

import contextlib
import ctypes
import datetime
import errno
import fcntl
import os
import re

from .machine import Refused

WORD = re.compile(r'"[^"]*"|[^\s"]+')
NO_FILE = "The system cannot find the file specified."
NO_PATH = "The system cannot find the path specified."
IN_USE = "The process cannot access the file because it is being used by another process."


class InUse(Exception):
    """Somebody reads the file."""


@contextlib.contextmanager
def alone(*paths):
    """Windows renames and removes no file that another process has open. Locks of this machine say who has."""
    handles = []
    try:
        for path in paths:
            try:
                handles.append(os.open(path, os.O_RDONLY))
                fcntl.flock(handles[-1], fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise InUse(path)
            except OSError:
                continue
        yield
    finally:
        for handle in handles:
            os.close(handle)


def words(text, count, *switches):
    """The words of a command, without the switches; as many as there must be."""
    found = WORD.findall(text)
    plain = [word.strip('"') for word in found if not word.startswith("/")]
    other = [word for word in found if word.startswith("/") and word.lower() not in switches]
    if len(plain) != count or other:
        raise Refused("stand-in for cmd: these options are not played here: %s" % text)
    return plain


def rename_exclusively(old, new):
    """One step that fails where the new name exists, as MoveFile does."""
    library = ctypes.CDLL(None, use_errno=True)
    here, no_replace = -100, 1
    if library.renameat2(here, os.fsencode(old), here, os.fsencode(new), no_replace) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), old)


def echo(run, text):
    if text.strip().lower() in ("on", "off") or text == "":
        raise Refused("stand-in for cmd: echo with nothing, on or off is not played")
    run.say(text[1:])


def cd(run, text):
    (target,) = words(text, 1, "/d")
    path = run.path(target)
    if not os.path.isdir(path):
        run.say(NO_PATH, 2)
        return 1
    run.current = run.machine.windows(path)
    return 0


def dir_(run, text):
    found = WORD.findall(text)
    switches = sorted(word.lower() for word in found if word.startswith("/"))
    folders = [word.strip('"') for word in found if not word.startswith("/")]
    if switches not in (["/a-d", "/b"], ["/a", "/b"]) or len(folders) > 1:
        raise Refused("stand-in for cmd: only dir /b with /a-d or /a is played: %s" % text)
    from .cmd_line import listing

    path = run.path(folders[0] if folders else run.current)
    names = listing(path) if "/a-d" in switches or not os.path.isdir(path) else sorted(os.listdir(path))
    for name in names:
        run.say(name)
    if not names:
        run.say("File Not Found", 2)
    return 0 if names else 1


def type_(run, text):
    (name,) = words(text, 1)
    try:
        with open(run.path(name), "rb") as source:
            fcntl.flock(source, fcntl.LOCK_SH)
            run.write(source.read())
    except OSError:
        run.say(NO_FILE, 2)
        return 1
    return 0


def mkdir(run, text):
    (name,) = words(text, 1)
    path = run.path(name)
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.mkdir(path)
    except OSError as error:
        run.say("A subdirectory or file %s already exists." % name if error.errno == errno.EEXIST else NO_PATH, 2)
        return 1
    # Another user was quicker than what follows.
    for intruder in run.machine.read("intruders.json", {}).get(run.machine.windows(path), []):
        with open(os.path.join(path, intruder), "xb"):
            pass
    return 0


def rmdir(run, text):
    (name,) = words(text, 1)
    try:
        os.rmdir(run.path(name))
    except OSError as error:
        run.say("The directory is not empty." if error.errno == errno.ENOTEMPTY else NO_FILE, 2)
        return 145 if error.errno == errno.ENOTEMPTY else 2
    return 0


def ren(run, text):
    old, new = words(text, 2)
    if re.search(r'[\\/:*?"<>|]', new):
        raise Refused("stand-in for cmd: the new name of ren is one plain name: %s" % text)
    path = run.path(old)
    target = run.machine.path(new, run.machine.windows(os.path.dirname(path)))
    try:
        with alone(path):
            rename_exclusively(path, target)
    except InUse:
        run.say(IN_USE, 2)
        return 1
    except OSError as error:
        run.say("A duplicate file name exists, or the file\r\ncannot be found." if error.errno == errno.EEXIST else NO_FILE, 2)
        return 1
    return 0


def move(run, text):
    old, new = words(text, 2, "/y")
    if "/y" not in text.lower():
        raise Refused("stand-in for cmd: move asks a person without /y")
    source, target = run.path(old), run.path(new)
    if os.path.isdir(target):
        raise Refused("stand-in for cmd: moving into a folder is not played: %s" % text)
    try:
        with alone(source, target):
            os.replace(source, target)
    except InUse:
        run.say(IN_USE, 2)
        return 1
    except OSError:
        run.say(NO_PATH if os.path.exists(source) else NO_FILE, 2)
        return 1
    run.say("        1 file(s) moved.")
    return 0


def del_(run, text):
    (name,) = words(text, 1, "/f", "/q")
    path = run.path(name)
    try:
        with alone(path):
            os.unlink(path)
    except InUse:
        # No failure either.
        run.say(IN_USE, 2)
    except OSError:
        # No failure for cmd.exe: the exit code is 0.
        run.say("Could Not Find %s" % run.machine.windows(path), 2)
    return 0


def icacls(run, text):
    found = WORD.findall(re.sub(r"^\.exe", "", text, flags=re.IGNORECASE))
    path = run.path(found[0])
    if not os.path.exists(path):
        run.say("%s: %s" % (found[0].strip('"'), NO_FILE), 2)
        return 2
    if "/inheritance:r" in found:
        # The rights themselves are not played; that others have none is.
        os.chmod(path, 0o700)
    if "/inheritance:e" in found:
        os.chmod(path, 0o777)
    run.say("Successfully processed 1 files; Failed processing 0 files")
    return 0


def forfiles(run, text):
    found = WORD.findall(re.sub(r"^\.exe", "", text, flags=re.IGNORECASE))
    options = {found[at].lower(): found[at + 1].strip('"') for at in range(0, len(found) - 1, 2)}
    if sorted(options) != ["/d", "/m", "/p"] or not re.fullmatch(r"-\d+", options["/d"]) or len(found) != 6:
        raise Refused("stand-in for cmd: only forfiles /p FOLDER /m NAME /d -DAYS is played: %s" % text)
    # By dates: a file of yesterday's last minute is one day old at midnight.
    latest = datetime.date.today() + datetime.timedelta(days=int(options["/d"]))
    path = os.path.join(run.path(options["/p"]), options["/m"])
    if os.path.isfile(path) and datetime.date.fromtimestamp(os.path.getmtime(path)) <= latest:
        run.say("")
        run.say('"%s"' % os.path.basename(path))
        return 0
    run.say("ERROR: No files found with the specified search criteria.", 2)
    return 1


# A directory as the collection makes it: of the administrators, and nobody else may enter it.
PRIVATE = "O:BAG:SYD:PAI(A;OICI;FA;;;BA)(A;OICI;FA;;;SY)(A;OICI;FA;;;OW)"
USER = "S-1-5-21-1111111111-2222222222-3333333333-1001"


def powershell(run, text):
    """Only the question whose the present directory is. rights.txt of the machine has another answer than the usual one, rights.json by directory."""
    if "(Get-Acl -LiteralPath .).Sddl;" not in text or "GetCurrent().User.Value" not in text:
        raise Refused("stand-in for cmd: this line of PowerShell is not played: %s" % text)
    other = os.path.join(run.machine.home, "rights.txt")
    special = run.machine.read("rights.json", {}).get(run.current.rstrip("\\"))
    if special:
        run.say(special)
    elif os.path.exists(other):
        with open(other) as stream:
            run.say(stream.read().strip())
    else:
        run.say(PRIVATE)
    run.say(USER)
    return 0


COMMANDS = {
    "cd": cd,
    "del": del_,
    "dir": dir_,
    "echo": echo,
    "forfiles": forfiles,
    "icacls": icacls,
    "mkdir": mkdir,
    "move": move,
    "powershell": powershell,
    "ren": ren,
    "rmdir": rmdir,
    "type": type_,
}
