# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Module haproxy_server against a socket that answers as HAProxy 2.6 does. (Real ones: tests/playbooks/drain/test_haproxy.py.)"""

from __future__ import annotations

import os
import socket
import tempfile
import threading

import pytest
import yaml

from ansible_collections.maintenance.azure.plugins.modules import haproxy_server
from ansible_collections.maintenance.azure.tests.unit.plugins.modules.module_runner import documentation, run_module

STATE_COLUMNS = (
    "be_id be_name srv_id srv_name srv_addr srv_op_state srv_admin_state srv_uweight srv_iweight srv_time_since_last_change "
    "srv_check_status srv_check_result srv_check_health srv_check_state srv_agent_state"
)
FLAGS = {"ready": 0, "drain": 8, "maint": 1}
STATUS = {0: "DOWN", 1: "UP", 2: "UP", 3: "NOLB"}


class Stand:
    """A few servers: {(backend, server): what is known of it}."""

    def __init__(self):
        self.servers = {}
        self.commands = []
        self.silent = False
        self.refuses = ""
        self.garbage = None
        self.after = self.look = lambda stand: None

    def add(self, backend, server="web1", **known):
        self.servers[backend, server] = {
            "addr": "127.0.0.1", "admin": 0, "op": 2, "weight": 1, "check": 6, "agent": 0, "scur": 0, "bck": 0, "tracked": "", "checked": "L7OK", **known,
        }  # fmt: skip

    def answer(self, command):
        self.commands.append(command)
        self.look(self)
        if self.garbage is not None:
            return self.garbage
        if command == "show servers state":
            lines = [
                f"3 {backend} 1 {server} {one['addr']} {one['op']} {one['admin']} {one['weight']} 1 9 6 3 4 {one['check']} {one['agent']}"
                for (backend, server), one in self.servers.items()
            ]
            return "\n".join(["1", "# " + STATE_COLUMNS, *lines, "", ""])
        if command == "show stat -1 4 -1":
            head = "# pxname,svname,qcur,scur,status,weight,bck,tracked,check_status,"
            lines = [
                f"{backend},{server},1,{one['scur']},{STATUS[one['op']]},{one['weight']},{one['bck']},{one['tracked']},{one['checked']},"
                for (backend, server), one in self.servers.items()
            ]
            return "\n".join([head, *lines, ""])
        return "".join(self.set(one.split()) for one in command.split("; "))

    def set(self, words):
        assert words[:2] == ["set", "server"] and words[3] in ("state", "health"), words
        if self.refuses:
            return self.refuses + "\n"
        one = self.servers[tuple(words[2].split("/"))]
        if words[3] == "health":
            one["op"] = 0
        else:
            # As HAProxy does, it calls a server up when its maintenance ends.
            one["op"] = 2 if one["admin"] == 1 else one["op"]
            one["admin"] = FLAGS[words[4]]
        self.after(self)
        return "\n"


@pytest.fixture
def stand():
    return Stand()


@pytest.fixture(params=["path", "port"])
def address(request, stand):
    folder = tempfile.mkdtemp()
    if request.param == "path":
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(os.path.join(folder, "s"))
        name = os.path.join(folder, "s")
    else:
        listener = socket.create_server(("127.0.0.1", 0))
        name = "127.0.0.1:%d" % listener.getsockname()[1]
    listener.listen(5)

    def serve():
        while True:
            try:
                connection, peer = listener.accept()
            except OSError:
                return
            with connection:
                command = connection.recv(1000).decode().strip()
                if stand.silent:
                    connection.recv(1)
                    continue
                # In two parts, as a long answer comes.
                answer = stand.answer(command).encode()
                connection.sendall(answer[: len(answer) // 2])
                connection.sendall(answer[len(answer) // 2 :])

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield name
    try:
        listener.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    listener.close()
    thread.join(5)
    if request.param == "path":
        os.unlink(name)
    os.rmdir(folder)


@pytest.fixture
def call(monkeypatch, address):
    return lambda check=False, **options: run_module(monkeypatch, haproxy_server, check=check, **{"socket": address, "server": "web1", **options})


def sets(stand):
    return [command for command in stand.commands if command.startswith("set")]


def test_an_observation_says_what_there_is_and_sets_nothing(stand, call):
    stand.add("shop", scur=3)
    stand.add("admin", admin=8, op=0)
    stand.add("plain", admin=5, check=0)
    stand.add("other", "web2")
    result = call()
    assert result["changed"] is False and result["reached"] is True and sets(stand) == []
    assert {name: one["state"] for name, one in result["backends"].items()} == {"shop": "ready", "admin": "drain", "plain": "maint"}
    shop = {"backend": "shop", "server": "web1", "state": "ready", "status": "UP", "up": True, "checked": True, "sessions": 3, "queued": 1}
    assert result["backends"]["shop"] == shop
    assert result["backends"]["admin"]["up"] is False and result["backends"]["plain"]["checked"] is False
    assert list(call(backends=["admin"])["backends"]) == ["admin"]


def test_it_sets_what_differs_and_nothing_twice(stand, call):
    stand.add("shop")
    stand.add("admin")
    stand.add("done", admin=8)
    wanted = {"shop": "drain", "admin": "maint", "done": "drain"}
    predicted = call(check=True, states=wanted)
    assert predicted["changed"] and sets(stand) == []
    result = call(states=wanted)
    assert sets(stand) == ["set server shop/web1 state drain", "set server admin/web1 state maint"]
    assert result["diff"] == predicted["diff"] == {"before": {"shop": "ready", "admin": "ready"}, "after": {"shop": "drain", "admin": "maint"}}
    assert result["backends"] == predicted["backends"] and result["reached"] is True
    again = call(states=wanted)
    assert again["changed"] is False and again["reached"] is True and len(sets(stand)) == 2


def test_back_from_maintenance_haproxy_itself_proves_it(stand, call):
    stand.add("shop", admin=1, op=0)
    stand.add("plain", admin=1, op=0, check=0)
    stand.add("drained", admin=8)
    wanted = {"states": dict.fromkeys(("shop", "plain", "drained"), "ready"), "check_first": ["shop", "plain", "drained"], "direction": "in"}
    first = call(**wanted)
    # One line: nothing comes between, and the server has no moment in which it is up and ready before a check.
    name = "set server shop/web1"
    assert sets(stand) == [
        f"{name} state drain; {name} health down; {name} state ready",
        # The server of plain is checked by nothing: there is nothing to wait for.
        "set server plain/web1 state ready",
        # One that was never in maintenance is proven as well: HAProxy may call it up from before a reboot.
        f"{name} state drain; {name} health down; {name} state ready".replace("shop", "drained"),
    ]
    assert first["reached"] is False and {one["state"] for one in first["backends"].values()} == {"ready"}
    again = call(**wanted)
    assert again["changed"] is False and again["reached"] is False and len(sets(stand)) == 3, "it is not set down once more"
    for backend in ("shop", "drained"):
        stand.servers[backend, "web1"]["op"] = 2
    assert call(**wanted)["reached"] is True and len(sets(stand)) == 3


def test_it_waits_for_a_check_for_so_long_and_no_longer(stand, call):
    stand.add("shop", admin=1, op=0)
    wanted = {"states": {"shop": "ready"}, "check_first": ["shop"], "direction": "in"}
    assert call(**wanted, wait=0.3)["reached"] is False and stand.commands.count("show servers state") > 2
    stand.commands.clear()
    call(check=True, **wanted, wait=60)
    # Its check passes while it waits.
    stand.look = lambda one: len(one.commands) > 6 and one.servers["shop", "web1"].update(op=2)
    assert call(**wanted, wait=60)["reached"] is True


def test_without_check_first_it_is_ready_at_once(stand, call):
    stand.add("shop", admin=1, op=0)
    assert call(states={"shop": "ready"}, direction="in")["reached"] is True and sets(stand) == ["set server shop/web1 state ready"]


@pytest.mark.parametrize(("direction", "admin", "wanted", "sets_it"), [
    ("out", 0, "drain", True), ("out", 1, "drain", False), ("out", 8, "maint", True), ("out", 0, "maint", False),
    ("in", 0, "drain", False), ("in", 1, "drain", True), ("in", 1, "ready", True), ("in", 8, "ready", True), (None, 1, "drain", True),
])  # fmt: skip
def test_each_direction_sets_only_what_is_its_own(stand, call, direction, admin, wanted, sets_it):
    stand.add("shop", admin=admin)
    result = call(states={"shop": wanted}, **({"direction": direction} if direction else {}))
    assert bool(sets(stand)) is result["changed"] is sets_it and result["was"] == ({"shop": {0: "ready", 1: "maint", 8: "drain"}[admin]} if sets_it else {})


def test_maintenance_only_where_the_sessions_are_gone(stand, call):
    stand.add("shop", admin=8, scur=2)
    stand.add("api", admin=8)
    wanted = {"states": {"shop": "maint", "api": "maint"}, "direction": "out"}
    assert call(**wanted)["was"] == {"api": "drain"}
    assert call(**wanted, sessions=2)["was"] == {"shop": "drain"}


def pair(stand, **other):
    stand.add("shop")
    stand.add("shop", "web2", **other)


OUT = {"states": {"shop": "drain"}, "direction": "out", "keep": {"*": 1}}


def test_the_last_one_is_not_set(stand, call):
    pair(stand, op=0)
    for check in (True, False):
        result = call(check=check, **OUT)
        assert (result["changed"], result["reached"], result["short"], result["was"], sets(stand)) == (False, False, ["shop"], {}, [])
    assert result["left"]["shop"] == {
        "server": "web1", "tracks": "", "address": "127.0.0.1", "takes": True, "weighs": True, "others": 0, "names": [], "candidates": 1, "missing": 1,
        "out": [{"name": "web2", "status": "DOWN", "why": "down"}], "asked": 1,
    }  # fmt: skip
    assert call(**{**OUT, "keep": {"shop": 0, "*": 1}})["changed"], "nothing is asked of this backend"


def test_nothing_is_set_anywhere_while_one_backend_would_be_empty(stand, call):
    pair(stand)
    stand.add("api")
    stand.add("api", "web2", op=0)
    result = call(**{**OUT, "states": {"shop": "drain", "api": "drain"}})
    assert result["short"] == ["api"] and sets(stand) == []


def test_a_backend_whose_server_follows_this_one_is_asked_too(stand, call):
    pair(stand)
    stand.add("api", "app1", check=0, tracked="shop/web1", checked="")
    stand.add("api", "app2", op=0)
    result = call(**{**OUT, "backends": ["shop"]})
    assert result["short"] == ["api"] and sets(stand) == [] and result["left"]["api"]["tracks"] == "shop" and list(result["backends"]) == ["shop"]


def test_a_server_that_takes_no_sessions_goes(stand, call):
    for own in ({"op": 0}, {"weight": 0}, {"admin": 32}):
        stand.servers.clear()
        pair(stand, op=0)
        stand.servers["shop", "web1"].update(own)
        assert call(**OUT)["changed"], own


def test_who_leaves_at_the_same_moment_is_seen_and_it_is_ready_again(stand, call):
    pair(stand)
    # The run of the other one sets it between our look and our order.
    stand.after = lambda one: one.servers["shop", "web2"].update(admin=8)
    result = call(**OUT)
    assert sets(stand) == ["set server shop/web1 state drain", "set server shop/web1 state ready"]
    assert (result["changed"], result["short"], result["was"], result["backends"]["shop"]["state"]) == (False, ["shop"], {}, "ready")


def test_no_maintenance_while_it_should_come_back(stand, call):
    pair(stand, op=0)
    stand.servers["shop", "web1"]["admin"] = 8
    assert call(**{**OUT, "states": {"shop": "maint"}})["short"] == ["shop"] and sets(stand) == []
    assert call(**{**OUT, "states": {"shop": "maint"}, "keep": {}})["changed"]


def test_who_leaves_too_does_not_count(stand, call):
    pair(stand)
    for away in ({"*": ["web2"]}, {"shop": ["web2"]}):
        result = call(**OUT, away=away)
        assert result["short"] == ["shop"] and result["left"]["shop"]["out"][0]["why"] == "away"
    assert call(**OUT, away={"api": ["web2"]})["changed"]


def test_what_is_not_there_is_named_and_what_there_is(stand, call):
    stand.add("shop")
    stand.add("other", "web2")
    stand.add("shop", "web2")
    for options, words in (({"backends": ["other"]}, "web1 in other"), ({"server": "web9"}, "web9 in any backend"), ({"states": {"nix": "drain"}}, "in nix")):
        result = call(**options)
        assert result["failed"] and words in result["msg"] and "shop/web1, shop/web2" in result["msg"], result
    assert sets(stand) == []


@pytest.mark.parametrize(
    "options",
    [
        {"server": "web1 state maint; shutdown sessions server shop/web2"},
        {"server": "web1\nset"},
        {"server": ""},
        {"backends": ["a b"]},
        {"states": {"a;b": "drain"}},
    ],
)
def test_a_name_is_never_a_second_command(stand, call, options):
    stand.add("shop")
    result = call(**options)
    assert result["failed"] and "cannot be the name" in result["msg"] and stand.commands == []


def test_a_state_that_there_is_not(stand, call):
    stand.add("shop")
    result = call(states={"shop": "up"})
    assert result["failed"] and "'up'" in result["msg"] and "ready, drain, maint" in result["msg"] and stand.commands == []


def test_haproxy_may_refuse(stand, call, address):
    stand.add("shop")
    stand.refuses = "Permission denied"
    result = call(states={"shop": "drain"})
    assert result["failed"] and "Permission denied" in result["msg"] and address in result["msg"] and "shop/web1" in result["msg"]


@pytest.mark.parametrize("garbage", ["", "Unknown command: 'show'", "1\n# a b c\n1 2 3\n", "<html></html>"])
def test_another_service_at_that_address_is_no_haproxy(stand, call, garbage):
    stand.garbage = garbage
    result = call()
    assert result["failed"] and "HAProxy's answer has no" in result["msg"]


def test_no_answer_ends_in_time(stand, call, address):
    stand.silent = True
    result = call(timeout=0.2)
    assert result["failed"] and address in result["msg"] and "cannot be used" in result["msg"]


@pytest.mark.parametrize("where", ["/nowhere/haproxy.sock", "127.0.0.1:1", "haproxy.sock", ":9999", "lb1:"])
def test_a_socket_that_there_is_not(monkeypatch, where):
    result = run_module(monkeypatch, haproxy_server, socket=where, server="web1")
    assert result["failed"] and where in result["msg"] and "stats socket" in result["msg"]


def test_the_documentation_has_every_option_and_every_key(stand, call):
    document = documentation(haproxy_server)
    arguments = haproxy_server.arguments()
    assert set(document["options"]) == set(arguments)
    for name, about in document["options"].items():
        assert about.get("default") == arguments[name].get("default") and about["type"] == arguments[name]["type"]
    assert yaml.safe_load(haproxy_server.EXAMPLES)
    stand.add("shop")
    result = call()
    documented = yaml.safe_load(haproxy_server.RETURN)
    # The kind of an error comes with an error alone.
    assert set(documented) - {"error_kind"} == set(result) - {"changed", "diff", "invocation"}
    assert set(documented["backends"]["sample"]["shop"]) == set(result["backends"]["shop"])
