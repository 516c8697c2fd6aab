# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A load balancer's runtime socket that answers as HAProxy does and keeps every command: the oracle for what was done to it."""

from __future__ import annotations

import contextlib
import os
import pathlib
import socket
import tempfile
import threading

COLUMNS = (
    "be_id be_name srv_id srv_name srv_addr srv_op_state srv_admin_state srv_uweight srv_iweight srv_time_since_last_change "
    "srv_check_status srv_check_result srv_check_health srv_check_state srv_agent_state"
)
FLAGS = {"ready": 0, "drain": 8, "maint": 1}


class Balancer:
    """One backend, ``shop``, and its servers by state."""

    def __init__(self, **servers: str) -> None:
        self.servers = dict(servers)
        self.commands: list[str] = []
        # Paths of sockets are short; those of pytest's folders are not.
        self._folder = pathlib.Path(tempfile.mkdtemp(prefix="trust"))
        self.socket = str(self._folder / "s")
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(self.socket)
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _address = self._listener.accept()
            except OSError:
                return
            with connection:
                command = connection.makefile("r").readline().strip()
                self.commands.append(command)
                connection.sendall(self._answer(command).encode())

    def _answer(self, command: str) -> str:
        if command == "show servers state":
            rows = [f"3 shop 1 {name} 127.0.0.1 2 {FLAGS[state]} 1 1 100 6 3 4 6 0" for name, state in self.servers.items()]
            return "\n".join(["1", f"# {COLUMNS}", *rows, "", ""])
        if command == "show stat -1 4 -1":
            rows = [f"shop,{name},0,0,UP,1,0,,L7OK," for name in self.servers]
            return "\n".join(["# pxname,svname,qcur,scur,status,weight,bck,tracked,check_status,", *rows, ""])
        for words in map(str.split, command.split("; ")):
            if words[:2] != ["set", "server"]:
                return "Unknown command\n"
            # Its checks pass at once.
            if words[3] == "state":
                self.servers[words[2].split("/")[1]] = words[4]
        return "\n"

    @property
    def orders(self) -> list[str]:
        """What was changed, in order."""
        return [command for command in self.commands if command.startswith("set ")]

    def close(self) -> None:
        # Closed alone, it listens on until accept() returns.
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        os.unlink(self.socket)
        self._folder.rmdir()
