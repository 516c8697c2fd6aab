# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The DHCP request, answered by Debian's server, by nobody, and by servers that should not be listened to."""

from __future__ import annotations

import json
import os
import re
import socket
import struct
import threading
import typing as t

import pytest

from .conftest import DEBIAN, HOST, ROOT, WITHOUT_RIGHTS, Machine, Platform, run

OPTION = f"option azure-host {HOST};"
EVERYBODY = b"\xff" * 6


def found(result: dict[str, t.Any]) -> tuple[t.Any, ...]:
    assert not result["failed"], result["msg"]
    return result["endpoint"], result["endpoint_source"], result["vm_name"]


def test_the_endpoint_is_found_by_dhcp(platform: Platform, vm: Machine) -> None:
    simulator, log = platform.serve(), platform.answer_dhcp(OPTION)
    event = simulator.event("Reboot", ["vm_0"])
    result = vm.ask()
    assert found(result) == (f"http://{HOST}", "DHCP on eth0", "vm_0")
    assert [entry["event_id"] for entry in result["events"]] == [event]
    # One question, and no address was asked for.
    assert len(re.findall("DHCPDISCOVER", log.read_text())) == 1
    assert "DHCPREQUEST" not in log.read_text()


@pytest.mark.parametrize("module, options", [("maintenance_info", {}), ("wait_for_scheduled_event", {"state": "changed", "since_incarnation": -1})])
def test_other_modules_find_it_as_well(platform: Platform, vm: Machine, module: str, options: dict[str, t.Any]) -> None:
    platform.serve(), platform.answer_dhcp(OPTION)
    assert found(vm.ask(module, **options))[:2] == (f"http://{HOST}", "DHCP on eth0")


@pytest.mark.parametrize("version", ["3.8", "3.13"])
def test_the_oldest_and_the_newest_python_of_a_vm(platform: Platform, vm: Machine, version: str) -> None:
    platform.serve(), platform.answer_dhcp(OPTION)
    interpreter = run(str(ROOT / "tests/tools/python.sh"), version).strip()
    environment = {**os.environ, "PYTHONPATH": os.environ["ANSIBLE_COLLECTIONS_PATH"]}
    said = json.loads(vm.run(interpreter, "-W", "error", "-c", CLIENT, env=environment))
    assert said == {"endpoint": f"http://{HOST}", "endpoint_source": "DHCP on eth0"}


CLIENT = """
import json
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.discovery.endpoint import open_client
options = {"endpoint": "discover", "api_version": "auto", "retries": 3, "connect_timeout": 5.0, "request_timeout": 125.0}
client = open_client(options)
client.get_document()
print(json.dumps(client.where()))
client.close()
"""


def test_check_mode_asks_as_well_and_approves_nothing(platform: Platform, vm: Machine) -> None:
    simulator, _log = platform.serve(), platform.answer_dhcp(OPTION)
    event = simulator.event("Reboot", ["vm_0"])
    result = vm.ask("scheduled_events_approve", check=True, event_ids=[event])
    assert (result["approved"], result["endpoint"]) == ([event], f"http://{HOST}")
    assert simulator.approvals() == []


def test_a_firewall_that_drops_everything_of_dhcp_is_left_as_it_is(platform: Platform, vm: Machine) -> None:
    platform.serve(), platform.answer_dhcp(OPTION)
    libraries = ":".join(str(path) for path in sorted((DEBIAN / "usr/lib").glob("*-linux-gnu*")))
    nft = ["env", f"LD_LIBRARY_PATH={libraries}", str(DEBIAN / "usr/sbin/nft")]
    rules = "table ip closed { chain input { type filter hook input priority 0; udp dport 68 counter drop; }; "
    vm.run(*nft, rules + "chain output { type filter hook output priority 0; udp dport 67 counter drop; }; }")
    before = vm.run(*nft, "--stateless", "list", "ruleset")
    # It does drop what goes the usual way.
    assert vm.run("python3", "-c", USUAL_WAY).strip() == "Operation not permitted"
    assert found(vm.ask())[1] == "DHCP on eth0"
    assert vm.run(*nft, "--stateless", "list", "ruleset") == before and "drop" in before


USUAL_WAY = """
import socket
port = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
port.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
try:
    port.sendto(b"", ("255.255.255.255", 67))
except OSError as error:
    print(error.strerror)
"""


def test_a_client_that_runs_on_the_machine_is_not_disturbed(platform: Platform, vm: Machine) -> None:
    platform.serve(), platform.answer_dhcp(OPTION)
    vm.run("python3", "-c", BUSY_PORT)
    assert found(vm.ask())[1] == "DHCP on eth0"


# Holds UDP port 68 as a DHCP client does, in the background, until the namespace's tests end it with the machine.
BUSY_PORT = """
import os, socket, time
port = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
port.bind(("0.0.0.0", 68))
if os.fork() == 0:
    os.setsid()
    for number in (0, 1, 2):
        os.close(number)
    time.sleep(60)
"""


def test_a_server_without_the_option(platform: Platform, vm: Machine) -> None:
    platform.serve(), platform.answer_dhcp("")
    # Nobody serves the usual address.
    result = vm.ask(connect_timeout=1)
    assert (result["failed"], result["error_kind"]) == (True, "not_discovered")
    assert "DHCP on eth0: a server answered without option 245" in result["msg"]


def test_no_server(platform: Platform, vm: Machine) -> None:
    result = vm.ask(connect_timeout=1)
    assert (result["failed"], result["error_kind"]) == (True, "not_discovered")
    for words in (
        "environment variable SCHEDULEDEVENTSIP: not set",
        "/etc/profile: no line that sets SCHEDULEDEVENTSIP",
        "lease files: none in /run, ",
        "DHCP on eth0: no answer within 10 s",
        "Azure's usual address: 169.254.169.254, but ",
        "What to do: ",
    ):
        assert words in result["msg"], result["msg"]


def test_without_root_that_is_said(platform: Platform, vm: Machine) -> None:
    platform.serve(), platform.answer_dhcp(OPTION)
    result = vm.ask(prefix=WITHOUT_RIGHTS, connect_timeout=1)
    assert result["failed"] and "DHCP on eth0: not asked, because that needs root (become: true)" in result["msg"]


def test_an_address_where_nobody_is_falls_back_to_the_next_place(platform: Platform, vm: Machine) -> None:
    platform.serve("169.254.169.254"), platform.answer_dhcp("option azure-host 172.16.3.77;")
    assert found(vm.ask(connect_timeout=1))[:2] == ("http://169.254.169.254", "Azure's usual address")


def test_the_second_port(platform: Platform, vm: Machine) -> None:
    platform.serve(port=8080), platform.answer_dhcp(OPTION)
    assert found(vm.ask())[:2] == (f"http://{HOST}:8080", "DHCP on eth0")


def test_answers_that_are_not_for_us_or_broken_are_passed_over(platform: Platform, vm: Machine) -> None:
    platform.serve()
    with Hostile() as server:
        assert found(vm.ask())[1] == "DHCP on eth0"
    assert server.error is None and server.sent >= 14


class Hostile(threading.Thread):
    """Answers a question with much that is none, and with the right answer in its most uncommon form at last."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0800))
        self.socket.bind(("host0", 0x0800))
        self.socket.settimeout(60)
        self.sent, self.error = 0, None

    def run(self) -> None:
        try:
            while True:
                question = self.socket.recv(65535)
                if question[9] == 17 and struct.unpack("!HH", question[20:24]) == (68, 67):
                    break
            self.answer(question[28:])
        except Exception as error:  # noqa: BLE001
            self.error = error

    def answer(self, question: bytes) -> None:
        mac, transaction = question[28:34], question[4:8]
        good = b"\xf5\x04" + socket.inet_aton(HOST)
        other = b"\xf5\x04" + socket.inet_aton("172.16.3.66")
        for packet in (
            b"",
            b"\x02",
            reply(transaction, mac, other)[:239],
            reply(transaction, mac, b"", magic=b"abcd") + other,
            reply(b"\0\0\0\0", mac, other),
            reply(transaction, b"\x02\0\0\0\0\x01", other),
            reply(transaction, mac, other, kind=1),
            reply(transaction, mac, b"\xf5\x05" + b"\x01" * 5 + b"\xff"),
            reply(transaction, mac, b"\xf5\x04\xa8"),
            reply(transaction, mac, b"\xf5"),
            reply(transaction, mac, b"\xf5\x00\xff"),
            reply(transaction, mac, b"\xf5\x04\xe0\x00\x00\x01\xff"),
            bytes(range(256)) * 5,
        ):
            self.send(packet, mac)
        # A real one, with pads before, between and behind, in a packet as large as the wire takes.
        self.send(reply(transaction, mac, b"\0" * 500 + b"\x35\x01\x02" + b"\0" * 3 + good + b"\xff" + b"\xf5\x04\x01\x01\x01\x01" * 100), mac)

    def send(self, packet: bytes, mac: bytes) -> None:
        udp = struct.pack("!HHHH", 67, 68, 8 + len(packet), 0) + packet
        head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0) + socket.inet_aton("172.16.3.1") + EVERYBODY[:4]
        # The module looks at no checksum, as veth leaves them out.
        self.socket.sendto(head + udp, ("host0", 0x0800, 0, 1, mac))
        self.sent += 1

    def __enter__(self) -> Hostile:
        self.start()
        return self

    def __exit__(self, *_exception: object) -> None:
        self.join(60)
        self.socket.close()


def reply(transaction: bytes, mac: bytes, options: bytes, kind: int = 2, magic: bytes = b"\x63\x82\x53\x63") -> bytes:
    return struct.pack("!BBBB4s20x6s202x4s", kind, 1, 6, 0, transaction, mac, magic) + options
