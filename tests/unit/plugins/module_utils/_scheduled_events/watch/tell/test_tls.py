# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The certificate that the watcher shows: real handshakes on loopback, and files that cannot be used. tests/eda has the receiver of ansible-rulebook."""

from __future__ import annotations

import pathlib
import socket
import ssl
import subprocess
import threading
import typing as t

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.settings import Settings, SettingsError
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.tell.delivery import NotDelivered, open_delivery, tls_context

MESSAGE = {"id": "0" * 32, "type": "maintenance.azure.scheduled_event.listed", "subject": "E1", "time": "2026-11-25T00:00:00.5Z"}
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


class Identity(t.NamedTuple):
    """A certificate that signs itself, so that it is its own authority, and its key."""

    certificate: str
    key: str


def identity(folder: pathlib.Path, name: str, *options: str) -> Identity:
    certificate, key = folder / f"{name}.pem", folder / f"{name}.key"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-days", "2", "-subj", f"/CN={name}"]
    alternative = ["-addext", "subjectAltName=DNS:localhost"]
    subprocess.run([*command, *alternative, *(options or ("-nodes",)), "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    key.chmod(0o400)
    return Identity(str(certificate), str(key))


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Identity]:
    folder = tmp_path_factory.mktemp("identities")
    return {name: identity(folder, name) for name in ("receiver", "web1", "stranger")}


@pytest.fixture
def receiver(known: dict[str, Identity]) -> t.Iterator[tuple[int, list[dict[str, t.Any]]]]:
    """A port that answers 200 to who shows the certificate of web1, and the certificates that it was shown."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*known["receiver"])
    context.load_verify_locations(known["web1"].certificate)
    context.verify_mode = ssl.CERT_REQUIRED
    shown: list[dict[str, t.Any]] = []
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                plain, _address = listener.accept()
            except OSError:  # the test has ended
                return
            try:
                with context.wrap_socket(plain, server_side=True) as connection:
                    shown.append(dict(connection.getpeercert() or {}))
                    came = b""
                    while not came.endswith(b"}"):
                        came += connection.recv(65536)
                    connection.sendall(ANSWER)
            except OSError:  # the sender was refused
                plain.close()

    thread = threading.Thread(target=serve)
    thread.start()
    yield int(listener.getsockname()[1]), shown
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join(10)


def settings(port: int, known: dict[str, Identity], shows: str | None) -> Settings:
    own = {"tell_client_certificate": known[shows].certificate, "tell_client_key": known[shows].key} if shows else {}
    return Settings(tell_url=f"https://localhost:{port}", tell_certificates=known["receiver"].certificate, tell_timeout=5.0, **own)


@pytest.mark.parametrize("shows", [None, "stranger"])
def test_without_the_right_certificate_nothing_is_delivered(
    receiver: tuple[int, list[dict[str, t.Any]]], known: dict[str, Identity], shows: str | None
) -> None:
    port, shown = receiver
    with pytest.raises(NotDelivered, match="certificates of both") as caught:
        open_delivery(settings(port, known, shows)).deliver(MESSAGE)
    assert not caught.value.refused and shown == []


def test_the_vm_shows_its_certificate(receiver: tuple[int, list[dict[str, t.Any]]], known: dict[str, Identity]) -> None:
    port, shown = receiver
    open_delivery(settings(port, known, "web1")).deliver(MESSAGE)
    assert [certificate["subject"] for certificate in shown] == [((("commonName", "web1"),),)]


def refused(certificate: str, key: str) -> str:
    with pytest.raises(SettingsError) as caught:
        tls_context(Settings(tell_url="https://localhost:1", tell_client_certificate=certificate, tell_client_key=key))
    return str(caught.value)


def test_files_that_cannot_be_used_are_named(known: dict[str, Identity], tmp_path: pathlib.Path) -> None:
    ours, other = known["web1"], known["stranger"]
    (tmp_path / "bad.pem").write_text("none")
    (tmp_path / "bad.key").write_text("none")
    (tmp_path / "bad.key").chmod(0o400)
    for certificate, key in (
        (str(tmp_path / "missing.pem"), ours.key),
        (str(tmp_path / "bad.pem"), ours.key),
        (ours.certificate, str(tmp_path / "bad.key")),
        (ours.certificate, other.key),
    ):
        assert refused(certificate, key).startswith(f"tell_client_certificate {certificate!r} with tell_client_key {key!r} cannot be used: ")
    assert "missing.key cannot be read: No such file" in refused(ours.certificate, str(tmp_path / "missing.key"))


def test_a_key_that_others_can_read_is_refused(tmp_path: pathlib.Path) -> None:
    ours = identity(tmp_path, "web1")
    pathlib.Path(ours.key).chmod(0o444)
    assert "only its owner may read" in refused(*ours)


def test_a_key_with_a_password_is_refused_instead_of_asked_for(tmp_path: pathlib.Path) -> None:
    ours = identity(tmp_path, "web1", "-passout", "pass:some-word")
    assert "has a password" in refused(*ours)
