# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The "Windows" machine that the stand-ins act on: a folder.

C/                 drive C:, looked up without regard to case
services/NAME.json a service: state, start_mode, display_name, dependencies, cannot (list of: start, stop)
registry.json      {"HKLM:\\Some\\Key": {"name": {"type": "REG_SZ", "value": "text"}}}
environment.json   variables for %NAME%, besides the usual ones
boot.json          booted (seconds since 1970), jitter (seconds by which Windows may give another time of boot)
tasks.json         scheduled tasks: {NAME: {xml, process}}
programs/NAME      a program for /bin/sh, for win_command
powershell.json    answers of win_powershell; see there
rights.txt         the security descriptor (SDDL) of every directory, where it is not the usual one
rights.json        the same by directory: {"C:\\Some\\Directory": SDDL}
proxy              host:port of a proxy, for those who forget use_proxy: false
calls.jsonl        every module that ran, with its arguments
eventlog.jsonl     what eventcreate was asked to write
off                while this file is there, the connection fails
faults.json        see connection_plugins/windows_stand_in.py
"""

from __future__ import annotations

import json
import os
import re
import time

HOME_VARIABLE = "WINDOWS_STAND_IN"
VARIABLES = {
    "ALLUSERSPROFILE": "C:\\ProgramData",
    "COMPUTERNAME": "STANDIN",
    "ComSpec": "C:\\Windows\\system32\\cmd.exe",
    "ProgramData": "C:\\ProgramData",
    "ProgramFiles": "C:\\Program Files",
    "SystemDrive": "C:",
    "SystemRoot": "C:\\Windows",
    "TEMP": "C:\\Temp",
    "TMP": "C:\\Temp",
    "USERPROFILE": "C:\\Users\\stand-in",
    "windir": "C:\\Windows",
}
FOLDERS = ("ProgramData", "Temp", "Windows", "Users")


class Refused(Exception):
    """What was asked is not played here. It says nothing about Windows."""


class Machine:
    """One such folder."""

    def __init__(self, home=None):
        self.home = home or os.environ.get(HOME_VARIABLE) or ""
        if not os.path.isdir(self.home):
            raise Refused("stand-in: %s is not a folder; connect with windows_stand_in, which sets %s" % (self.home or "nothing", HOME_VARIABLE))
        for folder in FOLDERS:
            os.makedirs(os.path.join(self.home, "C", folder), exist_ok=True)

    def read(self, name, default):
        """A file of the machine itself, or the default."""
        try:
            with open(os.path.join(self.home, name), encoding="utf-8") as source:
                return json.load(source)
        except FileNotFoundError:
            return default

    def write(self, name, content):
        """In one step, so that nobody reads a half."""
        path = os.path.join(self.home, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        temporary = "%s.%d" % (path, os.getpid())
        with open(temporary, "w", encoding="utf-8") as target:
            json.dump(content, target, indent=1)
        os.replace(temporary, path)

    def note(self, name, content):
        """One more line of a file that only grows."""
        line = (json.dumps(content, default=str) + "\n").encode("utf-8")
        handle = os.open(os.path.join(self.home, name), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(handle, line)
        finally:
            os.close(handle)

    def environment(self):
        return dict(VARIABLES, **self.read("environment.json", {}))

    def expand(self, text):
        """%NAME% by its value, whatever the case; what is not defined stays, as in a command line."""
        known = {name.upper(): value for name, value in self.environment().items()}
        return re.sub(r"%([A-Za-z_][A-Za-z0-9_()]*)%", lambda found: known.get(found[1].upper(), found[0]), text)

    def path(self, windows, current="C:\\"):
        """Where a path of Windows is on this machine. Each part is found without regard to case."""
        text = self.expand(windows).replace("/", "\\")
        if re.match(r"\\", text):
            raise Refused("stand-in: %r is not a path with a drive" % windows)
        if not re.match(r"[A-Za-z]:", text):
            text = current.rstrip("\\") + "\\" + text
        drive, rest = text[0].upper(), text[2:]
        if drive != "C" or not rest.startswith("\\") or re.search(r'[:*?"<>|%]', rest):
            raise Refused("stand-in: %r is not a path on drive C: that is played here" % windows)
        where = os.path.join(self.home, "C")
        for part in rest.split("\\"):
            if part == "..":
                raise Refused("stand-in: .. in a path is not played: %r" % windows)
            if part not in ("", "."):
                where = os.path.join(where, self._named(where, part.rstrip(". ")))
        return where

    @staticmethod
    def _named(folder, name):
        try:
            names = os.listdir(folder)
        except OSError:
            return name
        if name in names:
            return name
        return next((other for other in names if other.lower() == name.lower()), name)

    def windows(self, path):
        """The path of Windows for one of this machine."""
        return "C:\\" + os.path.relpath(path, os.path.join(self.home, "C")).replace("/", "\\").lstrip(".")

    def services(self):
        """Name to description, of every service."""
        folder = os.path.join(self.home, "services")
        if not os.path.isdir(folder):
            return {}
        names = sorted(name[: -len(".json")] for name in os.listdir(folder) if name.endswith(".json"))
        return {name: self.read(os.path.join("services", name + ".json"), {}) for name in names}

    def booted(self):
        """When it booted, in seconds since 1970, and by how much Windows may give another time."""
        boot = self.read("boot.json", {"booted": time.time() - 86400})
        return float(boot["booted"]), float(boot.get("jitter") or 0)
