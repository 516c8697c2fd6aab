# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""Tell systemd that a service is ready and alive (sd_notify): one datagram, no library."""

from __future__ import annotations

import os
import socket


class ServiceManager:
    """The one who started this process. Without NOTIFY_SOCKET nothing is sent."""

    def __init__(self) -> None:
        address = os.environ.get("NOTIFY_SOCKET", "")
        # A leading @ means an abstract address.
        self._address = "\0" + address[1:] if address.startswith("@") else address
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) if address else None

    def ready(self) -> None:
        """Report that the service has started."""
        self._send("READY=1")

    def alive(self, status: str) -> None:
        """Report that the service works; the watchdog ends one that does not."""
        line = status.replace("\n", " ")[:200]
        self._send(f"WATCHDOG=1\nSTATUS={line}")

    def _send(self, text: str) -> None:
        if self._socket is None:
            return
        try:
            self._socket.sendto(text.encode("utf-8", "replace"), self._address)
        except OSError:
            pass  # the manager is being restarted; the next message reaches it, or its watchdog ends this process
