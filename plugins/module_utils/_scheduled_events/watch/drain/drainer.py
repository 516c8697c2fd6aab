# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""The draining part of the watcher: serve the events that the asker asks for, side by side, until none is left. It runs as root, and only then."""

from __future__ import annotations

import typing as t
import uuid

from ...core.clock import Clock
from ...core.printable_text import LONGEST_LINE, printable
from ...host.access import HostAccess
from ...host.files import LocalFiles
from ...host.machine.commands import LocalCommands
from ...host.machine.machine import Machine, local_machine
from ...host.system import LocalHost
from ...imds.client import Client
from ...imds.transport import LocalTransport
from ...journal.record_store import DEFAULT_PATH
from ..settings import Settings
from .content import DrainContent
from .endpoint import Endpoint
from .served_event import CONNECT_SECONDS, WATCHER, ServedEvent, VmAccess
from .triggers import Triggers

# Between two looks at methods that drain.
PAUSE = 0.5
REQUEST_SECONDS = 3.0
# It runs at least so long: what names it again and again must not start it more often.
SHORTEST_SECONDS = 5.0
SYSTEMCTL_SECONDS = 20.0


def serve(triggers: Triggers, vm: VmAccess, shortest: float = SHORTEST_SECONDS) -> bool:
    """Serve every event that is asked for, and last at least ``shortest`` seconds. Return whether all went well.

    A trigger is removed when its event is served: killed before, it starts anew.
    """
    served: dict[str, ServedEvent] = {}
    went_well, end = True, vm.clock.monotonic() + shortest
    while True:
        for event_id in triggers.take():
            served.setdefault(event_id, ServedEvent(event_id, vm))
        # What drains goes first: to look for another event may take seconds.
        for event_id, event in sorted(served.items(), key=lambda item: not item[1].began):
            if event.step():
                went_well = went_well and not event.failed
                del served[event_id]
                triggers.remove(event_id)
        if not served and vm.clock.monotonic() >= end:
            return went_well
        vm.clock.sleep(PAUSE)


def this_vm(settings: Settings, content: DrainContent, log: t.Callable[[str], None]) -> VmAccess:
    """Return this VM, as root reaches it."""
    host, clock = LocalHost(_run_command), Clock()
    access = HostAccess(
        check_mode=False,
        warn=lambda text: log(printable(text, LONGEST_LINE)),
        files=LocalFiles,
        host=lambda boot_id: LocalHost(_run_command, boot_id),
        log=log,
        machine=_machine,
    )
    transport = LocalTransport(settings.endpoint)
    client = Client(transport, settings.api_version, 0, CONNECT_SECONDS, REQUEST_SECONDS, clock, access.warn)
    endpoint = Endpoint(client, settings.vm_name, clock)
    return VmAccess(settings, content, access, endpoint, LocalFiles(settings.records_path or DEFAULT_PATH), host, clock, WATCHER + uuid.uuid4().hex[:12], log)


def _machine(now: t.Callable[[], str]) -> Machine:
    return local_machine(now, _run_command)


def _run_command(words: list[str]) -> tuple[int, str, str]:
    """Run a command with messages in English, as modules do."""
    done = LocalCommands().run(words, {"LC_ALL": "C", "LANGUAGE": "C"}, SYSTEMCTL_SECONDS)
    return done.code, done.output, done.errors
