# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Receivers of notifications on loopback: HTTPS with a certificate authority of its own, SMTP, and a proxy in front of them."""

from __future__ import annotations

import base64
import contextlib
import email
import email.policy
import http.server
import json
import pathlib
import socket
import ssl
import subprocess
import threading
import time
import typing as t

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword


class Authority(t.NamedTuple):
    """A certificate authority, and a certificate for 127.0.0.1 and hooks.example.com that it has signed."""

    certificate: str
    server: str


def authority(folder: pathlib.Path) -> Authority:
    folder.mkdir()
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    _openssl(folder, "req", "-x509", *key, "-subj", "/CN=test authority", "-keyout", "ca.key", "-out", "ca.pem")
    _openssl(folder, "req", *key[:-2], "-subj", "/CN=receiver", "-keyout", "server.key", "-out", "server.csr")
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1,DNS:localhost,DNS:hooks.example.com\n")
    signing = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "names"]
    _openssl(folder, "x509", "-req", "-in", "server.csr", *signing, "-out", "server.crt")
    (folder / "server.pem").write_text((folder / "server.crt").read_text() + (folder / "server.key").read_text())
    return Authority(str(folder / "ca.pem"), str(folder / "server.pem"))


def _openssl(folder: pathlib.Path, *words: str) -> None:
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)


class Https:
    """Takes what apprise posts (json://), each as a dictionary with its path. It may be slow, it may refuse, and it may be held."""

    def __init__(self, certificate: str = "", port: int = 0) -> None:
        self.seconds = 0.0
        self.status = 200
        self.got: list[dict[str, t.Any]] = []
        self.asked: list[str] = []
        # While it is cleared no request is answered.
        self.answers = threading.Event()
        self.answers.set()
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.asked.append(self.path)
                receiver.answers.wait(300)
                time.sleep(receiver.seconds)
                if receiver.status == 200 and not receiver.seconds:
                    receiver.got.append({"path": self.path, **json.loads(body)})
                self.send_response(receiver.status)
                self.end_headers()

            def log_message(self, *_arguments: t.Any) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._server.daemon_threads = True
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.port = int(self._server.server_address[1])
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def texts(self) -> list[str]:
        return [one["message"] for one in self.got]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class Proxy:
    """An HTTP proxy with a password. It tunnels (CONNECT) each host to this port of loopback, as if it alone knew the host's address."""

    def __init__(self, port: int, password: str) -> None:
        self.asked: list[str] = []
        proxy = self
        expected = "Basic " + base64.b64encode(f"azure:{password}".encode()).decode()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_CONNECT(self) -> None:
                is_known = self.headers["Proxy-Authorization"] == expected
                proxy.asked.append(f"{self.path} {'tunnelled' if is_known else 'refused'}")
                if not is_known:
                    self.send_error(407)
                    return
                self.close_connection = True
                with socket.create_connection(("127.0.0.1", port)) as beyond:
                    self.send_response(200)
                    self.end_headers()
                    back = threading.Thread(target=_copy, args=(beyond, self.connection), daemon=True)
                    back.start()
                    _copy(self.connection, beyond)
                    back.join(30)

            def log_message(self, *_arguments: t.Any) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://azure:{password}@127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def _copy(source: socket.socket, target: socket.socket) -> None:
    """Copy all that comes until its end. A side that is gone ends it, too."""
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


class Smtp:
    """Takes mail, each as its subject and its text; of user C(azure) alone where it has a password."""

    def __init__(self, password: str = "") -> None:
        self.got: list[tuple[str, str]] = []
        self._password = password
        # Its controller connects to the port that it is given, so that 0 is none.
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self.port = int(listener.getsockname()[1])
        checks = {"authenticator": _checked(password), "auth_require_tls": False} if password else {}
        self._controller = Controller(self, hostname="127.0.0.1", port=self.port, **checks)
        self._controller.start()

    async def handle_DATA(self, _server: t.Any, session: t.Any, envelope: t.Any) -> str:
        if self._password and not session.authenticated:
            return "530 Authentication required"
        found = email.message_from_bytes(envelope.content, policy=email.policy.default)
        body = found.get_body(("plain",))
        self.got.append((str(found["Subject"]), body.get_content().strip() if body else ""))
        return "250 OK"

    def close(self) -> None:
        self._controller.stop()


def _checked(password: str) -> t.Callable[..., AuthResult]:
    def check(_server: t.Any, _session: t.Any, _envelope: t.Any, _mechanism: str, given: LoginPassword) -> AuthResult:
        return AuthResult(success=(given.login, given.password) == (b"azure", password.encode()))

    return check
