# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What Azure does to a VM once its event has started: its processes stand still for a while, or are gone and start again."""

from __future__ import annotations

import os
import signal
import threading
import time
import typing as t

from lab.lab import Lab


class Impact:
    """Waits until an event has started, and then calls C(strike), waits so many seconds, calls C(release) and ends the event."""

    def __init__(self, lab: Lab, event_id: str, seconds: float, strike: t.Callable[[], None], release: t.Callable[[], None]) -> None:
        self._lab, self._event_id, self._seconds = lab, event_id, seconds
        self._strike, self._release = strike, release
        self.struck: float | None = None
        """When it struck: seconds of time.monotonic()."""
        self.error: Exception | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)

    def __enter__(self) -> Impact:
        self._thread.start()
        return self

    def __exit__(self, kind: object, *_error: object) -> None:
        self._ended.set()
        self._thread.join(self._seconds + 60)
        if kind is None:
            assert self.error is None, f"the impact itself failed: {self.error!r}"
            assert self.struck is not None, "the event has never started"

    def _started(self) -> bool:
        return any(entry["event_id"] == self._event_id and entry["event_status"] == "Started" for entry in self._lab.simulator.ask("GET", "/events"))

    def _work(self) -> None:
        try:
            while not self._started():
                if self._ended.wait(0.05):
                    return
            self.struck = time.monotonic()
            self._strike()
            try:
                time.sleep(self._seconds)
            finally:
                self._release()
            self._lab.simulator.ask("POST", f"/events/{self._event_id}/finish")
        except Exception as error:  # told by the test, in its own thread
            self.error = error


def freeze(processes: t.Iterable[int]) -> None:
    """As a Freeze does to all of a VM's processes at once."""
    _signal(processes, signal.SIGSTOP)


def thaw(processes: t.Iterable[int]) -> None:
    _signal(processes, signal.SIGCONT)


def _signal(processes: t.Iterable[int], number: signal.Signals) -> None:
    for process in processes:
        try:
            os.kill(process, number)
        except ProcessLookupError:
            pass
