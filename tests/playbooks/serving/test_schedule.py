# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Passes of a schedule with the real times of all settings: the clock of the simulator and of the runs is moved between them."""

from __future__ import annotations

import typing as t

import pytest
from scene import FULL, SENTENCE, Scene

Make = t.Callable[..., Scene]
MINUTE = 60
# Azure's hit, in real seconds under load.
SHORT_HIT = 2.0


def passes(scene: Scene, *minutes: float) -> list[tuple[int, str]]:
    found = []
    for minute in minutes:
        scene.at(minute * MINUTE)
        found.append(scene.respond())
    return found


def test_fifteen_minutes_notice_the_first_events_ever_and_a_pass_every_five_minutes(make_scene: Make) -> None:
    scene = make_scene(schedule=True)
    for vm in ("web1", "web2"):
        scene.event(vm, notice=15 * MINUTE, started_seconds=40)
    codes = passes(scene, 0)
    for minute in (0.5, 5.5):
        # Azure starts what was approved, and its hit lasts under load.
        scene.at(minute * MINUTE)
        scene.hit(SHORT_HIT)
        scene.at((minute + 2) * MINUTE)
        codes += passes(scene, 5 if minute < 1 else 10)
    figures = scene.end("15 minutes' notice, the first events ever, a pass every five minutes")
    assert [code for code, _output in codes] == [0, 0, 0], codes[-1][1][-5000:]
    assert figures.failed == 0, figures.line()
    assert scene.most_out() == 1 and len(scene.lab.simulator.approvals()) == 2 and scene.orders() == []


def test_a_deadline_that_comes_drains_in_order_and_approves_nothing(make_scene: Make) -> None:
    scene = make_scene(schedule=True)
    session = scene.hold("web1")
    scene.order("web2", "set server web/web2 state drain", True)
    scene.event("web1", notice=15 * MINUTE, started_seconds=40)
    held = passes(scene, 0, 5)
    orders = scene.orders()
    figures = scene.end("a deadline that comes: until it does")
    ((code, output),) = passes(scene, 10)
    assert [code for code, _output in held] == [0, 0] and all(SENTENCE in said for _code, said in held), held[-1][1][-5000:]
    assert orders == ["lb1 web/web2"] and figures.failed == 0, figures.line()
    assert scene.orders() == ["lb1 web/web1", "lb1 web/web2"] and not session.done(), output[-5000:]
    scene.servers["web1"].release()
    assert session.result().status == 200
    assert scene.lab.simulator.approvals() == []
    assert code != 0, output[-5000:]


if FULL:

    @pytest.mark.parametrize("dead", [False, True], ids=["taken out by a person", "dead"])
    def test_a_last_server_waits_fifty_minutes_and_goes(make_scene: Make, dead: bool) -> None:
        scene = make_scene(schedule=True)
        if dead:
            scene.kill("web2")
        else:
            scene.order("web2", "set server web/web2 state drain", True)
        before = scene.orders()
        scene.event("web1", notice=60 * MINUTE, started_seconds=40)
        held = passes(scene, 0, 25, 50)
        orders, approvals = scene.orders(), scene.lab.simulator.approvals()
        if dead:
            scene.cure("web2")
        else:
            scene.order("web2", "set server web/web2 state ready", False)
        goes = passes(scene, 51)
        scene.at(52 * MINUTE)
        scene.hit(SHORT_HIT)
        goes += passes(scene, 55)
        figures = scene.end(f"a last server that waits 50 minutes, the other one {'dead' if dead else 'taken out by a person'}")
        assert [code for code, _output in held] == [0, 0, 0], held[-1][1][-5000:]
        assert all(("drained alike" if dead else SENTENCE) in said for _code, said in held), held[-1][1][-5000:]
        assert orders == before and approvals == []
        assert [code for code, _output in goes] == [0, 0], goes[-1][1][-5000:]
        assert figures.failed == 0 and scene.orders() == [] and len(scene.lab.simulator.approvals()) == 1, figures.line()
        assert "failed" not in scene.lab.phases("web1")

    def test_a_short_pause_at_the_deadline_is_let_come(make_scene: Make) -> None:
        """A drain takes longer than this Freeze does: the last server stays in service."""
        scene = make_scene(schedule=True)
        scene.order("web2", "set server web/web2 state drain", True)
        scene.event("web1", event_type="Freeze", duration_in_seconds=30, notice=15 * MINUTE, started_seconds=30)
        codes = passes(scene, 0, 5, 10)
        orders = scene.orders()
        figures = scene.end("a Freeze of 30 s at the deadline")
        assert orders == ["lb1 web/web2"] and figures.failed == 0 and scene.lab.simulator.approvals() == [], codes[-1][1][-5000:]
