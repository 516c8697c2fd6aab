# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One of two load balancers is away for ten seconds in the middle of a drain."""

from __future__ import annotations

import os
import signal
import typing as t

import pytest
from away import Away
from lab.load import request
from scene import CHECK, FULL, NOTICE, Scene


@pytest.mark.skipif(not FULL, reason="before a release: SERVING_FULL=1")
@pytest.mark.parametrize("how", ["frozen", "restarted"])
def test_a_balancer_is_away_in_the_middle(make_scene: t.Callable[..., Scene], how: str) -> None:
    """Users come through the other one; a session through the one that is away keeps the drain from its end."""
    servers = {"web": {"web1": CHECK, "web2": CHECK}}
    scene = make_scene(backends={"lb1": servers, "lb2": servers}, users=("lb2",))
    scene.hold("web1")
    lb1, lb2 = scene.balancers["lb1"], scene.balancers["lb2"]

    def leave() -> None:
        assert lb1.process
        lb1.stop() if how == "restarted" else os.kill(lb1.process.pid, signal.SIGSTOP)

    def come_back() -> None:
        assert lb1.process or how == "restarted"
        lb1.start() if how == "restarted" else os.kill(t.cast("t.Any", lb1.process).pid, signal.SIGCONT)
        scene.servers["web1"].release()

    def write(_number: int) -> None:
        if request(lb2.port).status != 200:
            raise RuntimeError("no answer")

    away = Away(scene.lab, "web1", leave, come_back, write, "begun", NOTICE)
    away.verdict(f"haproxy, one of two is {how}", away.writer.acknowledged)
    assert scene.orders() == []
