# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The metadata service of one VM: the checks that a request has to pass, in order, and the handlers behind them."""

from __future__ import annotations

import time
import uuid
from collections import deque
from email.utils import formatdate
from typing import Deque, Dict, List, Optional, Tuple
from urllib.parse import unquote_plus

from imds_simulator.endpoint import versions
from imds_simulator.endpoint.approval import MalformedApproval, parse_approval
from imds_simulator.endpoint.faults import AFTER_HANDLING, Fault, answer_instead, spoil
from imds_simulator.endpoint.instance import instance, node
from imds_simulator.vm import Vm
from imds_simulator.wire import Answer, Reply, Request, json_answer
from imds_simulator.world import World

EVENTS_PATH = "/metadata/scheduledevents"
INSTANCE_PATH = "/metadata/instance"
VERSIONS_PATH = "/metadata/versions"
_NO_HEADER = "Bad request. Required metadata header not specified"
_BAD_VERSION = "Bad request. api-version is invalid or was not specified in the request. For more information refer to aka.ms/azureimds"


class Endpoint:
    """The handler of one VM's server."""

    def __init__(self, world: World, vm: Vm) -> None:
        self._world = world
        self._vm = vm
        self._recent: Deque[float] = deque()

    def handle(self, request: Request, reply: Reply) -> None:
        """Check the request, then answer it. Record every answer."""

        def record_and_reply(answer: Answer) -> None:
            self._world.recorder.request(self._vm.name, request, answer)
            reply(answer)

        self._world.asked += 1
        query = parse_query(request.query)
        path = self._known_path(request.path)
        refusal = self._refusal(request, path, query)
        if refusal is not None:
            record_and_reply(self._with_common_headers(refusal))
            return
        fault = self._world.faults.take(self._vm.name, request, self._world.clock.now())
        if fault is not None and fault.kind not in AFTER_HANDLING:
            self._answer_fault(fault, request, record_and_reply)
            return
        finish = record_and_reply if fault is None else self._faulty_reply(fault, record_and_reply)
        self._dispatch(request, str(path), query, finish)

    # --- checks, in the order of the facts' part e3 --------------------------------------------------------------------

    def _refusal(self, request: Request, path: Optional[str], query: List[Tuple[str, str]]) -> Optional[Answer]:
        switches = self._world.switches
        if request.header("x-forwarded-for") is not None:
            return error(switches.forwarded_status, "Bad request. X-Forwarded-For must not be present")
        if request.method not in ("GET", "POST") or (request.method == "POST" and path not in (None, EVENTS_PATH)):
            refused = error(405, "Method not allowed")
            refused.headers["Allow"] = "GET, POST" if path in (None, EVENTS_PATH) else "GET"
            return refused
        if path is None:
            return error(404, "Not found")
        names = [name.lower() for name, _value in query]
        version = next((value for name, value in query if name.lower() == "api-version"), None)
        preview = path == EVENTS_PATH and version == versions.PREVIEW
        if not preview and (request.header("metadata") or "").lower() != "true":
            return error(400, _NO_HEADER)
        if len(names) != len(set(names)):
            return error(switches.duplicate_status, "Bad request. A query parameter was given more than once")
        if path != VERSIONS_PATH and version not in self._accepted_versions(path):
            return json_answer(400, {"error": _BAD_VERSION, "newest-versions": switches.newest_versions})
        if self._over_limit():
            headers = {"Retry-After": "%g" % switches.retry_after} if switches.retry_after else {}
            return json_answer(429, {"error": "Too many requests"}, headers)
        return None

    def _known_path(self, path: str) -> Optional[str]:
        lower = path if self._world.switches.path_case == "lower" else path.lower()
        if lower in (EVENTS_PATH, VERSIONS_PATH):
            return lower
        return INSTANCE_PATH if lower == INSTANCE_PATH or lower.startswith(INSTANCE_PATH + "/") else None

    def _accepted_versions(self, path: str) -> Tuple[str, ...]:
        if path == INSTANCE_PATH:
            return versions.INSTANCE_VERSIONS
        if self._world.switches.instance_versions_accepted:
            return versions.EVENT_VERSIONS + versions.INSTANCE_VERSIONS
        return versions.EVENT_VERSIONS

    def _over_limit(self) -> bool:
        """Return whether the rate limit is exceeded, in real seconds: clients wait real time, whatever the simulated clock does."""
        limit = self._world.switches.rate_limit
        if not limit:
            return False
        now = time.monotonic()
        while self._recent and now - self._recent[0] >= 1.0:
            self._recent.popleft()
        if len(self._recent) >= limit:
            return True
        self._recent.append(now)
        return False

    # --- faults --------------------------------------------------------------------------------------------------------

    def _answer_fault(self, fault: Fault, request: Request, reply: Reply) -> None:
        if fault.kind == "silent":
            self._world.recorder.request(self._vm.name, request, None)
            return
        status = self._world.switches.empty_body_status
        reply(answer_instead(fault, status, common_headers()))

    def _faulty_reply(self, fault: Fault, reply: Reply) -> Reply:
        def later(answer: Answer) -> None:
            self._world.loop.call_later(fault.delay, reply, answer)

        return later if fault.kind == "slow" else lambda answer: reply(spoil(fault, answer))

    # --- handlers ------------------------------------------------------------------------------------------------------

    def _dispatch(self, request: Request, path: str, query: List[Tuple[str, str]], reply: Reply) -> None:
        parameters = {name.lower(): value for name, value in query}
        if path == VERSIONS_PATH:
            known = sorted(set(versions.INSTANCE_VERSIONS))
            reply(self._with_common_headers(json_answer(200, {"apiVersions": known})))
        elif path == INSTANCE_PATH:
            reply(self._with_common_headers(self._instance(request.path[len(INSTANCE_PATH) :], parameters)))
        elif request.method == "POST":
            reply(self._with_common_headers(self._approve(request, parameters["api-version"])))
        else:
            self._get_document(request, parameters["api-version"], reply)

    def _instance(self, below: str, parameters: Dict[str, str]) -> Answer:
        value = node(instance(self._vm, parameters["api-version"]), below)
        if value is None:
            return error(404, "Not found")
        as_text = parameters.get("format", "json").lower() == "text"
        if isinstance(value, str) != as_text:
            return error(400, "Bad request. A leaf needs format=text, all else format=json")
        if as_text:
            return Answer(200, value.encode("utf-8"), {"Content-Type": "text/plain; charset=utf-8"})
        return json_answer(200, value)

    def _get_document(self, request: Request, version: str, reply: Reply) -> None:
        blocked = self._world.count_get(self._vm)

        def answer() -> None:
            reply(self._document(request, version))
            self._world.polled()

        if blocked > 0:
            self._world.clock.call_later(blocked, answer)
        else:
            answer()

    def _document(self, request: Request, version: str) -> Answer:
        body, tag = self._world.document(self._vm, version)
        headers = common_headers()
        if self._world.switches.etag:
            headers["ETag"] = tag
            if tag in (request.header("if-none-match") or ""):
                return Answer(304, b"", headers)
        headers["Content-Type"] = "application/json; charset=utf-8"
        return Answer(200, body, headers)

    def _approve(self, request: Request, version: str) -> Answer:
        switches = self._world.switches
        self._world.count_post(self._vm)
        body, tag = self._world.document(self._vm, version)
        if switches.etag_on_post and tag in (request.header("if-none-match") or ""):
            return error(412, "Precondition failed")
        try:
            ids = parse_approval(request.body)
        except MalformedApproval:
            return error(400, switches.malformed_text)
        found = [self._world.find_event(self._vm, event_id) for event_id in ids]
        unknown = any(event is None for event in found)
        if unknown and switches.unknown_event_status != 200 and not switches.approve_known_of_mixed:
            return error(switches.unknown_event_status, "Bad request. EventId is not known")
        for event in found:
            if event is not None:
                self._world.machine.approve(event, self._vm.name)
        if unknown and switches.unknown_event_status != 200:
            return error(switches.unknown_event_status, "Bad request. EventId is not known")
        return self._approved(version)

    def _approved(self, version: str) -> Answer:
        kind = self._world.switches.approve_body
        if kind == "empty":
            return Answer(200)
        if kind == "object":
            return json_answer(200, {})
        body, _tag = self._world.document(self._vm, version)
        return Answer(200, body, {"Content-Type": "application/json; charset=utf-8"})

    @staticmethod
    def _with_common_headers(answer: Answer) -> Answer:
        answer.headers = dict(answer.headers, **common_headers())
        return answer


def common_headers() -> Dict[str, str]:
    """Return the headers of real answers."""
    return {"Server": "IMDS/150.870.65.1854", "x-ms-request-id": str(uuid.uuid4()), "Date": formatdate(usegmt=True)}


def error(status: int, text: str) -> Answer:
    """Return an answer with the error in the service's form."""
    return json_answer(status, {"error": text})


def parse_query(query: str) -> List[Tuple[str, str]]:
    """Split a query into names and values, decoded."""
    pairs = [part.partition("=") for part in query.split("&") if part]
    return [(unquote_plus(name), unquote_plus(value)) for name, _separator, value in pairs]
