# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The transport from the controller's own VM, over requests. The modules' own client uses it."""

from __future__ import annotations

import time

try:
    import requests
except ImportError as error:  # missing in the controller's environment: reported where it is needed
    MISSING: ImportError | None = error
else:
    MISSING = None

from ...module_utils._scheduled_events.imds import transport
from ...module_utils._scheduled_events.imds.transport import Answer

CHUNK = 65536


class RequestsTransport:
    """One request, one answer: no proxy, no redirect, no retry, no cookie, no decoding."""

    def __init__(self, endpoint: str) -> None:
        self.endpoint, host, _port = transport.split_endpoint(endpoint)
        self.hint = transport.local_hint(self.endpoint, host)
        self._session = requests.Session()
        # Ignore the environment's proxies, and passwords in netrc.
        self._session.trust_env = False

    def request(self, method: str, path: str, body: str | None = None, connect_timeout: float = 5.0, request_timeout: float = 125.0) -> Answer:
        """Send one request and read its answer."""
        target = f"{method} {self.endpoint}{path}"
        headers = {**transport.HEADERS, **(transport.JSON_HEADERS if body is not None else {}), "Accept-Encoding": "identity"}
        ends = time.monotonic() + request_timeout
        try:
            with self._session.request(
                method,
                self.endpoint + path,
                data=None if body is None else body.encode("utf-8"),
                headers=headers,
                timeout=(connect_timeout, request_timeout),
                allow_redirects=False,
                stream=True,
            ) as response:
                names = {name.lower(): value for name, value in response.headers.items()}
                return Answer(response.status_code, names, _read(response, target, ends, request_timeout))
        except requests.ConnectTimeout as error:
            raise transport.not_connected(target, f"no answer came within {connect_timeout:g} s", self.hint) from error
        except requests.Timeout as error:
            raise transport.too_late(target, request_timeout) from error
        except requests.RequestException as error:
            if _refused(error):
                raise transport.not_connected(target, innermost_reason(error), self.hint) from error
            raise transport.cut_off(target, innermost_reason(error)) from error

    def close(self) -> None:
        """Close the connection."""
        self._session.close()


def _read(response: requests.Response, target: str, ends: float, seconds: float) -> bytes:
    body = b""
    # Not iter_content: it decompresses, and a small answer may expand to a very large one.
    while chunk := _more(response, min(CHUNK, transport.MAX_ANSWER_BYTES + 1 - len(body))):
        body += chunk
        if len(body) > transport.MAX_ANSWER_BYTES:
            raise transport.too_large(target)
        if time.monotonic() > ends:
            # The timeout of requests begins anew with each piece.
            raise transport.too_late(target, seconds)
    declared = response.headers.get("Content-Length", "")
    if declared.isdecimal() and len(body) < int(declared):
        raise transport.cut_off(target, f"the body was cut off after {len(body)} bytes")
    return body


def _more(response: requests.Response, size: int) -> bytes:
    """Return what has arrived, without waiting for ``size`` bytes: a slow answer must end in time."""
    read = getattr(response.raw, "read1", None)  # urllib3 2
    try:
        return bytes(read(size, decode_content=False) if read else response.raw.read(1, decode_content=False))
    except Exception as error:
        # The exceptions of urllib3 and http.client share no public base class.
        if "timed out" in str(error).lower():
            raise requests.ReadTimeout(error) from error
        raise requests.exceptions.ChunkedEncodingError(error) from error


def _refused(error: requests.RequestException) -> bool:
    """Return whether the connection was never made, so that nothing was sent."""
    reason = getattr(error.args[0], "reason", None) if error.args else None
    return isinstance(error, requests.ConnectionError) and type(reason).__name__ in ("NewConnectionError", "NameResolutionError")


def innermost_reason(error: BaseException) -> str:
    """Return the innermost reason: its wrappers contain addresses, in memory and with a password."""
    found: BaseException = error
    while True:
        inner = getattr(found, "reason", None) or next((one for one in found.args if isinstance(one, BaseException)), None) or found.__cause__
        if not isinstance(inner, BaseException) or inner is found:
            break
        found = inner
    strerror = getattr(found, "strerror", None)
    return strerror or str(found).rpartition(": ")[2] or type(found).__name__
