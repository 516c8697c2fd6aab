# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Stand-in for the connections winrm and psrp: Python modules run on this machine, with a folder as "Windows".

Faults come from faults.json in that folder, a list; each is used up by the call that it hits:

  module  the module that it is for (any, where it is missing), or "put_file", "connect", "reset"
  skip    how many such calls it lets through first
  when    "before" the module ran, or "after" it, so that only the answer is lost
  error   "connection" (what core raises) or "requests" (what psrp lets through)
"""

from __future__ import annotations

import fcntl
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import threading
import typing as t

from ansible.errors import AnsibleConnectionFailure, AnsibleError, AnsibleFileNotFound
from ansible.plugins.connection import ConnectionBase
from ansible.plugins.loader import get_shell_plugin, shell_loader

DOCUMENTATION = r"""
name: windows_stand_in
short_description: Stand-in for the connection to a Windows host
description: For the tests of maintenance.azure on machines without Windows.
options:
  home:
    description: The folder that plays the Windows host.
    type: str
    required: true
    vars:
      - name: windows_stand_in_home
extends_documentation_fragment:
  - connection_pipelining
"""

MODULE = re.compile(rb"ansible_collections[./]ansible[./]windows[./]plugins[./]modules[./](\w+)")
# How often a module that runs is looked at, for a machine that goes down under it.
OBSERVATION_SECONDS = 0.05


class Connection(ConnectionBase):
    transport = "windows_stand_in"
    module_implementation_preferences = (".ps1", ".exe", "")
    has_pipelining = True
    always_pipeline_modules = True
    has_native_async = True
    allow_executable = False

    def __init__(self, *arguments: t.Any, **options: t.Any) -> None:
        super().__init__(*arguments, **options)
        # Whatever ansible_shell_type says: inventories of real Windows hosts say powershell. There is no setting that tells Ansible where
        # shell plugins are.
        shell_loader.add_directory(str(pathlib.Path(__file__).resolve().parents[1] / "shell_plugins"))
        self._shell = get_shell_plugin(shell_type="windows_stand_in")
        self._boot: str | None = None

    @property
    def home(self) -> pathlib.Path:
        return pathlib.Path(self.get_option("home"))

    def _connect(self) -> Connection:
        if not self._connected:
            self._fail("connect", "before")
            self._boot = self._boot_now()
            self._connected = True
        return self

    def exec_command(self, cmd: str, in_data: bytes | None = None, sudoable: bool = True) -> tuple[int, bytes, bytes]:
        super().exec_command(cmd, in_data=in_data, sudoable=sudoable)
        if self.become:
            raise AnsibleError("stand-in: become is not played")
        found = MODULE.search(in_data or b"")
        name = found[1].decode() if found else "command"
        self._fail(name, "before")
        environment = dict(os.environ, WINDOWS_STAND_IN=str(self.home))
        process = subprocess.Popen(
            ["/bin/sh", "-c", cmd], cwd=self.home, env=environment, start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        output = self._watched(process, in_data)
        self._fail(name, "after")
        return process.returncode, *output

    def _watched(self, process: subprocess.Popen[bytes], in_data: bytes | None) -> tuple[bytes, bytes]:
        """The output of a process, which does not outlive the boot of its machine."""
        output: list[tuple[bytes, bytes]] = []
        reader = threading.Thread(target=lambda: output.append(process.communicate(in_data)), daemon=True)
        reader.start()
        while True:
            reader.join(OBSERVATION_SECONDS)
            if not reader.is_alive():
                return output[0]
            if self._boot_now() != self._boot:
                os.killpg(process.pid, signal.SIGKILL)
                reader.join()
                raise AnsibleConnectionFailure("stand-in: the machine went down while a module was running")

    def _boot_now(self) -> str:
        """Another text after each boot. A machine that is off cannot be reached."""
        if (self.home / "off").exists():
            return "off"
        return str(json.loads((self.home / "boot.json").read_text())["booted"])

    def _fail(self, name: str, when: str) -> None:
        """Raise what a broken session raises, if this call is to have one."""
        now = self._boot_now()
        if now == "off":
            raise AnsibleConnectionFailure("stand-in: connection refused, the machine is off")
        if self._connected and self._boot not in (None, now):
            raise AnsibleConnectionFailure("stand-in: the session was lost, the machine has booted since")
        self._boot = now if self._connected else self._boot
        error = self._take_fault(name, when)
        if error == "requests":
            import requests

            raise requests.exceptions.ConnectionError("stand-in: the session was cut")
        if error:
            raise AnsibleConnectionFailure("stand-in: the session was cut")

    def _take_fault(self, name: str, when: str) -> str | None:
        path = self.home / "faults.json"
        if not path.exists():
            return None
        with (self.home / "faults.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            faults = json.loads(path.read_text())
            for fault in faults:
                if fault.get("when", "before") != when or fault.get("module", name) != name:
                    continue
                if fault.get("skip", 0) > 0:
                    fault["skip"] -= 1
                    break
                faults.remove(fault)
                path.write_text(json.dumps(faults))
                return str(fault.get("error", "connection"))
            path.write_text(json.dumps(faults))
        return None

    def put_file(self, in_path: str, out_path: str) -> None:
        super().put_file(in_path, out_path)
        if not os.path.exists(in_path):
            raise AnsibleFileNotFound(f"file or module does not exist: {in_path}")
        self._fail("put_file", "before")
        target = re.sub(r"^[Cc]:\\", "", out_path)
        if target == out_path:
            raise AnsibleError(f"stand-in: not a path on drive C: {out_path}")
        shutil.copyfile(in_path, self.home / "C" / target.replace("\\", "/"))
        self._fail("put_file", "after")

    def fetch_file(self, in_path: str, out_path: str) -> None:
        super().fetch_file(in_path, out_path)
        shutil.copyfile(self.home / "C" / re.sub(r"^[Cc]:\\", "", in_path).replace("\\", "/"), out_path)

    def reset(self) -> None:
        """As winrm and psrp: a session that was there is made anew, which can fail."""
        connected, self._connected = self._connected, False
        self._fail("reset", "before")
        if connected:
            self._connect()

    def close(self) -> None:
        self._connected = False
