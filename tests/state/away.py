# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a drain asks is away for ten seconds in its middle: what is said meanwhile, and what is put back."""

from __future__ import annotations

import threading
import time
import typing as t

from impact import freeze, thaw
from lab.lab import Lab
from writer import Writer

SECONDS = 10
HELD = [{"name": "held", "drain": True, "approve": "never"}]
# What would be in the record's history between "draining" and "drained" if something were put back.
STRAIGHT = ["draining", "drained"]


class Away:
    """A drain of one VM that is never approved, under a writer."""

    def __init__(
        self, lab: Lab, vm: str, leave: t.Callable[[], object], come_back: t.Callable[[], object], write: t.Callable[[int], None],
        state: str = "found", notice: int = 900,
    ) -> None:  # fmt: skip
        """C(leave) is called as soon as the method has this state in the record: "found" is before its first step, "begun" is after it."""
        self._lab, self._vm, self._leave, self._come_back, self._state = lab, vm, leave, come_back, state
        self._ended = threading.Event()
        self.said: list[str] = []
        """What the record said meanwhile, each once."""
        self.was_away = False
        lab.all["respond_policy"] = HELD
        event_id = lab.simulator.event("Freeze", [vm], notice=notice, duration_in_seconds=5)
        with Writer(write) as writer:
            writer.until(20)
            thread = threading.Thread(target=self._work, daemon=True)
            thread.start()
            began = time.monotonic()
            try:
                self.output = lab.respond(code=None)
                # A run ends before an event whose VM has not drained; the next one goes on.
                while lab.phases(vm)[-1] == "draining" and time.monotonic() < began + 180:
                    self.output += lab.respond(code=None)
            finally:
                self._ended.set()
                thread.join(60)
            self.took = time.monotonic() - began
            writer.until(20, 120)
        (record,) = lab.records(vm)
        self.phases, self.attempts = [one for one in lab.phases(vm) if one != "noticed"], record["attempts"]
        self.writer = writer
        lab.simulator.ask("POST", f"/events/{event_id}/cancel")
        lab.respond(code=None, respond_wait=True)
        self.ends = lab.phases(vm)[-1]

    def _work(self) -> None:
        while not self._ended.wait(0.02):
            if any(method["state"] == self._state for record in self._lab.records(self._vm) for method in record["methods"]):
                break
        else:
            return
        self._leave()
        self.was_away = True
        end = time.monotonic() + SECONDS
        try:
            while time.monotonic() < end:
                self._look()
                time.sleep(0.1)
        finally:
            self._come_back()
        # A question that was asked meanwhile is answered later.
        end += SECONDS
        while time.monotonic() < end and not self._ended.wait(0.1):
            self._look()

    def _look(self) -> None:
        for record in self._lab.records(self._vm):
            reasons = [record["reason"], *(method["error"] for method in record["methods"])]
            self.said += [f"{record['phase']}: {reason}" for reason in reasons if reason and f"{record['phase']}: {reason}" not in self.said]

    def verdict(self, what: str, present: t.Collection[int]) -> None:
        """Tell the row of docs/figures.md, and let nothing be put back or lost."""
        lost, pause = self.writer.lost(present), self.writer.longest_pause()
        print(
            f"state: away: {what}: said {self.said}, {len(lost)} of {len(self.writer.acknowledged)} lost, longest pause {pause:.1f} s, {' '.join(self.phases)} "
            f"after {self.took:.0f} s, attempts {self.attempts}, then {self.ends}",
            flush=True,
        )
        assert self.was_away, "it has never begun"
        assert (self.phases, self.attempts, lost) == (STRAIGHT, 1, set()), (self.said, self.output[-6000:])


def standing_still(processes: t.Callable[[], t.Sequence[int]]) -> tuple[t.Callable[[], object], t.Callable[[], object]]:
    """Return what makes processes stand still, and what lets them go on."""
    held: list[int] = []

    def leave() -> None:
        held.extend(processes())
        freeze(held)

    return leave, lambda: thaw(held)
