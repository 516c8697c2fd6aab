# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""HTTP and TCP to daemons: real sockets on loopback. What is not the VM's own and not in the settings is never connected to."""

from __future__ import annotations

import base64
import contextlib
import html
import ipaddress
import json
import os
import socket
import ssl
import subprocess
import threading
import time
from urllib.parse import quote

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.methods.method import Event, MethodError, Task
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.methods.patroni import patroni
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.methods.silence import SilenceMethod
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.drain.registry import defaults
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine import addresses
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine.daemons import Daemon, DaemonError, LocalDaemons, host_and_port
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.machine.machine import local_machine

METADATA, FOREIGN = "169.254.169.254", "192.0.2.7"
OK = b'HTTP/1.1 200 OK\r\nContent-Length: 9\r\nX-Way: up\r\n\r\n{"a": 1}\n'


@contextlib.contextmanager
def server(*answers, wrap=None, pause=0.0):
    """Serve one connection for each answer: read once, send its pieces with a pause between. Yield the port and what was read."""
    listener, got = socket.create_server(("127.0.0.1", 0)), []

    def serve():
        for answer in answers:
            try:
                plain, _peer = listener.accept()
                with wrap(plain) if wrap else plain as connection:
                    got.append(connection.recv(65536))
                    if b"Content-Length: 2" in got[-1] and not got[-1].endswith(b"{}"):
                        got[-1] += connection.recv(65536)
                    for piece in [answer] if isinstance(answer, bytes) else answer:
                        connection.sendall(piece)
                        time.sleep(pause)
            except OSError:
                pass

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1], got
    finally:
        listener.close()
        thread.join(5)


def secret(folder, content="s3cret\n", mode=0o600):
    path = folder / "secret"
    path.write_text(content)
    path.chmod(mode)
    return str(path)


@pytest.fixture
def connected(monkeypatch):
    """What was connected to, in place of connections."""
    found = []

    def create_connection(address, timeout=None):
        found.append(address)
        raise ConnectionRefusedError(111, "Connection refused")

    monkeypatch.setattr(addresses.socket, "create_connection", create_connection)
    return found


def test_a_request_and_its_answer():
    with server(OK) as (port, got):
        reply = LocalDaemons().request(Daemon(f"http://127.0.0.1:{port}"), "POST", "/switchover", b"{}", {"Content-Type": "application/json"})
    assert (reply.status, reply.headers["x-way"], reply.json(), reply.text) == (200, "up", {"a": 1}, '{"a": 1}\n')
    assert got[0].startswith(b"POST /switchover HTTP/1.1\r\n") and b"Content-Type: application/json\r\n" in got[0] and got[0].endswith(b"\r\n\r\n{}")
    assert b"Authorization" not in got[0]


def test_an_exchange_ends_when_it_is_complete_or_the_daemon_ends_it():
    with server([b"+PO", b"NG\r\n"], b"half", pause=0.02) as (port, got):
        daemon = Daemon(f"tcp://localhost:{port}")
        assert LocalDaemons().exchange(daemon, b"PING\r\n", lambda answer: answer.endswith(b"\r\n")) == b"+PONG\r\n"
        assert LocalDaemons().exchange(daemon, b"PING\r\n", lambda answer: answer.endswith(b"\r\n")) == b"half"
    assert got == [b"PING\r\n", b"PING\r\n"]


def test_passwords_and_tokens_are_read_from_files(tmp_path):
    path = secret(tmp_path)
    with server(OK, OK) as (port, got):
        daemon = Daemon(f"http://127.0.0.1:{port}", username="me", password_file=path)
        LocalDaemons().request(daemon, "GET", "/")
        LocalDaemons().request(daemon._replace(token_file=path), "GET", "/")
    assert b"Authorization: Basic bWU6czNjcmV0\r\n" in got[0] and b"Authorization: Bearer s3cret\r\n" in got[1]
    assert LocalDaemons().secret(path) == "s3cret"


@pytest.mark.parametrize("mode", [0o604, 0o602, 0o640, 0o620, 0o666])
def test_a_secret_that_others_may_read_or_write_is_not_used(tmp_path, connected, mode):
    path = secret(tmp_path, mode=mode)
    with pytest.raises(DaemonError, match=f"the secret in {path} is not used: it must be a file of root that no other user may read or write") as caught:
        LocalDaemons().secret(path)
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize("begin", [b"ERR unknown command: ", b"HTTP/1.1 ", b"HTTP/9 200 ", b"HTTP/", b"HTTP/1.1 200 OK\r\nContent-Length: "])
def test_a_daemon_that_repeats_the_request_gets_no_secret_into_an_error(tmp_path, begin):
    token = secret(tmp_path, "t0ken")
    with server(begin + b"Authorization: Bearer t0ken\r\n\r\n") as (port, _got):
        try:
            LocalDaemons().request(Daemon(f"http://127.0.0.1:{port}", token_file=token, seconds=2), "GET", "/")
        except DaemonError as error:
            assert "t0ken" not in str(error)
            assert str(error).startswith(f"GET http://127.0.0.1:{port}/: ")


@pytest.mark.parametrize("form", ["{}", "user me, password {}", "Authorization: Basic {pair}", '{{"token": "{json}"}}', "?password={url}", "<td>{html}</td>"])
def test_a_daemon_that_repeats_the_request_gets_no_secret_into_a_message(tmp_path, form):
    password = 's3"<\u00fc cret'
    pair = base64.b64encode(f"me:{password}".encode()).decode()
    body = form.format(password, pair=pair, json=json.dumps(password)[1:-1], url=quote(password, safe=""), html=html.escape(password)).encode()
    path, answer = secret(tmp_path, password), b"HTTP/1.1 401 No\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    with server(answer, answer) as (port, got):
        options = {"url": f"http://127.0.0.1:{port}", "value": "web1", "username": "me", "password_file": path, "required": True}
        machine = local_machine(lambda: "2026-11-27T12:00:00.000000Z", lambda words: (1, "", ""))
        with pytest.raises(MethodError) as caught:
            SilenceMethod().begin(machine, Task({**defaults("silence"), **options}, {}, "new", None, {}, event=Event("E1", "Reboot")))
        reply = LocalDaemons().request(Daemon(options["url"], username="me", password_file=path), "GET", "/")
    assert f"Basic {pair}".encode() in got[0] and reply.body == body
    for message in (str(caught.value), patroni._said(reply)):
        assert "401" in message and "***" in message and "s3" not in message and "cret" not in message and pair not in message


def test_a_token_that_no_header_can_hold_is_in_no_error(tmp_path):
    token = secret(tmp_path, "t0k\u20acn")
    with pytest.raises(DaemonError, match=f"the secret in {token} is not used: a token has only"), server(OK) as (port, _got):
        LocalDaemons().request(Daemon(f"http://127.0.0.1:{port}", token_file=token), "GET", "/")


def test_a_secret_of_another_user_is_not_used(tmp_path, monkeypatch):
    path = secret(tmp_path)
    owned, real = os.stat_result((0o100600, 1, 1, 1, 4711, 0, 6, 0, 0, 0)), os.fstat
    monkeypatch.setattr("os.fstat", lambda descriptor: owned if real(descriptor).st_size == 7 else real(descriptor))
    with pytest.raises(DaemonError, match="is not used: it must be a file of root"):
        LocalDaemons().secret(path)


def test_what_is_no_secret_is_named(tmp_path):
    link, folder = tmp_path / "link", tmp_path / "folder"
    link.symlink_to(secret(tmp_path))
    folder.mkdir()
    for path, words in ((link, "it is a symbolic link; name the file itself"), (folder, "regular file"), (tmp_path / "none", "No such file")):
        with pytest.raises(DaemonError, match=f"the secret in {path} cannot be read: .*{words}"):
            LocalDaemons().secret(str(path))
    with pytest.raises(DaemonError, match="larger than"):
        LocalDaemons().secret(secret(tmp_path, "x" * 70000))
    for content in ("s3cret\nInjected: yes", "s3cret\x00"):
        with pytest.raises(DaemonError, match="one line of printable characters") as caught:
            LocalDaemons().secret(secret(tmp_path, content))
        assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize(
    "url", [f"http://{FOREIGN}:80", f"http://{METADATA}", f"http://[::ffff:{METADATA}]:80", "http://[::ffff:192.0.2.7]:80", "http://0.0.0.0:80"]
)
def test_another_address_is_not_asked(connected, url):
    with pytest.raises(DaemonError, match="is neither loopback, nor this VM's own address, nor named in the settings of the method with port 80; not asked"):
        LocalDaemons().request(Daemon(url), "GET", "/")
    assert connected == []


def test_an_address_of_the_settings_is_asked_with_its_port_alone(connected):
    daemons = LocalDaemons([f"http://{FOREIGN}:8008", "192.0.2.8:26379"])
    for url in (f"http://{FOREIGN}:8008", "tcp://192.0.2.8:26379"):
        with pytest.raises(DaemonError, match="Connection refused; start it, or correct the address"):
            daemons.exchange(Daemon(url), b"", bool) if url.startswith("tcp") else daemons.request(Daemon(url), "GET", "/")
    for url in (f"http://{FOREIGN}:80", "http://192.0.2.9:8008", "http://192.0.2.8:8008"):
        with pytest.raises(DaemonError, match="not asked"):
            daemons.request(Daemon(url), "GET", "/")
    assert connected == [(FOREIGN, 8008), ("192.0.2.8", 26379)]


@pytest.mark.parametrize("named", [f"http://{METADATA}", "http://metadata:80", f"http://[::ffff:{METADATA}]:80", "http://168.63.129.16:80"])
def test_azures_own_endpoints_are_never_asked_whatever_the_settings_name(connected, monkeypatch, named):
    monkeypatch.setattr(addresses.socket, "getaddrinfo", lambda *_given, **_keys: [(2, 1, 6, "", (METADATA, 0))])
    with pytest.raises(DaemonError, match="not asked"):
        LocalDaemons([named]).request(Daemon(named), "GET", "/")
    assert connected == []


def test_a_name_is_resolved_and_what_is_resolved_is_checked_and_connected_to(connected, monkeypatch):
    names = {"db1": FOREIGN, "db2": FOREIGN, "here": "127.0.0.3", "evil": "192.0.2.66", "twice": FOREIGN}
    monkeypatch.setattr(addresses.socket, "getaddrinfo", lambda name, *_given, **_keys: [(2, 1, 6, "", (names[name], 0))])
    daemons = LocalDaemons(["http://db1:8008"])
    for url in ("http://db1:8008", "http://db2:8008", f"http://{FOREIGN}:8008", "http://here:1"):
        with pytest.raises(DaemonError, match="Connection refused"):
            daemons.request(Daemon(url), "GET", "/")
    with pytest.raises(DaemonError, match="not asked"):
        daemons.request(Daemon("http://evil:8008"), "GET", "/")
    assert connected == [(FOREIGN, 8008)] * 3 + [("127.0.0.3", 1)]


def test_a_name_that_cannot_be_resolved(connected, monkeypatch):
    with pytest.raises(DaemonError, match="the name .* cannot be resolved"):
        LocalDaemons().request(Daemon(f"http://{'a' * 70}.example:1"), "GET", "/")
    monkeypatch.setattr(addresses.socket, "getaddrinfo", lambda *_given, **_keys: time.sleep(60) or [])
    began = time.monotonic()
    with pytest.raises(DaemonError, match=r"the name slow cannot be resolved \(no answer in time\)"):
        LocalDaemons().request(Daemon("http://slow:1", seconds=0.2), "GET", "/")
    assert time.monotonic() - began < 30
    # A name of the settings that cannot be resolved allows nothing.
    with pytest.raises(DaemonError, match="not asked"):
        LocalDaemons(("slow:80",)).request(Daemon(f"http://{FOREIGN}", seconds=0.2), "GET", "/")
    assert connected == []


def test_the_vms_own_address_is_found_by_the_kernel(monkeypatch):
    assert addresses.is_own(ipaddress.ip_address("127.0.0.1")) and not addresses.is_own(ipaddress.ip_address(FOREIGN))
    own = []
    monkeypatch.setattr(addresses, "is_own", lambda address: own.append(address) or True)
    assert addresses.allowed([ipaddress.ip_address("10.0.0.4")], 80, [], time.monotonic()) == own == [ipaddress.ip_address("10.0.0.4")]


@pytest.mark.parametrize(
    "url", ["", "127.0.0.1", "ftp://a:1", "http://", "http://a:b", "http://u:p@a:1", "http://a:1/path", "tcp://a", "http://a:99999", "unix:///x"]
)
def test_what_is_no_address_of_a_daemon(url):
    with pytest.raises(DaemonError, match="is no address of a daemon"):
        LocalDaemons().request(Daemon(url), "GET", "/")


def test_addresses():
    assert [host_and_port(one) for one in ("http://a", "https://b/", "tls://[::1]:5", "c:7")] == [("a", 80), ("b", 443), ("::1", 5), ("c", 7)]
    for url, ask in (("http://a", "exchange"), ("tcp://a:1", "request"), ("http://a", "path")):
        with pytest.raises(DaemonError, match="needs"):
            LocalDaemons().exchange(Daemon(url), b"", bool) if ask == "exchange" else LocalDaemons().request(Daemon(url), "GET", "x" if ask == "path" else "/")


@pytest.mark.parametrize("answer,words", [
    (b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nshort", "the answer was cut off after 5 bytes"),
    (b"HTTP/1.1 200 OK\r\nContent-Le", "the headers were cut off"),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n", "the answer is larger than 1000 bytes"),
    (b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 1001, "the answer is larger than 1000 bytes"),
    (b"no http\r\n\r\n", "the answer is no HTTP"),
    (b"", "closed connection"),
])  # fmt: skip
def test_a_bad_answer_says_what_is_wrong(answer, words):
    with server(answer) as (port, _got), pytest.raises(DaemonError, match=words):
        LocalDaemons().request(Daemon(f"http://127.0.0.1:{port}", longest=1000), "GET", "/")


def test_a_long_exchange_is_refused():
    with server(b"x" * 1001) as (port, _got), pytest.raises(DaemonError, match="larger than 1000 bytes"):
        LocalDaemons().exchange(Daemon(f"tcp://127.0.0.1:{port}", longest=1000), b"x", lambda answer: False)


def test_a_redirect_is_an_answer():
    answer = f"HTTP/1.1 307 Elsewhere\r\nLocation: http://{METADATA}/\r\nContent-Length: 0\r\n\r\n".encode()
    with server(answer) as (port, got):
        assert LocalDaemons().request(Daemon(f"http://127.0.0.1:{port}"), "GET", "/").status == 307
    assert len(got) == 1


def test_no_proxy_is_used(monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    with server(OK) as (port, _got):
        assert LocalDaemons().request(Daemon(f"http://127.0.0.1:{port}"), "GET", "/").status == 200


@pytest.mark.parametrize("kind", ["request", "exchange", "tls"])
def test_a_slow_daemon_has_its_time_for_the_whole_answer(kind):
    # Each byte comes in time, and all of them do not.
    with server([b"H"] * 1200, pause=0.05) as (port, _got):
        daemon = Daemon(f"{'http' if kind == 'request' else 'tls' if kind == 'tls' else 'tcp'}://127.0.0.1:{port}", seconds=0.3)
        began = time.monotonic()
        with pytest.raises(DaemonError):
            LocalDaemons().request(daemon, "GET", "/") if kind == "request" else LocalDaemons().exchange(daemon, b"x", lambda answer: False)
        assert time.monotonic() - began < 30


@pytest.mark.parametrize("body", [b"no", b"[" * 5000, b'{"a": NaN}'])
def test_a_body_that_is_no_json(body):
    with server(b"HTTP/1.1 200 OK\r\n\r\n" + body) as (port, _got):
        reply = LocalDaemons().request(Daemon(f"http://127.0.0.1:{port}"), "GET", "/")
    with pytest.raises(ValueError):
        reply.json()


@pytest.fixture(scope="module")
def identity(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tls")
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-days", "2", "-nodes", "-subj", "/CN=localhost"]
    names = ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", str(folder / "key"), "-out", str(folder / "certificate")]
    subprocess.run([*command, *names], check=True, capture_output=True)
    (folder / "key").chmod(0o600)
    return str(folder / "certificate"), str(folder / "key")


def test_tls_checks_the_daemon_and_shows_a_certificate(identity, tmp_path):
    certificate, key = identity
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=certificate)
    context.load_cert_chain(certificate, key)
    context.verify_mode = ssl.CERT_REQUIRED

    def wrap(plain):
        return context.wrap_socket(plain, server_side=True)

    with server(OK, OK, OK, OK, wrap=wrap) as (port, got):
        daemon = Daemon(f"https://127.0.0.1:{port}", ca_file=certificate, certificate_file=certificate, key_file=key)
        assert LocalDaemons().request(daemon, "GET", "/").status == 200
        assert LocalDaemons().exchange(daemon._replace(url=f"tls://localhost:{port}"), b"x", lambda answer: answer.endswith(b"\n")) == OK
        for wrong in (daemon._replace(ca_file=""), daemon._replace(certificate_file=""), daemon._replace(ca_file=str(tmp_path / "none"))):
            with pytest.raises(DaemonError):
                LocalDaemons().request(wrong, "GET", "/")
    assert len(got) == 2
    os.chmod(key, 0o644)
    with pytest.raises(DaemonError, match=f"the secret in {key} is not used"), server(OK) as (port, _got):
        LocalDaemons().request(daemon._replace(url=f"https://127.0.0.1:{port}"), "GET", "/")
