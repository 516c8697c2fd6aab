# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Method haproxy: what is set next, and how far it is, from one observation of each balancer."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.kinds.haproxy import view as haproxy
from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.kinds.haproxy.view import View

OPTIONS = {"sessions": 0, "maintenance": True}
STATES = ("ready", "drain", "maint")


def one(state: str = "ready", up: bool = True, sessions: Any = 0) -> dict[str, Any]:
    return {"state": state, "up": up, "sessions": sessions, "status": "UP" if up else "DOWN 1/2"}


def observation(balancer: str = "lb1", **backends: Any) -> dict[str, Any]:
    return {"__drain_balancer": balancer, "backends": backends}


def before(**backends: tuple[str, bool]) -> dict[str, Any]:
    return {"server": "web1", "balancers": {"lb1": {name: {"state": state, "up": up} for name, (state, up) in backends.items()}}}


def view(*observations: Any, known: Any = None, **options: Any) -> View:
    return haproxy.view(list(observations), known or {}, {**OPTIONS, **options})


def test_what_is_found_is_state_and_health_of_every_place() -> None:
    found = view(observation(shop=one(), api=one("maint", False)), observation("lb2", shop=one("drain")))["found"]
    assert found == {"lb1": {"shop": {"state": "ready", "up": True}, "api": {"state": "maint", "up": False}}, "lb2": {"shop": {"state": "drain", "up": True}}}


def test_a_balancer_without_an_answer_is_told_by_its_name() -> None:
    observations = [
        {"__drain_balancer": "lb1", "unreachable": True, "msg": "no route"},
        {"__drain_balancer": "lb2", "msg": "refused"},
        {"__drain_balancer": "lb3"},
    ]
    words = ["load balancer lb1 cannot be reached: no route", "load balancer lb2: refused", "load balancer lb3: no reason given"]
    assert view(*observations)["lost"] == words
    assert view(*observations, observation("lb4", shop=one()), known=before())["undone"]["error"].startswith("; ".join(words))  # type: ignore[union-attr]


@pytest.mark.parametrize(("was", "now"), list(itertools.product(STATES, STATES)))
def test_every_state_before_and_now(was: str, now: str) -> None:
    found = view(observation(shop=one(now)), known=before(shop=(was, True)))
    back = now == "ready" and was != "maint"
    assert found["to_drain"] == ({"lb1": {"shop": "drain"}} if back else {})
    assert found["to_maint"] == ({"lb1": {"shop": "maint"}} if now == "drain" else {})
    comes_back = (was == "ready" and now != "ready") or (was == "drain" and now == "maint")
    assert found["to_put_back"] == ({"lb1": {"shop": was}} if comes_back else {})
    assert found["checked"]["state"] == ("lost" if back else "drained")
    assert found["undone"] == ({"state": "undoing", "error": "shop on lb1 waits for HAProxy's check, UP"} if comes_back else {"state": "undone", "error": None})


def test_nothing_goes_to_maintenance_while_sessions_come_or_are_left() -> None:
    known = before(shop=("ready", True), api=("ready", True))
    found = view(observation(shop=one("drain", sessions="3"), api=one("drain")), known=known)
    assert found["to_maint"] == {"lb1": {"api": "maint"}}
    assert found["checked"] == {"state": "draining", "error": "sessions left: 3 of shop on lb1"}
    found = view(observation(shop=one("drain", sessions=3), api=one()), known=known, sessions=3)
    assert (found["to_maint"], found["checked"]) == ({}, {"state": "lost", "error": "HAProxy gives it sessions again: api on lb1"})
    assert view(observation(shop=one("drain", sessions=3), api=one("drain")), known=known, sessions="3")["checked"]["state"] == "drained"
    for off in (False, "false", "no"):
        assert view(observation(shop=one("drain")), known=known, maintenance=off)["to_maint"] == {}


def test_it_is_back_when_haproxy_calls_it_up_as_before() -> None:
    down = observation(shop=one(up=False))
    assert view(down, known=before(shop=("ready", True)))["undone"] == {"state": "undoing", "error": "shop on lb1 is not up yet, DOWN 1/2"}
    for was in (("ready", False), ("maint", True), ("drain", True)):
        assert view(down, known=before(shop=was))["undone"]["state"] == "undone"


def test_a_place_that_the_record_does_not_have_is_not_touched() -> None:
    for known in ({}, before(api=("ready", True)), {"balancers": {"lb1": {"shop": "x"}}}, {"balancers": "x"}):
        found = view(observation(shop=one()), known=known)
        assert (found["to_drain"], found["to_put_back"], found["checked"]["state"], found["undone"]["state"]) == ({}, {}, "failed", "undoing")
        assert found["checked"]["error"] == "the record does not say how it was before: shop on lb1"
        assert found["undone"]["error"] == "the record does not say how shop on lb1 was before"
