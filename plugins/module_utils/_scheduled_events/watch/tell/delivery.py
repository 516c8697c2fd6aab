# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""Deliver one message: to a webhook, or into a folder."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import json
import socket
import ssl
import typing as t
from urllib.parse import urlsplit

from ...core.types import Values
from ...host.timed_socket import TimedSocket
from ..message import CONTENT_TYPE
from ..settings import Settings, SettingsError, check_key, read_credential, shown_url
from ..shared_folder import SharedFolder

# The receiver has understood the request and never takes this message. Any other status may change: ansible-rulebook answers 400 to a message without the
# signature that it wants, and takes it as soon as the two have the same settings.
REFUSED = (413, 422)
READ_BYTES = 64 * 1024
NOT_REPEATED = "What it says beside that stands in its own log, and not here: a receiver may repeat what it was sent, such as the token."


class NotDelivered(Exception):
    """A message that did not arrive. ``refused`` says that it never will."""

    def __init__(self, why: str, refused: bool = False) -> None:
        super().__init__(why)
        self.refused = refused


class Delivery(t.Protocol):
    """A place for messages."""

    repeats: bool
    """Whether an accepted message is sent again until a record shows that a run has seen the event."""

    def deliver(self, message: Values) -> None:
        """Deliver a message; return when it is accepted. Raise NotDelivered."""


class Webhook:
    """POST each message. Certificates are verified, redirects and proxies are not followed."""

    repeats = True  # a status of success says that a program listens, not that a run began

    def __init__(self, settings: Settings) -> None:
        parts = urlsplit(str(settings.tell_url))
        self._shown = shown_url(settings.tell_url)
        self._host, self._port = parts.hostname or "", parts.port
        self._path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        self._settings = settings
        self._context = tls_context(settings) if parts.scheme == "https" else None
        self._credential = read_credential(settings.tell_credential_file) if settings.tell_credential_file else ""

    def deliver(self, message: Values) -> None:
        body = json.dumps(message, separators=(",", ":")).encode("ascii")
        connection = self._connection()
        try:
            connection.request("POST", self._path, body, {"Content-Type": CONTENT_TYPE, "User-Agent": "maintenance.azure", **self._proof(body)})
            # The plain time limit begins anew with each byte of an answer.
            guard = TimedSocket(t.cast(socket.socket, connection.sock))
            guard.start(self._settings.tell_timeout)
            connection.sock = t.cast(t.Any, guard)
            answer = connection.getresponse()
            answer.read(READ_BYTES)
        except (OSError, http.client.HTTPException) as error:
            # What is no HTTP is quoted by the library, and may be the request itself.
            why = error if isinstance(error, OSError) else f"no HTTP ({type(error).__name__})"
            raise NotDelivered(f"{self._shown}: {why}. Check that the receiver runs there, and the certificates of both.")
        finally:
            connection.close()
        if not 200 <= answer.status < 300:
            said = f"{answer.status} {http.client.responses.get(answer.status, '')}".rstrip()
            raise NotDelivered(f"{self._shown} answered {said}. {NOT_REPEATED}", refused=answer.status in REFUSED)

    def _connection(self) -> http.client.HTTPConnection:
        if self._context is None:
            return http.client.HTTPConnection(self._host, self._port, timeout=self._settings.tell_timeout)
        return http.client.HTTPSConnection(self._host, self._port, timeout=self._settings.tell_timeout, context=self._context)

    def _proof(self, body: bytes) -> dict[str, str]:
        """Return the header that proves who sends."""
        if self._settings.tell_credential == "bearer":
            return {"Authorization": f"Bearer {self._credential}"}
        if self._settings.tell_credential == "hmac":
            digest = hmac.new(self._credential.encode("ascii"), body, hashlib.sha256).hexdigest()
            return {self._settings.tell_hmac_header: f"sha256={digest}"}
        return {}


class Folder:
    """Write each message to a file of its own, for other tools, which remove them."""

    repeats = False

    def __init__(self, settings: Settings) -> None:
        self._folder = SharedFolder(str(settings.tell_folder), mode=0o640)

    def deliver(self, message: Values) -> None:
        try:
            # A time without colons, so that names sort by time and every file system takes them.
            moment = "".join(letter for letter in str(message.get("time")) if letter.isalnum())[:30]
            self._folder.write(f"{moment}-{message['id']}.json", json.dumps(message, sort_keys=True).encode("ascii") + b"\n", durable=True)
        except OSError as error:
            raise NotDelivered(f"{self._folder.where}: {error}")


def open_delivery(settings: Settings) -> Delivery:
    """Return the place that the settings name. Raise SettingsError."""
    if settings.tell_url is not None:
        return Webhook(settings)
    if settings.tell_folder is not None:
        return Folder(settings)
    raise SettingsError("neither tell_url nor tell_folder is given, so there is nowhere to tell.")


def tls_context(settings: Settings) -> ssl.SSLContext:
    """Return what verifies the receiver and shows this VM's certificate. Raise SettingsError."""
    try:
        context = ssl.create_default_context(cafile=settings.tell_certificates)
    except OSError as error:
        raise SettingsError(f"tell_certificates {settings.tell_certificates!r} cannot be used: {error}")
    if settings.tell_client_certificate is not None and settings.tell_client_key is not None:
        _show(context, settings.tell_client_certificate, settings.tell_client_key)
    return context


def _show(context: ssl.SSLContext, certificate: str, key: str) -> None:
    check_key(key)

    def refuse() -> str:
        # Without this function OpenSSL asks for the password at a terminal, and the teller has none.
        raise SettingsError(f"The key in tell_client_key {key!r} has a password, and the watcher can give none. Store it without one.")

    try:
        context.load_cert_chain(certificate, key, refuse)
    except OSError as error:
        raise SettingsError(f"tell_client_certificate {certificate!r} with tell_client_key {key!r} cannot be used: {error}")
