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


class Stand:
    """A few servers: {(backend, server): what is known of it}."""

    def __init__(self):
        self.servers = {}
        self.commands = []
        self.silent = False
        self.refuses = ""
        self.garbage = None

    def add(self, backend, server="web1", **known):
        self.servers[backend, server] = {"admin": 0, "op": 2, "check": 6, "agent": 0, "since": 100, "scur": 0, "health": 4, "fall": 3, **known}

    def answer(self, command):
        self.commands.append(command)
        if self.garbage is not None:
            return self.garbage
        if command == "show servers state":
            lines = [
                f"3 {backend} 1 {server} 127.0.0.1 {one['op']} {one['admin']} 1 1 {one['since']} 6 3 4 {one['check']} {one['agent']}"
                for (backend, server), one in self.servers.items()
            ]
            return "\n".join(["1", "# " + STATE_COLUMNS, *lines, "", ""])
        if command == "show stat -1 4 -1":
            head = "# pxname,svname,qcur,scur,status,check_rise,check_fall,check_health,"
            return "\n".join([head, *(f"{b},{s},1,{one['scur']},UP,2,{one['fall']},{one['health']}," for (b, s), one in self.servers.items()), ""])
        words = command.split()
        assert words[:2] == ["set", "server"] and words[3] == "state", command
        if self.refuses:
            return self.refuses + "\n"
        backend, server = words[2].split("/")
        self.servers[backend, server]["admin"] = FLAGS[words[4]]
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
    shop = {"backend": "shop", "server": "web1", "state": "ready", "status": "UP", "up": True, "checked": True, "passed": True, "sessions": 3, "queued": 1}
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


def test_back_from_maintenance_by_way_of_a_check(stand, call):
    stand.add("shop", admin=1, op=0, health=0)
    stand.add("plain", admin=1, op=0, check=0)
    wanted = {"states": {"shop": "ready", "plain": "ready"}, "check_first": ["shop", "plain"]}
    first = call(**wanted)
    # Nobody checks the server of plain: there is nothing to wait for.
    assert first["reached"] is False and {name: one["state"] for name, one in first["backends"].items()} == {"shop": "drain", "plain": "ready"}
    # HAProxy calls it up before any check, with the counter at rise.
    stand.servers["shop", "web1"].update(op=2, health=2)
    waiting = call(**wanted)
    assert waiting["changed"] is False and waiting["reached"] is False and waiting["backends"]["shop"]["passed"] is False
    stand.servers["shop", "web1"].update(op=0, health=0)
    assert call(**wanted)["reached"] is False
    stand.servers["shop", "web1"].update(op=2, health=4)
    last = call(**wanted)
    assert last["reached"] is True and last["backends"]["shop"]["state"] == "ready"
    # Whoever does not ask for it gets it at once.
    stand.servers["shop", "web1"].update(admin=1, op=0, health=0)
    assert call(states={"shop": "ready"})["backends"]["shop"]["state"] == "ready"


def test_where_the_counter_says_nothing_a_few_seconds_do(stand, call):
    stand.add("shop", admin=8, health=2, fall=1, since=4)
    wanted = {"states": {"shop": "ready"}, "check_first": ["shop"]}
    assert call(**wanted)["reached"] is False
    stand.servers["shop", "web1"]["since"] = 5
    assert call(**wanted)["reached"] is True


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
