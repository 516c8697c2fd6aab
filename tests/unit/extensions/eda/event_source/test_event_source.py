# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The event source against endpoints on loopback: none of them delays another."""

from __future__ import annotations

import asyncio
import pathlib
import runpy
import time
from typing import Any

import pytest

from ansible_collections.maintenance.azure.tests.unit.plugins.support import Server, document, hang_up, http, raw_event, slowly

ROOT = pathlib.Path(__file__).resolve().parents[5]
PLUGIN = ROOT / ".build/tree/ansible_collections/maintenance/azure/extensions/eda/plugins/event_source/scheduled_events.py"
LISTED = http(body=document(1, raw_event()))
EMPTY = http(body=document(2))
# Far longer than it takes, and shorter than what it must not wait for.
PATIENCE_SECONDS = 30


class Queue:
    """What came, with its time."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.messages: list[tuple[float, dict[str, Any]]] = []

    async def put(self, message: dict[str, Any]) -> None:
        self.messages.append((time.monotonic() - self.began, message))

    def about(self, vm: str) -> list[str]:
        return [message["type"].rpartition(".")[2] for unused, message in self.messages if message["data"]["vm"]["name"] == vm]


def watched(servers: dict[str, str], vm: str, number: int, **options: Any) -> Queue:
    """Run the source until so many messages about a VM have come."""
    main, queue = runpy.run_path(str(PLUGIN))["main"], Queue()
    endpoints = [{"name": name, "endpoint": endpoint} for name, endpoint in servers.items()]

    async def run() -> None:
        source = asyncio.ensure_future(main(queue, {"endpoints": endpoints, "interval": 1, **options}))
        while len(queue.about(vm)) < number and not source.done() and time.monotonic() - queue.began < PATIENCE_SECONDS:
            await asyncio.sleep(0.05)
        assert not source.done()
        source.cancel()
        with pytest.raises(asyncio.CancelledError):
            await source

    asyncio.run(run())
    return queue


def test_one_endpoint():
    with Server(LISTED, LISTED, EMPTY) as server:
        queue = watched({"web1": server.url}, "web1", 2)
    assert queue.about("web1") == ["listed", "gone"]
    assert all("Metadata" in str(request.headers) or "metadata" in request.headers for request in server.requests)


def test_slow_and_broken_endpoints_do_not_delay_another():
    slow = slowly(2 * PATIENCE_SECONDS, LISTED)
    hanging = [Server(slow) for unused in range(40)]
    with Server(LISTED, EMPTY) as good, Server(hang_up) as broken, Server(http(body="nonsense")) as strange:
        servers = {f"slow{number}": server.url for number, server in enumerate(hanging)}
        began = time.monotonic()
        queue = watched({**servers, "broken": broken.url, "strange": strange.url, "good": good.url}, "good", 2)
        # Threads that still wait for an answer do not hold up the end.
        assert time.monotonic() - began < PATIENCE_SECONDS
    for server in hanging:
        server.__exit__()
    assert queue.about("good") == ["listed", "gone"]


def test_wrong_options_are_reported_at_once():
    main = runpy.run_path(str(PLUGIN))["main"]
    with pytest.raises(ValueError, match=r"maintenance\.azure\.scheduled_events: endpoints"):
        asyncio.run(main(Queue(), {}))
    with pytest.raises(ValueError, match="it must be http"):
        asyncio.run(main(Queue(), {"endpoints": [{"name": "web1", "endpoint": "ftp://x"}]}))
