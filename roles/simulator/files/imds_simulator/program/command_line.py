# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Command line: parse options, print one line of JSON when all servers listen, then run until stopped."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
from typing import Any, Callable, Dict, List, Optional

from imds_simulator import VERSION
from imds_simulator.clock import RealClock, VirtualClock, parse_iso
from imds_simulator.control.guard import Guard, make_token, read_token
from imds_simulator.program import background
from imds_simulator.scenarios import scenarios
from imds_simulator.simulator import Simulator
from imds_simulator.switches import Switches, parse_assignment
from imds_simulator.vm import Vm, parse_vm, split_address


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="imds_simulator",
        description="Plays Azure's Scheduled Events endpoint for many VMs. Prints one line of JSON with the addresses.",
        epilog="@FILE reads arguments from a file, one on each line.",
        fromfile_prefix_chars="@",
    )
    parser.add_argument("--vm", action="append", default=[], metavar="NAME[=HOST:PORT]", help="a VM; may be repeated")
    parser.add_argument("--vms", type=int, default=0, metavar="N", help="N more VMs named vm-0001, vm-0002, ...")
    parser.add_argument("--vm-file", metavar="FILE", help="JSON list of VMs with all their properties")
    parser.add_argument("--control", default="127.0.0.1:0", metavar="HOST:PORT", help="address of the control API")
    parser.add_argument("--control-token-file", metavar="FILE", help="the control API wants this file's token; - is standard input")
    parser.add_argument("--control-host", action="append", default=[], metavar="NAME", help="one more Host it answers to; may be repeated")
    parser.add_argument("--make-control-token", metavar="FILE", help="write a new token into a file, unless it is there, and end")
    parser.add_argument("--clock", choices=("real", "virtual"), default="real")
    parser.add_argument("--speed", type=float, default=1.0, metavar="X", help="simulated seconds in each real one")
    parser.add_argument("--start", metavar="DATE", help="date at which a virtual clock begins (ISO 8601)")
    parser.add_argument("--disabled", action="store_true", help="the feature is not enabled yet: the first GET does that")
    parser.add_argument("--switch", action="append", default=[], metavar="NAME=VALUE", help="may be repeated; see GET /")
    parser.add_argument("--scenario", metavar="NAME", help="play this scenario at once")
    parser.add_argument("--list-scenarios", action="store_true", help="print the scenarios and end")
    parser.add_argument("--hook", metavar="COMMAND", help="run at each transition, log entry as JSON on its input")
    parser.add_argument("--record", metavar="FILE", help="append every request and transition as lines of JSON")
    parser.add_argument("--parent", type=int, metavar="PID", help="end when this process is gone")
    parser.add_argument("--pid-file", metavar="FILE", help="write the process id here, removed at the end")
    parser.add_argument("--ready-file", metavar="FILE", help="write the line of JSON here as well, when everything listens")
    parser.add_argument("--background", action="store_true", help="go on in the background once everything listens")
    parser.add_argument("--stop", action="store_true", help="end the one that runs in the background (needs --pid-file)")
    parser.add_argument("--log-file", default=os.devnull, metavar="FILE", help="errors of one in the background")
    parser.add_argument("--version", action="version", version=VERSION)
    return parser


def main(arguments: Optional[List[str]] = None) -> int:
    """Run the command line. Return an exit status."""
    options = parser().parse_args(arguments)
    if options.list_scenarios:
        for entry in scenarios.listing():
            print("%2d  %-32s %s" % (entry["number"], entry["name"], entry["title"]))
        return 0
    if options.make_control_token:
        return _reported(lambda: print("made" if make_token(options.make_control_token) else "is there"))
    if options.speed <= 0:
        parser().error("--speed must be greater than 0")
    if options.stop or options.background:
        if not options.pid_file:
            parser().error("--background and --stop need --pid-file")
        if options.stop:
            return background.stop(options.pid_file)
        given = list(sys.argv[1:] if arguments is None else arguments)
        return background.start([argument for argument in given if argument != "--background"], options.pid_file, options.log_file)
    _raise_file_limit()
    return _reported(lambda: asyncio.run(_run(options)))


def _reported(run: Callable[[], None]) -> int:
    """Run something, and return the exit code. What is wrong with the options or the files is one line."""
    try:
        run()
    except (OSError, ValueError) as problem:
        sys.stderr.write("imds_simulator: %s\n" % problem)
        return 1
    return 0


def _raise_file_limit() -> None:
    """Raise the soft limit of open files: a thousand VMs and their clients need more than usual."""
    try:
        import resource

        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (ImportError, OSError, ValueError):
        return


async def _run(options: argparse.Namespace) -> None:
    token = read_token(options.control_token_file) if options.control_token_file else None
    simulator = Simulator(
        VirtualClock(parse_iso(options.start) if options.start else None) if options.clock == "virtual" else RealClock(options.speed),
        Switches(**dict(parse_assignment(text) for text in options.switch)),
        enabled=not options.disabled,
        hook=options.hook,
        record=options.record,
    )
    for number in (signal.SIGTERM, signal.SIGINT):
        simulator.loop.add_signal_handler(number, simulator.stopped.set)
    try:
        for vm in _vms(options):
            await simulator.add_vm(vm)
        host, port = split_address(options.control)
        await simulator.start_control(host, port, Guard(token, options.control_host))
        if options.scenario:
            scenarios.play(simulator, scenarios.load(options.scenario))
        if options.parent:
            simulator.loop.create_task(_watch_parent(simulator, options.parent))
        if options.pid_file:
            with open(options.pid_file, "w", encoding="utf-8") as stream:
                stream.write("%d\n" % os.getpid())
        _announce_ready(options.ready_file, json.dumps({"control": simulator.control_url, "vms": simulator.urls()}))
        await simulator.stopped.wait()
    finally:
        await simulator.close()
        if options.pid_file and os.path.exists(options.pid_file):
            os.unlink(options.pid_file)


def _vms(options: argparse.Namespace) -> List[Vm]:
    vms = [parse_vm(text) for text in options.vm]
    if options.vm_file:
        with open(options.vm_file, encoding="utf-8") as stream:
            vms.extend(Vm(**entry) for entry in json.load(stream))
    vms.extend(Vm("vm-%04d" % number) for number in range(1, options.vms + 1))
    if not vms and options.scenario:
        cast: List[Dict[str, Any]] = scenarios.load(options.scenario).get("vms", [])
        vms = [Vm(**entry) for entry in cast]
    return vms


async def _watch_parent(simulator: Simulator, pid: int) -> None:
    while True:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            simulator.stopped.set()
            return
        except PermissionError:
            pass
        await asyncio.sleep(0.5)


def _announce_ready(path: Optional[str], line: str) -> None:
    """Announce readiness on standard output, and in a file that appears complete or not at all."""
    if path:
        with open(path + ".new", "w", encoding="utf-8") as stream:
            stream.write(line + "\n")
        os.replace(path + ".new", path)
    print(line, flush=True)
