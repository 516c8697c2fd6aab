# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Stands for a module's Python, or for ansible-playbook: "client.py PYTHON SOCKET PROGRAM ARGUMENT..." (see server.py and playbook.py).

It is started with -I -S and imports nothing but what is built in: all that it costs is Python's own start. Whatever is neither ansible-playbook nor
one of Ansible's module files with no further argument, nor a program on standard input, and whatever no server is there for, is run by PYTHON
as ever.
"""

import _signal
import _socket
import posix
import sys


def run(python, socket_path, arguments):
    if not arguments and not posix.isatty(0):
        # With pipelining Ansible sends a module through standard input.
        arguments = ["-"]
    name = arguments[0].rpartition("/")[2] if arguments else ""
    known = name == "ansible-playbook" or arguments == ["-"] or (name.startswith("AnsiballZ_") and len(arguments) == 1)
    connection = connect(socket_path) if known else None
    if connection is None:
        posix.execv(python, [python, *arguments])
    end_as(ask(connection, arguments))


def connect(path):
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.connect(path)
    except OSError:
        return None
    return connection


def ask(connection, arguments):
    """The exit status of the process that runs a program with all that this process has."""
    umask = posix.umask(0o77)
    posix.umask(umask)
    words = [str(umask).encode(), str(len(arguments)).encode(), *(word.encode("utf-8", "surrogateescape") for word in arguments)]
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
