# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The lab itself: what the storms rest on."""

from __future__ import annotations

import time

from .lab.commands import run
from .lab.lab import Lab
from .lab.network import BRIDGE, METADATA


def test_each_guest_gets_its_own_document(lab: Lab) -> None:
    words = "import sys, urllib.request as r; print(r.urlopen(r.Request(sys.argv[1], headers={'Metadata': 'true'}), timeout=5).read().decode())"
    url = f"http://{METADATA}/metadata/instance/compute/name?api-version=2021-02-01\\&format=text"
    for vm in lab.guests:
        assert lab.controller.ask(vm, f'python3 -c "{words}" {url}') == vm


def test_the_bridge_keeps_its_address(lab: Lab) -> None:
    """Guests that know another one would reach nobody for a minute."""
    shown = ("ip", "-brief", "link", "show", BRIDGE)
    before = run(*shown)
    run("ip", "link", "add", "lowest", "address", "02:00:00:00:00:01", "type", "veth")
    try:
        run("ip", "link", "set", "lowest", "master", BRIDGE)
        assert run(*shown) == before
    finally:
        run("ip", "link", "delete", "lowest")


def test_a_pause_is_seen_by_users_and_forgotten(lab: Lab) -> None:
    load = lab.load("pause")
    time.sleep(1)
    lab.guests["web1"].pause()
    time.sleep(6)
    assert lab.balancer.servers()["web1"]["status"].startswith("DOWN")
    lab.guests["web1"].resume()
    lab.wait_until_all_serve(20)
    requests = load.stop()
    assert {request.server for request in requests if request.failed} == {"web1"}
    assert len([request for request in requests if not request.failed]) > 200
    assert lab.oracle.services() == lab.untouched


def test_a_machine_whose_plug_is_pulled_comes_back_with_its_disk(lab: Lab) -> None:
    guest = lab.guests["web2"]
    before = lab.controller.ask("web2", "date > /root/mark; sync; cat /proc/sys/kernel/random/boot_id")
    guest.power_off()
    assert guest.cgroup.processes() == []
    guest.boot()
    guest.wait_until_up()
    assert lab.controller.ask("web2", "cat /proc/sys/kernel/random/boot_id") != before
    assert lab.controller.ask("web2", "cat /root/mark") != ""
    lab.wait_until_all_serve(30)
    assert lab.oracle.services() == lab.untouched
