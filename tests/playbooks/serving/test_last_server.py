# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A VM that is the last one to take sessions waits: nothing is set and nothing approved, whatever its neighbours are out for."""

from __future__ import annotations

import dataclasses
import typing as t

import pytest
from lab.web_server import Agent, WebServer
from scene import CHECK, FULL, SENTENCE, Scene

Make = t.Callable[..., Scene]


def nothing(_scene: Scene) -> None:
    pass


@dataclasses.dataclass
class Case:
    """What is wrong with the neighbour, and how that ends."""

    happens: t.Callable[[Scene], None]
    ends: t.Callable[[Scene], None]
    options: t.Callable[[], dict[str, t.Any]] = dict
    events: tuple[str, ...] = ("web1",)
    says: str = SENTENCE


def ordered(word: str, back: str, out: str = "web/web2") -> Case:
    """A person's order at the socket of HAProxy, and the one that takes it back."""
    return Case(
        lambda scene: scene.order("web2", f"set {word.format(out)}", True),
        lambda scene: scene.order("web2", f"set {back.format(out)}", False),
    )


def unreachable(*balancers: str, **options: t.Any) -> Case:
    """These balancers ask another port of web2 whether it is well, and cannot reach it. Its own health check can."""

    def happens(scene: Scene) -> None:
        scene.outages.begin("web2", "itself")
        scene.servers["probe"].stop()
        scene.until_status(balancers, "web2", "DOWN")

    def ends(scene: Scene) -> None:
        scene.servers["probe"].start()
        scene.until_status(balancers, "web2", "UP")
        scene.outages.end("web2")

    def site() -> dict[str, t.Any]:
        probe = WebServer("probe")
        lines = {name: {"web1": CHECK, "web2": f"{CHECK} port {probe.port}" if name in balancers else CHECK} for name in ("lb1", "lb2")[: max(1, len(users))]}
        return {"extra": {"probe": probe}, "users": users, "backends": {name: {"web": one} for name, one in lines.items()}}

    users: tuple[str, ...] = options.pop("users", ("lb1",))
    return Case(happens, ends, site, **options)


def with_backup() -> dict[str, t.Any]:
    """A server that says sorry, which HAProxy uses when all others are out."""
    return {"extra": {"sorry": WebServer("sorry", 503)}, "backends": {"lb1": {"web": {"web1": CHECK, "web2": CHECK, "sorry": "backup"}}}}


def with_followers() -> dict[str, t.Any]:
    """A second backend whose first server follows that of the first backend; the method names only that one."""
    backends = {"web": {"web1": CHECK, "web2": CHECK}, "api": {"web1": "track web/web1", "web2": CHECK}}
    return {"backends": {"lb1": backends}, "more": {"backends": ["web"]}}


def with_agent() -> dict[str, t.Any]:
    agent = Agent("up")
    watched = f"{CHECK} agent-check agent-inter 200 agent-port {agent.port}"
    return {"extra": {"agent": agent}, "backends": {"lb1": {"web": {"web1": CHECK, "web2": watched}}}}


def says(word: str) -> t.Callable[[Scene], None]:
    def say(scene: Scene) -> None:
        agent = scene.servers["agent"]
        assert isinstance(agent, Agent)
        agent.word = word
        scene.until_taking("web2", word == "100%")
        if word == "100%":
            scene.outages.end("web2")
        else:
            scene.outages.begin("web2", "itself")

    return say


CASES = {
    "down by checks": unreachable("lb1"),
    "its application has ended": Case(lambda scene: scene.kill("web2"), lambda scene: scene.cure("web2"), says="drained alike"),
    "in drain by a person": ordered("server {} state drain", "server {} state ready"),
    "weight 0": ordered("weight {} 0", "weight {} 1"),
    "only a backup": dataclasses.replace(ordered("server {} state maint", "server {} state ready"), options=with_backup),
    "followed by another backend": dataclasses.replace(ordered("server {} state maint", "server {} state ready", "api/web2"), options=with_followers),
    "held by its agent": Case(says("50%"), says("100%"), with_agent),
    "balancers that disagree": unreachable("lb2", users=("lb1", "lb2")),
    "one event for both": Case(nothing, nothing, events=("web1", "web2")),
}
# The others differ in what HAProxy says alone; tests/playbooks/drain/test_haproxy_left.py has each word of it.
CI = [name for name in CASES if name not in ("held by its agent", "in drain by a person", "weight 0")]


@pytest.mark.parametrize("name", CASES if FULL else CI)
def test_the_last_server_of_a_backend_waits(make_scene: Make, name: str) -> None:
    case = CASES[name]
    scene = make_scene(**case.options())
    case.happens(scene)
    before = scene.orders()
    event = scene.event(*case.events)
    first, said = scene.respond()
    approved, ordered_by_us = scene.lab.simulator.approvals(), scene.orders()
    if len(case.events) > 1 and not approved:
        # It would wait for its deadline, and Azure takes both.
        scene.lab.simulator.ask("POST", f"/events/{event}/cancel")
    case.ends(scene)
    second, output = scene.whole() if FULL else (0, "")
    figures = scene.end(name)
    assert first == 0, said[-5000:]
    assert case.says in said, said[-5000:]
    assert approved == [] and ordered_by_us == before
    assert figures.failed == 0, figures.line()
    if FULL:
        assert second == 0, output[-5000:]
        assert scene.orders() == [] and len(scene.lab.simulator.approvals()) == (len(case.events) == 1)


def test_one_that_takes_no_sessions_itself_goes(make_scene: Make) -> None:
    """A balancer that stands by and whose checks all fail, and a server that is down: their drains cost nothing."""
    closed = WebServer("closed")
    well, nowhere = {"web1": CHECK, "web2": CHECK, "web3": CHECK}, dict.fromkeys(("web1", "web2", "web3"), f"{CHECK} port {closed.port}")
    closed.stop()
    scene = make_scene(3, backends={"lb1": {"web": well}, "lb2": {"web": nowhere}})
    scene.kill("web3")
    scene.event("web3")
    scene.event("web1", started_seconds=240)
    code, output = scene.respond()
    approvals = scene.lab.simulator.approvals()
    figures = scene.end("a standby balancer, and a server that is down")
    assert code == 0 and SENTENCE not in output, output[-5000:]
    assert len(approvals) >= 1 and figures.failed == 0, figures.line()
