# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A clock that jumps instead of waiting, so that a wait of an hour is over at once and always has the same polls."""

from __future__ import annotations

import contextlib
import typing as t

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.clock import Clock


@contextlib.contextmanager
def without_waiting(on_sleep: t.Callable[[], object] | None = None) -> t.Iterator[None]:
    """Clock's sleeps end at once, and its monotonic time goes on by exactly that. What a transport waits for is real."""
    now = 1000.0

    def sleep(_clock: Clock, seconds: float) -> None:
        nonlocal now
        now += max(seconds, 0.0)
        if on_sleep:
            on_sleep()

    plain = Clock.sleep, Clock.monotonic
    Clock.sleep, Clock.monotonic = sleep, lambda _clock: now  # type: ignore[method-assign]
    try:
        yield
    finally:
        Clock.sleep, Clock.monotonic = plain  # type: ignore[method-assign]
