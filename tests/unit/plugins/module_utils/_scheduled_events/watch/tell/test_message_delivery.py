# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Deliveries against a real HTTP server on loopback, with and without TLS, and into a folder."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import hmac
import http.server
import json
import pathlib
import socketserver
import ssl
import subprocess
import threading
import time
import typing as t
from collections.abc import Iterator

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.message import CONTENT_TYPE
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.settings import Settings, SettingsError
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.tell.delivery import NotDelivered, open_delivery

MESSAGE = {"id": "0" * 32, "type": "maintenance.azure.scheduled_event.listed", "subject": "E1", "time": "2026-11-25T00:00:00.5Z"}


class Hook:
    """A receiver that keeps what it got and answers with the next status."""

    def __init__(self, certificate: pathlib.Path | None = None) -> None:
        hook = self
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.status = 200
        self.pause = 0.0
        self.trickles = 0

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                hook.got.append(({key.lower(): value for key, value in self.headers.items()}, body))
                time.sleep(hook.pause)
                self.send_response(hook.status)
                self.send_header("Location", "http://127.0.0.1:1/elsewhere")
                self.end_headers()
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # a sender that has given up
                    for _byte in range(hook.trickles):
                        self.wfile.write(b"x")
                        time.sleep(0.1)
                    self.wfile.write(b"text \x1b[31m in red")

            def log_message(self, *unused: t.Any) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def port(self) -> int:
        return int(self.server.server_address[1])


@pytest.fixture
def hook() -> Iterator[Hook]:
    hook = Hook()
    yield hook
    hook.server.shutdown()
    hook.server.server_close()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A certificate of localhost that signs itself, with its key, in one file."""
    path = tmp_path_factory.mktemp("certificate") / "both.pem"
    key = path.with_name("key.pem")
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    subprocess.run([*command, "-keyout", str(key), "-out", str(path)], check=True, capture_output=True)
    path.with_name("authority.pem").write_text(path.read_text())
    path.write_text(path.read_text() + key.read_text())
    return path


def deliver(url: str, **settings: t.Any) -> None:
    open_delivery(Settings(tell_url=url, tell_timeout=2.0, **settings)).deliver(MESSAGE)


def credential(folder: pathlib.Path) -> str:
    path = folder / "credential"
    path.write_text("s3cret-Word\n")
    path.chmod(0o400)
    return str(path)


def test_a_message_is_posted_as_cloudevents(hook: Hook) -> None:
    deliver(f"http://127.0.0.1:{hook.port}/endpoint?x=1")
    headers, body = hook.got[0]
    assert headers["content-type"] == CONTENT_TYPE
    assert json.loads(body) == MESSAGE
    assert "authorization" not in headers


def test_a_bearer_token(hook: Hook, tmp_path: pathlib.Path) -> None:
    deliver(f"http://127.0.0.1:{hook.port}", tell_credential="bearer", tell_credential_file=credential(tmp_path))
    assert hook.got[0][0]["authorization"] == "Bearer s3cret-Word"


def test_a_signature_of_the_body(hook: Hook, tmp_path: pathlib.Path) -> None:
    deliver(f"http://127.0.0.1:{hook.port}", tell_credential="hmac", tell_credential_file=credential(tmp_path))
    headers, body = hook.got[0]
    assert headers["x-hub-signature-256"] == "sha256=" + hmac.new(b"s3cret-Word", body, hashlib.sha256).hexdigest()
    assert not [value for value in headers.values() if "s3cret" in value]


@pytest.mark.parametrize(
    ("status", "refused"),
    [(301, False), (307, False), (400, False), (401, False), (403, False), (404, False), (413, True), (422, True), (429, False), (503, False)],
)
def test_other_statuses_are_no_delivery(hook: Hook, status: int, refused: bool) -> None:
    hook.status = status
    with pytest.raises(NotDelivered, match=f"answered {status}") as caught:
        deliver(f"http://127.0.0.1:{hook.port}")
    assert caught.value.refused is refused
    assert len(hook.got) == 1 and "\x1b" not in str(caught.value) and "in red" not in str(caught.value)


class Echo:
    """A receiver that answers with bytes made of the request's."""

    def __init__(self, answer: t.Callable[[bytes], bytes]) -> None:
        echo = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                request = b""
                while b"\r\n\r\n" not in request:
                    request += self.request.recv(65536)
                echo.got = request
                self.request.sendall(answer(request))

        self.got = b""
        self.server = socketserver.TCPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


def of_length(body: bytes, status: bytes = b"400 Bad Request") -> bytes:
    return b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s" % (status, len(body), body)


ANSWERS: dict[str, t.Callable[[bytes], bytes]] = {
    "the request": of_length,
    "the request after much else": lambda request: of_length(b" " * 190 + request),
    "in base64": lambda request: of_length(base64.b64encode(request)),
    "in hexadecimal digits": lambda request: of_length(request.hex().encode()),
    "with escapes": lambda request: of_length(json.dumps(request.decode("latin-1").replace("/", "\\/")).encode()),
    "backwards": lambda request: of_length(request[::-1]),
    "as the status line": lambda request: request,
    "as the reason": lambda request: of_length(b"", b"401 " + request.partition(b"Bearer ")[2].partition(b"\r")[0]),
    "as a version": lambda request: b"HTTP/9-" + request,
    "as the address of a redirect": lambda request: b"HTTP/1.1 302 Found\r\nLocation: /" + request.replace(b"\r\n", b" ") + b"\r\n\r\n",
    "as a header": lambda request: b"HTTP/1.1 403 Forbidden\r\n" + request,
    "as the size of a chunk": lambda request: b"HTTP/1.1 500 Oh\r\nTransfer-Encoding: chunked\r\n\r\n" + request.replace(b"\r\n", b" ") + b"\r\n",
    "as the length": lambda request: b"HTTP/1.1 500 Oh\r\nContent-Length: " + request.replace(b"\r\n", b" ") + b"\r\n\r\n",
    "nothing": lambda request: b"",
}


@pytest.mark.parametrize("how", ANSWERS)
def test_no_answer_brings_the_token_or_the_urls_secret_into_the_log(how: str, tmp_path: pathlib.Path) -> None:
    echo = Echo(ANSWERS[how])
    port = echo.server.server_address[1]
    try:
        with pytest.raises(NotDelivered) as caught:
            url = f"http://127.0.0.1:{port}/services/T0ken-in-Path?sig=T0ken-in-Query"
            deliver(url, tell_credential="bearer", tell_credential_file=credential(tmp_path))
    finally:
        echo.server.shutdown()
        echo.server.server_close()
    assert b"/services/T0ken-in-Path?sig=T0ken-in-Query" in echo.got and b"Bearer s3cret-Word" in echo.got
    said = str(caught.value)
    assert said.startswith(f"http://127.0.0.1:{port}/...")
    secrets = [word for plain in ("s3cret-Word", "T0ken-in-Path", "T0ken-in-Query", "services", "sig=") for word in (plain, plain[::-1])]
    encoded = [base64.b64encode(b"Authorization: Bearer s3cret-Word")[:20].decode(), b"s3cret".hex()]
    assert not [word for word in (*secrets, *encoded) if word in said], said


def test_a_url_that_is_no_request_is_not_repeated() -> None:
    with pytest.raises(NotDelivered, match=r"http://127\.0\.0\.1:1/\.\.\.: no HTTP \(InvalidURL\)") as caught:
        deliver("http://127.0.0.1:1/services/T0ken in Path")
    assert "T0ken" not in str(caught.value)


def test_nothing_there_and_too_late(hook: Hook) -> None:
    with pytest.raises(NotDelivered, match="refused"):
        deliver("http://127.0.0.1:1")
    hook.pause = 3
    with pytest.raises(NotDelivered, match="timed out"):
        deliver(f"http://127.0.0.1:{hook.port}")
    # One that never ends its answer, and sends a byte of it now and then.
    hook.pause, hook.trickles = 0, 100
    with pytest.raises(NotDelivered, match="timed out"):
        deliver(f"http://127.0.0.1:{hook.port}")


def test_a_certificate_is_verified(certificate: pathlib.Path) -> None:
    hook = Hook(certificate)
    authority = str(certificate.with_name("authority.pem"))
    try:
        deliver(f"https://localhost:{hook.port}", tell_certificates=authority)
        with pytest.raises(NotDelivered, match="CERTIFICATE_VERIFY_FAILED"):
            deliver(f"https://localhost:{hook.port}")
        with pytest.raises(NotDelivered, match="CERTIFICATE_VERIFY_FAILED|mismatch"):
            deliver(f"https://127.0.0.1:{hook.port}", tell_certificates=authority)
    finally:
        hook.server.shutdown()
        hook.server.server_close()
    assert len(hook.got) == 1


def test_certificates_that_cannot_be_read_are_wrong_settings(tmp_path: pathlib.Path) -> None:
    (tmp_path / "bad.pem").write_text("none")
    for name in ("missing.pem", "bad.pem"):
        with pytest.raises(SettingsError, match=f"tell_certificates .*{name}"):
            open_delivery(Settings(tell_url="https://localhost:1", tell_certificates=str(tmp_path / name)))


def test_a_proxy_is_not_used(hook: Hook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    deliver(f"http://127.0.0.1:{hook.port}")
    assert len(hook.got) == 1


def test_a_folder_gets_a_file_for_each_message(tmp_path: pathlib.Path) -> None:
    folder = open_delivery(Settings(tell_folder=str(tmp_path)))
    folder.deliver(MESSAGE)
    folder.deliver(MESSAGE)
    files = list(tmp_path.iterdir())
    assert [path.name for path in files] == [f"20261125T0000005Z-{'0' * 32}.json"]
    assert json.loads(files[0].read_text()) == MESSAGE


def test_a_folder_that_is_missing_is_no_delivery(tmp_path: pathlib.Path) -> None:
    with pytest.raises(NotDelivered, match="missing"):
        open_delivery(Settings(tell_folder=str(tmp_path / "missing"))).deliver(MESSAGE)


def test_nowhere_to_tell_is_a_wrong_setting() -> None:
    with pytest.raises(SettingsError, match="nowhere to tell"):
        open_delivery(Settings())
