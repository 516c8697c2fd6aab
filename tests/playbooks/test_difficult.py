# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""VMs that say nothing, nonsense, or the wrong time: each is reported by name, none counts as "no events", and nothing waits for them."""

from __future__ import annotations

import pathlib
import re
import typing as t

from lab import warm
from lab.lab import Lab

Make = t.Callable[..., Lab]

SILENT = ("unreachable", "dead", "html", "blocked")
CLOCKS = {"early": -6 * 3600, "late": 6 * 3600}
FINE = ("fine1", "fine2")
# Azure's very first answer may take two minutes. Longer here: by then every run of these tests is over, however slow the machine is.
BLOCKED_SECONDS = 3600
PASSES = 6

SHIFTED = """
import datetime
import time

_time = getattr(time, "unshifted", time.time)
time.unshifted, time.time = _time, lambda: _time() + {seconds}


class Shifted(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return super().now(tz) + datetime.timedelta(seconds={seconds})


# The server of warm modules has this as well, and so has each module that it forks.
if datetime.datetime.__name__ != "Shifted":
    datetime.datetime = Shifted
"""


def shift_clock(lab: Lab, vm: str, seconds: int) -> None:
    """All that runs on this VM has a wrong clock: its Python is started with another idea of the time."""
    site = lab.folder / vm / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(SHIFTED.format(seconds=seconds))
    lab.hosts[vm]["ansible_python_interpreter"] = warm.python(str(site))


def difficult(make_lab: Make) -> Lab:
    """Two VMs that are fine, one that lists the events of those that say nothing, and the difficult ones."""
    lab = make_lab([*FINE, "witness", *SILENT, *CLOCKS], 10, "--switch", "rate_limit=0")
    # Short, because every pass waits for it; long enough for an observation on a busy machine.
    lab.all["respond_observation_seconds"] = 12
    lab.hosts["unreachable"].update(ansible_connection="ssh", ansible_host="127.0.0.1", ansible_port=9, ansible_ssh_timeout=2)
    lab.hosts["dead"]["respond_endpoint"] = "http://127.0.0.1:9"
    lab.simulator.ask("POST", "/faults", {"kind": "html_ok", "vm": "html", "path": "any"})
    lab.simulator.ask("POST", "/faults", {"kind": "slow", "vm": "blocked", "seconds": BLOCKED_SECONDS, "count": 1000})
    for vm, seconds in CLOCKS.items():
        shift_clock(lab, vm, seconds)
    return lab


def times_asked(lab: Lab, kind: str) -> int:
    """How often a VM with a counted fault was asked. The simulator notes a request when it is answered, and this one is not."""
    (fault,) = [fault for fault in lab.simulator.ask("GET", "/faults") if fault["kind"] == kind]
    return 1000 - int(fault["left"])


def respond_until(lab: Lab, true: t.Callable[[], bool]) -> str:
    """Passes of respond until something holds; what the last one said."""
    output = ""
    for _pass in range(PASSES):
        output = lab.respond()
        if true():
            return output
    raise AssertionError(f"not reached in {PASSES} passes:\n{output[-6000:]}")


def approved(lab: Lab) -> set[str]:
    """The events that were approved."""
    return {entry["event_id"] for entry in lab.simulator.log() if entry["transition"] == "approved"}


def named(output: str, words: str) -> set[str]:
    """The VMs in the lines of the report that begin with these words; a line ends with the cause, where there is one."""
    lines = re.findall(rf'"{words}([^":.]*)[:.]', output)
    return {name for line in lines for name in re.split(r",? ", line)}


def test_difficult_vms_are_named_hold_their_own_events_and_delay_nobody(make_lab: Make) -> None:
    lab = difficult(make_lab)
    simulator = lab.simulator
    # Served at once where every VM is seen: the policy approves short pauses without a drain.
    held = {vm: simulator.event("Freeze", ["witness", vm], duration_in_seconds=5, notice=36000) for vm in SILENT}
    fine = simulator.event("Freeze", FINE, duration_in_seconds=30, notice=36000, started_seconds=36000, approvals="one")
    own = {vm: simulator.event("Freeze", [vm], duration_in_seconds=30, notice=36000, started_seconds=36000) for vm in CLOCKS}

    output = respond_until(lab, lambda: approved(lab) >= {fine, *own.values()})
    assert set(SILENT) - {"unreachable"} <= named(output, "Could not be read: ")
    assert named(output, "Unreachable: ") == {"unreachable"}
    assert named(output, "Clock differs from this machine's by more than a minute: ") == set(CLOCKS)
    for vm, why in (("dead", "cannot connect"), ("html", "is not JSON"), ("blocked", "no complete answer within|imed out")):
        said = re.findall(rf"{vm} could not be observed: ([^\n]*)", output)[0]
        assert re.search(why, said), said
    for vm, event in held.items():
        (line,) = [line for line in output.splitlines() if event in line and "Next:" in line]
        assert vm in line, line
        assert "could not be read" in line, line

    for event in (fine, *own.values()):
        simulator.ask("POST", f"/events/{event}/finish")
    respond_until(lab, lambda: all(lab.phases(vm)[-1] == "recovered" for vm in (*FINE, *CLOCKS)))
    for vm in (*FINE, *CLOCKS):
        assert lab.flag(vm).read_text() == "yes\n"

    # All of that while the blocked VM had not answered once, although it was asked.
    assert times_asked(lab, "slow") > 0
    assert [entry for entry in simulator.requests() if entry["vm"] == "blocked" and "scheduledevents" in entry["path"]] == []
    assert approved(lab) == {fine, *own.values()}
    assert all(lab.flag(vm).exists() and lab.records(vm) == [] for vm in SILENT)

    # Nothing was concluded: what they hold is served as soon as they are seen.
    simulator.ask("DELETE", "/faults")
    lab.hosts["unreachable"]["ansible_connection"] = "local"
    lab.hosts["dead"]["respond_endpoint"] = simulator.endpoints["dead"]
    respond_until(lab, lambda: approved(lab) == {fine, *own.values(), *held.values()})


def test_a_vm_that_does_not_answer_is_not_waited_for_in_every_iteration(make_lab: Make, tmp_path: pathlib.Path) -> None:
    lab = make_lab(["fine", "blocked"], 10, "--switch", "rate_limit=0")
    # So long that only a run which asks it in every turn asks it twice.
    lab.all["respond_observation_seconds"] = 16
    simulator = lab.simulator
    simulator.ask("POST", "/faults", {"kind": "slow", "vm": "blocked", "seconds": BLOCKED_SECONDS, "count": 1000})
    simulator.event("Freeze", ["fine", "blocked"], duration_in_seconds=5, notice=36000)
    simulator.event("Freeze", ["fine"], duration_in_seconds=30, notice=36000, started_seconds=36000)
    output = lab.respond()
    assert len(simulator.approvals()) == 1
    iterations = output.count("What each VM does next]")
    assert iterations >= 4, "it took no turns"
    assert times_asked(lab, "slow") < iterations / 2
