# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether the watcher's asking part grows: as many requests as it sends in six hours at its shortest interval, without the pauses. Prints; nothing fails here.

A tenth of the answers have another document: events are listed, changed and gone, and the spool is emptied as a teller does.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from unit.plugins.support import Server, document, http, raw_event  # noqa: E402  the folder of tests is no package

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core.clock import Clock
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.system import LocalHost
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.imds.client import Client
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.imds.transport import LocalTransport
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.ask.asker import Asker, Stores
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.ask.due_triggers import DueTriggers
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.ask.known import KnownStore
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.ask.state import State
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.drain.triggers import Triggers
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.settings import Settings
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.shared_folder import SharedFolder
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.watch.spool import Spool

EVENTS = [raw_event(EventId=f"c7061bac-afdc-4513-b24b-{number:012x}", EventType="Preempt", Resources=["web1"]) for number in range(3)]
DOCUMENTS = [document(1), document(2, *EVENTS[:1]), document(3, *EVENTS), document(4, *({**event, "EventStatus": "Started"} for event in EVENTS))]


class Quick(Clock):
    """A clock on which each request takes the shortest interval."""

    passed = 0.0

    def monotonic(self) -> float:
        return 1000.0 + self.passed

    def sleep(self, seconds: float) -> None:
        self.passed += seconds


def look() -> str:
    """Return what the process has: private memory, descriptors."""
    rollup = dict(line.split()[:2] for line in pathlib.Path("/proc/self/smaps_rollup").read_text().splitlines()[1:])
    private = int(rollup["Private_Clean:"]) + int(rollup["Private_Dirty:"])
    return f"{private / 1024:.2f} MiB private, {len(os.listdir('/proc/self/fd'))} descriptors"


def ask(endpoint: str, polls: int, folder: pathlib.Path) -> None:
    """The asker itself, in a process of its own."""
    clock, host = Quick(), LocalHost()
    for name in ("state", "runtime", "drain"):
        (folder / name).mkdir(mode=0o700)
    settings = Settings(endpoint=endpoint, interval=0.25, tell_folder="/nowhere", drain_types=["Preempt"])
    client = Client(LocalTransport(endpoint), "auto", retries=0, connect_timeout=2.0, clock=clock)
    triggers = Triggers(str(folder / "drain"))
    spool, state = Spool(SharedFolder(str(folder / "state"))), State(SharedFolder(str(folder / "runtime"), mode=0o644), host)
    stores = Stores(KnownStore(SharedFolder(str(folder / "state"))), spool, state, None, DueTriggers(triggers, settings, host, clock, print))
    asker = Asker(client, settings, stores, host, clock, lambda text: None)
    for number in range(polls):
        clock.sleep(asker.tick())
        if number % 100 == 0 or number == polls - 1:
            for entry in spool.entries():
                spool.remove(entry)
            for event_id in triggers.take():
                triggers.remove(event_id)
        if number in (polls // 10, polls - 1):
            files = sum(len(names) for _folder, _folders, names in os.walk(folder))
            print(f"after {number + 1} requests: {look()}, {files} files", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--polls", type=int, default=86_400)
    parser.add_argument("--ask", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.ask:
        with tempfile.TemporaryDirectory() as name:
            ask(options.ask, options.polls, pathlib.Path(name))
        return
    script = [http(body=DOCUMENTS[(number // 10) % 4]) for number in range(options.polls)]
    with Server(*script, instance=http(body='{"compute":{"name":"web1","vmId":"v1"}}')) as server:
        subprocess.run([sys.executable, __file__, "--polls", str(options.polls), "--ask", server.url], check=True)


if __name__ == "__main__":
    main()
