# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Method haproxy: what each balancer is asked and told, and how far it is, from one observation of each."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.plugin_utils._drain.kinds.haproxy.haproxy import HAProxy

OPTIONS = {"balancers": ["lb1"], "backends": [], "sessions": 0, "maintenance": True, "servers_left": 1, "backups_serve": False}
STATES = ("ready", "drain", "maint")
# Who is beside it, as haproxy_server returns it.
LEFT = {
    "server": "web1", "tracks": "", "address": "10.0.0.1", "takes": True, "weighs": True, "others": 1, "names": ["web2"], "candidates": 1, "missing": 0,
    "out": [], "asked": 1,
}  # fmt: skip
DOWN = {"others": 0, "names": [], "missing": 1, "out": [{"name": "web2", "status": "DOWN", "why": "down"}]}
LAST = "web1 is the last server of backend shop that takes sessions on lb1 (web2: DOWN)"


def one(state: str = "ready", up: bool = True, sessions: Any = 0) -> dict[str, Any]:
    return {"state": state, "up": up, "sessions": sessions, "status": "UP" if up else "DOWN 1/2"}


def observation(balancer: str = "lb1", left: Any = None, **backends: Any) -> dict[str, Any]:
    return {"__drain_balancer": balancer, "backends": backends, "left": left if left is not None else dict.fromkeys(backends, LEFT)}


def before(**backends: tuple[str, bool]) -> dict[str, Any]:
    return {"server": "web1", "balancers": {"lb1": {name: {"state": state, "up": up} for name, (state, up) in backends.items()}}}


def method(known: Any = None, **more: Any) -> dict[str, Any]:
    options = {**OPTIONS, **{key: more.pop(key) for key in list(more) if key in OPTIONS}}
    return {"finding": known or {}, "options": options, "server": "web1", "host": "web1", **more}


def answer(stage: str, *observations: Any, known: Any = None, **more: Any) -> Any:
    return HAProxy().judge({"results": list(observations)}, stage, method(known, **more))


def short(backend: str = "shop", **more: Any) -> dict[str, Any]:
    return {backend: {**LEFT, **DOWN, **more}}


def call(stage: str, known: Any = None, **more: Any) -> dict[str, Any]:
    return HAProxy().prepared(stage, method(known, **more))["calls"]["lb1"]  # type: ignore[no-any-return]


def test_what_is_found_is_state_and_health_of_every_place() -> None:
    found = answer("find", observation(shop=one(), api=one("maint", False)), observation("lb2", shop=one("drain")))["finding"]
    balancers = {"lb1": {"shop": {"state": "ready", "up": True}, "api": {"state": "maint", "up": False}}, "lb2": {"shop": {"state": "drain", "up": True}}}
    assert found == {"server": "web1", "balancers": balancers}


def test_a_balancer_without_an_answer_is_told_by_its_name() -> None:
    observations = [
        {"__drain_balancer": "lb1", "unreachable": True, "msg": "no route"},
        {"__drain_balancer": "lb2", "msg": "refused"},
        {"__drain_balancer": "lb3"},
    ]
    words = "load balancer lb1 cannot be reached: no route; load balancer lb2: refused; load balancer lb3: no reason given"
    for stage in ("find", "begin"):
        assert answer(stage, *observations, observation("lb4", shop=one())) == {"state": "failed", "error": words}
    # It has answered in this drain: it is waited for, and nothing is put back for it.
    assert answer("check", *observations, observation("lb4", shop=one())) == {"state": "draining", "error": words, "away": 120}
    refused = {"__drain_balancer": "lb5", "msg": "no server web1", "error_kind": "refused"}
    assert answer("check", *observations, refused)["state"] == "failed"
    assert answer("undo", *observations, observation("lb4", shop=one()), known=before())["error"].startswith(words)


@pytest.mark.parametrize("said", [None, {}, {"results": []}, {"msg": "x"}, "drained"])
def test_without_any_observation_nothing_is_known(said: Any) -> None:
    for stage in ("find", "begin", "check"):
        assert HAProxy().judge(said, stage, method()) == {"state": "failed", "error": "no load balancer was asked"}


@pytest.mark.parametrize(("was", "now"), list(itertools.product(STATES, STATES)))
def test_every_state_before_and_now(was: str, now: str) -> None:
    known = before(shop=(was, True))
    # The module sets drain where the server is ready, and maint where it is in drain; on the way back drain where it is in maint.
    assert call("begin", known)["states"] == ({} if was == "maint" else {"shop": "drain"})
    assert call("check", known)["states"] == {"shop": "maint"}
    assert call("undo", known)["states"] == ({} if was == "maint" else {"shop": was})
    back = now == "ready" and was != "maint"
    assert answer("check", observation(shop=one(now)), known=known)["state"] == ("lost" if back else "drained")
    comes_back = (was == "ready" and now != "ready") or (was == "drain" and now == "maint")
    undone = {"state": "undoing", "error": f"shop on lb1 is {now} and not {was} yet"} if comes_back else {"state": "undone", "error": None}
    assert answer("undo", observation(shop=one(now)), known=known) == undone


def test_a_find_and_an_undo_of_nothing_set_nothing() -> None:
    assert call("find")["states"] == call("find", before(shop=("ready", True)))["states"] == {}
    assert call("find", backends=["shop"])["backends"] == ["shop"] and call("begin", before(api=("ready", True)), backends=["shop"])["backends"] == ["api"]


def test_the_way_back_is_proven_unless_it_was_up_and_the_vm_was_not_away() -> None:
    known = before(shop=("ready", True), api=("ready", False))
    assert call("undo", known)["check_first"] == ["shop", "api"] and call("undo", known)["direction"] == "in"
    # What HAProxy had called down it would call up as its maintenance ends.
    assert call("undo", known, untouched=True)["check_first"] == ["api"] and call("begin", known)["check_first"] == []


def test_sessions_are_left() -> None:
    known = before(shop=("ready", True), api=("ready", True))
    found = answer("check", observation(shop=one("drain", sessions="3"), api=one("drain")), known=known)
    assert found == {"state": "draining", "error": "sessions left: 3 of shop on lb1"}
    found = answer("check", observation(shop=one("drain", sessions=3), api=one()), known=known, sessions=3)
    assert found == {"state": "lost", "error": "HAProxy gives it sessions again: api on lb1"}
    assert answer("check", observation(shop=one("drain", sessions=3), api=one("drain")), known=known, sessions="3")["state"] == "drained"
    assert call("check", known, sessions="3")["sessions"] == 3
    for off in (False, "false", "no"):
        assert call("check", known, maintenance=off)["states"] == {}


def test_it_is_back_when_haproxy_calls_it_up_as_before() -> None:
    down = observation(shop=one(up=False))
    waits = {"state": "undoing", "error": "shop on lb1 waits for HAProxy's check, DOWN 1/2"}
    assert answer("undo", down, known=before(shop=("ready", True))) == waits
    for was in (("ready", False), ("maint", True), ("drain", True)):
        assert answer("undo", down, known=before(shop=was))["state"] == "undone"


def test_a_place_that_the_record_does_not_have_is_not_touched() -> None:
    for known in ({}, before(api=("ready", True)), {"balancers": {"lb1": {"shop": "x"}}}, {"balancers": "x"}):
        checked, undone = answer("check", observation(shop=one()), known=known), answer("undo", observation(shop=one()), known=known)
        assert (checked["state"], undone["state"]) == ("failed", "undoing")
        assert checked["error"] == "the record does not say how it was before: shop on lb1"
        assert undone["error"] == "the record does not say how shop on lb1 was before"


# --- Who is left -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("option", "keep"), [
    (1, {"*": 1}), ("2", {"*": 2}), (0, {}), ("0", {}), ({"shop": 2}, {"*": 1, "shop": 2}), ({"shop": 0}, {"*": 1, "shop": 0}), (None, {"*": 1}),
])  # fmt: skip
def test_what_is_asked(option: Any, keep: dict[str, int]) -> None:
    known = before(shop=("ready", True))
    for stage in ("find", "begin"):
        assert call(stage, known, servers_left=option)["keep"] == keep
        assert call(stage, known, servers_left=option, must=True)["keep"] == {}, "no time is left to wait"
    assert call("undo", known, servers_left=option)["keep"] == {}


def test_a_check_asks_only_where_it_had_sessions() -> None:
    assert call("check", before(shop=("ready", True)))["keep"] == {"*": 1}
    assert call("check", before(shop=("ready", True), api=("ready", False)))["keep"] == {"*": 1, "api": 0}
    assert call("check", before(shop=("maint", True), api=("ready", False)))["keep"] == {}, "a standby whose checks all fail"


def test_the_last_server_waits_and_nothing_is_found() -> None:
    assert answer("find", observation(left=short(), shop=one())) == {"state": "not_yet", "error": LAST, "hold": LAST}
    words = "no other server of backend shop takes sessions on lb1, and servers_left asks for 2 of 1 that it has (web2: DOWN)"
    assert answer("find", observation(left=short(), shop=one()), servers_left=2)["error"] == words
    words = "only 1 other server of backend shop takes sessions on lb1, and servers_left asks for 2 (web3: UP, not checked yet, and 4 more)"
    left = short(others=1, candidates=6, missing=5, out=[{"name": "web3", "status": "UP", "why": "unchecked"}])
    assert answer("find", observation(left=left, shop=one()), servers_left=2)["error"] == words
    words = "only 2 other servers of backend shop take sessions on lb1, and servers_left asks for 3"
    assert answer("find", observation(left=short(others=2, candidates=3, missing=0, out=[]), shop=one()), servers_left=3)["error"] == words
    for goes in ({"must": True}, {"servers_left": 0}, {"servers_left": {"shop": 0}}):
        assert answer("find", observation(left=short(), shop=one()), **goes)["state"] == "found", goes
    assert answer("find", observation(left=short(takes=False), shop=one()))["state"] == "found", "it costs nothing"


def test_a_backend_that_no_balancer_has_is_a_wrong_setting() -> None:
    """A misspelt name would let the last server go, as if nothing had been asked."""
    found = answer("find", observation(left=short(), shop=one()), servers_left={"shpo": 2})
    assert found == {"state": "failed", "error": "servers_left names backend shpo, in which no load balancer has the server; it is in shop"}
    assert answer("find", observation(left=short(), shop=one()), servers_left={"shop": 1})["state"] == "not_yet"


@pytest.mark.parametrize(
    ("said", "told"), [("DOWN 1/2", "DOWN 1/2"), ("MAINT (via web/web1)", "MAINT (via web/web1)"), ("DOWN); run: curl x | sh", "'DOWN); run: curl x | sh'")]
)
def test_a_status_that_is_none_of_haproxys_is_quoted(said: str, told: str) -> None:
    left = short(out=[{"name": "web2", "status": said, "why": "down"}])
    assert answer("find", observation(left=left, shop=one()))["error"].endswith(f"(web2: {told})")


def test_of_two_balancers_the_stricter_one_holds() -> None:
    found = answer("find", observation(shop=one()), observation("lb2", left=short(), shop=one()))
    assert found["error"] == found["hold"] == LAST.replace("lb1", "lb2")
    four = [observation(f"lb{number}", left=short(), shop=one()) for number in range(1, 5)]
    assert answer("find", *four)["error"] == "; ".join([*(LAST.replace("lb1", f"lb{number}") for number in (1, 2, 3)), "and 1 more"])


def test_a_backend_of_one_server_goes_and_is_told() -> None:
    found = answer("find", observation(left=short(candidates=0, missing=0, out=[]), shop=one()))
    assert found["state"] == "found" and found["note"] == "web1 is the only server of backend shop on lb1: nothing else is asked to serve meanwhile"
    assert answer("find", observation(left=short(candidates=0), shop=one()), servers_left=0)["note"] == ""


def test_a_later_method_that_hands_its_role_over_is_warned_of() -> None:
    found = answer("find", observation(left=short(), shop=one()), hands_over="2-patroni")
    words = f"{LAST}; it is left as it is, because method 2-patroni hands its role over, and HAProxy's own check follows that"
    assert (found["state"], found["note"], found["finding"]["balancers"]) == ("found", words, {}), "nothing of it is set, and nothing is put back"
    at_deadline = answer("find", observation(left=short(), shop=one()), hands_over="2-patroni", must=True)
    assert at_deadline["finding"]["balancers"] == {}
    # What is not in the finding has no state before, and is none that the check lacks.
    assert answer("check", observation(left=short(), shop=one()), known={"server": "web1", "balancers": {}}, hands_over="2-patroni")["state"] == "drained"
    # The role need not come back: another server has it.
    back = observation(left=short(others=1), shop={**one(), "up": False, "status": "DOWN"})
    assert answer("undo", back, known=before(shop=("ready", True)), hands_over="2-patroni")["state"] == "undone"
    assert answer("undo", back, known=before(shop=("ready", True)))["state"] == "undoing"
    known = before(shop=("ready", True))
    assert call("begin", known, hands_over="2-patroni")["keep"] == call("check", known, hands_over="2-patroni")["keep"] == {}
    assert "hold" not in answer("check", observation(left=short(), shop=one("drain")), known=known, hands_over="2-patroni")


def test_a_balancer_that_refuses_at_the_begin() -> None:
    known = before(shop=("ready", True))
    assert answer("begin", observation(shop=one("drain")), known=known) == {"state": "begun", "error": None}
    assert answer("begin", observation(left=short(), shop=one()), known=known) == {"state": "not_yet", "error": LAST, "hold": LAST}
    assert answer("begin", observation(shop=one()), known=known)["hold"] == "another server has left at the same moment"
    assert answer("begin", observation(left=short(), shop=one()), known=known, must=True)["state"] == "begun"


@pytest.mark.parametrize("now", ["drain", "maint"])
def test_the_neighbour_has_gone_since(now: str) -> None:
    seen = observation(left=short(takes=False), shop=one(now, sessions=2 if now == "drain" else 0))
    found = answer("check", seen, known=before(shop=("ready", True)))
    assert found["hold"] == "no other server of backend shop takes sessions on lb1 (web2: DOWN)"
    assert found["state"] == ("draining" if now == "drain" else "drained")
    for unused in (("maint", True), ("ready", False), ("drain", True)):
        assert "hold" not in answer("check", seen, known=before(shop=unused)), unused
    assert "hold" not in answer("check", observation(left=short(weighs=False), shop=one(now)), known=before(shop=("ready", True)))
    # Also where no time was left to wait: what Azure takes in any case is not approved for that.
    assert answer("check", seen, known=before(shop=("ready", True)), must=True)["hold"] == found["hold"]


def test_a_backend_that_follows_holds_by_what_the_followed_one_was() -> None:
    follows = {**short("api", server="app1", tracks="shop", takes=False), "shop": LEFT}
    seen = observation(left=follows, shop=one("drain"))
    assert answer("check", seen, known=before(shop=("ready", True)))["hold"].startswith("no other server of backend api takes sessions")
    assert "hold" not in answer("check", seen, known=before(shop=("ready", False)))
    words = "app1 is the last server of backend api that takes sessions on lb1 (web2: DOWN)"
    assert answer("find", observation(left=short("api", server="app1", tracks="shop"), shop=one()))["error"] == words


def test_who_is_taken_out_at_the_same_time() -> None:
    targets = [
        {"method": "haproxy", "server": "web2", "balancers": ["lb1", "lb2"], "backends": []},
        {"method": "haproxy", "server": "web3", "balancers": ["lb1"], "backends": ["shop"]},
        {"method": "kubernetes", "node": "web4", "balancers": ["lb1"]},
        {"method": "haproxy", "server": None, "balancers": "lb1"},
    ]
    found = HAProxy().away(targets, {}, "web1")
    assert found == {"lb1": {"*": ["web2"], "shop": ["web3"]}, "lb2": {"*": ["web2"]}}


def test_a_name_of_a_balancers_choice_is_told_as_text() -> None:
    out = [{"name": "web2\n\x1b[31m; rm", "status": "DOWN\x1b[2J", "why": "down"}]
    words = answer("find", observation(left=short(server="\x1b[31m", out=out), shop=one()))["error"]
    assert words.isprintable() and "'web2" in words
