# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""DHCP option 245, with the endpoint's address: in packets, in lease files, and in the form of the published samples.

Pure functions from bytes or text to findings. No input raises.
"""

from __future__ import annotations

import datetime
import json
import re
import struct
import typing as t

OPTION = 245
VARIABLE = "SCHEDULEDEVENTSIP"
MAGIC = b"\x63\x82\x53\x63"
OPTIONS_AT = 240
CLIENT_PORT, SERVER_PORT = 68, 67
# The most findings of one file; a real one has one or two.
MOST_FINDINGS = 8

# The option's names: dhclient, cloud-init's hook and NetworkManager's dispatcher, systemd-networkd, FreeBSD.
NAME = re.compile(r"(?:new_|dhcp4_)?(?:unknown|option|private)[-_]245", re.IGNORECASE)
LEASE = re.compile(r"^[ \t]*lease[ \t]*\{", re.MULTILINE)
# Tokens of dhclient's language: a quoted text, a comment, a punctuation mark, or anything else up to the next of these. dhclient
# writes no quoted text over several lines, so an unterminated one spoils its own line only, and is read once.
TOKENS = re.compile(r'"(?:[^"\\\n]|\\.)*"?|#[^\n]*|[{};]|[^\s{};"#]+')
ESCAPES = re.compile(r"\\([0-7]{3}|.)", re.DOTALL)


class Finding(t.NamedTuple):
    """An address, or None and why the value is not an address."""

    address: str | None
    problem: str = ""


def finding_of_address(text: str) -> Finding:
    """Parse a dotted IPv4 address that a service can have. Names and ports are refused, so nothing is ever resolved."""
    parts = text.split(".")
    if len(parts) != 4 or not all(re.match(r"(?:0|[1-9][0-9]{0,2})\Z", part) and int(part) < 256 for part in parts):
        return Finding(None, f"{_shown(text)} is not an IPv4 address")
    first = int(parts[0])
    if first in (0, 127) or first >= 224:
        return Finding(None, f"{text} cannot be the address of Azure's host")
    return Finding(text)


def finding_of_bytes(data: bytes) -> Finding:
    """Parse the option's four bytes."""
    if len(data) != 4:
        return Finding(None, f"option {OPTION} has {len(data)} bytes instead of 4")
    return finding_of_address(".".join(str(number) for number in data))


def finding_of_value(text: str) -> Finding:
    """Parse a value as lease files write it: a8:3f:81:10, a83f8110, "text" where all four bytes are letters, or 168.63.129.16."""
    text = text.strip()
    if len(text) >= 2 and text[0] == text[-1] == '"':
        plain = ESCAPES.sub(_unescape, text[1:-1])
        return finding_of_bytes(plain.encode("latin-1", "replace"))
    if re.match(r"(?:[0-9a-fA-F]{1,2}:)*[0-9a-fA-F]{1,2}\Z", text) and ":" in text:
        return finding_of_bytes(bytes(int(part, 16) for part in text.split(":")[:300]))
    if re.match(r"(?:[0-9a-fA-F]{2})+\Z", text):
        return finding_of_bytes(bytes.fromhex(text[:600]))
    return finding_of_address(text)


def parse_profile(text: str) -> list[Finding]:
    """Parse the line "export SCHEDULEDEVENTSIP=..." of /etc/profile. The last one counts, as in a shell."""
    lines = re.findall(rf"^[ \t]*(?:export[ \t]+)?{VARIABLE}=([^\s;#]*)", text, re.MULTILINE)
    return [finding_of_address(lines[-1].strip("\"'"))] if lines else []


def parse_lease_file(text: str, now: datetime.datetime) -> list[Finding]:
    """Parse a lease file of any known form: newest lease first, usable findings before the others."""
    if LEASE.search(text):
        found = _parse_dhclient(text, now)
    elif text.lstrip()[:1] == "{":
        found = _parse_json(text)
    else:
        found = _parse_pairs(text)
    found = list(dict.fromkeys(found))
    return sorted(found, key=lambda finding: finding.address is None)[:MOST_FINDINGS]


def _parse_dhclient(text: str, now: datetime.datetime) -> list[Finding]:
    """Parse leases of dhclient, NetworkManager and cloud-init; they append, so the last lease is the newest."""
    leases = LEASE.split(text)[1:]
    return [finding for lease in reversed(leases) for finding in _read_lease(_statements(lease), now)]


def _statements(text: str) -> list[list[str]]:
    """Return the statements of a lease, up to its closing brace; none of an unfinished one."""
    found: list[list[str]] = []
    statement: list[str] = []
    depth = 1
    for match in TOKENS.finditer(text):
        token = match.group()
        if token[0] not in "{};":
            # The option's statement is short.
            statement.extend([token] if token[0] != "#" and len(statement) < 8 else [])
            continue
        if token == ";" and depth == 1:
            found.append(statement)
        depth += {"{": 1, "}": -1}.get(token, 0)
        statement = []
        if depth == 0:
            return found
    return []


def _read_lease(statements: list[list[str]], now: datetime.datetime) -> list[Finding]:
    expiry = next((statement[1:] for statement in statements if statement[:1] == ["expire"]), [])
    values = [statement[2] for statement in statements if len(statement) == 3 and statement[0] == "option" and NAME.fullmatch(statement[1])]
    if not values:
        return []
    problem = _expired(expiry, now)
    found = finding_of_value(values[0])
    return [Finding(None, f"{found.address} in a lease that {problem}") if problem and found.address else found]


def _expired(statement: list[str], now: datetime.datetime) -> str:
    """Return why the lease is not valid, or empty text. dhclient writes "never", "4 2026/11/26 17:05:00" (UTC) or "epoch 1795712700"."""
    if statement == ["never"]:
        return ""
    try:
        if statement[:1] == ["epoch"]:
            until = datetime.datetime.fromtimestamp(int(statement[1][:20]), datetime.timezone.utc)
        else:
            until = datetime.datetime.strptime(" ".join(statement[1:3]), "%Y/%m/%d %H:%M:%S").replace(tzinfo=datetime.timezone.utc)
    except (ValueError, IndexError, OverflowError, OSError):
        return "does not say until when it holds"
    return "" if until > now else f"expired at {until:%Y-%m-%dT%H:%M:%SZ}"


def _parse_json(text: str) -> list[Finding]:
    """Parse what cloud-init's hook for dhclient and NetworkManager leaves."""
    try:
        # No number is needed, and a very long one takes long to parse.
        data = json.loads(text, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return [Finding(None, "it is not JSON")]
    return [finding_of_value(value) for key, value in data.items() if NAME.fullmatch(key) and isinstance(value, str)]


def _parse_pairs(text: str) -> list[Finding]:
    """Parse KEY=VALUE: systemd-networkd, and NetworkManager where it records the option."""
    pairs = (line.partition("=") for line in text.splitlines())
    return [finding_of_value(value) for key, _mark, value in pairs if NAME.fullmatch(key.strip())]


def build_question(transaction: bytes, mac: bytes) -> bytes:
    """Build the DHCPDISCOVER that Azure's own agents and samples send: without a parameter request list."""
    head = struct.pack("!BBBB4sHH16x6s202x", 1, 1, 6, 0, transaction, 0, 0, mac)
    return head + MAGIC + b"\x35\x01\x01\xff"


def parse_answer(packet: bytes, transaction: bytes, mac: bytes) -> Finding | None:
    """Return the finding of a DHCP answer, or None if it does not answer our question."""
    if len(packet) < OPTIONS_AT or packet[0] != 2 or packet[236:240] != MAGIC:
        return None
    if packet[4:8] != transaction or packet[28:34] != mac:
        return None
    options = _parse_options(packet[OPTIONS_AT:])
    # If there is little room, options continue in two fields with other purposes (option 52, overload).
    overload = (options.get(52) or b"\0")[0]
    for bit, field in ((1, packet[108:236]), (2, packet[44:108])):
        if overload & bit:
            options = {**_parse_options(field), **options}
    if OPTION not in options:
        return Finding(None, f"a server answered without option {OPTION}")
    return finding_of_bytes(options[OPTION])


def _parse_options(data: bytes) -> dict[int, bytes]:
    """Return the first value of each code, up to a truncated option."""
    found: dict[int, bytes] = {}
    position = 0
    while position < len(data) and data[position] != 255:
        if data[position] == 0:
            position += 1
            continue
        begin = position + 2
        length = data[position + 1] if begin <= len(data) else len(data)
        if begin + length > len(data):
            break
        found.setdefault(data[position], data[begin : begin + length])
        position = begin + length
    return found


def wrap(packet: bytes) -> bytes:
    """Wrap the packet in an IPv4 broadcast datagram from 0.0.0.0."""
    length = 8 + len(packet)
    addresses = b"\0\0\0\0\xff\xff\xff\xff"
    udp = struct.pack("!HHHH", CLIENT_PORT, SERVER_PORT, length, 0)
    udp_sum = _checksum(addresses + struct.pack("!BBH", 0, 17, length) + udp + packet) or 0xFFFF
    head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + length, 0, 0, 64, 17, 0)
    head_sum = _checksum(head + addresses)
    return head[:10] + struct.pack("!H", head_sum) + addresses + udp[:6] + struct.pack("!H", udp_sum) + packet


def unwrap(datagram: bytes) -> bytes | None:
    """Return what a DHCP server sent to a client in an IPv4 datagram, or None for any other datagram.

    Checksums are ignored: a virtual network interface may leave them to hardware that does not exist.
    """
    if len(datagram) < 20 or datagram[0] >> 4 != 4 or datagram[9] != 17:
        return None
    begin = (datagram[0] & 15) * 4
    total, fragment = struct.unpack("!H2xH", datagram[2:8])
    if begin < 20 or total > len(datagram) or total < begin + 8 or fragment & 0x3FFF:
        return None
    source, target, length = struct.unpack("!HHH", datagram[begin : begin + 6])
    if (source, target) != (SERVER_PORT, CLIENT_PORT) or length < 8 or begin + length > total:
        return None
    return datagram[begin + 8 : begin + length]


def _checksum(data: bytes) -> int:
    """Return the Internet checksum (RFC 1071)."""
    data += b"\0" * (len(data) % 2)
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def _unescape(match: re.Match[str]) -> str:
    code = match.group(1)
    return chr(int(code, 8) & 255) if len(code) == 3 else code


def _shown(text: str) -> str:
    """Return the text quoted, shortened and safe to print."""
    plain = "".join(letter if letter.isprintable() else " " for letter in text[:40])
    return f"'{plain}'" + (" ..." if len(text) > 40 else "")
