# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Method service on a "Windows" VM (stand-ins): sc.exe is played, its exit codes are Windows' own."""

from __future__ import annotations

from windows import WindowsFleet

RUNS = {"state": "started"}


def test_service(windows_fleet: WindowsFleet) -> None:
    host = windows_fleet.add("web1", [{"method": "service", "names": ["Front", "back", "Idle", "Held"]}])
    # Front needs back, so it is named first. Held takes its time, Idle did not run, and Other is nobody's business.
    host.services(
        Front={**RUNS, "dependencies": ["Back"]}, Back={**RUNS, "start_mode": "manual"}, Idle={"state": "stopped"}, Held={**RUNS, "slow": True}, Other=RUNS
    )
    windows_fleet.drain()
    assert host.state == "draining" and host.result["error"] == "still running: Held", host.result
    states = {name: host.windows.service_state(name) for name in ("Front", "Back", "Idle", "Held", "Other")}
    assert states == {"Front": "stopped", "Back": "stopped", "Idle": "stopped", "Held": "stop_pending", "Other": "started"}
    assert host.method(0)["before"] == {"Front": "started", "back": "started", "Idle": "stopped", "Held": "started"}

    host.services(Held={"state": "stopped", "slow": True})
    windows_fleet.drain()
    assert host.state == "drained" and host.record["phase"] == "drained" and host.record["verified_at"], host.result

    # A boot has started one; it is stopped again, and what was found first stays.
    host.boot()
    host.services(Back={**RUNS, "start_mode": "manual"})
    windows_fleet.drain(verify=True)
    assert host.state == "drained" and host.windows.service_state("Back") == "stopped", host.result
    assert host.method(0)["before"]["back"] == "started"

    windows_fleet.recover()
    assert host.state == "undoing" and host.result["error"] == "not yet running: Held", host.result
    host.services(Held=RUNS)
    windows_fleet.recover()
    assert host.state == "undone" and host.record["undone"] is True, host.result
    assert [host.windows.service_state(name) for name in ("Front", "Back", "Idle", "Other")] == ["started", "started", "stopped", "started"]
    assert host.windows.get("services/Back.json")["start_mode"] == "manual"
    assert host.windows.calls("win_service") == []


def test_what_is_refused(windows_fleet: WindowsFleet) -> None:
    unknown = windows_fleet.add("unknown", [{"method": "service", "names": ["Fr*", "A name to be shown"]}])
    unknown.services(Front={**RUNS, "display_name": "A name to be shown"})
    disabled = windows_fleet.add("disabled", [{"method": "service", "names": ["Front"]}])
    disabled.services(Front={**RUNS, "start_mode": "disabled"})
    needed = windows_fleet.add("needed", [{"method": "service", "names": ["Back"]}])
    needed.services(Front={**RUNS, "dependencies": ["Back"]}, Back=RUNS)
    windows_fleet.drain()
    assert unknown.state == "failed" and "names holds Fr*, A name to be shown, which Windows does not know" in unknown.result["error"], unknown.result
    assert disabled.state == "failed" and "Disabled, and running: Front" in disabled.result["error"], disabled.result
    assert needed.state == "failed" and "Back is needed by services that run" in needed.result["error"], needed.result
    assert needed.result["error"].endswith("front") and needed.windows.service_state("Back") == needed.windows.service_state("Front") == "started"
    assert unknown.windows.service_state("Front") == disabled.windows.service_state("Front") == "started"


def test_one_that_does_not_start(windows_fleet: WindowsFleet) -> None:
    host = windows_fleet.add("web1", [{"method": "service", "names": ["Front", "Calm"]}])
    host.services(Front=RUNS, Calm={"state": "paused"})
    windows_fleet.drain()
    assert host.state == "drained", host.result
    host.services(Front={"state": "stopped", "broken": 1067})
    windows_fleet.recover()
    assert host.state == "undoing" and host.windows.service_state("Calm") == "paused", host.result
    windows_fleet.recover()
    assert host.state == "failed" and "cannot be started, see the System event log: Front" in host.result["error"], host.result
    # The next attempt starts it once more.
    host.services(Front={"state": "stopped", "exit_code": 1067})
    windows_fleet.recover()
    assert host.state == "undone" and host.windows.service_state("Front") == "started", host.result
