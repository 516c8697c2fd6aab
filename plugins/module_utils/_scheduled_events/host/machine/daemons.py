# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""Talk HTTP or TCP to the daemons of a VM, such as a database's, and to addresses that the settings of a method name. To no other address."""

from __future__ import annotations

import base64
import errno
import http.client
import json
import os
import ssl
import time
import typing as t
from urllib.parse import quote, urlsplit

from ...core.bounded_json import load_bounded
from .. import file_access
from ..timed_socket import TimedSocket
from . import addresses

PORTS = {"http": 80, "https": 443}
ENCRYPTED = ("https", "tls")
SCHEMES = (*PORTS, "tcp", "tls")
LONGEST_SECRET = 64 * 1024


class DaemonError(Exception):
    """A daemon was not asked, or has not answered; the message names it and says why. What it answered may be carried out all the same."""


class Daemon(t.NamedTuple):
    """One daemon, and how it is asked. Files are paths on the VM."""

    url: str
    """http://HOST:PORT or https://HOST:PORT for requests, tcp://HOST:PORT or tls://HOST:PORT for exchanges; no path."""
    seconds: float = 10.0
    """From the first look for the address to the last byte of the answer."""
    longest: int = 1024 * 1024
    """Bytes of the longest answer that is accepted."""
    ca_file: str = ""
    """The certificates that sign the daemon's; without them those of the system."""
    certificate_file: str = ""
    """The certificate that is shown to the daemon, with its key in the same file or in C(key_file). A key must be readable by root only."""
    key_file: str = ""
    username: str = ""
    """With C(password_file), for basic authentication."""
    password_file: str = ""
    token_file: str = ""
    """Sent as a bearer token."""


class Reply(t.NamedTuple):
    """One HTTP answer, whatever its status. Header names are in lower case. A redirect is an answer like any other."""

    status: int
    headers: t.Mapping[str, str]
    body: bytes
    secrets: tuple[str, ...] = ()
    """What the request proved with who asks."""

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    @property
    def said(self) -> str:
        """Return the text for messages and records: a daemon, or what is before it, may repeat the request."""
        text = self.text
        for secret in self.secrets:
            text = text.replace(secret, "***")
        return text

    def json(self) -> t.Any:
        """Return the parsed body. Raise ValueError for what is not JSON, or is nested too deep."""
        try:
            return load_bounded(self.text, lambda digits: None)
        except (RecursionError, OverflowError) as error:
            raise ValueError(str(error))


class Daemons(t.Protocol):
    """The daemons that one method of one VM may talk to. Each function raises DaemonError."""

    def request(self, daemon: Daemon, method: str, path: str, body: bytes | None = None, headers: t.Mapping[str, str] | None = None) -> Reply:
        """Send one HTTP request and return its answer."""

    def exchange(self, daemon: Daemon, data: bytes, is_complete: t.Callable[[bytes], bool]) -> bytes:
        """Send bytes, and return what comes back until it is complete, or until the daemon ends the connection."""

    def secret(self, path: str) -> str:
        """Return the content of a file that only root can read, without the line break at its end, for what is sent by exchange()."""


class LocalDaemons:
    """From this machine, also to the addresses C(named): URLs or HOST:PORT. No proxy is used and no redirect followed."""

    def __init__(self, named: t.Sequence[str] = ()) -> None:
        self._named = tuple(named)

    def secret(self, path: str) -> str:
        try:
            secret = read_secret(path)
        except OSError as error:
            raise DaemonError(str(error))
        # http.client would refuse such a header, with the secret in its message.
        if not secret.isprintable():
            raise DaemonError(f"the secret in {path} is not used: it must be one line of printable characters")
        return secret

    def request(self, daemon: Daemon, method: str, path: str, body: bytes | None = None, headers: t.Mapping[str, str] | None = None) -> Reply:
        target = f"{method} {daemon.url}{path}"
        scheme, host, port = _parts(daemon.url)
        if scheme not in PORTS or not path.startswith("/"):
            raise DaemonError(f"{target}: a request needs http:// or https://, and a path")
        guard = self._connect(daemon, target)
        connection = http.client.HTTPConnection(host, port)
        connection.sock = t.cast(t.Any, guard)
        try:
            authorization, secrets = self._authorization(daemon)
            connection.request(method, path, body=body, headers={"User-Agent": "maintenance.azure", **authorization, **(headers or {})})
            response = connection.getresponse()
            if guard.ended:
                # http.client takes the end of the connection within the headers for the end of the headers.
                raise http.client.HTTPException("the headers were cut off")
            return Reply(response.status, {name.lower(): value for name, value in response.getheaders()}, _read_body(response, daemon.longest), secrets)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise _failed(target, error)
        finally:
            guard.close()

    def exchange(self, daemon: Daemon, data: bytes, is_complete: t.Callable[[bytes], bool]) -> bytes:
        if _parts(daemon.url)[0] in PORTS:
            raise DaemonError(f"{daemon.url}: an exchange needs tcp:// or tls://")
        guard, answer = self._connect(daemon, daemon.url), b""
        try:
            guard.sendall(data)
            while not is_complete(answer):
                # One byte more than allowed shows that it is too long.
                piece = guard.recv(min(65536, daemon.longest + 1 - len(answer)))
                if not piece:
                    break
                answer += piece
                _refuse_long(len(answer), daemon.longest)
            return answer
        except (OSError, ValueError) as error:
            raise _failed(daemon.url, error)
        finally:
            guard.close()

    def _connect(self, daemon: Daemon, target: str) -> TimedSocket:
        end = time.monotonic() + daemon.seconds
        scheme, host, port = _parts(daemon.url)
        try:
            plain = addresses.connect(host, port, [_parts(one)[1:] for one in self._named], daemon.seconds)
        except (OSError, ValueError) as error:
            raise _failed(target, error)
        try:
            # Python counts the time of a whole handshake, not of each byte.
            plain.settimeout(max(end - time.monotonic(), 0.001))
            guard = TimedSocket(_tls_context(daemon).wrap_socket(plain, server_hostname=host) if scheme in ENCRYPTED else plain)
        except (OSError, ValueError) as error:
            plain.close()
            raise _failed(target, error)
        guard.start(end - time.monotonic())
        return guard

    def _authorization(self, daemon: Daemon) -> tuple[dict[str, str], tuple[str, ...]]:
        """Return the header, and what no message may repeat of it."""
        if daemon.token_file:
            token = self.secret(daemon.token_file)
            if not token.isascii():
                # http.client would refuse the header, with these characters in its message.
                raise DaemonError(f"the secret in {daemon.token_file} is not used: a token has only letters, digits and signs of ASCII")
            return {"Authorization": f"Bearer {token}"}, _forms(token)
        if not daemon.password_file:
            return {}, ()
        password = self.secret(daemon.password_file)
        pair = base64.b64encode(f"{daemon.username}:{password}".encode("utf-8", "surrogateescape")).decode("ascii")
        return {"Authorization": f"Basic {pair}"}, (*_forms(pair), *_forms(password))


def _forms(secret: str) -> tuple[str, ...]:
    """Return a secret as it stands in a text, in JSON, in a URL and in HTML; nothing for an empty one."""
    # Each module would load it on each VM, and few drain methods have a secret.
    import html

    found = (secret, json.dumps(secret)[1:-1], quote(secret, safe="", errors="surrogateescape"), html.escape(secret))
    return tuple(dict.fromkeys(filter(None, found)))


def host_and_port(given: str) -> tuple[str, int]:
    """Return host and port of a URL or of HOST:PORT. Raise DaemonError."""
    return _parts(given)[1:]


def _parts(given: str) -> tuple[str, str, int]:
    """Return scheme, host and port. What has no scheme is HOST:PORT."""
    try:
        parts = urlsplit(given if "://" in given else f"tcp://{given}")
        host, port = parts.hostname, parts.port or PORTS.get(parts.scheme)
    except ValueError:
        parts, host, port = urlsplit(""), None, None
    if parts.scheme not in SCHEMES or not host or port is None or parts.username is not None or parts.path.strip("/") or parts.query:
        raise DaemonError(f"{given[:100]!r} is no address of a daemon; it must be {', '.join(SCHEMES)} with ://HOST:PORT, and no user, path or query")
    return parts.scheme, host, port


def _tls_context(daemon: Daemon) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=daemon.ca_file or None)
    if daemon.certificate_file:
        key = daemon.key_file or daemon.certificate_file
        read_secret(key)

        def refuse() -> str:
            # Without this function OpenSSL asks for the password at a terminal.
            raise ValueError(f"the key in {key} has a password")

        context.load_cert_chain(daemon.certificate_file, key, refuse)
    return context


def _read_body(response: http.client.HTTPResponse, longest: int) -> bytes:
    declared = response.length
    _refuse_long(declared or 0, longest)
    body = response.read(longest + 1)
    _refuse_long(len(body), longest)
    # http.client reports no error when a body that is read in pieces ends early.
    if declared is not None and len(body) < declared:
        raise http.client.IncompleteRead(body, declared - len(body))
    return body


def _refuse_long(size: int, longest: int) -> None:
    if size > longest:
        raise ValueError(f"the answer is larger than {longest} bytes")


def _failed(target: str, error: Exception) -> DaemonError:
    """Return the error with its reason in words. An OSError of a secret or an address has a message of its own."""
    if isinstance(error, http.client.IncompleteRead):
        return DaemonError(f"{target}: the answer was cut off after {len(error.partial)} bytes")
    if isinstance(error, http.client.BadStatusLine) and not isinstance(error, http.client.RemoteDisconnected):
        # Its message is the line, in which a daemon of another kind may repeat the request, with the password: an error gets into records and reports.
        return DaemonError(f"{target}: the answer is no HTTP")
    if isinstance(error, http.client.UnknownProtocol):
        return DaemonError(f"{target}: the answer has another version of HTTP")
    why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    hint = "; start it, or correct the address" if isinstance(error, ConnectionRefusedError) else ""
    return DaemonError(f"{target}: {why or type(error).__name__}{hint}")


def read_secret(path: str) -> str:
    """Return the content of a file with a password, a token or a key: no option of a drain method holds one, because a record keeps the options.

    The line breaks at its end are left out. Raise OSError, which says what is wrong, where others than root can read or write the file.
    """
    try:
        stream = file_access.open_to_read(path)
    except OSError as error:
        why = "it is a symbolic link; name the file itself" if error.errno == errno.ELOOP else error.strerror or "it is not a regular file"
        raise OSError(f"the secret in {path} cannot be read: {why}")
    with stream:
        present = os.fstat(stream.fileno())
        if present.st_uid not in (0, os.geteuid()) or present.st_mode & 0o077:
            raise OSError(f"the secret in {path} is not used: it must be a file of root that no other user may read or write (mode 0600)")
        content = stream.read(LONGEST_SECRET + 1)
    if len(content) > LONGEST_SECRET:
        raise OSError(f"the secret in {path} is not used: it is larger than {LONGEST_SECRET} bytes")
    return content.decode("utf-8", "surrogateescape").rstrip("\r\n")
