# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The way from 169.254.169.254:80 in each guest's network namespace to the simulator, as a process of its own.

A socket stays in the namespace in which it was made: so each is made there, and everything else happens in the lab's.
Arguments: namespace=host:port, for each guest.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys

METADATA = ("169.254.169.254", 80)


def listen_in(namespace: str) -> socket.socket:
    with open("/proc/self/ns/net") as home, open(f"/run/netns/{namespace}") as there:
        os.setns(there.fileno(), os.CLONE_NEWNET)
        try:
            return socket.create_server(METADATA, backlog=32)
        finally:
            os.setns(home.fileno(), os.CLONE_NEWNET)


async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


async def serve(namespace: str, host: str, port: int) -> None:
    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            to_reader, to_writer = await asyncio.open_connection(host, port)
        except OSError:
            writer.close()
            return
        await asyncio.gather(copy(reader, to_writer), copy(to_reader, writer))

    server = await asyncio.start_server(connected, sock=listen_in(namespace))
    await server.serve_forever()


async def main() -> None:
    ways = []
    for argument in sys.argv[1:]:
        namespace, _mark, address = argument.partition("=")
        host, _mark, port = address.rpartition(":")
        ways.append(serve(namespace, host, int(port)))
    await asyncio.gather(*ways)


if __name__ == "__main__":
    asyncio.run(main())
