# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""Watch all endpoints at the same time, and put their messages into a queue."""

from __future__ import annotations

import asyncio
import random
from typing import Any, Protocol

from .endpoint_watch import EndpointWatch
from .endpoints import Endpoint, Options
from .in_thread import in_thread


class Queue(Protocol):
    """What a source puts its messages into."""

    async def put(self, message: Any) -> None:
        """Put one message."""


async def watch_all(queue: Queue, options: Options) -> None:
    """Watch until cancelled. Each endpoint has a task of its own, so that none waits for another."""
    await asyncio.gather(*(_watch(queue, endpoint, options) for endpoint in options.endpoints))


async def _watch(queue: Queue, endpoint: Endpoint, options: Options) -> None:
    watch = EndpointWatch(endpoint, options)
    # All of a large fleet at the same moment would be a burst of processor time each interval.
    await asyncio.sleep(random.uniform(0, min(options.interval, 1.0)) if len(options.endpoints) > 1 else 0)
    while True:
        told = await in_thread(watch.ask)
        for message in told.messages:
            await queue.put(message)
        await asyncio.sleep(told.pause)
