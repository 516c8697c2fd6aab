# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Faults injected between request and answer, as seen with real endpoints, proxies and networks."""

from __future__ import annotations

import itertools
from typing import Any, Dict, List, Optional

from imds_simulator.wire import Answer, Request, json_answer

# kind: what it does
KINDS: Dict[str, str] = {
    "status": "answer with `status` (404, 410, 429, 500, 503, 504 are also kinds of their own)",
    "empty_body": "200 (see switch empty_body_status) without a body",
    "cut_json": "the first half of the JSON, with a matching Content-Length",
    "garbage": "text before the JSON",
    "html": "an HTML page with status 504, as from a proxy",
    "html_ok": "an HTML page with status 200",
    "no_events": "JSON that has no Events list",
    "long_length": "Content-Length larger than the body, then the connection is closed",
    "short_length": "Content-Length smaller than the body, then the connection is closed",
    "too_large": "a document of more than 1 MiB",
    "slow": "the right answer after `seconds` (real ones, whatever the clock)",
    "reset": "connection reset instead of an answer",
    "close": "connection closed without an answer",
    "lost_answer": "the request is carried out, then the connection is reset",
    "redirect": "302 to another address",
    "silent": "no answer at all, the connection stays open",
}
_TEXTS = {404: "Not found", 410: "Gone", 429: "Too many requests", 500: "Internal server error"}
_HTML = b"<html><head><title>504 Gateway Time-out</title></head><body><h1>504 Gateway Time-out</h1></body></html>"
_KEYS = ("kind", "vm", "count", "seconds", "status", "method", "path")
# Kinds whose request is handled first.
AFTER_HANDLING = ("slow", "lost_answer", "cut_json", "garbage", "long_length", "short_length")


class FaultError(ValueError):
    """The options do not make a fault; the message says why."""


class Fault:
    """One fault: for which VM, how often (`count`) and how long (`seconds` of the simulation; for `slow` the delay)."""

    def __init__(self, number: int, options: Dict[str, Any], now: float) -> None:
        unknown = sorted(set(options) - set(_KEYS))
        if unknown:
            raise FaultError("a fault has no '%s'; known are %s" % (unknown[0], ", ".join(_KEYS)))
        kind = str(options.get("kind", ""))
        self.status = int(options.get("status") or 500)
        if kind.isdigit():
            kind, self.status = "status", int(kind)
        if kind not in KINDS or not 200 <= self.status <= 599:
            raise FaultError("there is no fault '%s'; known are %s" % (kind, ", ".join(sorted(KINDS))))
        self.number = number
        self.kind = kind
        self.vm: Optional[str] = options.get("vm")
        self.method: Optional[str] = options.get("method")
        self.path: str = str(options.get("path") or "scheduledevents")
        self.left: Optional[int] = options.get("count")
        seconds = options.get("seconds")
        self.delay = float(seconds or 0)
        self.until: Optional[float] = None if seconds is None or kind == "slow" else now + float(seconds)

    def over(self, now: float) -> bool:
        """Return whether the fault is used up or expired."""
        return (self.left is not None and self.left <= 0) or (self.until is not None and now >= self.until)

    def hits(self, vm_name: str, request: Request) -> bool:
        """Return whether the fault applies to a request of this VM."""
        return (
            (self.vm is None or self.vm.lower() == vm_name.lower())
            and (self.method is None or self.method == request.method)
            and (self.path == "any" or self.path in request.path.lower())
        )

    def as_dict(self) -> Dict[str, Any]:
        """Return the fault for the control API."""
        shown: Dict[str, Any] = {"id": self.number, "kind": self.kind, "vm": self.vm, "left": self.left}
        if self.kind == "status":
            shown["status"] = self.status
        return shown


class Faults:
    """The faults that are pending or active."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._faults: List[Fault] = []

    def add(self, options: Dict[str, Any], now: float) -> Fault:
        """Add a fault. Raise FaultError."""
        try:
            fault = Fault(next(self._numbers), options, now)
        except (TypeError, ValueError) as problem:
            raise FaultError(str(problem)) from None
        self._faults.append(fault)
        return fault

    def clear(self) -> None:
        """Remove all faults."""
        self._faults = []

    def take(self, vm_name: str, request: Request, now: float) -> Optional[Fault]:
        """Return the oldest fault that applies to this request, and count it."""
        if not self._faults:
            return None
        self._faults = [fault for fault in self._faults if not fault.over(now)]
        for fault in self._faults:
            if fault.hits(vm_name, request):
                if fault.left is not None:
                    fault.left -= 1
                return fault
        return None

    def as_list(self, now: float) -> List[Dict[str, Any]]:
        """Return the faults that are not over, for the control API."""
        return [fault.as_dict() for fault in self._faults if not fault.over(now)]


def answer_instead(fault: Fault, empty_status: int, headers: Dict[str, str]) -> Answer:
    """Return the answer of a fault that bypasses the handler. `silent` sends none and is handled elsewhere."""
    if fault.kind == "status":
        return json_answer(fault.status, {"error": _TEXTS.get(fault.status, "Service unavailable")}, headers)
    if fault.kind in ("html", "html_ok"):
        status = 504 if fault.kind == "html" else 200
        return Answer(status, _HTML, {"Content-Type": "text/html"}, close=True)
    if fault.kind == "redirect":
        return Answer(302, b"", dict(headers, Location="http://127.0.0.1:9/metadata/scheduledevents"))
    if fault.kind == "no_events":
        return json_answer(200, {"DocumentIncarnation": 1}, headers)
    if fault.kind == "too_large":
        return json_answer(200, {"DocumentIncarnation": 1, "Events": [], "Padding": "x" * 1100000}, headers)
    if fault.kind == "empty_body":
        return Answer(empty_status, b"", dict(headers, **{"Content-Type": "application/json; charset=utf-8"}))
    return Answer(raw=b"", close=True, reset=fault.kind == "reset")


def spoil(fault: Fault, answer: Answer) -> Answer:
    """Return the handler's answer with the fault's error in it."""
    if fault.kind == "lost_answer":
        return Answer(reset=True)
    if fault.kind == "cut_json":
        answer.body = answer.body[: len(answer.body) // 2]
    elif fault.kind == "garbage":
        answer.body = b"!!!" + answer.body
    elif fault.kind == "long_length":
        answer.headers = dict(answer.headers, **{"Content-Length": str(len(answer.body) + 10)})
        answer.close = True
    elif fault.kind == "short_length":
        answer.headers = dict(answer.headers, **{"Content-Length": str(len(answer.body) // 2)})
        answer.close = True
    return answer
