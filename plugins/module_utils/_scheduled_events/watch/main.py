# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

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

from .log import Log, LogFile, log_to_errors
from .settings import WINDOWS, Settings, SettingsError, read_settings

if t.TYPE_CHECKING:
    from ..core.clock import Clock
    from ..host.system import Host
    from .ask.due_triggers import DueTriggers
    from .ask.metrics import WatchMetrics
    from .service_manager import Systemd, Timer
    from .spool import Spool

USAGE = "usage: python3 watch.pyz ask|drain|seen|tell|check|alive SETTINGS"
# An endpoint that is there connects in milliseconds; the next second is another try.
CONNECT_SECONDS = 2.0
PAUSE_AFTER_FAILURE = 5.0
WRONG_SETTINGS, FAILED = 78, 1  # the first is EX_CONFIG: systemd does not restart for it
HANG_LOG = "hang.log"


class Call(t.NamedTuple):
    """One call of a command."""

    settings: Settings
    path: str
    """The path of the settings."""
    log: Log


def main(arguments: t.Sequence[str]) -> int:
    """Run one command. Return the exit code."""
    if len(arguments) != 2 or arguments[0] not in COMMANDS:
        log_to_errors(USAGE)
        return WRONG_SETTINGS
    command, path = arguments
    log: Log = log_to_errors
    try:
        settings = read_settings(path)
        log = _log_of(command, settings)
        COMMANDS[command](Call(settings, path, log))
    except SettingsError as error:
        return _failed(command, str(error), WRONG_SETTINGS, log)
    except OSError as error:
        return _failed(command, f"{command}: {error}", FAILED, log)
    except Exception as error:
        if log is not log_to_errors:
            # What Python prints itself would reach no file on Windows.
            log(f"{command}: {type(error).__name__}: {error}")
        raise
    return 0


def _log_of(command: str, settings: Settings) -> Log:
    """Return where the command writes its lines. People call check and alive, and read what they say."""
    folders = {"ask": settings.runtime_folder, "tell": settings.runtime_folder, "seen": settings.seen_folder}
    return LogFile(folders[command], f"{command}.log").write if settings.system == WINDOWS and command in folders else log_to_errors


def _failed(command: str, why: str, code: int, log: Log) -> int:
    """Say why, and return the exit code."""
    log(why)
    if command in ("tell", "drain"):
        # What it should do still waits, so systemd starts it again at once.
        time.sleep(PAUSE_AFTER_FAILURE)
    return code


def ask(call: Call) -> None:
    """Ask until SIGTERM, or until a scheduled task is ended: then nothing is lost either, because each step is on disk before the next."""
    # http.client imports ssl where it can, which costs three megabytes; the endpoint speaks plain HTTP alone.
    sys.modules["ssl"] = t.cast(t.Any, None)
    from ..core.clock import Clock
    from ..host.system import LocalHost
    from ..host.watcher_state import NAME
    from ..imds.client import Client
    from ..imds.transport import LocalTransport
    from .ask.asker import Asker, Stores
    from .ask.known import KnownStore
    from .ask.state import State
    from .shared_folder import SharedFolder
    from .spool import Spool

    signal.signal(signal.SIGTERM, _stop)
    settings, host, clock = call.settings, LocalHost(), Clock()
    state_folder, runtime_folder = SharedFolder(settings.state_folder), SharedFolder(settings.runtime_folder, mode=0o644)
    for folder in (state_folder, runtime_folder):
        folder.remove_leftovers()
    # The state of an earlier start says nothing of this one.
    runtime_folder.remove(NAME)
    manager, spool = _manager(settings), Spool(state_folder)
    client = Client(LocalTransport(settings.endpoint), settings.api_version, retries=0, connect_timeout=CONNECT_SECONDS, clock=clock, warn=call.log)
    metrics = _metrics(settings.figures_folder, host, call.log) if settings.figures_folder else None
    due_triggers = _due_triggers(settings, host, clock, call.log) if settings.drain_types else None
    stores = Stores(KnownStore(state_folder), spool, State(runtime_folder, host), metrics, due_triggers)
    manager.ready()
    try:
        Asker(client, settings, stores, host, clock, _after_request(call, manager, spool, clock)).run(lambda: False)
    except _Stopped:
        pass
    finally:
        client.close()


def _manager(settings: Settings) -> Systemd | Timer:
    from .service_manager import Systemd, Timer

    if settings.system != WINDOWS:
        return Systemd()
    return Timer(LogFile(settings.runtime_folder, HANG_LOG).open())


def _after_request(call: Call, manager: Systemd | Timer, spool: Spool, clock: Clock) -> t.Callable[[str], None]:
    """Return what the asker does after each request, given what it sees: report that it is alive, and on Windows start the teller."""
    if call.settings.system != WINDOWS or not call.settings.tells:
        return manager.alive
    from .ask.teller_process import TellerProcess

    teller = TellerProcess(spool, [sys.executable, "-I", sys.argv[0], "tell", call.path], clock, call.log)

    def after_request(status: str) -> None:
        manager.alive(status)
        teller.serve()

    return after_request


def _metrics(where: str, host: Host, log: Log) -> WatchMetrics:
    from .ask.metrics import WatchMetrics

    return WatchMetrics(where, host, log)


def _due_triggers(settings: Settings, host: Host, clock: Clock, log: Log) -> DueTriggers:
    from .ask.due_triggers import DueTriggers
    from .drain.triggers import Triggers

    return DueTriggers(Triggers(settings.drain_folder), settings, host, clock, log)


class _Stopped(BaseException):
    """SIGTERM came: not an Exception, so that no handler of errors catches it."""


def _stop(*_signal: t.Any) -> None:
    raise _Stopped


def seen(call: Call) -> None:
    """Publish which events the records show, as root."""
    from .seen import publish

    publish(call.settings)


def tell(call: Call) -> None:
    """Deliver what waits."""
    import random

    from ..core.clock import Clock
    from ..host.system import LocalHost
    from .seen import read_seen
    from .settings import changed_at
    from .shared_folder import SharedFolder
    from .spool import Spool
    from .tell.attempts import Attempts
    from .tell.delivery import open_delivery
    from .tell.teller import Teller

    settings, clock = call.settings, Clock()
    folder = SharedFolder(settings.state_folder)
    valid_for = [LocalHost().boot_id(), settings.tell_url or settings.tell_folder, changed_at(call.path, settings.tell_credential_file)]
    attempts = Attempts(folder, valid_for, random.random, clock.monotonic())
    Teller(Spool(folder), open_delivery(settings), attempts, read_seen(SharedFolder(settings.seen_folder)), clock, call.log).run()


def drain(call: Call) -> None:
    """Serve the events that the asker asks for, as root. Raise OSError where a drain failed, so that systemd shows the unit as failed."""
    settings = call.settings
    if settings.system == WINDOWS:
        raise SettingsError(f"{call.path} is for Windows, where the watcher does not drain; a run of respond does.")
    from .drain.content import read_content
    from .drain.drainer import serve, this_vm
    from .drain.triggers import Triggers

    if not serve(Triggers(settings.drain_folder), this_vm(settings, read_content(settings.drain_file), call.log)):
        raise OSError("not every event was served; the lines above say why")


def check(call: Call) -> None:
    """Check the settings, the drain's file, the credential's file, the certificates and the key; send nothing."""
    settings = call.settings
    if settings.drain_types:
        from .drain.content import read_content

        read_content(settings.drain_file)
    if settings.tells:
        from .tell.delivery import open_delivery

        open_delivery(settings)


def alive(call: Call) -> None:
    """Check that the asker has asked since its start, which removes the state of an earlier one. Raise OSError where it has not.

    Its state is read with care: an attacker who has taken the asker over must not make root wait, or read another file.
    """
    from ..core.types import Values
    from ..host.system import LocalHost, seconds_between, utc_seconds
    from ..host.watcher_state import STALE_SECONDS, age_by_clock, read_watcher

    now, started = LocalHost().now(), []

    def age(data: Values) -> float | None:
        started.append(utc_seconds(data.get("started_at")))
        return age_by_clock(lambda at: seconds_between(at, now))(data)

    found = read_watcher(call.settings.runtime_folder, age)
    if found is None or found.messages_waiting is None:
        raise OSError(f"the asker has not asked yet{f': {found.problem}' if found and found.problem else ''}")
    if found.age_seconds is None or found.age_seconds > STALE_SECONDS:
        raise OSError("the asker has no heartbeat")
    if call.settings.system == WINDOWS and (started[0] or 0.0) < max(os.path.getmtime(path) for path in (call.path, sys.argv[0])):
        # systemd says whether it has ended a unit; the end of a scheduled task shows only here.
        raise OSError("the asker that runs was started before its settings or its program were written")


COMMANDS: t.Mapping[str, t.Callable[[Call], None]] = {"ask": ask, "drain": drain, "seen": seen, "tell": tell, "check": check, "alive": alive}
