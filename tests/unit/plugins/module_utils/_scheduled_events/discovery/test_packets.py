# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The DHCP question and any answer to it. tests/discovery has the same over a real network."""

from __future__ import annotations

import socket
import struct

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.discovery import dhcp
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.discovery.option_245 import (
    Finding,
    build_question,
    finding_of_address,
    parse_answer,
    unwrap,
    wrap,
)

XID, MAC = b"\x01\x02\x03\x04", b"\x00\x0d\x3a\x16\xad\x36"
HOST = "168.63.129.16"
GOOD = b"\xf5\x04\xa8\x3f\x81\x10"
MAGIC = b"\x63\x82\x53\x63"
QUICK = settings(max_examples=1000, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck))


def answer(options: bytes, xid: bytes = XID, mac: bytes = MAC, kind: int = 2, magic: bytes = MAGIC, name: bytes = b"", file: bytes = b"") -> bytes:
    return struct.pack("!BBBB4s20x6s10x64s128s4s", kind, 1, 6, 0, xid, mac, name, file, magic) + options


def read(packet: bytes) -> Finding | None:
    return parse_answer(packet, XID, MAC)


def test_the_question_is_the_one_that_azure_is_asked() -> None:
    question = build_question(XID, MAC)
    assert len(question) == 244
    assert (question[:4], question[4:8], question[10:12], question[28:34]) == (b"\x01\x01\x06\x00", XID, b"\0\0", MAC)
    assert (question[236:240], question[240:]) == (MAGIC, b"\x35\x01\x01\xff")
    said = (*range(8), *range(28, 34), *range(236, 244))
    assert not any(byte for place, byte in enumerate(question) if place not in said)


def test_the_datagram_around_it() -> None:
    datagram = wrap(build_question(XID, MAC))
    assert struct.unpack("!BBHHHBBH4s4s", datagram[:20])[2:] == (272, 0, 0, 64, 17, 0x79DE, b"\0" * 4, b"\xff" * 4)
    assert struct.unpack("!HHH", datagram[20:26]) == (68, 67, 252)
    # RFC 1071: with their own sums in place, both add up to all ones.
    pseudo = datagram[12:20] + struct.pack("!BBH", 0, 17, 252)
    assert ones(datagram[:20]) == ones(pseudo + datagram[20:]) == 0xFFFF


def ones(data: bytes) -> int:
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


@pytest.mark.parametrize(
    "options",
    [
        GOOD,
        GOOD + b"\xff",
        b"\x35\x01\x02" + GOOD + b"\xff" + b"\0" * 60,
        b"\0\0\0" + GOOD,
        b"\x03\x04\x0a\0\0\1\0\0" + GOOD + b"\0\xff",
        # Microsoft's classless routes, with all four bytes in every place.
        b"\xf9\x0e\x20\xa8\x3f\x81\x10\x0a\x00\x00\x01\x00\x0a\x00\x00\x01" + GOOD + b"\xff",
        GOOD + b"\xf5\x04\x01\x01\x01\x01\xff",
        GOOD + b"\x03\xff\x01",
        b"\x2b\xff" + GOOD * 42 + b"\xf5\x04\x01" + GOOD + b"\xff" + b"\x01" * 60_000,
    ],
    ids=range(9),
)
def test_answers_with_the_option(options: bytes) -> None:
    assert read(answer(options)) == Finding(HOST)


def test_options_that_go_on_where_names_stand() -> None:
    assert read(answer(b"\x34\x01\x01\xff", file=GOOD)) == Finding(HOST)
    assert read(answer(b"\x34\x01\x02\xff", name=b"\0" + GOOD + b"\xff")) == Finding(HOST)
    assert read(answer(b"\x34\x01\x03\xff", name=GOOD, file=b"\x03\x04\x0a\0\0\x01")) == Finding(HOST)
    # Without the overload option these fields hold names.
    assert read(answer(b"\xff", name=GOOD, file=GOOD)) == Finding(None, "a server answered without option 245")
    assert read(answer(b"\x34\x00\xff", file=GOOD)) == Finding(None, "a server answered without option 245")


@pytest.mark.parametrize(
    "packet",
    [
        b"",
        b"\x02",
        answer(GOOD)[:239],
        answer(GOOD, xid=b"\x01\x02\x03\x05"),
        answer(GOOD, mac=b"\x00\x0d\x3a\x16\xad\x37"),
        answer(GOOD, kind=1),
        answer(GOOD, magic=b"\x63\x82\x53\x64"),
        b"\xff" * 65_000,
    ],
    ids=range(8),
)
def test_answers_that_are_not_for_us(packet: bytes) -> None:
    assert read(packet) is None


@pytest.mark.parametrize(
    "options, problem",
    [
        (b"", "without option 245"),
        (b"\xff" + GOOD, "without option 245"),
        (b"\xf5", "without option 245"),
        (b"\xf5\x04\xa8\x3f\x81", "without option 245"),
        (b"\x03\xff" + GOOD, "without option 245"),
        (b"\xf5\x00\xff", "has 0 bytes instead of 4"),
        (b"\xf5\x05\xa8\x3f\x81\x10\x00\xff", "has 5 bytes instead of 4"),
        (b"\xf5\x04\xe0\x00\x00\x01\xff", "cannot be the address"),
        (b"\xf5\x04\x7f\x00\x00\x01\xff", "cannot be the address"),
    ],
)
def test_answers_without_a_usable_one(options: bytes, problem: str) -> None:
    found = read(answer(options))
    assert found is not None and found.address is None and problem in found.problem


def datagram(payload: bytes = b"x" * 30, source: int = 67, target: int = 68, protocol: int = 17, fragment: int = 0, first: int = 0x45, extra: int = 0) -> bytes:
    options = b"\x01" * ((first & 15) * 4 - 20)
    udp = struct.pack("!HHHH", source, target, 8 + len(payload) + extra, 0) + payload
    total = 20 + len(options) + len(udp)
    return struct.pack("!BBHHHBBH4s4s", first, 0, total, 0, fragment, 64, protocol, 0, b"\x0a" * 4, b"\xff" * 4) + options + udp


def test_datagrams_for_a_dhcp_client() -> None:
    assert unwrap(datagram()) == unwrap(datagram(first=0x4F)) == unwrap(datagram(fragment=0x4000)) == b"x" * 30
    # A network card may add bytes behind a short one.
    assert unwrap(datagram(b"") + b"\0" * 18) == b""


@pytest.mark.parametrize(
    "other",
    [{"source": 68}, {"target": 67}, {"protocol": 6}, {"fragment": 0x2000}, {"fragment": 1}, {"first": 0x65}, {"extra": 1}, {"extra": -31}],
    ids=str,
)
def test_other_datagrams(other: dict[str, int]) -> None:
    assert unwrap(datagram(**other)) is None


def test_datagrams_cut_anywhere() -> None:
    whole = datagram()
    assert all(unwrap(whole[:length]) is None for length in range(len(whole)))


OPTIONS = st.lists(
    st.one_of(
        st.tuples(st.integers(0, 255), st.integers(0, 255), st.binary(max_size=40)).map(lambda part: bytes(part[:2]) + part[2]),
        st.tuples(st.integers(0, 255), st.binary(max_size=255)).map(lambda part: bytes((part[0], len(part[1]))) + part[1]),
        st.just(b"\0"),
        st.just(GOOD),
        st.binary(max_size=20),
    ),
    max_size=30,
).map(b"".join)


@QUICK
@example(b"\xf5")
@example(b"\xf5\x04\x00\x00\x00\x00")
@given(OPTIONS)
def test_any_options_are_survived(options: bytes) -> None:
    found = read(answer(options))
    assert found is not None and (found.address is None) == bool(found.problem)
    assert found.address is None or finding_of_address(found.address) == found


@QUICK
@given(st.one_of(st.binary(max_size=2000), OPTIONS.map(answer)), st.binary(min_size=4, max_size=4), st.binary(min_size=6, max_size=6))
def test_any_packet_is_survived_and_only_our_own_is_heard(packet: bytes, xid: bytes, mac: bytes) -> None:
    found = parse_answer(packet, xid, mac)
    assert found is None or (packet[4:8], packet[28:34], packet[236:240]) == (xid, mac, MAGIC)
    inner = unwrap(packet)
    assert inner is None or inner in packet


OTHERS = st.tuples(st.integers(1, 254).filter(lambda code: code not in (52, 245)), st.binary(max_size=60))


@QUICK
@given(st.lists(OTHERS, max_size=20), st.integers(0, 20), st.integers(0, 4))
def test_the_option_is_found_wherever_it_stands(others: list[tuple[int, bytes]], place: int, pads: int) -> None:
    parts = [bytes((code, len(data))) + data + b"\0" * pads for code, data in others]
    parts.insert(min(place, len(parts)), GOOD)
    assert read(answer(b"".join(parts) + b"\xff")) == Finding(HOST)


# The machine's interfaces, from files as the kernel shows them.

ROUTES = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"


def route(name: str, metric: int, target: str = "00000000", mask: str = "00000000") -> str:
    return f"{name}\t{target}\t0103100A\t0003\t0\t0\t{metric}\t{mask}\t0\t0\t0\n"


def test_interfaces_with_a_default_route_are_asked(tmp_path) -> None:
    (tmp_path / "proc/net").mkdir(parents=True)
    (tmp_path / "proc/net/route").write_text(
        ROUTES + route("eth1", 200) + route("docker0", 0, "000011AC", "0000FFFF") + route("eth0", 100) + route("eth0", 300) + "broken\n"
    )
    assert dhcp.interfaces(str(tmp_path)) == ["eth0", "eth1"]


def test_without_a_default_route_hardware_is_asked(tmp_path) -> None:
    for name in ("eth1/device", "docker0", "eth0/device", "lo"):
        (tmp_path / "sys/class/net" / name).mkdir(parents=True)
    assert dhcp.interfaces(str(tmp_path)) == ["eth0", "eth1"]
    assert dhcp.interfaces(str(tmp_path / "nothing")) == []


def test_systems_without_packet_sockets(monkeypatch) -> None:
    monkeypatch.delattr(socket, "AF_PACKET", raising=False)
    assert dhcp.ask(1) == [("DHCP", Finding(None, "asked on Linux only"))]


def test_without_an_interface(monkeypatch) -> None:
    monkeypatch.setattr(dhcp, "interfaces", list)
    assert dhcp.ask(1) == [("DHCP", Finding(None, "no network interface to ask on"))]


def test_without_the_right_to(monkeypatch) -> None:
    def refuse(*_arguments: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(dhcp, "interfaces", lambda: ["eth0"])
    monkeypatch.setattr(dhcp.socket, "socket", refuse)
    assert dhcp.ask(1) == [("DHCP on eth0", Finding(None, "not asked, because that needs root (become: true)"))]
