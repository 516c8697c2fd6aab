# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The files of a played Windows VM, without a connection: each line of cmd goes straight to the stand-in's interpreter."""

from __future__ import annotations

import pathlib
import sys
import typing as t

from ansible_collections.maintenance.azure.plugins.plugin_utils._windows.files import WindowsFiles

STAND_INS = pathlib.Path(__file__).resolve().parents[1] / "lab" / "windows" / "collections"
if str(STAND_INS) not in sys.path:
    sys.path.append(str(STAND_INS))

from ansible_collections.ansible.windows.plugins.module_utils.cmd_line import Cmd  # noqa: E402  found by the line above
from ansible_collections.ansible.windows.plugins.module_utils.machine import Machine  # noqa: E402

WHERE = "%ProgramData%\\azure-maintenance"


class Killed(BaseException):
    """The controller ends here."""


class PlayedCalls:
    """What WindowsFiles needs of Calls. With ``cut``, the controller ends before or after that many calls."""

    def __init__(self, home: pathlib.Path, cut: int | None = None) -> None:
        self.machine = Machine(str(home))
        self.lines: list[str] = []
        self._left = cut

    def _point(self) -> None:
        if self._left == 0:
            raise Killed
        if self._left is not None:
            self._left -= 1

    def command(self, line: str) -> tuple[int, str, str]:
        self._point()
        self.lines.append(line)
        code, output, errors = Cmd(self.machine, "C:\\").run(line)
        self._point()
        return code, output.decode(), errors.decode()

    def send(self, content: bytes) -> str:
        path = pathlib.Path(self.machine.path("C:\\Temp\\content.json"))
        path.write_bytes(content[: len(content) // 2])
        self._point()
        path.write_bytes(content)
        self._point()
        return "C:\\Temp\\content.json"


def windows_files(home: pathlib.Path, cut: int | None = None, **options: t.Any) -> WindowsFiles:
    home.mkdir(parents=True, exist_ok=True)
    return WindowsFiles(t.cast(t.Any, PlayedCalls(home, cut)), WHERE, False, **options)


def folder(home: pathlib.Path) -> pathlib.Path:
    """Where the records lie on this machine."""
    return home / "C" / "ProgramData" / "azure-maintenance"
