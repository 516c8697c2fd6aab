# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A balancer that lies that too few are left must not keep another balancer sending sessions to a VM at its deadline."""

from __future__ import annotations

import typing as t

import pytest
from test_facts import path_of
from victims import Victims

Make = t.Callable[..., Victims]


@pytest.mark.parametrize("core", ["own", "2.18"])
def test_at_the_deadline_a_balancer_that_refuses_keeps_no_other_one_from_draining(make_victims: Make, core: str) -> None:
    lab = make_victims(["web1"], 1)
    lab.more_environment = {"PATH": path_of(core) + lab.environment()["PATH"]}
    honest, liar = (lab.balancer(one, web1="ready", web2="ready") for one in ("lb1", "lb2"))
    evil = "{{ lookup('pipe', 'touch " + lab.canary("was") + "') }}"
    lab.lies_of = lab.folder / "lb2"
    lab.lies_of.mkdir()
    lab.lie("lb2", haproxy_server={"merge": {"short": ["shop", evil], "was": {"shop": evil, evil: "ready"}}})
    lab.hosts["web1"]["drain_methods"] = [{"method": "haproxy", "balancers": ["lb1", "lb2"]}]
    lab.simulator.event("Redeploy", ["web1"], notice=100, started_seconds=36000)
    _code, output = lab.raw_play("maintenance.azure.respond", limit=120, respond_wait_timeout=30)
    print(output.decode()[-6000:])
    print(honest.orders, liar.orders, lab.found())
    assert not lab.found()
    assert honest.servers["web1"] != "ready", f"lb1 has it in service: {honest.orders}"
