# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Method haproxy asks real HAProxy processes who is left: what waits, what goes, and what comes back because its neighbour has gone."""

from __future__ import annotations

import collections.abc
import socket
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from fleet import Fleet, Host

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from lab.haproxy import Backend, HAProxy  # noqa: E402  the folder of tests is no package

CHECK = "check inter 100 rise 1 fall 1"
# A process checks its servers for the first time one after the other, over the shortest of such an interval: the first one at once, the second in minutes.
NEVER = "check inter 600s rise 1 fall 1"


class Answers:
    """A TCP server with the same answer for each connection, to what was asked or at once; none while it is held."""

    def __init__(self, answer: bytes, asked: bool = True) -> None:
        self.held = threading.Event()
        self.held.set()
        self._answer, self._asked = answer, asked
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _address = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            try:
                if self._asked:
                    connection.recv(1000)
                self.held.wait(600)
                connection.sendall(self._answer)
            except OSError:
                return

    def stop(self) -> None:
        self.held.set()
        try:
            self._listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._listener.close()


class Site:
    """What is behind the load balancers, and the load balancers that a test adds."""

    def __init__(self, folder: Path, fleet: Fleet) -> None:
        self._folder, self._fleet = folder, fleet
        self.up, self.slow, self.half = Backend(), Answers(b"HTTP/1.0 200 OK\r\n\r\n"), Answers(b"50%\n", asked=False)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.nothing = free.getsockname()[1]
        self.balancers: dict[str, HAProxy] = {}

    def balancer(self, name: str, backends: dict[str, dict[str, tuple[int, str]]], **more: Any) -> HAProxy:
        found = self.balancers[name] = HAProxy(self._folder / name, backends, **more)
        self._fleet.others[name] = {"drain_haproxy_socket": found.socket}
        return found

    def close(self) -> None:
        for one in [*self.balancers.values(), self.up, self.slow, self.half]:
            one.stop()


@pytest.fixture
def site(tmp_path: Path, fleet: Fleet) -> collections.abc.Iterator[Site]:
    found = Site(tmp_path / "site", fleet)
    yield found
    found.close()


def add(fleet: Fleet, name: str, *balancers: str, variables: dict[str, Any] | None = None, **options: Any) -> Host:
    return fleet.add(name, [{"method": "haproxy", "balancers": list(balancers) or ["lb1"], **options}], **(variables or {}))


def waits(host: Host) -> str:
    """Return why it waits. Nothing is set, and no attempt is used."""
    record = host.record
    assert host.state == "draining" and record["phase"] == "draining" and record["blocker"] == {"kind": "needed", "subjects": []}, host.result
    assert all(one["state"] == "undone" for one in record["methods"]) and record["reason"].startswith("1-haproxy: not yet: "), record
    return str(host.result["error"]).removeprefix("1-haproxy: not yet: ")


# By the name of the host, its server and its backend: its neighbour, what is done, and what comes of it. None: it goes.
WAITS: dict[str, tuple[str, str, str]] = {
    "down": ("off", "", "n: DOWN"),
    "drain": ("on", "state drain", "n: DRAIN"),
    "maint": ("on", "state maint", "n: MAINT"),
    "weight": ("on", "weight 0", "n: UP, weight 0"),
    "half": ("agent", "", "n: UP, weight 0"),
}


def backends_of(site: Site) -> dict[str, dict[str, tuple[int, str]]]:
    """One backend for each case, all on one load balancer."""
    up, off = (site.up.port, CHECK), (site.nothing, CHECK)
    agent = (site.up.port, f"{CHECK} weight 1 agent-check agent-port {site.half.port} agent-inter 100")
    neighbours = {"on": up, "off": off, "agent": agent}
    return {
        **{name: {name: up, "n": neighbours[kind]} for name, (kind, _done, _words) in WAITS.items()},
        "spare": {"spare": up, "n": off, "b": (site.up.port, "backup")},
        "counts": {"counts": up, "n": off, "b": (site.up.port, "backup")},
        "goes": {"goes": up, "n": up},
        "goes-too": {"app": (site.up.port, "track goes/goes"), "n": off},
        "alone": {"alone": up, "b": (site.up.port, "backup")},
        "zero": {"zero": up, "n": off},
        "two": {"two": up, "n": up, "m": off},
        "by-backend": {"by-backend": up, "n": off},
        "away": {"away": up, "n": up},
        "must": {"must": up, "n": off},
        "unused": {"unused": off, "n": off},
        "flight": {"flight": (site.up.port, ""), "n": (site.slow.port, "check inter 200")},
    }


def test_who_waits_for_what(fleet: Fleet, site: Site) -> None:
    site.slow.held.clear()
    backends = backends_of(site)
    lb1 = site.balancer("lb1", backends, more={"flight": "option httpchk\n  timeout check 10m"})
    late = site.balancer("lb2", {"late": {"late": (site.up.port, CHECK), "n": (site.up.port, "track base/z")}, "base": {"z": (site.up.port, NEVER)}})
    hosts = {name: add(fleet, name) for name in backends if name != "goes-too"}
    hosts["late"] = add(fleet, "late", "lb2")
    for name, options in {"zero": {"servers_left": 0}, "two": {"servers_left": 2}, "by-backend": {"servers_left": {"by-backend": 0}}}.items():
        hosts[name].variables["drain_methods"][0].update(options)
    hosts["counts"].variables["drain_methods"][0]["backups_serve"] = True
    hosts["away"].variables["drain_away"] = [{"method": "haproxy", "server": "n", "balancers": ["lb1"], "backends": []}]
    hosts["must"].variables["drain_must"] = True
    lb1.wait_for(lambda: lb1.row("flight", "n")["check_status"] == "* INI", "its first check is not in flight")
    for name, (_kind, done, _words) in WAITS.items():
        if done:
            lb1.ask(f"set server {name}/n {done}")
    for name in ("down", "spare", "counts", "zero", "by-backend", "must", "unused", "goes-too"):
        lb1.wait_for(lambda name=name: lb1.status(name, "n") == "DOWN", f"n of {name} is not down")
    lb1.wait_for(lambda: lb1.row("half", "n")["weight"] == "0", "its agent has not answered")
    assert late.row("base", "z")["check_status"] == "INI" and late.status("late", "n") == "UP"

    check = fleet.drain(check_mode=True)
    assert "down: 1-haproxy: would wait: down is the last server of backend down that takes sessions on lb1 (n: DOWN)" in check.stdout, check.stdout
    assert "alone is the only server of backend alone on lb1" in check.stdout and "set server" not in check.stdout

    fleet.drain()
    for name, (_kind, _done, words) in WAITS.items():
        assert waits(hosts[name]) == f"{name} is the last server of backend {name} that takes sessions on lb1 ({words})"
        assert lb1.admin_state(name, name) == "ready"
    assert waits(hosts["spare"]).endswith("(n: DOWN, b: no check, backup)")
    assert waits(hosts["goes"]) == "app is the last server of backend goes-too that takes sessions on lb1 (n: DOWN)"
    assert waits(hosts["two"]) == "only 1 other server of backend two takes sessions on lb1, and servers_left asks for 2 (m: DOWN)"
    assert waits(hosts["away"]).endswith("(n: UP, drained at the same time)")
    for name, balancer in {"flight": "lb1", "late": "lb2"}.items():
        status = "UP 1/3" if name == "flight" else "UP"
        assert waits(hosts[name]).endswith(f"backend {name} that takes sessions on {balancer} (n: {status}, not checked yet)")
    for name in ("counts", "alone", "zero", "by-backend", "unused"):
        assert hosts[name].state == "drained" and lb1.admin_state(name, name) == "maint", (name, hosts[name].result)
    # Its sessions end; it is not approved, and its checks go on, so that it is back soon.
    assert hosts["must"].state == "drained" and lb1.admin_state("must", "must") == "drain", hosts["must"].result
    assert "no other server of backend must" in hosts["must"].result["error"]
    assert "alone is the only server of backend alone on lb1" in hosts["alone"].result["warning"]

    # What they waited for comes, and a check that is in flight does not count as none.
    site.slow.held.set()
    lb1.wait_for(lambda: lb1.row("flight", "n")["check_status"] == "L7OK", "its check has not passed")
    site.slow.held.clear()
    lb1.wait_for(lambda: lb1.row("flight", "n")["check_status"] == "* L7OK", "no check is in flight")
    for order in ("drain/n state ready", "weight/n weight 1", "goes-too/n health up"):
        lb1.ask(f"set server {order}")
    fleet.drain("flight", "drain", "weight", "down")
    assert waits(hosts["down"])
    for name in ("flight", "drain", "weight"):
        assert hosts[name].state == "drained" and hosts[name].record["attempts"] == 1 and hosts[name].record["reason"] is None, hosts[name].result


def pair(site: Site, options: str = CHECK, first: int | None = None, second: int | None = None) -> dict[str, dict[str, tuple[int, str]]]:
    """One backend of two servers; a port that is not given is one that answers."""
    return {"web": {"web1": (first or site.up.port, options), "web2": (second or site.up.port, options)}}


def test_of_two_balancers_the_stricter_one_holds_and_a_standby_costs_nothing(fleet: Fleet, site: Site) -> None:
    lb1, lb2 = site.balancer("lb1", pair(site)), site.balancer("lb2", pair(site, second=site.nothing))
    standby = site.balancer("standby", pair(site, first=site.nothing, second=site.nothing))
    web1, web3 = add(fleet, "web1", "lb1", "lb2"), add(fleet, "other", "lb1", "standby", server="web1")
    for server, one in (("web2", lb2), ("web1", standby), ("web2", standby)):
        one.wait_for(lambda server=server, one=one: one.status("web", server) == "DOWN", "it is not down")
    fleet.drain("web1")
    assert waits(web1) == "web1 is the last server of backend web that takes sessions on lb2 (web2: DOWN)"
    assert (lb1.admin_state("web", "web1"), lb2.admin_state("web", "web1")) == ("ready", "ready")
    fleet.drain("other")
    assert web3.state == "drained" and (lb1.admin_state("web", "web1"), standby.admin_state("web", "web1")) == ("maint", "maint"), web3.result


def test_two_that_begin_at_once_never_stay_out_together(fleet: Fleet, site: Site) -> None:
    lb1 = site.balancer("lb1", pair(site))
    hosts = [add(fleet, name) for name in ("web1", "web2")]
    for _again in range(3):
        fleet.drain()
        states = {host.name: lb1.admin_state("web", host.name) for host in hosts}
        for host in hosts:
            if states[host.name] == "ready":
                assert waits(host)
            else:
                assert host.state == "drained", host.result
        assert list(states.values()).count("ready") >= 1, states


class Between:
    """A runtime socket in front of a load balancer's own: before one of the commands that come, something happens there."""

    def __init__(self, balancer: HAProxy, number: int, order: str) -> None:
        self.socket = f"{balancer.socket}.front"
        self.commands: list[str] = []
        self._balancer, self._number, self._order = balancer, number, order
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(self.socket)
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _address = self._listener.accept()
            except OSError:
                return
            with connection:
                self.commands.append(connection.makefile("r").readline().strip())
                if len(self.commands) == self._number:
                    self._balancer.ask(self._order)
                connection.sendall(self._balancer.ask(self.commands[-1]).encode())

    def stop(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        Path(self.socket).unlink()


# The first two are of the find. The second time it is the answer after the server was set that has one less.
@pytest.mark.parametrize("number", [3, 6])
def test_one_that_is_refused_by_the_second_balancer_is_put_back_on_the_first(fleet: Fleet, site: Site, number: int) -> None:
    """The finding is in the record, and the neighbour goes before the server is set, or at the same moment."""
    lb1, lb2 = site.balancer("lb1", pair(site)), site.balancer("lb2", pair(site))
    for one in (lb1, lb2):
        one.wait_for(lambda one=one: one.row("web", "web2")["check_status"] == "L4OK", "its check has not passed")
    between = Between(lb2, number, "set server web/web2 state drain")
    try:
        fleet.others["lb2"] = {"drain_haproxy_socket": between.socket}
        web1 = add(fleet, "web1", "lb1", "lb2")
        fleet.drain()
        assert waits(web1) == "web1 is the last server of backend web that takes sessions on lb2 (web2: DRAIN)"
        assert [one["state"] for one in web1.record["methods"]] == ["undone"], "it was found, and nothing is set"
        assert (lb1.admin_state("web", "web1"), lb2.admin_state("web", "web1")) == ("ready", "ready")
        sets = [command for command in between.commands if command.startswith("set")]
        assert sets == ([] if number == 3 else ["set server web/web1 state drain", "set server web/web1 state ready"])
        lb2.ask("set server web/web2 state ready")
        fleet.drain()
        assert web1.state == "drained" and web1.record["attempts"] == 1, web1.result
    finally:
        between.stop()


@pytest.mark.parametrize("maintenance", [True, False])
def test_the_neighbour_goes_while_sessions_end_and_it_comes_back_at_once(fleet: Fleet, site: Site, maintenance: bool) -> None:
    neighbour = Backend()
    try:
        # The check of web1 could prove nothing for minutes: it was never away, and needs no proof.
        backends = {"web": {"web2": (neighbour.port, CHECK), "web1": (site.up.port, NEVER)}}
        lb1 = site.balancer("lb1", backends)
        web1 = add(fleet, "web1", maintenance=maintenance)
        lb1.wait_for(lambda: lb1.row("web", "web2")["check_status"] == "L4OK", "its check has not passed")
        fleet.drain()
        assert web1.state == "drained", web1.result
        neighbour.stop()
        lb1.wait_for(lambda: lb1.status("web", "web2") == "DOWN", "it is not down")
        fleet.drain(verify=True)
        record, words = web1.record, "no other server of backend web takes sessions on lb1 (web2: DOWN)"
        assert (web1.state, web1.result["error"], record["reason"]) == ("drained", words, f"1-haproxy: {words}"), web1.result
        assert record["blocker"] == {"kind": "needed", "subjects": []}

        web1.variables["test_undo_failed"] = True
        fleet.recover()
        assert web1.state == "undone" and lb1.admin_state("web", "web1") == "ready" and lb1.status("web", "web1").startswith("UP"), web1.result
        connection, reached = lb1.connect()
        connection.close()
        assert reached == site.up.port
        fleet.drain()
        assert waits(web1) and web1.record["attempts"] == 1
    finally:
        neighbour.stop()


@pytest.mark.parametrize("maintenance", [True, False])
def test_an_application_that_does_not_come_back_gets_no_session(fleet: Fleet, site: Site, maintenance: bool) -> None:
    """The check comes every 20 s, and one that fails is enough: HAProxy still calls it up from before its maintenance."""
    application = Backend()
    try:
        lb1 = site.balancer("lb1", {"web": {"web2": (site.up.port, CHECK), "web1": (application.port, "check inter 20s fall 1")}})
        web1 = add(fleet, "web1", maintenance=maintenance)
        lb1.wait_for(lambda: lb1.row("web", "web2")["check_status"] == "L4OK", "its check has not passed")
        fleet.drain()
        assert web1.state == "drained", web1.result
        application.stop()
        web1.variables["test_boot_id"] = "boot-2"
        given = lb1.row("web", "web1")["stot"]
        for _look in range(2):
            fleet.recover()
            assert web1.state == "undoing" and "web on lb1 waits for HAProxy's check, DOWN" in web1.result["error"], web1.result
            for _attempt in range(10):
                connection, reached = lb1.connect()
                connection.close()
                assert reached == site.up.port
        # More than the five seconds that were once taken for a check.
        lb1.wait_for(lambda: int(lb1.row("web", "web1")["lastchg"]) > 6, "it does not stay down")
        connection, reached = lb1.connect()
        connection.close()
        assert reached == site.up.port and lb1.row("web", "web1")["stot"] == given, "0 sessions"
    finally:
        application.stop()


def test_what_haproxy_had_called_down_gets_no_session_before_its_check(fleet: Fleet, site: Site) -> None:
    """A standby in the backend of those that lead: HAProxy calls a server up as its maintenance ends."""
    lb1 = site.balancer("lb1", {"web": {"web1": (site.nothing, "check inter 20s fall 1"), "web2": (site.up.port, CHECK)}})
    web1 = add(fleet, "web1")
    lb1.wait_for(lambda: lb1.status("web", "web1") == "DOWN", "it is not down")
    fleet.drain()
    assert web1.state == "drained" and lb1.admin_state("web", "web1") == "maint", web1.result
    web1.variables["test_boot_id"] = "boot-2"
    fleet.recover()
    assert web1.state == "undone" and (lb1.admin_state("web", "web1"), lb1.status("web", "web1")) == ("ready", "DOWN"), web1.result
    for _attempt in range(4):
        connection, reached = lb1.connect()
        connection.close()
        assert reached == site.up.port
