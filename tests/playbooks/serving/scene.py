# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Web servers behind real HAProxy processes, users who never stop asking, and an Azure that stops the server of each VM that it hits."""

from __future__ import annotations

import concurrent.futures
import contextlib
import datetime
import functools
import json
import os
import threading
import time
import typing as t

import verdict
from lab import warm
from lab.haproxy import Backend, HAProxy
from lab.lab import Lab
from lab.load import Answer, Load, Sampler, request
from lab.web_server import HOLD, WebServer

CHECK = "check inter 300 fall 2 rise 2"
# What a site says of its balancer: a request whose server is gone is tried at another one.
SITE = ("option httpchk GET /health", "option redispatch", "retries 2", "timeout connect 300ms")
# A drain is short, and so is the time between two passes: by the real ones an event of these seconds would be at its deadline at once.
SETTINGS = {"respond_drain_seconds": 120, "respond_pass_interval": 5}
# An event of "an hour ahead", at 60 times Azure's speed and more, and what it takes from a VM: three seconds.
NOTICE, HIT = 72000, 180

# Minutes more: every scene that CI does not need, and each to its end.
FULL = os.environ.get("SERVING_FULL") == "1"
SENTENCE = "is the last server of backend"

Servers = t.Mapping[str, t.Mapping[str, str]]


class Scene:
    """A lab with a site of all of its VMs but those that are C(others): what C(backends) says of each balancer, or of all of them.

    extra: more servers, which are no VMs. users: the balancers that users come through. master: HAProxy can be reloaded. schedule: the simulator's clock
    stands, and at() moves it and that of the runs that follow. more: options of the drain method.
    """

    def __init__(
        self, lab: Lab, backends: t.Mapping[str, Servers] | None = None, extra: t.Mapping[str, Backend] | None = None, users: t.Sequence[str] = ("lb1",),
        master: bool = False, schedule: bool = False, others: t.Sequence[str] = (), more: t.Mapping[str, t.Any] | None = None,
    ) -> None:  # fmt: skip
        self.lab = lab
        self.webs = [vm for vm in lab.vms if vm not in others]
        self.servers: dict[str, t.Any] = {**{vm: WebServer(vm) for vm in self.webs}, **(extra or {})}
        self.balancers = {name: self._balancer(name, one, master) for name, one in (backends or {"lb1": {"web": dict.fromkeys(self.webs, CHECK)}}).items()}
        self._inventory(dict(more or {}), schedule)
        self._schedule = schedule
        self.outages = verdict.Outages()
        self._azure = Azure(self)
        for balancer in self.balancers.values():
            self._settle(balancer)
        self.sampler = Sampler(self.balancers)
        self.load = Load([port for name in users for port in self.balancers[name].ports.values()])

    def _balancer(self, name: str, backends: Servers, master: bool) -> HAProxy:
        lines = {backend: {server: (self.servers[server].port, options) for server, options in servers.items()} for backend, servers in backends.items()}
        return HAProxy(self.lab.folder / name, lines, mode="http", defaults=SITE, master=master)

    def _inventory(self, method: dict[str, t.Any], schedule: bool) -> None:
        lab = self.lab
        lab.all.update({"respond_timing": {"gone_seconds": 1}} if schedule else SETTINGS, respond_hosts=",".join(lab.vms))
        for name, balancer in self.balancers.items():
            local = {"ansible_connection": "local", "ansible_become": False, "ansible_python_interpreter": warm.python()}
            lab.hosts[name] = {**local, "drain_haproxy_socket": balancer.socket}
        for vm in self.webs:
            lab.hosts[vm].update(
                respond_health={"url": f"http://127.0.0.1:{self.servers[vm].port}/health"},
                drain_methods=[{"method": "haproxy", "balancers": list(self.balancers), **method}],
            )

    @staticmethod
    def _settle(balancer: HAProxy) -> None:
        """Wait until the first checks are over."""
        balancer.wait_for(lambda: "INI" not in balancer.ask("show stat -1 4 -1"), "its first checks are not over")

    # --- what happens ----------------------------------------------------------------------------------------------------

    def event(self, *vms: str, **more: t.Any) -> str:
        return self.lab.simulator.event(more.pop("event_type", "Reboot"), vms, **{"notice": NOTICE, "started_seconds": HIT, **more})

    def kill(self, vm: str) -> None:
        """Not by Azure: its application ends, and HAProxy has noticed."""
        self.fail(vm)
        self.until_taking(vm, False)

    def fail(self, vm: str) -> None:
        """The same, without HAProxy's notice."""
        self.outages.begin(vm, "itself")
        self.servers[vm].stop()

    def cure(self, vm: str) -> None:
        self.servers[vm].start()
        self.until_taking(vm, True)
        self.outages.end(vm)

    def order(self, vm: str, command: str, out: bool, balancers: t.Iterable[str] | None = None) -> None:
        """What a person types at HAProxy's socket: C(out) says what comes of it."""
        if out:
            self.outages.begin(vm, "itself")
        for name in balancers or self.balancers:
            self.balancers[name].ask(command)
        if not out:
            self.outages.end(vm)

    def hold(self, vm: str) -> concurrent.futures.Future[Answer]:
        """Open a session that this VM keeps open until its server's release(); return the answer that is to come."""
        pool = concurrent.futures.ThreadPoolExecutor(20)
        answers: list[concurrent.futures.Future[Answer]] = []
        while not self.servers[vm].held:
            # Several at once: users take turns with them.
            answers += [pool.submit(request, self.balancers["lb1"].port, HOLD, 100) for _number in range(3)]
            self.until(functools.partial(self._hold, len(answers)), "the sessions are open")
        for other in set(self.webs) - {vm}:
            self.servers[other].release()
        self.until(lambda: sum(not one.done() for one in answers) == self.servers[vm].held, "the other sessions have ended")
        return next(one for one in answers if not one.done())

    def _hold(self, count: int) -> bool:
        return sum(self.servers[web].held for web in self.webs) == count

    def takes(self, server: str) -> bool:
        """Return whether any balancer gives a server new sessions in any backend; asked now."""
        return any(word == "in" for sample in self.sampler.look() for (_backend, name), word in sample.servers.items() if name == server)

    def until_taking(self, server: str, wanted: bool, seconds: float = 10) -> None:
        self.until(lambda: self.takes(server) == wanted, f"{server} takes sessions: {wanted}", seconds)

    def until_status(self, balancers: t.Iterable[str], server: str, wanted: str) -> None:
        for name in balancers:
            self.until(lambda name=name: self.balancers[name].status("web", server) == wanted, f"{name} calls {server} {wanted}")

    def until(self, true: t.Callable[[], bool], what: str, seconds: float = 20) -> None:
        self.lab.simulator.until(true, seconds, what)

    def at(self, seconds: float) -> None:
        """Go to this second of the simulated time, in which events start and end on the way."""
        self.lab.simulator.ask("POST", "/clock", {"advance": seconds - self.lab.simulator.ask("GET", "/clock")["now"]})

    def hit(self, seconds: float) -> None:
        """Let what has started last so long under load, while the simulated time stands."""
        threading.Event().wait(seconds)

    def _environment(self) -> dict[str, str]:
        if not self._schedule:
            return self.lab.environment()
        simulated = datetime.datetime.fromisoformat(self.lab.simulator.ask("GET", "/clock")["date"]).timestamp()
        return self.lab.environment(CLOCK_SHIFT=str(simulated - time.time()))

    def respond(self, *arguments: str, **variables: t.Any) -> tuple[int, str]:
        """Run playbook respond to its end: exit code and output."""
        done = warm.run_playbook(self.lab.command("maintenance.azure.respond", *arguments, **variables), self._environment(), self.lab.folder, 600)
        return done.returncode, done.stdout + done.stderr

    def whole(self, **variables: t.Any) -> tuple[int, str]:
        """One run that waits until every event is over."""
        return self.respond(respond_wait=True, respond_wait_timeout=300, **variables)

    # --- what came of it -------------------------------------------------------------------------------------------------

    def orders(self) -> list[str]:
        """Which servers each HAProxy has an order for (drain, maintenance); asked of it now, without any code of the collection."""
        found = []
        for name, balancer in self.balancers.items():
            for row in balancer.ask("show servers state").splitlines():
                words = row.split()
                if len(words) > 6 and words[3] in self.webs and int(words[6]) & 0b1001:
                    found.append(f"{name} {words[1]}/{words[3]}")
        return found

    def end(self, name: str) -> verdict.Verdict:
        """End the load, print its figures, and return them."""
        answers: list[Answer] = self.load.stop()
        self.sampler.stop()
        self._azure.stop()
        found = verdict.judge(answers, self.outages, self.webs)
        print(f"serving: {name}: {found.line()}; most out at once: {self.most_out()}")
        for line in (*found.seconds(self.load.began), *self.sampler.changes(self.load.began), *self.transitions()):
            print(f"  {line}")
        return found

    def most_out(self) -> int:
        """How many VMs took no sessions in any backend of a balancer at the same time."""
        every = (self._out(sample.servers) for sample in self.sampler.samples if sample.servers)
        return max((len(names) for names in every), default=0)

    def _out(self, servers: dict[tuple[str, str], str]) -> set[str]:
        return {server for (_backend, server), word in servers.items() if word not in ("in", "backup") and server in self.webs}

    def transitions(self) -> list[str]:
        return [f"simulator: {entry['time'][14:21]} {entry['transition']} {','.join(entry['resources'])}" for entry in self.lab.simulator.log()]

    def close(self) -> None:
        self.load.stop()
        self.sampler.stop()
        self._azure.stop()
        for vm in self.webs:
            self.servers[vm].release()
        for one in (*self.balancers.values(), *self.servers.values()):
            one.stop()


class Azure:
    """Stops the servers of an event's VMs when it starts, and starts them again when it is over."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def _work(self) -> None:
        known = 0
        while not self._ended.wait(0.05):
            with contextlib.suppress(OSError, json.JSONDecodeError):
                entries = self._scene.lab.simulator.ask("GET", f"/log?since={known}")
                known += len(entries)
                for entry in entries:
                    self._act(entry)

    def _act(self, entry: dict[str, t.Any]) -> None:
        for vm in (name for name in entry["resources"] if name in self._scene.servers):
            if entry["transition"] == "started":
                self._scene.outages.begin(vm, "approved" if entry["approved"] else "azure")
                self._scene.servers[vm].stop()
            elif entry["transition"] in ("finished", "cancelled"):
                self._scene.servers[vm].start()
                self._scene.outages.end(vm)

    def stop(self) -> None:
        self._ended.set()
        self._thread.join(10)
