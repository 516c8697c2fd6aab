# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""One run of module haproxy_server: which states are set, and whether enough other servers are left for it, before and after."""

from __future__ import annotations

import time
import typing as t

from ._haproxy_left import Guard, is_short
from ._haproxy_runtime import OUT, STATES, Observed, Runtime, RuntimeSocketError, next_state
from ._scheduled_events.core.types import Data, Values

# Seconds.
BETWEEN_LOOKS = 0.2


class Change:
    """One run: read the states, set those that differ, and read them again. All raise RuntimeSocketError."""

    def __init__(self, options: Values) -> None:
        self.options = options
        self.wanted: t.Mapping[str, str] = options["states"]
        for backend, state in self.wanted.items():
            if state not in STATES:
                raise RuntimeSocketError(f"states has {state!r} for {backend}; there are {', '.join(STATES)}.")
        self.guard = Guard(options["keep"], options["away"], options["backups"])
        self.runtime = Runtime(options["socket"], options["timeout"])

    def observe(self) -> Observed:
        return self.runtime.servers(self.options["server"], list(dict.fromkeys([*self.options["backends"], *self.wanted])), self.guard)

    def run(self, check_mode: bool) -> Data:
        before = self.observe()
        orders = {name: self._next_state(before, name) for name in self.wanted}
        changes = {name: state for name, state in orders.items() if state}
        key = "takes" if "drain" in changes.values() else "weighs"
        short = self._short(before, before, key) if set(changes.values()) - {"ready"} else []
        if short:
            changes = {}
        after = before
        if changes and check_mode:
            after = before._replace(servers={name: one._replace(state=changes.get(name, one.state)) for name, one in before.servers.items()})
        elif changes:
            after = self._set(before, changes)
            # Another run may have taken out a neighbour at the same moment.
            short = self._short(before, after, key) if key == "takes" else []
            if short:
                after, changes = self._set(before, {name: before.servers[name].state for name in changes}), {}
        until = time.monotonic() + (0 if check_mode else self.options["wait"])
        while not self._is_reached(after) and time.monotonic() < until:
            time.sleep(BETWEEN_LOOKS)
            after = self.observe()
        return self._result(before, after, changes, short)

    def _next_state(self, before: Observed, name: str) -> str | None:
        return next_state(before.servers[name], self.wanted[name], self.options["direction"], self.options["sessions"])

    def _set(self, before: Observed, changes: t.Mapping[str, str]) -> Observed:
        for name, state in changes.items():
            proven = state == "ready" and name in self.options["check_first"] and before.servers[name].checked
            self.runtime.set_state(name, self.options["server"], state, proven)
        return self.observe()

    def _short(self, before: Observed, now: Observed, key: str) -> list[str]:
        if self.options["direction"] != OUT:
            return []
        return [name for name, entry in now.left.items() if before.left.get(name, entry)[key] and is_short(entry)]

    def _result(self, before: Observed, after: Observed, changes: t.Mapping[str, str], short: list[str]) -> Data:
        was = {name: before.servers[name].state for name in changes}
        return {
            "changed": bool(changes),
            "backends": {name: one._asdict() for name, one in after.servers.items()},
            "left": after.left,
            "reached": self._is_reached(after),
            "short": short,
            "was": was,
            "diff": {"before": was, "after": {name: after.servers[name].state for name in changes}},
        }

    def _is_reached(self, after: Observed) -> bool:
        return all(after.servers[name].state == state and not self._is_awaited(after, name) for name, state in self.wanted.items())

    def _is_awaited(self, after: Observed, name: str) -> bool:
        one = after.servers[name]
        return name in self.options["check_first"] and one.checked and not one.up
