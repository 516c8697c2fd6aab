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
where, statement, keeps = sys.argv[1:]
for line in sys.stdin:
    try:
        if connection is None:
            connection = psycopg2.connect(where)
            connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute(statement, (int(line),))
        said = ""
        if keeps == "never":
            connection.close()
    except psycopg2.Error as error:
        said = (str(error).strip().splitlines() or ["failed"])[0]
        if connection is not None and keeps != "open":
            connection.close()
    if connection is not None and connection.closed:
        connection = None
    print(said, flush=True)
"""
DIRECT = "port=5432 target_session_attrs=read-write"


class Rows:
    """Inserts rows with autocommit. One that is not acknowledged in three seconds counts as failed, and the client connects anew."""

    def __init__(
        self, hosts: t.Sequence[str], folder: pathlib.Path, where: str = DIRECT, statement: str = "INSERT INTO written VALUES (%s)", keeps: str = "good"
    ) -> None:
        """C(keeps): which connections are used again. C(good): after no error; C(open): after an error of SQL, too, as a pool does; C(never): none."""
        self._arguments = f"host={','.join(hosts)} {where} dbname=postgres user=postgres connect_timeout=2", statement, keeps
        self._half = folder / "half.py"
        self._half.write_text(HALF)
        self._process: subprocess.Popen[str] | None = None

    def write(self, number: int) -> None:
        if self._process is None:
            command = ["/usr/bin/python3", str(self._half), *self._arguments]
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
