# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""One DHCP request for option 245, on Linux, as root. It is only a question: no address is requested, accepted or changed.

Request and answer go through packet sockets. They see a packet before any firewall rule does, and bind no UDP port. So no rule has to be changed, and a DHCP
client on this machine is not disturbed: it ignores the answer, which carries another transaction.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import socket
import struct
import time
import typing as t

from .option_245 import Finding, build_question, parse_answer, unwrap, wrap

IPV4 = 0x0800
ETHERNET = 1
BROADCAST = b"\xff" * 6
MOST_INTERFACES = 8
# After an answer without the option, time for another server to answer.
GRACE_SECONDS = 2.0
ATTACH_FILTER = 26
# For the kernel: UDP to port 68, not fragmented. Without it, this program would receive every packet of a busy network.
FILTER = (
    (0x30, 0, 0, 9),  # load the byte at 9, the protocol
    (0x15, 0, 6, 17),  # not UDP: drop
    (0x28, 0, 0, 6),  # load the half word at 6, flags and fragment
    (0x45, 4, 0, 0x3FFF),  # a fragment: drop
    (0xB1, 0, 0, 0),  # the header's length into X
    (0x48, 0, 0, 2),  # load the half word at X + 2, the port
    (0x15, 0, 1, 68),  # another one: drop
    (0x06, 0, 0, 0xFFFF),  # accept
    (0x06, 0, 0, 0),  # drop
)


def ask(seconds: float) -> list[tuple[str, Finding]]:
    """Send the request on every interface at once, until the first answer with the option. Return each place as text, with its finding."""
    if not hasattr(socket, "AF_PACKET"):
        return [("DHCP", Finding(None, "asked on Linux only"))]
    names = interfaces()
    if not names:
        return [("DHCP", Finding(None, "no network interface to ask on"))]
    findings: dict[str, Finding] = {}
    with contextlib.ExitStack() as stack:
        questions = []
        for name in names:
            try:
                questions.append(stack.enter_context(Question(name)))
            except PermissionError:
                findings[name] = Finding(None, "not asked, because that needs root (become: true)")
            except (OSError, ValueError) as error:
                findings[name] = Finding(None, f"cannot be asked ({getattr(error, 'strerror', None) or error})")
        findings.update(_wait(questions, seconds))
    return [(f"DHCP on {name}", findings.get(name, Finding(None, f"no answer within {seconds:g} s"))) for name in _sorted_by_use(names, findings)]


def _wait(questions: list[Question], seconds: float) -> dict[str, Finding]:
    findings: dict[str, Finding] = {}
    until = time.monotonic() + seconds
    while questions:
        left = until - time.monotonic()
        ready = select.select(questions, [], [], left)[0] if left > 0 else []
        if not ready:
            break
        for question in ready:
            finding = question.read()
            if finding is None:
                continue
            findings[question.name] = finding
            if finding.address:
                return findings
            until = min(until, time.monotonic() + GRACE_SECONDS)
    return findings


class Question:
    """A DHCPDISCOVER on one interface, and its answers."""

    def __init__(self, name: str) -> None:
        self.name = name
        # With protocol 0 nothing is received before the filter is attached.
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
        try:
            self._send()
        except BaseException:
            self._socket.close()
            raise

    def _send(self) -> None:
        with contextlib.suppress(OSError):
            _attach(self._socket)
        self._socket.setblocking(False)
        self._socket.bind((self.name, IPV4))
        _name, _protocol, _kind, hardware, self._mac = self._socket.getsockname()
        if hardware != ETHERNET or len(self._mac) != 6:
            raise ValueError("not Ethernet")
        self._transaction = os.urandom(4)
        question = wrap(build_question(self._transaction, self._mac))
        self._socket.sendto(question, (self.name, IPV4, 0, ETHERNET, BROADCAST))

    def read(self) -> Finding | None:
        """Return the answer, or None for any other packet."""
        try:
            packet = unwrap(self._socket.recv(65535))
        except BlockingIOError:
            return None
        except OSError as error:
            return Finding(None, f"broke off ({error.strerror})")
        return parse_answer(packet, self._transaction, self._mac) if packet else None

    def fileno(self) -> int:
        return self._socket.fileno()

    def __enter__(self) -> Question:
        return self

    def __exit__(self, *_exception: object) -> None:
        self._socket.close()


def interfaces(root: str = "/") -> list[str]:
    """Return the interfaces of default routes, best first; without any, every hardware interface. Skip bridges of containers."""
    routes = []
    with contextlib.suppress(OSError), open(os.path.join(root, "proc/net/route"), encoding="ascii", errors="replace") as file:
        for line in list(file)[1:]:
            fields = line.split()
            if len(fields) >= 8 and fields[1] == fields[7] == "00000000" and fields[6].isdigit():
                routes.append((int(fields[6]), fields[0]))
    names = [name for _metric, name in sorted(routes)] or _hardware(os.path.join(root, "sys/class/net"))
    return list(dict.fromkeys(names))[:MOST_INTERFACES]


def _hardware(folder: str) -> list[str]:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    return [name for name in names if os.path.exists(os.path.join(folder, name, "device"))]


def _attach(plain: socket.socket) -> None:
    code = b"".join(struct.pack("=HBBI", *line) for line in FILTER)
    kept = ctypes.create_string_buffer(code, len(code))
    plain.setsockopt(socket.SOL_SOCKET, ATTACH_FILTER, struct.pack("HP", len(FILTER), ctypes.addressof(kept)))


def _sorted_by_use(names: list[str], findings: t.Mapping[str, Finding]) -> list[str]:
    return sorted(names, key=lambda name: not (name in findings and findings[name].address))
