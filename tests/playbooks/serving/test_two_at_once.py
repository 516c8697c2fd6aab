# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Events for several VMs behind the same balancer: one after the other, in one run and in two."""

from __future__ import annotations

import concurrent.futures
import typing as t

from scene import FULL, Scene

Make = t.Callable[..., Scene]


def check(scene: Scene, name: str, *runs: tuple[int, str]) -> None:
    figures = scene.end(name)
    for code, output in runs:
        assert code == 0, output[-5000:]
    assert figures.failed == 0, figures.line()
    assert scene.most_out() == 1
    assert len(scene.lab.simulator.approvals()) == 2 and scene.orders() == []


def test_two_events_in_one_pass(make_scene: Make) -> None:
    scene = make_scene()
    scene.event("web1")
    scene.event("web2")
    check(scene, "two events in one pass", scene.whole())


if FULL:

    def test_two_runs_with_an_event_each(make_scene: Make) -> None:
        scene = make_scene()
        # Longer than an iteration on the busiest machine, as in test_two_runs.
        scene.lab.all["respond_timing"]["lease_seconds"] = 30
        events = [scene.event("web1"), scene.event("web2")]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            runs = [pool.submit(scene.whole, respond_only_events=[event]) for event in events]
        check(scene, "two runs at once", *(run.result() for run in runs))

    def test_a_reload_right_before(make_scene: Make) -> None:
        """Every server is up until its first check, and none has been checked."""
        slow = "check inter 4s fall 1 rise 1"
        scene = make_scene(master=True, backends={"lb1": {"web": {"web1": slow, "web2": slow}}})
        scene.event("web1")
        scene.event("web2")
        scene.balancers["lb1"].reload()
        check(scene, "a reload right before, two events", scene.whole())

    def test_a_reload_right_before_with_a_dead_neighbour(make_scene: Make) -> None:
        slow = "check inter 6s fall 1 rise 1"
        scene = make_scene(master=True, backends={"lb1": {"web": {"web1": slow, "web2": slow}}})
        scene.kill("web2")
        scene.event("web1")
        scene.balancers["lb1"].reload()
        code, output = scene.respond()
        approvals, orders = scene.lab.simulator.approvals(), scene.orders()
        figures = scene.end("a reload right before, a dead neighbour")
        assert code == 0 and approvals == [] and orders == [], output[-5000:]
        assert figures.failed == 0, figures.line()

    def test_three_servers_with_two_events(make_scene: Make) -> None:
        scene = make_scene(3)
        scene.event("web1")
        scene.event("web2")
        check(scene, "three servers, two events", scene.whole())
