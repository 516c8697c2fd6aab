# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A client of the cluster with a connection string of all members and a time limit. Its other half runs in Debian's Python, which has psycopg2."""

from __future__ import annotations

import pathlib
import select
import subprocess
import typing as t

SECONDS = 3.0
HALF = """
import sys, time, psycopg2
connection = None
for line in sys.stdin:
    try:
        if connection is None:
            connection = psycopg2.connect("host=%s port=5432 dbname=postgres user=postgres connect_timeout=2 target_session_attrs=read-write" % sys.argv[1])
            connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute("INSERT INTO written VALUES (%s)", (int(line),))
        print("", flush=True)
    except psycopg2.Error as error:
        connection = None
        print((str(error).strip().splitlines() or ["failed"])[0], flush=True)
"""


class Rows:
    """Inserts rows with autocommit. One that is not acknowledged in three seconds counts as failed, and the client connects anew."""

    def __init__(self, hosts: t.Sequence[str], folder: pathlib.Path) -> None:
        self._hosts = ",".join(hosts)
        self._half = folder / "half.py"
        self._half.write_text(HALF)
        self._process: subprocess.Popen[str] | None = None

    def write(self, number: int) -> None:
        if self._process is None:
            command = ["/usr/bin/python3", str(self._half), self._hosts]
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin and stdout
        stdin.write(f"{number}\n")
        if not select.select([stdout], [], [], SECONDS)[0]:
            self.close()
            raise TimeoutError("not acknowledged in time")
        said = stdout.readline().strip()
        if said:
            raise RuntimeError(said)

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None
