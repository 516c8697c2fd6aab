# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a balancer said once, and no balancer of this kind says, must not keep a VM from being drained when it is honest again."""

from __future__ import annotations

import json
import typing as t

from victims import Victims

Make = t.Callable[..., Victims]


def test_one_answer_that_cannot_be_is_no_finding(make_victims: Make) -> None:
    lab = make_victims(["web1"], 1)
    honest, liar = (lab.balancer(one, web1="ready", web2="ready") for one in ("lb1", "lb2"))
    (lab.folder / "lb2").mkdir()
    server = {"backend": "shop", "server": "web1", "state": "gone", "status": "UP", "up": True, "checked": True, "sessions": 0, "queued": 0}
    lab.lie("lb2", haproxy_server={"merge": {"backends": {"shop": server}}})
    lab.hosts["web1"]["drain_methods"] = [{"method": "haproxy", "balancers": ["lb1", "lb2"]}]
    lab.simulator.event("Redeploy", ["web1"], notice=1500, started_seconds=36000)
    _code, output = lab.raw_play("maintenance.azure.respond", limit=120)
    print("\n".join(line for line in output.decode().splitlines() if "1. " in line or "FAILED" in line or "failed" in line)[:1500])
    print(honest.orders, liar.orders)
    (lab.folder / "lb2" / "lies.json").write_text(json.dumps({}))
    _code, output = lab.raw_play("maintenance.azure.respond", limit=120)
    print("\n".join(line for line in output.decode().splitlines() if "1. " in line or "FAILED" in line or "failed" in line)[:1500])
    print(honest.orders, liar.orders)
    assert honest.servers["web1"] != "ready" and liar.servers["web1"] != "ready"
