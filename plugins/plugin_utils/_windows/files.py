# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""File operations for the records on a Windows VM, each one line of cmd.exe.

An atomic operation is one rename: "ren" fails if the new name is taken, "move /y" replaces it. Neither PowerShell nor a service of our own is needed.
"""

from __future__ import annotations

import re
import typing as t
import uuid

from ...module_utils._scheduled_events.core.limits import FILE_BYTES, FOLDER_FILES
from ...module_utils._scheduled_events.host.files import LISTINGS, TEMPORARY, check_name, too_many_files
from ...module_utils._scheduled_events.host.watcher_state import NAME, STATE_BYTES, WINDOWS_FOLDER
from .calls import Calls
from .rights import ASK, check_rights

# A longer file is not read: its content goes through the session.
LARGEST_FILE = FILE_BYTES
# In every language of Windows, cmd can only tell that a file was changed before yesterday. It compares dates: with one day less, a file
# of 23:59 would be old at midnight.
DAYS_OLD = 2 * 86400.0
DIRECTORY = re.compile(r"(?:%[A-Za-z_][A-Za-z0-9_]*%|[A-Za-z]:)(?:\\[^\\/:*?\"<>|%\x00-\x1f]+)+")
# "for" runs over files that exist only where the name is a pattern; this one has no other match among the watcher's files.
STATE_PATTERN = NAME[:-1] + "?"
PLAIN = re.compile(r"[A-Za-z0-9._-]+")
# Administrators, the system, and the owner of a file. By SID, because names depend on the language.
# In quotes: their brackets would otherwise end the group of commands around them.
RIGHTS = '"*S-1-5-32-544:(OI)(CI)F" "*S-1-5-18:(OI)(CI)F" "*S-1-3-4:(OI)(CI)F"'
# Windows cannot rename a file while another process reads it: other runs read the records, and virus scanners read everything.
# A failed rename changes nothing, and a call takes longer than such a read.
TRIES = 5
# Exit codes of the lines below.
FAILED, MISSING, NO_ENTRY, TAKEN, NO_RIGHTS = 1, 2, 4, 5, 6
REASONS = {FAILED: "it failed", NO_ENTRY: "the directory cannot be entered", NO_RIGHTS: "its rights cannot be set"}

# The directory's rights, the names, all contents, and the names again: equal lists mean that no file came or went meanwhile.
# Last the state of the VM's watcher, which costs no call of its own here. A user without rights writes it, so it comes after the end.
LOAD = (
    '(if not exist "{where}\\" ((if exist "{where}" exit 4)&exit 2))&(cd /d "{where}" 2>nul||exit 4)&echo =rights&{ask}&echo =list&dir /b /a-d 2>nul&'
    '(for %f in (*) do @if %~zf LEQ {largest} (echo =file %f&type "%f" 2>nul&&echo.&&echo =read))&echo =list&dir /b /a-d 2>nul&echo =end&'
    '(cd /d "{watcher}" 2>nul&&(for %f in ({state}) do @if %~zf LEQ {state_bytes} (echo =watcher&type "%f" 2>nul)))&exit 0'
)
# Every user may write in a new directory below %ProgramData% until it has its rights, and the owner of a file keeps it. So it prints what is in it then.
MAKE = 'mkdir "{where}" 2>nul&&(icacls "{where}" /inheritance:r /grant:r {rights} >nul||exit 6)&&dir /b /a "{where}" 2>nul&(if exist "{where}\\" exit 0)&exit 1'
# Gives it the rights of its parent again, so that no later run trusts it.
DISTRUST = 'icacls "{where}" /inheritance:e >nul&exit 0'
STORE = '(if not exist "{where}\\" exit 2)&(if exist "{where}\\{name}" exit 5)&move /y "{sent}" "{where}\\{name}" >nul&&exit 0&exit 1'
TAKE = 'ren "{where}\\{name}" "{new}" 2>nul&&exit 0&(if not exist "{where}\\{name}" exit 2)&(if exist "{where}\\{new}" exit 5)&exit 1'
REPLACE = 'move /y "{where}\\{name}" "{where}\\{new}" >nul 2>nul&&exit 0&(if not exist "{where}\\{name}" exit 2)&exit 1'
# "del" succeeds without a file. After a rename only one of two processes wins, and a lease that was renewed meanwhile is noticed.
REMOVE = '(ren "{where}\\{name}" "{new}" 2>nul||((if exist "{where}\\{name}" exit 1)&exit 2))&del /f /q "{where}\\{new}" 2>nul&exit 0'
OLD = 'forfiles /p "{where}" /m "{name}" /d -2 >nul 2>nul&&exit 0&exit 1'


def check_directory(path: str) -> str:
    """Return the directory if the lines of cmd can hold it. Raise ValueError that says what is wrong."""
    plain = path.strip().replace("/", "\\").rstrip("\\")
    if not DIRECTORY.fullmatch(plain):
        raise ValueError(f"records_path is {path!r}; on a Windows host it must be a whole path such as C:\\ProgramData\\name or %ProgramData%\\name.")
    return plain


class WindowsFiles:
    """One directory on a Windows VM; see Files. With ``once`` one reading serves until the next change: an observation is one moment."""

    def __init__(self, calls: Calls, where: str, check_mode: bool, once: bool = False, on_watcher: t.Callable[[bytes | None], None] | None = None) -> None:
        """``on_watcher`` gets the content of the watcher's state, or None where there is none, with each reading of the directory."""
        self.where = check_directory(where)
        self._calls = calls
        self._check_mode = check_mode
        self._once = once
        self._on_watcher = on_watcher or (lambda content: None)
        self._names: list[str] | None = None
        self._contents: dict[str, bytes] = {}
        self._made = False
        # Temporary files that a rename has consumed; their removal needs no call.
        self._taken: set[str] = set()

    def make(self) -> None:
        if not self._made:
            if found := " ".join(self._change(MAKE, rights=RIGHTS).split()):
                self._change(DISTRUST)
                raise OSError(f"another user put {found[:200]} into {self.where} while it was made: look at it, and remove the directory")
            self._made = True

    def names(self) -> list[str]:
        if not (self._once and self._names is not None):
            self._load()
        return list(self._names or [])

    def read(self, name: str) -> bytes:
        check_name(name)
        # No name is ever reused with other content, except for a few files that are replaced whole; so the content of the last listing is right.
        if self._names is None:
            self._load()
        if name in self._contents:
            return self._contents[name]
        if name in (self._names or []):
            raise OSError(f"is larger than {LARGEST_FILE} bytes, or cannot be read")
        raise FileNotFoundError(f"{self.where}\\{name} is not there")

    def write_exclusive(self, name: str, content: bytes) -> None:
        self._refuse_in_check_mode()
        self._change(STORE, name=name, sent=self._calls.send(content))

    def link(self, old: str, new: str) -> None:
        # A rename instead of a second name: as exclusive, and also atomic.
        self._change(TAKE, name=old, new=new)
        self._taken.add(old)

    def rename(self, old: str, new: str) -> None:
        self._change(REPLACE, name=old, new=new)

    def unlink(self, name: str) -> None:
        if name in self._taken:
            self._taken.discard(name)
            raise FileNotFoundError(f"{self.where}\\{name} is not there")
        self._change(REMOVE, name=name, new=f"{TEMPORARY}{uuid.uuid4().hex}.json")

    def sync(self) -> None:
        """Do nothing: cmd cannot flush, so writes of the last seconds before a host loses power may be lost (docs/TESTING.md)."""

    def age(self, name: str) -> float:
        code, _output, _errors = self._calls.command(self._line(OLD, name=name))
        return DAYS_OLD if code == 0 else 0.0

    def inside(self, folder: str) -> WindowsFiles:
        return WindowsFiles(self._calls, f"{self.where}\\{check_name(folder)}", self._check_mode, self._once)

    def _load(self) -> None:
        for _attempt in range(LISTINGS):
            code, whole, errors = self._calls.command(self._line(LOAD, largest=LARGEST_FILE))
            output, watcher = _split(whole)
            self._on_watcher(watcher)
            self._names, self._contents = None, {}
            self._check(code, errors)
            check_rights(self.where, _rights(output))
            before, contents, after = _parts(output)
            if len(before) > FOLDER_FILES:
                raise too_many_files()
            if before == after:
                self._made = True
                self._names, self._contents = before, contents
                return
        raise OSError("changes faster than it can be read")

    def _change(self, form: str, **names: str) -> str:
        """Change something, and return what the line printed."""
        self._refuse_in_check_mode()
        self._names, self._contents = None, {}
        for _try in range(TRIES):
            code, output, errors = self._calls.command(self._line(form, **names))
            if code != FAILED:
                break
        self._check(code, errors)
        return output

    def _refuse_in_check_mode(self) -> None:
        if self._check_mode:
            raise AssertionError("a file would be changed in check mode")

    def _line(self, form: str, **names: object) -> str:
        for key in ("name", "new"):
            if key in names and not PLAIN.fullmatch(check_name(str(names[key]))):
                raise ValueError(f"not a plain file name: {names[key]!r}")
        watcher = {"watcher": WINDOWS_FOLDER, "state": STATE_PATTERN, "state_bytes": STATE_BYTES}
        return form.format(where=self.where, ask=ASK, **watcher, **names)

    def _check(self, code: int, errors: str) -> None:
        if code == 0:
            return
        if code == MISSING:
            raise FileNotFoundError(f"{self.where} or a file in it is not there")
        if code == TAKEN:
            raise FileExistsError(f"the name is taken in {self.where}")
        why = " ".join(errors.split())[:200] or REASONS.get(code, f"cmd.exe ended with {code}")
        raise OSError(why)


def _split(output: str) -> tuple[str, bytes | None]:
    """Return what LOAD printed of the directory, and the state of the watcher. No line of the directory's files begins so, whatever the state holds."""
    end = "\n=end\n"
    directory, found, rest = output.replace("\r\n", "\n").partition(end)
    mark = "=watcher\n"
    return directory + found, rest[len(mark) :].encode("utf-8", "replace") if rest.startswith(mark) else None


def _rights(output: str) -> list[str]:
    """Return what LOAD printed about the directory's rights. It comes first, so that no file's content can imitate it."""
    lines = output.split("=list", 1)[0].splitlines()
    return lines[1:] if lines[:1] == ["=rights"] else []


def _parts(output: str) -> tuple[list[str], dict[str, bytes], list[str]]:
    """Return what LOAD printed: the names, the contents, the names again. No line of our JSON begins with "="."""
    lists: list[list[str]] = []
    contents: dict[str, list[str]] = {}
    into: list[str] | None = None
    name = ""
    ended = False
    for line in output.splitlines():
        if line == "=list":
            into = []
            lists.append(into)
        elif line.startswith("=file "):
            name, into = line[len("=file ") :], []
        elif line == "=read":
            # Only a complete reading counts: an unreadable file must not look like a broken record.
            contents[name] = into or []
        elif line == "=end":
            ended = True
        elif into is not None and line:
            into.append(line)
    if len(lists) != 2 or not ended:
        raise OSError("the listing was cut off")
    return sorted(lists[0]), {name: "\n".join(lines).encode("utf-8") + b"\n" for name, lines in contents.items()}, sorted(lists[1])
