# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The real cmd.exe of Wine, which is another program than that of Windows, made to do the same. Nothing of it is installed on the machine."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import typing as t

from lab.debian_packages import unpacked

NEEDED = ("libwine_", "wine64_", "libz-mingw-w64_")
LIBRARIES = pathlib.Path("usr/lib/x86_64-linux-gnu/wine")
# What a desktop needs, and cmd.exe does not.
UNWANTED = "mscoree,mshtml,winemenubuilder.exe,winebus.sys,winedbg.exe=d"
# Wine takes its command line from separate arguments and escapes quotes, which cmd.exe does not undo. A variable of "for /f" is put in
# after the line was read, so the command gets there as it is, as it does with the real win_command.
RAW = '@for /f "usebackq delims=" %%L in ("C:\\windows\\line.txt") do @%%L\r\n@exit %errorlevel%\r\n'


def find_wine() -> pathlib.Path:
    """The folder with Debian's packages unpacked, without the half of them that runs programs of 32 bits."""
    return unpacked("wine", ("wine64", "libwine"), needed=NEEDED, without=("*/i386-windows/*",), finish=_mend)


def _mend(root: pathlib.Path) -> None:
    # The package has a script here that looks for an installed Wine; and a library where dpkg would make a link.
    server = root / "usr/lib/wine/wineserver"
    server.unlink(missing_ok=True)
    server.symlink_to("wineserver64")
    shutil.copy(root / "usr/x86_64-w64-mingw32/lib/zlib1.dll", root / LIBRARIES / "x86_64-windows")


class Wine:
    """One Windows of Wine in a folder, with drive C: in drive_c. It ends with close()."""

    def __init__(self, folder: pathlib.Path) -> None:
        root = find_wine()
        self.prefix = folder / "prefix"
        self.drive = self.prefix / "drive_c"
        system = self.drive / "windows" / "system32"
        system.mkdir(parents=True)
        (folder / "home").mkdir()
        # Links instead of the gigabyte of copies that a first start makes, and no first start.
        for library in (root / LIBRARIES / "x86_64-windows").iterdir():
            (system / library.name).symlink_to(library)
        (self.prefix / ".update-timestamp").write_text("disable\n")
        (self.drive / "ProgramData").mkdir()
        (self.drive / "windows" / "run.bat").write_bytes(RAW.encode())
        self._server = str(root / "usr/lib/wine/wineserver64")
        self._loader = str(root / "usr/lib/wine/wine64")
        self._environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(folder / "home"),
            "LC_ALL": "C.UTF-8",
            "LD_LIBRARY_PATH": os.pathsep.join([str(root / "usr/lib/x86_64-linux-gnu"), str(root / LIBRARIES)]),
            "ProgramData": "C:\\ProgramData",
            "WINEDEBUG": "-all",
            "WINEDLLOVERRIDES": UNWANTED,
            "WINELOADER": self._loader,
            "WINEPATH": "C:\\windows\\system32",
            "WINEPREFIX": str(self.prefix),
            "WINESERVER": self._server,
        }
        # It stays between the commands, and not for long when nobody ends it.
        self._serve("-p60")

    def command(self, line: str, timeout: float = 60) -> tuple[int, bytes, bytes]:
        """Run cmd.exe /d /s /c "LINE": exit code, output, errors. One at a time."""
        (self.drive / "windows" / "line.txt").write_bytes(f'cmd.exe /d /s /c "{line}"\r\n'.encode())
        return self.start().finish(timeout)

    def start(self, batch: str = "C:\\windows\\run.bat") -> Started:
        arguments = [self._loader, "cmd.exe", "/d", "/c", batch]
        # With files for the output: what Wine leaves in the background would keep a pipe open.
        return Started(arguments, self.drive, self._environment, self.prefix.parent)

    def batch(self, name: str, lines: t.Sequence[str]) -> str:
        """Write a batch file; its path."""
        (self.drive / "windows" / name).write_bytes("".join(f"{line}\r\n" for line in lines).encode())
        return f"C:\\windows\\{name}"

    def close(self) -> None:
        self._serve("-k")
        self._serve("-w")

    def _serve(self, option: str) -> None:
        # No pipes: a server that stays would hold them.
        nothing = subprocess.DEVNULL
        subprocess.run([self._server, option], env=self._environment, timeout=60, check=False, stdin=nothing, stdout=nothing, stderr=nothing)


class Started:
    """A process under way."""

    def __init__(self, arguments: list[str], folder: pathlib.Path, environment: dict[str, str], place: pathlib.Path) -> None:
        name = f"{os.getpid()}-{id(self):x}"
        self._files = (place / f"{name}.output", place / f"{name}.errors")
        with self._files[0].open("wb") as output, self._files[1].open("wb") as errors:
            self.process = subprocess.Popen(arguments, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=errors)

    def finish(self, timeout: float) -> tuple[int, bytes, bytes]:
        try:
            code = self.process.wait(timeout)
            output, errors = (path.read_bytes() for path in self._files)
        finally:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()
            for path in self._files:
                path.unlink(missing_ok=True)
        return code, output, errors
