# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The control API: tests, drills and operators control the simulator. JSON in, JSON out."""

from __future__ import annotations

import json
from typing import Any, Awaitable, Callable, Dict, List, Tuple

from imds_simulator.clock import VirtualClock, iso
from imds_simulator.control.guard import Guard, Refused
from imds_simulator.endpoint.faults import KINDS, FaultError
from imds_simulator.endpoint.handler import parse_query
from imds_simulator.events.event import FIELDS, Event, EventError
from imds_simulator.scenarios import scenarios
from imds_simulator.switches import SWITCHES, SwitchError
from imds_simulator.vm import Vm
from imds_simulator.wire import Answer, Reply, Request, json_answer
from imds_simulator.world import World


class ControlError(Exception):
    """A call that fails, with the status and the message for the caller."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Control:
    """Routes of the control API."""

    def __init__(self, world: World, guard: Guard, add_vm: Callable[[Vm], Awaitable[None]]) -> None:
        self._world = world
        self._guard = guard
        self._add = add_vm
        self._routes: Dict[Tuple[str, str], Callable[..., Any]] = {
            ("GET", ""): self._help,
            ("GET", "state"): self._state,
            ("GET", "events"): lambda body: [event.as_dict() for event in world.machine.events.values()],
            ("POST", "events"): lambda body: world.machine.create(body).as_dict(),
            ("GET", "clock"): lambda body: self._clock(),
            ("POST", "clock"): self._advance,
            ("GET", "faults"): lambda body: world.faults.as_list(world.clock.now()),
            ("POST", "faults"): lambda body: world.faults.add(body, world.clock.now()).as_dict(),
            ("DELETE", "faults"): self._clear_faults,
            ("GET", "requests"): lambda body: world.recorder.requests(),
            ("DELETE", "requests"): self._forget_requests,
            ("GET", "log"): lambda body: world.recorder.log(),
            ("GET", "scenarios"): lambda body: scenarios.listing(),
            ("GET", "switches"): lambda body: world.switches.as_dict(),
            ("POST", "switches"): self._switch,
            ("GET", "vms"): lambda body: [vm.as_dict() for vm in world.groups.vms.values()],
            ("POST", "feature"): self._feature,
            ("POST", "shutdown"): self._shutdown,
        }

    def handle(self, request: Request, reply: Reply) -> None:
        """Answer a request to the control API."""
        segments = [segment for segment in request.path.split("/") if segment]
        try:
            self._guard.check(request)
            body = self._body(request)
            if (request.method, segments) == ("POST", ["vms"]):
                self._add_vm(body, reply)
                return
            value = self._call(request.method, segments, body)
            if isinstance(value, list) and request.query:
                value = self._filtered(value, request.query)
            reply(json_answer(200, value))
        except Refused as refusal:
            reply(json_answer(refusal.status, {"error": str(refusal)}, refusal.headers))
        except ControlError as problem:
            reply(json_answer(problem.status, {"error": str(problem)}))
        except (EventError, FaultError, SwitchError, scenarios.ScenarioError) as problem:
            reply(json_answer(400, {"error": str(problem)}))

    @staticmethod
    def _body(request: Request) -> Dict[str, Any]:
        if not request.body.strip():
            return {}
        try:
            value = json.loads(request.body.decode("utf-8"))
        except (ValueError, RecursionError):
            raise ControlError(400, "the body is not JSON") from None
        if not isinstance(value, dict):
            raise ControlError(400, "the body is not a JSON object")
        return value

    @staticmethod
    def _filtered(entries: List[Any], query: str) -> List[Any]:
        """Filter entries: ``?since=N`` skips the first N, ``?vm=NAME`` and other names compare a key."""
        for name, value in parse_query(query):
            if name == "since":
                entries = entries[int(value) if value.isdigit() else 0 :]
            else:
                entries = [entry for entry in entries if str(entry.get(name)) == value]
        return entries

    def _call(self, method: str, segments: List[str], body: Dict[str, Any]) -> Any:
        if len(segments) == 3 and segments[0] == "events" and method == "POST":
            return self._act(segments[1], segments[2], body)
        if len(segments) == 2 and segments[0] == "events" and method == "GET":
            return self._event(segments[1]).as_dict()
        if len(segments) == 2 and segments[0] == "scenarios":
            return self._scenario(method, segments[1], body)
        route = self._routes.get((method, "/".join(segments)))
        if route is None:
            raise ControlError(404, "there is no %s /%s; GET / lists what there is" % (method, "/".join(segments)))
        return route(body)

    # --- routes --------------------------------------------------------------------------------------------------------

    def _help(self, _body: Dict[str, Any]) -> Dict[str, Any]:
        routes = sorted("%s /%s" % route for route in self._routes)
        routes += ["POST /vms", "GET /events/ID", "POST /events/ID/{approve,start,finish,cancel}"]
        routes += ["GET /scenarios/NAME", "POST /scenarios/NAME"]
        switches = {name: {"default": entry[0], "text": entry[2]} for name, entry in SWITCHES.items()}
        return {"routes": routes, "event": sorted(FIELDS), "faults": KINDS, "switches": switches}

    def _state(self, _body: Dict[str, Any]) -> Dict[str, Any]:
        world = self._world
        now = world.clock.now()
        vms = {}
        for vm in world.groups.vms.values():
            feature = world.groups.feature(vm).state(now)
            vms[vm.name] = dict(vm.as_dict(), feature=feature, incarnation=world.groups.incarnation(vm))
        return {
            "control": world.control_url,
            "clock": self._clock(),
            "vms": vms,
            "events": [event.as_dict() for event in world.machine.events.values()],
            "faults": world.faults.as_list(now),
            "switches": world.switches.as_dict(),
            "requests": world.recorder.request_count,
            "asked": world.asked,
            "scenario": world.played,
        }

    def _clock(self) -> Dict[str, Any]:
        clock = self._world.clock
        now = clock.now()
        return {"kind": clock.kind, "speed": clock.speed, "now": now, "date": iso(clock.date_of(now))}

    def _advance(self, body: Dict[str, Any]) -> Dict[str, Any]:
        clock = self._world.clock
        if not isinstance(clock, VirtualClock):
            raise ControlError(409, "only a virtual clock can be moved; start the simulator with --clock virtual")
        seconds = body.get("advance")
        if not isinstance(seconds, (int, float)) or isinstance(seconds, bool) or seconds < 0:
            raise ControlError(400, "'advance' is the number of seconds to go on, not %r" % (seconds,))
        clock.advance(seconds)
        return self._clock()

    def _event(self, event_id: str) -> Event:
        event = self._world.machine.get(event_id)
        if event is None:
            raise ControlError(404, "there is no event %s" % event_id)
        return event

    def _act(self, event_id: str, act: str, body: Dict[str, Any]) -> Dict[str, Any]:
        event = self._event(event_id)
        if act not in scenarios.ACTS:
            raise ControlError(404, "an event can approve, start, finish or cancel, not '%s'" % act)
        try:
            scenarios.act_on(self._world, act, event, str(body.get("by", "control")))
        except EventError as problem:
            raise ControlError(409, str(problem)) from None
        return event.as_dict()

    def _clear_faults(self, _body: Dict[str, Any]) -> List[Any]:
        self._world.faults.clear()
        return []

    def _forget_requests(self, _body: Dict[str, Any]) -> List[Any]:
        self._world.recorder.forget_requests()
        return []

    def _switch(self, body: Dict[str, Any]) -> Dict[str, Any]:
        self._world.switches.change(body)
        self._world.refresh()
        return self._world.switches.as_dict()

    def _feature(self, body: Dict[str, Any]) -> Dict[str, Any]:
        self._world.groups.set_features(bool(body.get("enabled")))
        self._world.refresh()
        return {"enabled": bool(body.get("enabled"))}

    def _scenario(self, method: str, name: str, body: Dict[str, Any]) -> Dict[str, Any]:
        scenario = scenarios.load(name)
        if method == "GET":
            return scenario
        return scenarios.play(self._world, scenario, body.get("vms"))

    def _add_vm(self, body: Dict[str, Any], reply: Reply) -> None:
        """Add a VM. The one route that waits, for its server to open."""
        try:
            vm = Vm(**body)
        except (TypeError, ValueError) as problem:
            raise ControlError(400, str(problem)) from None
        self._world.loop.create_task(self._add_and_reply(vm, reply))

    async def _add_and_reply(self, vm: Vm, reply: Reply) -> None:
        answer: Answer
        try:
            await self._add(vm)
            answer = json_answer(200, vm.as_dict())
        except (OSError, ValueError) as problem:
            answer = json_answer(409, {"error": str(problem)})
        reply(answer)

    def _shutdown(self, _body: Dict[str, Any]) -> Dict[str, Any]:
        self._world.loop.call_later(0.05, self._world.stopped.set)
        return {"shutdown": True}
