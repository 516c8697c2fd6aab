# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Someone on the way from a watcher to the rulebook, who has a certificate that the watcher trusts, and changes what passes."""

from __future__ import annotations

import http.client
import http.server
import pathlib
import ssl
import threading
import typing as t


class Relay:
    """Passes requests on to a port of this machine, after ``change`` has had their body."""

    def __init__(self, port: int, certificate: pathlib.Path, key: pathlib.Path, change: t.Callable[[bytes], bytes]) -> None:
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = change(self.rfile.read(int(self.headers["Content-Length"])))
                onward = http.client.HTTPSConnection("127.0.0.1", port, timeout=20, context=ssl.create_default_context(cafile=str(certificate)))
                headers = {name: value for name, value in self.headers.items() if name not in ("Content-Length", "Host")}
                onward.request("POST", self.path, body=body, headers=headers)
                answer = onward.getresponse()
                self.send_response(answer.status)
                self.end_headers()
                self.wfile.write(answer.read())
                onward.close()

            def log_message(self, *unused: t.Any) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def port(self) -> int:
        return int(self.server.server_address[1])

    def end(self) -> None:
        self.server.shutdown()
        self.server.server_close()
