# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The services of a Windows VM."""

from __future__ import annotations

import typing as t

from ....module_utils._scheduled_events.core.printable_text import printable
from ....module_utils._scheduled_events.core.types import Values
from ....module_utils._scheduled_events.host.machine.services import ServiceError, ServiceState
from ..calls import Answer, OverCalls, failure_text

LONGEST_REASON = 400
# Exit codes of sc.exe, which are Windows' system error codes: 0 done; 1051 others that run need it; 1056 runs already; 1061 not
# now; 1062 has not been started. https://learn.microsoft.com/en-us/windows/win32/debug/system-error-codes--1000-1299-
IS_NEEDED = 1051
ACCEPTED = {"stop": (0, IS_NEEDED, 1061, 1062), "start": (0, 1056, 1061), "pause": (0, 1061, 1062)}


class WindowsServices(OverCalls):
    """Services over ansible.windows; see Services.

    sc.exe gives an order and returns at once; win_service would wait until the service has stopped or started.
    """

    def states(self, names: t.Sequence[str]) -> list[ServiceState]:
        return [self._state(str(name)) for name in names]

    def stop(self, names: t.Sequence[str]) -> list[str]:
        codes = self._order("stop", names)
        return [name for name, code in codes.items() if code == IS_NEEDED]

    def start(self, names: t.Sequence[str]) -> None:
        self._order("start", names)

    def pause(self, names: t.Sequence[str]) -> None:
        self._order("pause", names)

    def _state(self, name: str) -> ServiceState:
        answer = self._calls.call("win_service_info", name=name)
        services = answer.get("services")
        if answer.get("failed") or not isinstance(services, list):
            raise ServiceError(f"the service {name} cannot be queried: {failure_text(answer)}")
        # A name is a service's own name: win_service_info also finds display names and patterns.
        for one in services:
            if isinstance(one, t.Mapping) and str(one.get("name")).lower() == name.lower():
                return _state_of(name, one)
        return ServiceState(name, False, "", False)

    def _order(self, order: str, names: t.Sequence[str]) -> dict[str, int]:
        """Give an order to each service, even after a failure; return the exit codes of sc.exe."""
        codes, refusals = {}, []
        for name in map(str, names):
            answer = self._calls.call("win_command", argv=["sc.exe", order, name])
            code = answer.get("rc")
            if code in ACCEPTED[order]:
                codes[name] = int(code)
            else:
                refusals.append(f"sc.exe {order} {name}: {_reason(answer)}")
        if refusals:
            raise ServiceError("; ".join(refusals))
        return codes


def _state_of(name: str, one: Values) -> ServiceState:
    code = one.get("win32_exit_code")
    return ServiceState(
        name,
        True,
        str(one.get("state")),
        False,
        start_mode=str(one.get("start_mode")),
        exit_code=code if isinstance(code, int) else 0,
        needed_by=[str(other) for other in one.get("dependency_of") or ()],
    )


def _reason(answer: Answer) -> str:
    return printable(str(answer.get("stdout") or "").strip()[-LONGEST_REASON:]) or failure_text(answer)
