# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""The file operations of the records on a Windows VM, each one line of cmd.exe.

What must happen in one step is one rename: "ren" fails where the new name is taken, "move /y" replaces it. Neither PowerShell nor a
service of our own is needed.
"""

from __future__ import annotations

import re
import uuid

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.limits import FILE_BYTES, FOLDER_FILES
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.files import (
    LISTINGS,
    check_name,
    too_many_files,
)
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_schema import TEMPORARY
from ansible_collections.maintenance.azure.plugins.plugin_utils._windows.calls import Calls
from ansible_collections.maintenance.azure.plugins.plugin_utils._windows.rights import ASK, check_rights

# What is longer is not read: all of it goes through the session.
LARGEST_FILE = FILE_BYTES
# That a file was changed before yesterday is all that cmd can be asked in every language of Windows. It goes by dates: with one day less,
# a file of 23:59 would be old at midnight.
DAYS_OLD = 2 * 86400.0
DIRECTORY = re.compile(r"(?:%[A-Za-z_][A-Za-z0-9_]*%|[A-Za-z]:)(?:\\[^\\/:*?\"<>|%\x00-\x1f]+)+")
PLAIN = re.compile(r"[A-Za-z0-9._-]+")
# Administrators, the system, and whoever owns a file. By number, because names depend on the language.
# In quotes, or their brackets would end the group of commands that they stand in.
RIGHTS = '"*S-1-5-32-544:(OI)(CI)F" "*S-1-5-18:(OI)(CI)F" "*S-1-3-4:(OI)(CI)F"'
# Windows renames no file that another process reads at that moment: other runs look at the records, and virus scanners at everything.
# Nothing is changed then, and a call takes longer than they do.
TRIES = 5
# Exit codes of the lines below.
FAILED, MISSING, NO_ENTRY, TAKEN, NO_RIGHTS = 1, 2, 4, 5, 6
WORDS = {FAILED: "it failed", NO_ENTRY: "the directory cannot be entered", NO_RIGHTS: "its rights cannot be set"}

# Whose it is, the names, every content, and the names again: equal lists mean that nothing came or went meanwhile.
LOAD = (
    '(if not exist "{where}\\" ((if exist "{where}" exit 4)&exit 2))&(cd /d "{where}" 2>nul||exit 4)&echo =rights&{ask}&echo =list&dir /b /a-d 2>nul&'
    '(for %f in (*) do @if %~zf LEQ {largest} (echo =file %f&type "%f" 2>nul&&echo.&&echo =read))&echo =list&dir /b /a-d 2>nul&echo =end&exit 0'
)
MAKE = 'mkdir "{where}" 2>nul&&(icacls "{where}" /inheritance:r /grant:r {rights} >nul||exit 6)&(if exist "{where}\\" exit 0)&exit 1'
STORE = '(if not exist "{where}\\" exit 2)&(if exist "{where}\\{name}" exit 5)&move /y "{sent}" "{where}\\{name}" >nul&&exit 0&exit 1'
TAKE = 'ren "{where}\\{name}" "{new}" 2>nul&&exit 0&(if not exist "{where}\\{name}" exit 2)&(if exist "{where}\\{new}" exit 5)&exit 1'
REPLACE = 'move /y "{where}\\{name}" "{where}\\{new}" >nul 2>nul&&exit 0&(if not exist "{where}\\{name}" exit 2)&exit 1'
# "del" succeeds without a file. Renaming first lets one of two win, and tells a claim that was renewed meanwhile.
REMOVE = '(ren "{where}\\{name}" "{new}" 2>nul||((if exist "{where}\\{name}" exit 1)&exit 2))&del /f /q "{where}\\{new}" 2>nul&exit 0'
OLD = 'forfiles /p "{where}" /m "{name}" /d -2 >nul 2>nul&&exit 0&exit 1'


def check_directory(path: str) -> str:
    """The directory as the lines can hold it, or a ValueError that says what is wrong."""
    plain = path.strip().replace("/", "\\").rstrip("\\")
    if not DIRECTORY.fullmatch(plain):
        raise ValueError(f"records_path is {path!r}; on a Windows host it must be a whole path such as C:\\ProgramData\\name or %ProgramData%\\name.")
    return plain


class WindowsFiles:
    """One directory on a Windows VM; see Files. With ``once`` one reading serves until something is changed: a look is one moment."""

    def __init__(self, calls: Calls, where: str, check_mode: bool, once: bool = False) -> None:
        self.where = check_directory(where)
        self._calls = calls
        self._check_mode = check_mode
        self._once = once
        self._names: list[str] | None = None
        self._contents: dict[str, bytes] = {}
        self._made = False
        # Temporary files that a rename has taken away; asking to remove them needs no call.
        self._taken: set[str] = set()

    def make(self) -> None:
        if not self._made:
            self._change(MAKE, rights=RIGHTS)
            self._made = True

    def names(self) -> list[str]:
        if not (self._once and self._names is not None):
            self._load()
        return list(self._names or [])

    def read(self, name: str) -> bytes:
        check_name(name)
        # No file has the same name and another content later, but for the few that are replaced whole; so what the last listing had is right.
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
        # Not a second name, but the new one instead of the old: as exclusive, and in one step as well.
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
        """cmd cannot ask for it: what was written in the last seconds before a host loses power may be lost (docs/TESTING.md)."""

    def age(self, name: str) -> float:
        code, _output, _errors = self._calls.command(self._line(OLD, name=name))
        return DAYS_OLD if code == 0 else 0.0

    def _load(self) -> None:
        for _attempt in range(LISTINGS):
            code, output, errors = self._calls.command(self._line(LOAD, largest=LARGEST_FILE))
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

    def _change(self, form: str, **names: str) -> None:
        self._refuse_in_check_mode()
        self._names, self._contents = None, {}
        for _try in range(TRIES):
            code, _output, errors = self._calls.command(self._line(form, **names))
            if code != FAILED:
                break
        self._check(code, errors)

    def _refuse_in_check_mode(self) -> None:
        if self._check_mode:
            raise AssertionError("a file would be changed in check mode")

    def _line(self, form: str, **names: object) -> str:
        for key in ("name", "new"):
            if key in names and not PLAIN.fullmatch(check_name(str(names[key]))):
                raise ValueError(f"not a plain file name: {names[key]!r}")
        return form.format(where=self.where, ask=ASK, **names)

    def _check(self, code: int, errors: str) -> None:
        if code == 0:
            return
        if code == MISSING:
            raise FileNotFoundError(f"{self.where} or a file in it is not there")
        if code == TAKEN:
            raise FileExistsError(f"the name is taken in {self.where}")
        why = " ".join(errors.split())[:200] or WORDS.get(code, f"cmd.exe ended with {code}")
        raise OSError(why)


def _rights(output: str) -> list[str]:
    """What LOAD printed of the directory's rights. It comes first, so that no file's content can be taken for it."""
    lines = output.split("=list", 1)[0].splitlines()
    return lines[1:] if lines[:1] == ["=rights"] else []


def _parts(output: str) -> tuple[list[str], dict[str, bytes], list[str]]:
    """What LOAD printed: the names, the contents, the names again. No line of our JSON begins with "="."""
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
            # Only what was read to its end counts; what could not be read must not look like a broken record.
            contents[name] = into or []
        elif line == "=end":
            ended = True
        elif into is not None and line:
            into.append(line)
    if len(lists) != 2 or not ended:
        raise OSError("the listing was cut off")
    return sorted(lists[0]), {name: "\n".join(lines).encode("utf-8") + b"\n" for name, lines in contents.items()}, sorted(lists[1])
