# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Stand-in for core's shell plugin powershell: paths are those of Windows, commands are for /bin/sh on this machine."""

from __future__ import annotations

import ntpath
import re
import typing as t

from ansible.plugins.shell.sh import ShellModule as PosixShell

DOCUMENTATION = r"""
name: windows_stand_in
short_description: Stand-in for the shell of a Windows host
description: For the tests of maintenance.azure on machines without Windows.
extends_documentation_fragment:
  - shell_windows
"""

HOME = '"$WINDOWS_STAND_IN"'


class ShellModule(PosixShell):
    COMPATIBLE_SHELLS = frozenset()
    SHELL_FAMILY = "windows_stand_in"
    _IS_WINDOWS = True

    def join_path(self, *parts: str) -> str:
        """As core's plugin joins them."""
        plain = [ntpath.normpath(part) for part in parts]
        return ntpath.join(plain[0], *[part.strip("\\") for part in plain[1:]])

    def path_has_trailing_slash(self, path: str) -> bool:
        return path.endswith(("/", "\\"))

    def mkdtemp(self, basefile: str | None = None, system: bool = False, mode: int = 0o700, tmpdir: str | None = None) -> str:
        name = basefile or self._generate_temp_dir_name()
        return f"mkdir -p {HOME}/C/Temp && mkdir -m 700 {HOME}/C/Temp/{name} && printf '%s\\n' 'C:\\Temp\\{name}'"

    def remove(self, path: str, recurse: bool = False) -> str:
        return f"rm -f {'-r ' if recurse else ''}{self.here(path)}"

    def exists(self, path: str) -> str:
        return f"test -e {self.here(path)}"

    def expand_user(self, user_home_path: str, username: str = "") -> str:
        path = re.sub(r"^~", r"C:\\Users\\stand-in", user_home_path)
        return f"printf '%s\\n' '{path}'"

    def here(self, path: str) -> str:
        """A path of the played drive for /bin/sh."""
        if not re.match(r"[Cc]:\\", path):
            raise ValueError(f"not a path on drive C: {path!r}")
        return f"{HOME}/C/" + self.quote(ntpath.normpath(path)[3:].replace("\\", "/"))

    def checksum(self, path: str, *_others: t.Any, **_more: t.Any) -> str:
        raise NotImplementedError("not played")
