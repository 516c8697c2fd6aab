# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Where the watchers of the guests tell: a webhook on the controller's address, over TLS with a certificate of its own."""

from __future__ import annotations

import http.server
import json
import pathlib
import ssl
import threading
import time
import typing as t

from .commands import in_background, run
from .network import CONTROLLER

PORT = 5000
# Longer than a watcher waits for an answer.
HELD_SECONDS = 30


class Message(t.NamedTuple):
    """A message, and when it arrived, in seconds of the clock."""

    at: float
    id: str
    change: str
    event_id: str
    vm: str
    noticed_at: str


class Receiver:
    """It can be stopped and started again, as a controller that is cut off. A repetition of a message is not among the messages."""

    url = f"https://{CONTROLLER}:{PORT}/"

    def __init__(self, folder: pathlib.Path) -> None:
        folder.mkdir()
        self.certificate, self._key = folder / "certificate.pem", folder / "key.pem"
        run(
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"),
            *("-subj", f"/CN={CONTROLLER}", "-addext", f"subjectAltName=IP:{CONTROLLER}", "-keyout", str(self._key), "-out", str(self.certificate)),
        )
        self.messages: list[Message] = []
        # The EventIds of messages that came again, with the same id.
        self.repeated: list[str] = []
        # Cleared, it takes messages and does not answer until this is set again.
        self.answering = threading.Event()
        self.answering.set()
        self._server: http.server.ThreadingHTTPServer | None = None

    def start(self) -> None:
        """Listen; nothing new where it does."""
        if self._server is not None:
            return
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                receiver._take(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                receiver.answering.wait(HELD_SECONDS)
                self.send_response(200)
                self.end_headers()

            def log_message(self, *unused: t.Any) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer((CONTROLLER, PORT), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, self._key)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        in_background(self._server.serve_forever, "receiver")

    def stop(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def about(self, event_id: str) -> list[Message]:
        return [message for message in self.messages if message.event_id == event_id.lower()]

    def _take(self, body: dict[str, t.Any]) -> None:
        if any(message.id == body["id"] for message in self.messages):
            self.repeated.append(body["subject"].lower())
            return
        change = body["type"].rpartition(".")[2]
        self.messages.append(Message(time.time(), body["id"], change, body["subject"].lower(), body["data"]["vm"]["name"], body["data"]["noticed_at"]))
