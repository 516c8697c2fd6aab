# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Stands for a module's Python: "client.py PYTHON SOCKET ARGUMENT..." (see server.py).

It is started with -I -S and imports nothing but what is built in: all that it costs is Python's own start. Whatever is not one of
Ansible's module files with no further argument, and whatever no server is there for, is run by PYTHON as ever.
"""

import _signal
import _socket
import posix
import sys


def run(python, socket_path, arguments):
    name = arguments[0].rpartition("/")[2] if len(arguments) == 1 else ""
    connection = connect(socket_path) if name.startswith("AnsiballZ_") else None
    if connection is None:
        posix.execv(python, [python, *arguments])
    end_as(ask(connection, arguments[0]))


def connect(path):
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.connect(path)
    except OSError:
        return None
    return connection


def ask(connection, program):
    """The exit status of the process that runs the program with all that this process has."""
    umask = posix.umask(0o77)
    posix.umask(umask)
    words = [program.encode("utf-8", "surrogateescape"), str(umask).encode()]
    words += [name + b"=" + value for name, value in posix.environ.items()]
    message = b"\0".join(words)
    here = posix.open(".", posix.O_RDONLY | posix.O_CLOEXEC)
    rights = b"".join(number.to_bytes(4, sys.byteorder) for number in (0, 1, 2, here))
    connection.sendmsg([len(message).to_bytes(8, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, rights)])
    connection.sendall(message)
    answer = connection.recv(16)
    if not answer:
        # It may have done its work or not: to run it again would be wrong.
        sys.exit("the server of warm processes ended before its process did")
    return int(answer)


def end_as(status):
    """End as the process did: with its exit code, or killed by the same signal."""
    code = posix.waitstatus_to_exitcode(status)
    if code >= 0:
        posix._exit(code)
    if -code not in (_signal.SIGKILL, _signal.SIGSTOP):
        _signal.signal(-code, _signal.SIG_DFL)
    posix.kill(posix.getpid(), -code)


run(sys.argv[1], sys.argv[2], sys.argv[3:])
