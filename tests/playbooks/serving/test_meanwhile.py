# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The neighbour dies after this one's drain has begun: this one comes back, and goes when the neighbour is well."""

from __future__ import annotations

import concurrent.futures
import time
import typing as t

from scene import FULL, Scene

Make = t.Callable[..., Scene]
# A pass asks a drain every second here; a busy machine takes some for each iteration.
BACK_WITHIN = 90.0


def check(scene: Scene, name: str, back: float | None, approved_early: bool, run: tuple[int, str]) -> None:
    figures = scene.end(name)
    print(f"  web1 took sessions again {back or 0:.1f} s after HAProxy had noticed")
    assert back is not None, f"web1 did not come back within {BACK_WITHIN} s"
    assert not approved_early
    assert run[0] == 0, run[1][-5000:]
    assert figures.ours == [] and figures.azure == [], figures.line()
    assert len(scene.lab.simulator.approvals()) == 1 and scene.orders() == []


def comes_back(scene: Scene) -> float | None:
    """The neighbour of web1 has died; return after how many seconds web1 takes sessions again. Until then requests fail by that accident."""
    began = time.monotonic()
    try:
        scene.until(lambda: scene.takes("web1") or scene.lab.simulator.approvals() != [], "web1 takes sessions", BACK_WITHIN)
    except AssertionError:
        return None
    found = time.monotonic() - began
    scene.outages.grace += found
    return found if scene.takes("web1") else None


def test_the_neighbour_dies_between_drain_and_approval(make_scene: Make) -> None:
    """The event hits a database, too, whose drain takes longer."""
    scene = make_scene(2, others=["db1"])
    done = scene.lab.folder / "handed-over"
    waits = f"sh -c 'test -e {done} || exit 75'"
    scene.lab.hosts["db1"]["drain_methods"] = [{"method": "command", "begin": "true", "check": waits, "undo": "true"}]
    scene.event("web1", "db1")
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        run = pool.submit(scene.whole)
        scene.until(lambda: "drained" in [entry["phase"] for record in scene.lab.records("web1") for entry in record["history"]], "web1 is drained", 60)
        scene.kill("web2")
        done.touch()
        back = comes_back(scene)
        approved = scene.lab.simulator.approvals() != []
        scene.cure("web2")
    check(scene, "the neighbour dies between drain and approval", back, approved, run.result())


if FULL:

    def test_the_neighbour_dies_while_sessions_end(make_scene: Make) -> None:
        scene = make_scene()
        session = scene.hold("web1")
        scene.event("web1")
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            run = pool.submit(scene.whole)
            scene.until_taking("web1", False, 60)
            scene.kill("web2")
            back = comes_back(scene)
            approved = scene.lab.simulator.approvals() != []
            assert not session.done()
            scene.cure("web2")
            scene.servers["web1"].release()
        assert session.result().status == 200
        check(scene, "the neighbour dies while sessions end", back, approved, run.result())
