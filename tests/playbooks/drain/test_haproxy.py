# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Method haproxy against real HAProxy processes: sessions that are open, servers that are down, balancers that are gone."""

from __future__ import annotations

import collections.abc
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from fleet import Fleet, Host

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from lab.haproxy import Backend, HAProxy  # noqa: E402  the folder of tests is no package

CHECK = "check inter 200 rise 2 fall 3"
NAMES = ("web1", "web2", "web3")


class Site:
    """Three servers behind two load balancers, which are inventory hosts as well."""

    def __init__(self, folder: Path) -> None:
        self.servers = {name: Backend() for name in NAMES}
        self.ports = {name: server.port for name, server in self.servers.items()}
        checked = {name: (port, CHECK) for name, port in self.ports.items()}
        unchecked = {name: (port, "") for name, port in self.ports.items()}
        self.balancers = {name: HAProxy(folder / name, {"shop": checked, "plain": unchecked}) for name in ("lb1", "lb2")}
        for balancer in self.balancers.values():
            for name in NAMES:
                balancer.wait_for(lambda name=name, one=balancer: one.status("shop", name) == "UP", f"{name} is not up")

    def states(self, server: str) -> list[str]:
        return [balancer.admin_state(backend, server) for balancer in self.balancers.values() for backend in ("shop", "plain")]

    def inventory(self) -> dict[str, Any]:
        return {name: {"drain_haproxy_socket": one.socket} for name, one in self.balancers.items()}

    def close(self) -> None:
        for one in [*self.balancers.values(), *self.servers.values()]:
            one.stop()


@pytest.fixture
def site(tmp_path: Path) -> collections.abc.Iterator[Site]:
    found = Site(tmp_path / "site")
    yield found
    found.close()


def method(**options: Any) -> list[dict[str, Any]]:
    return [{"method": "haproxy", "balancers": ["lb1", "lb2"], **options}]


def add(fleet: Fleet, site: Site, *names: str, **options: Any) -> list[Host]:
    fleet.others = site.inventory()
    return [fleet.add(name, method(**options)) for name in names]


def recover(fleet: Fleet, *names: str) -> Any:
    """Recover until no server waits for its check: HAProxy may take longer for it than one observation does."""
    for _observation in range(20):
        run = fleet.recover(*names)
        if not any("waits for HAProxy's check" in str(fleet.hosts[name].result.get("error")) for name in names or fleet.hosts):
            break
    return run


def sessions(balancer: HAProxy, port: int) -> list[Any]:
    """One open session on the server with this port; the others that turned up are closed."""
    for _attempt in range(20):
        connection, reached = balancer.connect()
        if reached == port:
            return [connection]
        connection.close()
    raise AssertionError(f"no session reached port {port}")


def test_out_and_back_with_an_open_session(fleet: Fleet, site: Site) -> None:
    web1, web2 = add(fleet, site, "web1", "web2")
    web2.variables["drain_methods"] = method(maintenance=False, backends=["shop"])
    (held,) = sessions(site.balancers["lb2"], site.ports["web1"])

    fleet.drain()
    assert web1.state == "draining" and web1.result["error"] == "sessions left: 1 of shop on lb2", web1.result
    # Where nothing is left it is in maintenance; new sessions go elsewhere.
    assert site.states("web1") == ["maint", "maint", "drain", "maint"]
    assert web2.state == "drained" and site.states("web2") == ["drain", "ready", "drain", "ready"], web2.result
    for balancer in site.balancers.values():
        for _attempt in range(6):
            connection, reached = balancer.connect()
            connection.close()
            assert reached == site.ports["web3"]
    found = {"state": "ready", "up": True}
    assert web1.method(0)["before"] == {"server": "web1", "balancers": {name: {"plain": found, "shop": found} for name in ("lb1", "lb2")}}
    assert web1.method(0)["outside"] is True and "has no copy" in web1.result["warning"], web1.result

    held.close()
    fleet.drain("web1")
    assert web1.state == "drained" and site.states("web1") == ["maint"] * 4, web1.result
    revision = web1.record["revision"]
    fleet.drain("web1", verify=True)
    assert web1.state == "drained" and web1.record["revision"] == revision + 1, "only verified_at changes"

    # A person, or a restart of HAProxy, lets it in again: it is drained again, and what was found first stays.
    site.balancers["lb1"].ask("set server shop/web1 state ready")
    fleet.drain("web1", verify=True)
    assert web1.state == "drained" and site.states("web1") == ["maint"] * 4, web1.result
    assert web1.method(0)["before"]["balancers"]["lb1"]["shop"] == found

    # Its service is not there yet. HAProxy would call it up at once after maintenance; it gets no session before a check.
    site.servers["web1"].stop()
    fleet.recover()
    assert web1.state == "undoing" and "waits for HAProxy's check" in web1.result["error"], web1.result
    # Ready, and down until HAProxy itself has checked it: nothing of ours has to come by at the right moment.
    assert site.states("web1") == ["ready"] * 4 and {one.status("shop", "web1") for one in site.balancers.values()} == {"DOWN"}
    assert web2.state == "undone" and site.states("web2") == ["ready"] * 4, web2.result
    site.servers["web1"].start()
    for balancer in site.balancers.values():
        balancer.wait_for(lambda one=balancer: one.status("shop", "web1") == "UP", "it is not up again")
    fleet.recover("web1")
    assert web1.state == "undone" and site.states("web1") == ["ready"] * 4, web1.result
    assert {balancer.status("shop", "web1") for balancer in site.balancers.values()} == {"UP"}


def lie(host: Host, change: collections.abc.Callable[[dict[str, Any]], None]) -> None:
    """Somebody who has taken the VM over writes its record."""
    path = max(host.path("records").glob("event-*.json"), key=lambda file: int(file.name.split(".")[-2]))
    record = json.loads(path.read_text())
    change(record)
    path.write_text(json.dumps(record))


TEMPLATE = "{{ lookup('pipe', 'touch pwned') }}{% raw %}"


def forged(record: dict[str, Any], folder: Path) -> None:
    """Methods that reach other hosts and the controller, and one of this VM with a template in it."""
    ready = {"state": "ready", "up": True}
    (balancer,) = record["methods"]
    balancer["options"] = {"balancers": ["localhost", "lb2"], "socket": "/evil", "server": "web3"}
    balancer["before"]["balancers"].update(web1={"shop": ready}, localhost={"shop": ready})
    common = {"state": "drained", "before": {}, "at": record["methods"][0]["at"], "boot_id": None, "error": None, "outside": False}
    said = folder / "said"
    record["methods"] += [
        {**common, "id": "2-tasks", "method": "tasks", "options": dict.fromkeys(("begin", "check", "undo"), str(folder / "evil.yml"))},
        {**common, "id": "../../x", "method": "../../x", "options": {}},
        {**common, "id": "4-command", "method": "command", "options": {"undo": ["sh", "-c", f'printf %s "$0" > {said}', TEMPLATE], "timeout": 5}},
    ]


def test_what_somebody_else_took_out_stays_out_and_a_record_that_lies_reaches_nothing_else(fleet: Fleet, site: Site) -> None:
    web1, web2 = add(fleet, site, "web1", "web2")
    site.balancers["lb1"].ask("set server shop/web1 state maint")
    site.balancers["lb1"].ask("set server plain/web1 state drain")
    fleet.drain()
    assert web1.state == "drained" and site.states("web1") == ["maint"] * 4, web1.result
    assert web2.state == "drained" and site.states("web2") == ["maint"] * 4, web2.result

    # The record of web2 is an attacker's, and lb2 has left the variables.
    (web2.folder / "evil.yml").write_text(f"- ansible.builtin.command: touch {web2.folder}/pwned\n  delegate_to: localhost\n")
    lie(web2, lambda record: forged(record, web2.folder))
    web2.variables["drain_methods"] = [{"method": "none"}, {"method": "haproxy", "balancers": ["lb1"]}]
    run = recover(fleet)
    assert web1.state == "undone" and site.states("web1") == ["maint", "drain", "ready", "ready"], web1.result
    assert web2.state == "undoing" and site.states("web2") == ["ready", "ready", "maint", "maint"], web2.result
    for words in ("balancer lb2 was ready before the drain", "balancer localhost", "balancer web1", "its record says that method 2-tasks (tasks)", "'../../x'"):
        assert words in web2.result["error"], web2.result
    assert web2.path("said").read_text() == TEMPLATE, "its own command is run on it, and as it is"
    assert not list(fleet.folder.rglob("pwned")) and not Path("pwned").exists()
    assert not [line for line in run.stdout.splitlines() if "web2 -> " in line and "-> lb1" not in line], run.stdout
    states = {one["id"]: one["state"] for one in web2.record["methods"]}
    assert states == {"1-haproxy": "undoing", "2-tasks": "undoing", "../../x": "undoing", "4-command": "undone"}
    assert web2.record["undone"] is False

    # A person acts: what was there is named once more, for undo only, or said to be put back.
    lie(web2, lambda record: record.update(methods=[one for one in record["methods"] if one["id"] != "../../x"]))
    lie(web2, lambda record: [record["methods"][0]["before"]["balancers"].pop(name) for name in ("web1", "localhost")])
    web2.variables["drain_methods_former"] = [{"method": "haproxy", "balancers": ["lb2"]}, {"name": "2-tasks", "method": "tasks", "by_hand": True}]
    recover(fleet, "web2")
    assert web2.state == "undone" and site.states("web2") == ["ready"] * 4 and web2.record["undone"] is True, web2.result


def test_a_balancer_that_is_gone_is_named(fleet: Fleet, site: Site) -> None:
    web1, web2 = add(fleet, site, "web1", "web2")
    web2.variables["drain_methods"] = method(server="web9")
    fleet.others["lb2"].update(ansible_connection="ssh", ansible_host="127.0.0.1", ansible_port=9)
    fleet.drain()
    assert web1.state == "failed" and "load balancer lb2 cannot be reached" in web1.result["error"], web1.result
    assert site.states("web1") == ["ready"] * 4
    assert web2.state == "failed" and "load balancer lb1: HAProxy at" in web2.result["error"] and "web9" in web2.result["error"], web2.result

    fleet.others = site.inventory()
    fleet.drain("web1")
    assert web1.state == "drained" and site.states("web1") == ["maint"] * 4, web1.result
    site.balancers["lb1"].stop()
    # Killed in the middle: nothing is put back on the other one, and nothing is approved. Once it runs again, it is drained again.
    fleet.drain("web1", verify=True)
    assert web1.state == "draining" and "load balancer lb1: HAProxy's runtime socket" in web1.result["error"] and "lb2" not in web1.result["error"], web1.result
    assert site.balancers["lb2"].admin_state("plain", "web1") == "maint" and "away" in web1.method(0)["times"]
    site.balancers["lb1"].start()
    fleet.drain("web1", verify=True)
    assert web1.state == "drained" and site.states("web1") == ["maint"] * 4 and "away" not in web1.method(0)["times"], web1.result
    site.balancers["lb1"].stop()
    recover(fleet, "web1")
    assert web1.state == "undoing" and "load balancer lb1" in web1.result["error"] and "lb2" not in web1.result["error"], web1.result
    assert site.balancers["lb2"].admin_state("plain", "web1") == "ready"
    # It comes back with what its configuration says, and that is how it was.
    site.balancers["lb1"].start()
    recover(fleet, "web1")
    assert web1.state == "undone" and site.states("web1") == ["ready"] * 4, web1.result
    assert web1.record["undone"] is True


def test_the_copy_says_what_was_found_and_without_one_the_drain_goes_on(fleet: Fleet, site: Site) -> None:
    web1, web2, web3 = add(fleet, site, "web1", "web2", "web3")
    # A drain that fails before it has found anything has nothing outside to be put back.
    web3.variables["drain_methods"] = method(backends=["nothing"])
    fleet.others["keeper"] = {}
    fleet.others["gone"] = {"ansible_connection": "ssh", "ansible_host": "127.0.0.1", "ansible_port": 9}
    copies = fleet.folder / "copies"
    web1.variables.update(test_replica="keeper", test_replica_path=str(copies))
    web2.variables.update(test_replica="gone", test_replica_path=str(copies))
    fleet.drain()
    assert web1.state == web2.state == "drained", (web1.result, web2.result)
    assert web1.result["warning"] is None
    assert "(gone: " in web2.result["warning"] and "put back by hand" in web2.result["warning"], web2.result
    (copy,) = [json.loads(path.read_text()) for path in copies.glob("mirror-*.json")]
    assert (copy["format"], copy["vm"], copy["vm_id"]) == (2, "web1", web1.record["vm_id"])
    (kept,), (own,) = copy["record"]["methods"], web1.record["methods"]
    assert kept == {key: own[key] for key in ("id", "method", "state", "before", "at", "outside")}, "findings, and no options"
    assert copy["record"]["event"]["description"] is None and copy["record"]["rule"] is None
    assert web3.state == "failed" and "nothing" in web3.result["error"], web3.result

    web3.variables["test_undo_failed"] = True
    recover(fleet)
    assert [host.state for host in (web1, web2, web3)] == ["undone"] * 3, [host.result for host in (web1, web2, web3)]
    (copy,) = [json.loads(path.read_text()) for path in copies.glob("mirror-*.json")]
    assert copy["record"]["methods"][0]["state"] == "undone" and copy["record"]["undone"] is True
