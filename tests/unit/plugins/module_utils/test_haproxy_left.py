# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who is left in a backend, by rows as HAProxy 2.6 answered them, and by rows that say nothing."""

from __future__ import annotations

import random
from typing import Any

import pytest

from ansible_collections.maintenance.azure.plugins.module_utils import _haproxy_left as haproxy

# As show servers state and show stat had it of a server that is up, 3 s after the start.
UP = {
    "srv_addr": "127.0.0.1", "srv_op_state": "2", "srv_admin_state": "0", "srv_uweight": "1", "srv_check_state": "6", "srv_agent_state": "0",
    "status": "UP", "weight": "1", "bck": "0", "tracked": "", "check_status": "L4OK",
}  # fmt: skip
# What differed, by what was done.
SEEN: dict[str, tuple[dict[str, str], str]] = {
    "up": ({}, ""),
    "no check": ({"srv_check_state": "0", "status": "no check", "check_status": ""}, ""),
    "a check in flight": ({"check_status": "* L4OK"}, ""),
    "one failed check of three": ({"status": "UP 2/3", "check_status": "L4CON"}, "failing"),
    "just started": ({"status": "UP 1/3", "check_status": "INI"}, "unchecked"),
    "just started, the first check in flight": ({"status": "UP 1/3", "check_status": "* INI"}, "unchecked"),
    "down": ({"srv_op_state": "0", "status": "DOWN", "check_status": "L4CON"}, "down"),
    "stopping": ({"srv_op_state": "3", "status": "NOLB", "check_status": "L7OKC"}, "down"),
    "slowstart": ({"srv_op_state": "1", "check_status": "L7OK"}, ""),
    "maintenance": ({"srv_op_state": "0", "srv_admin_state": "1", "srv_check_state": "14", "status": "MAINT", "check_status": ""}, "admin"),
    "made ready, disabled in the configuration": ({"srv_admin_state": "4"}, ""),
    "disabled": ({"srv_op_state": "0", "srv_admin_state": "5", "srv_check_state": "14", "status": "MAINT", "check_status": ""}, "admin"),
    "maintenance of the one it follows": ({"srv_op_state": "0", "srv_admin_state": "2", "status": "MAINT (via web/web1)"}, "admin"),
    "drain": ({"srv_admin_state": "8", "status": "DRAIN"}, "admin"),
    "drain of the one it follows": ({"srv_admin_state": "16", "status": "DRAIN"}, "admin"),
    "its name does not resolve": ({"srv_op_state": "0", "srv_admin_state": "32", "status": "MAINT (resolution)"}, "admin"),
    "weight 0": ({"srv_uweight": "0", "weight": "0"}, "weight"),
    "half of 1, by its agent": ({"weight": "0"}, "weight"),
    "a bit of a newer HAProxy": ({"srv_admin_state": "128"}, "unknown"),
}


def rows(**servers: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    return {("web", name): {**UP, **known} for name, known in servers.items()}


def left(found: Any, backends: Any = ("web",), **guard: Any) -> dict[str, dict[str, Any]]:
    return haproxy.left(found, "web1", list(backends), haproxy.Guard(**{"keep": {"*": 1}, **guard}))


@pytest.mark.parametrize("seen", SEEN)
def test_each_state_as_it_was_seen(seen: str) -> None:
    known, why = SEEN[seen]
    found = left(rows(web1={}, web2=known))["web"]
    named = [] if why else ["web2"]
    out = [{"name": "web2", "status": known.get("status", "UP"), "why": why}] if why else []
    assert (found["others"], found["names"], found["out"], haproxy.is_short(found)) == (len(named), named, out, bool(why))


@pytest.mark.parametrize("seen", SEEN)
def test_a_server_that_leaves_takes_sessions_unless_haproxy_says_that_it_does_not(seen: str) -> None:
    known, why = SEEN[seen]
    # One whose first check has not run yet gets sessions all the same.
    assert left(rows(web1=known, web2={}))["web"]["takes"] is (why not in ("down", "admin", "weight"))


def test_a_server_that_follows_another_counts_by_the_check_of_that_one() -> None:
    follows = {"srv_check_state": "0", "check_status": "", "tracked": "api/a2"}
    found = {**rows(web1={}, web2=follows), ("api", "a2"): {**UP, "tracked": "base/b2", "srv_check_state": "0", "check_status": ""}, ("base", "b2"): dict(UP)}
    assert left(found)["web"]["others"] == 1
    for checked, why in (("INI", "unchecked"), ("L7STS", "failing")):
        found["base", "b2"]["check_status"] = checked
        assert left(found)["web"]["out"][0]["why"] == why
    del found["base", "b2"]
    assert left(found)["web"]["out"][0]["why"] == "unknown"
    # Weight is its own.
    found["base", "b2"] = {**UP, "weight": "0", "srv_uweight": "0"}
    assert left(found)["web"]["others"] == 1


def test_servers_that_follow_each_other_in_a_ring_do_not_count() -> None:
    found = {**rows(web1={}, web2={"tracked": "api/a2"}), ("api", "a2"): {**UP, "tracked": "web/web2"}}
    assert left(found)["web"]["out"][0]["why"] == "unknown"


def test_what_follows_the_server_goes_with_it() -> None:
    follows = {"srv_check_state": "0", "check_status": ""}
    found = {
        **rows(web1={}, web2={}, twin={**follows, "tracked": "web/web1"}),
        ("api", "app1"): {**UP, **follows, "tracked": "web/web1"},
        ("api", "app2"): {**UP, **SEEN["down"][0]},
        ("deep", "d1"): {**UP, **follows, "tracked": "api/app1"},
    }
    answer = left(found)
    assert {name: (one["server"], one["tracks"], one["others"]) for name, one in answer.items()} == {
        "web": ("web1", "", 1), "api": ("app1", "web", 0), "deep": ("d1", "web", 0),
    }  # fmt: skip
    assert {name: haproxy.is_short(one) for name, one in answer.items()} == {"web": False, "api": True, "deep": False}, "there is no other in deep"


def test_a_backup_counts_where_it_is_said_to() -> None:
    backup = {"bck": "1", "status": "no check", "srv_check_state": "0", "check_status": ""}
    found = left(rows(web1={}, spare=backup))["web"]
    assert (found["others"], found["candidates"], haproxy.is_short(found)) == (0, 0, False), "alone as it was before"
    found = left(rows(web1={}, web2=SEEN["down"][0], spare=backup))["web"]
    assert haproxy.is_short(found) and [one["why"] for one in found["out"]] == ["down", "backup"]
    found = left(rows(web1={}, web2=SEEN["down"][0], spare=backup), backups=True)["web"]
    assert not haproxy.is_short(found) and found["names"] == ["spare"]


def test_a_backup_that_leaves_gives_nothing_up_while_another_serves() -> None:
    assert left(rows(web1={"bck": "1"}, web2={}))["web"]["takes"] is False
    assert left(rows(web1={"bck": "1"}, web2=SEEN["down"][0]))["web"]["takes"] is True


def test_slots_without_an_address_are_no_servers() -> None:
    slot = {"srv_addr": "-", "srv_op_state": "0", "srv_admin_state": "32"}
    found = left(rows(web1={}, **{f"slot{number}": slot for number in range(20)}))["web"]
    assert (found["candidates"], found["missing"], found["out"], haproxy.is_short(found)) == (0, 0, [], False)


def test_thousands_of_servers_are_counted_and_few_are_named() -> None:
    found = left(rows(web1={}, **{f"up{number}": {} for number in range(3000)}, **{f"off{number}": SEEN["down"][0] for number in range(3000)}))["web"]
    assert (found["others"], found["missing"], len(found["names"]), len(found["out"])) == (3000, 3000, 10, 10)


def test_counts_are_asked_by_backend() -> None:
    guard = haproxy.Guard({"web": 2, "*": 3}, {"web": ["a"], "*": ["b"]})
    assert [guard.asked(name) for name in ("web", "api")] == [2, 3] and haproxy.Guard().asked("web") == 0
    assert [guard.is_away("web", "a"), guard.is_away("api", "a"), guard.is_away("api", "b")] == [True, False, True]


JUNK = ("", "-", "x", "²", "1e3", "-1", " 2", "99999999999", None, [], ["2"], 2, True, "* ", "no", "L4")


def test_junk_never_serves() -> None:
    """Each column that is not what HAProxy writes: the server does not count, and the one that leaves does not go for it."""
    chance = random.Random(38)
    needed = ("srv_op_state", "srv_admin_state", "srv_uweight", "weight", "bck", "srv_check_state", "check_status")
    for key in needed:
        for value in JUNK:
            assert left(rows(web1={}, web2={key: value}))["web"]["others"] == 0, (key, value)
        web2 = {name: text for name, text in UP.items() if name != key}
        assert left({**rows(web1={}), ("web", "web2"): web2})["web"]["others"] == 0, f"no column {key}"
    assert left(rows(web1={}, web2={"tracked": None}))["web"]["others"] == 0
    for _turn in range(2000):
        wrong = {key: chance.choice(JUNK) for key in chance.sample(list(UP), 3)}
        found = left(rows(web1=wrong, web2=wrong))["web"]
        assert found["others"] == 0 or not set(wrong) & set(needed), wrong
