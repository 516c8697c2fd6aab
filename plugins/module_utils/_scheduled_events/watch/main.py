# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""The watcher's command line: one archive, started by systemd as ``ask``, ``drain``, ``seen`` or ``tell``, each with the path of the settings.

Each command imports only what it needs: the asker runs all the time, and neither TLS nor an argument parser belongs into its memory.
"""

from __future__ import annotations

import os
import signal
import sys
import time
import typing as t

from .settings import Settings, SettingsError, read_settings

if t.TYPE_CHECKING:
    from ..core.clock import Clock
    from ..host.system import Host
    from .ask.asker import Figures
    from .ask.marks import Marks

USAGE = "usage: python3 watch.pyz ask|drain|seen|tell|check|alive SETTINGS"
# An endpoint that is there connects in milliseconds; the next second is another try.
CONNECT_SECONDS = 2.0
PAUSE_AFTER_FAILURE = 5.0
WRONG_SETTINGS, FAILED = 78, 1  # the first is EX_CONFIG: systemd does not restart for it


def main(arguments: t.Sequence[str]) -> int:
    """Run one command. Return the exit code."""
    if len(arguments) != 2 or arguments[0] not in COMMANDS:
        log(USAGE)
        return WRONG_SETTINGS
    try:
        COMMANDS[arguments[0]](read_settings(arguments[1]))
    except SettingsError as error:
        return _failed(arguments[0], str(error), WRONG_SETTINGS)
    except OSError as error:
        return _failed(arguments[0], f"{arguments[0]}: {error}", FAILED)
    return 0


def _failed(command: str, why: str, code: int) -> int:
    """Say why, and return the exit code."""
    log(why)
    if command in ("tell", "drain"):
        # What it should do still waits, so systemd starts it again at once.
        time.sleep(PAUSE_AFTER_FAILURE)
    return code


def ask(settings: Settings) -> None:
    """Ask until SIGTERM."""
    # http.client imports ssl where it can, which costs three megabytes; the endpoint speaks plain HTTP alone.
    sys.modules["ssl"] = t.cast(t.Any, None)
    from ..core.clock import Clock
    from ..host.system import LocalHost
    from ..imds.client import Client
    from ..imds.transport import LocalTransport
    from .ask.asker import Asker, Stores
    from .ask.known import KnownStore
    from .ask.state import State
    from .service_manager import ServiceManager
    from .shared_folder import SharedFolder
    from .spool import Spool

    signal.signal(signal.SIGTERM, _stop)
    manager, host, clock = ServiceManager(), LocalHost(), Clock()
    state_folder = SharedFolder(settings.state_folder)
    state_folder.remove_leftovers()
    client = Client(LocalTransport(settings.endpoint), settings.api_version, retries=0, connect_timeout=CONNECT_SECONDS, clock=clock, warn=log)
    state = State(SharedFolder(settings.runtime_folder, mode=0o644), host)
    figures = _figures(settings.figures_folder, host) if settings.figures_folder else None
    stores = Stores(KnownStore(state_folder), Spool(state_folder), state, figures, _marks(settings, host, clock) if settings.drain_types else None)
    manager.ready()
    try:
        Asker(client, settings, stores, host, clock, manager.alive).run(lambda: False)
    except _Stopped:
        pass
    finally:
        client.close()


def _figures(where: str, host: Host) -> Figures:
    from .ask.figures import WatchFigures

    return WatchFigures(where, host, log)


def _marks(settings: Settings, host: Host, clock: Clock) -> Marks:
    from .ask.marks import Marks
    from .drain.triggers import Triggers

    return Marks(Triggers(settings.drain_folder), settings, host, clock, log)


class _Stopped(BaseException):
    """SIGTERM came: not an Exception, so that no handler of errors catches it."""


def _stop(*_signal: t.Any) -> None:
    raise _Stopped


def seen(settings: Settings) -> None:
    """Publish which events the records show, as root."""
    from .seen import publish

    publish(settings)


def tell(settings: Settings) -> None:
    """Deliver what waits."""
    import random

    from ..core.clock import Clock
    from ..host.system import LocalHost
    from .seen import read_seen
    from .shared_folder import SharedFolder
    from .spool import Spool
    from .tell.attempts import Attempts
    from .tell.delivery import open_delivery
    from .tell.teller import Teller

    folder = SharedFolder(settings.state_folder)
    attempts = Attempts(folder, LocalHost().boot_id(), settings.tell_url or settings.tell_folder, random.random)
    Teller(Spool(folder), open_delivery(settings), attempts, read_seen(SharedFolder(settings.seen_folder)), Clock(), log).run()


def drain(settings: Settings) -> None:
    """Serve the events that the asker asks for, as root. Raise OSError where a drain failed, so that systemd shows the unit as failed."""
    from .drain.content import read_content
    from .drain.drainer import serve, this_vm
    from .drain.triggers import Triggers

    if not serve(Triggers(settings.drain_folder), this_vm(settings, read_content(settings.drain_file), log)):
        raise OSError("not every event was served; the lines above say why")


def check(settings: Settings) -> None:
    """Check the settings, the drain's file, the credential's file, the certificates and the key; send nothing."""
    if settings.drain_types:
        from .drain.content import read_content

        read_content(settings.drain_file)
    if settings.tells:
        from .tell.delivery import open_delivery

        open_delivery(settings)


def alive(settings: Settings) -> None:
    """Check that the asker has asked since its start, with which its folder is made anew. Raise OSError where it has not.

    Its state is read with care: an attacker who has taken the asker over must not make root wait, or read another file.
    """
    from ..host.watcher_state import read_watcher

    found = read_watcher(settings.runtime_folder, None, None)
    if found is None or found.messages_waiting is None:
        raise OSError(f"the asker has not asked yet{f': {found.problem}' if found and found.problem else ''}")


def log(line: str) -> None:
    """Write a line to standard error, which systemd keeps in its journal."""
    os.write(2, line.encode("utf-8", "replace") + b"\n")


COMMANDS: t.Mapping[str, t.Callable[[Settings], None]] = {"ask": ask, "drain": drain, "seen": seen, "tell": tell, "check": check, "alive": alive}
