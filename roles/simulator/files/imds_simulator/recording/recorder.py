# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Record every request with its answer, and every transition of an event, in real and simulated time."""

from __future__ import annotations

import json
import time
from collections import deque
from typing import Any, Deque, Dict, List, Optional, TextIO, Tuple

from imds_simulator.clock import Clock, iso
from imds_simulator.events.event import Event
from imds_simulator.wire import Answer, Request

_KEPT_REQUESTS = 20000
_KEPT_LOG = 20000


class Recorder:
    """Keep the newest entries in memory, and all of them in a file of JSON lines if one is configured."""

    def __init__(self, clock: Clock, path: Optional[str] = None) -> None:
        self._clock = clock
        self._requests: Deque[Tuple[Any, ...]] = deque(maxlen=_KEPT_REQUESTS)
        self._log: Deque[Dict[str, Any]] = deque(maxlen=_KEPT_LOG)
        self._file: Optional[TextIO] = open(path, "a", encoding="utf-8") if path else None  # noqa: SIM115
        self.request_count = 0

    def request(self, vm_name: str, request: Request, answer: Optional[Answer]) -> None:
        """Record a request and its answer."""
        # Kept unformatted: a thousand VMs send requests every second, and few of the entries are ever read.
        entry = (time.time(), self._clock.now(), vm_name, request, answer)
        self._requests.append(entry)
        self.request_count += 1
        if self._file is not None:
            self._write({"request": _shown(entry)})

    def transition(self, name: str, event: Event, details: Dict[str, Any]) -> Dict[str, Any]:
        """Record a transition. Return its log entry."""
        entry: Dict[str, Any] = {
            "time": iso(time.time()),
            "at": round(self._clock.now(), 6),
            "transition": name,
            "event_id": event.event_id,
            "event_type": event.event_type,
            "resources": list(event.resources),
        }
        entry.update(details)
        self._log.append(entry)
        if self._file is not None:
            self._write({"transition": entry})
        return entry

    def requests(self) -> List[Dict[str, Any]]:
        """Return the newest requests."""
        return [_shown(entry) for entry in self._requests]

    def log(self) -> List[Dict[str, Any]]:
        """Return the newest transitions."""
        return list(self._log)

    def forget_requests(self) -> None:
        """Forget all requests."""
        self._requests.clear()

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _write(self, value: Dict[str, Any]) -> None:
        if self._file is not None:
            self._file.write(json.dumps(value) + "\n")
            self._file.flush()


def _shown(entry: Tuple[Any, ...]) -> Dict[str, Any]:
    unix, moment, vm_name, request, answer = entry
    return {
        "time": iso(unix),
        "at": round(moment, 6),
        "vm": vm_name,
        "method": request.method,
        "path": request.target,
        "headers": dict(reversed(request.headers)),
        "body": request.body.decode("utf-8", "replace"),
        # None: no answer, or the connection was reset.
        "status": None if answer is None or answer.reset or answer.raw is not None else answer.status,
        "answer": "" if answer is None else answer.body[:65536].decode("utf-8", "replace"),
    }
