# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is found without asking anybody: each form of lease where it really lies, and Debian's DHCP client writing its own."""

from __future__ import annotations

import os
import pathlib
import time
import typing as t

import pytest

from .conftest import DEBIAN, HOST, Machine, Platform

DHCLIENT = 'lease {{\n  interface "eth0";\n  fixed-address 172.16.3.4;\n  option unknown-245 {value};\n  expire {expire};\n}}\n'
LEASES = {
    "/var/lib/dhcp/dhclient.eth0.leases": DHCLIENT.format(value="a8:3f:81:10", expire="never"),
    "/var/lib/dhclient/dhclient-eth0.leases": DHCLIENT.format(value="a8:3f:81:10", expire="4 2099/01/01 00:00:00"),
    "/var/lib/NetworkManager/dhclient-5fb06bd0-eth0.lease": DHCLIENT.format(value="a8:3f:81:10", expire="epoch 4070908800; # in 2099"),
    "/run/systemd/netif/leases/2": "# This is private data. Do not parse.\nADDRESS=172.16.3.4\nROUTER=172.16.3.1\nOPTION_245=a83f8110\n",
    "/run/cloud-init/dhclient.hooks/eth0.json": '{"interface": "eth0", "ip_address": "172.16.3.4", "unknown_245": "a8:3f:81:10"}',
}


@pytest.mark.parametrize("path", LEASES)
def test_each_lease_is_found_where_it_lies(platform: Platform, vm: Machine, path: str) -> None:
    platform.serve(), pathlib.Path(path).write_text(LEASES[path])
    result = vm.ask()
    assert not result["failed"], result["msg"]
    assert (result["endpoint"], result["endpoint_source"]) == (f"http://{HOST}", path)


def test_the_lease_that_debians_client_writes(platform: Platform, vm: Machine, tmp_path: pathlib.Path) -> None:
    # Azure's server sends the option unasked; this one has to be told to.
    forced = "option dhcp-parameter-request-list = concat(option dhcp-parameter-request-list, f5);"
    simulator, log = platform.serve(), platform.answer_dhcp(f"option azure-host {HOST}; {forced}")
    lease = "/var/lib/dhcp/dhclient.eth0.leases"
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\nexit 0\n")
    script.chmod(0o755)
    config = tmp_path / "dhclient.conf"
    config.write_text("send dhcp-lease-time 3600;\n")
    client = [str(DEBIAN / "sbin/dhclient"), "-4", "-1", "-v", "-cf", str(config), "-lf", lease, "-pf", str(tmp_path / "pid"), "-sf", str(script)]
    vm.run(*client, "eth0")
    try:
        assert "unknown-245 a8:3f:81:10" in pathlib.Path(lease).read_text()
        questions = log.read_text().count("DHCPDISCOVER")
        result = vm.ask()
        assert (result["endpoint"], result["endpoint_source"]) == (f"http://{HOST}", lease)
        # Found without asking again.
        assert log.read_text().count("DHCPDISCOVER") == questions and simulator.requests()
    finally:
        os.kill(int((tmp_path / "pid").read_text()), 9)


def test_the_variable_and_the_profile_of_the_published_sample(platform: Platform, vm: Machine) -> None:
    platform.serve()
    assert vm.ask(variable=HOST)["endpoint_source"] == "environment variable SCHEDULEDEVENTSIP"
    pathlib.Path("/etc/profile").write_text(f"umask 022\nexport SCHEDULEDEVENTSIP={HOST}\n")
    # One that is wrong does not stand in the way of the next.
    assert vm.ask(variable="http://elsewhere")["endpoint_source"] == "/etc/profile"


def test_what_lies_in_the_way_is_survived(platform: Platform, vm: Machine) -> None:
    folder = pathlib.Path("/var/lib/dhcp")
    os.mkfifo(folder / "dhclient.pipe.leases")
    (folder / "dhclient.zero.leases").symlink_to("/dev/zero")
    (folder / "dhclient.loop.leases").symlink_to(folder / "dhclient.loop.leases")
    (folder / "dhclient.folder.leases").mkdir()
    (folder / "dhclient.binary.leases").write_bytes(os.urandom(100_000))
    (folder / "dhclient.line.leases").write_text("lease { option unknown-245 " + "a8:" * 1_000_000)
    (folder / "dhclient.old.leases").write_text(DHCLIENT.format(value="1:1:1:1", expire="1 2001/01/01 00:00:00") * 20_000)
    good = folder / "dhclient.eth0.leases"
    good.write_text(DHCLIENT.format(value="1:1:1:1", expire="1 2001/01/01 00:00:00") * 20_000 + DHCLIENT.format(value="a8:3f:81:10", expire="never"))
    # The others are newer, so each is looked at first.
    os.utime(good, (1, 1))
    platform.serve()
    began = time.monotonic()
    result = vm.ask()
    assert (result["endpoint"], result["endpoint_source"]) == (f"http://{HOST}", str(good)), result["msg"]
    assert time.monotonic() - began < 60


def test_an_expired_lease_is_not_believed_and_said(platform: Platform, vm: Machine) -> None:
    path = pathlib.Path("/var/lib/dhcp/dhclient.eth0.leases")
    path.write_text(DHCLIENT.format(value="a8:3f:81:10", expire="1 2001/01/01 00:00:00"))
    platform.serve()
    # Asked first would be 168.63.129.16, which does answer.
    result: dict[str, t.Any] = vm.ask(connect_timeout=1)
    assert result["failed"] and f"{path}: {HOST} in a lease that expired at 2001-01-01T00:00:00Z" in result["msg"]
