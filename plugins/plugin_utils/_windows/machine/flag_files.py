# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The flag files of a Windows VM."""

from __future__ import annotations

from ....module_utils._scheduled_events.host.machine.flag_files import FlagFileError, FlagState
from ..calls import Answer, OverCalls, accepted, failure_text

# Renames over an existing name, in one step on NTFS.
# https://learn.microsoft.com/en-us/windows-server/administration/windows-commands/move
MOVE = 'cmd.exe /d /s /c "move /y "{old}" "{new}""'


class WindowsFlagFiles(OverCalls):
    """Flag files over ansible.windows; see FlagFiles. A file is set aside by a rename, so that its content, owner and rights come back with it."""

    def describe(self, path: str) -> FlagState:
        found = self._stat(_checked(path))
        if found.get("isdir"):
            raise FlagFileError(f"{path} is not a file")
        return {"kind": "file" if found.get("exists") else "absent"}

    def exists(self, path: str) -> bool:
        return bool(self._stat(path).get("exists"))

    def set_aside(self, path: str) -> None:
        self._move(path, _aside(path))

    def remove(self, path: str) -> None:
        found = self._stat(path)
        # Only a file: win_file would remove a folder with all that is in it.
        if found.get("exists") and not found.get("isdir"):
            accepted(self._calls.call("win_file", path=path, state="absent"), path)

    def create(self, path: str, mode: str) -> None:
        accepted(self._calls.call("win_file", path=path, state="touch"), path)

    def restore(self, path: str, found: FlagState) -> None:
        if self._stat(_aside(path)).get("exists"):
            self._move(_aside(path), path)
        # A disk that was lost, the temporary one perhaps. A file that was created again is accepted as it is.
        elif not self.exists(path):
            raise FlagFileError(f"Neither {path} nor what was set aside as {_aside(path)} is there. Create {path} when the VM may serve again.")

    def _stat(self, path: str) -> Answer:
        answer = self._calls.call("win_stat", path=path, get_checksum=False)
        found = accepted(answer, path).get("stat")
        if not isinstance(found, dict):
            raise OSError(f"{path} cannot be examined: {failure_text(answer)}")
        return found

    def _move(self, old: str, new: str) -> None:
        answer = self._calls.call("win_command", cmd=MOVE.format(old=_checked(old), new=_checked(new)))
        if answer.get("rc") != 0:
            raise OSError(f"{old} cannot be renamed to {new}: {failure_text({'msg': answer.get('stderr') or answer.get('msg')})}")


def _aside(path: str) -> str:
    return f"{path}.maintenance"


def _checked(path: str) -> str:
    """Return a path that can be part of a command line, between double quotes. Raise FlagFileError for an impossible path."""
    if '"' in path:
        raise FlagFileError(f"{path} holds a double quote, which no path on Windows can.")
    return path
