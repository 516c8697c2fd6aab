# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A user of a database or a queue that writes all the time, and knows what was acknowledged to it."""

from __future__ import annotations

import threading
import time
import typing as t


class Writer:
    """Writes 1, 2, 3, ... each with one call of C(write), which raises an exception unless the write was acknowledged.

    A number that was not acknowledged is not written again: it may be present all the same.
    """

    def __init__(self, write: t.Callable[[int], None], interval: float = 0.005) -> None:
        self._write = write
        self._interval = interval
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self.acknowledged: dict[int, float] = {}
        """By number, when: seconds of time.monotonic()."""
        self.errors: dict[str, int] = {}
        """How often each error came, by its first words."""

    def __enter__(self) -> Writer:
        self.began = time.monotonic()
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.stop()

    def _work(self) -> None:
        number = 0
        while not self._ended.wait(self._interval):
            number += 1
            try:
                self._write(number)
            except Exception as error:  # whatever the client library raises means: not acknowledged
                words = f"{type(error).__name__}: {error}"[:80]
                self.errors[words] = self.errors.get(words, 0) + 1
            else:
                self.acknowledged[number] = time.monotonic()

    def stop(self) -> None:
        self._ended.set()
        self._thread.join(60)
        self.stopped = time.monotonic()
        assert not self._thread.is_alive(), "the writer hangs in a call"

    def until(self, count: int, seconds: float = 60) -> None:
        """Wait until so many more writes were acknowledged."""
        wanted, end = len(self.acknowledged) + count, time.monotonic() + seconds
        while len(self.acknowledged) < wanted:
            assert time.monotonic() < end, f"{len(self.acknowledged)} writes in {seconds} s; errors: {self.errors}"
            time.sleep(0.05)

    def longest_pause(self) -> float:
        """Seconds between two acknowledged writes, one behind the other, at most, from its begin to its end."""
        times = [self.began, *sorted(self.acknowledged.values()), self.stopped]
        return max(after - before for before, after in zip(times, times[1:]))

    def lost(self, present: t.Collection[int]) -> set[int]:
        """What was acknowledged and is not there. Of no acknowledged write nothing can be said: that fails."""
        assert self.acknowledged, f"nothing was ever acknowledged: {self.errors}"
        return set(self.acknowledged) - set(present)
